"""Value leaves called through the core: FCR gives the mode, FSR gathers the flags."""

from __future__ import annotations

import tomllib
from importlib import resources

import numpy as np
import pytest
from control_help import execute, small_core

from gpsimd_core.control import ControlCore
from gpsimd_core.errors import BadValue
from gpsimd_core.isa import leaves

NEAREST, ZERO, UP, DOWN = range(4)


def with_mode(mode: int, variant: str = "q7") -> ControlCore:
    core = small_core(variant)
    core.sr["cpenable"] = 1
    return execute("wur.fcr a3", core=core, ars={3: mode})


@pytest.mark.parametrize("variant", ["q7", "classic"])
@pytest.mark.parametrize(
    ("mode", "bits"), [(NEAREST, 0x40000000), (ZERO, 0x40000000), (UP, 0x40400000), (DOWN, 0x40000000)]
)
def test_firint_follows_fcr(mode: int, bits: int, variant: str) -> None:
    assert int(with_mode(mode, variant).leaf("firint_1_1_32f_32f_2", 0x40200000)) == bits  # 2.5


@pytest.mark.parametrize(("mode", "bits"), [(NEAREST, 0x3C02), (ZERO, 0x3C01), (UP, 0x3C02), (DOWN, 0x3C01)])
def test_narrowing_follows_fcr(mode: int, bits: int) -> None:
    assert int(with_mode(mode).leaf("cvtf16_1_1_1_1_16f_32f_2", 0x3F803000)) == bits  # an odd tie


@pytest.mark.parametrize(
    ("mode", "bits"), [(NEAREST, 0x3F800002), (ZERO, 0x3F800001), (UP, 0x3F800002), (DOWN, 0x3F800001)]
)
def test_fused_multiply_add_follows_fcr(mode: int, bits: int) -> None:
    """1.00000012 + 0.5 * 2^-23 * 1.5 lies above the middle of two codes."""
    core = with_mode(mode)
    assert int(core.leaf(fused("madd"), 0x3F800001, 0x3F400000, 0x34000000)) == bits


@pytest.mark.parametrize("name", ["maddn", "msubn"])
def test_the_n_forms_ignore_fcr(name: str) -> None:
    results = {int(with_mode(mode).leaf(fused(name), 0x3F800001, 0x3F400000, 0x34000000)) for mode in range(4)}
    assert results == {0x3F800002 if name == "maddn" else 0x3F800000}


def fused(name: str) -> str:
    """The fp32 leaf of that name."""
    (found,) = [n for n in leaves.catalogue() if n.startswith(f"{name}_") and "32f" in n and "16f" not in n]
    return found


@pytest.mark.parametrize(("variant", "bit"), [("q7", 4), ("classic", 7)])
def test_flags_are_ored_into_fsr(variant: str, bit: int) -> None:
    core = with_mode(NEAREST, variant)
    core.leaf("firint_1_1_32f_32f_2", 0x40200000)
    assert (core.flags, core.ur["fsr"]) == ({"Inexact"}, 1 << bit)


def test_flags_are_sticky_until_written() -> None:
    core = with_mode(NEAREST)
    core.leaf("firint_1_1_32f_32f_2", 0x40200000)
    core.leaf("firint_1_1_32f_32f_2", 0x40000000)  # exact: clears nothing
    assert core.flags == {"Inexact"}
    core.leaf("firint_1_1_32f_32f_2", 0x7F800001)  # a signalling NaN
    assert core.flags == {"Inexact", "Invalid"}
    execute("wur.fsr a3", core=core, ars={3: 0})
    assert core.flags == frozenset()


def test_any_lane_raises_the_flag() -> None:
    core = with_mode(NEAREST)
    core.leaf("firint_n_2xf32", np.array([0x40000000] * 15 + [0x40200000], np.uint32))
    assert core.flags == {"Inexact"}


