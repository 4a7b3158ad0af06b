"""S4D4_GT: fetch table rows by index. Opcode 0x68."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import U8, Imm, Tensor4D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S4D4Gt"]


class S4D4Gt(Bundle):
    """The table is what 0x67 loaded into the pool buffer."""

    title = "S4D4_GT"
    evidence = Evidence(confidence="MED/OBSERVED", source="POOL/ACT Compute Gap-Cluster")
    notes = ("The reserved bytes 35, 38 and 39 were placed by elimination (MED).",)
    src = Tensor4D.at(12, dtype="in_dtype", doc="the indices")
    in_dtype = Dtype.at(32, doc="dtype of the indices, an unsigned integer")
    out_dtype = Dtype.at(33, doc="dtype of dst")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    reserved0 = zeros.at(35)
    index_miss_behavior = U8.at(36, doc="what an index without a loaded row does")
    free_pool_buffer = U8.at(37, doc="whether the pool buffer is released afterwards")
    reserved1 = zeros.at(38, 2)
    immediate = Imm.at(40, doc="what a miss writes")
    dst = Tensor4D.at(44, dtype="out_dtype", doc="destination")
