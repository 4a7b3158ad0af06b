"""The named sets of mariana and mariana_plus: 24 dtypes, 64 operators, and the subsets that rules refer to."""

from __future__ import annotations

from gpsimd_core.isa.enums import AluOp, Dtype, MatmulZeroRegion
from gpsimd_core.isa.tables import named
from gpsimd_core.values import Evidence, Reading

__all__ = ["SETS"]

A, D = AluOp, Dtype

DTYPES = Evidence(
    confidence="HIGH/OBSERVED", source="The Unified Datatype Model; Cross-Generation Arch-ISA Header Diff"
)
PLAIN_GATE = Evidence(
    confidence="MED/INFERRED",
    source="The Unified Datatype Model; Cross-Generation Arch-ISA Header Diff",
    readings=(
        Reading(
            topic="FP4 and the compressed codes in the plain gate",
            chosen="refused: matrix, quantise and codec opcodes have fields of their own for them",
            beaten=("the header text alone also admits FP4_EXP2 and CPTC1 to CPTC7",),
            why="the host runtime stops at code 0xF without an explicit FP4 permit",
        ),
    ),
)
SELECT = Evidence(confidence="HIGH/OBSERVED", source="CopyPredicatedReduce — SelectReduce (0xea)")
CAST = Evidence(confidence="HIGH/OBSERVED", source="CastPredicated — opcode 0x99")
CROSS_LANE = Evidence(confidence="HIGH/OBSERVED", source="CrossLaneReduce")
READ_BACK = Evidence(confidence="HIGH/OBSERVED", source="DVE State Read-Back")
INT64 = Evidence(confidence="MED/OBSERVED", source="The ALU-Op Datapath + Dtype Matrix")
MATMUL = Evidence(confidence="HIGH/CARRIED", source="Trainium3 Architecture Guide for NKI; PE Matrix-Multiply Path")
MX = Evidence(confidence="MED/CARRIED", source="Trainium3 Architecture Guide for NKI")
MOVE = Evidence(confidence="HIGH/OBSERVED", source="Move (0xa7)")
COLLECTIVE = Evidence(confidence="HIGH/OBSERVED", source="The Unified Datatype Model")
OPERATORS = Evidence(
    confidence="HIGH/OBSERVED",
    source="The ALU-Op Datapath + Dtype Matrix; Tensor-Tensor Elementwise Arith + the ALU-OP Table",
)
ZERO_REGION = Evidence(confidence="HIGH/OBSERVED", source="On-Chip State-Buffer (SBUF) + PSUM Bank Model")
SHARED = Evidence(confidence="HIGH/CARRIED", source="Trainium2 Architecture Guide for NKI")
DROPPED = Evidence(confidence="MED/OBSERVED", source="MAVERICK (NC-v5) Profile + Maximal-Observed Carve")

# fmt: off
# Dtypes
INT32_SET = frozenset({D.INT32, D.UINT32})
INT64_SET = frozenset({D.INT64, D.UINT64})
INT_DATAPATH = INT32_SET | frozenset({D.INT8, D.UINT8, D.INT16, D.UINT16})
FP8_EXP345 = frozenset({D.FP8_EXP3, D.FP8_EXP4, D.FP8_EXP5})
FP_DATAPATH = FP8_EXP345 | frozenset({D.BFLOAT16, D.FP16, D.FP32})
PLAIN = INT_DATAPATH | FP_DATAPATH
CPTC = frozenset({D.CPTC1, D.CPTC2, D.CPTC3, D.CPTC4, D.CPTC5, D.CPTC6, D.CPTC7})
DTYPE = PLAIN | INT64_SET | {D.INVALID, D.FP32R} | {D.FP4_EXP2} | CPTC

# Operators
SHIFTS = frozenset({A.ARITH_SHIFT_LEFT, A.ARITH_SHIFT_RIGHT, A.LOGICAL_SHIFT_LEFT, A.LOGICAL_SHIFT_RIGHT})
GENERAL_BITVEC = SHIFTS | frozenset({A.BYPASS, A.BITWISE_NOT, A.BITWISE_AND, A.BITWISE_OR, A.BITWISE_XOR})
GENERAL_ARITH = frozenset({
    A.BYPASS, A.ADD, A.SUBTRACT, A.MULT, A.MAX, A.MIN, A.LOGICAL_AND, A.LOGICAL_OR, A.LOGICAL_XOR, A.IS_EQ,
    A.IS_GT, A.IS_GE, A.IS_LE, A.IS_LT, A.ABSOLUTE_DIFF, A.IS_NE, A.ABSOLUTE_VALUE, A.ABS_MAX, A.ABS_MIN, A.RE_LU,
    A.SQUARE,
})
ARITH = GENERAL_ARITH | frozenset({
    A.DIVIDE, A.POW, A.MOD, A.RSQRT, A.ADD_INT, A.MULT_INT, A.SUBTRACT_INT, A.DIVIDE_INT, A.MOD_INT,
})
INT_EITHER = frozenset({
    A.ADD_INT, A.MULT_INT, A.SUBTRACT_INT, A.DIVIDE_INT, A.MOD_INT, A.MOD, A.IS_EQUAL_INT, A.IS_NE_INT,
    A.ABS_DIFF_INT,
})
"""Operators of the integer band that take signed and unsigned operands alike."""
INT_SIGNED = INT_EITHER | frozenset({
    A.ABS_MAX_INT, A.ABS_MIN_INT, A.MAX_INT, A.MIN_INT, A.IS_GT_INT, A.IS_GE_INT, A.IS_LE_INT, A.IS_LT_INT,
})
INT_UNSIGNED = INT_EITHER | frozenset({
    A.DIVIDE_UINT, A.MOD_UINT, A.MULT_UINT, A.MAX_UINT, A.MIN_UINT, A.IS_GT_UINT, A.IS_GE_UINT, A.IS_LE_UINT,
    A.IS_LT_UINT,
})
ARGUMENT_REDUCE = frozenset({A.ARGMAX_INT, A.ARGMIN_INT, A.ARGMAX_UINT, A.ARGMIN_UINT})
UNARY = ARGUMENT_REDUCE | frozenset({
    A.BYPASS, A.BITWISE_NOT, A.ABSOLUTE_VALUE, A.RSQRT, A.RE_LU, A.SQUARE, A.ABS_VALUE_INT,
})
ALU_OP = GENERAL_BITVEC | ARITH | INT_SIGNED | INT_UNSIGNED | ARGUMENT_REDUCE | {A.CRC32, A.ABS_VALUE_INT}

