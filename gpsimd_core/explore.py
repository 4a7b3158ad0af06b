"""One program under many schedules: do they all end alike, and what goes wrong in any of them?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from gpsimd_core.elements import place_text
from gpsimd_core.errors import Fault
from gpsimd_core.marks import marked
from gpsimd_core.placement import Placed, window
from gpsimd_core.program import Program
from gpsimd_core.stream import Notice

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore, Result
    from gpsimd_core.tensors import NamedTensor

__all__ = ["End", "Exploration", "explore"]


@frozen(kw_only=True, eq=False)
class End:
    """One way in which a program ended, and the schedules under which it did."""

    seeds: tuple[int, ...]
    core: NeuronCore
    """The core of the first of them, as it was left."""
    result: Result | None
    """Of the first of them; None where a fault ended it."""
    fault: Fault | None
    """What ended it early, under the first of them."""


@frozen(kw_only=True, eq=False)
class Exploration:
    """What many schedules showed."""

    ends: tuple[End, ...]
    """Distinct ends, the one that came first in front."""
    notices: tuple[Notice, ...]
    """What the checks found under any schedule, each once; and that the end depends on the schedule, where it does."""

    @property
    def agree(self) -> bool:
        """Whether all schedules ended alike, and none in a fault."""
        return len(self.ends) == 1 and self.ends[0].fault is None


def explore(
    prepare: Callable[[], NeuronCore], program: Any, seeds: Iterable[int], *, check: bool = True
) -> Exploration:
    """Run a program once a seed, each time on a fresh core.

    Two ends are the same when every byte that the program wrote, the lane state, semaphores and events are, or when the
    same fault ended both.

    Args:
        prepare: makes a core with its inputs in place.
        program: as of `NeuronCore.run`.
        seeds: of the schedules.
        check: look for stray reads, races and accumulators folded in vain.

    Raises:
        Violated: some record breaks a rule.
    """
    found: dict[Any, tuple[list[int], NeuronCore, Result | None, Fault | None]] = {}
    notices: dict[tuple[str | None, int | None, str], tuple[Notice, list[int]]] = {}
    fresh: _Fresh | None = None
    for seed in seeds:
        fresh = fresh or _Fresh(prepare())
        core = fresh.core
        result, fault = None, None
        key: Any
        try:
            result = core.run(program, schedule=seed, check=check)
            key = _digest(core, result)
            told = result.notices
        except Fault as e:
            fault, key, told = e, (type(e), e.index, e.reason), ()
        if result is not None and key in found:
            fresh.rewind(result)
        else:  # its core is kept, or nobody knows what was changed
            fresh = None
        found.setdefault(key, ([], core, result, fault))[0].append(seed)
        for n in told:
            notices.setdefault((n.engine, n.index, n.text), (n, []))[1].append(seed)
    ends = tuple(End(seeds=tuple(s), core=c, result=r, fault=f) for s, c, r, f in found.values())
    total = sum(len(e.seeds) for e in ends)
    merged = [
        Notice(index=n.index, text=f"{n.text} ({len(s)} of {total} schedules, first seed {s[0]})", kind=n.kind, engine=n.engine)
        for n, s in notices.values()
    ]  # fmt: skip
    return Exploration(ends=ends, notices=(*merged, *_depends(ends, program)))


class _Fresh:
    """A core that can go back to how it was."""

    def __init__(self, core: NeuronCore) -> None:
        self.core = core
        held = core.registers
        self.small = [(a, a.copy()) for a in (core.lanes, core.semaphores, core.events, held.values, held.defined)]
        self.data, self.written = core.memory.data.copy(), core.memory.written.copy()

    def rewind(self, result: Result) -> None:
        """Take back what a run changed."""
        memory = self.core.memory
        for array, before in self.small:
            array[...] = before
        for p in _written(result):
            for now, before in ((memory.data, self.data), (memory.written, self.written)):
                marked(now[p.base :], p, p.pitch)[...] = marked(before[p.base :], p, p.pitch)
        self.core.ran.clear()


def _written(result: Result) -> Iterable[Placed]:
    """The places that were written, each once and in an order of their own, whoever came first."""
    found = {}
    for executed in result.steps:
        for whole in executed.step.written:
            for p in whole.spread():
                found[p.base, p.size, p.channels, p.num, p.step] = p
    return (found[key] for key in sorted(found))


def _digest(core: NeuronCore, result: Result) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for p in _written(result):
        digest.update(repr((p.base, p.num, p.step)).encode())
        digest.update(np.ascontiguousarray(window(core.memory, p)).tobytes())
    for state in (core.lanes, core.semaphores, core.events):
        digest.update(state.tobytes())
    return digest.digest()


def _depends(ends: tuple[End, ...], program: Any) -> Iterable[Notice]:
    if len(ends) < 2:
        return
    text = "the end depends on the schedule: " + "; ".join(_told(i, e) for i, e in enumerate(ends, 1))
    whole = [e.core for e in ends if e.fault is None]
    if len(whole) > 1:
        text += f". {_first(whole[0], whole[1], program)}"
    yield Notice(index=None, text=text, kind="schedule")


def _told(number: int, end: End) -> str:
    many = f"{len(end.seeds)} schedule{'s' if len(end.seeds) > 1 else ''} (first seed {end.seeds[0]})"
    if end.fault is None:
        return f"{many} come to end {number}"
    return f"{many} end in {type(end.fault).__name__}: {end.fault.reason.splitlines()[0]}"


def _tensors(program: Any) -> Iterable[NamedTensor]:
    for p in program.values() if isinstance(program, Mapping) else [program]:
        if isinstance(p, Program):
            yield from p.tensors.values()


def _first(a: NeuronCore, b: NeuronCore, program: Any) -> str:
    """Where two ends first differ."""
    at = np.flatnonzero(a.memory.data != b.memory.data)
    if len(at):
        first = int(at[0])
        place = place_text(a.memory, _tensors(program), first)
        x, y = int(a.memory.data[first]), int(b.memory.data[first])
        return f"They differ in {len(at)} bytes of memory, first in {place}: 0x{x:02x} and 0x{y:02x}"
    for name in ("semaphores", "events"):
        differ = np.flatnonzero(getattr(a, name) != getattr(b, name))
        if len(differ):
            i = int(differ[0])
            x, y = int(getattr(a, name)[i]), int(getattr(b, name)[i])
            return f"They differ in {name.removesuffix('s')} {i}: {x} and {y}"
    return "They differ in accumulators or other lane state"
