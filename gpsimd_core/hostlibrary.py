"""A real host library against the device-blob catalogue: verify it, carve it, read its kernel tables.

Files are memory-mapped and may be damaged or hostile: whatever they hold, the answer is a value or a `BadInput`, and
the work stays proportional to the size of the file.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import re
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from attrs import field, frozen
from elftools.common.utils import struct_parse
from elftools.elf.elffile import ELFFile

from gpsimd_core.blobs import EXPECTED, Catalogue, self_name_text
from gpsimd_core.errors import BadInput, GpsimdError, UsageError
from gpsimd_core.values import BlobSite

__all__ = ["Check", "Elf", "HostLibrary", "Mismatch", "OtherBuild", "Symbol", "carve", "read_elf", "verify"]

MOST_SECTIONS = 0xFF00
ARCHIVES = (b"!<arch>\n", b"!<thin>\n")
SYMBOL_NAME = re.compile(rb"\0([A-Z][A-Z0-9_]{1,96}_get(?:\.data)?)(?=\0)")
SYMBOLS = {
    64: np.dtype(
        [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
    ),
    32: np.dtype(
        [("name", "<u4"), ("value", "<u4"), ("size", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")]
    ),
}


class OtherBuild(GpsimdError):
    """The file is a host library, and another build than the one that the catalogue describes."""

    exit_code = 1


@frozen(kw_only=True)
class Symbol:
    """What a symbol table says of a name."""

    address: int
    size: int


@frozen(kw_only=True)
class Elf:
    """The parts of an ELF file that matter here, checked to lie inside it."""

    bits: int
    kind: str
    segments: tuple[tuple[int, int, int], ...]
    """(address, file offset, bytes in the file) of each part that is loaded."""
    symbol_tables: tuple[tuple[int, int, int, int], ...]
    """(offset, size, offset of its strings, their size); the dynamic table first."""

    def file_offset(self, address: int) -> int | None:
        """Where the byte at an address stands in the file; None where none is loaded there."""
        for start, offset, size in self.segments:
            if start <= address < start + size:
                return offset + address - start
        return None


class MappedFile:
    """A file, memory-mapped for reading. A context manager.

    Args:
        path: a regular file that is not empty.

    Raises:
        BadInput: it is missing, unreadable, empty or no regular file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise BadInput(f"{self.path}: not a file")
            with self.path.open("rb") as f:
                if self.path.stat().st_size == 0:
                    raise BadInput(f"{self.path}: empty")
                self.data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as e:
            raise BadInput(f"{self.path}: {e.strerror or e}") from e
        self.size = len(self.data)

    def __enter__(self) -> MappedFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.data.close()

    def bytes(self, offset: int, size: int) -> bytes:
        """Bytes of the file; fewer where it ends before."""
        return self.data[offset : offset + size]


