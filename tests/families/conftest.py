"""Makes the independent models importable that these tests judge by; formats and rounding are those of `tests/spine`."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "support"), str(HERE.parent / "spine" / "support")]
