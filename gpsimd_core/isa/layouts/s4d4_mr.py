"""S4D4_MR: replace the elements that match loaded values. Opcode 0x6F."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import F32, U8, Tensor4D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S4D4Mr"]


class S4D4Mr(Bundle):
    """The values to look for were loaded by 0x6D."""

    title = "S4D4_MR"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="DVE Search/Select Cluster")
    src = Tensor4D.at(12, dtype="in_dtype", doc="source")
    in_dtype = Dtype.at(32, doc="dtype of src")
    out_dtype = Dtype.at(33, doc="dtype of dst")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    reserved0 = zeros.at(35, 5)
    immediate = F32.at(40, doc="value that takes the place of a match")
    dst = Tensor4D.at(44, dtype="out_dtype", doc="destination")
