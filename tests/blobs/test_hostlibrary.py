"""A host library against the catalogue: intact, with one thing planted wrong, and not a library at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpsimd_core.blobs import Catalogue, self_name_text
from gpsimd_core.errors import BadInput
from gpsimd_core.hostlibrary import HostLibrary, verify

DVE = "CAYMAN_NX_DVE_DEBUG_DRAM_get"


def checks_of(path, catalogue, content=False):
    with HostLibrary(path) as library:
        return {c.name: c for c in verify(library, catalogue, content)}


def wrong(checks):
    return {name: [m.subject for m in c.mismatches] for name, c in checks.items() if c.mismatches}


def test_an_intact_library_agrees(library, catalogue, blobs):
    path = library()
    checks = checks_of(path, catalogue)
    assert wrong(checks) == {}
    assert {n: c.compared for n, c in checks.items()} == {"symbols": 450, "names": 72, "counts": 17, "content": 0}
    assert checks["symbols"].absent == ()
    assert checks["counts"].counted["Dropout"] == 1
    code, out, err = blobs("verify", path)
    assert code == 0
    assert out.splitlines() == [
        "symbols 450 compared, 0 wrong",
        "names 72 compared, 0 wrong",
        "counts 17 compared, 0 wrong, 12 more names counted and not judged",
        "content not compared",
    ]
    assert "agrees" in err


def test_one_planted_name_is_reported_exactly(library, blobs):
    path = library({0x18E16A: b"S: CopyPredicatedReduct\n\0"})
    code, out, _ = blobs("verify", path)
    assert code == 1
    assert out.splitlines() == [
        "symbols 450 compared, 0 wrong",
        "names 72 compared, 1 wrong",
        f"  CopyPredicatedReduce at 0x18e16a in {DVE}: expected b'S: CopyPredicatedReduce\\n\\x00', "
        "found b'S: CopyPredicatedReduct\\n\\x00'",
        "counts 17 compared, 1 wrong, 12 more names counted and not judged",
        "  CopyPredicatedReduce: expected 4, found 3",
        "content not compared",
    ]


def test_a_wrong_name_that_no_count_judges_shows_in_names_alone(library, catalogue):
    path = library({0x18D207: b"S: Dropoud\n\0"})
    assert wrong(checks_of(path, catalogue)) == {"names": [f"Dropout at 0x18d207 in {DVE}"]}


def test_one_more_occurrence_shows_in_counts_alone(library, catalogue):
    path = library({catalogue.by_symbol[DVE].offset: b"S: CopyPredicated\n"})
    assert wrong(checks_of(path, catalogue)) == {"counts": ["CopyPredicated"]}


def test_longer_names_do_not_count(library, catalogue):
    path = library({catalogue.by_symbol[DVE].offset: b"S: CopyPredicatedRe\n"})
    assert wrong(checks_of(path, catalogue)) == {}


@pytest.mark.parametrize(
    ("name", "moved"),
    [
        pytest.param(DVE, (0x10, 0), id="accessor elsewhere"),
        pytest.param(f"{DVE}.data", (0, -16), id="data shorter"),
        pytest.param(f"{DVE}.data", (16, -16), id="data elsewhere"),
    ],
)
def test_one_planted_symbol_is_reported_exactly(name, moved, library, catalogue, symbol_rows):
    rows = [
        (n, kind, address + moved[0], size + moved[1]) if n == name else (n, kind, address, size)
        for n, kind, address, size in symbol_rows
    ]
    assert wrong(checks_of(library(table=rows), catalogue)) == {"symbols": [name]}


def test_symbols_that_are_not_there_are_no_mismatch(library, catalogue, symbol_rows, blobs):
    path = library(table=[row for row in symbol_rows if not row[0].startswith("MAVERICK")])
    check = checks_of(path, catalogue)["symbols"]
    assert (check.compared, len(check.absent), check.mismatches) == (450 - 76, 76, ())
    code, out, _ = blobs("verify", path)
    assert (code, out.splitlines()[0]) == (0, "symbols 374 compared, 0 wrong, 76 not in this file")


def test_a_file_without_symbol_table_is_compared_all_the_same(library, catalogue, blobs):
    path = library(table=None)
    assert wrong(checks_of(path, catalogue)) == {}
    code, out, _ = blobs("verify", path)
    assert (code, out.splitlines()[0]) == (0, "symbols not compared: the file has no symbol table")


def test_content_is_compared_when_asked(library, catalogue, blobs):
    """A synthetic library has none of the published contents: all 58 digests differ, and nothing else does."""
    path = library()
    checks = checks_of(path, catalogue, content=True)
    assert checks["content"].compared == 58
    assert wrong(checks) == {"content": [s.symbol for s in catalogue.sites if s.sha256]}
    assert blobs("verify", path, "--content")[0] == 1


def test_content_that_fits_agrees(library, catalogue):
    path = library()
    data = path.read_bytes()
    sites = [evolve(s, sha256=hashlib.sha256(data[s.offset : s.end]).hexdigest()[:8]) for s in catalogue.sites]
    assert wrong(checks_of(path, Catalogue.of(sites), content=True)) == {}


def test_one_generation_alone(library, blobs):
    path = library({0x42844A: b"?"})
    assert blobs("verify", path, "--gen", "sunda")[0] == 1  # the counts are those of the whole library
    code, out, _ = blobs("verify", path, "--gen", "cayman", "--json")
    rows = {r["check"]: r for r in map(json.loads, out.splitlines())}
    assert code == 1
    assert rows["names"]["mismatches"] == []
    assert rows["symbols"]["compared"] == 116
    assert [m["subject"] for m in rows["counts"]["mismatches"]] == ["CopyPredicatedReduce"]


# Files that are no such library --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"just some text, longer than a header\n" * 4, "not an ELF file", id="text"),
        pytest.param(b"!<arch>\n" + bytes(60), "an archive, not a shared library", id="archive"),
        pytest.param(b"!<thin>\n" + bytes(60), "an archive, not a shared library", id="thin archive"),
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b"\x7fELF", "damaged", id="magic alone"),
        pytest.param(b"\x7fELF\x02\x01\x01" + bytes(100), "", id="header of zeros"),
        pytest.param(
            b"\x7fELF\x02\x02\x01" + bytes(9) + struct.pack(">HHI", 3, 62, 1) + bytes(60), "big-endian", id="order"
        ),
        pytest.param(b"\x7fELF\x09\x01\x01" + bytes(100), "damaged", id="class"),
    ],
)
@pytest.mark.parametrize("verb", ["verify", "carve"])
def test_other_files_are_refused(verb, content, said, tmp_path, blobs):
    path = tmp_path / "file"
    path.write_bytes(content)
    code, out, err = blobs(verb, path, *(["-o", tmp_path / "out"] if verb == "carve" else []))
    assert (code, out) == (3, "")
    assert str(path) in err
    assert said in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("which", ["missing", "folder", "pipe"])
def test_what_is_no_file_is_refused(which, tmp_path, blobs):
    path = tmp_path / which
    if which == "folder":
        path.mkdir()
    if which == "pipe":
        os.mkfifo(path)
    code, _, err = blobs("verify", path)
    assert code == 3
    assert str(path) in err


def test_a_library_for_another_machine_word_is_refused(tmp_path, make_image, catalogue, blobs):
    path = tmp_path / "image"
    path.write_bytes(make_image(catalogue.kernels[0]))
    code, _, err = blobs("verify", path)
    assert code == 3
    assert "32-bit" in err


@pytest.mark.parametrize("part", [0.999999, 0.9, 0.5, 0.1])
def test_a_truncated_library_is_refused(part, library, blobs):
    path = library()
    os.truncate(path, int(path.stat().st_size * part))
    code, _, err = blobs("verify", path)
    assert code == 3
    assert "truncated" in err


def test_blobs_that_overlap_are_refused(library, symbol_rows, catalogue, blobs):
    name = f"{DVE}.data"
    rows = [(n, k, a, s + 32 if n == name else s) for n, k, a, s in symbol_rows]
    code, _, err = blobs("verify", library(table=rows))
    assert code == 3
    assert name in err
    assert "overlap" in err


def test_a_blob_inside_another_is_an_overlap_too(library, symbol_rows, catalogue, blobs):
    site = catalogue.by_symbol[DVE]
    rows = [*symbol_rows, ("OTHER_NX_DVE_PERF_DRAM_get.data", 1, site.offset + 64, 16)]
    code, _, err = blobs("verify", library(table=rows))
    assert code == 3
    assert "OTHER_NX_DVE_PERF_DRAM_get.data" in err


def test_aliases_and_empty_blobs_are_no_overlap(library, symbol_rows, catalogue):
    site = catalogue.by_symbol[DVE]
    rows = [
        *symbol_rows,
        ("OTHER_NX_DVE_DEBUG_DRAM_get.data", 1, site.offset, site.size),
        ("OTHER_NX_DVE_DEBUG_SRAM_get.data", 1, site.offset + 64, 0),
    ]
    assert wrong(checks_of(library(table=rows), catalogue)) == {}


def test_a_small_shared_library_of_another_kind_is_a_mismatch_not_an_error(tmp_path, small_library, catalogue, blobs):
    code, out, _ = blobs("verify", small_library(), "--gen", "cayman")
    assert code == 1
    assert "the file ends at" in out


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(flips=st.lists(st.tuples(st.integers(0, 0x7FFF), st.integers(0, 255)), min_size=1, max_size=6))
def test_damaged_headers_give_an_answer_or_a_clear_error(flips, small_library, small_catalogue):
    path = small_library()
    data = bytearray(path.read_bytes())
    tail = len(data) - 0x300
    for place, value in flips:
        spot = place % 0x380
        data[spot if spot < 0x80 else tail + spot - 0x80] = value
    path.write_bytes(data)
    with contextlib.suppress(BadInput):  # any other exception fails the test
        checks_of(path, small_catalogue, content=True)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        pytest.param(40, 2**63, "truncated", id="section table far away"),
        pytest.param(32, 2**40, "truncated", id="program headers far away"),
        pytest.param(60, 0xFFFF, "65535 sections", id="too many sections"),
        pytest.param(58, 0, "headers have", id="section headers of no size"),
        pytest.param(16, 1, "ET_REL", id="object file"),
        pytest.param(16, 2, "ET_EXEC", id="executable"),
    ],
)
def test_hostile_header_fields(field, value, said, small_library):
    path = small_library()
    data = bytearray(path.read_bytes())
    form = "<Q" if field in (32, 40) else "<H"
    data[field : field + struct.calcsize(form)] = struct.pack(form, value)
    path.write_bytes(data)
    with pytest.raises(BadInput, match=said):
        HostLibrary(path)


@pytest.mark.parametrize("entry", [0, 1, 25, 2**40])
def test_hostile_symbol_entry_sizes(entry, small_library):
    path = small_library()
    data = bytearray(path.read_bytes())
    (table,) = struct.unpack_from("<Q", data, 40)
    at = next(table + 64 * i for i in range(6) if struct.unpack_from("<I", data, table + 64 * i + 4) == (2,))
    struct.pack_into("<Q", data, at + 56, entry)
    path.write_bytes(data)
    with pytest.raises(BadInput, match="symbol table"):
        HostLibrary(path)


# Carving -------------------------------------------------------------------------------------------------------------


def test_carve_writes_the_bytes_and_a_description(library, catalogue, tmp_path, blobs):
    path, out = library(), tmp_path / "a" / "b"
    code, shown, _ = blobs("carve", path, "--gen", "cayman", "--engine", "dve", "-o", out)
    sites = catalogue.select(generation="cayman", engine="dve")
    assert code == 0
    assert len(shown.splitlines()) == len(sites) == 8
    whole, rows = path.read_bytes(), json.loads((out / "carve.json").read_text())
    assert [r["symbol"] for r in rows] == [s.symbol for s in sites]
    assert {p.name for p in out.iterdir()} == {"carve.json", *(f"{s.symbol}.bin" for s in sites)}
    for row, site in zip(rows, sites, strict=True):
        written = (out / f"{site.symbol}.bin").read_bytes()
        assert written == whole[site.offset : site.end]
        assert row == {
            "symbol": site.symbol, "offset": site.offset, "size": site.size,
            "sha256": hashlib.sha256(written).hexdigest(),
        }  # fmt: skip
    assert self_name_text("CopyPredicatedReduce") in (out / f"{DVE}.bin").read_bytes()


def test_carve_refuses_another_build_and_writes_nothing(library, symbol_rows, tmp_path, blobs):
    rows = [
        (n, k, a + 64 if n == f"{DVE}.data" else a, s - 64 if n == f"{DVE}.data" else s) for n, k, a, s in symbol_rows
    ]
    code, _, err = blobs("carve", library(table=rows), "--gen", "cayman", "--engine", "dve", "-o", tmp_path / "out")
    assert code == 1
    assert "another build" in err
    assert not (tmp_path / "out").exists()


def test_carve_refuses_a_file_that_ends_before(tmp_path, small_library, blobs):
    pytest.importorskip("gpsimd_cayman")
    code, _, err = blobs("carve", small_library(), "--gen", "cayman", "-o", tmp_path / "out")
    assert code == 3
    assert "truncated" in err
    assert not (tmp_path / "out").exists()


def test_carve_says_what_it_cannot_do(library, tmp_path, blobs):
    path = library()
    code, _, err = blobs("carve", path, "--gen", "maverick", "--engine", "act", "-o", tmp_path / "out")
    assert code == 2
    assert "no blob" in err
    (tmp_path / "taken").write_text("a file")
    code, _, err = blobs("carve", path, "--gen", "cayman", "-o", tmp_path / "taken")
    assert code == 2
    assert "cannot write" in err
