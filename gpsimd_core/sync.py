"""Semaphores, events and address registers of a NeuronCore, and what waits and updates do to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpsimd_core.errors import BadValue, Fault
from gpsimd_core.isa.enums import UpdateMode, WaitMode

__all__ = ["Registers", "Sync", "Wait"]

MASK = 0xFFFFFFFF
_COMPARE: dict[int, tuple[str, Callable[[int, int], bool]]] = {
    1: ("==", lambda s, v: s == v),
    2: ("<", lambda s, v: s < v),
    3: ("<=", lambda s, v: s <= v),
    4: (">", lambda s, v: s > v),
    5: (">=", lambda s, v: s >= v),
}
_EVENT_WAITS = {
    WaitMode.EVT_SET: (1, False),
    WaitMode.EVT_SET_THEN_CLEAR: (1, True),
    WaitMode.EVT_CLEAR: (0, False),
    WaitMode.EVT_CLEAR_THEN_SET: (0, True),
}


class Registers:
    """64 address registers of 32 bits; one that was never written is undefined."""

    def __init__(self) -> None:
        self.values: np.ndarray[Any, Any] = np.zeros(64, np.uint32)
        self.defined: np.ndarray[Any, Any] = np.zeros(64, bool)

    def __getitem__(self, number: int) -> int:
        """The value of a register.

        Raises:
            Fault: it was never written.
        """
        self._check(number)
        if not self.defined[number]:
            raise Fault(f"register r{number} was never written")
        return int(self.values[number])

    def __setitem__(self, number: int, value: int) -> None:
        self._check(number)
        if not 0 <= int(value) <= MASK:
            raise BadValue(f"register r{number} holds 32 bits, not {value}")
        self.values[number] = int(value)
        self.defined[number] = True

    def copy(self) -> Registers:
        """Registers of their own with the same content."""
        other = Registers()
        other.values[:] = self.values
        other.defined[:] = self.defined
        return other

    @staticmethod
    def _check(number: int) -> None:
        if not 0 <= number < 64:
            raise BadValue(f"register {number} is outside 0 to 63")


class Wait:
    """The condition that gates an instruction, resolved.

    Attributes:
        event: whether it looks at an event, not at a semaphore.
        flips: whether it flips that event once it is met.
    """

    def __init__(self, mode: int, index: int, value: int) -> None:
        self.mode, self.index, self.value = mode, index, value
        self.event = mode in _EVENT_WAITS
        self.wanted, self.flips = _EVENT_WAITS[WaitMode(mode)] if self.event else (0, False)

    @property
    def name(self) -> str:
        """The mode's name."""
        return WaitMode(self.mode).name

    @property
    def text(self) -> str:
        """What it wants, in words."""
        if not self.event:
            return f"semaphore {self.index} {_COMPARE[self.mode & 0x7F][0]} {self.value}"
        return f"event {self.index} {'set' if self.wanted else 'clear'}" + (", then flipped" if self.flips else "")


class Sync:
    """256 semaphores of 32 bits and 256 events of one bit, zero at creation."""

    def __init__(self, *, wraps: bool = False) -> None:
        self.semaphores: np.ndarray[Any, Any] = np.zeros(256, np.uint32)
        self.events: np.ndarray[Any, Any] = np.zeros(256, np.uint8)
        self.wraps = wraps

    def reset(self) -> None:
        """All semaphores and events to zero."""
        self.semaphores[:] = 0
        self.events[:] = 0

    def present(self, wait: Wait) -> int:
        """What the wait looks at, as it is now."""
        return int((self.events if wait.event else self.semaphores)[wait.index])

    def met(self, wait: Wait) -> bool:
        """Whether the wait's condition holds."""
        if wait.event:
            return self.present(wait) == wait.wanted
        return _COMPARE[wait.mode & 0x7F][1](self.present(wait), wait.value)

    def take(self, wait: Wait) -> None:
        """Start past a met wait: the THEN forms flip their event."""
        if wait.flips:
            self.events[wait.index] = 1 - wait.wanted

    def give_back(self, wait: Wait) -> None:
        """Undo the flip of a wait that was met."""
        if wait.flips:
            self.events[wait.index] = wait.wanted

    def update(self, mode: int, index: int, value: int) -> None:
        """Carry out an update.

        Args:
            mode: a member of UPDATE_MODE that is not NONE.
            index: of the semaphore or event.
            value: immediate or register value; ignored by INC, DEC and event modes.

        Raises:
            Fault: the semaphore would leave 0 to 2^32 - 1 (unless the policy wraps).
        """
        name = UpdateMode(mode).name
        if name.startswith("EVT"):
            self.events[index] = int("SET" in name)
        else:
            self.semaphores[index] = self._after(name, index, value)

    def check(self, mode: int, index: int, value: int) -> None:
        """Raise what `update` would raise, changing nothing."""
        name = UpdateMode(mode).name
        if not name.startswith("EVT"):
            self._after(name, index, value)

    def _after(self, name: str, index: int, value: int) -> int:
        before = int(self.semaphores[index])
        change = {"INC": 1, "DEC": -1, "ADD": value, "SUB": -value}.get(name.split("_")[1])
        after = value if change is None else before + change
        if not 0 <= after <= MASK and not self.wraps:
            raise Fault(f"semaphore {index} is {before}; changing it by {change:+d} leaves 0 to {MASK}")
        return after & MASK
