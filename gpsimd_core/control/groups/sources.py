"""Who publishes the words: titles of the pages, one name each."""

from __future__ import annotations

B25 = "ISA Batch 25 — base-Xtensa scalar arith/logic/shift"
B27 = "ISA Batch 27 — base-Xtensa System / SR / RegWindow / Sync"
B28 = "ISA Batch 28 — base-Xtensa exc-dispatch/bool/loop/minmax"
B29 = "ISA Batch 29 — base-Xtensa debug/timer/cache/MMU/atomic"
BASE = "base Xtensa ISA, as llvm-mc assembles it"
QEMU = "qemu-system-xtensa"
