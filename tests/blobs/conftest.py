"""Synthetic host libraries and images, built from the catalogue: no vendor file is needed."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gpsimd_core import host
from gpsimd_core.blobs import Catalogue, self_name_text
from gpsimd_core.values import BlobSite, Evidence, KernelTable

TEXT_DELTA = 0x2000
"""Code lies this much above its file offset; read-only data lies at it."""
SYMTAB, STRTAB, PROGBITS, FUNC, OBJECT = 2, 3, 1, 2, 1


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """Every installed generation; most tests need all of them."""
    names = host.generations()
    if len(names) < 5:
        pytest.skip("needs all four generation plugins")
    machines = [host.load(name) for name in names]
    return Catalogue.of(value for m in machines for value in m.hooks.blobs(m.generation))


def free_place(site: BlobSite, taken: Iterable[range], size: int) -> int:
    """The last place in a blob where `size` bytes touch nothing that is taken."""
    for start in range(site.end - size, site.offset - 1, -1):
        if all(start + size <= r.start or start >= r.stop for r in taken):
            return start
    raise AssertionError(f"no place for {size} bytes in {site.symbol}")


def texts(sites: Iterable[BlobSite]) -> dict[int, bytes]:
    """File offset to bytes: every self-name, and those that no page places, at free places of their blobs."""
    content = {}
    for site in sites:
        taken = []
        for name in site.self_names:
            content[name.offset] = self_name_text(name.text)
            taken.append(range(name.offset, name.offset + len(content[name.offset])))
        for name in site.unplaced:
            text = self_name_text(name)
            start = free_place(site, taken, len(text))
            content[start] = text
            taken.append(range(start, start + len(text)))
    return content


def symbols(sites: Iterable[BlobSite]) -> list[tuple[str, int, int, int]]:
    """(name, kind, address, size) of every accessor and data object."""
    rows = []
    for site in sites:
        rows.append((site.symbol, FUNC, site.accessor, 0x15))
        rows.append((f"{site.symbol}.data", OBJECT, site.offset, site.size))
    return rows


def _up(number: int) -> int:
    return -(-number // 16) * 16


def write_library(
    path: Path,
    content: Mapping[int, bytes],
    table: Iterable[tuple[str, int, int, int]] | None,
    end: int,
    code: range,
) -> Path:
    """A sparse 64-bit shared object.

    Args:
        path: the file.
        content: file offset to bytes.
        table: symbols; None for a file without a symbol table.
        end: end of the read-only data, whose addresses are file offsets.
        code: addresses of the code, which stands TEXT_DELTA before them.
    """
    text = code.start - TEXT_DELTA
    sections = [  # name, kind, flags, address, offset, size, link, entry size
        (".rodata", PROGBITS, 2, 0x1000, 0x1000, end - 0x1000, 0, 0),
        (".text", PROGBITS, 6, code.start, text, len(code), 0, 0),
    ]
    writes = dict(content)
    at = _up(max(end, text + len(code)))
    if table is not None:
        strings, rows = bytearray(b"\0"), bytearray(24)
        for name, kind, address, size in table:
            rows += struct.pack("<IBBHQQ", len(strings), 0x10 | kind, 0, 2 if kind == FUNC else 1, address, size)
            strings += name.encode() + b"\0"
        for name, kind, data, link, entry in ((".symtab", SYMTAB, rows, 4, 24), (".strtab", STRTAB, strings, 0, 0)):
            sections.append((name, kind, 0, 0, at, len(data), link, entry))
            writes[at] = bytes(data)
            at = _up(at + len(data))
    names = b"\0" + b"".join(s[0].encode() + b"\0" for s in sections) + b".shstrtab\0"
    sections.append((".shstrtab", STRTAB, 0, 0, at, len(names), 0, 0))
    writes[at] = names
    at = _up(at + len(names))
    headers = bytes(64)
    for name, kind, flags, address, offset, size, link, entry in sections:
        word = names.index(b"\0" + name.encode() + b"\0") + 1
        headers += struct.pack("<IIQQQQIIQQ", word, kind, flags, address, offset, size, link, 1, 1, entry)
    count = len(sections) + 1
    writes[at] = headers
    writes[0] = (
        b"\x7fELF\x02\x01\x01" + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, at, 0, 64, 56, 2, 64, count, count - 1)
        + struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, end, end, 0x1000)
        + struct.pack("<IIQQQQQQ", 1, 5, text, code.start, code.start, len(code), len(code), 0x1000)
    )  # fmt: skip
    with path.open("wb") as f:
        for offset, data in writes.items():
            f.seek(offset)
            f.write(data)
    return path


@pytest.fixture(scope="session")
def symbol_rows(catalogue: Catalogue) -> list[tuple[str, int, int, int]]:
    """(name, kind, address, size) of every symbol that the catalogue names."""
    return symbols(catalogue.sites)


@pytest.fixture
def library(catalogue: Catalogue, symbol_rows: list[tuple[str, int, int, int]], tmp_path: Path) -> Callable[..., Path]:
    """`library(...)`: a host library as the catalogue has it; `content`, `table` and `name` change single things."""

    def build(
        content: Mapping[int, bytes] | None = None,
        table: list[tuple[str, int, int, int]] | None = symbol_rows,
        name: str = "libnrtucode_internal.so",
    ) -> Path:
        sites = catalogue.sites
        code = range(min(s.accessor for s in sites), max(s.accessor for s in sites) + 0x20)
        return write_library(tmp_path / name, texts(sites) | dict(content or {}), table, sites[-1].end, code)

    return build


SMALL = BlobSite(
    generation="tiny", symbol="TINY_NX_DVE_DEBUG_DRAM_get", core="NX", engine="dve", build="DEBUG", region="DRAM",
    offset=0x1000, end=0x1400, accessor=0x5000, sha256="00000000", evidence=Evidence(confidence="none", source="a test"),
)  # fmt: skip


@pytest.fixture(scope="session")
def small_catalogue() -> Catalogue:
    """A catalogue of one blob."""
    return Catalogue.of([SMALL])


@pytest.fixture
def small_library(tmp_path: Path) -> Callable[[], Path]:
    """`small_library()`: a shared object of a few kilobytes with that one blob, written anew."""
    return lambda: write_library(tmp_path / "small.so", {}, symbols([SMALL]), 0x2000, range(0x5000, 0x5100))


def image(table: KernelTable, size: int = 0x9000) -> bytes:
    """A 32-bit image whose segments load a kernel table at its published address, with its published rows."""
    records = b"".join(struct.pack("<HBBI", 0, r.spec, r.opcode, r.function) for r in table.rows)
    offset = table.offset if table.offset is not None else 0x7400
    address = table.address if table.address is not None else offset
    head = b"\x7fELF\x01\x01\x01" + bytes(9)
    head += struct.pack("<HHIIIIIHHHHHH", 2, 94, 1, 0x1000080, 52, 0, 0, 52, 32, 2, 40, 0, 0)
    head += struct.pack("<IIIIIIII", 1, 0x100, 0x1000000, 0x1000000, 0x6F00, 0x6F00, 5, 0x100)
    head += struct.pack("<IIIIIIII", 1, offset - 0x80, address - 0x80, address - 0x80, 0x400, 0x400, 6, 0x80)
    body = bytearray(size)
    body[: len(head)] = head
    body[offset : offset + len(records)] = records
    return bytes(body)


@pytest.fixture
def make_image() -> Callable[..., bytes]:
    """`make_image(table)`: the image of a published kernel table."""
    return image


load_once = functools.cache(host.load)
"""Machines are frozen: one of each generation serves every test."""


@pytest.fixture
def blobs(command_line: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """`blobs(*args)`: run `gpsimd blobs`; gives exit code, standard output, standard error."""
    if not host.generations():
        pytest.skip("needs a generation plugin")
    monkeypatch.setattr(host, "load", load_once)

    def run(*args: object) -> tuple[int, str, str]:
        told = command_line("blobs", *args)
        return told.code, told.out, told.err

    return run
