"""Kernel-info tables of images: found by name, content, address or offset, and read record by record."""

from __future__ import annotations

import json
import struct

import pytest
from attrs import evolve

from gpsimd_core import host
from gpsimd_core.blobs import Catalogue
from gpsimd_core.errors import BadInput, UsageError
from gpsimd_core.hostlibrary import MappedFile
from gpsimd_core.kernelinfo import find_table, known_table, read_table


def table_of(catalogue, generation, image="EXTISA_0"):
    (found,) = [t for t in catalogue.kernels if (t.generation, t.image) == (generation, image)]
    return found


def rows_of(text):
    return [(r["opcode"], r["spec"], r["function"]) for r in map(json.loads, text.splitlines())]


@pytest.mark.parametrize("generation", ["cayman", "mariana", "mariana_plus"])
def test_carve_then_kernels(generation, library, make_image, catalogue, tmp_path, blobs):
    table = table_of(catalogue, generation)
    site = catalogue.by_symbol[table.symbol]
    path = library({site.offset: make_image(table, size=site.size)})
    assert blobs("carve", path, "--gen", generation, "--region", "SO", "-o", tmp_path / "out")[0] == 0
    code, out, err = blobs("kernels", tmp_path / "out" / f"{table.symbol}.bin")
    names = host.load(generation).opcodes
    assert code == 0
    assert f"{generation} EXTISA_0: 17 records" in err
    lines = out.splitlines()
    assert len(lines) == 17
    for i, (line, row) in enumerate(zip(lines, table.rows, strict=True)):
        assert line.split()[:5] == [
            str(i), f"0x{row.opcode:02X}", str(row.spec), f"0x{row.function:08x}", names[row.opcode].name,
        ]  # fmt: skip
        assert line.endswith(row.kernel)
    assert "not as published" not in out


def test_an_image_is_known_by_name_content_or_by_being_told(make_image, catalogue, tmp_path):
    table = table_of(catalogue, "cayman")
    data = make_image(table)
    for name in (f"{table.symbol}.bin", "renamed.so"):
        (tmp_path / name).write_bytes(data)
    with MappedFile(tmp_path / f"{table.symbol}.bin") as named:
        assert known_table(named, catalogue) == table
    with MappedFile(tmp_path / "renamed.so") as other:
        import hashlib

        site = catalogue.by_symbol[table.symbol]
        published = evolve(site, sha256=hashlib.sha256(data).hexdigest()[:8])
        assert known_table(other, catalogue) is None
        assert known_table(other, Catalogue.of([published, table])) == table
        assert known_table(other, catalogue, "cayman", "extisa_0") == table
        with pytest.raises(UsageError, match="several"):
            known_table(other, catalogue, None, "EXTISA_0")
        with pytest.raises(UsageError, match="no kernel table"):
            known_table(other, catalogue, "maverick", "EXTISA_3")


def test_the_address_goes_through_the_segment_that_loads_it(make_image, catalogue, tmp_path):
    """Where both are published, the offset is that of the address in its own segment."""
    for generation, offset in (("cayman", 0x7400), ("sunda", 0xB260)):
        table = table_of(catalogue, generation)
        path = tmp_path / generation
        path.write_bytes(make_image(table, size=0xC000))
        with MappedFile(path) as file:
            assert find_table(file, table) == table.offset == offset
            assert find_table(file, evolve(table, address=None)) == offset
            with pytest.raises(BadInput, match="no segment"):
                find_table(file, evolve(table, address=0x7FFFFFF0))
            with pytest.raises(UsageError, match="neither the address nor the offset"):
                find_table(file, evolve(table, address=None, offset=None))


def test_kernels_by_offset_and_count(make_image, catalogue, tmp_path, blobs):
    table = table_of(catalogue, "sunda")
    path = tmp_path / "container.so"
    path.write_bytes(bytes(0x1000) + make_image(table, size=0xC000))
    code, out, _ = blobs("kernels", path, "--gen", "sunda", "--offset", "0xc260", "--count", "18", "--json")
    assert code == 0
    assert rows_of(out) == [(r.opcode, r.spec, r.function) for r in table.rows]
    assert json.loads(out.splitlines()[0])["name"] == "indirect_copy"
    assert json.loads(out.splitlines()[0])["published"] is None


def test_maverick_by_its_published_offset_alone(make_image, catalogue, tmp_path, blobs):
    table = table_of(catalogue, "maverick")
    assert (table.address, table.offset) == (None, 0x7038)
    path = tmp_path / "m.bin"
    path.write_bytes(make_image(table))
    code, out, _ = blobs("kernels", path, "--gen", "maverick", "--image", "EXTISA_0", "--json")
    assert code == 0
    assert rows_of(out) == [(r.opcode, r.spec, r.function) for r in table.rows]
    code, _, err = blobs("kernels", path, "--gen", "maverick", "--image", "EXTISA_1")
    assert code == 2
    assert "--offset and --count" in err


def test_a_row_that_is_not_as_published_says_so(make_image, catalogue, tmp_path, blobs):
    table = table_of(catalogue, "cayman")
    changed = evolve(table, rows=(evolve(table.rows[0], function=0x01234567), *table.rows[1:]))
    path = tmp_path / f"{table.symbol}.bin"
    path.write_bytes(make_image(changed))
    _, out, _ = blobs("kernels", path)
    assert [i for i, line in enumerate(out.splitlines()) if "not as published" in line] == [0]
    assert "0x01234567" in out


def test_an_opcode_that_the_generation_does_not_declare_is_shown_as_a_number(tmp_path, blobs):
    pytest.importorskip("gpsimd_cayman")
    path = tmp_path / "raw"
    path.write_bytes(struct.pack("<HBBI", 0, 0, 0x97, 0x1000))
    code, out, _ = blobs("kernels", path, "--gen", "cayman", "--offset", "0", "--count", "1")
    assert code == 0
    assert out.split()[:5] == ["0", "0x97", "0", "0x00001000", "?"]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        pytest.param((), 2, "not a known image", id="unknown"),
        pytest.param(("--offset", "0x10"), 2, "not a known image", id="no count"),
        pytest.param(("--offset", "ten", "--count", "1"), 2, "file offset", id="no number"),
        pytest.param(("--offset", "-8", "--count", "1"), 2, "file offset", id="negative"),
        pytest.param(("--offset", "0x40", "--count", "5"), 3, "end at 0x68, the file at 0x60", id="beyond the end"),
        pytest.param(("--offset", "0", "--count", "2"), 3, "two zero bytes", id="no table there"),
        pytest.param(("--gen", "cayman", "--image", "EXTISA_0"), 3, "not an ELF file", id="no image"),
    ],
)
def test_what_cannot_be_read(args, code, said, tmp_path, blobs):
    if "cayman" in args:
        pytest.importorskip("gpsimd_cayman")
    path = tmp_path / "raw"
    path.write_bytes(bytes.fromhex("0000000000000000 0100000000000000") + bytes(0x50))
    got, out, err = blobs("kernels", path, *args)
    assert (got, out) == (code, "")
    assert said in err


def test_read_table_stops_at_the_end(tmp_path):
    path = tmp_path / "raw"
    path.write_bytes(bytes(16))
    with MappedFile(path) as file:
        assert len(read_table(file, 0, 2)) == 2
        with pytest.raises(BadInput):
            read_table(file, 1, 2)
