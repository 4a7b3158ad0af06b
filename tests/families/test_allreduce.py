"""The example that composes the three tiers, against float64 within a bound and against the same order of fp32 sums."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from family_model import GENERATIONS, Load

CHAIN = 60 + 128 + 3
"""Additions that an element may pass through, each with half a unit in the last place of error."""
EXAMPLE = Path(__file__).parents[2] / "examples" / "allreduce.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("allreduce", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tiles(count: int) -> list[Any]:
    rng = np.random.default_rng(count)
    return [rng.standard_normal((128, 60)).astype(np.float32) for _ in range(count)]


def left_to_right(values: Any) -> np.float32:
    """The sum of one chain of fp32 additions."""
    return np.add.accumulate(np.asarray(values, np.float32))[-1]


@pytest.mark.parametrize("gen", GENERATIONS)
@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
def test_every_core_holds_the_fold_of_all_tiles(load: Load, example: ModuleType, gen: str, op: str) -> None:
    given = tiles(3)
    cores = example.all_reduce(load(gen), given, op)
    results = {float(example.result_of(core)) for core in cores}
    assert len(results) == 1
    wanted = example.exact(given, op)
    size = sum(float(np.abs(t).sum()) for t in given)
    bound = {"sum": size * CHAIN * 2.0**-24, "mean": size * (CHAIN + 2) * 2.0**-24 / (3 * 128 * 60)}.get(op, 0.0)
    assert abs(results.pop() - wanted) <= bound


def test_the_sum_is_that_of_the_three_tiers_in_their_order(load: Load, example: ModuleType) -> None:
    """Along each partition, then by ascending partition, then core by core: bit for bit."""
    given = tiles(4)
    cores = example.all_reduce(load("cayman"), given, "sum")
    of_cores = [left_to_right([left_to_right(row) for row in tile]) for tile in given]
    assert example.result_of(cores[0]).tobytes() == left_to_right(of_cores).tobytes()


def test_nothing_but_the_scratch_of_a_core_changes(load: Load, example: ModuleType) -> None:
    given = tiles(2)
    cores = example.all_reduce(load("cayman"), given, "min")
    for core, tile in zip(cores, given, strict=True):
        assert (core.sbuf.read(0, example.TILE, shape=tile.shape, dtype="fp32") == tile).all()


def test_the_example_runs_from_the_command_line() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--cores", "2", "--op", "max"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("max over 2 cores of cayman: ")
