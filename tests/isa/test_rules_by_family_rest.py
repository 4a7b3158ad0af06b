"""The rules of the reduce, search, select, generator and data-movement families by hand, both ways.

What just passes, and what breaks one rule; codes are written out as numbers where the code itself is the point.
"""

from __future__ import annotations

import pytest
from legal_records import EVERY, legal, record
from rule_cases import ACTIVE, INDIRECT, PSUMS, REGISTER, SINCE_MARIANA, Row, judge, parameters, psum, rows, sbuf

from gpsimd_core.isa.enums import AluOp as Op
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.testing.library import SHAPE, SINCE_CAYMAN, generator, pattern

INT8, UINT8, INT16, UINT16 = Dtype.INT8, Dtype.UINT8, Dtype.INT16, Dtype.UINT16
INT32, UINT32, INT64, UINT64 = Dtype.INT32, Dtype.UINT32, Dtype.INT64, Dtype.UINT64
BF16, FP16, FP32, FP32R, E2M5 = Dtype.BFLOAT16, Dtype.FP16, Dtype.FP32, Dtype.FP32R, Dtype.FP8_EXP2
TO_CAYMAN = ("sunda", "cayman")
MAVERICK = ("maverick",)


def both(code: Dtype) -> dict[str, Dtype]:
    """Source and destination of one dtype."""
    return {"in_dtype": code, "out_dtype": code}


def by_index(index: int, data: int, count: int) -> dict[str, object]:
    """An indirect source."""
    return {"src": {"index": index, "data": data, "count": count}}


