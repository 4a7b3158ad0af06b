"""What every plugin's instructions must hold, held for acme beside the generations of `pytest --gen`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("gpsimd_acme", reason="gpsimd-acme is not installed")

from gpsimd_core.testing import conformance

test_conformance = conformance("acme", vectors=Path(__file__).with_name("vectors.toml"))
