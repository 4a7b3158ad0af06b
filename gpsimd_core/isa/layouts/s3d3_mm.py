"""S3D3_MM: matrix multiply, as sunda lays it out. Opcode 0x02."""

from __future__ import annotations

from gpsimd_core.isa.enums import Dtype, MatmulZeroRegion
from gpsimd_core.isa.layout import U8, U16, Tensor3D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S3D3Mm"]


class S3D3Mm(Bundle):
    """Outside the GPSIMD engines: decodes and validates only.

    Later generations keep the opcode but move its fields. The sources place single fields there, neither the moving
    operand nor its dtype nor the reserved bytes, so on those generations the record stays opaque.
    """

    title = "S3D3_MM"
    evidence = Evidence(confidence="MED/OBSERVED", source="The 64-Byte Bundle Quick-Reference")
    notes = ("Later layouts place out_dtype at byte 40 (cayman, mariana) or 34 (maverick), and dst at 48.",)
    reserved0 = zeros.at(12, 4)
    src = Tensor3D.at(16, dtype="in_dtype", doc="the moving operand")
    in_dtype = Dtype.at(32, doc="dtype of the moving operand")
    fp32_mode = U8.at(33, doc="how fp32 is handled")
    reserved1 = zeros.at(34)
    perf_opt = U8.at(35, doc="performance option")
    quant_offset = U16.at(36, doc="offset of quantised data")
    num_active_rows = U8.at(38, doc="rows of the array in use")
    num_active_cols = U8.at(39, doc="columns of the array in use")
    reserved2 = zeros.at(40, 3)
    psum_accumulate_flags = U8.at(43, doc="bit 0 begins an accumulation group, bit 1 ends it")
    row_grp = U8.at(44, doc="row group")
    col_grp = U8.at(45, doc="column group")
    xbus_sel = U8.at(46, doc="bus selection")
    psum_zero_region = MatmulZeroRegion.at(47, doc="size of the PSUM region that a group clears")
    dst = Tensor3D.at(48, dtype=None, doc="destination in PSUM; the record names no dtype for it")
