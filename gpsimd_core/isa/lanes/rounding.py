"""The rounding core: every narrowing, of whatever width, drops its fraction here.

One rule covers all modes. The dropped bits are a fraction between 0 and 1; the magnitude steps up when that fraction
exceeds a threshold, and a mode is nothing but its threshold: one half less the lowest kept bit (RNE), just under one
half (RNA), zero or out of reach by sign (RPI, RMI), out of reach (RTZ and device_away), or a random number (stochastic).

One text serves two widths: `narrow` takes an fp32 pattern, `narrow64` an fp64 pattern, which is how sums, products and
fused operations arrive, rounded to odd.

Sources: settled readings 18, 33 and 35 (docs/decisions.md); Formal Semantics II, section 2.1; policies
`fp8_overflow`, `stochastic_rounding`.
"""

from __future__ import annotations

from gpsimd_core.isa.lane import bind, inlined, lane
from gpsimd_core.isa.lanes.words import bits64, i32, i64, shl32, shl64, u32, u64

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
    "ieee_target64",
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

word, integer, shifted = u32, i32, shl32
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


@inlined
def odd_sum(a: float, b: float) -> int:
    """fp64 bits of a + b rounded to odd: the lowest bit is set whenever the sum is inexact.

    Rounding the result once more to at most 51 bits, in any mode, is the same as rounding the exact sum. Infinite and
    NaN sums stay what they are.
    """
    total = a + b
    seen = total - a
    lost = (a - (total - seen)) + (b - seen)
    bits = bits64(total)
    outward = u64(bits + u64(1)) if (lost > 0.0) == (total > 0.0) else u64(bits - u64(1))
    return outward if (lost < 0.0 or lost > 0.0) and bits & u64(1) == u64(0) else bits


@inlined
def threshold(mode: int, sign: int, odd: int, draw: int) -> int:
    """What the dropped fraction must exceed for the magnitude to step up, as a signed word.

    Args:
        mode: rounding mode.
        sign: 1 for a negative number.
        odd: the lowest kept bit.
        draw: the random 32 bits of the stochastic mode.
    """
    half = word(word(1) << word(WIDTH - 2))
    never = integer(word(word(half << word(1)) - word(1)))
    if mode == RNE:
        return integer(word(half - odd))
    if mode == RPI:
        return integer(word(word(0) - sign) >> word(1))  # zero, or never
    if mode == RMI:
        return integer(word(sign - word(1)) >> word(1))  # never, or zero
    if mode == RNA:
        return integer(word(half - word(1)))
    if mode == STOCHASTIC:
        return integer(word(word(word(draw) << word(WIDTH - 32)) >> word(1)))
    return never


@inlined
def fraction_of(significand: int, count: int) -> int:
    """The dropped `count` bits, aligned to the bit below the top of the word, so that they compare as a signed word."""
    below = word(word(word(1) << word(WIDTH - 1)) - word(1))
    return integer(word(shifted(significand, word(word(WIDTH - 1) - count)) & below))


@inlined
def stepped(kept: int, fraction: int, sign: int, mode: int, draw: int) -> int:
    """The kept bits, one more when the fraction exceeds its threshold."""
    return word(kept + word(1)) if fraction > threshold(mode, sign, word(kept & word(1)), draw) else kept


@lane
def rounded(significand: int, count: int, sign: int, mode: int, draw: int) -> int:
    """significand / 2^count as an integer, rounded; `count` is below the word's width."""
    return stepped(word(significand >> count), fraction_of(significand, count), sign, mode, draw)


@inlined
def scaled(magnitude: int, target: tuple[int, ...], mode: int) -> tuple[int, int, int]:
    """A finite magnitude on the target's grid: significand, bits to drop, and how many more those should be.

    The count stops where nothing is kept and less than half a step remains.
    """
    exponent = word(magnitude >> word(FRACTION_BITS))
    if mode not in (RNE, RTZ, RNA):  # to nearest and toward zero, a subnormal pattern counts for nothing anyway
        exponent = max(exponent, word(1))
    exponent = min(exponent, word(target[2] >> word(FRACTION_BITS)))
    hidden = word(target[2] - target[1])
    significand = word(word(magnitude - word(exponent << word(FRACTION_BITS))) + hidden)
    wanted = integer(integer(target[3]) - integer(exponent))
    count = min(wanted, integer(WIDTH - 1))
    return significand, word(count), word(integer(wanted - count))


