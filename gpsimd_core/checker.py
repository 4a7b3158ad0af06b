"""What would go wrong on hardware, named: stray reads, races, accumulators folded in vain. On with `check=True`.

One mark a byte: who wrote it last and when, who read it last and when. Moments are those of the engines' clocks, so that
two accesses are ordered when the later one's clock contains the earlier one's moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define

from gpsimd_core.folds import Folds
from gpsimd_core.marks import Marks, marked
from gpsimd_core.placement import Placed
from gpsimd_core.schedule import Event, Watcher
from gpsimd_core.step import Step
from gpsimd_core.stream import Notice
from gpsimd_core.values import Operand

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore

__all__ = ["Checker", "Race", "mark_written"]

Bytes = np.ndarray[Any, Any]


@define
class Race:
    """Two instructions of two engines that touch the same bytes, one writing, with nothing that orders them."""

    first: tuple[str, int, str]
    """Engine, index, instruction."""
    second: tuple[str, int, str]
    kind: str
    """`write after write`, `write after read` or `read after write`."""
    region: str
    partitions: tuple[int, int]
    """First and last."""
    bytes: tuple[int, int]
    """First and last, inside the partition."""

    def __str__(self) -> str:
        (e1, i1, n1), (e2, i2, n2) = self.first, self.second
        return (
            f"race, {self.kind}: {e1} instruction {i1} ({n1}) and {e2} instruction {i2} ({n2}) both touch "
            f"{self.region} partitions {self.partitions[0]}..{self.partitions[1]}, bytes {self.bytes[0]}.."
            f"{self.bytes[1]}, and nothing orders them"
        )


class Checker(Watcher):
    """Watches a run, byte by byte.

    Args:
        core: whose memory is watched.
    """

    def __init__(self, core: NeuronCore) -> None:
        self.core = core
        self.folds = Folds()
        self.written = core.memory.written
        mark_written(core)
        self.engines = list(core.machine.engines)
        self.writer = Marks("u1")
        """1 + position of the engine that wrote a byte last; 0 where none did in this run."""
        self.written_at = Marks("u4")
        self.read_at: dict[str, Marks] = {}
        self.ran: dict[str, list[tuple[int, str]]] = {}
        """Engine to (index, name) by ordinal."""
        self.races: list[Race] = []
        self._known: set[Any] = set()
        self._notices: list[Notice] = []

    def began(self, event: Event) -> None:
        self.ran.setdefault(event.engine, []).append((event.index, event.step.name))
        for place, operand in _reads(event.step):
            self._stray(event, place, operand)
            if event.clock:
                self._read(event, place)
        self.folds.began(event)
        _mark(self.written, event.step)

    def ended(self, event: Event) -> None:
        if event.clock:
            for place in _writes(event.step):
                self._write(event, place)

    def notices(self) -> list[Notice]:
        """What was found."""
        found = [*self._notices, *self.folds.notices()]
        return found + [Notice(index=r.second[1], text=str(r), engine=r.second[0], kind="race") for r in self.races]

    # Stray reads ---------------------------------------------------------------------------------------------------------

    def _stray(self, event: Event, place: Placed, operand: Operand | None) -> None:
        marks = _written(self.written, place)
        if marks.all():
            return
        channel, at = _first(place, marks == 0)
        merges = operand is not None and operand.merges
        what = "merges into unwritten bytes" if merges else "reads bytes nobody wrote"
        text = f"{event.step.name} {what}: {place.at}, {place.region} partition {place.partition + channel}, first at byte {at}"
        self._notices.append(
            Notice(index=event.index, text=text, engine=event.stream, kind="merge" if merges else "stray")
        )

    # Races -----------------------------------------------------------------------------------------------------------------

    def _read(self, event: Event, place: Placed) -> None:
        self._against_writers(event, place, "read after write")
        stamps = self.read_at.setdefault(event.engine, Marks("u4"))
        stamps.of(place)[...] = 2 * event.ordinal + 1

    def _write(self, event: Event, place: Placed) -> None:
        self._against_writers(event, place, "write after write")
        for other, stamps in self.read_at.items():
            if other != event.engine:
                moments = stamps.of(place)
                self._report(event, place, other, moments, moments > event.clock.get(other, 0), "write after read")
        self.writer.of(place)[...] = 1 + self.engines.index(event.engine)
        self.written_at.of(place)[...] = 2 * event.ordinal + 2

    def _against_writers(self, event: Event, place: Placed, kind: str) -> None:
        who, moments = self.writer.of(place), self.written_at.of(place)
        for position, other in enumerate(self.engines, 1):
            if other != event.engine:
                late = (who == position) & (moments > event.clock.get(other, 0))
                self._report(event, place, other, moments, late, kind)

    def _report(self, event: Event, place: Placed, other: str, moments: Bytes, late: Bytes, kind: str) -> None:
        if not late.any():
            return
        for moment in np.unique(moments[late]).tolist():
            index, name = self.ran[other][(moment - 1) // 2]
            key = (other, index, event.engine, event.index, kind, place.region)
            if key in self._known:
                continue
            self._known.add(key)
            channels, offsets = _extent(place, late & (moments == moment))
            self.races.append(
                Race(
                    first=(other, index, name), second=(event.engine, event.index, event.step.name), kind=kind,
                    region=place.region, partitions=channels, bytes=offsets,
                )
            )  # fmt: skip


def _reads(step: Step) -> Iterator[tuple[Placed, Operand | None]]:
    """What a step reads: sources, pointers, and destinations that it merges into."""
    for o in step.instruction.reads:
        yield from ((place, o) for place in step.operands[o.name].spread())
    for place in step.sources[len(step.instruction.reads) :]:
        yield place, None
    for o in step.instruction.writes:
        if o.merges:
            yield from ((place, o) for place in step.operands[o.name].spread())


def _writes(step: Step) -> Iterator[Placed]:
    for place in step.written:
        yield from place.spread()


def mark_written(core: NeuronCore) -> None:
    """Mark what the programs wrote that ran on a core unwatched, and forget them."""
    for segments in core.ran.values():
        for _, segment in segments:
            for step in segment.steps:
                _mark(core.memory.written, step)
    core.ran.clear()


def _mark(written: Bytes, step: Step) -> None:
    for place in _writes(step):
        _written(written, place)[...] = 1


def _written(written: Bytes, p: Placed) -> Bytes:
    """The marks of an operand's bytes: (channels, outermost, ..., innermost, byte of the element)."""
    return marked(written[p.base :], p, p.pitch)


def _first(p: Placed, where: Bytes) -> tuple[int, int]:
    """Channel, and byte inside the partition, of the first marked byte in stream order."""
    spot = np.unravel_index(int(np.argmax(where)), where.shape)
    return int(spot[0]), _offset(p, spot)


def _offset(p: Placed, spot: Any) -> int:
    steps = [s * p.size for s in reversed(p.step)]
    return p.offset + sum(int(i) * s for i, s in zip(spot[1:-1], steps, strict=True)) + int(spot[-1])


def _extent(p: Placed, where: Bytes) -> tuple[tuple[int, int], tuple[int, int]]:
    """First and last partition, and first and last byte inside a partition, of the marked bytes."""
    spots = np.argwhere(where)
    channels = spots[:, 0] + p.partition
    offsets = [_offset(p, s) for s in spots]
    return (int(channels.min()), int(channels.max())), (min(offsets), max(offsets))
