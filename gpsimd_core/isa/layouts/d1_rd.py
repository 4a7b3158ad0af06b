"""D1_RD: read an engine's accumulator into one element per channel. Opcodes 0x24, 0x9B."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import U8, U32, Tensor1D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["D1Rd"]


class D1Rd(Bundle):
    """0x24 drains the ACT accumulator, 0x9B that of DVE: two separate registers."""

    title = "D1_RD"
    evidence = Evidence(
        confidence="HIGH/OBSERVED", source="DVE State Read-Back; Activate + the PWL Application Mechanism"
    )
    reserved0 = zeros.at(12, 16)
    dst_element_count = U32.at(28, doc="must be 1")
    dtype = Dtype.at(32, doc="dtype of dst")
    negated = U8.at(33, doc="1 flips the sign before the conversion; 0x24: must be 0")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    reserved1 = zeros.at(35, 9)
    dst = Tensor1D.at(44, dtype="dtype", doc="destination, one element")
    reserved2 = zeros.at(52, 12)
