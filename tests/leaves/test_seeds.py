"""Seeds: the two tables, their error, and their special values."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.isa.lanes.seeds import RECIPROCAL, ROOT

FLOAT = {16: np.float16, 32: np.float32}
each_width = pytest.mark.parametrize("width", [16, 32])


def test_tables_follow_their_formula_but_for_one_entry_each():
    exact = [256 / (1 + (i + 0.5) / 128) for i in range(128)]
    assert [i for i in range(128) if RECIPROCAL[i] != round(exact[i])] == [127]
    assert RECIPROCAL[127] == 0x81
    exact = [256 / math.sqrt(2 * (1 + (j + 0.5) / 64)) for j in range(64)]
    exact += [256 / math.sqrt(1 + (j + 0.5) / 64) for j in range(64)]
    assert [j for j in range(128) if ROOT[j] != round(exact[j])] == [13]
    assert ROOT[13] == 0xA5


def finite(width, bits):
    if width == 16:
        codes = np.arange(1, 0x7C00, dtype=np.uint16)
    else:
        codes = np.concatenate([[1, 2, 0x7FFFFF, 0x800000, 0x7F7FFFFF], bits.integers(1, 0x7F800000, 3000)]).astype(
            np.uint32
        )
    return codes, codes.view(FLOAT[width]).astype(np.float64)


@each_width
def test_seeds_are_close(width, bits, compiled):
    codes, x = finite(width, bits)
    f = f"{width}f"
    with np.errstate(over="ignore", divide="ignore"):
        for name, exact in (("recip0_1_1", 1 / x), ("rsqrt0_1_1", 1 / np.sqrt(x))):
            seed = gp.leaf(f"{name}_{f}_{f}", compiled=compiled)(codes).view(FLOAT[width]).astype(np.float64)
            reachable = np.isfinite(exact.astype(FLOAT[width])) & np.isfinite(seed)
            assert np.max(np.abs(seed / exact - 1)[reachable]) < 2**-6.9
            assert np.all(seed[~reachable] > 0.99 * np.finfo(FLOAT[width]).max)
    negative = gp.leaf(f"recip0_1_1_{f}_{f}", compiled=compiled)(codes.astype(np.int64) | 1 << (width - 1))
    assert np.array_equal(negative, gp.leaf(f"recip0_1_1_{f}_{f}")(codes).astype(np.int64) | 1 << (width - 1))


@each_width
def test_fraction_seeds_stand_between_a_half_and_one(width, bits, compiled):
    codes, x = finite(width, bits)
    f = f"{width}f"
    fraction, exponent = np.frexp(x)  # fraction in [1/2, 1): x = 2 fraction x 2^(exponent - 1)
    root = gp.leaf(f"sqrt0_{f}_{f}", compiled=compiled)(codes).view(FLOAT[width]).astype(np.float64)
    even = np.where((exponent - 1) % 2 == 0, 2 * fraction, 4 * fraction)
    assert np.max(np.abs(root * np.sqrt(even) - 1)) < 2**-6.9
    assert root.min() >= 0.5
    assert root.max() < 1
    divided = gp.leaf(f"div0_{f}_{f}", compiled=compiled)(codes).view(FLOAT[width]).astype(np.float64)
    halved = np.where((exponent - 1) % 2 == 0, 1, 0.5)
    assert np.max(np.abs(divided * 2 * fraction / halved - 1)) < 2**-6.9


@each_width
def test_special_values(width):
    f = f"{width}f"
    infinity, sign, quiet = (0x7C00, 0x8000, 0x7E00) if width == 16 else (0x7F800000, 0x80000000, 0x7FC00000)
    recip, root = gp.leaf(f"recip0_1_1_{f}_{f}"), gp.leaf(f"rsqrt0_1_1_{f}_{f}")
    assert [int(recip(x)) for x in (0, sign, infinity, infinity | sign)] == [infinity, infinity | sign, 0, sign]
    assert recip(quiet | sign) == recip(quiet) | sign
    assert (root(0), root(infinity)) == (infinity, 0)
    assert int(root(sign | 1)) > infinity | sign  # a NaN
    for x in (sign, sign | infinity, quiet):
        with pytest.raises(gp.Unsupported):
            root(x)
    for name in ("sqrt0", "div0"):
        for x in (0, sign, sign | 1, infinity, quiet):
            with pytest.raises(gp.Unsupported):
                gp.leaf(f"{name}_{f}_{f}")(x)


def test_the_two_flags_are_not_made_up():
    assert gp.leaf("recip0_nxf16").leaf.unpublished == ("flag0", "flag1")
    assert gp.leaf("recip0_nxf16")(0x3C00, flags=True) == (0x3BF8, {})
