"""EXTENDED_TTA: the escape opcode 0xF0, whose byte 12 selects the rest."""

from __future__ import annotations

from gpsimd_core.isa.enums import AluOp, Dtype, ExtendedOpcode
from gpsimd_core.isa.layout import Bits, Tensor2D, ungrounded, zeros
from gpsimd_core.isa.layouts.common import EXT_COMPLETION_INFO, Bundle
from gpsimd_core.values import Evidence

__all__ = ["ExtendedOther", "ExtendedTta"]


class ExtendedOther(Bundle):
    """An escape record whose sub-opcode has no grounded layout."""

    title = "EXTENDED_TTA, other sub-opcodes"
    evidence = Evidence(confidence="none", source="no source describes the bytes after the sub-opcode")
    extended_opcode = ExtendedOpcode.at(12, doc="sub-opcode")
    ungrounded13 = ungrounded.at(13, 51)


class ExtendedTta(Bundle):
    """Sub-opcode 2: add or multiply two 2-D tensors. Other sub-opcodes have the layout of `ExtendedOther`."""

    title = "EXTENDED_TTA"
    evidence = Evidence(
        confidence="MED/OBSERVED", source="POOL/ACT Compute Gap-Cluster; The ALU-Op Datapath + Dtype Matrix"
    )
    notes = ("Not executable on sunda.",)
    selector = ("extended_opcode", ExtendedOpcode.TENSOR_TENSOR_ARITH, ExtendedOther)
    extended_opcode = ExtendedOpcode.at(12, doc="2: the tensor-tensor form that this layout describes")
    completion_info = Bits.at(
        13, parts=EXT_COMPLETION_INFO, type="EXT_COMPLETION_INFO", doc="memory accesses and ports"
    )
    src0_dtype = Dtype.low(14, doc="dtype of src0")
    src1_dtype = Dtype.high(14, doc="dtype of src1")
    out_dtype = Dtype.at(15, doc="dtype of dst")
    op = AluOp.at(16, doc="ADD or MULT")
    reserved0 = zeros.at(17, 3)
    src0 = Tensor2D.at(20, dtype="src0_dtype", doc="left operand")
    src1 = Tensor2D.at(32, dtype="src1_dtype", doc="right operand")
    dst = Tensor2D.at(44, dtype="out_dtype", doc="destination")
    reserved1 = zeros.at(56, 8)
