"""A NeuronCore: a machine with state, and the host that runs programs on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.errors import Fault, UsageError, Violated
from gpsimd_core.isa.enums import UpdateMode
from gpsimd_core.isa.kernels.read_accumulator import UNDEFINED_READ
from gpsimd_core.isa.lane import compiled as compiled_twin
from gpsimd_core.isa.lanestate import ACCUMULATOR, COLUMNS
from gpsimd_core.machine import Machine
from gpsimd_core.memory import POISON, Memory
from gpsimd_core.pipeline import MAX_ELEMENTS, Step, execute, plan, registers_named, validate
from gpsimd_core.program import Program, decode
from gpsimd_core.report import Report
from gpsimd_core.sync import Registers, Sync, Wait
from gpsimd_core.values import CompiledKernel

__all__ = ["Accumulators", "NeuronCore", "Notice", "Result"]

PLAN_CACHE = 65536


@frozen(kw_only=True)
class Notice:
    """Something worth knowing that did not stop the run."""

    index: int
    text: str

    def __str__(self) -> str:
        return f"instruction {self.index}: {self.text}"


@frozen(kw_only=True)
class Executed:
    """An instruction that ran."""

    index: int
    engine: str
    step: Step

    @property
    def name(self) -> str:
        """Instruction name."""
        return self.step.name


@frozen(kw_only=True, eq=False)
class Result:
    """The outcome of a run.

    Attributes:
        instructions: how many ran.
        seconds: wall time of validation and execution.
        notices: what is worth knowing.
        report: of validation, with its warnings.
    """

    instructions: int
    seconds: float
    notices: tuple[Notice, ...]
    report: Report
    machine: Machine
    _segments: Sequence[Segment] = field(repr=False)

    @property
    def steps(self) -> list[Executed]:
        """Every executed instruction in order."""
        return [Executed(index=i, engine=s.engine.name, step=s) for g in self._segments for i, s in g.pairs()]


@frozen(kw_only=True, eq=False)
class Segment:
    """Records that the host handles in one go: a run of one compiled kernel, one step, or one that must be resolved."""

    indices: tuple[int, ...]
    steps: tuple[Step, ...]
    rows: Any = None
    """Plan rows of a compiled run."""
    fault: Fault | None = None
    """What planning found, raised when the record is reached."""
    late: bool = False
    """It names registers: planned when it is reached."""
    synced: bool = False
    """It waits or updates."""

    def pairs(self) -> Iterator[tuple[int, Step]]:
        """(index, step) of each record."""
        return zip(self.indices, self.steps, strict=True)


class Accumulators:
    """The per-lane accumulators of the engines: fp32, 128 lanes each, with a defined flag.

    `accumulators["dve"]` gives the values, float32 of shape (128,), a NaN where a lane is undefined; assigning an array
    defines every lane.
    """

    def __init__(self, lanes: np.ndarray[Any, Any], engines: Sequence[str]) -> None:
        self._lanes, self._engines = lanes, tuple(engines)

    def __iter__(self) -> Iterator[str]:
        return iter(self._engines)

    def __getitem__(self, engine: str) -> np.ndarray[Any, Any]:
        column = self._column(engine)
        values = np.where(self._lanes[:, column + 1] != 0, self._lanes[:, column], np.uint32(0x7FC00000))
        found = values.astype(np.uint32).view(np.float32)
        found.flags.writeable = False
        return found

    def __setitem__(self, engine: str, values: Any) -> None:
        array = np.broadcast_to(np.asarray(values, np.float32), (128,))
        self.store(engine, 0, array)

    def defined(self, engine: str) -> np.ndarray[Any, Any]:
        """Which lanes hold a value: bool, shape (128,)."""
        return np.asarray(self._lanes[:, self._column(engine) + 1] != 0)

    def store(self, engine: str | None, first: int, values: np.ndarray[Any, Any]) -> None:
        """Give the lanes from `first` on these float32 values."""
        column = self._column(engine or "")
        rows = slice(first, first + len(values))
        self._lanes[rows, column] = np.ascontiguousarray(values, np.float32).view(np.uint32)
        self._lanes[rows, column + 1] = 1

    def _column(self, engine: str) -> int:
        if engine not in self._engines:
            raise UsageError(f"no accumulators belong to {engine!r}; there are {', '.join(self._engines) or 'none'}")
        return ACCUMULATOR[engine]


class NeuronCore:
    """State and host of one NeuronCore.

    Args:
        machine: the generation, profile and plugins.
        compiled: run kernels through numba; False runs the same functions as plain Python, slowly.
        max_elements: most elements of a channel.

    Attributes:
        sbuf, psum: the memories; `read` and `write` take arrays.
        registers: 64 address registers.
        semaphores, events: uint32 and uint8 arrays of 256.
        accumulators: by engine.
    """

    def __init__(self, machine: Machine, *, compiled: bool = True, max_elements: int = MAX_ELEMENTS) -> None:
        self.machine = machine
        fill = POISON if machine.policies["initial_memory"] == "poison" else 0
        self.memory = Memory(machine.generation.geometry, machine.formats, fill)
        self.sbuf, self.psum = self.memory.sbuf, self.memory.psum
        self.lanes: np.ndarray[Any, Any] = np.zeros((128, COLUMNS), np.uint32)
        owners = dict.fromkeys(e.accumulators for e in machine.engines.values() if e.accumulators)
        self.accumulators = Accumulators(self.lanes, [o for o in owners if o])
        self.registers = Registers()
        self.sync = Sync(wraps=machine.policies["semaphore_range"] == "wrap")
        self.semaphores, self.events = self.sync.semaphores, self.sync.events
        self.max_elements = max_elements
        self.compiled: Callable[[Any], Any] = compiled_twin if compiled else _plain
        self._plans: dict[Any, Step] = {}

    def reset_sync(self) -> None:
        """All semaphores and events to zero."""
        self.sync.reset()

    def run(self, program: Any, *, max_instructions: int | None = None) -> Result:
        """Validate a program, then execute it.

        Args:
            program: a Program, bytes, or uint8 array of records.
            max_instructions: stop with a Fault beyond this many.

        Returns:
            A Result.

        Raises:
            Violated: some record breaks a rule; nothing was executed.
            Fault: an instruction could not be executed; state is as it was before it.
        """
        given = program if isinstance(program, Mapping) else decode(self.machine, program)
        answer = self.machine.hooks.run(self, given)
        if answer is not None:
            return answer  # type: ignore[no-any-return]
        return self._run(given, max_instructions)

    def _run(self, program: Any, max_instructions: int | None) -> Result:
        start = time.perf_counter()
        report, segments = self._prepare(program)
        for number, value in program.registers.items():
            self.registers[number] = value
        if max_instructions is not None and len(program) > max_instructions:
            raise Fault(f"the program has {len(program)} instructions; --max-instructions allows {max_instructions}")
        observers = self.machine.hooks.observers(self.machine)
        notices: list[Notice] = []
        done = []
        for segment in segments:
            done.append(self._segment(program, report, segment, notices, observers))
            if done[-1].steps[-1].instruction.halts:
                break
        return Result(
            instructions=sum(len(s.indices) for s in done), seconds=time.perf_counter() - start, notices=tuple(notices), report=report,
            machine=self.machine, segments=done,
        )  # fmt: skip

    # Preparing: what depends on the program alone is done once ---------------------------------------------------------

    def _prepare(self, program: Program) -> tuple[Report, tuple[Segment, ...]]:
        key = (self.machine, self.max_elements)
        found = program.prepared.get(key)
        if found is None:
            report = validate(self.machine, program)
            if not report.ok:
                raise Violated(report)
            found = program.prepared[key] = (report, tuple(self._segments(program, report)))
        return found

    def _segments(self, program: Program, report: Report) -> Iterator[Segment]:
        strict = self.machine.policies["strict"] == "on"
        waiting: list[tuple[int, Step]] = []
        for record in program:
            one = self._single(program, record.index, report.engines[record.index])
            fusible = one.rows is not None and not one.synced and not strict and one.steps[0].fusible
            joins = waiting and fusible and waiting[-1][1].instruction.kernel is one.steps[0].instruction.kernel
            if waiting and not joins:
                yield _fused(waiting)
                waiting = []
            if fusible:
                waiting.append((record.index, one.steps[0]))
            else:
                yield one
        if waiting:
            yield _fused(waiting)

    def _single(self, program: Program, index: int, engine: str | None) -> Segment:
        record = program[index]
        synced = bool(record.raw[4] or record.raw[6]) and self.machine.policies["events"] == "honour"
        if not record.opaque and registers_named(record.layout, record.raw):
            return Segment(indices=(index,), steps=(), late=True, synced=synced)
        try:
            step = self._plan(program, index, engine)
        except Fault as e:
            return Segment(indices=(index,), steps=(), fault=e, synced=synced)
        rows = np.array([step.row], np.int64) if isinstance(step.instruction.kernel, CompiledKernel) else None
        return Segment(indices=(index,), steps=(step,), rows=rows, synced=synced)

    def _plan(self, program: Program, index: int, engine: str | None) -> Step:
        record = program[index]
        named = () if record.opaque else registers_named(record.layout, record.raw)
        values = tuple(int(self.registers.values[n]) if self.registers.defined[n] else None for n in named)
        key = (record.raw.tobytes(), engine, values)
        step = self._plans.get(key)
        if step is None:
            step = plan(self.machine, self.memory, record, self._register, engine, self.max_elements)
            if len(self._plans) >= PLAN_CACHE:
                self._plans.clear()
            self._plans[key] = step
        return step

    def _register(self, number: int, operand: str) -> int:
        try:
            return self.registers[number]
        except Fault as e:
            raise Fault(f"{operand}: {e.reason}", where=operand) from None

    # Running -------------------------------------------------------------------------------------------------------------

    def _segment(
        self, program: Program, report: Report, segment: Segment, notices: list[Notice], observers: tuple[Any, ...]
    ) -> Segment:
        index = segment.indices[0]
        if segment.synced:
            self._start(program, index)
        if segment.fault is not None:
            raise segment.fault
        if segment.late:
            step = self._plan(program, index, report.engines[index])
            rows = np.array([step.row], np.int64) if isinstance(step.instruction.kernel, CompiledKernel) else None
            segment = Segment(indices=segment.indices, steps=(step,), rows=rows, synced=segment.synced)
        if self.machine.policies["strict"] == "on":
            self._refuse_undefined(index, segment.steps[0])
        status = execute(self, segment.steps, segment.indices, segment.rows)
        if status.any():
            for position in np.flatnonzero(status & UNDEFINED_READ):
                text = "used an accumulator lane that holds no value; 7fc00000 stood in"
                notices.append(Notice(index=segment.indices[position], text=f"{segment.steps[position].name} {text}"))
        if segment.synced:
            self._finish(program, index)
        if observers:
            for i, step in segment.pairs():
                for observe in observers:
                    observe(Executed(index=i, engine=step.engine.name, step=step))
        return segment

    def _refuse_undefined(self, index: int, step: Step) -> None:
        if not step.accumulates_undefined or step.engine.accumulators is None:
            return
        first = next(iter(step.operands[o.name] for o in step.instruction.writes)).partition
        lanes = range(first, first + step.channels)
        undefined = [p for p in lanes if not self.accumulators.defined(step.engine.accumulators)[p]]
        if undefined:
            raise Fault(
                f"{step.name} uses the accumulator of lane {undefined[0]}, which holds no value (strict)", index=index
            )

    def _start(self, program: Program, index: int) -> None:
        record = program[index]
        mode, at = int(record.raw[4]), int(record.raw[5])
        if mode:
            wait = Wait(mode, at, self._value(program, index, register=bool(mode & 0x80)))
            if not self.sync.met(wait):
                raise Fault(
                    f"{record.name} would wait for ever: it wants {wait.text}, which is {self.sync.present(wait)}, "
                    "and nothing else runs",
                    index=index,
                )
            self._check_update(program, index)
            self.sync.take(wait)
        else:
            self._check_update(program, index)

    def _check_update(self, program: Program, index: int) -> None:
        """Refuse an update that would fault, before the instruction has any effect."""
        mode, at = int(program.raw[index, 6]), int(program.raw[index, 7])
        if mode:
            trial = Sync(wraps=self.sync.wraps)
            trial.semaphores[:], trial.events[:] = self.sync.semaphores, self.sync.events
            try:
                trial.update(mode, at, self._value(program, index, register="_REG_" in _update_name(mode)))
            except Fault as e:
                e.index = index
                raise

    def _finish(self, program: Program, index: int) -> None:
        mode, at = int(program.raw[index, 6]), int(program.raw[index, 7])
        if mode:
            self.sync.update(mode, at, self._value(program, index, register="_REG_" in _update_name(mode)))

    def _value(self, program: Program, index: int, *, register: bool) -> int:
        """The value that a wait or update uses: semaphore_value, or the register that it names."""
        word = int(program.raw[index, 8:12].view("<u4")[0])
        if not register:
            return word
        if word in (128, 129):
            return ((index + 1) * 64) >> (32 if word == 129 else 0) & 0xFFFFFFFF
        if word >= 64:
            raise Fault(f"semaphore_value names register {word}; there are 0 to 63, 128 and 129", index=index)
        try:
            return self.registers[word]
        except Fault as e:
            raise Fault(f"semaphore_value: {e.reason}", index=index) from None


def _update_name(mode: int) -> str:
    return UpdateMode(mode).name


def _fused(waiting: Sequence[tuple[int, Step]]) -> Segment:
    steps = tuple(s for _, s in waiting)
    return Segment(
        indices=tuple(i for i, _ in waiting), steps=steps, rows=np.array([s.row for s in steps], np.int64)
    )  # fmt: skip


def _plain(function: Any) -> Any:
    return function
