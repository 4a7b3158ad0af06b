"""The programs in `examples/control` do what they say, and their traces read well."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gpsimd_core.control import ControlCore, assemble
from gpsimd_core.control.trace import traced

EXAMPLES = Path(__file__).parents[2] / "examples" / "control"


def start(name: str) -> ControlCore:
    core = ControlCore()
    image = assemble((EXAMPLES / f"{name}.s").read_text(), name=name)
    core.load(image)
    core.start()
    return core


@pytest.mark.parametrize("fast", [False, True])
def test_factorial(fast: bool) -> None:
    core = start("factorial")
    assert core.run(fast=fast).reason == "halt"
    assert core.a[2] == math.factorial(10)
    assert core.spills == core.fills == 3


def test_memcpy() -> None:
    core = start("memcpy")
    image = assemble((EXAMPLES / "memcpy.s").read_text())
    assert core.run(fast=False).reason == "halt"
    text = b"zero-overhead loops"
    assert core.memory.read(image.symbols["destination"], len(text) + 1) == text + b"\0"


def test_binary_search() -> None:
    core = start("search")
    assert core.run(fast=False).reason == "halt"
    assert core.a[2] == 8


@pytest.mark.parametrize(("key", "position"), [(2, 0), (127, 11), (41, 7), (1, -1), (58, -1), (200, -1)])
def test_binary_search_for_other_keys(key: int, position: int) -> None:
    core = ControlCore()
    core.load(assemble((EXAMPLES / "search.s").read_text().replace("a3, 57 ", f"a3, {key} ")))
    core.start()
    core.run(fast=False)
    assert core.a[2] == position & 0xFFFFFFFF


@pytest.mark.parametrize("name", ["factorial", "memcpy", "search"])
def test_traces_match_the_ones_beside_the_programs(name: str) -> None:
    """Regenerate one with `gpsimd control run NAME.s --trace > NAME.trace`."""
    core = start(name)
    labels = assemble((EXAMPLES / f"{name}.s").read_text())
    names = {address: label for label, address in labels.symbols.items() if address in labels.lines}
    shown = [str(line) for line in traced(core, 1000, names)]
    saved = (EXAMPLES / f"{name}.trace").read_text().splitlines()
    assert shown == saved[: len(shown)]
