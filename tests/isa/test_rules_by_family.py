"""The rules of the elementwise, reduce and scan families by hand, both ways: what just passes, and what breaks one rule.

Codes are written out as numbers where the code itself is the point; sources are the titles in each family's evidence.
"""

from __future__ import annotations

import pytest
from legal_records import legal, record
from rule_cases import (
    ACTIVE,
    EVERY,
    INDIRECT,
    PSUMS,
    REGISTER,
    SINCE_MARIANA,
    Row,
    judge,
    parameters,
    psum,
    rows,
    sbuf,
)

from gpsimd_core.isa.enums import AluOp as Op
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.testing.library import SHAPE, SINCE_CAYMAN, pattern

INT8, UINT8, INT16, UINT16 = Dtype.INT8, Dtype.UINT8, Dtype.INT16, Dtype.UINT16
INT32, UINT32, INT64, UINT64 = Dtype.INT32, Dtype.UINT32, Dtype.INT64, Dtype.UINT64
BF16, FP16, FP32, FP32R, E2M5 = Dtype.BFLOAT16, Dtype.FP16, Dtype.FP32, Dtype.FP32R, Dtype.FP8_EXP2
TO_CAYMAN = ("sunda", "cayman")
BELOW_MAVERICK = EVERY[:4]
MAVERICK = ("maverick",)


def same(code: Dtype, *more: str) -> dict[str, Dtype]:
    """All three operands, and what else, of one dtype."""
    return dict.fromkeys(("src0_dtype", "src1_dtype", "out_dtype", *more), code)


def both(code: Dtype) -> dict[str, Dtype]:
    """Source and destination of one dtype."""
    return {"in_dtype": code, "out_dtype": code}


