"""S3D3_CP_PRED_SCALAR: write a scalar where a 3-D predicate selects. Opcode 0xE8."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype, ImmSrc
from gpsimd_core.isa.layout import U8, Imm, Tensor3D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S3D3CpPredScalar"]


class S3D3CpPredScalar(Bundle):
    """Elements that are not selected keep their bytes."""

    title = "S3D3_CP_PRED_SCALAR"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="CopyPredicatedScalar — opcode 0xe8")
    notes = ("Maverick's validator knows tiles here; the channel range stays 1 to 128.",)
    reserved0 = zeros.at(12, 4)
    pred = Tensor3D.at(16, dtype="pred_dtype", mem_pattern=True, doc="integer predicate")
    pred_dtype = Dtype.at(32, doc="dtype of pred, one of the six datapath integers")
    reversed_pred = U8.at(33, doc="polarity: 0 writes where the predicate is zero, 1 where it is not")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    reserved1 = zeros.at(35, 6)
    in_dtype = Dtype.at(41, doc="dtype of the scalar")
    out_dtype = Dtype.at(42, doc="dtype of dst, the same as in_dtype")
    src0_imm_src = ImmSrc.at(43, doc="where the scalar comes from")
    src0_imm = Imm.at(44, dtype="in_dtype", source="src0_imm_src", doc="the scalar")
    dst = Tensor3D.at(
        48, dtype="out_dtype", mem_pattern=True, doc="destination, and what is kept where nothing is written"
    )
