"""One number a byte of memory, kept only as far into the partitions as somebody looks."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.placement import Placed

__all__ = ["Marks", "marked"]

PARTITIONS = 128


class Marks:
    """A number for every byte, zero at first.

    Args:
        kind: dtype of the numbers.
    """

    def __init__(self, kind: str) -> None:
        self.kind = np.dtype(kind)
        self._regions: dict[str, np.ndarray[Any, Any]] = {}

    def of(self, p: Placed) -> np.ndarray[Any, Any]:
        """The numbers of an operand's bytes, a view: (channels, outermost, ..., innermost, byte of the element)."""
        kept = self._regions.get(p.region)
        if kept is None or kept.shape[1] < p.high:
            wider = np.zeros((PARTITIONS, 1 << (p.high - 1).bit_length()), self.kind)
            if kept is not None:
                wider[:, : kept.shape[1]] = kept
            kept = self._regions[p.region] = wider
        first = kept.reshape(-1)[p.partition * kept.shape[1] + p.offset :]
        return marked(first, p, kept.shape[1])


def marked(first: np.ndarray[Any, Any], p: Placed, pitch: int) -> np.ndarray[Any, Any]:
    """An operand's bytes in an array that has a number for each.

    Args:
        first: from the first byte of the first element on.
        p: the operand.
        pitch: numbers from one partition to the next.
    """
    size = first.itemsize
    shape = (p.channels, *reversed(p.num), p.size)
    strides = (pitch * size, *(s * p.size * size for s in reversed(p.step)), size)
    return np.lib.stride_tricks.as_strided(first, shape, strides)
