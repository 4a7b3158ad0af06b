"""What a plugin author needs to test a plugin: two fixtures, an option, and a conformance suite.

    from gpsimd_core.testing import conformance
    test_conformance = conformance("widget", vectors=Path(__file__).parent / "vectors.toml")

pytest finds the fixtures `machine` and `core` and the option `--gen` by itself: see `gpsimd_core.testing.plugin`.
"""

from __future__ import annotations

from gpsimd_core.testing.conformance import conformance
from gpsimd_core.testing.library import LIBRARY

__all__ = ["LIBRARY", "conformance"]
