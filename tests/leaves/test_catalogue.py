"""The table of leaves: complete, consistent, and honest about what has no value."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.isa.leaves import PAGES, catalogue, find, leaf
from gpsimd_core.isa.leaves.names import FORMATS, braces

# Names and grounded names of the published catalogue, by family.
CENSUS = {
    "predicate": (57, 57),
    "compare": (66, 66),
    "classify": (2, 2),
    "int-alu": (68, 65),
    "int-convert": (25, 25),
    "shift": (27, 27),
    "mac": (62, 53),
    "pack": (32, 29),
    "reduce": (65, 65),
    "lane-move": (15, 13),
    "valign": (8, 2),
    "select": (19, 7),
    "divide": (6, 0),
    "scan": (3, 3),
    "fp-convert": (2, 2),
    "fi-round": (10, 10),
    "int-fp": (8, 8),
    "fp-arith": (21, 20),
    "fma": (16, 14),
    "seed": (18, 8),
    "control": (13, 10),
}


def test_census():
    assert len(catalogue()) == sum(names for names, _ in CENSUS.values()) == 543
    names = Counter(one.family for one in catalogue().values())
    grounded = Counter(one.family for one in catalogue().values() if one.grounded)
    assert {family: (names[family], grounded[family]) for family in names} == CENSUS


def test_every_leaf_goes_by_two_names_and_no_name_means_two_leaves():
    shorts = Counter(one.short for one in catalogue().values())
    assert max(shorts.values()) == 1
    for name, one in catalogue().items():
        assert find(name) is one
        assert find(one.short) is one
        assert catalogue().get(one.short, one) is one


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("add_16_16_16", "add_nx16"),
        ("olt_1_2_16f_16f", "olt_nxf16"),
        ("cvtf16_1_1_1_1_16f_32f_2", "cvtf16_n_2xf32"),
        ("radd_nx16_32_512", "radd_nx16"),
        ("rbmaxnumn_2xf32t_1_64_32f_512f_64", "rbmaxnum_n_2xf32_t"),
        ("randbn_2_64_64", "randbn_2"),
        ("mula_1_1_1_1_16f_16f_16f_16f_2", "mula_nxf16"),
        ("mula_48_48_16_16", "mula_nx16"),
        ("eq_4_32_32", "eq_n_2x32"),
        ("rep_2nx8_512_512_32", "rep_2nx8"),
    ],
)
def test_short_names_are_root_and_lane_format(name, short):
    assert find(name).short == short
    assert find(f"module__xdref_{name}") is find(short.upper())


def test_every_row_says_what_it_is_and_who_says_so():
    for one in catalogue().values():
        assert (one.args and one.results) or not one.grounded
        assert one.rule
        assert one.confidence.startswith(("HIGH", "MED", "LOW"))
        assert one.pages
        assert set(one.pages) <= set(PAGES)
        assert one.grounded == (one.element is not None)
        assert len({slot.name for slot in one.args}) == len(one.args)


def test_no_two_lanes_of_the_catalogue_share_a_qualified_name():
    """Compiled loops are cached by qualified name; two lanes of one name would share an entry."""
    elements = {one.element for one in catalogue().values() if one.element}
    elements |= {one.guard.lane for one in catalogue().values() if one.guard}
    names = Counter(element.__qualname__ for element in elements)
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("name", [one.name for one in catalogue().values() if not one.grounded])
def test_a_leaf_without_a_value_names_the_missing_fact(name):
    with pytest.raises(gp.Unsupported) as caught:
        gp.leaf(name)
    assert caught.value.missing == find(name).missing
    assert name in str(caught.value)


def test_an_unknown_name_gets_the_closest_ones():
    with pytest.raises(gp.BadValue, match=r"no leaf 'rad_nx16'; did you mean radd_nx16 or"):
        leaf("rad_nx16")


def test_modes_and_flags_of_a_leaf_are_told():
    assert find("add_nxf16").takes_mode
    assert find("add_nxf16").flags == ("inexact", "overflow", "invalid")
    assert not find("maddn_nxf16").takes_mode
    assert find("maddn_nxf16").flags == ()
    assert {one.short for one in catalogue().values() if one.takes_mode and one.grounded} == {
        *braces("{add,sub,mul,madd,mula,msub,muls,mulsone,firint}_{nxf16,n_2xf32}"),
        "cvtf16_n_2xf32",
        *("float_n_2x32", "ufloat_n_2x32", "float16_nx16", "ufloat16_nx16"),
    }


def test_lane_formats_fill_a_register():
    for form in FORMATS.values():
        assert form.lanes * form.bits == 512
        assert form.predicate_bits * form.lanes == 64


def test_the_plain_path_needs_no_compiler_and_the_table_no_plugin_host():
    code = (
        "import sys, numpy as np\n"
        "from gpsimd_core.isa.leaves import leaf\n"
        "assert leaf('radd_nx16', compiled=False)(np.arange(32)) == 496\n"
        "assert leaf('madd_nxf16', compiled=False)(0x3C00, 0x3C00, 0x3C00) == 0x4000\n"
        "print([name for name in ('numba', 'pluggy', 'rich', 'click') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_signatures_read_like_a_call():
    assert find("rmaxnum_nxf16").signature == "rmaxnum_nxf16(v: 32xf16) -> invalid: 1, r: f16"
    assert repr(gp.leaf("add_nx16")) == "<leaf add_nx16(a: 16, b: 16) -> r: 16>"
    assert np.asarray(gp.leaf("add_nx16")(1, 2)) == 3
