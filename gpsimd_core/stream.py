"""One stream of instructions on its way through a core: planned once, then started and finished one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.errors import Fault, Violated
from gpsimd_core.isa.enums import UpdateMode
from gpsimd_core.isa.kernels.read_accumulator import UNDEFINED_READ
from gpsimd_core.isa.layout import RECORD_BYTES
from gpsimd_core.pipeline import execute, plan, validate
from gpsimd_core.program import Program
from gpsimd_core.report import Report
from gpsimd_core.resolve import by_index, registers_named
from gpsimd_core.step import NEXT_RECORD, Step
from gpsimd_core.sync import Registers, Wait
from gpsimd_core.values import CompiledKernel

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore

__all__ = ["Notice", "Ready", "Segment", "Stream", "Update", "refuse"]

PLAN_CACHE = 65536


@frozen(kw_only=True)
class Notice:
    """Something worth knowing that did not stop the run."""

    index: int | None
    """Position of the instruction in its stream; None where it concerns no single one."""
    text: str
    kind: str = "undefined"
    """`undefined`: an accumulator lane without a value was used; `fold`: one was folded and never read; `stray`: bytes
    that nobody wrote were read; `merge`: the same by a destination that keeps some of them; `race`; `schedule`: the end depends on the schedule."""
    engine: str | None = None
    """The stream, where there are several."""

    def __str__(self) -> str:
        if self.index is None:
            return self.text
        where = f"{self.engine} instruction" if self.engine else "instruction"
        return f"{where} {self.index}: {self.text}"


def refuse(notices: Sequence[Notice]) -> None:
    """Turn notices about accumulators into the fault that they are under `strict`."""
    for n in notices:
        if n.kind in ("undefined", "fold"):
            raise Fault(f"{n} (strict)", index=n.index)


@frozen(kw_only=True)
class Update:
    """What an instruction does to a semaphore or event, resolved."""

    mode: int
    index: int
    value: int

    @property
    def text(self) -> str:
        """The mode and what it concerns."""
        return f"{UpdateMode(self.mode).name} of {'event' if self.event else 'semaphore'} {self.index}"

    @property
    def at_read(self) -> bool:
        """Whether it fires when the operands have been read, not when the instruction is complete."""
        return UpdateMode(self.mode).name.endswith("_READ")

    @property
    def event(self) -> bool:
        """Whether it concerns an event, not a semaphore."""
        return UpdateMode(self.mode).name.startswith("EVT")


@frozen(kw_only=True, eq=False)
class Segment:
    """Records that the host handles in one go: a run of one compiled kernel, or a single record."""

    indices: tuple[int, ...]
    steps: tuple[Step, ...]
    """Planned steps; none where it is `late`."""
    rows: Any = None
    """Plan rows of a compiled run."""
    late: bool = False
    """Planned when it is reached: it names registers, or cannot be executed."""
    synced: bool = False
    """It waits or updates."""
    memo: dict[str, Any] = field(factory=dict)
    """What watchers derive from it once."""

    def pairs(self) -> Iterator[tuple[int, Step]]:
        """(index, step) of each record."""
        return zip(self.indices, self.steps, strict=True)


@frozen(kw_only=True, eq=False)
class Ready:
    """A segment that may start: planned, with its condition and what it will signal."""

    segment: Segment
    wait: Wait | None
    update: Update | None

    @property
    def index(self) -> int:
        """Position of its first record in the program."""
        return self.segment.indices[0]


Runner = Callable[["Stream", Segment], "np.ndarray[Any, Any] | None"]
"""Runs the kernels of a segment and gives their status, or takes them on for later and gives None."""


class Stream:
    """A program in one queue.

    Args:
        core: where it runs.
        program: validated here.
        engine: the engine that owns the queue; None places each instruction on its engine.
        registers: the stream's address registers.
        fused: handle neighbours with one compiled kernel in one go.

    Raises:
        Violated: some record breaks a rule.
    """

    def __init__(
        self, core: NeuronCore, program: Program, engine: str | None, registers: Registers, *, fused: bool
    ) -> None:
        self.core, self.program, self.engine, self.registers = core, program, engine, registers
        self.report, self.segments = self._prepare(fused)
        for number, value in program.registers.items():
            registers[number] = value
        self.strict = core.machine.policies["strict"] == "on"
        self.at = 0
        self.halted = False
        self.notices: list[Notice] = []

    @property
    def late(self) -> bool:
        """Whether the next record is planned only now, and so may look at memory."""
        return self.at < len(self.segments) and self.segments[self.at].late

    @property
    def done(self) -> bool:
        """Whether nothing is left to start."""
        return self.halted or self.at >= len(self.segments)

    @property
    def index(self) -> int:
        """Position of the next record; the program's length at its end."""
        return self.segments[self.at].indices[0] if self.at < len(self.segments) else len(self.program)

    # What depends on the program alone is done once ------------------------------------------------------------------

    def _prepare(self, fused: bool) -> tuple[Report, tuple[Segment, ...]]:
        key = (self.core.machine, self.core.max_elements, fused)
        found = self.program.prepared.get(key)
        if found is None:
            report = validate(self.core.machine, self.program)
            if not report.ok:
                raise Violated(report)
            found = (report, tuple(_joined(self._singles(report)) if fused else self._singles(report)))
            self.program.prepared[key] = found
        return found

    def _singles(self, report: Report) -> Iterator[Segment]:
        seen: dict[tuple[bytes, str | None], Segment] = {}
        raw = self.program.raw.tobytes()
        for index in range(len(self.program)):
            engine = report.engines[index]
            key = raw[index * RECORD_BYTES : (index + 1) * RECORD_BYTES], engine
            known = seen.get(key)
            if known is None:
                known = seen[key] = self._single(index, engine)
                yield known
            else:
                yield Segment(
                    indices=(index,), steps=known.steps, rows=known.rows, late=known.late, synced=known.synced
                )

    def _single(self, index: int, engine: str | None) -> Segment:
        record = self.program[index]
        synced = bool(record.raw[4] or record.raw[6]) and self.core.machine.policies["events"] == "honour"
        if not record.opaque and (registers_named(record.layout, record.raw) or by_index(record.layout, record.raw)):
            return Segment(indices=(index,), steps=(), late=True, synced=synced)
        try:
            step = self._plan(index, engine)
        except Fault:  # raised when it is reached, not before
            return Segment(indices=(index,), steps=(), late=True, synced=synced)
        return _planned(index, step, synced)

    def _plan(self, index: int, engine: str | None) -> Step:
        record = self.program[index]
        named = () if record.opaque else registers_named(record.layout, record.raw)
        held = self.registers
        values = tuple(int(held.values[n]) if held.defined[n] else None for n in named)
        key = (record.raw.tobytes(), engine, values)
        plans = self.core.plans
        step = plans.get(key)
        if step is None:
            step = plan(self.core.machine, self.core.memory, record, self._register, engine, self.core.max_elements)
            if len(plans) >= PLAN_CACHE:
                plans.clear()
            if not step.by_index:  # what an index list holds may have changed the next time
                plans[key] = step
        return step

    def _register(self, number: int, operand: str) -> int:
        try:
            return self.registers[number]
        except Fault as e:
            raise Fault(f"{operand}: {e.reason}", where=operand) from None

    # Waits and updates -------------------------------------------------------------------------------------------------

    def wait(self) -> Wait | None:
        """The condition of the next record, if it has one.

        Raises:
            Fault: its value stands in a register that does not exist or was never written.
        """
        segment = self.segments[self.at]
        index = segment.indices[0]
        mode = int(self.program.raw[index, 4]) if segment.synced else 0
        if not mode:
            return None
        return Wait(mode, int(self.program.raw[index, 5]), self._value(index, in_register=bool(mode & 0x80)))

    def _update(self, index: int) -> Update | None:
        mode = int(self.program.raw[index, 6])
        if not mode:
            return None
        value = self._value(index, in_register="_REG_" in UpdateMode(mode).name)
        return Update(mode=mode, index=int(self.program.raw[index, 7]), value=value)

    def _value(self, index: int, *, in_register: bool) -> int:
        word = int(self.program.raw[index, 8:12].view("<u4")[0])
        if not in_register:
            return word
        if word in NEXT_RECORD:
            return ((index + 1) * 64) >> 32 * NEXT_RECORD.index(word) & 0xFFFFFFFF
        if word >= 64:
            raise Fault(f"semaphore_value names register {word}; there are 0 to 63, 128 and 129", index=index)
        try:
            return self.registers[word]
        except Fault as e:
            raise Fault(f"semaphore_value: {e.reason}", index=index) from None

    # One turn --------------------------------------------------------------------------------------------------------------

    def ready(self) -> Ready:
        """The next segment, planned, with everything known that could make it fault before it has any effect.

        A READ update is checked against the semaphore as it is; so is a COMPLETE update where no other stream could
        change the semaphore before it fires.

        Raises:
            Fault: it cannot be executed.
        """
        segment = self.segments[self.at]
        index = segment.indices[0]
        if segment.late:
            segment = _planned(index, self._plan(index, self.report.engines[index]), segment.synced)
        if self.strict:
            for i, step in segment.pairs():
                self._refuse_undefined(i, step)
        if not segment.synced:
            return Ready(segment=segment, wait=None, update=None)
        update = self._update(index)
        if update is not None and (update.at_read or self.engine is None):
            with _at(index):
                self.core.sync.check(update.mode, update.index, update.value)
        return Ready(segment=segment, wait=self.wait(), update=update)

    def start(self, ready: Ready, run: Runner | None = None) -> None:
        """Everything that the first step of an instruction does: all effects, the flip of its wait, a READ update.

        Args:
            ready: what `ready` gave.
            run: runs the kernels; at once, if left out.
        """
        segment = ready.segment
        status = (run or _at_once)(self, segment)
        if ready.wait is not None:
            self.core.sync.take(ready.wait)  # after what may still fault: a faulting instruction flips nothing
        if status is not None:
            self.note(segment, status)
        self.at += 1
        self.halted = segment.steps[-1].instruction.halts
        if ready.update is not None and ready.update.at_read:
            self._fire(ready)

    def finish(self, ready: Ready) -> None:
        """The second step of an instruction: a COMPLETE update.

        Raises:
            Fault: the semaphore would leave its range.
        """
        if ready.update is not None and not ready.update.at_read:
            self._fire(ready)

    def note(self, segment: Segment, status: np.ndarray[Any, Any]) -> None:
        """Take in what the kernels of a segment said."""
        for position in np.flatnonzero(status & UNDEFINED_READ) if any(status.tobytes()) else ():
            name = segment.steps[position].name
            text = f"{name} used an accumulator lane that holds no value; 7fc00000 stood in"
            self.notices.append(Notice(index=segment.indices[position], text=text, engine=self.engine))

    def _fire(self, ready: Ready) -> None:
        assert ready.update is not None
        with _at(ready.index):
            self.core.sync.update(ready.update.mode, ready.update.index, ready.update.value)

    def _refuse_undefined(self, index: int, step: Step) -> None:
        owner = step.engine.accumulators
        if not step.accumulates_undefined or owner is None:
            return
        first = next(iter(step.operands[o.name] for o in step.instruction.writes)).partition
        undefined = np.flatnonzero(~self.core.accumulators.defined(owner)[first : first + step.channels])
        if len(undefined):
            lane = first + int(undefined[0])
            raise Fault(f"{step.name} uses the accumulator of lane {lane}, which holds no value (strict)", index=index)


