"""S4_PB: load table rows into the pool buffer. Opcode 0x67."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import U8, U32, Tensor4D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S4Pb"]


class S4Pb(Bundle):
    """0x68 reads what this leaves there."""

    title = "S4_PB"
    evidence = Evidence(confidence="MED/OBSERVED", source="POOL/ACT Compute Gap-Cluster")
    notes = ("Bytes 33 and 35 to 39 are reserved by elimination (MED).",)
    src = Tensor4D.at(12, dtype="in_dtype", doc="the rows, in SBUF, at most 512 elements")
    in_dtype = Dtype.at(32, doc="dtype of src")
    gap33 = zeros.at(33)
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    gap35 = zeros.at(35, 5)
    start_index = U32.at(40, doc="table index of the first row")
    mask = U32.at(44, doc="mask on the indices")
    reserved2 = zeros.at(48, 16)