TABLE: list[Row] = [
    *rows(
        "copy",
        (1, "reserved_zero", {}, {"reserved1": (0, 0, 0, 0, 9)}),
        (2, "is_valid_dtype[in_dtype]", both(INT32), {"in_dtype": INT64}),
        (3, "same_dtype[in_dtype,out_dtype]", both(UINT8), {"out_dtype": FP32R}),
        (4, "field_is[op]", {}, {"op": Op.ADD}),
        (4, "field_is[negated]", {}, {"negated": 1}),
        (4, "field_is[mask_enable]", {}, {"mask_enable": 1}),
        (4, "field_in[op_dim]", {"op_dim": 2}, {"op_dim": 3}),
        (5, "tensor_valid[src]", {"src.start_addr": psum(0)}, {"src.start_addr": INDIRECT | 0x100}, TO_CAYMAN),
        (5, "tensor_valid[src]", by_index(INDIRECT | 0x100, 0x400, 64), by_index(INDIRECT | 0x102, 0x400, 64), SINCE_MARIANA),
        (5, "tensor_valid[src]", by_index(INDIRECT | REGISTER | 63, 0x400, 64), by_index(INDIRECT | REGISTER | 64, 0x400, 64), SINCE_MARIANA),
        (5, "tensor_valid[src]", by_index(INDIRECT | 0x100, 0x404, 64), by_index(INDIRECT | 0x100, 0x402, 64), SINCE_MARIANA),
        (5, "tensor_valid[src]", by_index(INDIRECT, 0, 64), by_index(INDIRECT, REGISTER, 64), SINCE_MARIANA),
        (5, "tensor_valid[src]", by_index(INDIRECT, 0, 64), by_index(INDIRECT, 0, 0), SINCE_MARIANA),
        (5, "same_element_count[src,dst]", by_index(INDIRECT, 0, 64), by_index(INDIRECT, 0, 63), SINCE_MARIANA),
        (5, "same_element_count[src,dst]", {"dst": pattern(0x2000, 1, 64, 1, 1)}, {"dst": pattern(0x2000, 1, 64, 2, 1)}),
    ),
    *rows(
        "cast",
        (2, "is_valid_dtype[out_dtype]", {"out_dtype": INT8}, {"out_dtype": UINT64}),
        (2, "is_valid_dtype[in_dtype]", {"in_dtype": FP16}, {"in_dtype": FP32R}),
        (5, "tensor_valid[dst]", {"dst.start_addr": psum(0)}, {"dst.start_addr": psum(0), "out_dtype": UINT16}, PSUMS),
    ),
    *rows("reciprocal", (4, "field_is[op]", {"out_dtype": BF16}, {"op": Op.RSQRT})),
    *rows(
        "stream_shuffle",
        (2, "same_dtype[in_dtype,out_dtype]", both(INT8), {"out_dtype": INT8}),
        (5, "channels_multiple", {"num_active_channels": 96, "src.start_addr": 0, "dst.start_addr": 0x2000}, {"num_active_channels": 16}),
        (4, "field_is[mask_enable]", {}, {"mask_enable": 1}),
    ),
    *rows(
        "stream_transpose",
        (4, "field_in[mask_enable]", {"mask_enable": 1}, {"mask_enable": 2}),
        (7, "element_count[dst,src]", {"dst": pattern(0x2000, 32, 1, 1, 1)}, {"dst": pattern(0x2000, 65, 1, 1, 1)}),
        (8, "count_multiple[src]", {"src": pattern(0x100, 96, 1, 1, 1)}, {"src": pattern(0x100, 100, 1, 1, 1)}),
    ),
    *rows(
        "tensor_cumulative_arith_op",
        (2, "field_in[op_dim]", {"op_dim": 5}, {"op_dim": 0}),
        (3, "operator_in[op]", {"op": Op.MAX}, {"op": Op.BITWISE_AND}),
        (3, "operator_refused[op]", {"op": Op.MULT}, {"op": Op.DIVIDE}),
        (3, "operator_refused[op]", {"op": Op.IS_EQ}, {"op": Op.MOD}),
        (3, "operator_not_unary[op]", {"op": Op.ABSOLUTE_DIFF}, {"op": Op.RSQRT}),
        (3, "operator_not_unary[op]", {"op": Op.ABS_MAX}, {"op": Op.SQUARE}, SINCE_MARIANA),
        (3, "operator_not_unary[op]", {}, {"op": Op.BYPASS}),
        (5, "integer_dtypes", {"op": Op.MULT_INT} | both(UINT32), {"op": Op.MULT_INT}),
        (6, "field_is[negated]", {}, {"negated": 1}),
    ),
    *rows(
        "tensor_cumulative_bitvec_op",
        (3, "operator_in[op]", {"op": Op.CRC32}, {"op": Op.MIN}),
        (3, "operator_not_unary[op]", {"op": Op.BITWISE_XOR}, {"op": Op.BITWISE_NOT}),
        (4, "field_in[in_dtype]", both(UINT8), both(INT8)),
        (5, "logical_shift_dtype[op]", {"op": Op.LOGICAL_SHIFT_RIGHT} | both(INT32), {"op": Op.LOGICAL_SHIFT_RIGHT} | both(UINT32)),
        (5, "arith_shift_width[op]", {"op": Op.ARITH_SHIFT_RIGHT} | both(UINT32), {"op": Op.ARITH_SHIFT_RIGHT}),
    ),
    *rows(
        "tensor_reduce_arith_op",
        (1, "is_valid_dtype_64[in_dtype]", {"in_dtype": BF16}, {"in_dtype": FP32R}),
        (1, "no_64bit[in_dtype]", {"op": Op.ADD_INT} | both(INT64), {"in_dtype": INT64}),
        (1, "no_64bit[out_dtype]", {"out_dtype": FP32R}, {"out_dtype": UINT64}),
        (2, "field_in[negated]", {"negated": 1}, {"negated": 2}),
        (2, "integer_negated[negated]", {"op": Op.MULT_INT} | both(INT32), {"op": Op.MULT_INT, "negated": 1} | both(INT32)),
        (3, "operator_in[op]", {"op": Op.LOGICAL_XOR}, {"op": Op.BITWISE_XOR}),
        (3, "operator_in[op]", {"op": Op.MAX_UINT} | both(UINT32), {"op": Op.POW}, SINCE_CAYMAN),
        (4, "integer_dtype[in_dtype]", {"op": Op.ADD_INT} | both(UINT64), {"op": Op.ADD_INT, "in_dtype": INT16, "out_dtype": INT32}),
        (4, "integer_dtype[out_dtype]", {"op": Op.ADD_INT, "in_dtype": INT32, "out_dtype": INT64},
         {"op": Op.ADD_INT, "in_dtype": INT32, "out_dtype": FP32}),
        (4, "argument_dtype[out_dtype]", {"op": Op.ARGMIN_INT, "in_dtype": INT64, "out_dtype": UINT32},
         {"op": Op.ARGMIN_INT, "in_dtype": INT32, "out_dtype": INT32}, SINCE_CAYMAN),
        (4, "integer_in_sbuf[src]", {"op": Op.ADD_INT} | both(INT32), {"op": Op.ADD_INT, "src.start_addr": psum(0)} | both(INT32), PSUMS),
        (5, "field_in[op_dim]", {"op_dim": 3, "dst": pattern(0x2000, 2, 1, 1, 1)}, {"op_dim": 1}),
        (6, "reduced_element_count[src,dst]", {"op_dim": 4, "dst": pattern(0x2000, 1, 1, 1, 1)}, {"op_dim": 4}),
        (6, "reduced_element_count[src,dst]", {"dst": pattern(0x2000, 8, 1, 1, 1)}, {"dst": pattern(0x2000, 9, 1, 1, 1)}),
        (6, "field_is[mask_enable]", {}, {"mask_enable": 1}),
    ),
    *rows(
        "tensor_reduce_bitvec_op",
        (1, "field_in[in_dtype]", both(INT32), both(INT16)),
        (1, "logical_shift_dtype[op]", {"op": Op.LOGICAL_SHIFT_RIGHT} | both(INT32), {"op": Op.LOGICAL_SHIFT_RIGHT}),
        (2, "field_is[negated]", {}, {"negated": 1}),
        (3, "operator_in[op]", {"op": Op.BITWISE_OR}, {"op": Op.MAX}),
    ),
    *rows("transpose_tensor_reduce_arith_op", (8, "channels_multiple", {"num_active_channels": 32}, {"num_active_channels": 31})),
    *rows(
        "tensor_reduce_max_bf16",
        (3, "field_is[op]", {}, {"op": Op.ADD}, ("sunda",)),
        (4, "inner_count_even[src]", {"src": pattern(0x100, 6, 4, 2, 1)}, {"src": pattern(0x100, 5, 4, 2, 1)}, ("sunda",)),
    ),
    *rows(
        "cross_lane_reduce_arith",
        (3, "is_valid_dtype[out_dtype]", {"out_dtype": FP32R}, {"out_dtype": INT64}),
        (4, "start_addr_active_channels[dst]", {"num_active_channels": 128, "dst.start_addr": sbuf(96)}, {"dst.start_addr": sbuf(97)}),
        (6, "tensor_valid[src]", {"src.start_addr": lambda g: ACTIVE[g] - 4}, {"src.start_addr": psum(0)}, ("sunda", "cayman")),
        (6, "tensor_valid[dst]", {"dst.start_addr": REGISTER}, {"dst.start_addr": psum(0)}, PSUMS),
        (7, "is_valid_enum[reduce_axis]", {}, {"reduce_axis": 2}),
        (8, "single_element[dst]", {"reduce_axis": 0, "dst": pattern(0x2000, 1, 1, 1, 1)}, {"reduce_axis": 0}),
        (8, "same_element_count[src,dst]", {"dst": pattern(SHAPE | 0x2000, 1, 1, 1, 1)}, {"dst": pattern(0x2000, 1, 1, 1, 1)}),
        (9, "field_in[reduce_op]", {"reduce_op": 2}, {"reduce_op": 3}),
    ),
    *rows(
        "cross_lane_reduce_bitvec",
        (9, "field_in[reduce_op]", {"reduce_op": 5}, {"reduce_op": 6}),
        (9, "dtype_in[in_dtype]", both(UINT32), both(FP16)),
        (9, "same_dtype[in_dtype,out_dtype]", both(UINT8), {"out_dtype": UINT16}),
    ),
    *rows(
        "copy_predicated_scalar",
        (2, "has_valid_immediates[src0_imm]", {"src0_imm_src": 1, "src0_imm": 6} | both(FP16), {"src0_imm_src": 1, "src0_imm": 6}),
        (3, "tensor_valid[pred]", {"pred": {"index": INDIRECT | 4, "data": 0x400, "count": 24}}, {"pred": {"index": INDIRECT | 4, "data": SHAPE, "count": 24}}, SINCE_MARIANA),
        (5, "dtype_in[pred_dtype]", {"pred_dtype": INT32}, {"pred_dtype": FP16}),
        (5, "same_dtype[in_dtype,out_dtype]", both(INT32), {"out_dtype": INT32}),
        (5, "is_valid_dtype[out_dtype]", {}, {"out_dtype": FP32R}),
        (6, "field_in[reversed_pred]", {"reversed_pred": 1}, {"reversed_pred": 2}),
    ),
    *rows(
        "tensor_scalar_select",
        (2, "same_width[dtype,pred_imm_dtype]", {"dtype": BF16, "pred_imm_dtype": UINT16}, {"pred_imm_dtype": INT16}),
        (2, "dtype_in[pred_imm_dtype]", {"pred_imm_dtype": UINT32}, {"pred_imm_dtype": FP32}),
        (3, "inline_predicate", {"pred_imm": 1}, {"pred_imm": 2}),
        (3, "has_valid_immediates[pred_imm]", {"pred_imm_src": 2, "pred_imm": 63}, {"pred_imm_src": 2, "pred_imm": 64}),
        (3, "has_valid_immediates[src1_imm]", {"src1_imm_src": 1, "src1_imm": sbuf(32)}, {"src1_imm_src": 3}),
    ),
    *rows(
        "range_select",
        (2, "dtype_in[in_dtype]", both(FP16), {"in_dtype": INT16}, SINCE_CAYMAN),
        (2, "dtype_in[out_dtype]", {"out_dtype": FP32R}, {"out_dtype": UINT8}, SINCE_CAYMAN),
        (3, "field_is[fill_val]", {}, {"fill_val": 0xFF800000}, SINCE_CAYMAN),
        (4, "index_base", {"base": 0xFF800000}, {"base": 0x4B800001}, SINCE_CAYMAN),
        (4, "index_base", {"base": 0}, {"base": 0x7FC00000}, SINCE_CAYMAN),
        (4, "index_range", {"base": 0x4B7FFFE8}, {"base": 0x4B7FFFE9}, SINCE_CAYMAN),  # 2^24 - 24, one more
        (4, "index_range", {"base": 0x4B800000, "src": pattern(SHAPE, 6, 4)}, {"base": 0x4B800000}, SINCE_CAYMAN),
        (5, "operator_in[comp_op0]", {"comp_op0": Op.IS_EQ}, {"comp_op0": Op.IS_NE}, SINCE_CAYMAN),
        (6, "has_valid_immediates[bound1]", {"bound1_src": 1, "bound1": 8}, {"bound1_src": 1, "bound1": 9}, SINCE_CAYMAN),
        (7, "field_is[reduce_op]", {}, {"reduce_op": Op.MIN}, SINCE_CAYMAN),
        (7, "field_in[reduce_cmd]", {"reduce_cmd": 3}, {"reduce_cmd": 4}, SINCE_CAYMAN),
    ),
    *rows(
        "activation_read_accumulator",
        (2, "field_in[dtype]", {"dtype": FP32R}, {"dtype": Dtype.FP8_EXP4}),
        (8, "field_is[negated]", {}, {"negated": 1}),
    ),
    *rows(
        "dve_read_indices",
        (2, "dtype_in[dtype]", {"dtype": UINT32}, {"dtype": INT32}, SINCE_CAYMAN),
        (3, "field_is[dst_element_count]", {}, {"dst_element_count": 9}, SINCE_CAYMAN),
        (3, "element_count[dst]", {"dst": pattern(0, 2, 2, 2, 1)}, {"dst": pattern(0, 7, 1, 1, 1)}, SINCE_CAYMAN),
        (4, "field_is[set_value]", {}, {"set_value": 1}, SINCE_CAYMAN),
        (7, "reserved_zero", {}, {"reserved1": 1}, SINCE_CAYMAN),
    ),
    *rows(
        "memset",
        (3, "set_value_width", {"dtype": BF16, "set_value": 0xFFFF}, {"dtype": BF16, "set_value": 0x10000}),
        (3, "set_value_width", {"set_value": 0xFFFFFFFF}, {"dtype": INT8, "set_value": 0x100}),
        (4, "field_is[serialization_mode]", {}, {"serialization_mode": 1}),
        (5, "dst_element_count", {"dst": pattern(SHAPE, 1, 1, 1, 1)}, {"dst_element_count": 17}),
        (6, "tensor_valid[dst]", {"dst.start_addr": psum(0)}, {"dst.start_addr": psum(0), "dtype": BF16}, PSUMS),
    ),
    *rows(
        "max8",
        (3, "element_count[src]", {"src": pattern(0, 16384, 1, 1, 1)}, {"src": pattern(0, 16385, 1, 1, 1)}),
        (3, "element_count[src]", {"src": pattern(0, 2, 4, 1, 1)}, {"src": pattern(0, 7, 1, 1, 1)}),
        (3, "element_count[dst]", {"dst": pattern(0x20000, 2, 4)}, {"dst": pattern(0x20000, 16, 1)}),
        (4, "field_is[odd_count]", {}, {"odd_count": 0x80000000}),
    ),
    *rows(
        "match_value_load",
        (3, "element_count[src]", {"src": pattern(0, 4, 2)}, {"src": pattern(0, 9, 1)}),
        (4, "field_is[imm0_ptr]", {"imm0_src": 2}, {"imm0_ptr": 4}),
        (4, "is_valid_enum[imm0_src]", {"imm0_src": 1}, {"imm0_src": 3}),
    ),
    *rows("find_index8", (2, "field_in[out_dtype]", {"out_dtype": UINT32}, {"out_dtype": INT32})),
    *rows(
        "match_replace8",
        (2, "field_in[in_dtype]", {"in_dtype": UINT8}, {"in_dtype": INT8}),
        (3, "element_count[src]", {"src": pattern(0, 4096, 4, 1, 1), "dst": pattern(SHAPE, 1, 1, 1, 1)},
         {"src": pattern(0, 4096, 5, 1, 1), "dst": pattern(SHAPE, 1, 1, 1, 1)}),
    ),
    *rows(
        "tensor_scalar_affine_select",
        (2, "is_valid_dtype[out_dtype]", {"out_dtype": FP32R}, {"out_dtype": INT64}),
        (3, "is_valid_enum[fill_mode]", {"fill_mode": 3}, {"fill_mode": 4}),
        (4, "register_readable[fill_reg]", {"fill_reg": 129}, {"fill_reg": 64}),
        (5, "same_element_count[mask_pattern,src]", {"mask_pattern": generator(2, 3, 2, 2)}, {"mask_pattern": generator(2, 3, 2, 3)}),
        (6, "affine_in_sbuf[src]", {"src.start_addr": REGISTER | 2}, {"src.start_addr": psum(0)}, PSUMS[1:]),
    ),
    *rows(
        "iota",
        (2, "is_valid_dtype[out_dtype]", {"out_dtype": FP32R}, {"out_dtype": UINT64}),
        (4, "same_element_count[src_data_pattern,dst]", {"src_data_pattern": generator(24, 1, 1, 1)}, {"src_data_pattern": generator(25, 1, 1, 1)}),
    ),
    *rows(
        "pool",
        (3, "field_in[pool_func]", {"pool_func": 2, "pool_scale": 0}, {"pool_func": 0}),
        (5, "reduced_element_count[src,dst]", {"pool_dim": 2, "dst": pattern(0x2000, 30, 1, 1, 1)}, {"pool_dim": 2}),
        (5, "reduced_element_count[src,dst]", {"pool_dim": 0, "dst": pattern(0x2000, 60, 1, 1, 1)}, {"pool_dim": 0}),
        (6, "pool_scale_unused", {"pool_func": 2, "pool_scale": 0x3E800000}, {"pool_scale": 0x3E800000}),
    ),
    *rows("max_pool_select", (2, "field_in[out_dtype]", {"out_dtype": UINT8}, {"out_dtype": INT16})),
    *rows(
        "sort",
        (2, "same_dtype[in_dtype,out_dtype]", both(INT16), {"out_dtype": INT32}),
        (3, "tensor_valid[dst]", {}, {"dst.start_addr": psum(0)}, PSUMS),
        (4, "operator_in[comparison]", {"comparison": Op.IS_GT}, {"comparison": Op.IS_GE}),
        (6, "pair_count[dst]", {"src": pattern(0x100, 32), "dst": pattern(0x2000, 2, 32)}, {"dst": pattern(0x2000, 64, 2)}),
        (7, "sort_capacity", {}, {"src": pattern(0x100, 65), "dst": pattern(0x2000, 2, 65)}),
        (7, "sort_capacity", {"src": pattern(0x100, 128), "dst": pattern(0x2000, 2, 128)} | both(BF16),
         {"src": pattern(0x100, 129), "dst": pattern(0x2000, 2, 129)} | both(BF16)),
        (7, "sort_capacity", {"src": pattern(0x100, 256), "dst": pattern(0x2000, 2, 256)} | both(UINT8),
         {"src": pattern(0x100, 257), "dst": pattern(0x2000, 2, 257)} | both(UINT8)),
    ),
    *rows(
        "nonzero_with_count",
        (2, "field_in[in_dtype]", {"in_dtype": INT32}, {"in_dtype": UINT32}, SINCE_CAYMAN),
        (3, "has_valid_immediates[padding_val]", {"padding_val_src": 1, "padding_val": 4}, {"padding_val_src": 1, "padding_val": 5}, SINCE_CAYMAN),
        (5, "element_count[dst,src]", {"dst": pattern(0x2000, 5, 5, 1)}, {"dst": pattern(0x2000, 24, 1, 1)}, SINCE_CAYMAN),
    ),
    *rows(
        "get_sequence_bounds",
        (2, "field_is[num_active_channels]", {}, {"num_active_channels": 2}, SINCE_CAYMAN),
        (4, "element_count[dst,src]", {"dst": pattern(0x2000, 24, 1, 2)}, {"dst": pattern(0x2000, 12, 1, 2)}, SINCE_CAYMAN),
        (5, "outermost_count[dst]", {"dst": pattern(0x2000, 1, 24, 2)}, {"dst": pattern(0x2000, 2, 24, 1)}, SINCE_CAYMAN),
    ),
    *rows(
        "tensor_dequantize",
        (3, "field_in[dequant_fmt]", {"dequant_fmt": 3}, {"dequant_fmt": 0}, SINCE_CAYMAN),
        (4, "field_in[group_size]", {}, {"group_size": 4}, SINCE_CAYMAN),
        (4, "group_format", {"dequant_fmt": 3}, {"dequant_fmt": 4}, SINCE_CAYMAN, 1),
        (6, "word_count[dst,src]", {"dst": pattern(0x2000, 48, 1, 1)}, {"dst": pattern(0x2000, 3, 4, 1)}, SINCE_CAYMAN),
        (6, "word_count[dst,src]", {}, {"dst": pattern(0x2000, 18, 1, 1)}, SINCE_CAYMAN, 2),
        (7, "tensor_valid[src]", {"src.start_addr": REGISTER}, {"src.start_addr": psum(0)}, PSUMS[1:]),
    ),
    *rows(
        "move",
        (2, "num_mov_range", {"num_mov": 1, "src_registers": (1,) + (0,) * 7}, {"num_mov": 0}),
        (2, "num_mov_range", {"num_mov": 8, "src_registers": range(8), "dst_registers": range(8, 16)}, {"num_mov": 9}),
        (3, "dtype_in[dtype]", {"dtype": INT32}, {"dtype": BF16}),
        (4, "unused_sources_zero", {"src_registers": (1, 0, 0, 0, 0, 0, 0, 0)}, {"src_registers": (1, 0, 5, 0, 0, 0, 0, 0)}),
        (4, "unused_sources_zero", {}, {"src_registers": (1, 0, 0, 0, 0, 0, 0, 0)}, EVERY, 1),
        (4, "register_readable[src_registers]", {"src_registers": (63, 129, 0, 0, 0, 0, 0, 0)}, {"src_registers": (64, 129, 0, 0, 0, 0, 0, 0)}),
        (5, "register_writable[dst_registers]", {"dst_registers": (63, 129, 0, 0, 0, 0, 0, 0)}, {"dst_registers": (63, 130, 0, 0, 0, 0, 0, 0)}),
        (5, "registers_unique", {"dst_registers": (3, 4, 4, 4, 0, 0, 0, 0)}, {"dst_registers": (3, 3, 0, 0, 0, 0, 0, 0)}),
        (5, "registers_disjoint", {"dst_registers": (3, 4, 1, 0, 0, 0, 0, 0)}, {"dst_registers": (3, 1, 0, 0, 0, 0, 0, 0)}),
        (6, "is_valid_enum[move_source]", {}, {"move_source": 2}),
    ),
    *rows(
        "load_mask_select",
        (2, "source_lanes", {"immediate": (63,) * 32}, {"immediate": (0,) * 31 + (64,)}),
        (3, "field_is[imm_ptr_select]", {}, {"imm_ptr_select": 1}),
        (4, "field_is[param_ram_offset]", {}, {"param_ram_offset": 1}),
    ),
    *rows(
        "pool_buffer_load",
        (3, "tensor_valid[src]", {}, {"src.start_addr": psum(0)}, PSUMS),
        (4, "element_count[src]", {"src": pattern(0, 512, 1, 1, 1)}, {"src": pattern(0, 513, 1, 1, 1)}),
        (5, "reserved_zero", {}, {"gap33": 1}),
    ),
    *rows("gather", (2, "field_in[in_dtype]", {"in_dtype": UINT8}, {"in_dtype": INT16})),
    *rows(
        "indirect_copy",
        (2, "channels_multiple", {"num_active_channels": 16}, {"num_active_channels": 24}),
        (3, "field_in[src_num_elem_per_idx]", {"src_num_elem_per_idx": 32}, {"src_num_elem_per_idx": 12}),
        (4, "index_count", {"num_elem": 4096}, {"num_elem": 4097}),
        (5, "field_is[dst_buffer_size]", {"src_buffer_size": 9}, {"dst_buffer_size": 9}),
        (7, "index_list", {"index_addr": INDIRECT | REGISTER | 4}, {"index_addr": 0x100}),
        (7, "data_base", {"data_addr": 0x1004}, {"data_addr": REGISTER | 4}),
        (8, "start_partition[data_addr]", {"data_addr": sbuf(96)}, {"data_addr": sbuf(8)}),
        (10, "reserved_zero", {"ungrounded37": 5, "ungrounded42": (1, 2)}, {"src_rest": (0,) * 9 + (1,)}),
    ),
    *rows(
        "sb2sb_collective",
        (2, "same_dtype[in_dtype,out_dtype]", both(INT8), {"in_dtype": INT8}, SINCE_CAYMAN),
        (4, "element_count[src]", {"src": pattern(0, 256, 1, 1)}, {"src": pattern(0, 257, 1, 1)}, SINCE_CAYMAN),
    ),
    *rows("tensor_scalar_addr", (4, "field_in[imm1_is_ptr]", {"imm1_is_ptr": 1}, {"imm1_is_ptr": 2})),
    *rows(
        "activate",
        (4, "is_valid_dtype[in_dtype]", {"in_dtype": INT32}, {"in_dtype": FP32R}),
        (5, "has_valid_immediates[scale_value]", {"scale_src": 1, "scale_value": 4}, {"scale_src": 1, "scale_value": 6}),
        (6, "field_in[bias_dtype]", {"bias_dtype": BF16}, {"bias_dtype": INT32}),
        (6, "has_valid_immediates[bias]", {"bias_src_n": 0, "bias": 6, "bias_dtype": FP16}, {"bias_src_n": 0, "bias": 6}),
        (8, "is_valid_enum[accumulator_cmd]", {"accumulator_cmd": 4}, {"accumulator_cmd": 5}),
    ),
    *rows(
        "activate_quantize",
        (2, "field_is[out_dtype]", {"in_dtype": INT32}, {"out_dtype": INT8}),
        (4, "non_zero[quant_scale_value]", {"quant_scale_value": 1}, {"quant_scale_value": 0x80000000}),
        (5, "bias_pointer[bias_addr]", {"bias_addr": 2, "bias_dtype": BF16}, {"bias_addr": 2}),
    ),
    *rows(
        "activate2",
        (3, "operator_pair", {"op0": Op.BYPASS, "op1": Op.BYPASS}, {"op0": Op.ADD}, SINCE_MARIANA),
        (5, "has_valid_immediates[relu_param]", {"relu_param_src": 2, "relu_param": 5}, {"relu_param_src": 2, "relu_param": 64}, SINCE_MARIANA),
        (6, "is_valid_enum[reduce_cmd]", {"reduce_cmd": 3}, {"reduce_cmd": 4}, SINCE_MARIANA),
    ),
    *rows("activate_multipass", (5, "start_addr_active_channels[prev_pass]", {}, {"prev_pass.start_addr": sbuf(8)}, MAVERICK)),
    # Families without rules of their own
    *rows("matmul", (2, "is_valid_enum[psum_zero_region]", {}, {"psum_zero_region": 1}, ("sunda",))),
    *rows("rng", (3, "is_valid_enum[dtype]", {"dtype": 0}, {"dtype": 0x10}, TO_CAYMAN), (5, "reserved_zero", {}, {"reserved2": 1})),
    *rows("halt", (5, "reserved_zero", {}, {"reserved0": (0,) * 51 + (1,)})),
    *rows("alu_op", (2, "is_valid_enum[src_datasrc]", {"op": Op.ADD_INT}, {"src_datasrc": 2})),
    *rows("modify_pool_config", (2, "is_valid_enum[modify_op]", {"modify_op": 2}, {"modify_op": 3})),
    *rows("dma_indirect", (3, "is_valid_enum[out_dtype]", {"ungrounded59": (1, 2, 3, 4, 5)}, {"out_dtype": 0x18})),
    *rows("batch_norm_stats", (4, "check_active_channels", {"num_active_channels": 128}, {"num_active_channels": 129})),
    *rows(
        "extended_inst",
        (2, "is_valid_enum[extended_opcode]", {"extended_opcode": 9}, {"extended_opcode": 5}),
        (5, "reserved_zero", {"completion_info": {"unnamed1": 1, "unnamed6": 3}}, {"reserved1": (0,) * 7 + (1,)}),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("gen", "given"), parameters(TABLE))
def test_rules_both_ways(load, gen, given):
    machine = load(gen)
    for row in given:
        judge(machine, row)


def test_affine_select_reaches_psum_on_sunda_alone(load):
    name = "tensor_scalar_affine_select"
    for gen in PSUMS:
        machine = load(gen)
        raw = record(machine, name, legal(name, gen)[0], {"src.start_addr": psum(0)}).tobytes()
        assert machine.validate(raw).ok == (gen == "sunda")


def test_a_core_version_gate_names_the_version(load):
    machine = load("cayman")
    gate = next(b.rule for b in machine.books["range_select"].rules if b.rule.id == "core_version")
    assert gate.allowed == "a generation of core version 3 or later"
