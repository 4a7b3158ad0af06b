"""SBUF and PSUM of one NeuronCore: 128 partitions each, kept in one array of bytes.

Addresses have the architectural partition stride; storage has a private pitch, the active size plus 64 bytes, so that
the partitions do not all fall on the same cache sets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from gpsimd_core.errors import BadValue
from gpsimd_core.isa.dtypes import BY_CODE, BY_NAME, code_of
from gpsimd_core.values import Geometry

if TYPE_CHECKING:
    from gpsimd_core.isa.formats import Format

__all__ = ["PAD", "POISON", "Memory", "Region"]

PAD = 64
POISON = 0xA5


@frozen(kw_only=True, eq=False)
class Region:
    """One of the two memories. Arrays that go in and out are (partitions, elements)."""

    name: str
    base: int
    """Flat address of partition 0; meaningless where `window` is 0."""
    stride: int
    """Address distance between partitions, bytes."""
    active: int
    """Usable bytes of a partition."""
    window: int
    """Size of the address window; 0 where flat addresses cannot name the region."""
    start: int
    """Storage byte of partition 0."""
    pitch: int
    """Storage distance between partitions, bytes."""
    data: np.ndarray[Any, Any]
    written: np.ndarray[Any, Any]
    """One mark a storage byte: 1 where an array was stored."""
    formats: Mapping[int, Format]

    def write(self, array: Any, partition: int = 0, offset: int = 0) -> None:
        """Store an array, bit for bit.

        Args:
            array: (partitions, ...) numpy or ml_dtypes array of a dtype that the memory knows; later axes are
                laid out one after the other.
            partition: where row 0 goes.
            offset: byte offset inside the partition.

        Raises:
            BadValue: unknown dtype, the other flavour of fp8 code 0xE, or a place outside the memory.
        """
        a = np.asarray(array)
        if a.ndim == 0:
            raise BadValue(f"{self.name}: an array of shape (partitions, elements) is needed, not a scalar")
        self.dtype_of(a.dtype)
        rows = np.ascontiguousarray(a.reshape(a.shape[0], -1)).astype(a.dtype.newbyteorder("<"), copy=False)
        target = self._bytes(self.data, partition, offset, a.shape[0], rows.shape[1] * a.dtype.itemsize)
        target[...] = rows.view(np.uint8).reshape(target.shape)
        self._bytes(self.written, partition, offset, *target.shape)[...] = 1

    def read(self, partition: int = 0, offset: int = 0, *, shape: Sequence[int], dtype: Any) -> np.ndarray[Any, Any]:
        """A copy of what is stored.

        Args:
            partition: of row 0.
            offset: byte offset inside the partition.
            shape: (partitions, ...).
            dtype: a dtype name, or a numpy or ml_dtypes dtype.

        Raises:
            BadValue: unknown dtype, or a place outside the memory.
        """
        kind = self.numpy_of(dtype)
        shape = tuple(int(n) for n in shape)
        if not shape or min(shape) < 0:
            raise BadValue(f"{self.name}: shape {shape} is not (partitions, elements)")
        width = math.prod(shape[1:]) * kind.itemsize
        found = self._bytes(self.data, partition, offset, shape[0], width)
        return found.copy().view(kind).reshape(shape)

    def numpy_of(self, dtype: Any) -> np.dtype[Any]:
        """The numpy dtype behind a dtype name, as the policies of this machine read it."""
        if isinstance(dtype, str) and dtype.lower() in BY_NAME:
            row = BY_NAME[dtype.lower()]
            fmt = self.formats.get(int(row.code))
            if fmt is None or not row.size or not fmt.readable:
                raise BadValue(f"{dtype} has no values that can be read; its format is not grounded")
            if dtype.lower() in ("fp8_e4m3", "fp8_e4m3fn") and fmt.name != dtype.lower():
                raise BadValue(f"dtype code 0xE is {fmt.name} on this machine, not {dtype.lower()} (policy fp8_exp4)")
            kind: np.dtype[Any] = fmt.dtype
            return kind
        try:
            kind = np.dtype(dtype)
        except TypeError:
            raise BadValue(f"no dtype is called {dtype!r}; there are {', '.join(BY_NAME)}") from None
        self.dtype_of(kind)
        return kind

    def dtype_of(self, kind: np.dtype[Any]) -> int:
        """The wire code of a numpy or ml_dtypes dtype.

        Raises:
            BadValue: the memory has no such dtype, or reads code 0xE in the other flavour.
        """
        plain = kind.newbyteorder("=")
        for code, fmt in self.formats.items():
            row = BY_CODE.get(code)  # type: ignore[call-overload]
            if row and row.size and fmt.readable and fmt.dtype == plain and row.name != "fp32r":
                return code
        names = ", ".join(sorted({r.name for r in BY_CODE.values() if r.size and r.format}))
        hint = ""
        if "e4m3" in kind.name:
            flavour = self.formats[int(code_of("fp8_e4m3"))]  # type: ignore[arg-type]
            hint = f"; code 0xE is {flavour.name} on this machine (policy fp8_exp4)"
        elif kind == np.bool_:
            hint = "; store booleans as uint8"
        raise BadValue(f"{self.name} holds no {kind.name} elements; allowed: {names}{hint}")

    def _bytes(
        self, storage: np.ndarray[Any, Any], partition: int, offset: int, rows: int, width: int
    ) -> np.ndarray[Any, Any]:
        if not 0 <= partition <= 128 - rows:
            raise BadValue(f"{self.name}: partitions {partition} to {partition + rows - 1} are outside 0 to 127")
        if offset < 0 or offset + width > self.active:
            raise BadValue(
                f"{self.name}: bytes {offset} to {offset + width - 1} are outside a partition of {self.active} bytes"
            )
        whole = storage[self.start : self.start + 128 * self.pitch].reshape(128, self.pitch)
        return whole[partition : partition + rows, offset : offset + width]


class Memory:
    """Both regions of a NeuronCore in one array of bytes.

    Args:
        geometry: of the generation.
        formats: wire dtype code to number format, as the policies say.
        fill: the byte that fresh memory holds.
    """

    def __init__(self, geometry: Geometry, formats: Mapping[int, Format], fill: int = POISON) -> None:
        g = geometry
        self.geometry = g
        sbuf_pitch, psum_pitch = g.sbuf_active + PAD, g.psum_active + PAD
        sbuf_bytes, psum_bytes = 128 * sbuf_pitch, 128 * psum_pitch
        raw = np.empty(sbuf_bytes + psum_bytes + PAD, np.uint8)
        lead = -raw.ctypes.data % PAD
        self.data: np.ndarray[Any, Any] = raw[lead : lead + sbuf_bytes + psum_bytes]
        self.data.fill(fill)
        self.written: np.ndarray[Any, Any] = np.zeros(self.data.size, np.uint8)
        """One mark a storage byte: 1 where somebody wrote it, through the API or, as a Checker keeps it, in a run."""
        self.sbuf = Region(
            name="sbuf", base=0, stride=g.sbuf_stride, active=g.sbuf_active, window=g.sbuf_window, start=0,
            pitch=sbuf_pitch, data=self.data, written=self.written, formats=formats,
        )  # fmt: skip
        self.psum = Region(
            name="psum", base=g.psum_base, stride=g.psum_stride, active=g.psum_active, window=g.psum_window,
            start=sbuf_bytes, pitch=psum_pitch, data=self.data, written=self.written, formats=formats,
        )  # fmt: skip
        self._shadow: np.ndarray[Any, Any] | None = None

    @property
    def shadow(self) -> np.ndarray[Any, Any]:
        """Storage of the same shape for sources that must be kept from before an instruction; undefined content."""
        if self._shadow is None:
            self._shadow = np.empty_like(self.data)
        return self._shadow

    def region(self, name: str) -> Region:
        """`sbuf` or `psum`."""
        return self.psum if name == "psum" else self.sbuf

    def locate(self, address: int) -> tuple[Region, int, int] | None:
        """Region, partition and byte offset of a flat address; None outside both windows."""
        for r in (self.psum, self.sbuf):
            if r.base <= address < r.base + r.window:
                partition, offset = divmod(address - r.base, r.stride)
                return r, partition, offset
        return None

    def address(self, region: str, partition: int, offset: int = 0) -> int:
        """The flat address of a place.

        Raises:
            BadValue: no such place, or a region that flat addresses cannot name.
        """
        return flat_address(self.geometry, region, partition, offset)


def flat_address(geometry: Geometry, region: str, partition: int, offset: int) -> int:
    """The flat address of a byte.

    Raises:
        BadValue: outside the active part, or PSUM where the generation gives it no address window.
    """
    g = geometry
    if region not in ("sbuf", "psum"):
        raise BadValue(f"no region is called {region!r}; there are sbuf and psum")
    base, stride, active, window = (
        (0, g.sbuf_stride, g.sbuf_active, g.sbuf_window)
        if region == "sbuf"
        else (g.psum_base, g.psum_stride, g.psum_active, g.psum_window)
    )
    if not window:
        raise BadValue(f"{region} has no addresses on this generation; it is reachable through the API only")
    if not 0 <= partition < g.partitions:
        raise BadValue(f"{region}: partition {partition} is outside 0 to {g.partitions - 1}")
    if not 0 <= offset < active:
        raise BadValue(f"{region}: byte {offset} is outside a partition of {active} bytes")
    return base + partition * stride + offset