class HostLibrary(MappedFile):
    """A host library: a 64-bit little-endian shared object. A context manager.

    Args:
        path: the file.

    Raises:
        BadInput: not such a file: no ELF, an archive, truncated, or with blobs that overlap.
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        try:
            elf = read_elf(self)
            if (elf.bits, elf.kind) != (64, "ET_DYN"):
                raise BadInput(f"{self.path}: {elf.bits}-bit {elf.kind}, not a 64-bit shared library")
            self.symbols = self._read_symbols(elf)
            self._refuse_overlaps()
        except BaseException:
            self.data.close()
            raise

    def __enter__(self) -> HostLibrary:
        return self

    def _read_symbols(self, elf: Elf) -> dict[str, Symbol] | None:
        """Accessors and data objects by name; None where the file has no symbol table."""
        found: dict[str, Symbol] = {}
        for offset, size, strings, length in elf.symbol_tables:
            names = {
                m.start(1) - strings: m[1].decode() for m in SYMBOL_NAME.finditer(self.data, strings, strings + length)
            }
            table = np.frombuffer(self.data, SYMBOLS[64], size // SYMBOLS[64].itemsize, offset)
            rows = table[np.isin(table["name"], list(names)) & (table["section"] != 0)].copy()
            del table  # a view would keep the file mapped
            found.update({names[int(r["name"])]: Symbol(address=int(r["value"]), size=int(r["size"])) for r in rows})
        return found if elf.symbol_tables else None

    def _refuse_overlaps(self) -> None:
        """Aliases share a range; two different ranges that intersect cannot both be blobs."""
        ranges: dict[tuple[int, int], str] = {}
        for name, symbol in sorted((self.symbols or {}).items()):
            if name.endswith("_get.data") and symbol.size:
                ranges.setdefault((symbol.address, symbol.address + symbol.size), name)
        before: tuple[int, int] | None = None
        for span in sorted(ranges):
            if before and span[0] < before[1]:
                raise BadInput(
                    f"{self.path}: {ranges[before]} ({before[0]:#x} to {before[1]:#x}) and {ranges[span]} "
                    f"({span[0]:#x} to {span[1]:#x}) overlap"
                )
            before = span if before is None or span[1] > before[1] else before


def read_elf(file: MappedFile) -> Elf:
    """The headers of an ELF file.

    Raises:
        BadInput: it is no little-endian ELF file, or its headers point outside it.
    """
    head = file.bytes(0, 8)
    if head in ARCHIVES:
        raise BadInput(f"{file.path}: an archive, not a shared library")
    if head[:4] != b"\x7fELF":
        raise BadInput(f"{file.path}: not an ELF file")
    try:
        return _read_elf(file)
    except GpsimdError:
        raise
    except Exception as e:  # the ELF library raises whatever a damaged header leads it into
        raise BadInput(f"{file.path}: damaged ELF headers ({type(e).__name__}: {e})") from e


def _read_elf(file: MappedFile) -> Elf:
    stream: Any = file.data
    elf = ELFFile(stream)
    if not elf.little_endian:
        raise BadInput(f"{file.path}: big-endian")
    header, structs = elf.header, elf.structs
    sections = elf.num_sections() if header["e_shoff"] else 0
    if sections > MOST_SECTIONS:
        raise BadInput(f"{file.path}: {sections} sections are more than {MOST_SECTIONS}")

    def rows(kind: str, layout: Any, count: int) -> list[Any]:
        start, step = header[f"e_{kind}off"], header[f"e_{kind}entsize"]
        if count and step != layout.sizeof():
            raise BadInput(f"{file.path}: its {kind} headers have {step} bytes, not {layout.sizeof()}")
        _inside(file, start, count * step, f"table of {kind} headers")
        return [struct_parse(layout, stream, start + i * step) for i in range(count)]

    segments = []
    for p in rows("ph", structs.Elf_Phdr, header["e_phnum"]):
        _inside(file, p["p_offset"], p["p_filesz"], "segment")
        if p["p_type"] == "PT_LOAD":
            segments.append((p["p_vaddr"], p["p_offset"], p["p_filesz"]))
    table = rows("sh", structs.Elf_Shdr, sections)
    for s in table:
        if s["sh_type"] not in ("SHT_NOBITS", "SHT_NULL"):
            _inside(file, s["sh_offset"], s["sh_size"], "section")
    symbols = []
    for kind in ("SHT_DYNSYM", "SHT_SYMTAB"):
        for s in table:
            if s["sh_type"] == kind and s["sh_size"]:
                strings = table[s["sh_link"]]
                if s["sh_entsize"] != SYMBOLS[elf.elfclass].itemsize or strings["sh_type"] != "SHT_STRTAB":
                    raise BadInput(f"{file.path}: damaged symbol table")
                symbols.append((s["sh_offset"], s["sh_size"], strings["sh_offset"], strings["sh_size"]))
    return Elf(bits=elf.elfclass, kind=header["e_type"], segments=tuple(segments), symbol_tables=tuple(symbols))


def _inside(file: MappedFile, offset: int, size: int, what: str) -> None:
    if offset + size > file.size:
        raise BadInput(f"{file.path}: truncated: its {what} ends at {offset + size:#x}, the file at {file.size:#x}")


@frozen(kw_only=True)
class Mismatch:
    """One place where a library is not what the catalogue says."""

    subject: str
    expected: str
    found: str


@frozen(kw_only=True)
class Check:
    """One class of comparisons: how many were made, what did not agree, what could not be compared."""

    name: str
    compared: int = 0
    mismatches: tuple[Mismatch, ...] = ()
    absent: tuple[str, ...] = ()
    """Symbols that are not in this file, which is no mismatch."""
    counted: Mapping[str, int] = field(factory=dict, hash=False)
    """Occurrences that no published count judges."""
    note: str = ""


def verify(library: HostLibrary, catalogue: Catalogue, content: bool = False) -> tuple[Check, ...]:
    """Compare a library with the catalogue.

    Args:
        library: the file.
        catalogue: the generations to look for.
        content: also compare the published digests of the blobs' bytes.

    Returns:
        Four checks, in this order: symbols, names, counts, content.
    """
    return (
        _check_symbols(library, catalogue),
        _check_names(library, catalogue),
        _check_counts(library, catalogue),
        _check_content(library, catalogue) if content else Check(name="content", note="not compared"),
    )


def _check_symbols(library: HostLibrary, catalogue: Catalogue) -> Check:
    if library.symbols is None:
        return Check(name="symbols", note="not compared: the file has no symbol table")
    compared, wrong, absent = 0, [], []
    for site in catalogue.sites:
        rows = {site.symbol: (site.accessor, None), f"{site.symbol}.data": (site.offset, site.size)}
        for name, (address, size) in rows.items():
            symbol = library.symbols.get(name)
            if symbol is None:
                absent.append(name)
                continue
            compared += 1
            there = (symbol.address, None if size is None else symbol.size)  # no size is published for accessors
            if there != (address, size):
                wrong.append(Mismatch(subject=name, expected=_range(address, size), found=_range(*there)))
    return Check(name="symbols", compared=compared, mismatches=tuple(wrong), absent=tuple(absent))


def _range(address: int, size: int | None) -> str:
    return f"{address:#x}" if size is None else f"{address:#x}, {size:#x} bytes"


def _check_names(library: HostLibrary, catalogue: Catalogue) -> Check:
    compared, wrong = 0, []
    for site in catalogue.sites:
        for name in site.self_names:
            compared += 1
            text = self_name_text(name.text)
            there = library.bytes(name.offset, len(text))
            if there != text:
                found = repr(there) if there else f"the file ends at {library.size:#x}"
                subject = f"{name.text} at {name.offset:#x} in {site.symbol}"
                wrong.append(Mismatch(subject=subject, expected=repr(text), found=found))
    return Check(name="names", compared=compared, mismatches=tuple(wrong))


def _check_counts(library: HostLibrary, catalogue: Catalogue) -> Check:
    names = sorted({*EXPECTED, *catalogue.texts()})
    # Whole texts, which cannot overlap: each begins with the prefix and ends with the line.
    pattern = re.compile(b"S: (" + b"|".join(re.escape(n.encode()) for n in names) + b")\n")
    found = Counter(m[1].decode() for m in pattern.finditer(library.data))
    counts = {n: found[n] for n in names}
    wrong = [
        Mismatch(subject=n, expected=str(expected), found=str(counts[n]))
        for n, expected in EXPECTED.items()
        if counts[n] != expected
    ]
    rest = {n: c for n, c in counts.items() if n not in EXPECTED}
    return Check(name="counts", compared=len(EXPECTED), mismatches=tuple(wrong), counted=rest)


def _check_content(library: HostLibrary, catalogue: Catalogue) -> Check:
    compared, wrong = 0, []
    for site in catalogue.sites:
        if site.sha256:
            compared += 1
            found = digest(library, site)
            if not found.startswith(site.sha256):
                found = found[: len(site.sha256)] if site.end <= library.size else f"the file ends at {library.size:#x}"
                wrong.append(Mismatch(subject=site.symbol, expected=site.sha256, found=found))
    return Check(name="content", compared=compared, mismatches=tuple(wrong))


def digest(library: HostLibrary, site: BlobSite) -> str:
    """SHA-256 of a blob's bytes, in hexadecimal."""
    with memoryview(library.data) as view, view[site.offset : site.end] as part:
        return hashlib.sha256(part).hexdigest()