SETS = (
    # Dtypes
    named("dtype",                       DTYPE,                                             DTYPES),
    named("plain",                       PLAIN,                                             PLAIN_GATE),
    named("plain_with_fp32r",            PLAIN | {D.FP32R},                                 PLAIN_GATE),
    named("int_any",                     INT_DATAPATH | INT64_SET,                          DTYPES),
    named("int_datapath",                INT_DATAPATH,                                      SELECT),
    named("int_predicate",               INT_DATAPATH,                                      SELECT),
    named("int32_set",                   INT32_SET,                                         SELECT),
    named("int64_set",                   INT64_SET,                                         DTYPES),
    named("tensor_tensor_int64",         INT64_SET,                                         INT64),
    named("signed",                      {D.INT8, D.INT16, D.INT32, D.INT64},               DTYPES),
    named("unsigned",                    {D.UINT8, D.UINT16, D.UINT32, D.UINT64},           DTYPES),
    named("four_byte",                   INT32_SET | {D.FP32, D.FP32R},                     DTYPES),
    named("fp_datapath",                 FP_DATAPATH,                                       DTYPES),
    named("fp_datapath_with_fp32r",      FP_DATAPATH | {D.FP32R},                           DTYPES),
    named("fp8_set",                     FP8_EXP345,                                        DTYPES),
    named("fp4",                         {D.FP4_EXP2},                                      DTYPES),
    named("cptc",                        CPTC,                                              DTYPES),
    named("mx_element",                  {D.FP8_EXP4, D.FP8_EXP5, D.FP4_EXP2},              MX),
    named("mx_scale",                    (),                                                DTYPES),

    # Dtypes of single instructions
    named("select_reduce_data",          PLAIN - INT32_SET,                                 SELECT),
    named("select_reduce_out",           PLAIN | {D.FP32R},                                 SELECT),
    named("copy_predicated_data",        PLAIN,                                             SELECT),
    named("cast_predicated_data",        PLAIN,                                             CAST),
    named("cast_predicated_out",         PLAIN,                                             CAST),
    named("cross_lane_reduce_in",        PLAIN,                                             CROSS_LANE),
    named("cross_lane_reduce_out",       PLAIN | {D.FP32R},                                 CROSS_LANE),
    named("dve_read_accumulator_out",    FP_DATAPATH | {D.FP32R},                           READ_BACK),
    named("act_read_accumulator_out",    {D.BFLOAT16, D.FP16, D.FP32, D.FP32R},             READ_BACK),
    named("dve_read_indices_out",        {D.UINT16, D.UINT32},                              READ_BACK),
    named("collective_reduce",           FP8_EXP345 | {D.BFLOAT16, D.FP16, D.FP32R},        COLLECTIVE),
    named("move",                        INT32_SET | {D.FP32},                              MOVE),
    named("matmul_out",                  {D.BFLOAT16, D.FP32},                              MATMUL),

    # Operators
    named("alu_op",                      ALU_OP,                                            OPERATORS),
    named("bitvec",                      GENERAL_BITVEC | {A.CRC32},                        OPERATORS),
    named("general_bitvec",              GENERAL_BITVEC,                                    OPERATORS),
    named("arith",                       ARITH,                                             OPERATORS),
    named("general_arith",               GENERAL_ARITH,                                     OPERATORS),
    named("int_aluop",                   INT_SIGNED | INT_UNSIGNED,                         OPERATORS),
    named("int_signed",                  INT_SIGNED,                                        OPERATORS),
    named("int_unsigned",                INT_UNSIGNED,                                      OPERATORS),
    named("int_aluop_dve",               (),                                                OPERATORS),
    named("shift",                       SHIFTS,                                            OPERATORS),
    named("cache_combine",               {A.ADD, A.SUBTRACT, A.MULT, A.MAX, A.MIN},         OPERATORS),
    named("range_select_compare",        {A.IS_EQ, A.IS_GT, A.IS_GE, A.IS_LE, A.IS_LT},     OPERATORS),
    named("sort_compare",                {A.IS_LT, A.IS_GT},                                OPERATORS),
    named("argument_reduce",             ARGUMENT_REDUCE,                                   OPERATORS),
    named("unary",                       UNARY,                                             OPERATORS),

    # Matrix engine, synchronisation, shared memory
    named("matmul_zero_region",          MatmulZeroRegion,                                  ZERO_REGION),
    named("wait_mode_dropped",           (),                                                DROPPED),
    named("update_mode_dropped",         (),                                                DROPPED),
    named("exclusive_on_sbuf",           (),                                                SHARED),
    named("exclusive_on_psum",           (),                                                SHARED),
)
# fmt: on
