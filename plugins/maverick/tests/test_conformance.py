"""What every plugin's instructions must hold, held for maverick. Its instructions come from the core's library, whose vectors these are."""

from __future__ import annotations

from gpsimd_core.testing import LIBRARY, conformance

test_conformance = conformance("maverick", **LIBRARY)