def test_overflow_and_underflow() -> None:
    core = with_mode(NEAREST)
    core.leaf("cvtf16_1_1_1_1_16f_32f_2", 0x7F7FFFFF)
    assert core.flags == {"Overflow", "Inexact"}
    core.ur["fsr"] = 0
    core.leaf("cvtf16_1_1_1_1_16f_32f_2", 0x33000001)
    assert core.flags == {"Underflow", "Inexact"}


def test_registers_hold_operands_and_results() -> None:
    core = with_mode(UP)
    vec = core.files["vec"]
    vec.lanes(1, "n_2xf32")[:] = 0x40200000
    vec.lanes(2, "n_2xf32")[:] = core.leaf("firint_n_2xf32", vec.lanes(1, "n_2xf32"))
    assert set(vec.lanes(2, "n_2xf32").tolist()) == {0x40400000}


def test_the_core_gives_the_mode_and_nobody_else() -> None:
    core = with_mode(NEAREST)
    with pytest.raises(BadValue, match="FCR gives the rounding mode"):
        core.leaf("firint_1_1_32f_32f_2", 0x40200000, mode=UP)
    with pytest.raises(BadValue, match="FCR gives the rounding mode"):
        core.leaf("firint_1_1_32f_32f_2", 0x40200000, UP)


def test_a_plain_leaf_keeps_its_own_mode() -> None:
    with_mode(UP)
    assert int(leaves.leaf("firint_1_1_32f_32f_2")(0x40200000, mode=NEAREST)) == 0x40000000


def test_every_flag_of_every_leaf_has_a_place_in_fsr() -> None:
    names = {flag for leaf in leaves.catalogue().values() for flag in leaf.flags}
    core = small_core()
    core.raise_flags(dict.fromkeys(names, 1))
    assert core.flags <= {"Invalid", "DivZero", "Overflow", "Underflow", "Inexact"}
    assert core.flags


FILE = resources.files("gpsimd_core") / "data" / "vectors" / "iss-vectors.toml"
CONTROL_GROUPS = {
    group["id"]: group for group in tomllib.loads(FILE.read_text())["group"] if group["family"] == "control"
}


def test_these_are_the_control_groups() -> None:
    assert set(CONTROL_GROUPS) == {"movscfv", "movfsv_probe", "sar", "sar_wsr"}
    assert CONTROL_GROUPS["movfsv_probe"]["kind"] == "probe"  # an observation, never run


@pytest.mark.parametrize("name", ["sar", "sar_wsr"])
def test_published_rows_of_sar(name: str) -> None:
    """The rows of the control groups, run as instructions instead of leaves."""
    group = CONTROL_GROUPS[name]
    for row in group["rows"]:
        *form, sar, art = row["i"]
        out, left = (int(text, 16) for text in row["o"])
        core = small_core()
        core.sr["sar"] = int(sar, 16)
        execute(f"{form[0] if form else 'wsr'}.sar a3", core=core, ars={3: int(art, 16)})
        assert core.sr["sar"] == left
        if "art" not in group.get("unpinned", []):
            assert core.a[3] == out


def test_published_rows_of_the_status_word() -> None:
    group = CONTROL_GROUPS["movscfv"]
    for row in group["rows"]:
        assert int(small_core().leaf(group["leaf"], int(row["i"][0], 16))) == int(row["o"][0], 16)


def test_scalar_helpers_agree_with_the_leaves() -> None:
    for x in (0, 1, 0x7F, 0x80, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
        for y in (0, 1, 0x80000000, 0xFFFFFFFF):
            core = execute("min a4, a2, a3\nmax a5, a2, a3\nminu a6, a2, a3\nmaxu a7, a2, a3", ars={2: x, 3: y})
            for register, name in ((4, "ar_min"), (5, "ar_max"), (6, "ar_minu"), (7, "ar_maxu")):
                assert core.a[register] == int(leaves.leaf(name)(x, y))
        for width in range(7, 23):
            core = execute(f"sext a4, a2, {width}\nclamps a5, a2, {width}", ars={2: x})
            assert core.a[4] == int(leaves.leaf("ar_sext")(x, width))
            assert core.a[5] == int(leaves.leaf("ar_clamps")(x, width))
