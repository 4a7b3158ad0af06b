"""Tensors by name and place, and the small words with which records are written."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.errors import BadValue
from gpsimd_core.isa.dtypes import BY_CODE, BY_NAME, code_of
from gpsimd_core.isa.enums import Dtype

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["DIRECTIONS", "BadField", "Bits", "NamedTensor", "Tensor", "dtype_text", "make_tensor", "register"]

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
DIRECTIONS = ("in", "out", "inout", "temp")


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


def make_tensor(
    machine: Machine,
    name: str,
    region: str,
    partition: int,
    offset: int,
    dtype: str,
    shape: tuple[int, ...],
    direction: str,
) -> NamedTensor:
    """A named tensor, checked against the memory of the generation.

    Raises:
        BadField: with the argument that does not fit as its field.
    """
    g = machine.generation.geometry
    if not _NAME.fullmatch(name):
        raise BadField(f"{name!r} is no tensor name: letters, digits and _, no digit first", "name")
    if region not in ("sbuf", "psum"):
        raise BadField(f"{name}: no region is called {region!r}; there are sbuf and psum", "region")
    if direction not in DIRECTIONS:
        raise BadField(f"{name}: no direction is called {direction!r}; there are {', '.join(DIRECTIONS)}", "direction")
    tensor = Tensor(region, partition=partition, offset=offset, dtype=dtype, shape=shape)
    try:
        size = BY_CODE[tensor.code].size
    except BadValue as e:
        raise BadField(f"{name}: {e}", "dtype") from None
    if not 0 <= partition < g.partitions or partition + shape[0] > g.partitions:
        last = partition + shape[0] - 1
        raise BadField(f"{name}: partitions {partition} to {last} are outside 0 to {g.partitions - 1}", "partition")
    active = g.sbuf_active if region == "sbuf" else g.psum_active
    width = size * math.prod(shape[1:])
    if offset < 0 or offset + width > active:
        raise BadField(
            f"{name}: bytes {offset} to {offset + width - 1} are outside a partition of {active} bytes, the size of "
            f"{region.upper()} on {machine.generation.name}", "offset",
        )  # fmt: skip
    return NamedTensor(name=name, tensor=tensor, direction=direction)
