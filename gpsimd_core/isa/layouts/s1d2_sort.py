"""S1D2_SORT: sort one row of keys on each partition. Opcode 0x96."""

from __future__ import annotations

from gpsimd_core.isa.enums import AluOp, Dtype, ImmSrc
from gpsimd_core.isa.layout import U8, Imm, Tensor1D, Tensor2D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S1D2Sort"]


class S1D2Sort(Bundle):
    """Writes pairs of key and index."""

    title = "S1D2_SORT"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="Sort (0x96)")
    num_active_channels = U8.at(12, doc="partitions processed, 1 to 128")
    index_offset_src = ImmSrc.at(13, doc="where index_offset comes from")
    in_dtype = Dtype.low(14, doc="dtype of the keys")
    out_dtype = Dtype.high(14, doc="dtype of dst, the same as in_dtype")
    comparison = AluOp.at(15, doc="IS_LT sorts upwards, IS_GT downwards")
    src = Tensor1D.at(16, dtype="in_dtype", doc="the keys")
    dst = Tensor2D.at(24, dtype="out_dtype", doc="pairs: the inner count is 2, the outer one that of the keys")
    index_offset = Imm.at(36, source="index_offset_src", doc="what is added to every index")
    stable = U8.at(40, doc="1 asks that equal keys keep their order")
    reserved1 = zeros.at(41, 23)
