"""Run a few lines of assembly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpsimd_core.control import ControlCore, Memory, Region, assemble

SMALL = 0x10000


def small_core(variant: str = "q7", **options: Any) -> ControlCore:
    """A core with 64 KiB at 0, ready to start at 0."""
    core = ControlCore(variant, memory=Memory([Region(base=0, size=SMALL)]), **options)
    core.start()
    return core


def execute(
    text: str,
    variant: str = "q7",
    *,
    core: ControlCore | None = None,
    ars: Mapping[int, int] | None = None,
    base: int = 0x100,
    limit: int = 2000,
) -> ControlCore:
    """Assemble `text` at `base` and execute it step by step until it runs off its end.

    Args:
        text: the program.
        variant: of the core.
        core: where to run it; a fresh small one by default.
        ars: address registers to set first.
        base: where the program lies.
        limit: steps after which the test fails.
    """
    return Program(text, core or small_core(variant), base).run(ars, limit)


class Program:
    """Assembled lines on a core, to run again and again."""

    def __init__(self, text: str, core: ControlCore, base: int = 0x100) -> None:
        image = assemble(text, core.variant, base)
        core.load(image)
        self.core, self.base, self.end = core, base, base + len(image.flat())

    def run(self, ars: Mapping[int, int] | None = None, limit: int = 2000) -> ControlCore:
        """From the start to the end, with these address registers set first."""
        core = self.core
        core.pc = self.base
        for number, value in (ars or {}).items():
            core.a[number] = value & 0xFFFFFFFF
        for _ in range(limit):
            if core.pc == self.end:
                return core
            core.run(1, fast=False)
        raise AssertionError(f"still running at {core.pc:#x} after {limit} steps")
