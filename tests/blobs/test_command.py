"""`gpsimd blobs list` and `find`: what a user sees."""

from __future__ import annotations

import json

import pytest

from gpsimd_core import host
from gpsimd_core.errors import PluginTrouble


@pytest.mark.parametrize(
    ("target", "generations", "name"),
    [
        ("0x18e16a", ["cayman"], "CopyPredicatedReduce"),
        ("0x42844a", ["mariana"], "CopyPredicatedReduce"),
        ("0x6f016a", ["mariana_plus"], "CopyPredicatedReduce"),
        ("0x8b0552", ["maverick"], "CopyPredicatedReduce"),
        ("0x1cfcf4", ["cayman"], "CrossLaneReduce"),
        (str(0x18E16A), ["cayman"], "CopyPredicatedReduce"),
        ("CopyPredicated", ["cayman", "mariana", "mariana_plus", "maverick"], "CopyPredicated"),
        ("0xEA", ["cayman", "mariana", "mariana_plus", "maverick"], "CopyPredicatedReduce"),
        ("234", ["cayman", "mariana", "mariana_plus", "maverick"], "CopyPredicatedReduce"),
        ("select_reduce", ["cayman", "mariana", "mariana_plus", "maverick"], "CopyPredicatedReduce"),
    ],
)
def test_find(target, generations, name, catalogue, blobs):
    code, out, _ = blobs("find", target, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert ([r["generation"] for r in rows], {r["name"] for r in rows}) == (generations, {name})


def test_find_shows_place_and_multiplicity(catalogue, blobs):
    code, out, err = blobs("find", "CopyPredicated")
    assert code == 0
    assert out.splitlines()[:2] == [
        "CopyPredicated (0x72 copy_predicated)",
        "  cayman        0x18dc20  device 0x82900  CAYMAN_NX_DVE_DEBUG_DRAM_get + 0x2900",
    ]
    assert len(out.splitlines()) == 5
    assert "CopyPredicatedReduce" not in out
    assert err == "CopyPredicated: 4 placed here; 4 in the whole library\n"


def test_find_tells_of_names_without_a_published_place(catalogue, blobs):
    _, _, err = blobs("find", "EngineNop")
    assert err == "EngineNop: 4 placed here, 9 more in blobs whose place is not published; 13 in the whole library\n"


def test_find_an_opcode_shows_its_kernel_rows(blobs):
    pytest.importorskip("gpsimd_sunda")
    code, out, _ = blobs("find", "0x7C", "--gen", "sunda")
    assert code == 0
    assert out.splitlines() == [
        "kernel tables: 0x7C cross_lane_reduce_arith",
        "  sunda         EXTISA_0  spec 0  0x01007d30  pool_cross_lane_reduce_arith",
    ]


def test_find_a_device_address_lists_every_blob_that_has_it(catalogue, blobs):
    code, out, _ = blobs("find", "0x82e4a", "--va", "--json")
    symbols = {json.loads(line)["symbol"] for line in out.splitlines()}
    assert code == 0
    assert symbols == {p.site.symbol for p in catalogue.at_device(0x82E4A)}
    _, out, _ = blobs("find", "0x82e4a", "--va", "--engine", "dve", "--build", "debug", "--gen", "cayman", "--json")
    assert [json.loads(line)["name"] for line in out.splitlines()] == ["CopyPredicatedReduce"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("RangeSelekt",), "did you mean RangeSelect"),
        (("0x7fffffff",), "no blob"),
        (("0x97",), "opcode 0x97"),
        (("0x7fffffff", "--va"), "device address"),
        (("select_reduce", "--gen", "sunda"), "no self-name or kernel row of sunda"),
    ],
)
def test_what_find_does_not_find(args, said, catalogue, blobs):
    code, out, err = blobs("find", *args)
    assert (code, out) == (1, "")
    assert said in err


def test_an_address_is_a_number(blobs):
    code, _, err = blobs("find", "here", "--va")
    assert code == 2
    assert "address" in err


def test_an_unknown_generation_is_named_with_the_list(blobs):
    code, _, err = blobs("list", "--gen", "trn9")
    assert code == 2
    assert all(name in err for name in host.generations())


def test_a_generation_that_does_not_load_is_a_warning_unless_it_is_wanted(catalogue, blobs, monkeypatch):
    load = host.load

    def broken(name):
        if name == "sunda":
            raise PluginTrouble("generation sunda does not load: a test")
        return load(name)

    monkeypatch.setattr(host, "load", broken)
    code, out, err = blobs("find", "0x18e16a")
    assert code == 0
    assert "CopyPredicatedReduce" in out
    assert "warning: generation sunda does not load" in err
    assert blobs("find", "0x18e16a", "--gen", "sunda")[0] == 4


def test_without_any_generation(blobs, monkeypatch):
    monkeypatch.setattr(host, "generations", tuple)
    code, _, err = blobs("list")
    assert code == 4
    assert "no generation is installed" in err


def test_list(catalogue, blobs):
    code, out, err = blobs("list")
    assert code == 0
    assert len(out.splitlines()) == 226
    assert err == "225 blobs\n"
    code, out, _ = blobs("list", "--gen", "cayman", "--engine", "dve", "--build", "DEBUG", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(r["symbol"], r["offset"], r["device"]) for r in rows] == [
        ("CAYMAN_NX_DVE_DEBUG_IRAM_get", 0x16F660, 0),
        ("CAYMAN_NX_DVE_DEBUG_DRAM_get", 0x18B320, 0x80000),
    ]
    assert "CopyPredicatedReduce" in rows[1]["names"]
    assert max(len(line) for line in blobs("list")[1].splitlines()) <= 80


def test_list_of_nothing_is_a_no(blobs):
    pytest.importorskip("gpsimd_maverick")
    code, out, err = blobs("list", "--gen", "maverick", "--engine", "act")
    assert (code, out, err) == (1, "", "0 blobs\n")


def test_notes(blobs):
    pytest.importorskip("gpsimd_sunda")
    code, out, _ = blobs("list", "--notes", "--gen", "sunda")
    assert code == 0
    assert any("RELEASE" in line for line in out.splitlines())
