"""Programs are tested on machines that hundreds of tests share; the installed distributions are looked through once."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from gpsimd_core import host


@pytest.fixture(scope="module", autouse=True)
def distributions_are_read_once() -> Iterator[None]:
    """Looking through every installed distribution takes longer than most tests here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host, "entry_points", functools.cache(host.entry_points))
        yield
