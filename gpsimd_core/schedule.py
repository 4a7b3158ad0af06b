"""Several engines, each with its own stream: who steps next, what blocks, and what happened before what.

An instruction takes two turns of its engine. Start: its wait is met and its event flips, its operands are read, its
results stand in memory, a READ update fires. Finish: a COMPLETE update fires.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from gpsimd_core.deadlock import Deadlock, describe
from gpsimd_core.errors import Fault, UsageError
from gpsimd_core.step import Step
from gpsimd_core.stream import Ready, Stream, Update
from gpsimd_core.sync import Wait
from gpsimd_core.undo import Saved, may_leave_range
from gpsimd_core.workers import Workers

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore

__all__ = ["ORDER", "Event", "Schedule", "Watcher", "check_schedule"]

ORDER = ("pe", "act", "pool", "dve", "sp")
"""Round robin goes through the engines in this order; others follow."""


@frozen(kw_only=True, eq=False)
class Event:
    """One turn of an engine: the start or the finish of an instruction."""

    engine: str
    index: int
    ordinal: int
    """How many instructions the engine started before; a single stream counts those of all engines."""
    step: Step
    turn: int
    """Position among all turns of all engines."""
    since: int
    """The turn from which on the engine was held back before it could start; its start where nothing held it back."""
    clock: Mapping[str, int]
    """What happened before: per engine the latest moment, 2 x ordinal + 1 being a start, + 2 a finish. Empty for a
    single stream, where everything is ordered."""
    wait: Wait | None = None
    update: Update | None = None

    @property
    def stream(self) -> str | None:
        """The engine whose stream it stands in; None for a single stream."""
        return self.engine if self.clock else None


def check_schedule(schedule: object) -> None:
    """Refuse what is no schedule.

    Raises:
        UsageError: neither `round_robin` nor a whole number.
    """
    if schedule != "round_robin" and (not isinstance(schedule, int) or isinstance(schedule, bool)):
        raise UsageError(f"schedule is {schedule!r}; allowed: round_robin, or a whole number as a seed")


class Watcher:
    """Sees every turn. Subclasses override what they need."""

    bulk = False
    """Whether it can be told of instructions after more of them ran: it looks at no memory. Then a single stream stays
    fused, and several may run in threads."""

    def starting(self, stream: Stream, engine: str, ready: Ready) -> None:
        """The next turn starts this instruction (or, in bulk, these); nothing of it has happened."""

    def segment(self, ready: Ready, ordinal: int) -> None:
        """Instructions of a single stream have run, the first of them its `ordinal`-th: both turns of each."""
        for i, (index, step) in enumerate(ready.segment.pairs()):
            for turn in (2 * (ordinal + i), 2 * (ordinal + i) + 1):
                event = Event(
                    engine=step.engine.name, index=index, ordinal=ordinal + i, step=step, turn=turn,
                    since=2 * (ordinal + i), clock={}, wait=ready.wait, update=ready.update,
                )  # fmt: skip
                (self.ended if turn % 2 else self.began)(event)

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
    clock: dict[str, int] = field(factory=dict)
    running: Ready | None = None
    """What it has started and not finished."""
    event: Event | None = None
    """The start of it."""
    saved: Saved | None = None
    since: int | None = None
    """The turn at which it was first seen to be held back."""


class Schedule:
    """Several streams on one core.

    Args:
        core: whose memory, semaphores and events they share.
        streams: engine name to stream.
        schedule: `round_robin`, or a seed for a schedule that picks uniformly among the engines able to step.
        watchers: told of every turn.
        limit: most instructions.
        threads: most kernels at once; more than one needs watchers that take things in bulk.

    Raises:
        UsageError: no such schedule.
    """

    def __init__(
        self,
        core: NeuronCore,
        streams: Mapping[str, Stream],
        schedule: str | int,
        watchers: Sequence[Watcher] = (),
        limit: int | None = None,
        threads: int = 1,
    ) -> None:
        check_schedule(schedule)
        self.core, self.watchers, self.limit = core, watchers, limit
        rank = {name: i for i, name in enumerate(ORDER)}
        self.lanes = [_Lane(s, n) for n, s in sorted(streams.items(), key=lambda item: rank.get(item[0], len(ORDER)))]
        self.seed = schedule if isinstance(schedule, int) else None
        self.released: dict[tuple[bool, int], dict[str, int]] = {}
        """(whether an event, index) to the clock that its updates carry."""
        self.turn = 0
        self.started = 0
        self.acting: _Lane | None = None
        self.exclusive = {
            region: {m.name.lower() for m in core.machine.sets.get(f"exclusive_on_{region}", ())}
            for region in ("sbuf", "psum")
        }
        shared = any(self.exclusive.values())
        in_bulk = all(w.bulk for w in watchers)
        self.workers = Workers(core, threads if in_bulk and not shared and len(streams) > 1 else 1)
        self.at_risk = may_leave_range([s.program for s in streams.values()], core.sync)

    def run(self) -> Iterator[Event]:
        """Run until every stream has ended.

        Yields:
            Each start, after it.

        Raises:
            Deadlock: nobody can step and somebody is unfinished.
            Fault: an instruction could not be executed; `positions` gives each engine's index.
        """
        try:
            for lane in self._turns():
                self.acting = lane
                if lane.running is None:
                    yield self._start(lane)
                else:
                    self._finish(lane)
            self.workers.join()
            stuck = [lane for lane in self.lanes if not lane.stream.done]
            if stuck:
                self.acting = None
                text = describe({lane.name: lane.stream for lane in self.lanes}, [lane.name for lane in stuck])
                raise Deadlock(text, index=stuck[0].stream.index)
        except Fault as e:
            self._tell(e)
            raise
        finally:
            self.workers.close()
            for w in self.watchers:
                w.stopped()

    # Who is next -------------------------------------------------------------------------------------------------------

    def _turns(self) -> Iterator[_Lane]:
        if self.seed is not None:
            chance = random.Random(self.seed)
            while able := [lane for lane in self.lanes if self._able(lane)]:
                yield chance.choice(able)
            return
        moved = True
        while moved:
            moved = False
            for lane in self.lanes:
                if self._able(lane):
                    moved = True
                    yield lane

    def _able(self, lane: _Lane) -> bool:
        if lane.running is not None:
            return True
        if lane.stream.done:
            return False
        try:
            wait = lane.stream.wait()
            able = (wait is None or self.core.sync.met(wait)) and not self._excluded(lane)
        except Fault:
            return True  # its turn raises it
        if not able and lane.since is None:
            lane.since = self.turn
        return able

    def _excluded(self, lane: _Lane) -> bool:
        """Whether an engine that shares a memory exclusively with this one holds it between start and finish."""
        rivals = [
            (region, other)
            for region, names in self.exclusive.items()
            if lane.name in names
            for other in self.lanes
            if other is not lane and other.name in names and other.running is not None
        ]
        if not rivals:
            return False
        mine = _regions(lane.stream.ready())
        return any(
            region in mine and other.running is not None and region in _regions(other.running)
            for region, other in rivals
        )

    # One turn ----------------------------------------------------------------------------------------------------------

    def _start(self, lane: _Lane) -> Event:
        if lane.stream.late:
            self.workers.join()
        ready = lane.stream.ready()
        if self.limit is not None and self.started >= self.limit:
            raise Fault(f"more than {self.limit} instructions (--max-instructions)", index=ready.index)
        for w in self.watchers:
            w.starting(lane.stream, lane.name, ready)
        update = ready.update
        if update is not None and not update.at_read and not update.event and update.index in self.at_risk:
            self.workers.join()
            lane.saved = Saved(self.core, ready, lane.stream.registers)
        lane.stream.start(ready, self.workers)
        if lane.saved is not None:
            lane.saved.started()
        self.started += 1
        lane.running = ready
        lane.clock[lane.name] = 2 * lane.ordinal + 1
        if ready.wait is not None:
            self._acquire(lane, ready.wait)
        if update is not None and update.at_read:
            self._release(update.event, update.index, lane.clock)
        lane.event = self._event(lane, ready)
        lane.since = None
        self.turn += 1
        for w in self.watchers:
            w.began(lane.event)
        return lane.event

    def _finish(self, lane: _Lane) -> None:
        ready = lane.running
        assert ready is not None
        try:
            lane.stream.finish(ready)
        except Fault:
            assert lane.saved is not None
            lane.saved.restore()
            raise
        lane.saved = None
        lane.clock[lane.name] = 2 * lane.ordinal + 2
        if ready.update is not None and not ready.update.at_read:
            self._release(ready.update.event, ready.update.index, lane.clock)
        event = self._event(lane, ready)
        self.turn += 1
        lane.running, lane.event = None, None
        lane.ordinal += 1
        for w in self.watchers:
            w.ended(event)

    def _event(self, lane: _Lane, ready: Ready) -> Event:
        since = lane.event.since if lane.event is not None else lane.since
        return Event(
            engine=lane.name, index=ready.index, ordinal=lane.ordinal, step=ready.segment.steps[0], turn=self.turn,
            since=self.turn if since is None else since, clock=dict(lane.clock), wait=ready.wait, update=ready.update,
        )  # fmt: skip

    # What happened before what ---------------------------------------------------------------------------------------------

    def _acquire(self, lane: _Lane, wait: Wait) -> None:
        before = self.released.get((wait.event, wait.index), {})
        for name, moment in before.items():
            lane.clock[name] = max(lane.clock.get(name, 0), moment)
        if wait.flips:
            # The flip may let others go on, but it comes before this instruction reads anything.
            self._release(True, wait.index, {**lane.clock, lane.name: 2 * lane.ordinal})

    def _release(self, event: bool, index: int, clock: Mapping[str, int]) -> None:
        known = self.released.setdefault((event, index), {})
        for name, moment in clock.items():
            known[name] = max(known.get(name, 0), moment)

    # Words ---------------------------------------------------------------------------------------------------------------

    def _tell(self, e: Fault) -> None:
        e.positions = {
            lane.name: lane.running.index if lane.running is not None else lane.stream.index for lane in self.lanes
        }
        lines = [str(e)]
        if self.acting is not None and e.index is not None:
            record = self.acting.stream.program[e.index]
            lines = [f"{self.acting.name} instruction {e.index}, {record.name}: {e}"]
        told = [lane for lane in self.lanes if lane is not self.acting and (self.acting or lane.stream.done)]
        lines += [f"  {lane.name} stopped {_where(lane)}" for lane in told]
        e.args = ("\n".join(lines),)


def _where(lane: _Lane) -> str:
    stream = lane.stream
    if lane.running is not None:
        return f"between start and finish of instruction {lane.running.index}"
    if stream.halted:
        return f"at its halt, instruction {stream.index - 1}"
    if stream.done:
        return f"at its end, after {len(stream.program)} instructions"
    return f"before instruction {stream.index}, {stream.program[stream.index].name}"


def _regions(ready: Ready) -> set[str]:
    return {p.region for step in ready.segment.steps for p in step.places}
