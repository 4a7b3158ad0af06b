"""S2D2_AC: two operators, a function and a reduction. Opcode 0x25, from mariana on."""

from __future__ import annotations

from gpsimd_core.isa.enums import AluOp, Dtype, ImmSrc, ReduceCmd, TensScalarRevOps
from gpsimd_core.isa.layout import U8, Imm, Tensor2D, ungrounded
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S2D2Ac"]


class S2D2Ac(Bundle):
    """The second activation form; maverick runs it on DVE."""

    title = "S2D2_AC"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="Activate + the PWL Application Mechanism")
    notes = ("Bytes 61 to 63 appear on no page.",)
    src = Tensor2D.at(12, dtype="in_dtype", doc="source")
    relu_param_src = ImmSrc.at(24, doc="where relu_param comes from")
    imm0_src = ImmSrc.at(25, doc="where imm0 comes from")
    reduce_cmd = ReduceCmd.at(26, doc="what the accumulator undergoes")
    imm1_src = ImmSrc.at(27, doc="where imm1 comes from")
    imm_dtype = Dtype.at(28, doc="dtype of the immediates")
    op0 = AluOp.at(29, doc="first operator")
    op1 = AluOp.at(30, doc="second operator")
    reduce_op = AluOp.at(31, doc="what the accumulator folds with")
    in_dtype = Dtype.at(32, doc="dtype of src; FP32R not allowed")
    out_dtype = Dtype.at(33, doc="dtype of dst; FP32R allowed")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    activation_func = U8.at(35, doc="row of the function table that the host loads")
    imm0 = Imm.at(36, dtype="imm_dtype", source="imm0_src", doc="the scale")
    imm1 = Imm.at(40, dtype="imm_dtype", source="imm1_src", doc="the bias")
    relu_param = Imm.at(44, dtype="imm_dtype", source="relu_param_src", doc="slope below zero of leaky_relu")
    dst = Tensor2D.at(48, dtype="out_dtype", doc="destination")
    reverse_operands = TensScalarRevOps.at(60, doc="which of op0 and op1 take their operands swapped")
    ungrounded61 = ungrounded.at(61, 3)
