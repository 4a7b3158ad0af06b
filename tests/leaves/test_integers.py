"""Integer lanes against Python integers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpsimd_core as gp
from gpsimd_core.isa.leaves import find

few = settings(max_examples=25, deadline=None)

EDGES = (-32768, -32767, -1, 0, 1, 32766, 32767)


def signed(x, bits):
    return (x + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def clamped(x, bits):
    return min(max(x, -(1 << (bits - 1))), (1 << (bits - 1)) - 1)


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("eq", lambda a, b: a == b),
        ("neq", lambda a, b: a != b),
        ("lt", lambda a, b: signed(a, 16) < signed(b, 16)),
        ("le", lambda a, b: signed(a, 16) <= signed(b, 16)),
        ("ltu", lambda a, b: a < b),
        ("leu", lambda a, b: a <= b),
    ],
)
def test_int16_compares_on_all_edges_and_100000_random_pairs(name, truth, bits, compiled):
    edges = np.array(list(itertools.product(EDGES, EDGES)))
    pairs = np.concatenate([edges & 0xFFFF, bits.integers(0, 1 << 16, (100_000, 2))])
    found = gp.leaf(f"{name}_2_16_16", compiled=compiled)(pairs[:, 0], pairs[:, 1])
    expected = [3 if truth(a, b) else 0 for a, b in pairs.tolist()]
    assert found.tolist() == expected


TWO = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "adds": lambda a, b, w: clamped(signed(a, w) + signed(b, w), w),
    "subs": lambda a, b, w: clamped(signed(a, w) - signed(b, w), w),
    "abssub": lambda a, b, w: abs(signed(a, w) - signed(b, w)),
    "abssubu": lambda a, b, w: abs(a - b),
    "min": lambda a, b, w: min(signed(a, w), signed(b, w)),
    "max": lambda a, b, w: max(signed(a, w), signed(b, w)),
    "minu": lambda a, b, w: min(a, b),
    "maxu": lambda a, b, w: max(a, b),
    "avg": lambda a, b, w: (signed(a, w) + signed(b, w)) // 2,
    "avgr": lambda a, b, w: (signed(a, w) + signed(b, w) + 1) // 2,
    "avgu": lambda a, b, w: (a + b) // 2,
    "avgru": lambda a, b, w: (a + b + 1) // 2,
    "mulsgn": lambda a, b, w: -b if signed(a, w) < 0 else b,
}
ONE = {
    "neg": lambda a, w: -a,
    "abs": lambda a, w: abs(signed(a, w)),
    "negs": lambda a, w: clamped(-signed(a, w), w),
    "abss": lambda a, w: clamped(abs(signed(a, w)), w),
    "nsa": lambda a, w: w - 1 - max(signed(a, w), ~signed(a, w)).bit_length(),
    "nsau": lambda a, w: w - a.bit_length(),
}
WIDTHS = {
    **dict.fromkeys(TWO, (8, 16, 32)),
    **dict.fromkeys(("neg", "abs"), (8, 16, 32)),
    **dict.fromkeys(("nsa", "nsau"), (16, 32)),
    **dict.fromkeys(("adds", "subs", "negs", "abss", "mulsgn"), (16,)),
}


def patterns(bits, width, count):
    top = 1 << (width - 1)
    edges = [0, 1, 2, top - 1, top, top + 1, 2 * top - 2, 2 * top - 1]
    pairs = np.array(list(itertools.product(edges, edges)))
    return np.concatenate([pairs, bits.integers(0, 1 << width, (count, 2))])


@pytest.mark.parametrize(
    ("name", "width"), [(name, width) for name, widths in WIDTHS.items() if name in TWO for width in widths]
)
def test_two_lanes(name, width, bits, compiled):
    pairs = patterns(bits, width, 500)
    found = gp.leaf(f"{name}_{width}_{width}_{width}", compiled=compiled)(pairs[:, 0], pairs[:, 1])
    assert found.tolist() == [TWO[name](a, b, width) % (1 << width) for a, b in pairs.tolist()]


@pytest.mark.parametrize(
    ("name", "width"), [(name, width) for name, widths in WIDTHS.items() if name in ONE for width in widths]
)
def test_one_lane(name, width, bits, compiled):
    values = patterns(bits, width, 500)[:, 0]
    found = gp.leaf(f"{name}_{width}_{width}", compiled=compiled)(values)
    assert found.tolist() == [ONE[name](a, width) % (1 << width) for a in values.tolist()]


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize(
    ("name", "sign", "largest"), [("bmax", 1, 1), ("bmin", 1, 0), ("bmaxu", 0, 1), ("bminu", 0, 0)]
)
def test_extremum_and_flag(name, sign, largest, width, bits, compiled):
    leaf = gp.leaf(f"{name}_{width // 8}_{width}_{width}_{width}", compiled=compiled)
    pairs = patterns(bits, width, 200)
    field, value = leaf(pairs[:, 0], pairs[:, 1])
    for (a, b), flag, best in zip(pairs.tolist(), field.tolist(), value.tolist(), strict=True):
        x, y = (signed(a, width), signed(b, width)) if sign else (a, b)
        wins = x > y if largest else x < y
        assert (flag, best) == (((1 << (width // 8)) - 1, a) if wins else (0, b))


@pytest.mark.parametrize(("name", "step"), [("baddnorm", 1), ("bsubnorm", -1)])
def test_normalising_sums(name, step, bits, compiled):
    pairs = patterns(bits, 16, 300)
    field, value = gp.leaf(f"{name}_2_16_16_16", compiled=compiled)(pairs[:, 0], pairs[:, 1])
    for (a, b), flag, found in zip(pairs.tolist(), field.tolist(), value.tolist(), strict=True):
        exact = signed(a, 16) + step * signed(b, 16)
        fits = -32768 <= exact <= 32767
        assert (flag, found) == ((0, exact & 0xFFFF) if fits else (3, (exact >> 1) & 0xFFFF))


SHIFTS = {
    "sll_u": lambda a, n, w, f: a << n if n < w else 0,
    "srl_u": lambda a, n, w, f: a >> n,
    "sra_u": lambda a, n, w, f: signed(a, w) >> n,
    "sll_s": lambda a, n, w, f: a << signed(n, f) if signed(n, f) >= 0 else a >> -signed(n, f),
    "srl_s": lambda a, n, w, f: a >> signed(n, f) if signed(n, f) >= 0 else a << -signed(n, f),
    "sra_s": lambda a, n, w, f: signed(a, w) >> signed(n, f) if signed(n, f) >= 0 else a << -signed(n, f),
    "sls_u": lambda a, n, w, f: clamped(signed(a, w) << n, w),
    "rotr_u": lambda a, n, w, f: (a >> n % w) | (a << (w - n % w)),
    "rotr_s": lambda a, n, w, f: (a >> n % w) | (a << (w - n % w)),
}
SHIFT_NAMES = [
    *(f"{root}_u_{form}" for root in ("sll", "srl", "sra") for form in ("8_8_3", "16_16_4", "32_32_5")),
    *(f"{root}_u_{form}" for root in ("sll", "srl") for form in ("16_16_6", "32_32_7")),
    *(f"{root}_s_{form}" for root in ("sll", "srl", "sra") for form in ("16_16_6", "32_32_7")),
    *("sls_u_16_16_6", "rotr_u_8_8_3", "rotr_u_16_16_4", "rotr_s_32_32_5"),
]


@pytest.mark.parametrize("name", SHIFT_NAMES)
def test_shifts_by_every_amount(name, bits, compiled):
    a, amount = find(name).args
    values = patterns(bits, a.bits, 10)[::3, 0]
    found = gp.leaf(name, compiled=compiled)(values[:, None], np.arange(1 << amount.bits))
    rule = SHIFTS["_".join(name.split("_")[:2])]
    expected = [
        [rule(x, n, a.bits, amount.bits) % (1 << a.bits) for n in range(1 << amount.bits)] for x in values.tolist()
    ]
    assert found.tolist() == expected


@few
@given(x=st.integers(0, 0xFFFF), n=st.integers(0, 15), m=st.integers(0, 15))
def test_element_rotates_compose(x, n, m):
    rotate = gp.leaf("rotr_u_16_16_4", compiled=False)
    assert rotate(rotate(x, n), m) == rotate(x, (n + m) % 16)


def test_every_byte_of_the_scalar_replicates():
    a = np.arange(256)
    assert gp.leaf("replo8_16_16")(a + 0xAB00).tolist() == [x * 0x101 for x in range(256)]
    assert gp.leaf("rep_16_8")(a).tolist() == [x * 0x101 for x in range(256)]


CONVERSIONS = {
    "sext_2_1": lambda a: (a & 1) * 3,
    "sext_4_1": lambda a: (a & 1) * 15,
    "sext_16_8": lambda a: signed(a, 8),
    "sext_32_8": lambda a: signed(a, 8),
    "sext_32_16": lambda a: signed(a, 16),
    "zeroext_16_8": lambda a: a,
    "zeroext_32_16": lambda a: a,
    "zeroext_48_32": lambda a: a,
    "mov_16_32": lambda a: a,
    "mov_64_64": lambda a: a,
    "cvt24s_24_16": lambda a: signed(a, 16),
    "cvt24u_24_16": lambda a: a,
    "cvt24u_24_32": lambda a: a,
    "cvt32s_32_24": lambda a: signed(a, 24),
    "cvt48s_48_32": lambda a: signed(a, 32),
    "cvt48u_48_32": lambda a: a,
    "cvt48u_48_64": lambda a: a,
    "sats_8_16": lambda a: clamped(signed(a, 16), 8),
    "sats_16_24": lambda a: clamped(signed(a, 24), 16),
    "sats_16_32": lambda a: clamped(signed(a, 32), 16),
    "sats_32_48": lambda a: clamped(signed(a, 48), 32),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions(name, compiled):
    width, result = find(name).args[0].bits, find(name).results[0].bits
    top = 1 << (width - 1)
    edges = {0, 1, top - 1, top, 2 * top - 1, *((1 << k) % (2 * top) for k in range(0, 64, 7))}
    edges |= {(edge - 1) % (2 * top) for edge in edges}
    values = np.array(sorted(edges), np.uint64)
    found = gp.leaf(name, compiled=compiled)(values)
    assert found.tolist() == [CONVERSIONS[name](a) % (1 << result) for a in values.tolist()]


def test_64_bits_into_96():
    assert gp.leaf("cvt96u_96_64")(0x8000000000000001).tolist() == [1, 0x80000000, 0]


@pytest.mark.parametrize("imm", range(7, 23))
def test_scalar_clamps_and_sign_extension(imm, bits):
    values = patterns(bits, 32, 50)[:, 0]
    clamps, sext = gp.leaf("ar_clamps")(values, imm), gp.leaf("ar_sext")(values, imm)
    assert clamps.tolist() == [clamped(signed(a, 32), imm + 1) & 0xFFFFFFFF for a in values.tolist()]
    assert sext.tolist() == [signed(a, imm + 1) & 0xFFFFFFFF for a in values.tolist()]


@pytest.mark.parametrize("name", ["rsr_sar", "wsr_sar", "xsr_sar"])
def test_sar(name):
    art, sar = gp.leaf(name)(0x15, 0x1234567F)
    assert (int(art), int(sar)) == {
        "rsr_sar": (0x15, 0x15),
        "wsr_sar": (0x1234567F, 0x3F),
        "xsr_sar": (0x15, 0x3F),
    }[name]
