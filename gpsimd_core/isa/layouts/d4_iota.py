"""D4_IOTA: write an affine sequence. Opcode 0x7E."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import I32, U8, Data4D, Tensor4D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["D4Iota"]


class D4Iota(Bundle):
    """Base, steps and channel number give the value; dst says where it goes."""

    title = "D4_IOTA"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="Iota")
    src_data_pattern = Data4D.at(12, doc="generator of the values")
    reserved0 = zeros.at(32)
    out_dtype = Dtype.at(33, doc="dtype of dst; FP32R allowed")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    reserved1 = zeros.at(35)
    channel_multiplier = I32.at(36, doc="what each channel adds to the value")
    reserved2 = zeros.at(40, 4)
    dst = Tensor4D.at(44, dtype="out_dtype", doc="destination")
