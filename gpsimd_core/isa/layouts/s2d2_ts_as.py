"""S2D2_TS_AS: choose elements by the sign of an affine index. Opcode 0x92."""

from __future__ import annotations

from gpsimd_core.isa.enums import AffineSelectCmp, Dtype
from gpsimd_core.isa.layout import I32, U8, Data4D, Tensor2D
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S2D2TsAs"]


class S2D2TsAs(Bundle):
    """The affine value of each element and channel is compared with zero."""

    title = "S2D2_TS_AS"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="AffineSelect (0x92)")
    notes = ("A companion reference gives this name to the layout of 0x74, which is S2D2_ADDR here.",)
    num_active_channels = U8.at(12, doc="partitions processed, 1 to 128")
    in_dtype = Dtype.low(13, doc="dtype of src")
    out_dtype = Dtype.high(13, doc="dtype of dst")
    fill_mode = AffineSelectCmp.at(14, doc="comparison of the affine value with zero")
    fill_reg = U8.at(15, doc="register that holds the fp32 fill value")
    mask_pattern = Data4D.at(16, doc="generator of the affine value")
    src = Tensor2D.at(36, dtype="in_dtype", doc="source")
    dst = Tensor2D.at(48, dtype="out_dtype", doc="destination")
    channel_multiplier = I32.at(60, doc="what each channel adds to the affine value")
