"""S4D4_CR: fold across partitions. Opcodes 0x7C, 0x7D."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype, ReduceAxis, ReduceOp
from gpsimd_core.isa.layout import F32, U8, Tensor4D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S4D4Cr"]


class S4D4Cr(Bundle):
    """The source spans num_active_channels partitions, the destination one."""

    title = "S4D4_CR"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="CrossLaneReduce")
    notes = ("Same bytes on every generation; never an indirect form.",)
    src = Tensor4D.at(12, dtype="in_dtype", doc="source, in SBUF")
    in_dtype = Dtype.at(32, doc="dtype of src; FP32R not allowed")
    out_dtype = Dtype.at(33, doc="dtype of dst; FP32R allowed")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    reduce_op = ReduceOp.at(35, doc="fold operator, numbered by its own enumeration")
    reduce_axis = ReduceAxis.at(36, doc="whether one element or one partition is left")
    reserved0 = zeros.at(37, 3)
    scale = F32.at(40, doc="factor on each element before AVERAGE folds it")
    dst = Tensor4D.at(44, dtype="out_dtype", doc="destination on a single partition, in SBUF")
