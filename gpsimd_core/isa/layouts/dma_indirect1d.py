"""DMA_INDIRECT1D: copy rows that two lists of indices name. Opcode 0xBB."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import I32, U8, U16, Addr4, Addr8, Bits, ungrounded
from gpsimd_core.isa.layouts.common import BOUND_CHECK_REG, Bundle
from gpsimd_core.values import Evidence

__all__ = ["DmaIndirect1D"]


class DmaIndirect1D(Bundle):
    """Decodes and validates only."""

    title = "DMA_INDIRECT1D"
    evidence = Evidence(confidence="MED/OBSERVED", source="The Indirection Engine")
    notes = ("Bytes 12, 13 and 59 to 63 appear on no page.",)
    ungrounded12 = ungrounded.at(12, 2)
    idx_num_active_channels = U8.at(14, doc="partitions of the index lists")
    flags = U8.at(15, doc="flag bits")
    src_start_addr = Addr8.at(16, doc="base of the source")
    src_step = I32.at(24, doc="step of the source")
    src_num = U16.at(28, doc="count of the source")
    src_elem_size = U16.at(30, doc="bytes of a source element")
    dst_start_addr = Addr8.at(32, doc="base of the destination")
    dst_step = I32.at(40, doc="step of the destination")
    dst_num = U16.at(44, doc="count of the destination")
    dst_elem_size = U16.at(46, doc="bytes of a destination element")
    src_idx_addr = Addr4.at(48, doc="indices of the source")
    dst_idx_addr = Addr4.at(52, doc="indices of the destination")
    in_dtype = Dtype.at(56, doc="dtype of the source")
    out_dtype = Dtype.at(57, doc="dtype of the destination")
    src_idx_bound_reg = Bits.at(58, parts=BOUND_CHECK_REG, type="BOUND_CHECK_REG", doc="bound of the source indices")
    ungrounded59 = ungrounded.at(59, 5)
