"""Products, accumulators and their read-out against Python integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpsimd_core as gp
from gpsimd_core.isa.leaves import find

few = settings(max_examples=25, deadline=None)

SIGNS = {"": (True, True), "su": (True, False), "us": (False, True), "uu": (False, False)}


def signed(x, bits):
    return (x + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def factor(x, width, sign):
    return signed(x, width) if sign else x


def number(found):
    array = np.asarray(found)
    return int(array) if array.ndim == 0 else sum(int(word) << (32 * k) for k, word in enumerate(array))


def edges(width, bits, count):
    top = 1 << (width - 1)
    return [0, 1, top - 1, top, top + 1, 2 * top - 1, *bits.integers(0, 1 << width, count).tolist()]


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize("letters", SIGNS)
def test_products_are_exact(letters, width, bits, compiled):
    leaf = gp.leaf(f"mul{letters}_{3 * width}_{width}_{width}", compiled=compiled)
    sign_a, sign_b = SIGNS[letters]
    for a in edges(width, bits, 6):
        for b in edges(width, bits, 2):
            exact = factor(a, width, sign_a) * factor(b, width, sign_b)
            assert number(leaf(a, b)) == exact % (1 << (3 * width))


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize("letters", SIGNS)
@pytest.mark.parametrize(("suffix", "step"), [("a", 1), ("s", -1)])
def test_accumulators_wrap(suffix, step, letters, width, bits, compiled):
    leaf = gp.leaf(f"mul{letters}{suffix}_{3 * width}_{3 * width}_{width}_{width}", compiled=compiled)
    sign_a, sign_b = SIGNS[letters]
    top = 1 << (3 * width - 1)
    for acc in (0, 1, top - 1, top, 2 * top - 1, 2 * top // 3):
        for a, b in zip(edges(width, bits, 4), reversed(edges(width, bits, 4)), strict=True):
            exact = acc + step * factor(a, width, sign_a) * factor(b, width, sign_b)
            assert number(leaf(acc, a, b)) == exact % (2 * top)


@few
@given(
    parts=st.tuples(*[st.integers(-32768, 32767)] * 4),
    acc=st.tuples(*[st.integers(0, (1 << 48) - 1)] * 2),
    conjugate=st.booleans(),
)
def test_complex_products(parts, acc, conjugate):
    real_a, imaginary_a, real_b, imaginary_b = parts
    a = (real_a & 0xFFFF) | (imaginary_a & 0xFFFF) << 16
    b = (real_b & 0xFFFF) | (imaginary_b & 0xFFFF) << 16
    kind = "32j" if conjugate else "32c"
    if conjugate:
        imaginary_b = -imaginary_b
    exact = (real_a * real_b - imaginary_a * imaginary_b, real_a * imaginary_b + imaginary_a * real_b)
    found = gp.leaf(f"mul_96c_{kind}_32c", compiled=False)(a, b)
    assert [int(part) for part in found] == [part % (1 << 48) for part in exact]
    for root, step in (("mula", 1), ("muls", -1)):
        summed = gp.leaf(f"{root}_96c_96c_{kind}_32c", compiled=False)(*acc, a, b)
        expected = [(old + step * part) % (1 << 48) for old, part in zip(acc, exact, strict=True)]
        assert [int(part) for part in summed] == expected


@few
@given(a=st.integers(0, 0xFFFF), b=st.integers(0, 0xFFFFFFFF), acc=st.integers(0, (1 << 96) - 1))
def test_mixed_width_products_extend_their_sign(a, b, acc):
    exact = signed(a, 16) * signed(b, 32)
    for half in (0, 1):
        words = gp.leaf(f"muln_2x16x32_{half}", compiled=False)(a, b)
        assert number(np.array([int(word) for word in words])) == exact % (1 << 96)
        summed = gp.leaf(f"mulan_2x16x32_{half}", compiled=False)(acc, a, b)
        assert number(summed) == (acc + exact) % (1 << 96)


@pytest.mark.parametrize("width", [8, 16, 32])
def test_squares_and_decrements(width, bits, compiled):
    wide = 3 * width
    square = gp.leaf(f"sqrp_{wide}_{width}_{width}", compiled=compiled)
    for a, b in zip(edges(width, bits, 4), reversed(edges(width, bits, 4)), strict=True):
        assert number(square(a, b)) == (signed(a, width) ** 2 + signed(b, width) ** 2) % (1 << wide)
    decrement = gp.leaf(f"decnegw_{wide}_{wide}", compiled=compiled)
    for acc in (0, 1, (1 << (wide - 1)) - 1, 1 << (wide - 1), (1 << wide) - 1, 5 << (wide - 3)):
        expected = acc - 1 if acc >> (wide - 1) else acc
        assert number(decrement(acc)) == expected % (1 << wide)


def readout(name, acc, amount):
    """The read-out in exact integers: half added, shifted, clamped, as the name says."""
    leaf = find(name)
    wide, narrow = leaf.args[0].bits, leaf.results[0].bits
    shift = min(amount, 23 if narrow == 8 else 32)
    exact = signed(acc, wide)
    if "nr" in name:
        return (exact >> shift) % (1 << narrow)
    rounded = (exact + ((1 << shift) >> 1)) >> shift
    low, high = (0, (1 << narrow) - 1) if "u_" in name else (-(1 << (narrow - 1)), (1 << (narrow - 1)) - 1)
    return min(max(rounded, low), high) % (1 << narrow)


@pytest.mark.parametrize(
    "name",
    [
        *("packvr_8_24_32", "packvr_16_24_32", "packvr_16_48_32", "packvr_32_96_32"),
        *("packv_8_24_8", "packv_16_48_16", "packv_32_96_32_w"),
        *("packvru_8_24_32", "packvru_16_24_32", "packvru_16_48_32", "packvu_8_24_8", "packvu_16_48_16"),
        *("packvrnr_8_24_32", "packvrnr_16_24_32", "packvrnr_16_48_32", "packvnr_8_24_8", "packvnr_16_48_16"),
    ],
)
def test_read_outs(name, bits, compiled):
    leaf = gp.leaf(name, compiled=compiled)
    wide, narrow, amount = find(name).args[0].bits, find(name).results[0].bits, find(name).args[1].bits
    top = 1 << (wide - 1)
    accumulators = [0, 1, top - 1, top, 2 * top - 1, *((1 << k) - 1 for k in range(narrow - 2, wide, 7))]
    accumulators += [-(1 << k) % (2 * top) for k in range(narrow - 2, wide, 7)]
    accumulators += [int.from_bytes(bits.bytes(12), "little") % (2 * top) for _ in range(20)]
    amounts = [0, 1, 2, 7, 8, 16, 22, 23, 24, 31, 32, 33, 63, (1 << amount) - 1]
    for acc in accumulators:
        for shift in (one for one in amounts if one < 1 << amount):
            assert number(leaf(acc, shift)) == readout(name, acc, shift), (hex(acc), shift)


@pytest.mark.parametrize("width", [8, 16, 32])
def test_low_slices(width, bits):
    leaf = gp.leaf(f"packl_{width}_{3 * width}")
    for _ in range(20):
        acc = int.from_bytes(bits.bytes(12), "little") % (1 << (3 * width))
        assert number(leaf(acc)) == acc % (1 << width)


@few
@given(acc=st.integers(0, (1 << 48) - 1), amount=st.integers(0, 40))
def test_pack_reads_31_bits_of_the_low_word(acc, amount):
    half = 1 << ((amount - 1) % 16)
    expected = ((acc % (1 << 32) + half) % (1 << 31)) >> amount & 0xFFFF
    assert gp.leaf("pack", compiled=False)(acc, amount) == expected


@few
@given(acc=st.integers(0, (1 << 48) - 1))
def test_packp_and_packq_wrap_with_and_without_their_suffix(acc):
    for root, shift in (("packp", 10), ("packq", 15)):
        expected = ((signed(acc, 48) + (1 << (shift - 1))) >> shift) % (1 << 16)
        for name in (f"{root}_16_48", f"{root}_16_48_nosat"):
            assert gp.leaf(name, compiled=False)(acc) == expected


@pytest.mark.parametrize(
    ("name", "limit"),
    [("shift_amt_satu_23", 23), ("shift_amt_satu_32", 32), ("shiftamtsat_16", 16), ("shiftamtsat_32", 32)],
)
def test_amounts_are_limited_unsigned(name, limit):
    amounts = [0, 1, limit - 1, limit, limit + 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
    assert gp.leaf(name)(amounts).tolist() == [min(amount, limit) for amount in amounts]
