"""A NeuronCore: a machine with state, and the host that runs programs on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.errors import Fault, UsageError
from gpsimd_core.isa.lane import compiled as compiled_twin
from gpsimd_core.isa.lanestate import ACCUMULATOR, COLUMNS
from gpsimd_core.machine import Machine
from gpsimd_core.memory import POISON, Memory
from gpsimd_core.pipeline import MAX_ELEMENTS, Step
from gpsimd_core.program import Program, decode
from gpsimd_core.report import Report
from gpsimd_core.schedule import Event, Watcher, run_streams
from gpsimd_core.stream import Notice, Segment, Stream
from gpsimd_core.sync import Registers, Sync

__all__ = ["Accumulators", "Executed", "NeuronCore", "Notice", "Result"]


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
        reports: of validation by stream, with its warnings; a single stream has the key "".
    """

    instructions: int
    seconds: float
    notices: tuple[Notice, ...]
    reports: Mapping[str, Report]
    machine: Machine
    _segments: Sequence[tuple[str, Segment]] = field(repr=False)

    @property
    def report(self) -> Report:
        """The report of a single stream."""
        return next(iter(self.reports.values()))

    @property
    def steps(self) -> list[Executed]:
        """Every executed instruction in order."""
        return [
            Executed(index=i, engine=engine or s.engine.name, step=s)
            for engine, g in self._segments
            for i, s in g.pairs()
        ]


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
        """Give the lanes from `first` on these float32 values; every NaN becomes 7fc00000, as of an arithmetic result."""
        column = self._column(engine or "")
        rows = slice(first, first + len(values))
        values = np.ascontiguousarray(values, np.float32)
        self._lanes[rows, column] = np.where(np.isnan(values), np.uint32(0x7FC00000), values.view(np.uint32))
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
        self.plans: dict[Any, Step] = {}
        self.ran: dict[Any, Sequence[tuple[str, Segment]]] = {}
        """What ran unwatched, by program, for a later check to know which bytes it wrote."""

    def reset_sync(self) -> None:
        """All semaphores and events to zero."""
        self.sync.reset()

    def run(
        self,
        program: Any,
        *,
        schedule: str | int = "round_robin",
        check: bool = False,
        watchers: Sequence[Watcher] = (),
        max_instructions: int | None = None,
    ) -> Result:
        """Validate, then execute.

        Args:
            program: a Program, bytes, or uint8 array of records: one stream in program order. A mapping of engine to
                program, or a Program whose records name several engines: one stream an engine.
            schedule: of several streams: `round_robin`, or a seed.
            check: report stray reads, races, and accumulators folded in vain as notices.
            watchers: told of every turn.
            max_instructions: stop with a Fault beyond this many.

        Returns:
            A Result.

        Raises:
            Violated: some record breaks a rule; nothing was executed.
            Fault: an instruction could not be executed; state is as it was before it.
        """
        given = self._streams(program)
        answer = self.machine.hooks.run(self, given)
        if answer is not None:
            return answer  # type: ignore[no-any-return]
        begun = time.perf_counter()
        seen = [*watchers, *(_Observer(o) for o in self.machine.hooks.observers(self.machine))]
        checker = self._checker() if check else None
        if checker is not None:
            seen.append(checker)
        if isinstance(given, Program):
            singly = self.machine.policies["strict"] == "on" or max_instructions is not None
            fused = not singly and all(w.bulk for w in seen)
            streams = {"": Stream(self, given, None, self.registers, fused=fused)}
            done = self._one(streams[""], seen, max_instructions)
        else:
            streams = {e: Stream(self, p, e, self.registers.copy(), fused=False) for e, p in given.items()}
            log = _Log()
            run_streams(self, streams, schedule, [log, *seen], max_instructions)
            done = log.segments
        if not check:
            self.ran[tuple(s.program for s in streams.values())] = done
        notices = [n for s in streams.values() for n in s.notices] + (checker.notices() if checker else [])
        return Result(
            instructions=sum(len(s.indices) for _, s in done), seconds=time.perf_counter() - begun,
            notices=tuple(notices), reports={e: s.report for e, s in streams.items()}, machine=self.machine,
            segments=done,
        )  # fmt: skip

    def _streams(self, program: Any) -> Program | dict[str, Program]:
        if isinstance(program, Mapping):
            unknown = [e for e in program if e not in self.machine.engines]
            if unknown:
                there = ", ".join(self.machine.engines)
                raise UsageError(f"{self.machine.generation.name} has no engine {unknown[0]!r}; it has {there}")
            return {e: decode(self.machine, p).on(e) for e, p in program.items()}
        one = decode(self.machine, program)
        named = {s for s in one.streams or () if s}
        if len(named) > 1:
            if None in (one.streams or ()):
                raise UsageError(
                    f"{one.name}: some instructions stand in no stream, others in {', '.join(sorted(named))}"
                )
            return one.split()
        return one

    def _one(self, stream: Stream, seen: Sequence[Watcher], limit: int | None) -> list[tuple[str, Segment]]:
        """One stream in program order, each instruction finished before the next."""
        done: list[tuple[str, Segment]] = []
        count = 0
        try:
            while not stream.done:
                wait = stream.wait()
                if wait is not None and not self.sync.met(wait):
                    name = stream.program[stream.index].name
                    raise Fault(
                        f"{name} would wait for ever: it wants {wait.text}, which is {self.sync.present(wait)}, and "
                        "nothing else runs",
                        index=stream.index,
                    )
                segment = stream.ready()
                if limit is not None and count + len(segment.indices) > limit:
                    raise Fault(f"more than {limit} instructions (--max-instructions)", index=segment.indices[0])
                stream.start(segment, wait)
                for w in seen:
                    w.segment(stream, segment, wait, count)
                stream.finish(segment)
                count += len(segment.indices)
                done.append((segment.steps[-1].engine.name, segment))
        finally:
            for w in seen:
                w.stopped()
        return done

    def _checker(self) -> Any:
        from gpsimd_core.checker import Checker

        return Checker(self)


class _Log(Watcher):
    """Keeps what finished, in order."""

    def __init__(self) -> None:
        self.segments: list[tuple[str, Segment]] = []

    def ended(self, event: Event) -> None:
        self.segments.append((event.engine, Segment(indices=(event.index,), steps=(event.step,))))


class _Observer(Watcher):
    """A plugin's callable, given each finished instruction."""

    def __init__(self, observe: Callable[[Any], None]) -> None:
        self.observe = observe

    def ended(self, event: Event) -> None:
        self.observe(Executed(index=event.index, engine=event.engine, step=event.step))


def _plain(function: Any) -> Any:
    return function
