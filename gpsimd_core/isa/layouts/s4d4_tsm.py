"""S4D4_TSM: one preloaded scalar for each outermost row. Opcodes 0x4F, 0x5F; on sunda 0x87, 0x88."""

from __future__ import annotations

from gpsimd_core.isa.enums import AluOp, Dtype, TensorSubdim, TensScalarRevOps
from gpsimd_core.isa.layout import U8, Tensor4D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S4D4Tsm"]


class S4D4Tsm(Bundle):
    """The scalars are those of 0x70 or 0x71; the record carries no immediate and one operator."""

    title = "S4D4_TSM"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="SUNDA-only Dual / Deprecated TensorScalarPtr")
    notes = (
        "0x87 and 0x88 exist on sunda alone, where no engine takes them; a table that lists them everywhere is stale.",
        "0x87 multiplies by a second preloaded scalar that configuration fixes.",
    )
    src = Tensor4D.at(12, dtype="in_dtype", doc="source; its outermost count is the number of scalars used")
    in_dtype = Dtype.at(32, doc="dtype of src; FP32R not allowed")
    out_dtype = Dtype.at(33, doc="dtype of dst; FP32R allowed")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    reserved0 = zeros.at(35)
    op = AluOp.at(36, doc="operator between an element and its row's scalar")
    op_dim = TensorSubdim.at(37, doc="must be XYZ")
    reverse_operands = TensScalarRevOps.at(38, doc="NONE or BOTH; 0x87 takes any")
    reserved1 = zeros.at(39, 5)
    dst = Tensor4D.at(44, dtype="out_dtype", doc="destination, as many elements as src")
