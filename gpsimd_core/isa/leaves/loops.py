"""The loops over operands: one text per operand count, bound to a lane and compiled on demand.

`constants` are what the leaf's name fixes, such as a width, so that one compiled loop serves every width. An operand is
one integer, or a row of them, per evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpsimd_core.isa.lane import bind, compiled, lane

__all__ = ["evaluate"]

CHUNK = 1 << 14
"""Lanes in one pass: what is widened to 64 bits on the way stays in the cache."""


@lane
def element(*operands: int) -> Any:
    """Stands for the lane that a loop is bound to."""
    raise NotImplementedError


# One result per evaluation.


@lane
def _one1(a: Any, constants: tuple[int, ...], out: Any) -> None:
    for i in range(len(a)):
        out[i] = element(a[i], *constants)


@lane
def _one2(a: Any, b: Any, constants: tuple[int, ...], out: Any) -> None:
    for i in range(len(a)):
        out[i] = element(a[i], b[i], *constants)


@lane
def _one3(a: Any, b: Any, c: Any, constants: tuple[int, ...], out: Any) -> None:
    for i in range(len(a)):
        out[i] = element(a[i], b[i], c[i], *constants)


@lane
def _one4(a: Any, b: Any, c: Any, d: Any, constants: tuple[int, ...], out: Any) -> None:
    for i in range(len(a)):
        out[i] = element(a[i], b[i], c[i], d[i], *constants)


# Several results per evaluation, result k in row k of `out`.


@lane
def _store(results: Sequence[int], out: Any, i: int) -> None:
    for k, result in enumerate(results):
        out[k][i] = result


@lane
def _many1(a: Any, constants: tuple[int, ...], out: Any) -> None:
    for i in range(len(a)):
        _store(element(a[i], *constants), out, i)


@lane
def _many2(a: Any, b: Any, constants: tuple[int, ...], out: Any) -> None:
    for i in range(len(a)):
        _store(element(a[i], b[i], *constants), out, i)


@lane
def _many3(a: Any, b: Any, c: Any, constants: tuple[int, ...], out: Any) -> None:
    for i in range(len(a)):
        _store(element(a[i], b[i], c[i], *constants), out, i)


@lane
def _many4(a: Any, b: Any, c: Any, d: Any, constants: tuple[int, ...], out: Any) -> None:
    for i in range(len(a)):
        _store(element(a[i], b[i], c[i], d[i], *constants), out, i)


# A register per evaluation: the lane is asked for each of its lanes, by index.


@lane
def _lanes2(a: Any, b: Any, constants: tuple[int, ...], out: Any) -> None:
    for i in range(len(a)):
        for j in range(len(out[i])):
            out[i][j] = element(j, a[i], b[i], *constants)


@lane
def _lanes3(a: Any, b: Any, c: Any, constants: tuple[int, ...], out: Any) -> None:
    for i in range(len(a)):
        for j in range(len(out[i])):
            out[i][j] = element(j, a[i], b[i], c[i], *constants)


_LOOPS: dict[tuple[str, int], Callable[..., None]] = {
    ("one", 1): _one1,
    ("one", 2): _one2,
    ("one", 3): _one3,
    ("one", 4): _one4,
    ("many", 1): _many1,
    ("many", 2): _many2,
    ("many", 3): _many3,
    ("many", 4): _many4,
    ("lanes", 2): _lanes2,
    ("lanes", 3): _lanes3,
}


def evaluate(
    function: Callable[..., Any],
    operands: Sequence[NDArray[Any]],
    constants: tuple[int, ...],
    columns: int,
    lanes: int,
    fast: bool,
) -> NDArray[np.int64]:
    """Call a lane for every evaluation.

    Args:
        function: the lane.
        operands: one array per operand, shape (n,) or (n, row), all of one n.
        constants: passed on as they are, after the operands.
        columns: how many numbers one call returns.
        lanes: lanes of a register result, 0 where the results are numbers.
        fast: the compiled loop, else the plain one.

    Returns:
        (columns, n), or (n, lanes) for a register result. Only the low bits of each result count.
    """
    count = len(operands[0])
    kind = "lanes" if lanes else "one" if columns == 1 else "many"
    loop = bind(_LOOPS[kind, len(operands)], element=function)
    run = compiled(loop) if fast else loop
    out = np.empty((count, lanes) if lanes else (columns, count), np.int64)
    step = max(1, CHUNK // max(lanes, *(math.prod(operand.shape[1:]) for operand in operands)))
    for start in range(0, count, step):
        part = [operand[start : start + step].astype(np.int64, order="C") for operand in operands]
        size = len(part[0])
        shape = (size, lanes) if lanes else (size,) if columns == 1 else (columns, size)
        if fast:
            found = np.empty(shape, np.int64)
            run(*part, constants, found)
        else:
            found = _plainly(run, [operand.tolist() for operand in part], constants, shape)
        if lanes:
            out[start : start + size] = found
        else:
            out[:, start : start + size] = found
    return out


def _plainly(
    run: Callable[..., None], part: list[Any], constants: tuple[int, ...], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """The plain loop over lists, whose integers have no width; the low 64 bits of what it stores are kept."""
    results: list[Any] = [0] * shape[0] if len(shape) == 1 else [[0] * shape[1] for _ in range(shape[0])]
    run(*part, constants, results)
    flat = results if len(shape) == 1 else [number for row in results for number in row]
    return np.array([number & (2**64 - 1) for number in flat], np.uint64).view(np.int64).reshape(shape)
