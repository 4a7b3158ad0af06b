"""One line a step: where, what, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from gpsimd_core.control import exceptions, layout, registers
from gpsimd_core.control.core import ControlCore
from gpsimd_core.control.disassembler import decode, disassemble
from gpsimd_core.control.trap import Stop


def traced(core: ControlCore, max_steps: int, labels: Mapping[int, str] | None = None) -> Iterator[str | Stop]:
    """Run step by step.

    Args:
        core: what to run.
        max_steps: stop after this many instructions.
        labels: address to name, for targets and for lines where a label stands.

    Yields:
        A line for each step, then why the run ended.

    Raises:
        Trap, Unsupported: as `ControlCore.run`.
    """
    names = labels or {}
    for done in range(1, max_steps + 1):
        core.state[layout.CODE] = 0
        before = core.state.copy()
        stop = core.run(1, fast=False)
        pc = int(before[layout.PC])
        if pc in names:
            yield f"{names[pc]}:"
        ended = stop.reason != "limit"
        yield _line(core, before, names, ended)
        if ended:
            yield evolve(stop, steps=done)
            return
    yield Stop(reason="limit", code=0, steps=max_steps, pc=core.pc)


def _line(core: ControlCore, before: NDArray[np.int64], labels: Mapping[int, str], ended: bool) -> str:
    pc, word = int(before[layout.PC]), int(core.state[layout.WORD])
    instruction = decode(word, pc, core.variant)
    text = instruction.text(labels) if instruction else disassemble(word, pc, core.variant)
    size = instruction.row.length if instruction else 3
    changes = [*_window(core, before), *_registers(core, before), *_stores(core, before)]
    if not ended:
        changes += _flow(core, pc + size, labels)
    return f"{core.steps - 1:>6}  {pc:08x}  {text:<28}  {'  '.join(changes)}".rstrip()


def _registers(core: ControlCore, before: NDArray[np.int64]) -> Iterator[str]:
    """Registers that hold something else than before; address registers as the new window names them."""
    m = core.state
    changed = {int(k) for k in np.flatnonzero(m[: layout.HIDDEN] != before[: layout.HIDDEN])}
    shown = {layout.AR + (_base(m) + number) % len(core.ar): f"a{number}" for number in range(16)}
    shown |= {layout.SR + r.number: r.name for r in registers.special(core.variant).values()}
    shown |= {layout.UR + r.number: r.name for r in registers.user(core.variant).values()}
    for place in sorted(changed):
        name = shown.get(place, f"ar{place}")
        old, new = int(before[place]), int(m[place])
        fields = registers.fields(name, new, core.variant) if place >= layout.SR else {}
        if fields:
            was = registers.fields(name, old, core.variant)
            yield " ".join(
                f"{name}.{field} {was[field]} -> {now}" for field, now in fields.items() if now != was[field]
            )
        else:
            yield f"{name} {old:08x} -> {new:08x}"


def _base(m: NDArray[np.int64]) -> int:
    return (int(m[layout.WB]) & int(m[layout.WINDOW_MASK])) << int(m[layout.FRAME_SHIFT])


def _window(core: ControlCore, before: NDArray[np.int64]) -> Iterator[str]:
    m = core.state
    if m[layout.SPILLS] > before[layout.SPILLS]:
        low, high = int(m[layout.STORE_LOG]), int(m[layout.STORE_LOG + 2])
        yield f"(spilled a frame to [{low:08x}] and [{high:08x}])"
    if m[layout.FILLS] > before[layout.FILLS]:
        yield "(filled a frame)"


def _stores(core: ControlCore, before: NDArray[np.int64]) -> Iterator[str]:
    m = core.state
    first = 8 if m[layout.SPILLS] > before[layout.SPILLS] else 0
    for k in range(first, int(m[layout.STORES])):
        at = layout.STORE_LOG + 2 * k
        address, size = int(m[at]), int(m[at + 1])
        value = int.from_bytes(core.memory.read(address, size), "little")
        yield f"[{address:08x}] = {value:0{2 * size}x}"


def _flow(core: ControlCore, following: int, labels: Mapping[int, str]) -> Iterator[str]:
    m = core.state
    target = labels.get(core.pc, f"{core.pc:08x}")
    if 0 < m[layout.CODE] < exceptions.FIRST_STOP:
        yield f"{exceptions.NAMES[int(m[layout.CODE]) - 1]}, go to {target}"
    elif core.pc != following & layout.MASK:
        yield f"loop back to {target}" if m[layout.SEQUENTIAL] else f"go to {target}"
