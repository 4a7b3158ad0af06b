"""Where everything lies in the one array that holds the scalar core's state.

The state is a one-dimensional int64 array: every element is a plain non-negative number, registers as 32-bit
patterns. One array keeps the interpreter's lanes short and lets the compiled and the plain twin share them.
Special registers sit at `SR + number`, user registers at `UR + number`, physical address registers at `AR + n`.
"""

from __future__ import annotations

from collections.abc import MutableSequence

import numpy as np

Words = MutableSequence[int]  # what a lane sees of an int64 array
Bytes = MutableSequence[int]  # and of a uint8 array


AR = 0
SR = 64
UR = SR + 256
HIDDEN = UR + 256

(
    PC,  # address of the instruction in hand, or of the next one between steps
    NEXT,  # where execution continues when the instruction completes
    SEQUENTIAL,  # 1 while NEXT is simply the next instruction, as a loop-back needs
    CLASSIC,  # 0 on q7, 1 on classic
    AR_MASK,  # physical registers minus one
    FRAME_SHIFT,  # log2 of the registers by which one step of the window base moves
    WINDOW_MASK,  # window positions minus one
    ALWAYS_THERE,  # the highest register of the window that cannot be another frame's
    LIVE,  # q7: one bit a frame that holds a call's registers
    ADDRESS,  # what a faulting access was about
    CODE,  # exception number of the last stop, see exceptions.py
    DOUBLE,  # 1 when it struck inside a handler
    VECTORED,  # 1 when exceptions go to the program's handlers
    BUILTIN,  # 1 when the core itself spills and fills windows (q7)
    SPILLS,  # window overflows so far
    FILLS,  # window underflows so far
    STEPS,  # instructions completed or dispatched so far
    WORD,  # the instruction in hand
    NEW_BASE,  # classic: the window base that a window exception moves to
    BUS_READY,  # 0: the bus was not asked yet; 1: BUS_VALUE answers; 2: the gate denied the address BUS_VALUE
    BUS_VALUE,
    STORES,  # how many stores the instruction in hand has made; their addresses and sizes follow
) = range(HIDDEN, HIDDEN + 22)

STORE_LOG = HIDDEN + 22
STORE_LOG_ENTRIES = 9  # a spill of eight words and one store of the instruction itself

REGION_COUNT = STORE_LOG + 2 * STORE_LOG_ENTRIES
REGIONS = REGION_COUNT + 1
REGION_FIELDS = 4  # first address, end, position in the byte array, access bits
MAX_REGIONS = 32

STATE_SIZE = REGIONS + REGION_FIELDS * MAX_REGIONS

MASK = 0xFFFFFFFF
SIGN = 0x80000000

# Special registers that the lanes themselves read or write, by number.
LBEG = SR + 0x00
LEND = SR + 0x01
LCOUNT = SR + 0x02
SAR = SR + 0x03
BR = SR + 0x04
SCOMPARE1 = SR + 0x0C  # classic
WB = SR + 0x48  # WINDOWBASE on classic
WINDOWSTART = SR + 0x49  # classic
DDR = SR + 0x68
EPC = SR + 0xB1  # EPC1 on classic, EPC2 to EPC7 after it
DEPC = SR + 0xC0  # classic; EPS2 to EPS7 are two after it
CPENABLE = SR + 0xE0
INTERRUPT = SR + 0xE2  # classic
MS = SR + 0xE5  # q7
PS = SR + 0xE6
VECBASE = SR + 0xE7
EXCCAUSE = SR + 0xE8
DEBUGCAUSE = SR + 0xE9  # classic
EXCVADDR = SR + 0xEE
ISL = SR + 0xF8  # q7
KSL = SR + 0xF9  # q7


def _passed(value: int) -> int:
    """A constant that lanes pass to each other: of a plain one numba would compile a copy of the lane for its value."""
    return np.int64(value)  # type: ignore[return-value]


READ = _passed(1)  # access bits of a memory region
WRITE = _passed(2)
EXECUTE = _passed(4)
HALFWORD_BYTES = _passed(2)
WORD_BYTES = _passed(4)
BLOCK_BYTES = _passed(16)
A0 = _passed(0)
FRAME = _passed(8)  # registers in a frame of q7
AHEAD = _passed(1)  # steps of the window
BACK = _passed(-1)
