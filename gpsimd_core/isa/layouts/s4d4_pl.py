"""S4D4_PL: pooling windows over a 4-D source. Opcodes 0x45, 0x58."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype, PoolType, TensorSubdim
from gpsimd_core.isa.layout import F32, U8, Tensor4D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S4D4Pl"]


class S4D4Pl(Bundle):
    """0x45 pools, 0x58 finds where in the window the maximum is."""

    title = "S4D4_PL"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="avg_pool/max_pool")
    notes = ("Never an indirect form, on any generation.",)
    src = Tensor4D.at(12, dtype="in_dtype", doc="source")
    in_dtype = Dtype.at(32, doc="dtype of src")
    out_dtype = Dtype.at(33, doc="dtype of dst; an unsigned integer for 0x58")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    reserved0 = zeros.at(35)
    pool_func = PoolType.at(36, doc="MAX or AVG for 0x45, NONE for 0x58")
    pool_dim = TensorSubdim.at(37, doc="inner dimensions that make up the window")
    reserved1 = zeros.at(38, 2)
    pool_scale = F32.at(40, doc="factor of the average; 1.0 where nothing is averaged")
    dst = Tensor4D.at(44, dtype="out_dtype", doc="destination")
