"""Number formats as data: one frozen record each, and the rows of small integers that compiled loops read.

A plugin adds a format by making another `Format`: every function here takes one wherever it takes a name.

Sources: The Unified Datatype Model; Neuron Data Types; Gen-Bracket Extremes; settled readings 17 and 18 and the policy
table (docs/decisions.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

import ml_dtypes
import numpy as np
from attrs import evolve, field, frozen
from attrs.validators import ge, in_, matches_re

from gpsimd_core.errors import BadValue, Unsupported
from gpsimd_core.isa.lanes import rounding
from gpsimd_core.isa.value_policies import checked_policies

__all__ = [
    "FORMATS",
    "ROW_LENGTH",
    "Format",
    "Kind",
    "Overflow",
    "Row",
    "Specials",
    "format_of",
    "format_row",
    "format_table",
]


class Kind(IntEnum):
    """How codes of a format are read."""

    NONE = 0  # no published value: the format has a name and a size
    FLOAT = 1  # sign, exponent, mantissa
    INTEGER = 2
    SCALE = 3  # a bare exponent: 2^(code - bias), all ones is NaN


class Specials(IntEnum):
    """What the top of a float's code range stands for."""

    NONE = 0  # finite numbers only
    IEEE = 1  # the all-ones exponent: infinity and NaN
    NAN_ONLY = 2  # the all-ones code alone is NaN (OCP E4M3)


class Overflow(IntEnum):
    """What a number beyond the largest finite one becomes when it is written."""

    INFINITY = 0
    POLICY = 1  # policy fp8_overflow
    SATURATE = 2


