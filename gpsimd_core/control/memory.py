"""Memory: bytes in regions, and the lanes that reach them.

Addresses are 32 bits. Memory is a few regions, each with its rights; whatever lies in no region is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from gpsimd_core.control.exceptions import (
    LOAD_STORE_ALIGNMENT,
    LOAD_STORE_ERROR,
    LOAD_STORE_PROHIBITED,
    STORE_PROHIBITED,
)
from gpsimd_core.control.layout import (
    ADDRESS,
    CLASSIC,
    EXECUTE,
    MAX_REGIONS,
    READ,
    REGION_COUNT,
    REGION_FIELDS,
    REGIONS,
    STORE_LOG,
    STORES,
    WRITE,
    Bytes,
    Words,
)
from gpsimd_core.errors import BadValue
from gpsimd_core.isa.lane import lane

NOWHERE = -1
FORBIDDEN = -2

_i64: Callable[[int], int] = np.int64  # type: ignore[assignment]


@lane
def locate(m: Words, address: int, size: int, access: int) -> int:
    """Position of `size` bytes at `address` in the byte array, NOWHERE, or FORBIDDEN where `access` is not allowed."""
    for region in range(m[REGION_COUNT]):
        at = REGIONS + REGION_FIELDS * region
        if m[at] <= address and address + size <= m[at + 1]:
            if m[at + 3] & access:
                return m[at + 2] + address - m[at]
            return FORBIDDEN
    return NOWHERE


@lane
def byte(memory: Bytes, at: int) -> int:
    """One byte as a plain number, which can be shifted."""
    return _i64(memory[at])


@lane
def peek(memory: Bytes, at: int, size: int) -> int:
    """The little-endian number in `size` bytes at a position that `locate` gave."""
    value = byte(memory, at)
    for k in range(1, size):
        value |= byte(memory, at + k) << (8 * k)
    return value


@lane
def poke(m: Words, memory: Bytes, at: int, size: int, value: int, address: int) -> None:
    """Store the low `size` bytes of `value` at a position that `locate` gave, and note where for the trace."""
    for k in range(size):
        memory[at + k] = (value >> (8 * k)) & 255
    log = STORE_LOG + 2 * m[STORES]
    m[log] = address
    m[log + 1] = size
    m[STORES] += 1


@lane
def access_fault(m: Words, at: int, access: int) -> int:
    """The exception for a failed `locate` of data."""
    if at == NOWHERE:
        return LOAD_STORE_ERROR
    if m[CLASSIC] and access == WRITE:
        return STORE_PROHIBITED
    return LOAD_STORE_PROHIBITED


@lane
def locate_data(m: Words, address: int, size: int, access: int) -> int:
    """Like `locate`, for loads and stores: alignment counts, and a fault is minus the exception's number.

    m[ADDRESS] takes the address, which a fault reports.
    """
    m[ADDRESS] = address
    if address & (size - 1):
        return -LOAD_STORE_ALIGNMENT
    at = locate(m, address, size, access)
    if at < 0:
        return -access_fault(m, at, access)
    return at


_RIGHTS = {"r": READ, "w": WRITE, "x": EXECUTE}


def _rights(text: str) -> int:
    if not text or set(text) - set(_RIGHTS):
        raise BadValue(f"region rights {text!r}: allowed are the letters r, w and x")
    return sum(_RIGHTS[letter] for letter in set(text))


@frozen(kw_only=True)
class Region:
    """A stretch of memory.

    Args:
        base: its first address.
        size: bytes.
        rights: the letters r, w and x, as far as they hold.
    """

    base: int = field()
    size: int = field()
    rights: str = "rwx"

    @size.validator
    def _fits(self, _attribute: object, value: int) -> None:
        if value < 1 or self.base < 0 or self.base + value > 1 << 32:
            raise BadValue(f"region of {value} bytes at {self.base:#x}: it must lie within 0 to 0xffffffff")


DEFAULT_MAP = (Region(base=0, size=16 << 20),)


class Memory:
    """The bytes of all regions in one array, which the interpreter writes in place."""

    def __init__(self, regions: Iterable[Region] = DEFAULT_MAP) -> None:
        self.regions = tuple(sorted(regions, key=lambda region: region.base))
        if not 0 < len(self.regions) <= MAX_REGIONS:
            raise BadValue(f"{len(self.regions)} memory regions: allowed are 1 to {MAX_REGIONS}")
        for first, second in zip(self.regions, self.regions[1:], strict=False):
            if first.base + first.size > second.base:
                raise BadValue(f"memory regions at {first.base:#x} and {second.base:#x} overlap")
        self.bytes: NDArray[np.uint8] = np.zeros(sum(region.size for region in self.regions), np.uint8)

    def describe(self, m: NDArray[np.int64]) -> None:
        """Write the map into the state, where the lanes find it."""
        m[REGION_COUNT] = len(self.regions)
        position = 0
        for k, region in enumerate(self.regions):
            at = REGIONS + REGION_FIELDS * k
            m[at : at + REGION_FIELDS] = (
                region.base,
                region.base + region.size,
                position,
                _rights(region.rights),
            )
            position += region.size

    def _view(self, address: int, size: int) -> NDArray[np.uint8]:
        position = 0
        for region in self.regions:
            if region.base <= address and address + size <= region.base + region.size:
                start = position + address - region.base
                return self.bytes[start : start + size]
            position += region.size
        raise BadValue(f"{size} bytes at {address:#x}: no memory region holds them all; {self}")

    def read(self, address: int, size: int) -> bytes:
        """`size` bytes at `address`, whatever the region's rights.

        Raises:
            BadValue: no region holds them all.
        """
        return self._view(address, size).tobytes()

    def write(self, address: int, data: bytes) -> None:
        """Put bytes at `address`, whatever the region's rights.

        Raises:
            BadValue: no region holds them all.
        """
        self._view(address, len(data))[:] = np.frombuffer(data, np.uint8)

    def word(self, address: int) -> int:
        """The 32-bit little-endian word at `address`."""
        return int.from_bytes(self.read(address, 4), "little")

    def holds(self, address: int, size: int) -> bool:
        """Whether one region holds all these bytes."""
        return any(region.base <= address and address + size <= region.base + region.size for region in self.regions)

    def __str__(self) -> str:
        return "memory is " + ", ".join(
            f"{region.base:#x} to {region.base + region.size - 1:#x} ({region.rights})" for region in self.regions
        )
