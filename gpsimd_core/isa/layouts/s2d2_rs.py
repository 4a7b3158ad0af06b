"""S2D2_RS: keep elements whose index passes two comparisons. Opcode 0xBC, from cayman on."""

from __future__ import annotations

from gpsimd_core.isa.enums import AccumCmd, AluOp, Dtype, ImmSrc
from gpsimd_core.isa.layout import F32, U8, Imm, Tensor2D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S2D2Rs"]


class S2D2Rs(Bundle):
    """The others become fill_val; the written row, fill included, can be folded with MAX."""

    title = "S2D2_RS"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="RangeSelect; AWS Neuron NKI docs: nki.isa.range_select")
    notes = (
        "A companion page names base and fill_val as bounds and makes base an integer; the header's reading is used.",
    )
    num_active_channels = U8.at(12, doc="partitions processed, 1 to 128")
    in_dtype = Dtype.low(13, doc="dtype of src")
    out_dtype = Dtype.high(13, doc="dtype of dst")
    reduce_cmd = AccumCmd.at(14, doc="what the accumulator undergoes: 0, 2 or 3")
    reduce_op = AluOp.at(15, doc="fold operator, MAX")
    base = F32.at(16, doc="index of the first element, at most 2^24")
    fill_val = F32.at(20, doc="value of the other elements; its bits are ff7fffff")
    src = Tensor2D.at(24, dtype="in_dtype", doc="source")
    comp_op0 = AluOp.at(36, doc="comparison of the index with bound0")
    comp_op1 = AluOp.at(37, doc="comparison of the index with bound1")
    bound0_src = ImmSrc.at(38, doc="where bound0 comes from")
    bound1_src = ImmSrc.at(39, doc="where bound1 comes from")
    bound0 = Imm.at(40, source="bound0_src", doc="first bound, fp32")
    bound1 = Imm.at(44, source="bound1_src", doc="second bound, fp32")
    dst = Tensor2D.at(48, dtype="out_dtype", doc="destination")
    reserved1 = zeros.at(60, 4)
