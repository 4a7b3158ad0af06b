"""The named sets of maverick: 30 dtypes, 65 operators, and the subsets that rules refer to."""

from __future__ import annotations

from gpsimd_core.isa.enums import AluOp, Dtype, MatmulZeroRegion, UpdateMode, WaitMode
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
            topic="the compressed codes in the plain gate",
            chosen="refused; FP8_EXP2 is admitted",
            beaten=("the header text alone also admits CPTC1 to CPTC7",),
            why="the header refuses FP4_EXP2 and INT4 unless asked; the host runtime stops at code 0xF",
        ),
    ),
)
SELECT = Evidence(confidence="HIGH/OBSERVED", source="CopyPredicatedReduce — SelectReduce (0xea)")
CAST = Evidence(confidence="HIGH/OBSERVED", source="CastPredicated — opcode 0x99")
CROSS_LANE = Evidence(confidence="HIGH/OBSERVED", source="CrossLaneReduce")
READ_BACK = Evidence(confidence="HIGH/OBSERVED", source="DVE State Read-Back")
INT64 = Evidence(confidence="MED/OBSERVED", source="The ALU-Op Datapath + Dtype Matrix")
MATMUL = Evidence(confidence="HIGH/CARRIED", source="Trainium3 Architecture Guide for NKI; PE Matrix-Multiply Path")
MX = Evidence(confidence="HIGH/OBSERVED", source="The Unified Datatype Model")
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
NIBBLE_PLAIN = INT_DATAPATH | FP_DATAPATH
"""The plain dtypes that a packed pair of nibbles can name."""
PLAIN = NIBBLE_PLAIN | {D.FP8_EXP2}
CPTC = frozenset({D.CPTC1, D.CPTC2, D.CPTC3, D.CPTC4, D.CPTC5, D.CPTC6, D.CPTC7})
SCALES = frozenset({D.SFP8_E8, D.SFP8_E7, D.SFP8_E6, D.SFP8_E5})
DTYPE = PLAIN | INT64_SET | {D.INVALID, D.FP32R} | {D.FP4_EXP2, D.INT4} | SCALES | CPTC

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
INT_DVE = frozenset({
    A.BYPASS, A.ADD_INT, A.MULT_INT, A.SUBTRACT_INT, A.MAX_INT, A.MIN_INT, A.ABS_MAX_INT, A.ABS_MIN_INT,
    A.ABS_DIFF_INT, A.IS_EQUAL_INT, A.IS_GT_INT, A.IS_GE_INT, A.IS_LE_INT, A.IS_LT_INT, A.IS_NE_INT,
})
"""The integer operators that DVE takes in a tensor-scalar instruction."""
UNARY = ARGUMENT_REDUCE | frozenset({
    A.BYPASS, A.BITWISE_NOT, A.ABSOLUTE_VALUE, A.RSQRT, A.RE_LU, A.SQUARE, A.ABS_VALUE_INT,
})
ALU_OP = (
    GENERAL_BITVEC | ARITH | INT_SIGNED | INT_UNSIGNED | ARGUMENT_REDUCE
    | {A.CRC32, A.ABS_VALUE_INT, A.SYMMETRIC_CLAMP}
)

# Event modes that are reported as dropped: accepted with a warning.
WAIT_DROPPED = frozenset({
    WaitMode.EVT_SET, WaitMode.EVT_SET_THEN_CLEAR, WaitMode.EVT_CLEAR, WaitMode.EVT_CLEAR_THEN_SET,
})
UPDATE_DROPPED = frozenset({
    UpdateMode.EVT_SET_READ, UpdateMode.EVT_CLEAR_READ, UpdateMode.EVT_SET_COMPLETE, UpdateMode.EVT_CLEAR_COMPLETE,
})

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
    named("fp8_set",                     FP8_EXP345 | {D.FP8_EXP2},                         DTYPES),
    named("fp4",                         {D.FP4_EXP2},                                      DTYPES),
    named("cptc",                        CPTC,                                              DTYPES),
    named("mx_element",                  FP8_EXP345 | {D.FP8_EXP2, D.FP4_EXP2, D.INT4},     MX),
    named("mx_scale",                    SCALES,                                            MX),

    # Dtypes of single instructions
    named("select_reduce_data",          NIBBLE_PLAIN - INT32_SET,                          SELECT),
    named("select_reduce_out",           PLAIN | {D.FP32R},                                 SELECT),
    named("copy_predicated_data",        NIBBLE_PLAIN,                                      SELECT),
    named("cast_predicated_data",        NIBBLE_PLAIN,                                      CAST),
    named("cast_predicated_out",         PLAIN,                                             CAST),
    named("cross_lane_reduce_in",        PLAIN,                                             CROSS_LANE),
    named("cross_lane_reduce_out",       PLAIN | {D.FP32R},                                 CROSS_LANE),
    named("dve_read_accumulator_out",    FP_DATAPATH | {D.FP32R},                           READ_BACK),
    named("act_read_accumulator_out",    (),                                                READ_BACK),
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
    named("int_aluop_dve",               INT_DVE,                                           OPERATORS),
    named("shift",                       SHIFTS,                                            OPERATORS),
    named("cache_combine",               {A.ADD, A.SUBTRACT, A.MULT, A.MAX, A.MIN},         OPERATORS),
    named("range_select_compare",        {A.IS_EQ, A.IS_GT, A.IS_GE, A.IS_LE, A.IS_LT},     OPERATORS),
    named("sort_compare",                {A.IS_LT, A.IS_GT},                                OPERATORS),
    named("argument_reduce",             ARGUMENT_REDUCE,                                   OPERATORS),
    named("unary",                       UNARY,                                             OPERATORS),

    # Matrix engine, synchronisation, shared memory
    named("matmul_zero_region",          MatmulZeroRegion,                                  ZERO_REGION),
    named("wait_mode_dropped",           WAIT_DROPPED,                                      DROPPED),
    named("update_mode_dropped",         UPDATE_DROPPED,                                    DROPPED),
    named("exclusive_on_sbuf",           (),                                                SHARED),
    named("exclusive_on_psum",           (),                                                SHARED),
)
# fmt: on
