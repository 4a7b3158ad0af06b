"""The rounding core: every narrowing, of whatever width, drops its fraction here.

One rule covers all modes. The dropped bits, aligned to the left end of a word, are a fraction between 0 and 1; the
magnitude steps up when that fraction exceeds a threshold, and a mode is nothing but its threshold: one half less the
lowest kept bit (RNE), just under one half (RNA), 0 or the unreachable top by sign (RPI, RMI), the top (RTZ and
device_away), or a random word (stochastic).

One text serves two widths: `narrow` takes an fp32 pattern, `narrow64` an fp64 pattern, which is how sums, products and
fused operations arrive, rounded to odd.

Sources: decisions 18, 33, 35; Formal Semantics II, section 2.1; policies `fp8_overflow`, `stochastic_rounding`.
"""

from __future__ import annotations

from gpsimd_core.isa.lane import bind, lane
from gpsimd_core.isa.lanes.words import bits64, i32, i64, u32, u64

__all__ = [
    "DEVICE_AWAY",
    "INEXACT",
    "INVALID",
    "MODES",
    "OVERFLOW",
    "RMI",
    "RNA",
    "RNE",
    "RPI",
    "RTZ",
    "STOCHASTIC",
    "UNDERFLOW",
    "draw_at",
    "leaf_mode",
    "narrow",
    "narrow64",
    "narrow_flags",
    "narrow_flags64",
    "odd_sum",
    "rounded",
    "rounded64",
    "threshold",
    "threshold64",
]

RNE, RTZ, RPI, RMI, DEVICE_AWAY, RNA, STOCHASTIC = 0, 1, 2, 3, 4, 5, 6
MODES = {
    "RNE": RNE,
    "RTZ": RTZ,
    "RPI": RPI,
    "RMI": RMI,
    "RNA": RNA,
    "device_away": DEVICE_AWAY,
    "stochastic": STOCHASTIC,
}

# The bits of the vector core's status register, counted from its lowest flag.
INEXACT, UNDERFLOW, OVERFLOW, INVALID = 1, 2, 4, 16

word, integer = u32, i32
WIDTH, FRACTION_BITS = 32, 23


@lane
def leaf_mode(mode: int) -> int:
    """The rounding mode that a leaf's mode argument selects: codes 4 to 7 have no arm there and truncate."""
    return mode if mode < DEVICE_AWAY else DEVICE_AWAY


@lane
def draw_at(seed: int, index: int) -> int:
    """The stochastic threshold of one element: the upper 32 bits of splitmix64(seed + index)."""
    z = u64(u64(u64(seed) + u64(index)) + u64(0x9E3779B97F4A7C15))
    z = u64(u64(z ^ (z >> u64(30))) * u64(0xBF58476D1CE4E5B9))
    z = u64(u64(z ^ (z >> u64(27))) * u64(0x94D049BB133111EB))
    return u32(u64(z ^ (z >> u64(31))) >> u64(32))


@lane
def odd_sum(a: float, b: float) -> int:
    """fp64 bits of a + b rounded to odd, for finite numbers: the lowest bit is set whenever the sum is inexact.

    Rounding the result once more to at most 51 bits, in any mode, is the same as rounding the exact sum.
    """
    total = a + b
    seen = total - a
    lost = (a - (total - seen)) + (b - seen)
    bits = bits64(total)
    outward = u64(bits + u64(1)) if (lost > 0.0) == (total > 0.0) else u64(bits - u64(1))
    return outward if lost != 0.0 and bits & u64(1) == u64(0) else bits


@lane
def threshold(mode: int, sign: int, odd: int, draw: int) -> int:
    """What the dropped fraction, aligned to the left of the word, must exceed for the magnitude to step up.

    Args:
        mode: rounding mode.
        sign: 1 for a negative number.
        odd: the lowest kept bit.
        draw: the random 32 bits of the stochastic mode.
    """
    top = word(word(0) - word(1))
    half = word(word(1) << word(WIDTH - 1))
    if mode == RNE:
        return word(half - word(odd))
    if mode == RPI:
        return top if sign else word(0)
    if mode == RMI:
        return word(0) if sign else top
    if mode == RNA:
        return word(half - word(1))
    if mode == STOCHASTIC:
        return word(word(word(draw) << word(WIDTH - 32)) | word(word(word(1) << word(WIDTH - 32)) - word(1)))
    return top


@lane
def rounded(significand: int, count: int, sign: int, mode: int, draw: int) -> int:
    """significand / 2^count as an integer, rounded; `count` is below the word's width."""
    kept = word(significand >> count)
    fraction = word(word(significand << word(1)) << word(word(WIDTH - 1) - count))
    step = word(1) if fraction > threshold(mode, sign, word(kept & word(1)), draw) else word(0)
    return word(kept + step)


