"""S4D4_IC: gather through a list of indices. Opcode 0xE7."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import U8, U16, Addr4, Tensor4D, ungrounded, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S4D4Ic"]


class S4D4Ic(Bundle):
    """Bytes 12 to 31 are an indirect source of its own, offered on every generation."""

    title = "S4D4_IC"
    evidence = Evidence(confidence="MED/OBSERVED", source="DVE Search & Datamove Encoding; The Indirection Engine")
    notes = ("Bytes 37, 42 and 43 appear on no page.",)
    index_addr = Addr4.at(12, doc="address of the index list, with the indirect marker")
    data_addr = Addr4.at(16, doc="base of the data, top three bits zero")
    num_elem = U16.at(20, doc="number of indices, at most 4096")
    src_rest = zeros.at(22, 10, doc="rest of the 20-byte indirect source, must be zero")
    in_dtype = Dtype.at(32, doc="dtype of the data")
    out_dtype = Dtype.at(33, doc="dtype of dst")
    num_active_channels = U8.at(34, doc="partitions processed, a multiple of 16 up to 128")
    src_num_elem_per_idx = U8.at(35, doc="elements fetched for one index: a power of two up to 32")
    dst_num_elem_per_idx = U8.at(36, doc="must be 0")
    ungrounded37 = ungrounded.at(37)
    src_buffer_size = U16.at(38, doc="size of the source buffer")
    dst_buffer_size = U16.at(40, doc="must be 0")
    ungrounded42 = ungrounded.at(42, 2)
    dst = Tensor4D.at(44, dtype="out_dtype", doc="destination")
