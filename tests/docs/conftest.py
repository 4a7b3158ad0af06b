"""The documentation, built once for all tests of it, warnings being errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gpsimd_core as gp

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; skips where the builder or a generation is not installed."""
    for module in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(module, reason=f"{module} is not installed: the documentation is not built")
    if len(gp.generations()) < 5:
        pytest.skip("the reference needs all generations")
    out = tmp_path_factory.mktemp("docs")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-j",
        "2",
        "-b",
        "html",
        "-d",
        str(out / "trees"),
    ]
    done = subprocess.run(
        [*command, str(DOCS), str(out / "site")], capture_output=True, text=True, check=False,
        env=os.environ | {"GPSIMD_PLUGINS": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "site"
