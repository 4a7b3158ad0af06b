"""`convert`: arrays from any number format to any other, bit for bit as an instruction's store does it.

Sources: settled readings 16 to 18 and the policy table (docs/decisions.md); The Unified Datatype Model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, overload

import numpy as np

from gpsimd_core.errors import BadValue
from gpsimd_core.isa.formats import Format, Kind, Row, format_of, format_row
from gpsimd_core.isa.lane import bind, compiled
from gpsimd_core.isa.lanes.convert import (
    int64_flags_row,
    narrow_flags_row,
    narrow_float_loop,
    narrow_int64_row,
    narrow_row,
    read_flags_row,
    widen_int64_row,
    widen_row,
)
from gpsimd_core.isa.lanes.rounding import INEXACT, MODES, STOCHASTIC
from gpsimd_core.isa.value_policies import POLICIES, checked_policies

__all__ = ["codes_of", "convert", "values_of"]

Array = np.ndarray[Any, Any]

PIECE = 1 << 15
"""Elements that pass the hub at a time, so that it stays in cache."""

WORTH_A_LOOP_OF_ITS_OWN = 1 << 18
"""From this many elements on, a loop built for one format and mode pays for its construction."""


@overload
def convert(
    array: Any,
    to: Any,
    *,
    rounding: str = ...,
    policies: Mapping[str, Any] | None = ...,
    flags: Literal[False] = ...,
    from_: Any = ...,
) -> Array: ...
@overload
def convert(
    array: Any,
    to: Any,
    *,
    rounding: str = ...,
    policies: Mapping[str, Any] | None = ...,
    flags: Literal[True],
    from_: Any = ...,
) -> tuple[Array, Array]: ...
def convert(
    array: Any,
    to: Any,
    *,
    rounding: str = "RNE",
    policies: Mapping[str, Any] | None = None,
    flags: bool = False,
    from_: Any = None,
) -> Array | tuple[Array, Array]:
    """Convert an array to another number format.

    Everything passes through fp32: integers beyond 2^24 are read to nearest even, whatever `rounding` says, and
    `rounding` governs the write. Equal formats copy bits. Formats of 64-bit integers follow the same rules.

    Args:
        array: a numpy or ml_dtypes array, or what `numpy.asarray` makes one.
        to: the target format: a name, a dtype or a `Format`.
        rounding: RNE, RTZ, RPI (toward +infinity), RMI, RNA (ties away), device_away (truncates, as the vector core's
            mode code 4 does), or stochastic, which takes its seed from policy `stochastic_rounding`. That policy turns
            RNE into the stochastic mode for floating-point targets; an element's index is its place in C order.
        policies: `fp_to_int`, `fp8_overflow`, `fp32r_mantissa_bits`, `stochastic_rounding`, `mx_scale`. Under
            `fp_to_int` = `rne_saturate` integers are written in the mode of `rounding`; the two other values truncate.
        flags: also return the flags of each element.
        from_: the format of `array`, where its dtype does not say: "fp32r" for float32, or any format for an array of
            unsigned codes of the format's size. Default: the format of the dtype.

    Returns:
        An array of the same shape, its dtype that of numpy or ml_dtypes for the format; with `flags`, also a uint8
        array of INEXACT 1, UNDERFLOW 2 (tiny after rounding and inexact), OVERFLOW 4, INVALID 16 (signalling NaN; NaN
        to a format without one).

    Raises:
        BadValue: an unknown format, mode, policy or policy value; an array whose dtype has no format; a `from_` of
            another size.
        Unsupported: a format whose values nobody published.
    """
    chosen = _policies(policies)
    values = np.asarray(array)
    source = format_of(values.dtype if from_ is None else from_)
    target = format_of(to)
    codes = codes_of(values, source)
    mode = _mode(rounding, chosen, target)
    source.require("reading")
    target.require("writing")
    if source == target:
        copied = values_of(codes.copy().reshape(values.shape), target)
        return (copied, np.zeros(values.shape, np.uint8)) if flags else copied
    reading = format_row(source, policies=chosen)
    writing = format_row(target, policies=chosen, rounding_mode=mode)
    out = np.empty(codes.size, target.code_dtype)
    seen = np.zeros(codes.size, np.uint8)
    piece = max(codes.size, 1) if _is_fp32(source) else PIECE
    for start in range(0, codes.size, piece):
        here = slice(start, start + piece)
        hub = _read(codes[here], source, reading)
        _write(hub, target, writing, out[here], start)
        if flags:
            seen[here] = _read_flags(codes[here], hub, source, reading) | _write_flags(hub, target, writing, start)
    result = values_of(out.reshape(values.shape), target)
    return (result, seen.reshape(values.shape)) if flags else result


def codes_of(values: Array, fmt: Format) -> Array:
    """The codes of an array of values (or of codes) of a format: unsigned, flat, in C order, sharing memory if it can.

    Raises:
        BadValue: the dtype is neither the format's own nor that of its codes.
    """
    if values.dtype not in (fmt.dtype, fmt.code_dtype):
        allowed = " or ".join(dict.fromkeys((str(fmt.dtype), str(fmt.code_dtype))))
        raise BadValue(f"{fmt.name} values have dtype {allowed}; found {values.dtype}")
    return np.ascontiguousarray(values).reshape(-1).view(fmt.code_dtype)


def values_of(codes: Array, fmt: Format) -> Array:
    """An array of codes as an array of the format's values, sharing memory."""
    return codes.view(fmt.dtype)