def carve(library: HostLibrary, sites: Iterable[BlobSite], directory: str | Path) -> list[dict[str, Any]]:
    """Write blobs as files: `<symbol>.bin` each, and `carve.json`, which describes them.

    Args:
        library: the file.
        sites: the blobs.
        directory: where to write; it is made.

    Returns:
        The rows of `carve.json`: symbol, offset, size, sha256.

    Raises:
        BadInput: the file ends before a blob does.
        OtherBuild: the file's symbol table puts a blob elsewhere. Nothing is written.
        UsageError: the directory cannot be written.
    """
    sites = list(sites)
    for site in sites:
        _inside(library, site.offset, site.size, f"blob {site.symbol}")
        there = (library.symbols or {}).get(f"{site.symbol}.data")
        if there is not None and (there.address, there.size) != (site.offset, site.size):
            raise OtherBuild(
                f"{library.path}: {site.symbol}.data lies at {_range(there.address, there.size)} in this file, the "
                f"catalogue says {_range(site.offset, site.size)}: another build of the library"
            )
    rows = []
    target = Path(directory)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for site in sites:
            with memoryview(library.data) as view, view[site.offset : site.end] as part:
                target.joinpath(f"{site.symbol}.bin").write_bytes(part)
            rows.append(
                {"symbol": site.symbol, "offset": site.offset, "size": site.size, "sha256": digest(library, site)}
            )
        target.joinpath("carve.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    except OSError as e:
        raise UsageError(f"{target}: cannot write: {e.strerror or e}") from e
    return rows