@lane
def scaled(magnitude: int, target: tuple[int, ...]) -> tuple[int, int, int]:
    """A finite magnitude as significand and shift of the target's grid, and how far the shift was cut short."""
    if magnitude >= word(word(1) << word(FRACTION_BITS)):
        hidden = word(word(1) << word(FRACTION_BITS))
    else:
        hidden = word(0)
    tiny = word((magnitude & word(word(word(1) << word(FRACTION_BITS)) - word(1))) | hidden)
    significand = word(magnitude - target[1]) if magnitude >= target[2] else tiny
    wanted = integer(integer(target[3]) - integer(magnitude >> word(FRACTION_BITS)))
    count = max(integer(target[0]), min(wanted, integer(WIDTH - 1)))
    return significand, word(count), word(max(integer(wanted - count), integer(0)))


@lane
def narrow(bits: int, target: tuple[int, ...], mode: int, draw: int) -> int:
    """Round a floating-point pattern to a smaller format.

    Args:
        bits: the pattern, as wide as the word.
        target: the format's numbers, columns SHIFT to PADDING of a row (`isa/formats.py`), as words.
        mode, draw: rounding mode, and the random 32 bits of the stochastic one.

    Returns:
        The code in the target format, NaN as its canonical code.
    """
    sign = word(bits >> word(WIDTH - 1))
    magnitude = word(bits & word(word(word(1) << word(WIDTH - 1)) - word(1)))
    infinity = word(word(word(1) << word(WIDTH - 1)) - word(word(1) << word(FRACTION_BITS)))
    significand, count, beyond = scaled(magnitude, target)
    kept = word(significand >> count)
    fraction = word(word(significand << word(1)) << word(word(WIDTH - 1) - count))
    if mode == STOCHASTIC:  # the other modes only ask whether so small a fraction is zero
        fraction = word(fraction >> min(beyond, word(WIDTH - 1)))
    step = word(1) if fraction > threshold(mode, sign, word(kept & word(1)), draw) else word(0)
    kept = word(kept + step)
    code = word(word(kept << target[11]) | word(sign << target[10]))
    overflow = target[6] if sign else target[5]
    infinite = target[8] if sign else target[7]
    overflow = infinite if magnitude == infinity else overflow
    code = overflow if kept > target[4] else code
    return target[9] if magnitude > infinity else code


@lane
def narrow_flags(bits: int, target: tuple[int, ...], mode: int, draw: int) -> int:
    """The flags that `narrow` raises: OVERFLOW beyond the largest finite number after rounding, UNDERFLOW for a result
    that is tiny after rounding and inexact, INEXACT, INVALID for a signalling NaN."""
    sign = word(bits >> word(WIDTH - 1))
    magnitude = word(bits & word(word(word(1) << word(WIDTH - 1)) - word(1)))
    infinity = word(word(word(1) << word(WIDTH - 1)) - word(word(1) << word(FRACTION_BITS)))
    if magnitude > infinity:
        quiet = magnitude & word(word(1) << word(FRACTION_BITS - 1))
        return 0 if quiet and target[9] != word(0) else INVALID
    if magnitude == infinity:
        infinite = target[8] if sign else target[7]
        finite = word(infinite & word(word(word(1) << target[10]) - word(1))) <= word(target[4] << target[11])
        return OVERFLOW | INEXACT if finite or infinite == target[9] else 0
    significand, count, _ = scaled(magnitude, target)
    fraction = word(word(significand << word(1)) << word(word(WIDTH - 1) - count))
    kept = rounded(significand, count, sign, mode, draw)
    if kept > target[4]:
        return OVERFLOW | INEXACT
    if fraction == word(0):
        return 0
    first = word(word(1) << word(FRACTION_BITS))
    smallest = word(target[1] + first)
    shift = word(target[0] - (word(1) if magnitude < first else word(0)))  # a subnormal pattern has no hidden bit
    if rounded(magnitude, shift, sign, mode, draw) < word(smallest >> shift):
        return UNDERFLOW | INEXACT
    return INEXACT


threshold64 = bind(threshold, word=u64, WIDTH=64)
scaled64 = bind(scaled, word=u64, integer=i64, WIDTH=64, FRACTION_BITS=52)
rounded64 = bind(rounded, word=u64, WIDTH=64, threshold=threshold64)
narrow64 = bind(narrow, word=u64, WIDTH=64, FRACTION_BITS=52, threshold=threshold64, scaled=scaled64)
narrow_flags64 = bind(narrow_flags, word=u64, WIDTH=64, FRACTION_BITS=52, scaled=scaled64, rounded=rounded64)