def _policies(policies: Mapping[str, Any] | None) -> dict[str, Any]:
    unknown = sorted(set(policies or ()) - set(POLICIES))
    if unknown:
        raise BadValue(f"conversions know no policy {', '.join(unknown)}; allowed: {', '.join(POLICIES)}")
    return checked_policies(policies or {})


def _mode(rounding: str, policies: Mapping[str, Any], target: Format) -> int | None:
    if rounding not in MODES:
        raise BadValue(f"no rounding mode {rounding!r}; allowed: {', '.join(MODES)}")
    mode = MODES[rounding]
    if mode == STOCHASTIC:
        if policies["stochastic_rounding"] == "off":
            raise BadValue("rounding stochastic needs a seed: set policy stochastic_rounding to an integer")
        return None
    if rounding == "RNE" and target.kind == Kind.FLOAT:
        return None  # stochastic under that policy
    return mode


def _is_fp32(fmt: Format) -> bool:
    return fmt.kind == Kind.FLOAT and fmt.bits == 32


def _read(codes: Array, source: Format, row: tuple[int, ...]) -> Array:
    if _is_fp32(source):
        return codes
    hub = np.empty(codes.size, np.uint32)
    if source.bits == 64:
        compiled(widen_int64_row)(codes, int(source.signed), hub)
    else:
        compiled(widen_row)(codes, np.array(row), hub)
    return hub


def _write(hub: Array, target: Format, row: tuple[int, ...], out: Array, first: int) -> None:
    deterministic = target.kind == Kind.FLOAT and row[Row.ROUNDING] != STOCHASTIC
    if target.bits == 64:
        compiled(narrow_int64_row)(hub, np.array(row), out)
    elif deterministic and out.size >= WORTH_A_LOOP_OF_ITS_OWN:
        compiled(bind(narrow_float_loop, ROW=row))(hub, out)
    else:
        compiled(narrow_row)(hub, np.array(row), out, first)


def _read_flags(codes: Array, hub: Array, source: Format, row: tuple[int, ...]) -> Array:
    seen = np.zeros(codes.size, np.uint8)
    if source.bits == 64:
        back = np.empty_like(codes)
        compiled(narrow_int64_row)(hub, np.array(format_row(source, policies={"fp_to_int": "wrap"})), back)
        seen[back != codes] = INEXACT
    else:
        compiled(read_flags_row)(codes.astype(np.uint32), np.array(row), seen)
    return seen


def _write_flags(hub: Array, target: Format, row: tuple[int, ...], first: int) -> Array:
    seen = np.zeros(hub.size, np.uint8)
    if target.bits == 64:
        compiled(int64_flags_row)(hub, np.array(row), seen)
    else:
        compiled(narrow_flags_row)(hub, np.array(row), seen, first)
    return seen
