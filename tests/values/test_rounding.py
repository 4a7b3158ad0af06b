"""The rounding core against exact integers, in every mode and at both widths."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpsimd_core.isa.lanes import rounding
from gpsimd_core.isa.lanes.rounding import DEVICE_AWAY, MODES, RMI, RNA, RNE, RPI, RTZ, STOCHASTIC

# The first outputs of the published splitmix64 generator from states 0, 1, ...: their upper halves are the thresholds.
SPLITMIX64 = [0xE220A8397B1DCDAF, 0x910A2DEC89025CC1, 0x975835DE1C9756CE]


def exact(value: Fraction, sign: int, mode: int, draw: int = 0) -> int:
    """A magnitude rounded to an integer, by the definition of each mode."""
    whole = floor(value)
    rest = value - whole
    up = {
        RNE: rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
        RTZ: False,
        RPI: rest > 0 and not sign,
        RMI: rest > 0 and bool(sign),
        RNA: rest >= Fraction(1, 2),
        DEVICE_AWAY: False,
        STOCHASTIC: floor(rest * 2**32) > draw,
    }[mode]
    return whole + up


@pytest.mark.parametrize("index", range(3))
def test_the_stochastic_threshold_is_the_upper_half_of_splitmix64(run: Callable[[Any], Any], index: int) -> None:
    draw = run(rounding.draw_at)
    assert int(draw(0, index)) == SPLITMIX64[index] >> 32
    assert int(draw(index, 0)) == SPLITMIX64[index] >> 32


def test_a_seed_wraps_around() -> None:
    assert rounding.draw_at(-1, 1) == rounding.draw_at(2**64 - 1, 1) == SPLITMIX64[0] >> 32


@pytest.mark.parametrize(
    ("code", "mode"), [*enumerate([RNE, RTZ, RPI, RMI, DEVICE_AWAY, DEVICE_AWAY, DEVICE_AWAY, DEVICE_AWAY])]
)
def test_leaf_modes_beyond_the_fourth_truncate(run: Callable[[Any], Any], code: int, mode: int) -> None:
    assert run(rounding.leaf_mode)(code) == mode


@given(
    st.integers(0, 2**31 - 1),
    st.integers(0, 31),
    st.integers(0, 1),
    st.sampled_from(sorted(MODES.values())),
    st.integers(0, 2**32 - 1),
)
def test_32_bits_against_exact_integers(significand: int, count: int, sign: int, mode: int, draw: int) -> None:
    expected = exact(Fraction(significand, 2**count), sign, mode, draw)
    assert rounding.rounded(significand, count, sign, mode, draw) == expected


@given(
    st.integers(0, 2**63 - 1),
    st.integers(0, 63),
    st.integers(0, 1),
    st.sampled_from([RNE, RTZ, RPI, RMI, RNA, DEVICE_AWAY]),
)
def test_64_bits_against_exact_integers(significand: int, count: int, sign: int, mode: int) -> None:
    expected = exact(Fraction(significand, 2**count), sign, mode)
    assert rounding.rounded64(significand, count, sign, mode, 0) == expected


@pytest.mark.parametrize("mode", sorted(MODES.values()))
def test_ties_and_their_neighbours(run: Callable[[Any], Any], mode: int) -> None:
    rounded, rounded64 = run(rounding.rounded), run(rounding.rounded64)
    for whole in (0, 1, 2, 3, 0x3FF, 0x400):
        for rest in (0, 1, 7, 8, 9, 15):
            for sign in (0, 1):
                significand = whole << 4 | rest
                expected = exact(Fraction(significand, 16), sign, mode, 0x80000000)
                args = (np.uint32(4), np.uint32(sign), mode, np.uint32(0x80000000))
                assert int(rounded(np.uint32(significand), *args)) == expected
                wide = (np.uint64(4), np.uint64(sign), mode, np.uint64(0x80000000))
                if mode != STOCHASTIC:
                    assert int(rounded64(np.uint64(significand), *wide)) == expected


@given(
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
)
def test_a_sum_rounded_to_odd_keeps_what_it_lost(a: float, b: float) -> None:
    bits = rounding.odd_sum(a, b)
    total = Fraction(a) + Fraction(b)
    found = Fraction(float(np.uint64(bits).view(np.float64)))
    if found == total:
        return
    assert bits & 1
    neighbours = [Fraction(float(np.uint64(bits + step).view(np.float64))) for step in (-1, 1)]
    assert min(neighbours) < total < max(neighbours)
