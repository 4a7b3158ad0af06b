"""MX block formats: 32 elements share one power-of-two scale, an E8M0 byte.

An element stands for its own value times 2^(scale - 127). Policy `mx_scale` has the two published rules for the scale;
`isa/lanes/mx.py` holds the values.

Sources: MX Microscaling: Quantize; Trainium3 Architecture Guide for NKI; Neuron Data Types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpsimd_core.errors import BadValue, Unsupported
from gpsimd_core.isa.convert import codes_of, convert, values_of
from gpsimd_core.isa.formats import FORMATS, Format, format_of, format_row
from gpsimd_core.isa.lane import compiled
from gpsimd_core.isa.lanes.mx import COMPILER, NKI, dequantise_blocks, quantise_blocks
from gpsimd_core.isa.value_policies import POLICIES, checked_policies

__all__ = ["BLOCK", "ELEMENT_EMAX", "dequantise", "quantise"]

Array = np.ndarray[Any, Any]

BLOCK = 32

ELEMENT_EMAX: Mapping[str, int] = {"fp4_e2m1": 2, "fp8_e4m3fn": 8, "fp8_e5m2": 15}
"""Exponent of the largest power of two, for the element formats that a source gives a scale rule for."""

_RULES = dict(zip(POLICIES["mx_scale"], (NKI, COMPILER), strict=True))


def quantise(
    array: Any, to: Any, *, policies: Mapping[str, Any] | None = None, from_: Any = None
) -> tuple[Array, Array]:
    """Quantise blocks of 32 elements along the last axis.

    The scale follows from the largest finite magnitude of the block; elements are scaled, rounded to nearest even and
    saturated; NaN gives the element format's NaN code.

    Args:
        array: values, shape (..., 32 n).
        to: element format: fp4_e2m1, fp8_e4m3fn or fp8_e5m2.
        policies: `mx_scale`; the others do not matter here.
        from_: format of `array`, as for `convert`.

    Returns:
        Elements, of the same shape, and scales, shape (..., n), dtype float8_e8m0fnu.

    Raises:
        BadValue: an unknown format or policy value; a last axis that is no multiple of 32.
        Unsupported: an element format without a published rule.
    """
    target = _element(to)
    rule = _RULES[checked_policies(policies or {})["mx_scale"]]
    values = np.asarray(array)
    _require_blocks(values.shape)
    hub = convert(values, "fp32", from_=from_).view(np.uint32).reshape(-1, BLOCK)
    row = np.array(format_row(target, policies={"fp8_overflow": "saturate"}))
    out = np.empty(hub.shape, target.code_dtype)
    scales = np.empty(hub.shape[0], np.uint8)
    compiled(quantise_blocks)(hub, ELEMENT_EMAX[target.name], rule, row, out, scales)
    shape = (*values.shape[:-1], values.shape[-1] // BLOCK)
    return values_of(out.reshape(values.shape), target), values_of(scales.reshape(shape), FORMATS["e8m0"])


def dequantise(elements: Any, scales: Any, *, to: Any = "fp32", from_: Any = None) -> Array:
    """Element times scale.

    Args:
        elements: shape (..., 32 n).
        scales: shape (..., n): float8_e8m0fnu, or uint8 codes. Code 255 makes its whole block NaN.
        to: format of the result; other than fp32 it is rounded from the fp32 product.
        from_: the element format, where the dtype of `elements` does not say.

    Returns:
        An array of the shape of `elements`.

    Raises:
        BadValue: shapes that do not fit; an unknown format.
    """
    values, factors = np.asarray(elements), np.asarray(scales)
    source = _element(values.dtype if from_ is None else from_)
    _require_blocks(values.shape)
    wanted = (*values.shape[:-1], values.shape[-1] // BLOCK)
    if factors.shape != wanted:
        raise BadValue(f"elements of shape {values.shape} take scales of shape {wanted}; found {factors.shape}")
    codes = codes_of(values, source).reshape(-1, BLOCK)
    hub = np.empty(codes.shape, np.uint32)
    row = np.array(format_row(source))
    compiled(dequantise_blocks)(codes, codes_of(factors, FORMATS["e8m0"]), row, hub)
    return convert(hub.view(np.float32).reshape(values.shape), to)


def _element(what: Any) -> Format:
    fmt = format_of(what)
    if fmt.name not in ELEMENT_EMAX:
        known = ", ".join(ELEMENT_EMAX)
        raise Unsupported(
            f"{fmt.name} as an MX element", f"no source gives its scale rule (there are rules for {known})"
        )
    return fmt


def _require_blocks(shape: tuple[int, ...]) -> None:
    if not shape or shape[-1] % BLOCK:
        raise BadValue(f"the last axis holds blocks of {BLOCK} elements; found shape {shape}")
