"""What 0xEA and 0x9B compute, one element at a time in Python integers and fractions: an independent judge.

No project code and no floating point: formats are spelled out below, values are exact rationals, rounding is done on
them. It is slow and plain on purpose. Facts: "CopyPredicatedReduce — SelectReduce (0xea)", "DVE State Read-Back", "The
Unified Datatype Model", in the readings that the project settled on.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from records import BF16, E3M4, E4M3, E5M2, FP16, FP32, FP32R, INT8, INT16, INT32, SIZE, UINT8, UINT16, UINT32

CANONICAL = 0x7FC00000
NEGATIVE_INFINITY = 0xFF800000


@dataclass(frozen=True)
class Float:
    """A binary floating format: field widths, bias, codes of the largest finite number, infinity and NaN."""

    exponent: int
    mantissa: int
    bias: int
    largest: int
    infinity: int | None
    nan: int

    @property
    def sign(self) -> int:
        return 1 << (self.exponent + self.mantissa)

    @property
    def lowest_exponent(self) -> int:
        return 1 - self.bias


FLOATS = {
    "fp32": Float(8, 23, 127, 0x7F7FFFFF, 0x7F800000, 0x7FC00000),
    "bf16": Float(8, 7, 127, 0x7F7F, 0x7F80, 0x7FC0),
    "fp16": Float(5, 10, 15, 0x7BFF, 0x7C00, 0x7E00),
    "e3m4": Float(3, 4, 3, 0x6F, 0x70, 0x78),
    "e4m3": Float(4, 3, 7, 0x77, 0x78, 0x7C),
    "e4m3fn": Float(4, 3, 7, 0x7E, None, 0x7F),
    "e5m2": Float(5, 2, 15, 0x7B, 0x7C, 0x7E),
}
INTEGERS = {
    INT8: (8, True),
    UINT8: (8, False),
    INT16: (16, True),
    UINT16: (16, False),
    INT32: (32, True),
    UINT32: (32, False),
}
NAMES = {FP32: "fp32", BF16: "bf16", FP16: "fp16", E3M4: "e3m4", E5M2: "e5m2"}


@dataclass(frozen=True, eq=False)
class Policies:
    """The policies that bear on the two instructions; compared by identity, so that caches are quick."""

    select_reduce: str = "merge"
    reduce_nan: str = "suppress"
    fp_to_int: str = "rne_saturate"
    fp8_overflow: str = "flavour"
    fp8_exp4: str = "ieee"
    fp32r_mantissa_bits: int = 11
    idle_accumulator: str = "single_shot"

    def float_of(self, dtype: int) -> Float:
        """The format of a floating wire code."""
        if dtype == E4M3:
            return FLOATS["e4m3fn" if self.fp8_exp4 == "ocp" else "e4m3"]
        return FLOATS[NAMES[dtype]]


def is_nan32(bits: int) -> bool:
    """Whether fp32 bits are a NaN."""
    return bits & 0x7FFFFFFF > 0x7F800000


@functools.cache
def power(exponent: int) -> Fraction:
    """Two to some power, exactly."""
    return Fraction(2) ** exponent


def nearest_even(x: Fraction) -> int:
    """A non-negative rational to the nearest integer, ties to even."""
    whole = x.numerator // x.denominator
    rest = x - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1):
        return whole + 1
    return whole


def magnitude_code(fmt: Float, value: Fraction) -> int:
    """Code of a non-negative value rounded to nearest even; beyond `fmt.largest` where it overflows."""
    if value == 0:
        return 0
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if power(exponent) > value:
        exponent -= 1
    exponent = max(exponent, fmt.lowest_exponent)
    quantum = power(exponent - fmt.mantissa)
    return ((exponent - fmt.lowest_exponent) << fmt.mantissa) + nearest_even(value / quantum)


def magnitude_value(fmt: Float, code: int) -> Fraction:
    """Value of a finite magnitude code."""
    exponent, mantissa = code >> fmt.mantissa, code & ((1 << fmt.mantissa) - 1)
    if exponent == 0:
        return mantissa * power(fmt.lowest_exponent - fmt.mantissa)
    return (mantissa + (1 << fmt.mantissa)) * power(exponent - fmt.bias - fmt.mantissa)


@functools.lru_cache(1 << 16)
def widen(code: int, dtype: int, policies: Policies) -> int:
    """An element as fp32 bits; a NaN keeps its sign."""
    fp32 = FLOATS["fp32"]
    if dtype in INTEGERS:
        width, signed = INTEGERS[dtype]
        value = code - (1 << width) if signed and code >> (width - 1) else code
        return (fp32.sign if value < 0 else 0) | magnitude_code(fp32, Fraction(abs(value)))
    if dtype == FP32:
        return code
    fmt = policies.float_of(dtype)
    sign = fp32.sign if code & fmt.sign else 0
    magnitude = code & (fmt.sign - 1)
    if magnitude <= fmt.largest:
        return sign | magnitude_code(fp32, magnitude_value(fmt, magnitude))
    return sign | (0x7F800000 if magnitude == fmt.infinity else CANONICAL)


@functools.lru_cache(1 << 16)
def narrow(bits: int, dtype: int, policies: Policies) -> int:
    """fp32 bits as an element of a dtype."""
    fp32 = FLOATS["fp32"]
    negative, magnitude = bool(bits & fp32.sign), bits & 0x7FFFFFFF
    if dtype in INTEGERS:
        return to_integer(negative, magnitude, *INTEGERS[dtype], policies.fp_to_int)
    if dtype == FP32:
        return CANONICAL if is_nan32(bits) else bits
    if dtype == FP32R:
        kept = policies.fp32r_mantissa_bits
        fmt = Float(8, kept, 127, (0xFF << kept) - 1, 0xFF << kept, CANONICAL >> (23 - kept))
        shift = 23 - kept
    else:
        fmt, shift = policies.float_of(dtype), 0
    sign = fmt.sign if negative else 0
    if is_nan32(bits):
        return fmt.nan << shift
    code = fmt.largest + 1 if magnitude == 0x7F800000 else magnitude_code(fmt, magnitude_value(fp32, magnitude))
    if code <= fmt.largest:
        return (sign | code) << shift
    return overflow(fmt, sign, eight_bits=dtype in (E3M4, E4M3, E5M2), policy=policies.fp8_overflow) << shift


def overflow(fmt: Float, sign: int, *, eight_bits: bool, policy: str) -> int:
    """The code of a value beyond the largest finite number."""
    if not eight_bits:
        assert fmt.infinity is not None
        return sign | fmt.infinity
    if policy == "saturate":
        return sign | fmt.largest
    if fmt.infinity is not None:
        return sign | fmt.infinity
    return fmt.nan if policy == "ieee" else sign | fmt.largest


def to_integer(negative: bool, magnitude: int, width: int, signed: bool, policy: str) -> int:
    """An fp32 value as an integer code."""
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    mask = (1 << width) - 1
    if magnitude >= 0x7F800000:
        if policy == "wrap":
            return 0
        return (low if negative else high) & mask
    exact = magnitude_value(FLOATS["fp32"], magnitude)
    whole = nearest_even(exact) if policy == "rne_saturate" else exact.numerator // exact.denominator
    value = -whole if negative else whole
    return (value if policy == "wrap" else min(max(value, low), high)) & mask


def larger(new: int, state: int, policy: str) -> int:
    """One step of the running maximum on fp32 bits, under policy `reduce_nan`."""

    def place(bits: int) -> int:
        magnitude = bits & 0x7FFFFFFF
        return -magnitude - 1 if bits >> 31 else magnitude

    if policy == "propagate" and (is_nan32(new) or is_nan32(state)):
        return CANONICAL
    if policy == "select":
        if is_nan32(new) or is_nan32(state) or (new | state) & 0x7FFFFFFF == 0:
            return state
        return new if place(new) > place(state) else state
    if is_nan32(new):
        return CANONICAL if is_nan32(state) else state
    return new if is_nan32(state) or place(new) > place(state) else state


def seed(data_dtype: int) -> int:
    """The identity of the maximum: the lowest value of an integer dtype, else -infinity."""
    return {INT8: 0xC3000000, INT16: 0xC7000000, UINT8: 0, UINT16: 0}.get(data_dtype, NEGATIVE_INFINITY)


@dataclass
class Operand:
    """A resolved pattern: region, first partition, byte offset, dtype, counts and steps (innermost first)."""

    region: str
    partition: int
    offset: int
    dtype: int
    num: tuple[int, int] = (1, 1)
    step: tuple[int, int] = (1, 1)

    @property
    def size(self) -> int:
        return SIZE[self.dtype]

    def offsets(self) -> list[int]:
        """Byte offsets of the elements inside a partition, in stream order."""
        (n0, n1), (s0, s1) = self.num, self.step
        return [self.offset + (i * s0 + j * s1) * self.size for j in range(n1) for i in range(n0)]

    def reach(self) -> tuple[int, int]:
        """First byte touched and the byte after the last."""
        found = [0] + [(n - 1) * s * self.size for n, s in zip(self.num, self.step, strict=True)]
        low = sum(r for r in found if r < 0)
        return self.offset + low, self.offset + sum(r for r in found if r > 0) + self.size


@dataclass
class State:
    """Windows of memory, 128 partitions each, and the accumulator lanes: (fp32 bits, defined)."""

    windows: dict[str, tuple[int, list[bytearray]]]
    lanes: list[tuple[int, bool]] = field(default_factory=lambda: [(0, False)] * 128)
    notices: set[int] = field(default_factory=set)

    def load(self, o: Operand, channel: int, offset: int) -> int:
        first, rows = self.windows[o.region]
        at = offset - first
        return int.from_bytes(rows[o.partition + channel][at : at + o.size], "little")

    def store(self, o: Operand, channel: int, offset: int, code: int) -> None:
        first, rows = self.windows[o.region]
        at = offset - first
        rows[o.partition + channel][at : at + o.size] = code.to_bytes(o.size, "little")


def select_reduce(state: State, case: Any, policies: Policies) -> None:
    """Execute one 0xEA. `case` has src0, src1, dst, imm (an Operand, or inline fp32 bits), channels, command, reverse."""
    src0, src1, dst, channels = case.src0, case.src1, case.dst, case.channels
    fills = policies.select_reduce == "select"
    holds_at, data_at, dst_at = src0.offsets(), src1.offsets(), dst.offsets()
    predicate = [[state.load(src0, c, at) != 0 for at in holds_at] for c in range(channels)]
    data = [[state.load(src1, c, at) for at in data_at] for c in range(channels)]
    if isinstance(case.imm, Operand):
        scalars = [widen(state.load(case.imm, c, case.imm.offset), case.imm.dtype, policies) for c in range(channels)]
    else:
        scalars = [case.imm] * channels
    for c in range(channels):
        bits, defined = state.lanes[dst.partition + c]
        if case.command == 2:
            if not defined:
                state.notices.add(case.index)
                bits = CANONICAL
        else:
            bits = seed(src1.dtype)
        for holds, code, at in zip(predicate[c], data[c], dst_at, strict=True):
            if holds != (case.reverse == 1):
                hub = widen(code, src1.dtype, policies)
                state.store(dst, c, at, code if src1.dtype == dst.dtype else narrow(hub, dst.dtype, policies))
            elif fills:
                hub = scalars[c]
                state.store(dst, c, at, narrow(hub, dst.dtype, policies))
            else:
                continue
            bits = larger(hub, bits, policies.reduce_nan)
        undefined = case.command == 0 and policies.idle_accumulator == "undefined"
        state.lanes[dst.partition + c] = (bits, defined if case.command == 2 else not undefined)


def read_accumulator(state: State, case: Any, policies: Policies) -> None:
    """Execute one 0x9B. `case` has dst, channels, negated."""
    for c in range(case.channels):
        bits, defined = state.lanes[case.dst.partition + c]
        if not defined:
            state.notices.add(case.index)
            bits = CANONICAL
        if case.negated:
            bits = CANONICAL if is_nan32(bits) else bits ^ 0x80000000
        if case.dst.dtype != FP32:
            bits = narrow(bits, case.dst.dtype, policies)
        state.store(case.dst, c, case.dst.offset, bits)
