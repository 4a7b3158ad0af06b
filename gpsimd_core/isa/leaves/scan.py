"""Prefix scans, which the vector core has no instruction for: log2(N) rotations, each combined under a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpsimd_core.errors import BadValue
from gpsimd_core.isa.leaves.names import LaneFormat

__all__ = ["prefix_scan"]


def prefix_scan(name: str, lanes: ArrayLike, *, masked: bool = True, compiled: bool | None = None) -> NDArray[Any]:
    """Inclusive prefix scan of registers by rotation: strides 1, 2, 4, .. and the leaf `name` on the pairs.

    Lane i takes lane i - stride, where there is one. The rotation itself is closed: without the mask lanes wrap around and
    every lane ends as the total, which is what one page describes as the scan.

    Args:
        name: a leaf of two lanes with one result, such as `add_nx16`, `max_2nx8`, `minu_n_2x32`.
        lanes: bit patterns, shape batch + lanes.
        masked: False shows the closed rotation alone, in the published direction: lane i takes lane i + stride.
        compiled: as for `leaf`.

    Returns:
        Bit patterns, shape batch + lanes.

    Raises:
        BadValue: the leaf does not fit, or the lane count is another.
    """
    from gpsimd_core.isa.leaves import leaf

    combine = leaf(name, compiled=compiled)
    form = combine.leaf.format
    if form is None or len(combine.leaf.args) != 2 or len(combine.leaf.values) != 1:
        raise BadValue(f"{name} does not combine two lanes into one")
    rotate = leaf(f"rotlanes_{_integer(form)}", compiled=compiled)
    partial = np.asarray(lanes)
    stride = 1
    while stride < form.lanes:
        moved = rotate(partial, form.lanes - stride if masked else stride)
        fresh = combine(moved, partial)
        partial = np.where(np.arange(form.lanes) >= stride, fresh, partial) if masked else fresh
        stride *= 2
    return partial


def _integer(form: LaneFormat) -> str:
    return {8: "2nx8", 16: "nx16", 32: "n_2x32"}[form.bits]
