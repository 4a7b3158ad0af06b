"""Columns of the per-lane state: uint32, shape (128, COLUMNS), one row a partition.

Kernels index it by these numbers; `neuroncore.py` shows it to users by name. A `_SET` column is 1 where the lane's
value is defined.
"""

from __future__ import annotations

__all__ = [
    "ACCUMULATOR",
    "ACC_ACT",
    "ACC_DVE",
    "COLUMNS",
    "INDICES",
    "INDICES_SET",
    "MATCH",
    "MATCH_SET",
    "PRELOAD",
    "PRELOAD_COUNT",
    "SHUFFLE",
    "SHUFFLE_SET",
]

ACC_DVE = 0
"""fp32 bits of the DVE accumulator; the column after it is its defined flag."""
ACC_ACT = 2
"""fp32 bits of the ACT accumulator; the column after it is its defined flag."""
PRELOAD_COUNT = 4
"""How many scalars 0x70 or 0x71 loaded."""
PRELOAD = 5
"""The eight scalars, as the bits that were loaded."""
MATCH_SET = 13
MATCH = 14
"""The eight match values of 0x6D, as fp32 bits or raw integers."""
INDICES_SET = 22
INDICES = 23
"""The eight indices that 0x6F latched."""
SHUFFLE_SET = 31
SHUFFLE = 32
"""The shuffle map of 0x69: rows 0 to 31 of this column, its flag in row 0 of the column before."""
COLUMNS = 40

ACCUMULATOR = {"dve": ACC_DVE, "act": ACC_ACT}
"""Accumulator column by the engine that owns it."""
