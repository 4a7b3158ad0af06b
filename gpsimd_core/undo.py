"""Taking back the effects of an instruction whose COMPLETE update faults, one turn after they happened.

Such a fault needs a semaphore that leaves 0 to 2^32 - 1. Which ones could is told from the programs beforehand, so that
only instructions that update those keep a copy of what they are about to change.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gpsimd_core.isa.enums import UpdateMode
from gpsimd_core.placement import window
from gpsimd_core.sync import MASK, Registers, Sync

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore
    from gpsimd_core.program import Program
    from gpsimd_core.stream import Ready

__all__ = ["Saved", "may_leave_range"]


def may_leave_range(programs: Iterable[Program], sync: Sync) -> frozenset[int]:
    """Semaphores that some order of the programs' updates could take out of range.

    Streams do not branch, so that each update happens at most once: what all of them add and write bounds the value.
    """
    if sync.wraps:
        return frozenset()
    risky: set[int] = set()
    highest = {i: int(v) for i, v in enumerate(sync.semaphores)}
    for program in programs:
        modes, indices = program.raw[:, 6], program.raw[:, 7]
        values = program.raw[:, 8:12].copy().view("<u4")[:, 0]
        for row in np.flatnonzero(modes).tolist():
            name, index = UpdateMode(int(modes[row])).name, int(indices[row])
            if name.startswith("EVT"):
                continue
            if "_REG_" in name or "_DEC_" in name or "_SUB_" in name:
                risky.add(index)
            highest[index] += 1 if "_INC_" in name else int(values[row])
    return frozenset(risky | {i for i, value in highest.items() if value > MASK})


class Saved:
    """What an instruction is about to change.

    Args:
        core: on which it will start.
        ready: the instruction.
        registers: of its stream.
    """

    def __init__(self, core: NeuronCore, ready: Ready, registers: Registers) -> None:
        self.core, self.ready, self.registers = core, ready, registers
        step = ready.segment.steps[0]
        places = [window(core.memory, place) for p in step.written for place in p.spread()]
        self.memory = [(place, place.copy()) for place in places]
        self.lanes: np.ndarray[Any, Any] = core.lanes.copy()
        self.named = registers.copy()
        self.after: np.ndarray[Any, Any] = self.lanes

    def started(self) -> None:
        """It has changed it."""
        self.after = self.core.lanes.copy()

    def restore(self) -> None:
        """Take the change back. Lane state that another engine has changed since is left alone."""
        for place, before in self.memory:
            place[...] = before
        mine = (self.after != self.lanes) & (self.core.lanes == self.after)
        self.core.lanes[mine] = self.lanes[mine]
        self.registers.values[:], self.registers.defined[:] = self.named.values, self.named.defined
        if self.ready.wait is not None:
            self.core.sync.give_back(self.ready.wait)
