"""`gpsimd leaf`: what a user sees, and the exit codes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gpsimd_core.cli import main
from gpsimd_core.isa.leaves import catalogue


@pytest.fixture
def leaf(capsys):
    def run(*args):
        code = main(["leaf", *args])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.mark.parametrize(
    ("args", "printed"),
    [
        (("radd_nx16", "rep:1"), "r  0x00000020  32\n"),
        (("radd_nx16", "rep:-1"), "r  0xffffffe0  -32 signed, 4294967264 unsigned\n"),
        (("radd_nx16_32_512", "rep:0xffff"), "r  0xffffffe0  -32 signed, 4294967264 unsigned\n"),
        (("add_nx16", "-5", "7"), "r  0x0002  2\n"),
        (("add_16_16_16", "0x7fff", "b=1"), "r  0x8000  -32768 signed, 32768 unsigned\n"),
        (("firound_nxf16", "2.5"), "invalid  0\nr        0x4200  3\n"),
        (("firound_nxf16", "0x4100"), "invalid  0\nr        0x4200  3\n"),
        (("firint_nxf16", "-2.5", "RPI"), "inexact  1\ninvalid  0\nr        0xc000  -2\n"),
        (("firint_nxf16", "-2.5", "mode=3"), "inexact  1\ninvalid  0\nr        0xc200  -3\n"),
        (("olt_nxf16", "1", "nan"), "invalid  1\npred     0x0  0\n"),
        (("randbn", "0x5555555555555555"), "r  0x1  1\n"),
        (("radd_nx16_t", "rep:7", "lanes:0,3"), "r  0x0000000e  14\n"),
        (("radd_nx16_t", "rep:7", "lanes:all"), "r  0x000000e0  224\n"),
        (("mula_n_2x32", "-1", "3", "-7"), f"r  0x{'f' * 22}ea  -22 signed, {2**96 - 22} unsigned\n"),
        (("recip0_nxf16", "1.5"), "flag0  not published\nflag1  not published\nr      0x3950  0.6640625\n"),
        (
            ("rbmaxu_nx16", "rep:9"),
            "winners  0xffffffffffffffff  lanes " + " ".join(map(str, range(32))) + "\nr        0x0009  9\n",
        ),
    ],
)
def test_values(args, printed, leaf):
    assert leaf(*args) == (0, printed, "")


def test_registers_print_eight_lanes_a_line(leaf):
    code, out, _ = leaf("rep_n_2x32", ",".join(map(str, range(16))), "0x3")
    assert (code, out) == (
        0,
        "r  [ 0] " + " ".join(["00000003"] * 8) + "\n   [ 8] " + " ".join(["00000003"] * 8) + "\n",
    )


def test_arrays_from_a_file(tmp_path, leaf):
    np.save(tmp_path / "v.npy", np.arange(64, dtype=np.int16).reshape(2, 32))
    code, out, _ = leaf("radd_nx16", f"@{tmp_path / 'v.npy'}", "--json")
    assert (code, json.loads(out)) == (0, {"leaf": "radd_nx16_32_512", "results": {"r": ["000001f0", "000005f0"]}})
    assert leaf("radd_nx16", f"@{tmp_path / 'v.npy'}")[1] == "r  [ 0] 000001f0 000005f0\n"


def test_the_compiled_functions_on_demand(leaf):
    assert leaf("add_nx16", "1", "2", "--compiled") == leaf("add_nx16", "1", "2")


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("addd_nx16", "1", "2"), 2, "there is no leaf 'addd_nx16'; did you mean add_nx16"),
        (("zzz",), 2, "there is no leaf 'zzz'"),
        (("add_nx16", "1,2", "3"), 2, "a has 2 lanes, nx16 has 32; add_16_16_16 takes single lanes"),
        (("radd_nx16", "1,2"), 2, "v has 2 lanes; 32 are needed"),
        (("radd_nx16", "5"), 2, "v has 32 lanes; give rep:5, a list or @file.npy"),
        (("add_nx16", "0x10000", "1"), 2, "a: 0x10000 does not fit 16 bits"),
        (("add_nx16", "65536", "1"), 2, "a: 65536 does not fit 16 bits"),
        (("radd_nx16", "rep:0x12345"), 2, "v: 0x12345 does not fit 16 bits"),
        (("add_nx16", "0xzz", "1"), 2, "a: '0xzz' is neither a decimal number nor 0x and hex digits"),
        (("add_nx16", "1.5", "1"), 2, "a: '1.5' is neither a decimal number"),
        (("add_nxf16", "one", "1"), 2, "a: 'one' is neither an fp16 number"),
        (("add_nx16", "1"), 2, "add_nx16 takes a, b; b is missing"),
        (("add_nx16", "1", "2", "3"), 2, "add_nx16 takes 2 operands (a, b); '3' is one more"),
        (("add_nx16", "1", "a=2"), 2, "a is given twice"),
        (("add_nxf16", "1", "1", "UP"), 2, "mode is 'UP'; allowed: RNE, RTZ, RPI, RMI, device_away"),
        (("add_nxf16", "1", "1", "8"), 2, "mode: 8 does not fit 3 bits"),
        (("randbn", "rep:1"), 2, "vb is one value; rep: needs lanes"),
        (("radd_nx16_t", "rep:1", "lanes:32"), 2, "keep: '32' is no list of lanes 0 to 31"),
        (("radd_nx16", "@absent.npy"), 3, "absent.npy: No such file"),
        (("packh", "1"), 5, "leaf packh is not supported: the bit position"),
        (("rsqrt0_nxf16", "-0.0"), 5, "of a = 0x8000 is not supported: what -0, -infinity and NaN give"),
        ((), 2, "a leaf name is needed"),
        (("--list", "add_nx16"), 2, "--list takes no leaf name"),
        (("--list", "--family", "x"), 2, "there is no family 'x'; families: predicate, compare"),
        (("add_nx16", "--family", "int-alu"), 2, "--family goes with --list"),
    ],
)
def test_bad_input(args, code, message, leaf):
    found, out, err = leaf(*args)
    assert (found, out) == (code, "")
    assert message in err
    assert "Traceback" not in err


def test_a_file_that_is_no_array(tmp_path, leaf):
    path = tmp_path / "x.npy"
    path.write_text("no array")
    code, _, err = leaf("radd_nx16", f"@{path}")
    assert code == 3
    assert "no .npy array" in err


def test_the_list_has_every_leaf(leaf):
    code, out, _ = leaf("--list")
    rows = [line.split("\t") for line in out.splitlines()]
    assert code == 0
    assert [row[1] for row in rows] == list(catalogue())
    assert {len(row) for row in rows} == {6}
    short = {row[0]: row for row in rows}
    assert short["rmax_nx16"][2:4] == ["reduce", "32 x int16"]
    assert short["packh"][4].startswith("unsupported: the bit position")


def test_one_family_as_json(leaf):
    _, out, _ = leaf("--list", "--family", "scan", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["short"] for row in rows] == ["rotlanes_2nx8", "rotlanes_nx16", "rotlanes_n_2x32"]
    assert rows[1]["args"] == ["v:32x16", "amount:32"]
    assert rows[1]["missing"] is None


def test_a_leaf_alone_is_described(leaf):
    code, out, _ = leaf("radds_nx16")
    assert code == 0
    assert out.startswith("radds_nx16(v: 32x16) -> r: 16\n")
    for text in ("family    reduce", "32 x int16", "sign-and-magnitude", "ISA Batch 08 — Cross-Lane Reduce"):
        assert text in out
    assert json.loads(leaf("radds_nx16", "--json")[1])["family"] == "reduce"
    assert "missing   the bit position" in leaf("packh")[1]
