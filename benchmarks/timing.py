"""Timing shared by the benchmark modules: ratios inside one process, never absolute limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

__all__ = ["Row", "best", "together"]


class Row(NamedTuple):
    """One line of the table.

    `measured` is the ratio; `required` what it must reach, `at_most` saying from which side.
    """

    name: str
    measured: float
    required: float | None
    at_most: bool
    unit: str


def best(work: Callable[[], object], repeat: int = 30) -> float:
    """Seconds of the fastest of `repeat` calls."""
    return min(_timed(work) for _ in range(repeat))


def together(
    one: Callable[[], object], two: Callable[[], object], repeat: int = 30, in_a_row: int = 1
) -> tuple[float, float]:
    """Fastest seconds of two pieces of work, measured turn about so that drift hits both.

    Args:
        one, two: what is timed.
        repeat: turns of each.
        in_a_row: calls a turn, where a long piece of work would leave the other a cold machine.
    """
    times = [(best(one, in_a_row), best(two, in_a_row)) for _ in range(repeat)]
    return min(t for t, _ in times), min(t for _, t in times)


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


Rows = Iterator[Row]
