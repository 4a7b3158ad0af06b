"""Calling leaves: batches, dtypes in and out, predicates, wide values, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.isa.leaves.operands import pack_word, unpack_word


def test_lanes_of_any_count_of_registers(bits):
    v = bits.integers(0, 1 << 16, (3, 5, 32), np.uint16)
    assert gp.leaf("radd_nx16")(v).shape == (3, 5)
    assert gp.leaf("rep_nx16")(v, 3).shape == v.shape
    assert gp.leaf("rep_nx16")(v[0, 0], np.arange(7)).shape == (7, 32)
    assert gp.leaf("add_nx16")(v, 1).shape == v.shape
    assert gp.leaf("radd_nx16")(np.empty((0, 32), np.uint16)).shape == (0,)


@pytest.mark.parametrize(
    ("name", "operand", "dtype", "value"),
    [
        pytest.param("neg_16_16", np.uint16(1), np.uint16, 0xFFFF, id="patterns"),
        pytest.param("neg_16_16", np.int16(1), np.int16, -1, id="signed in, signed out"),
        pytest.param("neg_16_16", 1, np.uint16, 0xFFFF, id="python integer"),
        pytest.param("neg_16_16", -1, np.uint16, 1, id="negative python integer"),
        pytest.param("neg_16f_16f", np.float16(1), np.float16, -1, id="fp16"),
        pytest.param("neg_32f_32f", 1.5, np.uint32, 0xBFC00000, id="python float, exact"),
        pytest.param("cvtf32_nxf16", np.float16(1.5), np.float32, 1.5, id="fp16 to fp32"),
        pytest.param("clsfy_nxf16", np.float16(1.5), np.uint8, 0x88, id="a class is no number"),
        pytest.param("decnegw_24_24", np.int32(-(1 << 23)), np.int32, (1 << 23) - 1, id="24 bits, signed"),
    ],
)
def test_element_types(name, operand, dtype, value):
    found = gp.leaf(name)(operand)
    assert (found.dtype, found) == (dtype, value)


def test_a_signalling_nan_survives_the_passage_through_arrays():
    assert gp.leaf("mov_32f_32f")(np.uint32(0x7FA00001)) == 0x7FA00001
    assert gp.leaf("neg_nxf16")(np.array([0x7D00], np.uint16).view(np.float16)).view(np.uint16) == 0xFD00


def test_flags_come_when_asked_for():
    value, flags = gp.leaf("add_n_2xf32")(0x7F800000, 0xFF800000, flags=True)
    assert value == 0x7FC00000
    assert {name: int(flag) for name, flag in flags.items()} == {"inexact": 0, "overflow": 0, "invalid": 1}
    assert gp.leaf("radd_nx16")(np.arange(32), flags=True) == (496, {})


def test_a_mode_is_a_name_or_a_code_and_one_for_each_lane():
    add = gp.leaf("add_nxf16")
    assert add(0x6400, 0x3800, mode="RPI") == add(0x6400, 0x3800, 2) == 0x6401
    assert add(0x6400, 0x3800) == 0x6400
    narrow = gp.leaf("cvtf16_1_1_1_1_16f_32f_2")
    assert narrow(0x3F803000, mode=np.arange(8)).tolist() == [0x3C02, 0x3C01, 0x3C02, *[0x3C01] * 5]


def test_predicates_are_words_or_booleans():
    v = np.arange(32)
    keep = np.zeros(32, bool)
    keep[[1, 4]] = True
    assert gp.leaf("radd_nx16_t")(v, keep) == gp.leaf("radd_nx16_t")(v, pack_word(keep)) == 5
    assert pack_word(keep) == (3 << 2) | (3 << 8)
    assert np.array_equal(unpack_word(pack_word(keep), 32), keep)
    assert gp.leaf("radd_nx16_t")(v, 1 << 3) == 0  # the upper bit of a field counts for nothing


def test_wide_values_are_words_or_python_integers():
    mula = gp.leaf("mula_n_2x32")
    acc = (1 << 95) - 1
    words = np.array([0xFFFFFFFF, 0xFFFFFFFF, 0x7FFFFFFF], np.uint32)
    assert mula(acc, 1, 1).tolist() == mula(words, 1, 1).tolist() == [0, 0, 0x80000000]
    assert gp.leaf("mula_96_96_32_32")(np.stack([words, words]), 1, np.array([1, 0])).tolist() == [
        [0, 0, 0x80000000],
        words.tolist(),
    ]
    assert mula(-1, 1, 1).tolist() == [0, 0, 0]


def test_512_bits_come_in_any_cut(bits):
    a, b = bits.integers(0, 256, (2, 4, 64), np.uint8)
    bytes_ = gp.leaf("and_2nx8")(a, b)
    assert np.array_equal(bytes_, a & b)
    halves = gp.leaf("and_2nx8")(a.view(np.uint16), b.view(np.uint16))
    assert halves.dtype == np.uint16
    assert np.array_equal(halves.view(np.uint8), a & b)


def test_a_merge_never_zero_fills(bits):
    fresh, old = bits.integers(0, 1 << 16, (2, 32), np.uint16)
    keep = bits.integers(0, 2, 32).astype(bool)
    kill = gp.leaf("bitkillt_nx16")(keep)
    assert np.array_equal(gp.leaf("merge_t")(fresh, old, kill), np.where(keep, fresh, old))


@pytest.mark.parametrize(
    ("name", "operands", "message"),
    [
        ("add_nx16", ([1, 2, 3], 1), r"a has 3 lanes, nx16 has 32; add_16_16_16 takes single lanes"),
        ("radd_nx16", ([1, 2, 3],), r"v has 3 lanes; 32 lanes are needed"),
        ("radd_nx16", (5,), r"v has a single value; 32 lanes are needed"),
        ("add_16_16_16", (0x10000, 1), r"a: 65536 \(0x10000\) does not fit 16 bits"),
        ("add_16_16_16", (-0x8001, 1), r"does not fit 16 bits"),
        ("add_16_16_16", (1,), r"takes a, b; b is missing"),
        ("add_16_16_16", (1, 2, 3), r"takes 2 operands, got 3"),
        ("add_16_16_16", (1.5, 1), r"a is an integer of 16 bits, got float64"),
        ("add_16_16_16", ("x", 1), r"a is a number of 16 bits"),
        ("add_nxf16", (0.1, 1.0), r"0.1 is not an fp16 number"),
        ("add_nxf16", (1e9, 1.0), r"is not an fp16 number"),
        ("add_16_16_16", ([1, 2], [1, 2, 3]), r"shapes do not broadcast: a \(2,\), b \(3,\)"),
        ("radd_nx16_t", (np.zeros(32), np.zeros(16, bool)), r"v is an integer of 16 bits, got float64"),
        ("radd_nx16_t", (np.arange(32), np.zeros(16, bool)), r"a predicate is a uint64 word or 32 booleans"),
        ("and_2nx8", (1, 2), r"an array whose last axis holds 64 bytes"),
        ("mula_n_2x32", (1 << 96, 1, 1), r"does not fit 96 bits"),
        ("ar_clamps", (1, 3), r"imm is 3; allowed: 7 to 22"),
    ],
)
def test_refusals(name, operands, message):
    with pytest.raises(gp.BadValue, match=message):
        gp.leaf(name)(*operands)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"b": 1, "c": 2}, r"has no argument c; it takes a, b"),
        ({"a": 1, "b": 1}, r"a is given twice"),
    ],
)
def test_refusals_of_names(named, message):
    with pytest.raises(gp.BadValue, match=message):
        gp.leaf("add_nx16")(1, **named)


def test_an_unknown_mode_is_refused():
    with pytest.raises(gp.BadValue, match=r"mode is 'RNA'; allowed: RNE, RTZ, RPI, RMI, device_away"):
        gp.leaf("add_nxf16")(1, 1, mode="RNA")


@pytest.mark.parametrize(
    ("name", "operands", "missing"),
    [
        ("rsqrt0_nxf16", (0x8000,), "what -0, -infinity and NaN give was not published"),
        ("sqrt0_nxf16", (0,), "only positive finite numbers have published values"),
        ("div0_32f_32f", (np.array([0x3F800000, 0x7F800000], np.uint32),), "only positive finite"),
        ("extbi_1_8_32", (0x16, 8), "an index beyond the width"),
    ],
)
def test_operands_without_a_published_value(name, operands, missing):
    with pytest.raises(gp.Unsupported, match=missing):
        gp.leaf(name)(*operands)
