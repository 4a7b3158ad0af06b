"""D4_MR: a 4-D destination without a source. Opcodes 0x49, 0x4B, 0x4D, 0xE9."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import U8, U32, Tensor4D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["D4Mr"]


class D4Mr(Bundle):
    """Memory fill, register store, random numbers and the read-back of latched indices."""

    title = "D4_MR"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="DVE State Read-Back; POOL/ACT Compute Gap-Cluster")
    notes = ("No source prints the number of the serial mode; 0 is PROPOSED.",)
    reserved0 = zeros.at(12, 16)
    dst_element_count = U32.at(28, doc="elements per partition; 8 for 0xE9")
    dtype = Dtype.at(32, doc="dtype of dst")
    reserved1 = zeros.at(33)
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    reserved2 = zeros.at(35)
    serialization_mode = U8.at(36, doc="0 means serial, the one value that 0x49 and 0xE9 take")
    reserved3 = zeros.at(37, 3)
    set_value = U32.at(40, doc="raw bits that 0x49 writes; 0 for 0xE9")
    dst = Tensor4D.at(44, dtype="dtype", doc="destination")
