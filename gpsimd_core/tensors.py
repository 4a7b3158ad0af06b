"""Tensors by name and place, and the small words with which records are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.errors import BadValue
from gpsimd_core.isa.dtypes import BY_CODE, BY_NAME, code_of
from gpsimd_core.isa.enums import Dtype

__all__ = ["BadField", "Bits", "NamedTensor", "Tensor", "dtype_text", "register"]


def register(number: int) -> int:
    """The ADDR4 word that takes an address from register `number` (0 to 63)."""
    if not 0 <= number < 64:
        raise BadValue(f"register {number} is outside 0 to 63")
    return 0x80000000 | number


class Bits(int):
    """A raw bit pattern for an immediate: `Bits(0x7FC00000)`."""


class BadField(BadValue):
    """A value that the field `field` of a record cannot take."""

    def __init__(self, reason: str, field: str) -> None:
        super().__init__(reason)
        self.field = field


def dtype_text(value: Any) -> str:
    """The dtype name of a name, or of a numpy or ml_dtypes dtype."""
    if isinstance(value, str):
        return value
    from gpsimd_core.isa.formats import FORMATS

    kind = np.dtype(value)
    for name, row in BY_NAME.items():
        fmt = FORMATS.get(name)
        if row.size and fmt is not None and fmt.numpy_name and fmt.dtype == kind:
            return name
    raise BadValue(f"no tensor dtype is {kind}; there are {', '.join(r.name for r in BY_CODE.values() if r.size)}")


def _tuple(value: Sequence[int]) -> tuple[int, ...]:
    return tuple(value)


def _maybe_tuple(value: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if value is None else tuple(value)


@frozen
class Tensor:
    """A place in memory with a dtype and a shape, from which patterns are made.

    Args:
        region: `sbuf` or `psum`.
        partition: of row 0.
        offset: byte offset inside each partition.
        dtype: dtype name, or a numpy or ml_dtypes dtype.
        shape: (partitions, ...); the last axis becomes X.
        step: elements from one index to the next, one number an axis after the first; contiguous if left out.
    """

    region: str = "sbuf"
    partition: int = field(default=0, kw_only=True)
    offset: int = field(default=0, kw_only=True)
    dtype: str = field(kw_only=True, converter=dtype_text)
    shape: tuple[int, ...] = field(converter=_tuple, kw_only=True)
    step: tuple[int, ...] | None = field(default=None, converter=_maybe_tuple, kw_only=True)

    @property
    def code(self) -> Dtype:
        """Wire code of the dtype."""
        code = code_of(self.dtype)
        if code is None or not BY_CODE[code].size:
            known = ", ".join(r.name for r in BY_CODE.values() if r.size)
            raise BadValue(f"no tensor dtype is called {self.dtype!r}; there are {known}")
        return code


@frozen(kw_only=True)
class NamedTensor:
    """A tensor of a program, with its name and whether it goes in or out."""

    name: str
    tensor: Tensor
    direction: str
    """in, out, inout or temp."""