@frozen(kw_only=True)
class Format:
    """A number format.

    Codes are non-negative integers of `bits` bits. A float code is sign, exponent, mantissa and `padding` low zero
    bits, and stands for (-1)^sign x 1.mantissa x 2^(exponent - bias), or 0.mantissa x 2^(1 - bias) where the exponent
    field is 0.
    """

    name: str = field(validator=matches_re(r"[a-z][a-z0-9_]*"))
    kind: Kind = field(converter=Kind)
    bits: int = field(validator=[ge(1), in_(range(1, 65))])
    exponent_bits: int = 0
    mantissa_bits: int = 0
    bias: int = 0
    signed: bool = True
    specials: Specials = field(default=Specials.NONE, converter=Specials)
    overflow: Overflow = field(default=Overflow.INFINITY, converter=Overflow)
    nan: int | None = None
    """The canonical NaN code, which is what writing a NaN gives; None: the format has none, and gives +0."""
    numpy_name: str | None = None
    """The dtype of numpy or ml_dtypes that holds these values, if there is one."""
    aliases: tuple[str, ...] = ()
    missing: str = ""
    """Why the codes cannot be read, for `Kind.NONE`."""
    source: str = "The Unified Datatype Model"

    def __attrs_post_init__(self) -> None:
        if self.kind == Kind.FLOAT and not (
            self.signed
            and 1 <= self.exponent_bits <= 8
            and 0 <= self.mantissa_bits <= 23
            and self.padding >= 0
            and self.emax <= 127
            and self.bias <= 127
        ):
            raise BadValue(f"format {self.name}: every value of a float format must be an fp32 value, with a sign bit")

    @property
    def readable(self) -> bool:
        """Whether the codes have published values."""
        return self.kind != Kind.NONE

    @property
    def nbytes(self) -> int:
        """Bytes of one stored element; codes narrower than a byte take a whole one."""
        return -(-self.bits // 8)

    @property
    def code_dtype(self) -> np.dtype[Any]:
        """The unsigned dtype of one stored code."""
        return np.dtype(f"uint{8 * self.nbytes}")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an array of values: numpy's or ml_dtypes' own where there is one, else that of the codes."""
        if self.numpy_name is None:
            return self.code_dtype
        return np.dtype(getattr(ml_dtypes, self.numpy_name, self.numpy_name))

    @property
    def is_integer(self) -> bool:
        """Whether this is a two's-complement or unsigned integer."""
        return self.kind == Kind.INTEGER

    @property
    def padding(self) -> int:
        """Low zero bits of a float code (FP32R keeps fewer mantissa bits than its container)."""
        return self.bits - 1 - self.exponent_bits - self.mantissa_bits if self.kind == Kind.FLOAT else 0

    @property
    def emax(self) -> int:
        """Exponent of the largest finite number."""
        return (1 << self.exponent_bits) - 1 - (self.specials == Specials.IEEE) - self.bias

    @property
    def emin(self) -> int:
        """Exponent of the smallest normal number."""
        return 1 - self.bias

    @property
    def max_code(self) -> int:
        """Code of the largest finite number."""
        if self.kind == Kind.INTEGER:
            return (1 << (self.bits - self.signed)) - 1
        if self.kind == Kind.SCALE:
            return (1 << self.bits) - 2
        top = (1 << (self.exponent_bits + self.mantissa_bits)) - 1
        if self.specials == Specials.IEEE:
            top -= 1 << self.mantissa_bits
        elif self.specials == Specials.NAN_ONLY:
            top -= 1
        return top << self.padding

    @property
    def infinity(self) -> int | None:
        """Code of +infinity, if the format has one."""
        if self.specials != Specials.IEEE:
            return None
        return ((1 << self.exponent_bits) - 1) << (self.mantissa_bits + self.padding)

    @property
    def sign_bit(self) -> int:
        """The sign bit of a float or signed integer code; 0 where there is none."""
        return 1 << (self.bits - 1) if self.signed and self.kind != Kind.SCALE else 0

    @property
    def max_finite(self) -> float:
        """The largest finite number. Exact up to 2^53."""
        if self.kind == Kind.INTEGER:
            return float(self.max_code)
        if self.kind == Kind.SCALE:
            return 2.0 ** (self.max_code - self.bias)
        field = self.max_code >> self.padding
        exponent = (field >> self.mantissa_bits) or 1
        hidden = 1 if field >> self.mantissa_bits else 0
        mantissa = field & ((1 << self.mantissa_bits) - 1)
        return float((hidden + mantissa / (1 << self.mantissa_bits)) * 2.0 ** (exponent - self.bias))

    @property
    def min_normal(self) -> float:
        """The smallest positive normal number (for a bare exponent the smallest number)."""
        return 2.0 ** (-self.bias if self.kind == Kind.SCALE else self.emin)

    @property
    def min_subnormal(self) -> float:
        """The smallest positive number."""
        return 2.0 ** (-self.bias if self.kind == Kind.SCALE else self.emin - self.mantissa_bits)

    @property
    def min_value(self) -> int:
        """The lowest integer."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    def require(self, what: str) -> None:
        """Raise `Unsupported` for `what` (reading, writing) unless the codes have published values."""
        if not self.readable:
            raise Unsupported(f"{what} {self.name}", self.missing)


def _float(name: str, bits: int, exponent: int, mantissa: int, bias: int, nan: int | None, **more: Any) -> Format:
    more.setdefault("specials", Specials.IEEE)
    sizes: dict[str, Any] = {"bits": bits, "exponent_bits": exponent, "mantissa_bits": mantissa, "bias": bias}
    return Format(name=name, kind=Kind.FLOAT, nan=nan, **sizes, **more)


def _integer(name: str, bits: int, signed: bool) -> Format:
    return Format(name=name, kind=Kind.INTEGER, bits=bits, signed=signed, numpy_name=name)


def _opaque(name: str, bits: int, missing: str, *aliases: str) -> Format:
    return Format(name=name, kind=Kind.NONE, bits=bits, signed=False, missing=missing, aliases=aliases)


_NO_BIAS = "its exponent bias and special codes are not published"
_NO_CPTC = "the values of the compressed codes are not published"
_FP8 = {"overflow": Overflow.POLICY}
_SMALL = {"specials": Specials.NONE, "overflow": Overflow.SATURATE}

_ALL: tuple[Format, ...] = (
    _float("fp32", 32, 8, 23, 127, 0x7FC00000, numpy_name="float32"),
    _float("fp16", 16, 5, 10, 15, 0x7E00, numpy_name="float16"),
    _float("bf16", 16, 8, 7, 127, 0x7FC0, numpy_name="bfloat16", aliases=("bfloat16",)),
    _float("fp32r", 32, 8, 11, 127, 0x7FC00000, numpy_name="float32"),
    _float("fp8_e3m4", 8, 3, 4, 3, 0x78, numpy_name="float8_e3m4", aliases=("fp8_exp3",), **_FP8),
    _float("fp8_e4m3", 8, 4, 3, 7, 0x7C, numpy_name="float8_e4m3", **_FP8),
    _float(
        "fp8_e4m3fn", 8, 4, 3, 7, 0x7F, numpy_name="float8_e4m3fn", specials=Specials.NAN_ONLY, overflow=Overflow.POLICY
    ),
    _float("fp8_e5m2", 8, 5, 2, 15, 0x7E, numpy_name="float8_e5m2", aliases=("fp8_exp5",), **_FP8),
    _float("fp4_e2m1", 4, 2, 1, 1, None, numpy_name="float4_e2m1fn", aliases=("fp4_exp2",), **_SMALL),
    _float("fp6_e2m3", 6, 2, 3, 1, None, numpy_name="float6_e2m3fn", **_SMALL),
    Format(
        name="e8m0", kind=Kind.SCALE, bits=8, exponent_bits=8, bias=127, signed=False, nan=0xFF,
        numpy_name="float8_e8m0fnu", aliases=("sfp8_e8",),
    ),
    *(_integer(f"{sign}int{bits}", bits, not sign) for bits in (4, 8, 16, 32, 64) for sign in ("", "u")),
    _opaque("fp8_e2m5", 8, _NO_BIAS, "fp8_exp2"),
    _opaque("e7m1", 8, _NO_BIAS, "sfp8_e7"),
    _opaque("e6m2", 8, _NO_BIAS, "sfp8_e6"),
    _opaque("e5m3", 8, _NO_BIAS, "sfp8_e5"),
    *(_opaque(f"cptc{bits}", bits, _NO_CPTC) for bits in range(1, 8)),
)  # fmt: skip

FORMATS: Mapping[str, Format] = {made.name: made for made in _ALL}
"""Every format of the core by name."""


def format_of(what: Any, *, formats: Iterable[Format] = _ALL) -> Format:
    """The format that `what` names.

    Args:
        what: a `Format`; a name or alias such as "fp16" (any case); a numpy or ml_dtypes dtype, or what
            `numpy.dtype` makes one of (float32 is fp32, not fp32r). fp8 wire code 0xE needs a machine to tell its two meanings apart: name
            `fp8_e4m3` or `fp8_e4m3fn`.
        formats: where to look; a plugin's own formats may be among them.

    Raises:
        BadValue: nothing of that name; the message lists what there is.
    """
    if isinstance(what, Format):
        return what
    known = tuple(formats)
    if isinstance(what, str):
        name = what.lower()
        for made in known:
            if name == made.name or name in made.aliases:
                return made
    try:
        dtype = np.dtype(getattr(ml_dtypes, what, what) if isinstance(what, str) else what)
    except TypeError:
        dtype = None
    if dtype is not None and dtype.isnative:
        for made in known:
            if made.numpy_name is not None and made.dtype == dtype:
                return made
    raise BadValue(f"no number format {what!r}; there are {', '.join(made.name for made in known)}")


class Row(IntEnum):
    """Columns of a format row.

    A row is all that a compiled loop knows of a format: plain integers, as uint32 words where a lane computes with
    them. The columns from SHIFT to PADDING, in this order, are the `target` of `isa/lanes/rounding.py`.
    """

    KIND = 0
    BITS = 1
    NBYTES = 2
    SIGNED = 3
    WRAP = 4  # integers: 1 under fp_to_int = wrap
    ROUNDING = 5
    SEED = 6  # of stochastic rounding, as int64
    READ_SHIFT = 7  # a magnitude moved up by it stands in fp32's fields
    READ_MASK = 8  # the magnitude's bits
    READ_NORMAL = 9  # smallest magnitude that needs no normalising
    READ_UNIT = 10  # fp32 pattern of the smallest subnormal
    READ_INFINITY = 11  # magnitude of infinity, all ones where there is none
    READ_LAST = 12  # magnitudes above it are NaN
    READ_PAYLOAD = 13  # payload bits that a NaN keeps
    SHIFT = 14  # mantissa bits dropped from a normal number
    REBIAS = 15  # subtracted from an fp32 magnitude
    FIRST_NORMAL = 16  # smallest fp32 magnitude that is normal in the format; 0 where the exponent ranges agree
    BASE = 17  # less the fp32 exponent field: bits dropped from a subnormal
    MAXIMUM = 18  # largest finite magnitude
    LIMIT_POSITIVE = 19  # what a magnitude stops at, by sign: the largest finite number, infinity or NaN
    LIMIT_NEGATIVE = 20
    INFINITE = 21  # the magnitude that an infinite input gives
    SIGNLESS = 22  # a magnitude that never takes a sign: NaN by overflow; all ones where that does not occur
    NAN = 23
    SIGN_SHIFT = 24
    PADDING = 25


ROW_LENGTH = len(Row)
_ALL_ONES = 0xFFFFFFFF


def format_row(
    fmt: Format, *, policies: Mapping[str, Any] | None = None, rounding_mode: int | None = None
) -> tuple[int, ...]:
    """The numbers by which compiled loops read and write `fmt`.

    Args:
        fmt: any format; an unreadable one gives a row of kind NONE, which nothing may read or write with.
        policies: `fp_to_int`, `fp8_overflow`, `fp32r_mantissa_bits`, `stochastic_rounding`; others are ignored.
        rounding_mode: a mode of `isa/lanes/rounding.py`. None: nearest even, or stochastic under that policy (for
            floats only). Under `rtz_saturate` and `wrap` integers are always written toward zero.

    Returns:
        `ROW_LENGTH` integers, see `Row`.
    """
    chosen = checked_policies(policies or {})
    row = dict.fromkeys(Row, 0)
    row[Row.KIND], row[Row.BITS], row[Row.NBYTES], row[Row.SIGNED] = fmt.kind, fmt.bits, fmt.nbytes, int(fmt.signed)
    seed = chosen["stochastic_rounding"]
    mode = rounding_mode
    if mode is None:
        mode = rounding.RNE if seed == "off" or fmt.kind != Kind.FLOAT else rounding.STOCHASTIC
    if fmt.is_integer and chosen["fp_to_int"] != "rne_saturate":
        mode = rounding.RTZ
    row[Row.ROUNDING] = mode
    if seed != "off":
        row[Row.SEED] = seed - (1 << 64) if seed >> 63 else seed
    row[Row.WRAP] = int(chosen["fp_to_int"] == "wrap")
    if fmt.name == "fp32r":
        fmt = evolve(fmt, mantissa_bits=chosen["fp32r_mantissa_bits"])
    if fmt.kind == Kind.FLOAT:
        _read_columns(row, fmt)
        _write_columns(row, fmt, mode, chosen["fp8_overflow"])
    return tuple(int(row[column]) for column in Row)


def _read_columns(row: dict[Row, int], fmt: Format) -> None:
    mantissa = fmt.mantissa_bits + fmt.padding
    rebias = (127 - fmt.bias) << 23
    row[Row.READ_SHIFT] = 23 - mantissa
    row[Row.READ_MASK] = (1 << (fmt.bits - 1)) - 1
    row[Row.READ_NORMAL] = 1 << mantissa if rebias else 0
    exponent = 1 - fmt.bias - mantissa + 127  # as an fp32 field; only formats that need no normalising go below 1
    row[Row.READ_UNIT] = max(exponent, 0) << 23
    row[Row.READ_INFINITY] = _ALL_ONES if fmt.infinity is None else fmt.infinity
    if fmt.specials == Specials.IEEE:
        assert fmt.infinity is not None
        row[Row.READ_LAST], row[Row.READ_PAYLOAD] = fmt.infinity, 0x007FFFFF
    elif fmt.specials == Specials.NAN_ONLY:
        row[Row.READ_LAST] = fmt.max_code
    else:
        row[Row.READ_LAST] = _ALL_ONES
    row[Row.REBIAS] = rebias


def _write_columns(row: dict[Row, int], fmt: Format, mode: int, fp8_overflow: str) -> None:
    row[Row.SHIFT] = 23 - fmt.mantissa_bits
    row[Row.BASE] = row[Row.SHIFT]
    if fmt.bias != 127:
        row[Row.FIRST_NORMAL] = (128 - fmt.bias) << 23
        row[Row.BASE] += 128 - fmt.bias
    maximum = fmt.max_code >> fmt.padding
    row[Row.MAXIMUM] = maximum
    row[Row.NAN] = fmt.nan or 0
    row[Row.SIGN_SHIFT] = fmt.bits - 1
    row[Row.PADDING] = fmt.padding
    row[Row.SIGNLESS] = _ALL_ONES
    saturates = fmt.overflow == Overflow.SATURATE
    if fmt.overflow == Overflow.POLICY:
        saturates = fp8_overflow == "saturate" or (fp8_overflow == "flavour" and fmt.infinity is None)
    if saturates:
        beyond = maximum
    elif fmt.infinity is not None:
        beyond = fmt.infinity >> fmt.padding
    else:
        beyond = row[Row.SIGNLESS] = fmt.nan or 0
    toward = {rounding.RTZ: (0, 0), rounding.DEVICE_AWAY: (0, 0), rounding.RPI: (1, 0), rounding.RMI: (0, 1)}
    up, down = toward.get(mode, (1, 1))
    row[Row.LIMIT_POSITIVE], row[Row.LIMIT_NEGATIVE] = (beyond if up else maximum), (beyond if down else maximum)
    row[Row.INFINITE] = beyond


def format_table(
    codes: Mapping[int, Format], policies: Mapping[str, Any] | None = None
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The rows of many formats, indexed by wire code.

    Args:
        codes: dtype code (0 to 255) to format.
        policies: as for `format_row`.

    Returns:
        int64, shape (256, ROW_LENGTH); a code that is not in `codes` has kind NONE.
    """
    table = np.zeros((256, ROW_LENGTH), np.int64)
    for code, fmt in codes.items():
        table[code] = format_row(fmt, policies=policies)
    return table
