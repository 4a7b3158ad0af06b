"""S3D3_COLLECTIVE: exchange between the SBUFs of several cores. Opcode 0xBF, from cayman on."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import Tensor3D, ungrounded
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S3D3Collective"]


class S3D3Collective(Bundle):
    """Only the dtypes and the limits are sure; the operands lie where they are inferred to."""

    title = "S3D3_COLLECTIVE"
    evidence = Evidence(confidence="LOW/INFERRED", source="SB2SB collective page")
    notes = ("A field for the core group lies in bytes 14, 15 or 32 to 47.",)
    in_dtype = Dtype.at(12, doc="dtype of src")
    out_dtype = Dtype.at(13, doc="dtype of dst, the same as in_dtype")
    ungrounded14 = ungrounded.at(14, 2)
    src = Tensor3D.at(16, dtype="in_dtype", doc="source, in SBUF, at most 256 elements")
    ungrounded32 = ungrounded.at(32, 16)
    dst = Tensor3D.at(48, dtype="out_dtype", doc="destination, in SBUF")
