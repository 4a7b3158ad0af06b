"""Kernel-info tables: which function of a POOL vector-core image handles which opcode.

A record has 8 bytes: two zero bytes, the second-level number (`spec`) of 0xF0, the opcode, and the address of the
function, little-endian. The device scans them one after the other. Source: The Opcode ↔ Kernel ↔ Engine Matrix.
"""

from __future__ import annotations

import struct

from gpsimd_core.blobs import Catalogue
from gpsimd_core.errors import BadInput, UsageError
from gpsimd_core.hostlibrary import MappedFile, read_elf
from gpsimd_core.values import KernelRow, KernelTable

__all__ = ["RECORD", "find_table", "known_table", "read_table"]

RECORD = struct.Struct("<HBBI")


def known_table(
    file: MappedFile, catalogue: Catalogue, generation: str | None = None, image: str | None = None
) -> KernelTable | None:
    """The published table that an image has: by what is given, else by the name of a carved file, else by its digest.

    Args:
        file: the image.
        catalogue: the generations to look in.
        generation: its name.
        image: such as `EXTISA_0`.

    Raises:
        UsageError: no table, or several, answer to what is given.
    """
    if generation is None and image is None:
        return _by_file(file, catalogue)
    hits = [
        t
        for t in catalogue.kernels
        if (generation is None or t.generation == generation) and (image is None or t.image == image.upper())
    ]
    if len(hits) != 1:
        these = ", ".join(f"{t.generation} {t.image}" for t in hits or catalogue.kernels)
        raise UsageError(f"{'several kernel tables' if hits else 'no kernel table'} answer to this; there are {these}")
    return hits[0]


def _by_file(file: MappedFile, catalogue: Catalogue) -> KernelTable | None:
    import hashlib

    by_symbol = {t.symbol: t for t in catalogue.kernels if t.symbol}
    if file.path.stem in by_symbol:
        return by_symbol[file.path.stem]
    digest = hashlib.sha256(file.data).hexdigest()
    for symbol, table in by_symbol.items():
        published = catalogue.by_symbol[symbol].sha256
        if published and digest.startswith(published):
            return table
    return None


def find_table(file: MappedFile, table: KernelTable) -> int:
    """File offset of a published table in its image.

    Its address goes through the segment that loads it; where no address is published, its offset is taken.

    Raises:
        BadInput: the image loads nothing at the address.
        UsageError: neither address nor offset is published.
    """
    if table.address is not None:
        offset = read_elf(file).file_offset(table.address)
        if offset is None:
            raise BadInput(f"{file.path}: no segment holds the table's address {table.address:#x}")
        return offset
    if table.offset is not None:
        return table.offset
    raise UsageError(
        f"neither the address nor the offset of the kernel table of {table.generation} {table.image} is published; "
        "give --offset and --count"
    )


def read_table(file: MappedFile, offset: int, count: int) -> tuple[KernelRow, ...]:
    """The records of a table.

    Args:
        file: the image, or any file that holds the table.
        offset: file offset of the first record.
        count: records.

    Raises:
        BadInput: the file ends before the table does, or the bytes are no such records.
    """
    if offset + count * RECORD.size > file.size:
        raise BadInput(
            f"{file.path}: {count} records at {offset:#x} end at {offset + count * RECORD.size:#x}, the file at "
            f"{file.size:#x}"
        )
    rows = []
    for i in range(count):
        raw = file.bytes(offset + i * RECORD.size, RECORD.size)
        zero, spec, opcode, function = RECORD.unpack(raw)
        if zero:
            raise BadInput(
                f"{file.path}: record {i} at {offset + i * RECORD.size:#x} is {raw.hex()}; a record begins with two "
                "zero bytes: this is no kernel-info table"
            )
        rows.append(KernelRow(opcode=opcode, spec=spec, function=function))
    return tuple(rows)