@inlined
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
    significand, count, beyond = scaled(magnitude, target, mode)
    fraction = fraction_of(significand, count)
    if mode == STOCHASTIC:  # the other modes only ask whether so small a fraction is zero
        fraction = integer(word(fraction) >> min(beyond, word(WIDTH - 1)))
    kept = stepped(word(significand >> count), fraction, sign, mode, draw)
    limit = target[6] if sign else target[5]
    limit = target[7] if magnitude >= infinity else limit
    kept = min(kept, limit)
    nan = magnitude > infinity  # which so far stands where an infinity does
    kept = word(kept ^ (word(target[7] ^ word(target[9] >> target[11])) if nan else word(0)))
    negative = word(0) if nan | (kept == target[8]) else word(sign << target[10])
    return word(word(kept << target[11]) | negative)


@lane
def narrow_flags(bits: int, target: tuple[int, ...], mode: int, draw: int) -> int:
    """The flags that `narrow` raises.

    OVERFLOW beyond the largest finite number after rounding, and for an infinity that the format does not hold;
    UNDERFLOW for a result that is tiny after rounding and inexact; INEXACT; INVALID for a signalling NaN and for one
    that the format does not hold.
    """
    sign = word(bits >> word(WIDTH - 1))
    magnitude = word(bits & word(word(word(1) << word(WIDTH - 1)) - word(1)))
    infinity = word(word(word(1) << word(WIDTH - 1)) - word(word(1) << word(FRACTION_BITS)))
    if magnitude > infinity:
        quiet = magnitude & word(word(1) << word(FRACTION_BITS - 1))
        return 0 if quiet and target[9] != word(0) else INVALID
    if magnitude == infinity:
        return 0 if target[7] > target[4] and target[7] != target[8] else OVERFLOW | INEXACT
    significand, count, _ = scaled(magnitude, target, mode)
    if rounded(significand, count, sign, mode, draw) > target[4]:
        return OVERFLOW | INEXACT
    if magnitude == word(0) or (fraction_of(significand, count) == integer(0) and count < word(WIDTH - 1)):
        return 0
    first = word(word(1) << word(FRACTION_BITS))
    smallest = word(target[1] + first)
    shift = word(target[0] - (word(1) if magnitude < first else word(0)))  # a subnormal pattern has no hidden bit
    if rounded(magnitude, shift, sign, mode, draw) < word(smallest >> shift):
        return UNDERFLOW | INEXACT
    return INEXACT


@inlined
def ieee_target64(exponent_bits: int, mantissa_bits: int, mode: int) -> tuple[int, ...]:
    """The target of `narrow64` for an IEEE format, whose overflow goes to infinity where the mode's direction allows."""
    shift = u64(52 - mantissa_bits)
    infinity = u64(u64(u64(u64(1) << u64(exponent_bits)) - u64(1)) << u64(mantissa_bits))
    largest = u64(infinity - u64(1))
    rebias = u64(1024 - (1 << (exponent_bits - 1)))
    return (
        shift,
        u64(rebias << u64(52)),
        u64(u64(rebias + u64(1)) << u64(52)),
        u64(u64(shift + rebias) + u64(1)),
        largest,
        infinity if mode in (RNE, RNA, RPI) else largest,
        infinity if mode in (RNE, RNA, RMI) else largest,
        infinity,
        u64(u64(0) - u64(1)),
        u64(infinity | u64(u64(1) << u64(mantissa_bits - 1))),
        u64(exponent_bits + mantissa_bits),
        u64(0),
    )


threshold64 = bind(threshold, word=u64, integer=i64, WIDTH=64)
fraction_of64 = bind(fraction_of, word=u64, integer=i64, shifted=shl64, WIDTH=64)
stepped64 = bind(stepped, word=u64, threshold=threshold64)
rounded64 = bind(rounded, word=u64, fraction_of=fraction_of64, stepped=stepped64)
scaled64 = bind(scaled, word=u64, integer=i64, WIDTH=64, FRACTION_BITS=52)
narrow64 = bind(
    narrow,
    word=u64,
    integer=i64,
    WIDTH=64,
    FRACTION_BITS=52,
    scaled=scaled64,
    fraction_of=fraction_of64,
    stepped=stepped64,
)
narrow_flags64 = bind(
    narrow_flags,
    word=u64,
    WIDTH=64,
    FRACTION_BITS=52,
    scaled=scaled64,
    integer=i64,
    fraction_of=fraction_of64,
    rounded=rounded64,
)
