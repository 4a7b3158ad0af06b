"""Every leaf value that the published pages print, and what became of the readings that lost."""

from __future__ import annotations

import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.isa.leaves import find, prefix_scan


def lanes(*head, fill=0, count=32, dtype=np.uint16):
    values = np.full(count, fill, np.int64)
    values[: len(head)] = head
    return values.astype(dtype)


MINUS_1, MINUS_1000 = 0xFFFF, 0xFC18


# CrossLaneReduce, 5.1 and 5.2


@pytest.mark.parametrize(
    ("name", "v", "printed"),
    [
        pytest.param("radd_nx16", lanes(fill=1), 32, id="radd of ones"),
        pytest.param("radd_nx16", lanes(fill=0x7FFF), 1048544, id="radd of the maximum"),
        pytest.param("radd_nx16", lanes(fill=0x8000), -1048576 & 0xFFFFFFFF, id="radd of the minimum"),
        pytest.param("radd_nx16", lanes(100, -50), 50, id="radd of 100 and -50"),
        pytest.param("raddu_nx16", lanes(fill=0xFFFF), 0x1FFFE0, id="raddu of ffff"),
        pytest.param("radds_nx16", lanes(fill=0x7FFF), 0x7FFF, id="radds of the maximum"),
        pytest.param("radds_nx16", lanes(fill=0x8000), 0x8000, id="radds of the minimum"),
        pytest.param("radds_nx16", lanes(100, -50), 0x0032, id="radds of 100 and -50"),
        pytest.param("radd_2nx8", lanes(fill=127, count=64, dtype=np.uint8), 8128, id="8 bits widen"),
        pytest.param("radd_n_2x32", lanes(fill=0x10000000, count=16, dtype=np.uint32), 0, id="32 bits wrap"),
    ],
)
def test_sums(name, v, printed, compiled):
    assert gp.leaf(name, compiled=compiled)(v) == printed


def test_radds_is_the_clamp_where_the_page_calls_it_a_sign_and_magnitude_pack():
    radds = gp.leaf("radds_nx16")
    assert radds(lanes(-50)) == 0xFFCE  # the pack would give 8032
    assert radds(lanes(-1)) == 0xFFFF
    note = find("radds_nx16").note
    assert "sign-and-magnitude" in note
    assert "8032" in note


# CrossLaneReduce, 5.3


@pytest.mark.parametrize(
    ("name", "v", "printed"),
    [
        ("rmax_nx16", lanes(MINUS_1, 1, fill=MINUS_1000), 0x0001),
        ("rmaxu_nx16", lanes(MINUS_1, 1, fill=MINUS_1000), 0xFFFF),
        ("rmin_nx16", lanes(MINUS_1, 1, fill=MINUS_1000), MINUS_1000),
        ("rmax_nx16", lanes(0x8000, 1), 0x0001),
        ("rmaxu_nx16", lanes(0x8000, 1), 0x8000),
    ],
)
def test_extrema_over_the_same_bits(name, v, printed, compiled):
    assert gp.leaf(name, compiled=compiled)(v) == printed


# CrossLaneReduce, 5.4; Formal Semantics II, 1.4


@pytest.mark.parametrize(
    ("word", "all_true", "any_true"),
    [
        (0xFFFFFFFFFFFFFFFF, 1, 1),
        (0x5555555555555555, 1, 1),
        (0xAAAAAAAAAAAAAAAA, 0, 0),
        (0, 0, 0),
        (3, 0, 1),
        (1, 0, 1),
    ],
)
def test_predicate_folds_look_at_the_low_bit_of_each_pair(word, all_true, any_true, compiled):
    assert gp.leaf("randbn", compiled=compiled)(word) == all_true
    assert gp.leaf("rorbn", compiled=compiled)(word) == any_true


def test_the_whole_word_reading_of_the_predicate_folds_is_named():
    assert "whole word" in find("randbn").note


# CrossLaneReduce, 5.5


def test_winners_are_the_whole_tie_set_where_one_page_says_lower_index():
    winners, best = gp.leaf("rbmax_nx16")(lanes(0, 0, 0x200, 0, 0x200))
    assert (int(best), int(winners)) == (0x200, (3 << 4) | (3 << 8))
    assert "lower index" in find("rbmax_nx16").note


@pytest.mark.parametrize(
    ("x", "position", "winners", "best"),
    [
        pytest.param(9, 4, 1 << 4, 9, id="better replaces"),
        pytest.param(5, 4, 0b101 | (1 << 4), 5, id="equal joins"),
        pytest.param(0xFFFF, 4, 0b101, 5, id="worse changes nothing"),
    ],
)
def test_one_step_of_the_fold(x, position, winners, best, compiled):
    found = gp.leaf("rbmax_16", compiled=compiled)(5, 0b101, x, position)
    assert tuple(int(one) for one in found) == (winners, best)


# Formal Semantics II, 1.4


