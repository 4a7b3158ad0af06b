"""S3D3_NONZERO_WITH_COUNT: positions and count of the non-zero elements. Opcode 0xF2, from cayman on."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype, ImmSrc
from gpsimd_core.isa.layout import U8, Imm, Tensor3D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S3D3NonzeroWithCount"]


class S3D3NonzeroWithCount(Bundle):
    """The dtypes are whole bytes here, no nibble pair."""

    title = "S3D3_NONZERO_WITH_COUNT"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="NonzeroWithCount")
    num_active_channels = U8.at(12, doc="partitions processed, 1 to 128")
    in_dtype = Dtype.at(13, doc="dtype of src: INT32 or FP32")
    out_dtype = Dtype.at(14, doc="dtype of dst: INT32")
    index_offset_src = ImmSrc.at(15, doc="where index_offset comes from")
    src = Tensor3D.at(16, dtype="in_dtype", doc="what is tested, in SBUF")
    index_offset = Imm.at(32, source="index_offset_src", doc="INT32 added to every position")
    padding_val_src = ImmSrc.at(36, doc="where padding_val comes from")
    reserved0 = zeros.at(37, 3)
    padding_val = Imm.at(40, source="padding_val_src", doc="INT32 for the slots without a position")
    dst = Tensor3D.at(44, dtype="out_dtype", doc="positions, padding and count: one element more than src, in SBUF")
    reserved1 = zeros.at(60, 4)
