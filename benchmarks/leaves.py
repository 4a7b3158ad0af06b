"""Value leaves: the golden file by the plain functions, and leaves on large batches against numpy's own operation."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from timing import Row, together

import gpsimd_core as gp
from gpsimd_core.vectors import builtin_files

REGISTERS = 1 << 15


def rows() -> Iterator[Row]:
    """The rows of this module, measured now."""
    yield from golden()
    yield from batches()


def golden() -> Iterator[Row]:
    """Every row of the project's leaf file, uncompiled."""
    path = builtin_files()["iss-vectors"]
    start = time.perf_counter()
    report = gp.check_vectors(path)
    yield Row("iss-vectors.toml, every row, uncompiled", time.perf_counter() - start, 10, True, "s")
    yield Row("rows of it that failed", float(len(report.failed)), 0, True, "")


def batches() -> Iterator[Row]:
    """A million int16 lanes; the leaf widens each operand to 64 bits and back, numpy does not."""
    draw = np.random.default_rng(1)
    a, b = draw.integers(-(1 << 15), 1 << 15, (2, REGISTERS, 32), np.int16)
    work = (
        ("add_nx16", (a, b), lambda: a + b),
        ("max_nx16", (a, b), lambda: np.maximum(a, b)),
        ("radd_nx16", (a,), lambda: a.sum(axis=-1, dtype=np.int32)),
        ("rbmax_nx16", (a,), lambda: a.max(axis=-1)),
        ("shfl_nx16", (a, b), lambda: np.take_along_axis(a, b.astype(np.int64) & 31, axis=-1)),
    )
    for name, operands, idiom in work:
        leaf = gp.leaf(name, compiled=True)
        leaf(*operands)  # compile
        ours, numpy = together(lambda leaf=leaf, operands=operands: leaf(*operands), idiom, 10)
        yield Row(f"{name} on {REGISTERS} registers, against numpy", ours / numpy, None, True, "x")
        yield Row(f"{name}, an element", ours / a.size * 1e9, None, True, "ns")
