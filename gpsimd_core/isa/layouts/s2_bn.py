"""S2_BN: load values into an engine, without a destination. Opcodes 0x64, 0x6D, 0x70, 0x71."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype, ImmSrcN
from gpsimd_core.isa.layout import U8, Imm, PartitionOffset, Tensor2D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S2Bn"]


class S2Bn(Bundle):
    """Batch-norm parameters (0x64), eight values to look for (0x6D), scalars for 0x4F and 0x5F (0x70, 0x71)."""

    title = "S2_BN"
    evidence = Evidence(
        confidence="HIGH/OBSERVED", source="POOL/ACT Compute Gap-Cluster; DVE Search/Select Cluster; TensorScalarImmLd"
    )
    notes = ("That imm0_src is numbered by the inverted enumeration is MED.",)
    reserved0 = zeros.at(12, 4)
    src = Tensor2D.at(16, dtype="dtype", doc="the values to load")
    imm1 = Imm.at(28, doc="second immediate; 0 for 0x6D")
    dtype = Dtype.at(32, doc="dtype of src")
    reserved1 = zeros.at(33)
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    reserved2 = zeros.at(35, 9)
    imm0_ptr = PartitionOffset.at(44, source="imm0_src", doc="address of immediate 0; 0 for 0x6D")
    imm0_src = ImmSrcN.at(48, doc="where immediate 0 comes from")
    reserved3 = zeros.at(49, 15)