TABLE: list[Row] = [
    *rows(
        "scalar_tensor_tensor_arith",
        (2, "is_valid_dtype[src0_dtype]", {"src0_dtype": INT32}, {"src0_dtype": FP32R}),
        (2, "is_valid_dtype[src1_dtype]", {"src1_dtype": 15}, {"src1_dtype": INT64}),
        (2, "is_valid_dtype[imm0_dtype]", {"imm0_src": 2, "imm0_dtype": FP16}, {"imm0_src": 2, "imm0_dtype": UINT64}),
        (2, "is_valid_dtype[out_dtype]", {"out_dtype": FP32R}, {"out_dtype": 0}),
        (2, "is_valid_dtype[out_dtype]", {"out_dtype": E2M5}, {"out_dtype": 0x12}, MAVERICK),
        (4, "s2s2d2_stt_imm0_dtype", {"imm0_src": 1, "imm0_dtype": BF16}, {"imm0_dtype": BF16}),
        (5, "is_valid_enum[op0]", {"op0": Op.BYPASS}, {"op0": 0x1E}),
        (6, "operator_in[op0]", {"op0": Op.IS_NE}, {"op0": Op.BITWISE_AND}),
        (6, "operator_in[op1]", {"op1": Op.MAX}, {"op1": Op.RSQRT}),
        (6, "operator_in[op1]", {"op1": Op.ABSOLUTE_VALUE}, {"op1": Op.POW}),
        (6, "operator_in[op1]", {"op1": Op.SQUARE}, {"op1": Op.ADD_INT}, SINCE_MARIANA),
        (6, "operator_in[op1]", {"op1": Op.RE_LU}, {"op1": Op.SYMMETRIC_CLAMP}, MAVERICK),
        (7, "has_valid_immediates[imm0]", {"imm0_src": 1, "imm0": 0x40}, {"imm0_src": 1, "imm0": 0x42}),
        (8, "start_addr_active_channels[dst]", {"dst.start_addr": sbuf(96)}, {"dst.start_addr": sbuf(97)}),
        (8, "tensor_valid[dst]", {"dst.start_addr": psum(0)}, {"dst.start_addr": psum(0), "out_dtype": BF16}, PSUMS),
        (8, "tensor_valid[src0]", {"src0.start_addr": REGISTER | 63}, {"src0.start_addr": INDIRECT | 0x100}),
        (8, "check_active_channels", {"num_active_channels": 1}, {"num_active_channels": 0}),
        (9, "same_element_count[src0,src1]", {"src1": pattern(0x1000, 3, 8)}, {"src1": pattern(0x1000, 3, 9)}),
        (9, "same_element_count[src0,dst]", {"dst": pattern(0x2000, 24, 1)}, {"dst": pattern(0x2000, 25, 1)}),
        (9, "tt_valid_partitions[src0,src1]", {"src1.start_addr": sbuf(0, 4)}, {"src1.start_addr": sbuf(32, 4)}),
        (9, "tt_valid_partitions[src0,src1]", {"src0.start_addr": psum(32)},
         {"src0.start_addr": psum(32), "src1.start_addr": psum(0)}, PSUMS),
        (11, "field_in[accumulator_cmd]", {"accumulator_cmd": 2}, {"accumulator_cmd": 1}),
        (11, "field_in[accumulator_cmd]", {"accumulator_cmd": 0}, {"accumulator_cmd": 4}),
        (12, "is_valid_enum[reverse_operands]", {"reverse_operands": 3}, {"reverse_operands": 4}),
        (13, "reserved_zero", {}, {"reserved": (0, 0, 1)}),
    ),
    *rows(
        "scalar_tensor_tensor_bitvec",
        (3, "dtype_in[src1_dtype]", same(UINT8, "imm0_dtype"), {"src1_dtype": FP32}),
        (3, "same_dtype[src0_dtype,imm0_dtype]", same(UINT32, "imm0_dtype"), {"imm0_dtype": UINT32}),
        (3, "arith_shift_width[op0]", {"op0": Op.ARITH_SHIFT_RIGHT}, {"op0": Op.ARITH_SHIFT_RIGHT} | same(INT16, "imm0_dtype")),
        (3, "arith_shift_width[op1]", {"op1": Op.ARITH_SHIFT_LEFT} | same(INT8, "imm0_dtype"),
         {"op1": Op.ARITH_SHIFT_RIGHT} | same(INT8, "imm0_dtype")),
        (6, "operator_in[op0]", {"op0": Op.BITWISE_NOT}, {"op0": Op.CRC32}),
        (6, "operator_in[op1]", {"op1": Op.LOGICAL_SHIFT_LEFT}, {"op1": Op.LOGICAL_AND}),
        (11, "field_is[accumulator_cmd]", {}, {"accumulator_cmd": 3}),
    ),
    *rows(
        "tensor_tensor_scan_arith",
        (2, "is_valid_dtype[src0_dtype]", {"src0_dtype": INT32}, {"src0_dtype": INT64}),
        (6, "operator_in[op1]", {"op1": Op.SUBTRACT}, {"op1": Op.BITWISE_XOR}),
        (11, "field_is[accumulator_cmd]", {"reverse_operands": 2}, {"accumulator_cmd": 2}),
    ),
    *rows(
        "tensor_tensor_arith_op",
        (2, "is_valid_dtype_64[out_dtype]", {"out_dtype": FP32R}, {"out_dtype": 0x10}),
        (2, "is_valid_dtype_64[src0_dtype]", {"src0_dtype": INT8}, {"src0_dtype": FP32R}),
        (2, "is_valid_dtype_64[src1_dtype]", {"src1_dtype": FP16}, {"src1_dtype": INT64}, ("sunda",)),
        (3, "operator_in[op]", {"op": Op.ABSOLUTE_DIFF}, {"op": Op.DIVIDE}),
        (3, "operator_in[op]", {"op": Op.MOD} | same(INT32), {"op": Op.RSQRT}),
        (3, "operator_in[op]", {"op": Op.ABS_MAX}, {"op": Op.SYMMETRIC_CLAMP}, MAVERICK),
        (3, "operator_in[op]", {"op": Op.MIN_UINT} | same(UINT32), {"op": Op.ABS_VALUE_INT}, SINCE_CAYMAN),
        (3, "operator_in[op]", {}, {"op": Op.ARGMAX_INT}, SINCE_CAYMAN),
        (4, "integer_dtypes", {"op": Op.ADD_INT} | same(UINT32), {"op": Op.ADD_INT} | same(INT16)),
        (4, "integer_dtypes", {"op": Op.ADD_INT} | same(INT32), {"op": Op.ADD_INT} | same(INT32) | {"src1_dtype": UINT32}),
        (4, "integer_dtypes", {"op": Op.MULT_INT} | same(INT64), {"op": Op.MULT_INT} | same(INT64) | {"out_dtype": INT32}, SINCE_CAYMAN),
        (4, "integer_signedness", {"op": Op.MAX_INT} | same(INT32), {"op": Op.MAX_INT} | same(UINT32), SINCE_CAYMAN),
        (4, "integer_signedness", {"op": Op.ABS_DIFF_INT} | same(UINT64), {"op": Op.DIVIDE_UINT} | same(INT64), SINCE_CAYMAN),
        (4, "integer_in_sbuf[src0]", {"op": Op.ADD_INT} | same(INT32),
         {"op": Op.ADD_INT, "src0.start_addr": psum(0)} | same(INT32), PSUMS),
        (5, "pow_in_sbuf[dst]", {"op": Op.POW}, {"op": Op.POW, "dst.start_addr": psum(0)}, PSUMS),
        (6, "no_64bit[src1_dtype]", {"op": Op.SUBTRACT_INT} | same(INT64), {"op": Op.ADD, "src1_dtype": INT64}, SINCE_CAYMAN),
        (6, "no_64bit[out_dtype]", {"op": Op.POW}, {"op": Op.POW, "out_dtype": UINT64}, SINCE_CAYMAN),
        (10, "tensor_valid[src1]", {"src1.start_addr": lambda g: ACTIVE[g] - 4}, {"src1.start_addr": lambda g: ACTIVE[g]}, ("sunda", "cayman", "maverick")),
        (10, "tensor_valid[src0]", {"src0.start_addr": SHAPE | 0x100, "src0.num_elem": (0, 0, 0)}, {"src0.num_elem": (24, 1, 0)}),
        (12, "tt_valid_partitions[src0,src1]", {"src0.start_addr": REGISTER}, {"src0.start_addr": sbuf(64)}),
    ),
    *rows(
        "tensor_tensor_bitvec_op",
        (3, "operator_in[op]", {"op": Op.BITWISE_XOR}, {"op": Op.CRC32}),
        (7, "dtype_in[out_dtype]", same(UINT8), {"out_dtype": FP16}),
        (8, "same_dtype[src0_dtype,out_dtype]", same(INT32), {"out_dtype": INT32}),
        (8, "second_dtype", same(UINT16), {"src1_dtype": UINT16}),
        (8, "second_dtype", {"op": Op.LOGICAL_SHIFT_RIGHT} | same(INT64) | {"src1_dtype": UINT32},
         {"op": Op.LOGICAL_SHIFT_RIGHT} | same(INT64), SINCE_CAYMAN),
        (8, "wide_in_sbuf[src0]", same(INT64), {"src0.start_addr": psum(0)} | same(INT64), PSUMS[1:]),
        (9, "arith_shift_width[op]", {"op": Op.ARITH_SHIFT_RIGHT} | same(UINT32), {"op": Op.ARITH_SHIFT_RIGHT}),
        (9, "arith_shift_width[op]", {"op": Op.ARITH_SHIFT_LEFT} | same(INT64) | {"src1_dtype": UINT32},
         {"op": Op.ARITH_SHIFT_RIGHT} | same(INT64) | {"src1_dtype": UINT32}, SINCE_CAYMAN),
    ),
    *rows(
        "copy_predicated",
        (2, "is_valid_dtype[out_dtype]", {"src1_dtype": INT32, "out_dtype": INT32}, {"out_dtype": FP32R}),
        (3, "dtype_in[src0_dtype]", {"src0_dtype": UINT32}, {"src0_dtype": BF16}),
        (4, "same_dtype[src1_dtype,out_dtype]", {"src1_dtype": FP16, "out_dtype": FP16}, {"out_dtype": INT32}),
        (5, "field_is[op]", {}, {"op": Op.ADD}),
        (6, "tensor_valid[dst]", {"dst.start_addr": psum(64)}, {"dst.start_addr": INDIRECT | 0x100}, PSUMS),
        (7, "same_element_count[src0,dst]", {"dst": pattern(0x2000, 2, 3, 4)}, {"dst": pattern(0x2000, 2, 3, 5)}),
    ),
    *rows("cast_predicated", (2, "is_valid_dtype[out_dtype]", {"out_dtype": UINT8}, {"out_dtype": FP32R})),
    *rows("batch_norm_back_prop", (2, "dtype_in[src1_dtype]", {"src1_dtype": FP16}, {"src1_dtype": INT16})),
    *rows(
        "tensor_tensor_mult_bf16",
        (2, "field_is[src1_dtype]", {}, {"src1_dtype": FP16}, ("sunda",)),
        (3, "field_is[op]", {}, {"op": Op.ADD}, ("sunda",)),
        (4, "inner_step[dst]", {"dst.step_elem[1]": 100}, {"dst.step_elem[0]": 2}, ("sunda",)),
        (4, "inner_count_even[src0]", {"src0": pattern(0x100, 8, 3, 1)}, {"src0": pattern(0x100, 3, 8, 1)}, ("sunda",)),
        (5, "tensor_valid[dst]", {}, {"dst.start_addr": psum(0)}, ("sunda",)),
    ),
    *rows(
        "tensor_scalar_arith_op",
        (2, "operator_in[op0]", {"op0": Op.RSQRT, "op1": Op.BYPASS}, {"op0": Op.POW}),
        (2, "operator_in[op1]", {"op1": Op.IS_GE}, {"op1": Op.MOD}),
        (2, "operator_in[op1]", {"op1": Op.ABS_MIN}, {"op1": Op.ADD_INT}, SINCE_MARIANA[:2]),
        (2, "operator_pair", {"op0": Op.RSQRT, "op1": Op.BYPASS}, {"op0": Op.RSQRT}),
        (2, "operator_pair", {"op0": Op.MAX_INT, "op1": Op.BYPASS} | both(INT32), {"op0": Op.ADD, "op1": Op.MAX_INT} | both(INT32), MAVERICK),
        (2, "rsqrt_immediates_zero", {"op0": Op.RSQRT, "op1": Op.BYPASS}, {"op0": Op.RSQRT, "op1": Op.BYPASS, "imm1": 1}),
        (2, "rsqrt_immediates_zero", {"op0": Op.RSQRT, "op1": Op.BYPASS}, {"op0": Op.RSQRT, "op1": Op.BYPASS, "imm0_src": 2}),
        (2, "integer_dtypes", {"op0": Op.ADD_INT, "op1": Op.MIN_INT} | both(UINT32), {"op0": Op.ADD_INT, "op1": Op.MIN_INT} | both(INT16), MAVERICK),
        (3, "operator_composition", {"op0": Op.BYPASS, "op1": Op.BYPASS}, {"op0": Op.BYPASS}),
        (5, "has_valid_immediates[imm1]", {"imm1_src": 1, "imm1": 0x44}, {"imm1_src": 1, "imm1": 0x42}),
        (7, "tensor_valid[src]", {"src.start_addr": REGISTER | 1}, {"src.start_addr": INDIRECT | 0x100}, TO_CAYMAN),
        (7, "same_element_count[src,dst]", {"dst": pattern(0x2000, 32, 1, 1)}, {"dst": pattern(0x2000, 33, 1, 1)}),
        (8, "is_valid_enum[reverse_operands]", {"reverse_operands": 3}, {"reverse_operands": 7}),
        (9, "field_is[accumulator_cmd]", {}, {"accumulator_cmd": 3}),
        (9, "reserved_zero", {}, {"reserved0": (0, 1, 0)}),
        (10, "is_valid_dtype[in_dtype]", {"in_dtype": INT32}, {"in_dtype": FP32R}),
        (10, "is_valid_dtype[out_dtype]", {"out_dtype": E2M5}, {"out_dtype": 0x13}, MAVERICK),
    ),
    *rows(
        "transpose_tensor_scalar_arith_op",
        (11, "channels_multiple", {"num_active_channels": 64}, {"num_active_channels": 48}),
        (11, "count_multiple[src]", {"src": pattern(0x100, 8, 8, 1), "dst": pattern(0x2000, 64, 1, 1)},
         {"src": pattern(0x100, 8, 5, 1), "dst": pattern(0x2000, 40, 1, 1)}),
    ),
    *rows(
        "tensor_scalar_bitvec_op",
        (2, "operator_in[op0]", {"op0": Op.CRC32}, {"op0": Op.LOGICAL_OR}),
        (4, "dtype_in[in_dtype]", both(UINT32), both(FP32)),
        (4, "same_dtype[in_dtype,out_dtype]", both(INT8), {"out_dtype": INT8}),
        (5, "inline_width[imm0]", {"imm0": 0xFFFF}, {"imm0": 0x10000}),
        (5, "inline_width[imm1]", {"imm1": 0xFFFFFFFF} | both(INT32), {"imm1": 0x100} | both(UINT8)),
        (5, "has_valid_immediates[imm0]", {"imm0_src": 1, "imm0": 0x42}, {"imm0_src": 1, "imm0": 0x41}),
        (6, "alu_shift_check", {"op0": Op.LOGICAL_SHIFT_LEFT, "op1": Op.LOGICAL_SHIFT_RIGHT} | both(INT32),
         {"op0": Op.LOGICAL_SHIFT_LEFT, "op1": Op.LOGICAL_SHIFT_RIGHT}),
        (6, "arith_shift_width[op1]", {"op1": Op.LOGICAL_SHIFT_RIGHT}, {"op1": Op.ARITH_SHIFT_RIGHT}),
    ),
    *rows(
        "tensor_scalar_ptr_arith_op",
        (5, "field_is[imm0_src]", {"imm0": 0, "imm1": 4}, {"imm0_src": 1}),
        (5, "ts_ptr_imm_chk[imm0]", {"imm0": sbuf(32)}, {"imm0": sbuf(16)}),
        (5, "ts_ptr_imm_chk[imm1]", {"imm1": psum(96)}, {"imm1": REGISTER | 4}, PSUMS),
    ),
    *rows("tensor_scalar_ptr_bitvec_op", (5, "ts_ptr_imm_chk[imm1]", {"imm1": 0x42}, {"imm1": 0x42} | both(INT32))),
    *rows(
        "tensor_scalar_cache_reduce",
        (2, "operator_in[op0]", {"op0": Op.BYPASS}, {"op0": Op.RSQRT}),
        (2, "operator_in[op1]", {"op1": Op.MIN}, {"op1": Op.LOGICAL_AND}),
        (3, "dtype_not_in[in_dtype]", {"in_dtype": UINT16}, {"in_dtype": UINT32}),
        (3, "dtype_in[in_dtype]", {"in_dtype": FP16}, {"in_dtype": E2M5}, MAVERICK),
        (4, "imm1_unused[imm1]", {"accumulator_cmd": 4, "imm1": 7}, {"imm1": 7}),
        (4, "imm1_unused[imm1_src]", {"accumulator_cmd": 4, "imm1_src": 2}, {"imm1_src": 2}),
        (4, "has_valid_immediates[imm1]", {"imm1_src": 1, "imm1": 4}, {"imm1_src": 1, "imm1": 2}, EVERY, 1),
        (5, "field_is[reverse_operands]", {}, {"reverse_operands": 1}),
        (6, "field_in[accumulator_cmd]", {"accumulator_cmd": 2}, {"accumulator_cmd": 0}),
        (8, "same_element_count[src,dst]", {"dst": pattern(0x2000, 4, 8, 1)}, {"dst": pattern(0x2000, 1, 1, 1)}),
    ),
    *rows("tensor_scalar_cache_cumulative", (2, "operator_in[op1]", {"op1": Op.SUBTRACT}, {"op1": Op.BYPASS})),
    *rows("exponential", (2, "field_is[op1]", {"imm0": 0x3F800000}, {"op1": Op.ADD})),
    *rows(
        "tensor_scalar_ptr_multi_arith",
        (1, "operator_in[op]", {"op": Op.MAX}, {"op": Op.BITWISE_OR}),
        (3, "field_is[op_dim]", {}, {"op_dim": 5}),
        (4, "scalars_used[src]", {"src": pattern(0x100, 16, 1, 1, 8)}, {"src": pattern(0x100, 8, 1, 1, 16)}),
        (5, "field_in[reverse_operands]", {"reverse_operands": 3}, {"reverse_operands": 1}),
    ),
    *rows(
        "tensor_scalar_ptr_multi_dual_arith",
        (4, "scalars_used[src]", {"src": pattern(0x100, 32, 1, 1, 4)}, {"src": pattern(0x100, 16, 1, 1, 8)}, ("sunda",)),
        (5, "is_valid_enum[reverse_operands]", {"reverse_operands": 1}, {"reverse_operands": 4}, ("sunda",)),
    ),
    *rows(
        "tensor_scalar_ptr_multi_bitvec",
        (1, "operator_in[op]", {"op": Op.CRC32}, {"op": Op.ADD}),
        (2, "field_in[in_dtype]", both(UINT8), both(INT16)),
        (2, "same_dtype[in_dtype,out_dtype]", both(UINT32), {"out_dtype": UINT32}),
    ),
    *rows("tensor_scalar_imm_ld_arith", (4, "element_count[src]", {"src": pattern(0, 4, 2)}, {"src": pattern(0, 3, 3)})),
    *rows("tensor_scalar_imm_ld_bitvec", (2, "field_in[dtype]", {"dtype": UINT8}, {"dtype": INT8})),
]  # fmt: skip


