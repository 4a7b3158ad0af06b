"""S3D3_TENS_DEQUANT: expand packed 4- and 6-bit codes to bytes. Opcode 0x7B, from cayman on."""

from __future__ import annotations

from gpsimd_core.isa.enums import DequantFmt, Dtype
from gpsimd_core.isa.layout import U8, Tensor3D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S3D3TensDequant"]


class S3D3TensDequant(Bundle):
    """Source and destination are counted in 32-bit words."""

    title = "S3D3_TENS_DEQUANT"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="TensorDequantize")
    notes = ("Sunda lists the opcode without this layout: the record is opaque there.",)
    src = Tensor3D.at(12, dtype="in_dtype", mem_pattern=True, doc="packed codes")
    reserved0 = zeros.at(28, 4)
    in_dtype = Dtype.at(32, doc="must be UINT32")
    out_dtype = Dtype.at(33, doc="must be UINT32")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    dequant_fmt = DequantFmt.at(35, doc="what is packed and what it becomes")
    group_size = U8.at(36, doc="0 or 8")
    reserved1 = zeros.at(37, 7)
    dst = Tensor3D.at(44, dtype="out_dtype", mem_pattern=True, doc="destination")
    reserved2 = zeros.at(60, 4)
