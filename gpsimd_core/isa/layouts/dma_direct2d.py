"""DMA_DIRECT2D: copy a strided block. Opcode 0xB8."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import I32, U8, U16, Addr8, Bits, ungrounded
from gpsimd_core.isa.layouts.common import BOUND_CHECK_REG, Bundle
from gpsimd_core.values import Evidence

__all__ = ["DmaDirect2D"]


class DmaDirect2D(Bundle):
    """Decodes and validates only."""

    title = "DMA_DIRECT2D"
    evidence = Evidence(confidence="MED/OBSERVED", source="The Indirection Engine")
    notes = ("Bytes 56 to 61 appear on no page; if they mirror the source: two counts and an element size (INFERRED).",)
    configs = U8.at(12, doc="configuration bits")
    semaphore = U8.at(13, doc="semaphore that completion changes")
    sem_increment = U8.at(14, doc="by how much")
    compute_op = U8.at(15, doc="operator of an inline reduction")
    src_start_addr = Addr8.at(16, doc="base of the source")
    src_step = I32.at(24, count=2, doc="steps of the source")
    src_num = U16.at(32, count=2, doc="counts of the source")
    src_elem_size = U16.at(36, doc="bytes of a source element")
    src_bound_reg = Bits.at(38, parts=BOUND_CHECK_REG, type="BOUND_CHECK_REG", doc="bound of the source")
    dst_bound_reg = Bits.at(39, parts=BOUND_CHECK_REG, type="BOUND_CHECK_REG", doc="bound of the destination")
    dst_start_addr = Addr8.at(40, doc="base of the destination")
    dst_step = I32.at(48, count=2, doc="steps of the destination")
    ungrounded56 = ungrounded.at(56, 6)
    in_dtype = Dtype.at(62, doc="dtype of the source")
    out_dtype = Dtype.at(63, doc="dtype of the destination")
