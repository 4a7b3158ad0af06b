"""Legal records of the instruction library, and how a test changes one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import gpsimd_core as gp
from gpsimd_core.testing.library import EVERY, Fields, legal
from gpsimd_core.testing.library import record as packed

__all__ = ["EVERY", "Fields", "instructions", "legal", "record"]


def record(machine: gp.Machine, name: str, fields: Fields, change: Fields | None = None) -> np.ndarray:
    """A record packed through its layout: header, `fields`, then `change`, whose dotted names are leaves.

    A leaf of an array takes `name[index]`.
    """
    raw = packed(machine, name, fields)
    layout = machine.layouts[machine.opcode_of(name)]
    for field, value in (change or {}).items():
        leaf, _, index = field.rstrip("]").partition("[")
        if index:
            raw.view(layout.numpy)[leaf][0, int(index)] = value
        elif "." in leaf:
            layout.store(raw, leaf, value)
        else:
            layout.write(raw, leaf, value)
    return raw


def instructions(machine: gp.Machine) -> Iterable[str]:
    """Names of the instructions that are judged here: those whose operands the generation lays out, but select_reduce."""
    laid_out = {e.name for e in machine.opcodes.values() if e.layout is not None}
    return sorted(name for name in machine.instructions if name in laid_out and name != "select_reduce")
