"""The coverage page says what the code does."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import gpsimd_core as gp

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.skipif(len(gp.generations()) < 5, reason="needs all generations")
def test_the_coverage_page_is_what_the_code_gives() -> None:
    made = runpy.run_path(str(DOCS / "make_coverage.py"))["table"]()
    assert (DOCS / "coverage.md").read_text() == made, "run python docs/make_coverage.py"
