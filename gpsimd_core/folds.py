"""Accumulators folded in vain, or read after a command that left them undefined. On with `check=True`."""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.enums import AccumCmd
from gpsimd_core.schedule import Event, Watcher
from gpsimd_core.step import Step
from gpsimd_core.stream import Notice

__all__ = ["Folds"]

Who = tuple[str | None, int, str]
"""Stream (None where there is one alone), index, instruction."""
Lanes = dict[tuple[str, int], Who]
"""By owner of the accumulators and lane."""


class Folds(Watcher):
    """Follows each lane of each accumulator through a run."""

    def __init__(self) -> None:
        self._folded: Lanes = {}
        self._undone: Lanes = {}
        self._vain: list[tuple[Who, int, Who]] = []
        """Who folded, which lane, who wrote over it."""
        self._misread: dict[tuple[Who, Who], list[int]] = {}

    def began(self, event: Event) -> None:
        step, owner = event.step, event.step.engine.accumulators
        use = step.instruction.accumulator
        if use is None or owner is None:
            return
        who = (event.stream, event.index, step.name)
        command = None if use == "read" else _command(step)
        first = step.operands[step.instruction.writes[0].name].partition
        for lane in range(first, first + step.channels):
            self._use(owner, lane, who, command)

    def _use(self, owner: str, lane: int, who: Who, command: AccumCmd | None) -> None:
        key = owner, lane
        if command is None or command == AccumCmd.ACCUMULATE:
            if key in self._undone:
                self._misread.setdefault((who, self._undone[key]), []).append(lane)
            self._folded.pop(key, None)
        elif command != AccumCmd.IDLE and key in self._folded:
            self._vain.append((self._folded.pop(key), lane, who))
        if command in (AccumCmd.ACCUMULATE, AccumCmd.ZERO_ACCUMULATE, AccumCmd.LOAD_ACCUMULATE):
            self._folded[key] = who
        if command in (AccumCmd.ZERO, AccumCmd.ZERO_ACCUMULATE, AccumCmd.LOAD_ACCUMULATE):
            self._undone.pop(key, None)
        if command is UNDEFINING:
            self._undone[key] = who

    def notices(self) -> list[Notice]:
        """What was found, by instruction."""
        found = []
        for (reader, culprit), lanes in self._misread.items():
            text = f"{reader[2]} reads accumulator {_span(lanes)}, which {_told(culprit)} left undefined"
            found.append(Notice(index=reader[1], text=text, engine=reader[0], kind="undefined"))
        groups: dict[tuple[Who, Who | None], list[int]] = {}
        for who, lane, over in self._vain:
            groups.setdefault((who, over), []).append(lane)
        for (_, lane), who in self._folded.items():
            groups.setdefault((who, None), []).append(lane)
        for (who, by), lanes in groups.items():
            end = f"which {_told(by)} replaced before anything read it" if by else "which nothing read"
            text = f"{who[2]} folded into accumulator {_span(lanes)}, {end}"
            found.append(Notice(index=who[1], text=text, engine=who[0], kind="fold"))
        return found


UNDEFINING: Any = object()
"""Stands for the command that stores and leaves the lane undefined."""


def _command(step: Step) -> Any:
    """What a step does to its accumulator; IDLE of select_reduce is what its policy makes of it."""
    number = step.number(str(step.instruction.accumulator))
    if number == AccumCmd.IDLE and step.name == "select_reduce":
        once = step.policies["idle_accumulator"] == "single_shot"
        return AccumCmd.ZERO_ACCUMULATE if once else UNDEFINING
    return AccumCmd(number)


def _span(lanes: list[int]) -> str:
    low, high = min(lanes), max(lanes)
    return f"lane {low}" if low == high else f"lanes {low}..{high}"


def _told(who: Who) -> str:
    return f"{who[0] or ''} instruction {who[1]} ({who[2]})".lstrip()
