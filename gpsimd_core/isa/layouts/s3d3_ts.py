"""S3D3_TS: a 3-D source, two scalars and a 3-D destination. Opcodes 0x30, 0x43, 0x44, 0x53, 0x54, 0x93, 0x9A, 0xE6."""

from __future__ import annotations

from gpsimd_core.isa.enums import AccumCmd, AluOp, Dtype, ImmSrc, TensScalarRevOps
from gpsimd_core.isa.layout import U8, Imm, Tensor3D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S3D3Ts"]


class S3D3Ts(Bundle):
    """Tensor-scalar operators, their caching forms and the exponential."""

    title = "S3D3_TS"
    evidence = Evidence(
        confidence="HIGH/OBSERVED", source="Tensor-Scalar + Tensor-Scalar-PTR; TensorScalarCacheReduce — 0x9a"
    )
    notes = (
        "0x44 and 0x54 take both scalars through pointers although their source bytes read 0.",
        "0x93 transposes before it computes.",
    )
    accumulator_cmd = AccumCmd.at(12, doc="IDLE for the plain forms; the caching forms and 0x30 take 2, 3 or 4")
    reserved0 = zeros.at(13, 3)
    src = Tensor3D.at(16, dtype="in_dtype", mem_pattern=True, doc="source")
    in_dtype = Dtype.at(32, doc="dtype of src; FP32R not allowed")
    out_dtype = Dtype.at(33, doc="dtype of dst; FP32R allowed")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    imm0_src = ImmSrc.at(35, doc="where imm0 comes from")
    op0 = AluOp.at(36, doc="operator between src and imm0")
    op1 = AluOp.at(37, doc="operator between that and imm1; what the caching forms combine with")
    reverse_operands = TensScalarRevOps.at(38, doc="which of op0 and op1 take their operands swapped")
    imm1_src = ImmSrc.at(39, doc="where imm1 comes from")
    imm0 = Imm.at(40, source="imm0_src", doc="scalar of op0")
    imm1 = Imm.at(44, source="imm1_src", doc="scalar of op1; in the caching forms the seed of LOAD_ACCUMULATE")
    dst = Tensor3D.at(48, dtype="out_dtype", doc="destination")
