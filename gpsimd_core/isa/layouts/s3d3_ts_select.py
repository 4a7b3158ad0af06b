"""S3D3_TS_SELECT: a 3-D tensor or a scalar, chosen by a scalar predicate. Opcode 0x98."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype, ImmSrc
from gpsimd_core.isa.layout import U8, Imm, Tensor3D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S3D3TsSelect"]


class S3D3TsSelect(Bundle):
    """The predicate is one number for the instruction or for each partition, not a tensor."""

    title = "S3D3_TS_SELECT"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="TensorScalarSelect (0x98)")
    reserved0 = zeros.at(12, 4)
    src0 = Tensor3D.at(16, dtype="dtype", doc="tensor that a true predicate chooses")
    reversed_pred = U8.at(32, doc="1 exchanges true and false")
    num_active_channels = U8.at(33, doc="partitions processed, 1 to 128")
    dtype = Dtype.at(34, doc="dtype of src0, src1_imm and dst")
    pred_imm_dtype = Dtype.at(35, doc="integer dtype of the predicate, as wide as dtype")
    reserved1 = zeros.at(36, 2)
    src1_imm_src = ImmSrc.at(38, doc="where src1_imm comes from")
    pred_imm_src = ImmSrc.at(39, doc="where pred_imm comes from")
    src1_imm = Imm.at(40, dtype="dtype", source="src1_imm_src", doc="scalar that a false predicate chooses")
    pred_imm = Imm.at(44, dtype="pred_imm_dtype", source="pred_imm_src", doc="the predicate; 0 or 1 when inline")
    dst = Tensor3D.at(48, dtype="dtype", doc="destination")
