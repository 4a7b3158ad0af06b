"""Operands that narrowing finds hard, and the two ways to run a lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpsimd_core.isa.formats import Format
from gpsimd_core.isa.lane import compiled

EDGES = (
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x807FFFFF, 0x7F7FFFFF, 0xFF7FFFFF,
    0x7F800000, 0xFF800000, 0x7F800001, 0xFF800001, 0x7FBFFFFF, 0x7FC00000, 0xFFC00000, 0x7FFFFFFF, 0xFFFFFFFF,
    0x3F800000, 0xBF800000, 0x3F000000, 0x3EFFFFFF, 0x3F000001, 0x3FC00000, 0x40200000, 0x4B800000, 0x4F000000,
    0x4EFFFFFF, 0xCF000000, 0xCF000001, 0x4F800000, 0x5F000000, 0xDF000000, 0x5F800000, 0x00400000, 0x00200000,
)  # fmt: skip


def _hard(fmt: Format, count: int, seed: int = 0) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    dropped = 23 - fmt.mantissa_bits
    low, high = fmt.emin - fmt.mantissa_bits - 3, fmt.emax + 3
    exponent = rng.integers(max(low, -127) + 127, min(high, 127) + 128, count)
    near = np.array([0, 1, -1, (1 << dropped) >> 1, ((1 << dropped) >> 1) + 1, ((1 << dropped) >> 1) - 1])
    # a subnormal result drops more bits: move the hard spot up by as many
    more = np.clip(fmt.emin + 127 - exponent, 0, 23 - dropped) if dropped < 23 else np.zeros(count, np.int64)
    mantissa = (rng.integers(0, 1 << 24, count) >> (dropped + more)) << (dropped + more)
    mantissa = (mantissa + (near[rng.integers(0, near.size, count)] << more)) & 0x7FFFFF
    mantissa = np.where(rng.random(count) < 0.1, rng.integers(0, 1 << 23, count), mantissa)
    made = (rng.integers(0, 2, count) << 31) | (exponent << 23) | mantissa
    made[: len(EDGES)] = EDGES
    return made.astype(np.uint32)


@pytest.fixture(scope="session")
def hard() -> Callable[..., np.ndarray[Any, Any]]:
    """`hard(fmt, count, seed)`: fp32 patterns around the ties, the overflow and the subnormals of a float format."""
    return _hard


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: function(*(int(arg) if isinstance(arg, np.integer) else arg for arg in args))


@pytest.fixture(params=["plain", "compiled"])
def run(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """How to call a lane: as it is written (on Python integers), or built."""
    return compiled if request.param == "compiled" else _plain
