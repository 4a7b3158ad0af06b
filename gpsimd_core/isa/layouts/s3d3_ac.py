"""S3D3_AC: scale, bias and an activation function. Opcode 0x21."""

from __future__ import annotations

from gpsimd_core.isa.enums import AccumCmd, Dtype, ImmSrc, ImmSrcN
from gpsimd_core.isa.layout import U8, Imm, Tensor3D
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S3D3Ac"]


class S3D3Ac(Bundle):
    """Computes function(src * scale + bias); the affine step rounds twice."""

    title = "S3D3_AC"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="Activate + the PWL Application Mechanism")
    imm_src = ImmSrc.at(12, doc="where imm comes from")
    scale_src = ImmSrc.at(13, doc="where scale_value comes from")
    accumulator_cmd = AccumCmd.at(14, doc="what the ACT accumulator undergoes")
    bias_src_n = ImmSrcN.at(15, doc="where bias comes from, by the inverted enumeration")
    src = Tensor3D.at(16, dtype="in_dtype", doc="source")
    in_dtype = Dtype.low(32, doc="dtype of src")
    bias_dtype = Dtype.high(32, doc="dtype of bias")
    out_dtype = Dtype.at(33, doc="dtype of dst; FP32R allowed")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    activation_func = U8.at(35, doc="row of the function table that the host loads")
    scale_value = Imm.at(36, source="scale_src", doc="factor before the function, fp32")
    bias = Imm.at(40, dtype="bias_dtype", source="bias_src_n", doc="addend before the function")
    imm = Imm.at(44, source="imm_src", doc="seed of LOAD_ACCUMULATE")
    dst = Tensor3D.at(48, dtype="out_dtype", doc="destination")
