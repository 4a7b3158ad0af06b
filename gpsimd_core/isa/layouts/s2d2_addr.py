"""S2D2_ADDR: 64-bit address arithmetic. Opcode 0x74."""

from __future__ import annotations

from gpsimd_core.isa.enums import AluOp, Dtype, TensScalarRevOps
from gpsimd_core.isa.layout import U8, Imm64, Tensor2D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S2D2Addr"]


class S2D2Addr(Bundle):
    """A 2-D source, two 64-bit immediates and a 2-D destination."""

    title = "S2D2_ADDR"
    evidence = Evidence(
        confidence="HIGH/OBSERVED",
        source="Tensor-Scalar + Tensor-Scalar-PTR; TensorScalar/Cumulative/ScalarTensorTensor/Exp Encoding",
    )
    src = Tensor2D.at(12, dtype="in_dtype", doc="source")
    imm0 = Imm64.at(24, dtype="imm0_dtype", source="imm0_is_ptr", doc="immediate of op0, or a pointer to it")
    imm1 = Imm64.at(32, dtype="imm1_dtype", source="imm1_is_ptr", doc="immediate of op1, or a pointer to it")
    imm0_dtype = Dtype.low(40, doc="dtype of imm0")
    imm1_dtype = Dtype.high(40, doc="dtype of imm1")
    in_dtype = Dtype.low(41, doc="dtype of src")
    out_dtype = Dtype.high(41, doc="dtype of dst")
    imm0_is_ptr = U8.at(42, doc="1 where imm0 is a pointer, else 0")
    imm1_is_ptr = U8.at(43, doc="1 where imm1 is a pointer, else 0")
    op0 = AluOp.at(44, doc="first operator")
    op1 = AluOp.at(45, doc="second operator")
    num_active_channels = U8.at(46, doc="partitions processed, 1 to 128")
    reverse_operands = TensScalarRevOps.at(47, doc="which of op0 and op1 take their operands swapped")
    reserved0 = zeros.at(48, 4)
    dst = Tensor2D.at(52, dtype="out_dtype", doc="destination")
