"""S2S2D2_STT: two 2-D sources, a scalar and a 2-D destination. Opcodes 0x9D, 0x9E, 0xE5, 0xEA."""

from __future__ import annotations

from gpsimd_core.isa.enums import AccumCmd, AluOp, Dtype, ImmSrc, TensScalarRevOps
from gpsimd_core.isa.layout import U8, Imm, Tensor2D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S2S2D2Stt"]


class S2S2D2Stt(Bundle):
    """Byte-identical on every generation; imm0 is the last field, after dst."""

    title = "S2S2D2_STT"
    evidence = Evidence(
        confidence="HIGH/OBSERVED",
        source="CopyPredicatedReduce — SelectReduce (0xea); Scalar-Tensor-Tensor (STT); TensorTensorScan (0xe5)",
    )
    src0 = Tensor2D.at(12, dtype="src0_dtype", doc="first source; for select_reduce the integer predicate")
    src1 = Tensor2D.at(24, dtype="src1_dtype", doc="second source; for select_reduce the data")
    op0 = AluOp.at(36, doc="first operator")
    op1 = AluOp.at(37, doc="second operator")
    reverse_operands = TensScalarRevOps.at(38, doc="which of op0 and op1 take their operands swapped")
    imm0_src = ImmSrc.at(39, doc="where imm0 comes from")
    src0_dtype = Dtype.low(40, doc="dtype of src0")
    src1_dtype = Dtype.high(40, doc="dtype of src1")
    out_dtype = Dtype.at(41, doc="dtype of dst; FP32R allowed")
    num_active_channels = U8.at(42, doc="partitions processed, 1 to 128")
    imm0_dtype = Dtype.at(43, doc="dtype of imm0")
    accumulator_cmd = AccumCmd.at(44, doc="what the accumulator undergoes")
    reserved = zeros.at(45, 3)
    dst = Tensor2D.at(48, dtype="out_dtype", doc="destination")
    imm0 = Imm.at(60, dtype="imm0_dtype", source="imm0_src", doc="scalar operand of op0")
