"""S4D2_BN: a 4-D source into a 2-D destination. Opcodes 0x60, 0x61, 0x62, 0x6C, 0x6E, 0x82."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import F32, U8, Tensor2D, Tensor4D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S4D2Bn"]


class S4D2Bn(Bundle):
    """Batch-norm statistics, and the search for the eight largest values or for the position of given ones."""

    title = "S4D2_BN"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="DVE Search/Select Cluster; POOL/ACT Compute Gap-Cluster")
    src = Tensor4D.at(12, dtype="in_dtype", doc="source")
    in_dtype = Dtype.at(32, doc="dtype of src")
    out_dtype = Dtype.at(33, doc="dtype of dst")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    reserved0 = zeros.at(35, 5)
    even_count = F32.at(40, doc="batch-norm count of the even elements; 0.0 for the searches")
    odd_count = F32.at(44, doc="batch-norm count of the odd elements; 0.0 for the searches")
    dst = Tensor2D.at(48, dtype="out_dtype", doc="destination")
    reserved1 = zeros.at(60, 4)
