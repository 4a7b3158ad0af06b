"""A second scheduler, for records that only wait and signal: written from the mode tables, sharing nothing with the host.

An operation is (wait mode, index, update mode, index, value), with the codes of the record header. Registers hold the
value of the register forms.
"""

from __future__ import annotations

from collections.abc import Iterator

Operation = tuple[int, int, int, int, int]
Turn = tuple[str, str, int]
"""Engine, `start` or `finish`, position in its stream."""

ORDER = ("pe", "act", "pool", "dve", "sp")
TOP = 2**32 - 1


class OutOfRange(Exception):
    """An update would take a semaphore out of 0 to 2^32 - 1."""

    def __init__(self, engine: str, position: int) -> None:
        super().__init__(engine, position)
        self.engine, self.position = engine, position


class Model:
    """Engines, each with a list of operations, over semaphores and events that start at zero."""

    def __init__(self, streams: dict[str, list[Operation]], registers: dict[int, int]) -> None:
        self.streams, self.registers = streams, registers
        self.position = dict.fromkeys(streams, 0)
        self.inside = dict.fromkeys(streams, False)
        self.semaphore = [0] * 256
        self.event = [False] * 256

    def able(self, engine: str) -> bool:
        if self.inside[engine]:
            return True
        if self.position[engine] == len(self.streams[engine]):
            return False
        mode, index, _, _, value = self.streams[engine][self.position[engine]]
        if mode == 0:
            return True
        if mode in (0x06, 0x07):
            return self.event[index]
        if mode in (0x0E, 0x0F):
            return not self.event[index]
        wanted = self.registers[value] if mode >= 0x80 else value
        now = self.semaphore[index]
        kind = mode % 0x80
        if kind == 1:
            return now == wanted
        if kind == 2:
            return now < wanted
        if kind == 3:
            return now <= wanted
        if kind == 4:
            return now > wanted
        return now >= wanted

    def step(self, engine: str) -> Turn:
        at = self.position[engine]
        mode, index, update, target, value = self.streams[engine][at]
        flips = mode in (0x07, 0x0F)
        if not self.inside[engine]:
            if update and not update & 0x10:
                self._update(engine, at, update, target, value, flip=(index, mode == 0x0F) if flips else None)
            elif flips:
                self.event[index] = mode == 0x0F
            self.inside[engine] = True
            return engine, "start", at
        if update & 0x10:
            try:
                self._update(engine, at, update, target, value)
            except OutOfRange:
                if flips:  # it had no effect, its flip included
                    self.event[index] = mode == 0x07
                raise
        self.inside[engine] = False
        self.position[engine] += 1
        return engine, "finish", at

    def _update(
        self, engine: str, at: int, update: int, index: int, value: int, flip: tuple[int, bool] | None = None
    ) -> None:
        kind = update & 0x6F
        after = 0
        if kind not in (1, 2):
            amount = self.registers[value] if update & 0x80 else value
            before = self.semaphore[index]
            after = {3: before + 1, 4: before - 1, 5: before + amount, 7: before - amount, 9: amount}[kind]
            if not 0 <= after <= TOP:
                raise OutOfRange(engine, at)
        if flip is not None:
            self.event[flip[0]] = flip[1]
        if kind in (1, 2):
            self.event[index] = kind == 1
        else:
            self.semaphore[index] = after

    def round_robin(self) -> Iterator[Turn]:
        order = [e for e in ORDER if e in self.streams]
        moved = True
        while moved:
            moved = False
            for engine in order:
                if self.able(engine):
                    yield self.step(engine)
                    moved = True

    def unfinished(self) -> list[str]:
        return [e for e in self.streams if self.position[e] < len(self.streams[e])]
