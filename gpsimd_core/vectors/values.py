"""Values of engine-level rows: bit patterns, integers and fp32 numbers of a named dtype."""

from __future__ import annotations

import struct
from typing import Any

from gpsimd_core.errors import GpsimdError
from gpsimd_core.isa.formats import Format, format_of
from gpsimd_core.isa.policies import POLICIES, parse
from gpsimd_core.vectors.strict import Place, choice, digits

__all__ = ["DTYPES", "code", "dtype", "policies", "shown_code"]

DTYPES = (
    *("int4", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("bf16", "fp16", "fp32", "fp32r", "fp8_e3m4", "fp8_e4m3", "fp8_e4m3fn", "fp8_e5m2"),
    *("fp6_e2m3", "fp4_e2m1", "e8m0"),
)


def dtype(name: str, place: Place, key: str) -> Format:
    """The format of a dtype name."""
    return format_of(choice(name, place, key, DTYPES))


def code(value: Any, form: Format, place: Place, what: str) -> int:
    """A value as the code of its format.

    Raises:
        BadInput: wrong digits, an integer for a floating format, out of range, a float where none is allowed.
    """
    if isinstance(value, str):
        return digits(value, form.bits, place, what)
    if type(value) is int and form.is_integer:
        least = -(1 << (form.bits - 1)) if form.signed else 0
        greatest = (1 << (form.bits - form.signed)) - 1
        if not least <= value <= greatest:
            raise place.wrong(f"{what} is {value}; {form.name} holds {least} to {greatest}")
        return value & ((1 << form.bits) - 1)
    if type(value) is float and form.name == "fp32":
        try:
            return int.from_bytes(struct.pack("<f", value), "little")
        except OverflowError:
            raise place.wrong(f"{what} is {value}, which fp32 does not reach") from None
    raise place.wrong(f"{what} is {value!r}, which is no value of {form.name}")


def shown_code(number: int, form: Format) -> str:
    """The code in full digits."""
    return f"{number:0{-(-form.bits // 4)}x}"


def policies(given: dict[str, Any], place: Place) -> dict[str, str | int]:
    """A table of policies, each with one of its values.

    Raises:
        BadInput: an unknown policy or value.
    """
    known = {policy.name: policy for policy in POLICIES}
    found = {}
    for name, value in given.items():
        choice(name, place, "policies", known)
        try:
            found[name] = parse(known[name], value)
        except GpsimdError as error:
            raise place.wrong(str(error)) from None
    return found
