"""CTRL_MV: move registers or immediates into registers. Opcode 0xA7."""

from __future__ import annotations

from gpsimd_core.isa.enums import DataSrc, Dtype
from gpsimd_core.isa.layout import U8, U32, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["CtrlMv"]


class CtrlMv(Bundle):
    """Up to eight moves in one record."""

    title = "CTRL_MV"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="Move (0xa7)")
    num_mov = U8.at(12, doc="how many moves, 1 to 8")
    dtype = Dtype.at(13, doc="UINT32, INT32 or FP32")
    move_source = DataSrc.at(14, doc="whether registers or immediates are moved")
    reserved0 = zeros.at(15)
    src_registers = U8.at(16, count=8, doc="registers to read; slots that are not used are zero")
    dst_registers = U8.at(24, count=8, doc="registers to write, all different and none of them read")
    immediate = U32.at(32, count=8, doc="one word for each move of an immediate")
