"""S3D3_SEQ_BOUNDS: a pair for each element of a sequence. Opcode 0xBE, from cayman on."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import U8, Tensor3D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S3D3SeqBounds"]


class S3D3SeqBounds(Bundle):
    """What the pair holds is not settled, so nothing executes it."""

    title = "S3D3_SEQ_BOUNDS"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="GetSequenceBounds")
    num_active_channels = U8.at(12, doc="must be 1")
    reserved0 = zeros.at(13)
    in_dtype = Dtype.at(14, doc="dtype of src: INT32 or FP32")
    out_dtype = Dtype.at(15, doc="dtype of dst: INT32 or FP32")
    src = Tensor3D.at(16, dtype="in_dtype", doc="the sequence, in SBUF")
    dst = Tensor3D.at(32, dtype="out_dtype", doc="twice as many elements as src, outermost count 2, in SBUF")
    reserved1 = zeros.at(48, 16)
