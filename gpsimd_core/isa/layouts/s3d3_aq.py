"""S3D3_AQ: activation between dequantising and requantising. Opcode 0x22."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import F32, U8, PartitionOffset, Tensor3D
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S3D3Aq"]


class S3D3Aq(Bundle):
    """The bias always comes through a pointer."""

    title = "S3D3_AQ"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="Activate + the PWL Application Mechanism")
    quant_scale_value = F32.at(12, doc="factor on the result, not zero")
    src = Tensor3D.at(16, dtype="in_dtype", doc="source")
    in_dtype = Dtype.low(32, doc="dtype of src")
    bias_dtype = Dtype.high(32, doc="dtype of the bias")
    out_dtype = Dtype.at(33, doc="dtype of dst: UINT8")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    activation_func = U8.at(35, doc="row of the function table that the host loads")
    dequant_scale_value = F32.at(36, doc="factor on the input, not zero")
    bias_addr = PartitionOffset.at(40, dtype="bias_dtype", doc="address of one bias for each partition")
    quant_zero_value = F32.at(44, doc="zero point of the result")
    dst = Tensor3D.at(48, dtype="out_dtype", doc="destination")
