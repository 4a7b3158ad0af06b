"""MX blocks: choosing the shared scale, and passing elements through it.

Sources: MX Microscaling: Quantize; policy `mx_scale`.
"""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.hub import narrow, widen
from gpsimd_core.isa.lanes.words import bits32, bits64, double, f32, f64, i32, u32, u64

__all__ = ["COMPILER", "NKI", "block_scale", "dequantise_blocks", "descaled", "quantise_blocks", "scaled"]

NKI, COMPILER = 0, 1
INFINITY = 0x7F800000


@lane
def block_scale(largest: int, emax: int, rule: int) -> int:
    """The scale byte of a block.

    Args:
        largest: fp32 magnitude of the largest finite element.
        emax: exponent of the largest power of two in the element format.
        rule: NKI: floor(log2 largest) - (emax - 1), and byte 0 for a block of zeros; COMPILER: the exponent field less
            emax, at least 1.

    Returns:
        E8M0 code, 0 to 254.
    """
    if rule == COMPILER:
        return u32(max(i32(i32(largest >> u32(23)) - i32(emax)), i32(1)))
    exponent = i32(u32(u64(bits64(double(f32(largest)))) >> u64(52)))  # a double has no subnormal here; 0 for zero
    return u32(min(max(i32(exponent - i32(1023 - 127 + emax - 1)), i32(0)), i32(254)))


@lane
def scaled(bits: int, scale: int) -> int:
    """fp32 bits of x / 2^(scale - 127)."""
    return bits32(double(f32(bits)) * f64(u64(u64(u64(1150) - u64(scale)) << u64(52))))


@lane
def descaled(bits: int, scale: int) -> int:
    """fp32 bits of x * 2^(scale - 127); a NaN scale gives NaN."""
    if scale == u32(0xFF):
        return u32(0x7FC00000)
    return bits32(double(f32(bits)) * f64(u64(u64(u64(896) + u64(scale)) << u64(52))))


@lane
def quantise_blocks(hub: Any, emax: int, rule: int, row: Any, out: Any, scales: Any) -> None:
    """Quantise blocks.

    Args:
        hub: uint32 fp32 bits, shape (blocks, elements).
        emax, rule: as for `block_scale`.
        row: the element format's row.
        out: codes of the same shape, receives the elements.
        scales: shape (blocks,), receives the scale bytes.
    """
    for block in range(out.shape[0]):
        largest = u32(0)
        for i in range(out.shape[1]):
            magnitude = u32(u32(hub[block, i]) & u32(0x7FFFFFFF))
            largest = max(largest, magnitude if magnitude < u32(INFINITY) else u32(0))
        scale = block_scale(largest, emax, rule)
        scales[block] = scale
        for i in range(out.shape[1]):
            out[block, i] = narrow(scaled(u32(hub[block, i]), scale), row, u32(0))


@lane
def dequantise_blocks(codes: Any, scales: Any, row: Any, hub: Any) -> None:
    """Undo `quantise_blocks`: fp32 bits of element times scale, rounded to nearest where fp32 does not hold them."""
    for block in range(hub.shape[0]):
        scale = u32(scales[block])
        for i in range(hub.shape[1]):
            hub[block, i] = descaled(widen(u32(codes[block, i]), row), scale)