@pytest.mark.parametrize(("gen", "given"), parameters(TABLE))
def test_rules_both_ways(load, gen, given):
    machine = load(gen)
    for row in given:
        judge(machine, row)


@pytest.mark.parametrize(
    ("change", "warns"),
    [
        pytest.param({}, False, id="one quadrant"),
        pytest.param({"dst.start_addr": sbuf(32)}, True, id="dst elsewhere"),
        pytest.param({"dst.start_addr": REGISTER}, False, id="a register says nothing"),
        pytest.param({"imm0_src": 1, "imm0": sbuf(64)}, True, id="pointer elsewhere"),
        pytest.param({"imm0_src": 1, "imm0": sbuf(0, 4)}, False, id="pointer beside"),
    ],
)
def test_operands_of_scalar_tensor_tensor_in_several_quadrants_warn(load, change, warns):

    for policies in ({}, {"strict": "on"}):
        machine = load("cayman", policies=policies)
        name = "scalar_tensor_tensor_arith"
        given = {k: v("cayman") if callable(v) else v for k, v in change.items()}
        report = machine.validate(record(machine, name, legal(name, "cayman")[0], given).tobytes())
        told = report.violations if policies else report.warnings
        assert [v.rule for v in told] == ["s2s2d2_stt_quadrant_check"] * warns
        assert report.ok == (not policies or not warns)


@pytest.mark.parametrize(
    ("name", "change", "engines"),
    [
        ("tensor_tensor_arith_op", {}, ("dve", "pool")),
        ("tensor_tensor_arith_op", {"op": Op.POW}, ("pool",)),
        ("tensor_tensor_arith_op", {"op": Op.ADD_INT} | same(INT32), ("pool",)),
        ("tensor_tensor_bitvec_op", {}, ("dve", "pool")),
        ("tensor_tensor_bitvec_op", same(UINT64), ("pool",)),
        ("tensor_reduce_arith_op", {}, ("dve", "pool")),
        ("tensor_reduce_arith_op", {"op": Op.ARGMIN_UINT, "in_dtype": UINT32, "out_dtype": UINT32}, ("pool",)),
        ("tensor_scalar_arith_op", {}, ("dve", "pool", "act")),
    ],
)
def test_forms_that_one_engine_alone_takes(load, name, change, engines):

    machine = load("cayman")
    raw = record(machine, name, legal(name, "cayman")[0], change).tobytes()
    accepting = [
        engine for engine in ("pe", "act", "pool", "dve") if machine.validate(machine.decode(raw).on(engine)).ok
    ]
    assert sorted(accepting) == sorted(engines)
