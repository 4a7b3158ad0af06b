"""The scalar core: instructions a second, compiled, and the ratio to the same interpreter in plain Python."""

from __future__ import annotations

import time
from collections.abc import Iterator

from timing import Row

from gpsimd_core.control import ControlCore, assemble

STEPS = 2_000_000
PLAIN_STEPS = 20_000

PROGRAMS = {
    "arithmetic and a branch": """
        movi a3, 1
again:  add a4, a4, a3
        xor a5, a4, a3
        slli a6, a5, 3
        addi a7, a7, -1
        j again
    """,
    "word copy in a zero-overhead loop": """
        movi a8, 1
        slli a8, a8, 16
again:  mov a2, a8
        addmi a3, a8, 0x4000
        movi a4, 1024
        loop a4, end
        l32i a5, a2, 0
        addi a2, a2, 4
        s32i a5, a3, 0
        addi a3, a3, 4
end:    j again
    """,
    "recursion with spills and fills": """
again:  movi a10, 20
        call8 f
        j again
        .align 4
f:      entry a1, 32
        beqz a2, out
        addi a10, a2, -1
        call8 f
        add a2, a2, a10
out:    retw
    """,
}


def rows() -> Iterator[Row]:
    """The rows of this module, measured now."""
    for name, text in PROGRAMS.items():
        fast, plain = _rate(text, STEPS, True), _rate(text, PLAIN_STEPS, False)
        yield Row(f"control: {name}, compiled", fast / 1e6, 1, False, "million/s")
        yield Row(f"control: {name}, compiled against plain", fast / plain, 30, False, "x")


def _rate(text: str, steps: int, fast: bool) -> float:
    """Instructions a second of processor time, the best of three runs after one that may compile."""
    core = ControlCore()
    core.load(assemble(text))
    core.start()
    core.run(100, fast=fast)
    times = []
    for _ in range(3):
        start = time.process_time()
        core.run(steps, fast=fast)
        times.append(time.process_time() - start)
    return steps / min(times)


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:60} {row.measured:8.1f} {row.unit:10} required {row.required}")
