"""The vector side's register files, as state: what the value library reads and writes.

Sources: The Eight Register Files; Register-File Port Model + Bypass Network. The gvr file stages gathers and
scatters; the page that calls it the floating status file is overruled.
"""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from gpsimd_core.errors import BadValue


@frozen(kw_only=True)
class File:
    """One register file: `count` registers of `width` bits."""

    name: str
    short: str
    count: int
    width: int


FILES = (
    File(name="vec", short="v", count=32, width=512),
    File(name="vbool", short="vb", count=16, width=64),
    File(name="valign", short="u", count=4, width=512),
    File(name="wvec", short="wv", count=4, width=1536),
    File(name="b32_pr", short="pr", count=16, width=64),
    File(name="gvr", short="gr", count=8, width=512),
    File(name="fs", short="fs", count=8, width=64),  # IVP_FS0 to IVP_FS7: flag banks, a state of their own
)

_LANES = {"2nx8": np.uint8, "nx16": np.uint16, "n_2x32": np.uint32, "n_4x64": np.uint64}
_FLOATS = {"nxf16": np.uint16, "n_2xf32": np.uint32}  # bit patterns, like every lane


class RegisterFile:
    """The registers of one file as bytes, lane 0 at the lowest address.

    Attributes:
        bytes: uint8, shape (count, width / 8).
    """

    def __init__(self, file: File) -> None:
        self.file = file
        self.bytes: NDArray[np.uint8] = np.zeros((file.count, file.width // 8), np.uint8)

    def lanes(self, index: int, form: str) -> NDArray[np.unsignedinteger]:
        """A register as lanes: a view, so that writing to it writes the register.

        Args:
            index: register number.
            form: 2nx8, nx16, n_2x32, n_4x64, nxf16 or n_2xf32.

        Raises:
            BadValue: no such register or lane format.
        """
        dtype = (_LANES | _FLOATS).get(form.lower())
        if dtype is None:
            raise BadValue(f"lane format {form!r}: allowed are {', '.join(_LANES | _FLOATS)}")
        return self._register(index).view(dtype)

    def __getitem__(self, index: int) -> int:
        """A register as one number."""
        return int.from_bytes(self._register(index).tobytes(), "little")

    def __setitem__(self, index: int, value: int) -> None:
        register = self._register(index)
        if not 0 <= value < 1 << self.file.width:
            raise BadValue(f"{self.file.short}{index} is {self.file.width} bits wide; {value:#x} does not fit")
        register[:] = np.frombuffer(value.to_bytes(len(register), "little"), np.uint8)

    def _register(self, index: int) -> NDArray[np.uint8]:
        if not 0 <= index < self.file.count:
            raise BadValue(f"{self.file.name} has registers 0 to {self.file.count - 1}, not {index}")
        register: NDArray[np.uint8] = self.bytes[index]
        return register


def files() -> dict[str, RegisterFile]:
    """A fresh set of all files by name, zero."""
    return {file.name: RegisterFile(file) for file in FILES}
