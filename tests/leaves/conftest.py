"""What the tests of leaves share."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["plain", "compiled"])
def compiled(request: pytest.FixtureRequest) -> bool:
    """The plain functions in every run, the compiled ones in the slow one."""
    return request.param


@pytest.fixture
def bits() -> np.random.Generator:
    """Random bits, the same in every run."""
    return np.random.default_rng(20260729)
