"""pool_buffer_load (0x67), gather (0x68), indirect_copy (0xE7), sb2sb_collective (0xBF): decode and validate only."""

from __future__ import annotations

import numpy as np

from gpsimd_core.isa.checks import (
    REGISTERS,
    active_channels,
    addresses,
    aligned,
    dtype_valid,
    field_in,
    field_is,
    member_of,
    reserved_zero,
    rule,
    rules,
    tensor_valid,
)
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s3d3_collective import S3D3Collective
from gpsimd_core.isa.layouts.s4_pb import S4Pb
from gpsimd_core.isa.layouts.s4d4_gt import S4D4Gt
from gpsimd_core.isa.layouts.s4d4_ic import S4D4Ic
from gpsimd_core.isa.ops.shared import Bools, channels_multiple, core_version, count_in, placed, same_dtype
from gpsimd_core.values import Evidence, Instruction, Operand

__all__ = ["GATHER", "INDIRECT_COPY", "POOL_BUFFER_LOAD", "SB2SB_COLLECTIVE"]

GAP = Evidence(confidence="HIGH/OBSERVED", source="POOL/ACT Compute Gap-Cluster")
INDIRECTION = Evidence(confidence="MED/OBSERVED", source="The Indirection Engine; DVE Search & Datamove Encoding")
COLLECTIVE = Evidence(confidence="MED/OBSERVED", source="SB2SB collective page")

POOL_BUFFER_LOAD = Instruction(
    name="pool_buffer_load",
    aliases=("PoolBufferLoad",),
    layout=S4Pb,
    reads=(Operand(name="rows", at="src", dtype="in_dtype"),),
    rules=rules(
        GAP,
        (2, dtype_valid("in_dtype")),
        *placed(3, "src", "in_dtype", "is_valid_dtype[in_dtype]", psum=False),
        (3, active_channels()),
        (4, count_in("src", 1, 512)),
        (5, reserved_zero("gap33", "gap35", "reserved2")),
    ),
    missing="how the pool buffer keeps its rows, and what start_index and mask do",
    semantics="Decodes and validates only.",
    evidence=GAP,
)

GATHER = Instruction(
    name="gather",
    aliases=("TensorGather",),
    layout=S4D4Gt,
    reads=(Operand(name="indices", at="src", dtype="in_dtype"),),
    writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
    rules=rules(
        GAP,
        (2, field_in("in_dtype", Dtype.UINT8, Dtype.UINT16, Dtype.UINT32)),
        (2, dtype_valid("out_dtype", fp32r=True)),
        *placed(3, "src", "in_dtype", "field_in[in_dtype]"),
        *placed(3, "dst", "out_dtype", "is_valid_dtype[out_dtype]", write=True),
        (3, active_channels()),
        (4, reserved_zero("reserved0", "reserved1")),
    ),
    missing="the layout of the pool buffer, and the codes of index_miss_behavior",
    semantics="Decodes and validates only.",
    evidence=GAP,
)


def _index_list(c: Columns, f: Facts) -> Bools:
    word = c["index_addr"]
    a = addresses(c, f, "index_addr", "")
    g = f.geometry
    inside = (a.sbuf & (a.offset < g.sbuf_active)) | (a.psum & (a.offset < g.psum_active))
    listed = inside & aligned(a.address, np.full(len(c), Dtype.UINT32))
    return a.indirect & np.where((word >> 31) & 1 == 1, word & 0xFFFFFF < REGISTERS, listed)


def _data_base(c: Columns, f: Facts) -> Bools:
    a = addresses(c, f, "data_addr", "")
    g = f.geometry
    inside = (a.sbuf & (a.offset < g.sbuf_active)) | (a.psum & (a.offset < g.psum_active))
    return (c["data_addr"] >> 29 == 0) & inside & aligned(a.address, c["in_dtype"])


def _base_partition(c: Columns, f: Facts) -> Bools:
    return addresses(c, f, "data_addr", "").partition % 32 == 0


INDIRECT_COPY = Instruction(
    name="indirect_copy",
    aliases=("IndirectCopy",),
    layout=S4D4Ic,
    writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
    rules=rules(
        INDIRECTION,
        (2, active_channels()),
        (2, channels_multiple(16)),
        (3, field_in("src_num_elem_per_idx", 1, 2, 4, 8, 16, 32)),
        (4, rule("index_count", "", ("num_elem",), lambda c, f: (c["num_elem"] >= 1) & (c["num_elem"] <= 4096), "1 to 4096")),
        (5, field_is("dst_num_elem_per_idx", 0)),
        (5, field_is("dst_buffer_size", 0)),
        (6, dtype_valid("in_dtype")),
        (6, dtype_valid("out_dtype", fp32r=True)),
        (7, rule(
            "index_list", "", ("index_addr",), _index_list, "the indirect marker with a 4-byte aligned address, or a register",
        )),
        (7, rule(
            "data_base", "", ("data_addr", "in_dtype"), _data_base, "a plain address aligned to in_dtype",
            needs=("is_valid_dtype[in_dtype]",),
        )),
        (8, rule(
            "start_partition", "data_addr", ("data_addr",), _base_partition, "partition 0, 32, 64 or 96",
            needs=("data_base",),
        )),
        *placed(9, "dst", "out_dtype", "is_valid_dtype[out_dtype]", write=True),
        (10, reserved_zero("src_rest")),
    ),
    missing="how indices select elements, and what the buffer sizes do",
    semantics="Decodes and validates only.",
    evidence=INDIRECTION,
)  # fmt: skip

SB2SB_COLLECTIVE = Instruction(
    name="sb2sb_collective",
    aliases=("SB2SBCollective",),
    layout=S3D3Collective,
    reads=(Operand(name="data", at="src", dtype="in_dtype"),),
    writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
    rules=rules(
        COLLECTIVE,
        (1, core_version(3)),
        (2, member_of("in_dtype", Dtype)),
        (2, same_dtype("in_dtype", "out_dtype", needs=("is_valid_enum[in_dtype]",))),
        (3, tensor_valid("src", "in_dtype", psum=False, needs=("is_valid_enum[in_dtype]",))),
        (3, tensor_valid("dst", "out_dtype", write=True, psum=False, needs=("same_dtype[in_dtype,out_dtype]",))),
        (4, count_in("src", 1, 256)),
    ),
    missing="which cores exchange, and in which order: bytes 14, 15 and 32 to 47 are described by no source",
    semantics="Decodes and validates only.",
    evidence=COLLECTIVE,
)
