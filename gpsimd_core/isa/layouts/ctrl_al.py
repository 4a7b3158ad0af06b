"""CTRL_AL: scalar operator on registers. Opcode 0xA8."""

from __future__ import annotations

from gpsimd_core.isa.enums import AluOp, DataSrc, Dtype
from gpsimd_core.isa.layout import U8, Imm64, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["CtrlAl"]


class CtrlAl(Bundle):
    """64-bit operands lie in a low and a high register."""

    title = "CTRL_AL"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="The ALU-Op Datapath + Dtype Matrix")
    op = AluOp.at(12, doc="the operator")
    dtype = Dtype.at(13, doc="dtype of the operands")
    src_datasrc = DataSrc.at(14, doc="register or immediate")
    dst_dtype = Dtype.at(15, doc="dtype of the result")
    src0_lo = U8.at(16, doc="register of source 0, low word")
    src0_hi = U8.at(17, doc="register of source 0, high word")
    src1_lo = U8.at(18, doc="register of source 1, low word")
    src1_hi = U8.at(19, doc="register of source 1, high word")
    dst_lo = U8.at(20, doc="register of the result, low word")
    dst_hi = U8.at(21, doc="register of the result, high word")
    reserved1 = zeros.at(22, 2)
    immediate = Imm64.at(24, dtype="dtype", doc="immediate operand")
    reserved2 = zeros.at(32, 32)