def _at_once(stream: Stream, segment: Segment) -> np.ndarray[Any, Any] | None:
    return execute(stream.core, segment.steps, segment.indices, segment.rows, stream.registers)


@contextmanager
def _at(index: int) -> Iterator[None]:
    """Faults inside belong to this instruction."""
    try:
        yield
    except Fault as e:
        e.index = index
        raise


def _planned(index: int, step: Step, synced: bool) -> Segment:
    compiled = isinstance(step.instruction.kernel, CompiledKernel)
    rows = np.array([step.row], np.int64) if compiled and step.row is not None else None
    return Segment(indices=(index,), steps=(step,), rows=rows, synced=synced)


def _joined(singles: Iterator[Segment]) -> Iterator[Segment]:
    """Neighbours of one compiled kernel as one segment."""
    waiting: list[Segment] = []
    for one in singles:
        joins = one.rows is not None and not one.synced and one.steps[0].fusible
        if waiting and not (joins and waiting[-1].steps[0].instruction.kernel is one.steps[0].instruction.kernel):
            yield _fused(waiting)
            waiting = []
        if joins:
            waiting.append(one)
        else:
            yield one
    if waiting:
        yield _fused(waiting)


def _fused(waiting: Sequence[Segment]) -> Segment:
    return Segment(
        indices=tuple(s.indices[0] for s in waiting), steps=tuple(s.steps[0] for s in waiting),
        rows=np.concatenate([s.rows for s in waiting]),
    )  # fmt: skip
