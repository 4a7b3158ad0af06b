"""Array kernels around scalars in lanes and in memory: the preloads 0x70 and 0x71, the pointer forms 0x44 and 0x54."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import AluOp, TensScalarRevOps
from gpsimd_core.isa.kernels.combine import BITS, HUB, band_of
from gpsimd_core.isa.lanes.alu import NAN_POLICIES, alu_fp32_row
from gpsimd_core.isa.lanes.alu_integer import alu_bitvec_row, alu_int_row
from gpsimd_core.isa.lanestate import PRELOAD, PRELOAD_COUNT

__all__ = ["pointed_arith", "pointed_bitvec", "pointers_out_of_reach", "preload_arith", "preload_bitvec"]

Array = np.ndarray[Any, Any]


def _loaded(step: Any, words: Array) -> dict[str, Any]:
    first = step.operands["scalars"].partition
    counts = np.full((len(words), 1), words.shape[1], np.uint32)
    return {"lanes": {(PRELOAD_COUNT, first): counts, (PRELOAD, first): words}}


def preload_arith(step: Any) -> dict[str, Any]:
    """0x70: keep the scalars of each channel as fp32 bits."""
    return _loaded(step, step.hub("scalars"))


def preload_bitvec(step: Any) -> dict[str, Any]:
    """0x71: keep the scalars of each channel as raw words."""
    codes = step.read("scalars")
    return _loaded(step, np.ascontiguousarray(codes).view(f"u{codes.itemsize}").astype(np.uint32))


def _scalar_size(step: Any) -> int:
    return 4 if "arith" in step.name else step.operands["data"].size


def pointers_out_of_reach(step: Any) -> str | None:
    """What is wrong with a pointer of 0x44 or 0x54: outside both memories, or channels beyond the last partition."""
    memory, size = step.core.memory, _scalar_size(step)
    for name in ("imm0", "imm1"):
        address = step.immediates[name].bits
        found = memory.locate(address)
        if found is None or found[2] + size > found[0].active:
            return f"{name}: address 0x{address:x} is outside SBUF and PSUM"
        if found[1] + step.channels > 128:
            return f"{name}: {step.channels} channels from partition {found[1]} run past partition 127"
    return None


def _pointed(step: Any, name: str) -> Array:
    """The word of each channel at a pointer: uint32, (channels, elements of the data)."""
    memory, size = step.core.memory, _scalar_size(step)
    region, partition, offset = memory.locate(step.immediates[name].bits)
    first = region.start + partition * region.pitch + offset
    words = np.lib.stride_tricks.as_strided(
        memory.data[first:].view(np.uint8)[:size].view(f"u{size}"), (step.channels, 1), (region.pitch, size)
    ).astype(np.uint32)
    return np.repeat(words, step.operands["data"].elements, axis=1)


def _both(step: Any, band: int, x: Array) -> Array:
    """op1(op0(x, scalar), scalar) on words of a band: uint32, (channels, elements)."""
    reverse = step.number("reverse_operands")
    data = step.operands["data"]
    for name, op_field, swapping in (("imm0", "op0", TensScalarRevOps.FIRST), ("imm1", "op1", TensScalarRevOps.SECOND)):
        op, scalars = step.number(op_field), _pointed(step, name)
        a, b = (scalars, x) if reverse in (swapping, TensScalarRevOps.BOTH) else (x, scalars)
        out = np.empty(x.size, np.uint32)
        a, b = a.reshape(-1), b.reshape(-1)
        if band == HUB:
            step.core.compiled(alu_fp32_row)(op, a, b, out, NAN_POLICIES[step.policy("reduce_nan")])
        elif band == BITS or op == AluOp.BYPASS:
            step.core.compiled(alu_bitvec_row)(op, a, b, out, 8 * data.size)
        else:
            step.core.compiled(alu_int_row)(op, a, b, out, 32, int(step.formats[data.code].signed))
        x = out.reshape(x.shape)
    return x


def _words(step: Any, name: str) -> Array:
    codes = np.ascontiguousarray(step.read(name))
    return codes.view(f"u{codes.itemsize}").astype(np.uint32)


def pointed_arith(step: Any) -> dict[str, Any]:
    """0x44: as 0x43 with scalars at pointers, fp32 or, for integer operators, raw words."""
    band = band_of(step.number("op0"), step.number("op1"))
    if band == HUB:
        return {"out": step.narrowed("out", _both(step, band, step.hub("data")))}
    return {"out": _both(step, band, _words(step, "data")).view(step.formats[step.operands["out"].code].dtype)}


def pointed_bitvec(step: Any) -> dict[str, Any]:
    """0x54: as 0x53 with scalars of in_dtype at pointers."""
    out = step.operands["out"]
    found = _both(step, BITS, _words(step, "data"))
    return {"out": found.astype(f"u{out.size}").view(step.formats[out.code].dtype)}
