"""A NeuronCore: a machine with state, and the host that runs programs on it."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.errors import Fault, UsageError, Violated
from gpsimd_core.isa.lane import compiled as compiled_twin
from gpsimd_core.isa.lanestate import ACCUMULATOR, COLUMNS
from gpsimd_core.machine import Machine
from gpsimd_core.memory import POISON, Memory
from gpsimd_core.program import Program, decode
from gpsimd_core.report import Report
from gpsimd_core.schedule import Event, Schedule, Watcher, check_schedule
from gpsimd_core.step import MAX_ELEMENTS, Step
from gpsimd_core.stream import Notice, Segment, Stream, refuse
from gpsimd_core.sync import Registers, Sync

__all__ = ["Accumulators", "Executed", "NeuronCore", "Notice", "Result"]

MOST_REMEMBERED = 64
"""Programs that ran unwatched and are kept until somebody wants to know which bytes they wrote."""


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

    def store(self, engine: str | None, first: int, values: np.ndarray[Any, Any], *, defines: bool = True) -> None:
        """Give the lanes from `first` on these float32 values; every NaN becomes 7fc00000, as of an arithmetic result.

        Without `defines` the lanes stay as defined or undefined as they were.
        """
        column = self._column(engine or "")
        rows = slice(first, first + len(values))
        values = np.ascontiguousarray(values, np.float32)
        self._lanes[rows, column] = np.where(np.isnan(values), np.uint32(0x7FC00000), values.view(np.uint32))
        if defines:
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
        threads: most large kernels of several streams at once; by default as many as there are processors. Results do
            not depend on it.

    Attributes:
        sbuf, psum: the memories; `read` and `write` take arrays.
        registers: 64 address registers.
        semaphores, events: uint32 and uint8 arrays of 256.
        accumulators: by engine.
    """

    def __init__(
        self,
        machine: Machine,
        *,
        compiled: bool = True,
        max_elements: int = MAX_ELEMENTS,
        threads: int | None = None,
    ) -> None:
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
        self.threads = threads or os.cpu_count() or 1
        self.compiled: Callable[[Any], Any] = compiled_twin if compiled else _plain
        self.plans: dict[Any, Step] = {}
        self.ran: dict[Any, Sequence[tuple[str, Segment]]] = {}
        """What ran unwatched, by program, for a later check to know which bytes it wrote."""
        self._innermost: Callable[[Program | Mapping[str, Program]], Result] = self._execute

    @property
    def compiles(self) -> bool:
        """Whether kernels go through the compiler."""
        return self.compiled is compiled_twin

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
        before = self._innermost
        self._innermost = functools.partial(
            self._execute, schedule=schedule, check=check, watchers=watchers, max_instructions=max_instructions
        )
        try:
            given = self._streams(program)
            answer = self.machine.hooks.run(self, given)
            return self.execute(given) if answer is None else answer
        finally:
            self._innermost = before

    def execute(self, given: Program | Mapping[str, Program]) -> Result:
        """What `run` comes to when every plugin has had its chance to wrap it: the innermost `gpsimd_run`."""
        return self._innermost(given)

    def _execute(
        self,
        given: Program | Mapping[str, Program],
        schedule: str | int = "round_robin",
        check: bool = False,
        watchers: Sequence[Watcher] = (),
        max_instructions: int | None = None,
    ) -> Result:
        begun = time.perf_counter()
        checker = self._checker() if check else None
        seen = [*watchers, *([checker] if checker else [])]
        streams, turns, done = self._set_up(given, schedule, seen, max_instructions)
        try:
            for _ in turns:
                pass
        except Fault as e:
            for n in checker.notices() if checker else ():
                e.add_note(str(n))
            raise
        finally:
            if checker is None:
                self._remember(streams, done)
        notices = [n for s in streams.values() for n in sorted(s.notices, key=lambda n: n.index or 0)]
        notices += checker.notices() if checker else []
        if self.machine.policies["strict"] == "on":
            refuse(notices)
        return Result(
            instructions=sum(len(s.indices) for _, s in done), seconds=time.perf_counter() - begun,
            notices=tuple(notices), reports={e: s.report for e, s in streams.items()}, machine=self.machine,
            segments=done,
        )  # fmt: skip

    def stepwise(
        self, program: Any, *, schedule: str | int = "round_robin", watchers: Sequence[Watcher] = ()
    ) -> Iterator[Event]:
        """Validate, then execute one instruction after the other, as the caller asks for them.

        Args:
            program, schedule, watchers: as of `run`. The hook `gpsimd_run` is not asked.

        Yields:
            The start of each instruction, after it: its results stand in memory. A COMPLETE update of one among several
            streams has not fired yet.

        Raises:
            Violated, Fault: as `run`.
        """
        latest = _Latest()
        streams, turns, done = self._set_up(self._streams(program), schedule, [*watchers, latest], None)
        try:
            for _ in turns:
                assert latest.event is not None
                yield latest.event
        finally:
            self._remember(streams, done)

    def _set_up(
        self,
        given: Program | Mapping[str, Program],
        schedule: str | int,
        watchers: Sequence[Watcher],
        limit: int | None,
    ) -> tuple[dict[str, Stream], Iterator[Any], list[tuple[str, Segment]]]:
        """Streams by engine; what runs them, an item a start; and what has run, which grows meanwhile."""
        check_schedule(schedule)
        seen = [*watchers, *(_Observer(o) for o in self.machine.hooks.observers(self.machine))]
        if isinstance(given, Program):
            singly = self.machine.policies["strict"] == "on" or limit is not None
            stream = Stream(self, given, None, self.registers, fused=not singly and all(w.bulk for w in seen))
            done: list[tuple[str, Segment]] = []
            return {"": stream}, self._one(stream, seen, limit, done), done
        streams: dict[str, Stream] = {}
        for engine, program in given.items():
            try:
                streams[engine] = Stream(self, program, engine, self.registers.copy(), fused=False)
            except Violated as e:
                e.args = (f"in the stream of {engine}:\n{e}",)
                raise
        log = _Log()
        host = Schedule(self, streams, schedule, [log, *seen], limit, self.threads)
        return streams, host.run(), log.segments

    def _remember(self, streams: Mapping[str, Stream], done: Sequence[tuple[str, Segment]]) -> None:
        """Keep what ran unwatched, so that a later check knows which bytes it wrote."""
        self.ran[tuple(s.program for s in streams.values())] = done
        if len(self.ran) > MOST_REMEMBERED:
            from gpsimd_core.checker import mark_written

            mark_written(self)

    def _streams(self, program: Any) -> Program | dict[str, Program]:
        if isinstance(program, Mapping):
            unknown = [e for e in program if e not in self.machine.engines]
            if unknown:
                there = ", ".join(self.machine.engines)
                raise UsageError(f"{self.machine.generation.name} has no engine {unknown[0]!r}; it has {there}")
            return {e: self._for(e, decode(self.machine, p)) for e, p in program.items()}
        one = decode(self.machine, program)
        named = {s for s in one.streams or () if s}
        if len(named) > 1:
            if None in (one.streams or ()):
                raise UsageError(
                    f"{one.name}: some instructions stand in no stream, others in {', '.join(sorted(named))}"
                )
            return one.split()
        return one

    @staticmethod
    def _for(engine: str, program: Program) -> Program:
        others = {s for s in program.streams or () if s} - {engine}
        if others:
            raise UsageError(
                f"{program.name} is given to {engine}; its instructions stand in the stream of {min(others)}"
            )
        return program.on(engine)

    def _one(
        self, stream: Stream, seen: Sequence[Watcher], limit: int | None, done: list[tuple[str, Segment]]
    ) -> Iterator[None]:
        """One stream in program order, each instruction finished before the next."""
        count = 0
        try:
            while not stream.done:
                wait = stream.wait()
                if wait is not None and not self.sync.met(wait):
                    name = stream.program[stream.index].name
                    raise Fault(
                        f"{name} would wait for ever: it wants {wait.text}, which is {self.sync.present(wait)}, and "
                        f"nothing else runs ({wait.name})",
                        index=stream.index,
                    )
                ready = stream.ready()
                segment = ready.segment
                if limit is not None and count + len(segment.indices) > limit:
                    raise Fault(f"more than {limit} instructions (--max-instructions)", index=ready.index)
                engine = segment.steps[-1].engine.name
                for w in seen:
                    w.starting(stream, engine, ready)
                stream.start(ready)
                stream.finish(ready)
                for w in seen:
                    w.segment(ready, count)
                count += len(segment.indices)
                done.append((engine, segment))
                yield
        finally:
            for w in seen:
                w.stopped()

    def _checker(self) -> Any:
        from gpsimd_core.checker import Checker

        return Checker(self)


class _Log(Watcher):
    """Keeps what ran, in the order of its effects."""

    bulk = True

    def __init__(self) -> None:
        self.segments: list[tuple[str, Segment]] = []

    def began(self, event: Event) -> None:
        self.segments.append((event.engine, Segment(indices=(event.index,), steps=(event.step,))))


class _Latest(Watcher):
    """Keeps the last start."""

    def __init__(self) -> None:
        self.event: Event | None = None

    def began(self, event: Event) -> None:
        self.event = event


class _Observer(Watcher):
    """A plugin's callable, given each finished instruction."""

    def __init__(self, observe: Callable[[Any], None]) -> None:
        self.observe = observe

    def ended(self, event: Event) -> None:
        self.observe(Executed(index=event.index, engine=event.engine, step=event.step))


def _plain(function: Any) -> Any:
    return function
