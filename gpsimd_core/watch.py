"""Looking on while a program runs: what changed an element, and the state before an instruction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from gpsimd_core.elements import Element, statement
from gpsimd_core.errors import UsageError
from gpsimd_core.memory import POISON
from gpsimd_core.schedule import Event, Watcher

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore
    from gpsimd_core.program import Program
    from gpsimd_core.stream import Ready, Stream

__all__ = ["Break", "Change", "Paused", "Stopped", "Watch", "breakpoint_of"]

SHOWN = 4
"""Values of a tensor or of accumulators that a summary lists."""


class Stopped(Exception):
    """The user wants no more of this run."""


@frozen(kw_only=True)
class Change:
    """An instruction changed an element."""

    engine: str
    index: int
    statement: str
    element: str
    before: str
    """Bits and value."""
    after: str

    def __str__(self) -> str:
        return (
            f"{self.element}: {self.before} -> {self.after} by {self.engine} instruction {self.index}: {self.statement}"
        )


class Watch(Watcher):
    """Tells of every instruction that changes one of some elements.

    Args:
        elements: what to look at; a change is one against what they hold now.
        tell: is given each Change.
    """

    def __init__(self, elements: Sequence[Element], tell: Callable[[Change], None]) -> None:
        self.tell = tell
        self._seen = {e: e.code for e in elements}
        self._programs: dict[str, Program] = {}

    def starting(self, stream: Stream, engine: str, ready: Ready) -> None:
        self._programs[engine] = stream.program

    def began(self, event: Event) -> None:
        for element, before in self._seen.items():
            after = element.code
            if after == before:
                continue
            self._seen[element] = after
            self.tell(
                Change(
                    engine=event.engine, index=event.index, element=str(element), before=element.text(before),
                    after=element.text(after), statement=statement(self._programs[event.engine], event.index),
                )
            )  # fmt: skip


def breakpoint_of(text: str) -> tuple[str | None, int]:
    """Engine and position that `N` or `ENGINE:N` names; without an engine, the first that comes to its N.

    Raises:
        UsageError: it reads neither.
    """
    engine, colon, number = text.rpartition(":")
    if not number.isdigit() or (colon and not engine):
        raise UsageError(f"--break takes N or ENGINE:N, not {text!r}")
    return engine.lower() or None, int(number)


@frozen(kw_only=True, eq=False)
class Paused:
    """A run that stands before an instruction, with its state at hand."""

    core: NeuronCore
    stream: Stream
    engine: str
    ready: Ready

    @property
    def statement(self) -> str:
        """The instruction that comes next, as text."""
        return statement(self.stream.program, self.ready.index)

    def element(self, text: str) -> str:
        """Bits and value of `name[p,i]`.

        Raises:
            UsageError: no such element.
        """
        element = Element(self.stream.program, self.core.memory, text)
        return f"{element} = {element.text(element.code)}"

    def summary(self) -> list[tuple[str, str]]:
        """What there is to see: topic and text."""
        core = self.core
        rows = [("next", f"{self.engine} instruction {self.ready.index}: {self.statement}")]
        held = self.stream.registers
        registers = ", ".join(f"r{n} = 0x{int(held.values[n]):x}" for n in np.flatnonzero(held.defined))
        rows.append(("registers", registers or "none written"))
        for name in ("semaphores", "events"):
            array = getattr(core, name)
            told = ", ".join(f"{i} = {int(array[i])}" for i in np.flatnonzero(array))
            rows.append((name, told or "all zero"))
        rows += [(f"accumulators of {owner}", self._lanes(owner)) for owner in core.accumulators]
        rows += [(f"tensor {name}", text) for name, text in self._tensors()]
        return rows

    def _lanes(self, owner: str) -> str:
        defined = np.flatnonzero(self.core.accumulators.defined(owner))
        if not len(defined):
            return "no lane defined"
        values = self.core.accumulators[owner][defined]
        text = ", ".join(f"lane {lane} = {float(v):.9g}" for lane, v in zip(defined[:SHOWN], values, strict=False))
        return f"{len(defined)} lanes defined: {text}{', ...' if len(defined) > SHOWN else ''}"

    def _tensors(self) -> Iterator[tuple[str, str]]:
        for name, t in self.stream.program.tensors.items():
            fmt = self.core.machine.formats.get(int(t.tensor.code))
            if fmt is None or not fmt.readable:
                yield name, f"{t.tensor.dtype}, which has no values"
                continue
            x = t.tensor
            shape = "x".join(map(str, x.shape))
            codes = self.core.memory.region(x.region).read(x.partition, x.offset, shape=x.shape, dtype=fmt.code_dtype)
            if (codes.view(np.uint8) == POISON).all():
                yield name, f"{x.dtype} {shape}, every byte 0x{POISON:02x} as in fresh memory"
                continue
            values = codes.view(fmt.dtype).astype(np.float64 if fmt.nbytes == 4 else np.float32).ravel()
            numbers = values[~np.isnan(values)]
            spread = f"{numbers.min():.9g} to {numbers.max():.9g}" if len(numbers) else "NaN throughout"
            first = ", ".join(f"{v:.9g}" for v in values[:SHOWN])
            yield name, f"{x.dtype} {shape}, {spread}; first {first}{', ...' if len(values) > SHOWN else ''}"


class Break(Watcher):
    """Pauses a run before an instruction.

    Args:
        core: what runs.
        at: engine (or None) and position, as `breakpoint_of` gives them.
        pause: called with the Paused run; what it raises ends the run, and where it returns true, it is called again
            before the next instruction.

    Attributes:
        reached: whether the run came there.
    """

    def __init__(self, core: NeuronCore, at: tuple[str | None, int], pause: Callable[[Paused], bool]) -> None:
        self.core, self.at, self.pause = core, at, pause
        self.reached = False
        self._again = False

    def starting(self, stream: Stream, engine: str, ready: Ready) -> None:
        wanted, index = self.at
        here = not self.reached and ready.index == index and wanted in (None, engine)
        if here or self._again:
            self.reached = True
            self._again = self.pause(Paused(core=self.core, stream=stream, engine=engine, ready=ready))
