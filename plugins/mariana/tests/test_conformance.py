"""What every plugin's instructions must hold, held for mariana and mariana_plus. Their instructions come from the core's library, whose vectors these are."""

from __future__ import annotations

from gpsimd_core.testing import LIBRARY, conformance

test_conformance = conformance("mariana", **LIBRARY)
test_conformance_plus = conformance("mariana_plus", **LIBRARY)
