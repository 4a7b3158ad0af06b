"""Whole operands through the fp32 hub: the loops behind `Step.hub` and `Step.narrowed`."""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.convert import narrow_row, widen_row

__all__ = ["narrow_rows", "widen_rows"]


@lane
def widen_rows(codes: Any, row: Any, out: Any) -> None:
    """Codes of one format as fp32 bits.

    Args:
        codes: uint32, (channels, elements).
        row: the format's row.
        out: uint32 of the same shape.
    """
    for c in range(codes.shape[0]):
        widen_row(codes[c], row, out[c])


@lane
def narrow_rows(hub: Any, row: Any, out: Any) -> None:
    """fp32 bits as codes of one format; elements are numbered channel by channel for the stochastic mode.

    Args:
        hub: uint32, (channels, elements).
        row: the format's row.
        out: uint32, of the same shape.
    """
    for c in range(hub.shape[0]):
        narrow_row(hub[c], row, out[c], c * hub.shape[1])
