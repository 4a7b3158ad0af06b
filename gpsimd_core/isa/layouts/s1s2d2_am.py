"""S1S2D2_AM: activation with the accumulator of an earlier pass. Opcode 0x26, maverick."""

from __future__ import annotations

from gpsimd_core.isa.enums import AluOp, Dtype, ImmSrc, ReduceCmd, TensScalarRevOps
from gpsimd_core.isa.layout import U8, Imm, Tensor1D, Tensor2D, ungrounded
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S1S2D2Am"]


class S1S2D2Am(Bundle):
    """No firmware handler ships, so it never executes."""

    title = "S1S2D2_AM"
    evidence = Evidence(confidence="MED/OBSERVED", source="Activate + the PWL Application Mechanism")
    src = Tensor2D.at(12, dtype="in_dtype", doc="source, in SBUF")
    imm0_src = ImmSrc.at(24, doc="where imm0 comes from")
    reduce_cmd = ReduceCmd.at(25, doc="what the accumulator undergoes")
    ungrounded26 = ungrounded.at(
        26, doc="described by no source, perhaps the source of imm1: round-trips, never checked"
    )
    imm_dtype = Dtype.at(27, doc="dtype of the immediates")
    op0 = AluOp.at(28, doc="first operator")
    op1 = AluOp.at(29, doc="second operator")
    reduce_op = AluOp.at(30, doc="what the accumulator folds with")
    in_dtype = Dtype.at(31, doc="dtype of src")
    out_dtype = Dtype.at(32, doc="dtype of dst")
    num_active_channels = U8.at(33, doc="partitions processed, 1 to 128")
    activation_func = U8.at(34, doc="row of the function table that the host loads")
    reverse_operands = TensScalarRevOps.at(35, doc="which of op0 and op1 take their operands swapped")
    imm0 = Imm.at(36, dtype="imm_dtype", source="imm0_src", doc="the scale")
    prev_pass = Tensor1D.at(40, dtype="out_dtype", doc="accumulators of the earlier pass, in SBUF")
    dst = Tensor2D.at(48, dtype="out_dtype", doc="destination, in SBUF")
    imm1 = Imm.at(60, dtype="imm_dtype", doc="the bias")
