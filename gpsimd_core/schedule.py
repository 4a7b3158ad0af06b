"""Several engines, each with its own stream: who steps next, what blocks, and what happened before what.

An instruction takes two turns of its engine. Start: its wait is met and its event flips, its operands are read, its
results stand in memory, a READ update fires. Finish: a COMPLETE update fires.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from gpsimd_core.errors import Fault, UsageError
from gpsimd_core.isa.enums import UpdateMode
from gpsimd_core.pipeline import Placed, Step, execute
from gpsimd_core.stream import Segment, Stream
from gpsimd_core.sync import Wait
from gpsimd_core.values import CompiledKernel

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore

__all__ = ["ORDER", "Deadlock", "Event", "Watcher", "run_streams"]

ORDER = ("pe", "act", "pool", "dve", "sp")
"""Round robin goes through the engines in this order; others follow."""

LARGE = 1 << 16
"""Bytes that an instruction must touch before it is worth a thread."""


class Deadlock(Fault):
    """Nobody can step and somebody is unfinished."""


@frozen(kw_only=True, eq=False)
class Event:
    """One turn of an engine: the start or the finish of an instruction."""

    engine: str
    index: int
    ordinal: int
    """How many instructions the engine started before."""
    step: Step
    turn: int
    """Position among all turns of all engines."""
    clock: Mapping[str, int]
    """What happened before: per engine the latest moment, 2 x ordinal + 1 being a start, + 2 a finish."""
    wait: Wait | None = None
    update: Any = None


class Watcher:
    """Sees every turn. Subclasses override what they need."""

    bulk = False
    """Whether it can be told of a whole segment after it ran, so that a single stream stays fused."""

    def segment(self, stream: Stream, segment: Segment, wait: Wait | None, ordinal: int) -> None:
        """Instructions of a single stream have run, the first of them its `ordinal`-th: both turns of each."""
        for i, (index, step) in enumerate(segment.pairs()):
            for turn in (0, 1):
                event = Event(
                    engine=step.engine.name, index=index, ordinal=ordinal + i, step=step,
                    turn=2 * (ordinal + i) + turn, clock={}, wait=wait, update=stream.update(index),
                )  # fmt: skip
                (self.ended if turn else self.began)(event)

    def began(self, event: Event) -> None:
        """An instruction has started: operands read, results in memory."""

    def ended(self, event: Event) -> None:
        """An instruction has finished."""

    def stopped(self) -> None:
        """The run is over, or a fault ended it."""


@define(eq=False)
class _Lane:
    """An engine while it runs."""

    stream: Stream
    name: str
    ordinal: int = 0
    current: Segment | None = None
    event: Event | None = None
    clock: dict[str, int] = field(factory=dict)


class _Host:
    def __init__(
        self,
        core: NeuronCore,
        streams: Mapping[str, Stream],
        seed: int | None,
        watchers: Sequence[Watcher],
        limit: int | None,
    ) -> None:
        self.core, self.watchers, self.limit = core, watchers, limit
        rank = {name: i for i, name in enumerate(ORDER)}
        self.lanes = [_Lane(s, n) for n, s in sorted(streams.items(), key=lambda item: rank.get(item[0], len(ORDER)))]
        self.random = None if seed is None else random.Random(seed)
        self.released: dict[tuple[str, int], dict[str, int]] = {}
        self.turn = 0
        self.started = 0
        self.exclusive = {
            region: {m.name.lower() for m in core.machine.sets.get(f"exclusive_on_{region}", ())}
            for region in ("sbuf", "psum")
        }

    def run(self) -> None:
        try:
            if self.random is not None:
                self._seeded(self.random)
            else:
                self._round_robin()
        except Fault as e:
            if not isinstance(e, Deadlock):
                self._tell_positions(e)
            raise
        finally:
            for w in self.watchers:
                w.stopped()

    def _seeded(self, chance: random.Random) -> None:
        while True:
            able = [lane for lane in self.lanes if self._able(lane)]
            if not able:
                break
            self._step(chance.choice(able))
        self._settle()

    def _round_robin(self) -> None:
        with ThreadPoolExecutor(max_workers=2) as pool:
            moved = True
            while moved:
                moved = False
                batch = self._independent()
                if batch:
                    self._together(batch, pool)
                    moved = True
                for lane in self.lanes:
                    if lane not in batch and self._able(lane):
                        self._step(lane)
                        moved = True
        self._settle()

    def _settle(self) -> None:
        stuck = [lane for lane in self.lanes if lane.current is not None or not lane.stream.done]
        if stuck:
            raise Deadlock(self._deadlock(stuck))

    # One turn ----------------------------------------------------------------------------------------------------------

    def _able(self, lane: _Lane) -> bool:
        if lane.current is not None:
            return True
        if lane.stream.done:
            return False
        wait = lane.stream.wait()
        return (wait is None or self.core.sync.met(wait)) and not self._excluded(lane)

    def _excluded(self, lane: _Lane) -> bool:
        """Whether an engine that shares a memory exclusively with this one holds it between start and finish."""
        if not any(lane.name in names for names in self.exclusive.values()):
            return False
        mine = _regions(lane.stream.segments[lane.stream.at])
        return any(
            region in mine and region in _regions(held.current)
            for region, names in self.exclusive.items()
            if lane.name in names
            for held in self.lanes
            if held is not lane and held.name in names and held.current is not None
        )

    def _step(self, lane: _Lane) -> None:
        if lane.current is None:
            wait = lane.stream.wait()
            segment = lane.stream.ready()
            self._count(segment)
            lane.stream.start(segment, wait)
            self._began(lane, segment, wait)
        else:
            self._end(lane)

    def _count(self, segment: Segment) -> None:
        self.started += 1
        if self.limit is not None and self.started > self.limit:
            raise Fault(f"more than {self.limit} instructions (--max-instructions)", index=segment.indices[0])

    def _began(self, lane: _Lane, segment: Segment, wait: Wait | None) -> None:
        index = segment.indices[0]
        lane.current = segment
        lane.clock[lane.name] = 2 * lane.ordinal + 1
        if wait is not None:
            for name, moment in self.released.get((_kind(wait.event), wait.index), {}).items():
                lane.clock[name] = max(lane.clock.get(name, 0), moment)
        update = lane.stream.update(index)
        if update is not None and update.at_read:
            self._release(lane, update)
        lane.event = Event(
            engine=lane.name, index=index, ordinal=lane.ordinal, step=segment.steps[0], turn=self.turn,
            clock=dict(lane.clock), wait=wait, update=update,
        )  # fmt: skip
        self.turn += 1
        for w in self.watchers:
            w.began(lane.event)

    def _end(self, lane: _Lane) -> None:
        assert lane.current is not None
        assert lane.event is not None
        lane.stream.finish(lane.current)
        lane.clock[lane.name] = 2 * lane.ordinal + 2
        update = lane.event.update
        if update is not None and not update.at_read:
            self._release(lane, update)
        event = Event(
            engine=lane.name, index=lane.event.index, ordinal=lane.ordinal, step=lane.event.step, turn=self.turn,
            clock=dict(lane.clock), wait=lane.event.wait, update=update,
        )  # fmt: skip
        self.turn += 1
        lane.current, lane.event = None, None
        lane.ordinal += 1
        for w in self.watchers:
            w.ended(event)

    def _release(self, lane: _Lane, update: Any) -> None:
        clock = self.released.setdefault((_kind(update.event), update.index), {})
        for name, moment in lane.clock.items():
            clock[name] = max(clock.get(name, 0), moment)

    # Threads: starts that cannot meet ------------------------------------------------------------------------------------

    def _independent(self) -> list[_Lane]:
        """Engines whose next instructions are large, unsynchronised and touch nothing in common."""
        chosen: list[_Lane] = []
        for lane in self.lanes:
            if lane.current is not None or lane.stream.done:
                continue
            segment = lane.stream.segments[lane.stream.at]
            if segment.synced or segment.late or segment.fault is not None or not _threadable(segment.steps[0]):
                continue
            if self._excluded(lane) or any(_meet(segment.steps[0], _next(other)) for other in chosen):
                continue
            chosen.append(lane)
        return chosen if len(chosen) > 1 and not any(self.exclusive.values()) else []

    def _together(self, batch: list[_Lane], pool: ThreadPoolExecutor) -> None:
        segments = [lane.stream.ready() for lane in batch]
        for segment in segments:
            self._count(segment)
        work = [
            pool.submit(execute, self.core, s.steps, s.indices, s.rows, lane.stream.registers)
            for lane, s in zip(batch, segments, strict=True)
        ]
        for lane, segment, future in zip(batch, segments, work, strict=True):
            lane.stream.after(segment, future.result())
            self._began(lane, segment, None)

    # Words ---------------------------------------------------------------------------------------------------------------

    def _tell_positions(self, e: Fault) -> None:
        e.positions = {lane.name: lane.stream.index for lane in self.lanes}

    def _deadlock(self, stuck: Sequence[_Lane]) -> str:
        lines = ["deadlock: no engine can step"]
        for lane in stuck:
            wait = lane.stream.wait()
            index = lane.stream.index
            name = lane.stream.program[index].name
            if wait is None:
                lines.append(f"  {lane.name} instruction {index}, {name}: kept off a memory that another engine holds")
                continue
            lines.append(
                f"  {lane.name} instruction {index}, {name}: wants {wait.text}; it is {self.core.sync.present(wait)}"
            )
            lines += [f"    {text}" for text in self._who_updates(wait)]
        return "\n".join(lines)

    def _who_updates(self, wait: Wait) -> list[str]:
        found = []
        for lane in self.lanes:
            raw = lane.stream.program.raw
            for index in range(len(raw)):
                mode, at = int(raw[index, 6]), int(raw[index, 7])
                if mode and at == wait.index and UpdateMode(mode).name.startswith("EVT") == wait.event:
                    state = "done" if index < lane.stream.index else "pending"
                    name = lane.stream.program[index].name
                    found.append(f"{UpdateMode(mode).name} by {lane.name} instruction {index}, {name} ({state})")
        return found or [f"no instruction of any stream updates {_kind(wait.event)} {wait.index}"]


def _kind(event: bool) -> str:
    return "event" if event else "semaphore"


def _next(lane: _Lane) -> Step:
    return lane.stream.segments[lane.stream.at].steps[0]


def _regions(segment: Segment) -> set[str]:
    return {p.region for step in segment.steps for p in step.operands.values()}


def _threadable(step: Step) -> bool:
    compiled = isinstance(step.instruction.kernel, CompiledKernel)
    size = sum(p.channels * (p.high - p.low) for p in step.operands.values())
    return compiled and step.fusible and size >= LARGE


def _meet(one: Step, two: Step) -> bool:
    """Whether a destination of one touches an operand of the other, or both use one accumulator."""

    def writes(step: Step) -> list[Placed]:
        return [step.operands[o.name] for o in step.instruction.writes]

    def places(step: Step) -> list[Placed]:
        return [*step.operands.values(), *(i.placed for i in step.immediates.values() if i.placed is not None)]

    shared = one.instruction.accumulator and two.instruction.accumulator
    if shared and one.engine.accumulators == two.engine.accumulators:
        return True
    return any(w.overlaps(p) for a, b in ((one, two), (two, one)) for w in writes(a) for p in places(b))


def run_streams(
    core: NeuronCore,
    streams: Mapping[str, Stream],
    schedule: str | int,
    watchers: Sequence[Watcher] = (),
    limit: int | None = None,
) -> None:
    """Run several streams until all have ended.

    Args:
        core: the core; its memory, semaphores and events are shared.
        streams: engine name to stream.
        schedule: `round_robin`, or a seed for a schedule that picks uniformly among the engines able to step.
        watchers: told of every turn.
        limit: most instructions.

    Raises:
        Deadlock: nobody can step and somebody is unfinished.
        Fault: an instruction could not be executed; `positions` gives each engine's index.
    """
    if schedule != "round_robin" and not isinstance(schedule, int):
        raise UsageError(f"schedule is {schedule!r}; allowed: round_robin, or a whole number as a seed")
    seed = schedule if isinstance(schedule, int) else None
    _Host(core, streams, seed, watchers, limit).run()
