"""Reading accumulators out: slices, and shifts with or without rounding, clamped or cut.

Rounding adds half of the last bit that is kept and shifts arithmetically, so halves go toward plus infinity. A shift
amount is unsigned and limited to `limit`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.bits import clamp, mask, signed, unsigned
from gpsimd_core.isa.lanes.integer import saturate, saturate_unsigned

__all__ = [
    "limited",
    "low_slice",
    "low_slice_wide",
    "pack",
    "pack_fixed",
    "round_clamp",
    "round_clamp_unsigned",
    "round_clamp_wide",
    "shift_cut",
]

WORD = 0xFFFFFFFF


@lane
def limited(amount: int, limit: int) -> int:
    """A 32-bit shift amount, unsigned, no larger than `limit`."""
    return min(unsigned(amount, 32), limit)


@lane
def _rounded(acc: int, amount: int, width: int) -> int:
    half = (1 << amount) >> 1
    return (signed(acc, width) + half) >> amount


@lane
def low_slice(acc: int, width: int) -> int:
    """The low bits, neither rounded nor clamped."""
    return unsigned(acc, width)


@lane
def low_slice_wide(acc: Sequence[int]) -> int:
    """The low word of three."""
    return acc[0]


@lane
def round_clamp(acc: int, amount: int, width: int, result: int, limit: int) -> int:
    """Round, shift, clamp to the signed range of `result` bits."""
    return saturate(_rounded(acc, limited(amount, limit), width), result)


@lane
def round_clamp_unsigned(acc: int, amount: int, width: int, result: int, limit: int) -> int:
    """Round, shift, clamp to 0 .. 2^result - 1; the accumulator is signed."""
    return saturate_unsigned(_rounded(acc, limited(amount, limit), width), result)


@lane
def shift_cut(acc: int, amount: int, width: int, result: int, limit: int) -> int:
    """Shift arithmetically and keep the low bits: no rounding, no clamp."""
    return unsigned(signed(acc, width) >> limited(amount, limit), result)


@lane
def round_clamp_wide(acc: Sequence[int], amount: int) -> int:
    """`round_clamp` from three words to 32 bits, shift limited to 32."""
    shift = limited(amount, 32)
    low = acc[0] + ((1 << shift) >> 1)
    high = clamp(signed(acc[2], 32), -(1 << 30), 1 << 30)  # clamps alike beyond, and stays inside 64 bits
    upper = high * (WORD + 1) + acc[1] + (low >> 32)  # the number without its low word
    low &= WORD
    result = ((low >> shift) | (upper << (32 - shift))) & WORD if shift else low
    beyond = upper >> (shift - 1) if shift else upper  # every bit from the result's sign bit on, or above it
    negative = int(upper < 0)
    if beyond == -negative and result >> 31 == negative:
        return result
    return 0x80000000 if negative else 0x7FFFFFFF


@lane
def pack(acc: int, amount: int) -> int:
    """The 16-bit read-out as driven: half at bit (amount - 1) mod 16, sum cut to 31 bits, shifted, cut to 16."""
    half = 1 << ((amount - 1) & 15)
    return (((acc & WORD) + half) & 0x7FFFFFFF) >> limited(amount, 32) & 0xFFFF


@lane
def pack_fixed(acc: int, amount: int, clamps: int) -> int:
    """The 16-bit read-out with a fixed shift; `clamps` is a machine state that was off wherever values were seen."""
    exact = _rounded(acc, amount, 48)
    return saturate(exact, 16) if clamps else exact & mask(16)