@pytest.mark.parametrize(("predicate", "kill", "live"), [(0, 0xFFFF, 0), (1, 0, 0xFFFF)])
def test_kill_masks(predicate, kill, live, compiled):
    assert gp.leaf("bitkillt_16_2", compiled=compiled)(predicate) == kill
    assert gp.leaf("bitkillf_16_2", compiled=compiled)(predicate) == live


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("andb", 0x00F000F0AAAA0000),
        ("orb", 0xFFF0FFF0FFFF5555),
        ("xorb", 0xFF00FF0055555555),
        ("andnotb", 0xF000F00000005555),
    ],
)
def test_64_bit_algebra(name, printed, compiled):
    a, b = 0xF0F0F0F0AAAA5555, 0x0FF00FF0FFFF0000
    assert gp.leaf(name, compiled=compiled)(a, b) == printed
    assert gp.leaf("notb", compiled=compiled)(a) == 0x0F0F0F0F5555AAAA


@pytest.mark.parametrize(
    ("a", "b", "signed", "unsigned"),
    [(0xFFFF, 0x0001, 3, 0), (0x0001, 0xFFFF, 0, 3), (0x8000, 0x7FFF, 3, 0)],
)
def test_int16_compares(a, b, signed, unsigned, compiled):
    assert gp.leaf("lt_nx16", compiled=compiled)(a, b) == signed
    assert gp.leaf("ltu_nx16", compiled=compiled)(a, b) == unsigned
    assert gp.leaf("eq_nx16", compiled=compiled)(a, b) == 0


# Formal Semantics II, 2.7


@pytest.mark.parametrize(
    ("mode", "even", "odd"),
    [
        ("RNE", 0x3C00, 0x3C02),
        ("RTZ", 0x3C00, 0x3C01),
        ("RPI", 0x3C01, 0x3C02),
        ("RMI", 0x3C00, 0x3C01),
        pytest.param(4, 0x3C00, 0x3C01, id="away"),
    ],
)
def test_two_ties_of_the_narrow_in_five_modes(mode, even, odd, compiled):
    narrow = gp.leaf("cvtf16_n_2xf32", compiled=compiled)
    assert (narrow(0x3F801000, mode=mode), narrow(0x3F803000, mode=mode)) == (even, odd)


def test_code_4_truncates_and_its_name_away_is_on_record():
    tie = 0x3F801000
    assert gp.leaf("cvtf16_n_2xf32")(tie, mode=4) == gp.leaf("cvtf16_n_2xf32")(tie, mode="RTZ")
    away = {"op": "convert", "from": "fp32", "to": "fp16", "mode": "RNA", "inputs": ["3f801000"], "expected": ["3c01"]}
    about = {"group": "tie", "level": "format", "origin": "derived", "checked": False, "source": "ties away"}
    assert gp.check_vectors({"schema": 2, "vector": [away | about]}).ok
    for name in ("cvtf16_n_2xf32", "add_nxf16"):
        assert "away" in find(name).note


@pytest.mark.parametrize(
    ("x", "printed"),
    [(2.5, (3, 2, 3, 2)), (-2.5, (-2, -3, -3, -2)), (3.5, (4, 3, 4, 3))],
)
@pytest.mark.parametrize(("form", "dtype"), [("n_2xf32", np.float32), ("nxf16", np.float16)])
def test_integral_rounds(x, printed, form, dtype, compiled):
    names = ("ficeil", "fifloor", "firound", "fitrunc")
    assert tuple(gp.leaf(f"{name}_{form}", compiled=compiled)(dtype(x)) for name in names) == printed


# Formal Semantics II, 3.4


@pytest.mark.parametrize("amount", [0, 16, 32, 48])
def test_align_funnel(amount, compiled):
    words = np.arange(0x10, 0x20, dtype=np.uint32)
    found = gp.leaf("wideldshift_128", compiled=compiled)(words, amount)
    assert found.tolist() == [0x10 + amount // 4 + k for k in range(4)]


@pytest.mark.parametrize(("amount", "printed"), [(0, 0x12345678), (4, 0x81234567), (8, 0x78123456), (16, 0x56781234)])
def test_element_rotate(amount, printed, compiled):
    assert gp.leaf("rotr_s_32_32_5", compiled=compiled)(0x12345678, amount) == printed


# Formal Semantics II, 3.3 and 2.5: readings that lost


def test_the_closed_rotation_without_a_mask_is_no_prefix_but_the_total():
    v = np.arange(1, 33, dtype=np.uint16)
    assert prefix_scan("add_nx16", v, masked=False).tolist() == [528] * 32
    assert prefix_scan("add_nx16", v).tolist() == np.cumsum(v).tolist()
    assert "no prefix" in find("rotlanes_nx16").note


def test_maddn_adds_the_product_where_one_page_calls_it_negated():
    one, two, three = (np.float16(x) for x in (1, 2, 3))
    assert gp.leaf("maddn_nxf16")(one, two, three) == 7
    assert gp.leaf("msubn_nxf16")(one, two, three) == -5
    assert "negated" in find("maddn_nxf16").note


def test_pack_with_shift_0_adds_8000_and_says_that_another_reading_adds_nothing():
    assert gp.leaf("pack")(0x00000001, 0) == 0x8001
    assert "adds nothing" in find("pack").note
