"""The core's rows of the activation table.

On hardware the host loads the table, and function numbers are its row numbers; no source publishes them. These numbers
are ours. Plugins add rows, or replace these, through `gpsimd_activations`.
"""

from __future__ import annotations

from collections.abc import Callable

from gpsimd_core.isa.lanes.activation import (
    arctangent,
    cosine,
    gelu_tanh,
    leaky_relu,
    mish,
    rectified,
    sign_of,
    sine,
)
from gpsimd_core.isa.lanes.alu import absolute, bypass, reciprocal, reciprocal_root, square, square_root
from gpsimd_core.isa.lanes.transcend import (
    error_function,
    exponential,
    gelu,
    hyperbolic_tangent,
    logarithm,
    sigmoid,
    silu,
    softplus,
)
from gpsimd_core.values import Activation, Evidence

__all__ = ["ACTIVATIONS"]

OURS = Evidence(
    confidence="PROPOSED",
    source="this project",
    note="number and evaluation are ours: the tables that the host loads on hardware are not published",
)
EXACT, ROUNDED, DOUBLE = 0.0, 0.5, 0.51
"""Bounds in ulp: no rounding, one of fp32, one of a double-precision value to fp32."""


def row(
    number: int, name: str, ulp: float, function: Callable[..., int], formula: str, parameter: str = ""
) -> Activation:
    """One row of the table."""
    return Activation(
        number=number, name=name, function=function, parameter=parameter, formula=formula, ulp=ulp, evidence=OURS
    )


# fmt: off
ACTIVATIONS = (
    row(0,  "identity",   EXACT,   bypass,             "x"),
    row(1,  "relu",       EXACT,   rectified,          "x above zero, +0 below"),
    row(2,  "leaky_relu", ROUNDED, leaky_relu,         "x above zero, slope * x below", "slope"),
    row(3,  "abs",        EXACT,   absolute,           "|x|"),
    row(4,  "sign",       EXACT,   sign_of,            "1 or -1 by sign; a zero gives itself"),
    row(5,  "square",     ROUNDED, square,             "x * x"),
    row(6,  "sqrt",       ROUNDED, square_root,        "square root of x; NaN below zero"),
    row(7,  "rsqrt",      ROUNDED, reciprocal_root,    "1 / square root of x; NaN below zero"),
    row(8,  "reciprocal", ROUNDED, reciprocal,         "1 / x; infinity with the sign of a zero"),
    row(9,  "exp",        DOUBLE,  exponential,        "e^x"),
    row(10, "log",        DOUBLE,  logarithm,          "natural logarithm; -infinity at zero, NaN below"),
    row(11, "tanh",       DOUBLE,  hyperbolic_tangent, "hyperbolic tangent"),
    row(12, "sigmoid",    DOUBLE,  sigmoid,            "1 / (1 + e^-x)"),
    row(13, "silu",       DOUBLE,  silu,               "x / (1 + e^-x)"),
    row(14, "gelu",       DOUBLE,  gelu,               "x (1 + erf(x / sqrt 2)) / 2"),
    row(15, "gelu_tanh",  DOUBLE,  gelu_tanh,          "x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2"),
    row(16, "softplus",   DOUBLE,  softplus,           "ln(1 + e^x)"),
    row(17, "mish",       DOUBLE,  mish,               "x tanh(ln(1 + e^x))"),
    row(18, "erf",        DOUBLE,  error_function,     "error function"),
    row(19, "sin",        DOUBLE,  sine,               "sine, of any finite x"),
    row(20, "cos",        DOUBLE,  cosine,             "cosine, of any finite x"),
    row(21, "arctan",     DOUBLE,  arctangent,         "arc tangent"),
)
# fmt: on
