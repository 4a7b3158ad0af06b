"""Kernels of the moves: copy, cast, reciprocal, fill, permutations inside a quadrant, registers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import DataSrc
from gpsimd_core.isa.kernels.arrays import canonical, values
from gpsimd_core.isa.lanestate import SHUFFLE, SHUFFLE_SET

__all__ = [
    "cast",
    "copy",
    "load_map",
    "map_ready",
    "memset",
    "move",
    "nothing",
    "reciprocal",
    "registers_ready",
    "shuffle",
    "transpose",
    "transpose_missing",
]

QUADRANT = 32
KEEP = 255
"""Map value that leaves a partition as it is."""


def nothing(step: Any) -> dict[str, Any]:
    """Carries events only."""
    return {}


def copy(step: Any) -> dict[str, Any]:
    """The bits of each element."""
    return {"out": step.read("data")}


def cast(step: Any) -> dict[str, Any]:
    """Each element through the hub; its bits where the dtypes are equal."""
    if step.operands["data"].code == step.operands["out"].code:
        return copy(step)
    return {"out": step.narrowed("out", step.hub("data"))}


def reciprocal(step: Any) -> dict[str, Any]:
    """1 / x, rounded once."""
    with np.errstate(all="ignore"):
        inverse = np.divide(np.float32(1), values(step.hub("data")))
    return {"out": step.narrowed("out", canonical(inverse.view(np.uint32)))}


def memset(step: Any) -> dict[str, Any]:
    """The low bytes of set_value everywhere."""
    p = step.operands["out"]
    filled = np.full((p.channels, p.elements), step.number("set_value"), np.uint32)
    return {"out": filled.astype(f"u{p.size}").view(step.formats[p.code].dtype)}


# Permutations ----------------------------------------------------------------------------------------------------------


def load_map(step: Any) -> dict[str, Any]:
    """Keep the 32 bytes of the lane map."""
    given = np.frombuffer(step.record, np.uint8)[32:64].astype(np.uint32)
    return {"lanes": {(SHUFFLE, 0): given[:, None], (SHUFFLE_SET, 0): np.ones((1, 1), np.uint32)}}


def map_ready(step: Any) -> str | None:
    """What is wrong with the loaded lane map, if anything is."""
    if not step.state(SHUFFLE_SET, 0)[0, 0]:
        return "no lane map was loaded (load_mask_select)"
    given = step.state(SHUFFLE, 0)[:QUADRANT, 0]
    beyond = np.flatnonzero((given >= QUADRANT) & (given != KEEP))
    if len(beyond):
        lane = int(beyond[0])
        return f"the lane map sends lane {lane} to {int(given[lane])}; allowed are 0 to 31, and 255"
    return None


def shuffle(step: Any) -> dict[str, Any]:
    """Inside each quadrant, partition i takes partition map[i]; 255 rewrites what is there."""
    given = step.state(SHUFFLE, 0)[:QUADRANT, 0].astype(np.int64)
    source = step.read("data")
    quadrants = source.reshape(-1, QUADRANT, source.shape[1])
    moved = quadrants[:, np.where(given == KEEP, 0, given)].reshape(source.shape)
    kept = np.tile(given == KEEP, len(quadrants))[:, None]
    return {"out": np.where(kept, step.read("out"), moved) if kept.any() else moved}


def transpose_missing(step: Any) -> str | None:
    """Which fact is missing, if one is."""
    if step.number("mask_enable"):
        return "what mask_enable = 1 masks"
    if step.operands["data"].elements != step.operands["out"].elements:
        return "which elements a destination smaller than the source receives"
    return None


def transpose(step: Any) -> dict[str, Any]:
    """Inside each quadrant, every block of 32 by 32 elements."""
    source = step.read("data")
    blocks = source.reshape(-1, QUADRANT, source.shape[1] // QUADRANT, QUADRANT)
    return {"out": blocks.transpose(0, 3, 2, 1).reshape(source.shape)}


# Registers ---------------------------------------------------------------------------------------------------------------


def _moves(step: Any) -> list[tuple[int, int, int]]:
    """(source register, destination register, immediate) of each move."""
    record = np.frombuffer(step.record, np.uint8)
    immediates = record[32:64].view("<u4")
    return [(int(record[16 + i]), int(record[24 + i]), int(immediates[i])) for i in range(step.number("num_mov"))]


def registers_ready(step: Any) -> str | None:
    """Which register that is read holds nothing."""
    if step.number("move_source") != DataSrc.REGISTER:
        return None
    for source, _, _ in _moves(step):
        if source < len(step.registers.defined) and not step.registers.defined[source]:
            return f"register r{source} was never written"
    return None


def move(step: Any) -> dict[str, Any]:
    """Raw 32-bit words into registers; what goes to 128 or 129 is dropped."""
    reads = step.number("move_source") == DataSrc.REGISTER
    written = {to: step.register(source) if reads else value for source, to, value in _moves(step)}
    return {"registers": {to: value for to, value in written.items() if to < len(step.registers.defined)}}
