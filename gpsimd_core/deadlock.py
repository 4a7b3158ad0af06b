"""Deadlock in words: what each engine waits for, and who could have signalled it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gpsimd_core.errors import Fault
from gpsimd_core.isa.enums import UpdateMode, WaitMode
from gpsimd_core.stream import Stream
from gpsimd_core.sync import Wait

__all__ = ["Deadlock", "describe"]


class Deadlock(Fault):
    """Nobody can step and somebody is unfinished."""


def describe(streams: Mapping[str, Stream], stuck: Sequence[str]) -> str:
    """What the engines that are stuck wait for.

    Args:
        streams: of all engines, by name.
        stuck: the engines that are unfinished.

    Returns:
        One line an engine with instruction, mode, index, wanted and present value; below it one line for each
        instruction of any stream that changes what it waits for, or one line saying that none does.
    """
    lines = ["deadlock: no engine can step"]
    for name in stuck:
        stream = streams[name]
        wait = stream.wait()
        assert wait is not None
        instruction = stream.program[stream.index].name
        present = stream.core.sync.present(wait)
        lines.append(
            f"  {name} instruction {stream.index}, {instruction}, waits with {wait.name} for {wait.text}; it is {present}"
        )
        what = f"{'event' if wait.event else 'semaphore'} {wait.index}"
        lines += [f"    {text}" for text in _who_changes(streams, wait)] or [
            f"    no instruction of any stream updates {what}"
        ]
    return "\n".join(lines)


def _who_changes(streams: Mapping[str, Stream], wait: Wait) -> Iterator[str]:
    for name, stream in streams.items():
        raw = stream.program.raw
        updates = (raw[:, 6] != 0) & (raw[:, 7] == wait.index)
        flips = (raw[:, 4] != 0) & (raw[:, 5] == wait.index) & wait.event
        for index in (updates | flips).nonzero()[0].tolist():
            update, flip = UpdateMode(int(raw[index, 6])).name, WaitMode(int(raw[index, 4])).name
            who = f"{name} instruction {index}, {stream.program[index].name} ({_state(stream, index)})"
            if updates[index] and update.startswith("EVT") == wait.event:
                yield f"{update} by {who}"
            if flips[index] and "_THEN_" in flip:
                yield f"flipped after {flip} by {who}"


def _state(stream: Stream, index: int) -> str:
    if index < stream.index:
        return "done"
    return "never reached: the stream has halted" if stream.halted else "pending"
