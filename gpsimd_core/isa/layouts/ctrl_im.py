"""CTRL_IM: 32 bytes of payload. Opcodes 0x66, 0x69, 0x7A, 0x9F."""

from __future__ import annotations

from gpsimd_core.isa.layout import U8, U16, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["CtrlIm"]


class CtrlIm(Bundle):
    """Parameter words (0x66, 0x7A), the lane map of 0x6A (0x69), or nothing (0x9F)."""

    title = "CTRL_IM"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="POOL/ACT Compute Gap-Cluster")
    param_ram_offset = U16.at(12, doc="where in the parameter RAM; 0 for 0x69")
    imm_ptr_select = U8.at(14, doc="one bit for each slot that holds a pointer; 0 for 0x69")
    reserved0 = zeros.at(15, 17)
    immediate = U8.at(32, count=32, doc="the payload; for 0x69 a source lane for each lane, 255 leaves it unchanged")
