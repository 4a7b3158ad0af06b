"""Whole registers: folds, selection, windows, rotation and scans."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import gpsimd_core as gp
from gpsimd_core.isa.leaves import prefix_scan
from gpsimd_core.isa.leaves.operands import pack_word, unpack_word

few = settings(max_examples=25, deadline=None)

FORMS = {"2nx8": (64, 8), "nx16": (32, 16), "n_2x32": (16, 32)}
EXTREMA = {"max": (True, max), "min": (True, min), "maxu": (False, max), "minu": (False, min)}


def registers(form):
    lanes, bits = FORMS[form]
    few = st.sampled_from([0, 1, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1])  # so that ties occur
    return arrays(f"u{bits // 8}", lanes, elements=st.one_of(few, st.integers(0, (1 << bits) - 1)))


def masks(form):
    return arrays(bool, FORMS[form][0])


def signed(v):
    return v.view(f"i{v.itemsize}").tolist()


each_form = pytest.mark.parametrize("form", FORMS)


@each_form
@few
@given(data=st.data())
def test_sums_are_exact_and_free_of_order(form, data):
    v, order = data.draw(registers(form)), data.draw(st.permutations(range(FORMS[form][0])))
    width = 16 if form == "2nx8" else 32
    for name, exact in (("radd", sum(signed(v))), ("raddu", sum(v.tolist()))):
        leaf = gp.leaf(f"{name}_{form}", compiled=False)
        assert leaf(v) == leaf(v[order]) == exact % (1 << width)


@few
@given(v=registers("nx16"))
def test_the_saturating_sum_clamps_once(v):
    exact = min(max(sum(signed(v)), -32768), 32767)
    assert gp.leaf("radds_nx16", compiled=False)(v) == exact % (1 << 16)


@each_form
@few
@given(data=st.data())
def test_dead_lanes_do_not_exist(form, data):
    v, noise, keep = data.draw(registers(form)), data.draw(registers(form)), data.draw(masks(form))
    noisy = np.where(keep, v, noise)
    for name in ("radd", "raddu", "rmax", "rmin", "rmaxu", "rminu"):
        leaf = gp.leaf(f"{name}_{form}_t", compiled=False)
        assert leaf(v, keep) == leaf(noisy, keep)
    assert gp.leaf(f"radd_{form}_t", compiled=False)(v, keep) == sum(signed(v[keep])) % (
        1 << (16 if form == "2nx8" else 32)
    )


@each_form
@few
@given(data=st.data())
def test_winners_are_exactly_the_set_of_extrema(form, data):
    v = data.draw(registers(form))
    for name, (is_signed, best_of) in EXTREMA.items():
        numbers = signed(v) if is_signed else v.tolist()
        best = best_of(numbers)
        winners, value = gp.leaf(f"rb{name}_{form}", compiled=False)(v)
        assert unpack_word(winners, len(v)).tolist() == [number == best for number in numbers]
        assert winners == pack_word([number == best for number in numbers])  # whole fields
        assert value == gp.leaf(f"r{name}_{form}", compiled=False)(v) == best % (1 << (8 * v.itemsize))


@each_form
def test_without_a_lane_an_integer_fold_gives_its_identity(form):
    lanes, bits = FORMS[form]
    v, none = np.arange(lanes), np.zeros(lanes, bool)
    top, last = 1 << (bits - 1), (1 << bits) - 1
    for name, identity in (
        ("radd", 0),
        ("rmax", top),
        ("rmin", top - 1),
        ("rmaxu", 0),
        ("rminu", last),
    ):
        assert gp.leaf(f"{name}_{form}_t")(v, none) == identity


@few
@given(items=st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_the_step_folds_to_the_whole_tie_set(items):
    step = gp.leaf("rbmaxu_16", compiled=False)
    winners, best = 1, items[0]
    for position, item in enumerate(items[1:], 1):
        winners, best = step(best, winners, item, position)
    assert best == max(items)
    assert int(winners) == sum(1 << k for k, item in enumerate(items) if item == max(items))


# Scans


@each_form
@pytest.mark.parametrize(("op", "serial"), [("add", np.add), ("max", np.maximum), ("min", np.minimum)])
def test_a_masked_step_scan_is_the_serial_scan(op, serial, form, bits, compiled):
    lanes, width = FORMS[form]
    v = bits.integers(0, 1 << width, (20, lanes), np.uint64).astype(f"u{width // 8}")
    found = prefix_scan(f"{op}_{form}", v, compiled=compiled)
    expected = serial.accumulate(v.view(f"i{width // 8}"), axis=-1, dtype=f"i{width // 8}")
    assert np.array_equal(found.view(f"i{width // 8}"), expected)


@each_form
def test_a_scan_by_closed_rotation_leaves_the_total_everywhere(form, bits):
    lanes, width = FORMS[form]
    v = bits.integers(0, 1 << width, (3, lanes), np.uint64).astype(f"u{width // 8}")
    found = prefix_scan(f"add_{form}", v, masked=False)
    total = v.sum(axis=-1, dtype=v.dtype, keepdims=True)
    assert np.array_equal(found, np.broadcast_to(total, v.shape))


@pytest.mark.parametrize("name", ["radd_nx16", "bmax_nx16", "andb"])
def test_a_scan_needs_a_leaf_of_two_lanes(name):
    with pytest.raises(gp.BadValue, match="does not combine two lanes into one"):
        prefix_scan(name, np.zeros(32, np.uint16))


@each_form
@few
@given(data=st.data())
def test_lane_rotations_compose(form, data):
    v = data.draw(registers(form))
    n, m = data.draw(st.integers(0, 100)), data.draw(st.integers(0, 100))
    rotate = gp.leaf(f"rotlanes_{form}", compiled=False)
    assert np.array_equal(rotate(v, n), np.roll(v, -n))
    assert np.array_equal(rotate(rotate(v, n), m), rotate(v, n + m))


# Selection


@each_form
def test_selection_wraps_at_the_number_of_candidates(form, bits, compiled):
    lanes, width = FORMS[form]
    a, b, ctrl = bits.integers(0, 1 << width, (3, 10, lanes), np.uint64).astype(f"u{width // 8}")
    at = ctrl.astype(np.int64)
    pool = np.concatenate([b, a], axis=-1)
    chosen = gp.leaf(f"sel_{form}", compiled=compiled)(a, b, ctrl)
    assert np.array_equal(chosen, np.take_along_axis(pool, at % (2 * lanes), -1))
    shuffled = gp.leaf(f"shfl_{form}", compiled=compiled)(a, ctrl)
    assert np.array_equal(shuffled, np.take_along_axis(a, at % lanes, -1))


@each_form
def test_one_lane_everywhere_and_one_lane_out(form, bits, compiled):
    lanes, width = FORMS[form]
    v = bits.integers(0, 1 << width, lanes, np.uint64).astype(f"u{width // 8}")
    for k in (0, 1, lanes - 1, lanes, 3 * lanes + 2, 0xFFFFFFFF):
        lane = int(v[k % lanes])
        assert gp.leaf(f"rep_{form}", compiled=compiled)(v, k).tolist() == [lane] * lanes
        extended = lane - (1 << 16) if width == 16 and lane >> 15 else lane
        assert gp.leaf(f"extr_{form}", compiled=compiled)(v, k) == extended % (1 << 32)
        assert gp.leaf(f"extrpr_{form}", compiled=compiled)(v, k) == lane


def test_64_bit_lanes_out(bits):
    v = bits.integers(0, 1 << 64, 8, np.uint64)
    assert [int(gp.leaf("extrpr64_n_4x64")(v, k)) for k in range(10)] == [int(v[k % 8]) for k in range(10)]


@few
@given(v=registers("2nx8"), keep=masks("2nx8"))
def test_compression(v, keep):
    expected = np.full(64, v[63])
    expected[keep] = v[: keep.sum()]
    assert np.array_equal(gp.leaf("dcmprs_2nx8", compiled=False)(v, keep), expected)


def test_windows_at_every_byte(bits, compiled):
    words = bits.integers(0, 1 << 32, 16, np.uint32)
    line = words.tobytes() + bytes(80)
    found = gp.leaf("extrvr_n_2x32_32_512_32", compiled=compiled)(words, np.arange(80))
    assert found.tolist() == [int.from_bytes(line[k : k + 4], "little") for k in range(80)]
    assert gp.leaf("extrvr_n_2x32", compiled=compiled)(words, 0xFFFFFFFF) == 0


def test_the_funnel_at_every_amount(bits, compiled):
    words = bits.integers(0, 1 << 32, 16, np.uint32)
    amounts = np.arange(64)
    quads = gp.leaf("wideldshift_128_512_6", compiled=compiled)(words, amounts)
    assert quads.tolist() == [words[4 * (n // 16) : 4 * (n // 16) + 4].tolist() for n in range(64)]
    halves = gp.leaf("wideldshift_16_512_6", compiled=compiled)(words.view(np.uint16), amounts)
    assert halves.tolist() == words.view(np.uint16)[amounts // 2].tolist()


# Predicates


@pytest.mark.parametrize(("suffix", "lanes"), [("n", 32), ("2n", 64), ("n_2", 16)])
def test_first_lanes(suffix, lanes, compiled):
    plain, of_signed = gp.leaf(f"ltr{suffix}", compiled=compiled), gp.leaf(f"ltrs{suffix}", compiled=compiled)
    for count in range(3 * lanes):
        assert unpack_word(plain(count), lanes).tolist() == [k < count % lanes for k in range(lanes)]
        assert unpack_word(of_signed(count), lanes).tolist() == [k < count % 64 for k in range(lanes)]
    assert of_signed(0xFFFFFFFF) == of_signed(0x80000000) == 0


@pytest.mark.parametrize(("suffix", "lanes"), [("n", 32), ("2n", 64), ("n_2", 16)])
def test_predicate_folds_in_every_width(suffix, lanes, bits, compiled):
    words = [0, (1 << 64) - 1, *bits.integers(0, 1 << 64, 20, np.uint64).tolist()]
    words += [int(pack_word(np.arange(lanes) != k)) for k in (0, lanes - 1)]
    words += [int(pack_word(np.arange(lanes) == k)) for k in (0, lanes - 1)]
    for word in words:
        truth = unpack_word(word, lanes)
        assert gp.leaf(f"randb{suffix}", compiled=compiled)(word) == truth.all()
        assert gp.leaf(f"rorb{suffix}", compiled=compiled)(word) == truth.any()


@pytest.mark.parametrize(
    ("name", "lanes", "width"), [("predflag2t", 32, 2), ("predflag4t", 16, 4), ("predflag8t", 8, 8)]
)
def test_fields_lie_side_by_side(name, lanes, width, bits, compiled):
    fields = bits.integers(0, 1 << width, lanes)
    expected = sum(int(field) << (k * width) for k, field in enumerate(fields))
    assert gp.leaf(name, compiled=compiled)(fields) == expected


@pytest.mark.parametrize("name", ["popc_8_8", "popc16_5_16", "popc32_6_32", "popc64_7_64"])
def test_population(name, bits, compiled):
    leaf = gp.leaf(name, compiled=compiled)
    width = leaf.leaf.args[0].bits
    values = np.array([0, (1 << width) - 1, 1 << (width - 1)], np.uint64)
    values = np.concatenate([values, bits.integers(0, 1 << width, 20, np.uint64)])
    assert leaf(values).tolist() == [x.bit_count() % (1 << leaf.leaf.results[0].bits) for x in values.tolist()]


def test_one_bit_logic_and_fields(compiled):
    for a, b in itertools.product((0, 1), (0, 1)):
        assert gp.leaf("andnotb1", compiled=compiled)(a, b) == (a & ~b & 1)
        assert gp.leaf("ornotb1", compiled=compiled)(a, b) == (a | (~b & 1))
        assert gp.leaf("ornotb", compiled=compiled)(a, b) == (a | ((1 << 64) - 1 - b))
    for name, width, field in (("extbi_1_8_32", 8, 1), ("extbi_2_16_32", 16, 3), ("extbi_4_32_32", 32, 15)):
        found = gp.leaf(name, compiled=compiled)(0x96, np.arange(width))
        assert found.tolist() == [field * (0x96 >> k & 1) for k in range(width)]
    for name, width in (("injbi_8_8_1_32", 8), ("injbi_16_16_2_32", 16), ("injbi_32_32_4_32", 32)):
        for k in range(2 * width):
            expected = (0x96 & ~(1 << (k % width))) | (1 << (k % width))
            assert gp.leaf(name, compiled=compiled)(0x96, 1, k) == expected


def test_conditional_moves_test_one_register(compiled):
    ar = np.array([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], np.uint32)
    for name, truth in (
        ("eqz", ar == 0),
        ("nez", ar != 0),
        ("gez", ar < 0x80000000),
        ("ltz", ar >= 0x80000000),
    ):
        assert gp.leaf(f"bitkill_mov{name}", compiled=compiled)(ar).tolist() == truth.astype(int).tolist()


def test_status_bits_close_their_gap(compiled):
    leaf = gp.leaf("movscfv", compiled=compiled)
    moved = {source: int(leaf(1 << source)) for source in range(32)}
    assert {source: value.bit_length() - 1 for source, value in moved.items() if value} == {
        **{source: source - 2 for source in range(2, 7)},
        **{source: source - 3 for source in range(8, 15)},
    }
