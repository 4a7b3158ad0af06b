"""Codes of the instruction set: one class per enumeration, the union over all generations.

A code never changes its meaning between generations; which members a generation has is a NamedSet of its plugin.
`AluOp.at(36)` declares a one-byte layout field, `Dtype.low(40)` and `.high(40)` the two nibbles of a packed pair.
"""

from __future__ import annotations

from gpsimd_core.isa.layout import Code

__all__ = [
    "AccumCmd",
    "AffineSelectCmp",
    "AluOp",
    "CustomOpArgType",
    "DataSrc",
    "DebugCmd",
    "DequantFmt",
    "Dtype",
    "Engine",
    "ExtendedOpcode",
    "ImmSrc",
    "ImmSrcN",
    "MatmulZeroRegion",
    "ModifyPoolOp",
    "PoolType",
    "PsumAccumulateFlags",
    "ReduceAxis",
    "ReduceCmd",
    "ReduceOp",
    "RoundMode",
    "TensScalarRevOps",
    "TensorSubdim",
    "UpdateMode",
    "WaitMode",
]


class Dtype(Code):
    """Element formats by wire code. Codes above 0xF need a full-byte field. Source: The Unified Datatype Model."""

    INVALID = 0x00
    UINT64 = 0x01
    INT8 = 0x02
    UINT8 = 0x03
    INT16 = 0x04
    UINT16 = 0x05
    BFLOAT16 = 0x06
    FP16 = 0x07
    INT32 = 0x08
    UINT32 = 0x09
    FP32 = 0x0A
    FP32R = 0x0B
    INT64 = 0x0C
    FP8_EXP3 = 0x0D
    FP8_EXP4 = 0x0E
    FP8_EXP5 = 0x0F
    FP4_EXP2 = 0x10
    FP8_EXP2 = 0x11
    INT4 = 0x12
    SFP8_E8 = 0x13
    SFP8_E7 = 0x14
    SFP8_E6 = 0x15
    SFP8_E5 = 0x16
    CPTC1 = 0x19
    CPTC2 = 0x1A
    CPTC3 = 0x1B
    CPTC4 = 0x1C
    CPTC5 = 0x1D
    CPTC6 = 0x1E
    CPTC7 = 0x1F


class AluOp(Code):
    """Operators of the arithmetic, bitvec and integer bands.

    Source: Tensor-Tensor Elementwise Arith + the ALU-OP Table; The ALU-Op Datapath + Dtype Matrix.
    """

    BYPASS = 0x00
    BITWISE_NOT = 0x01
    ARITH_SHIFT_LEFT = 0x02
    ARITH_SHIFT_RIGHT = 0x03
    ADD = 0x04
    SUBTRACT = 0x05
    MULT = 0x06
    DIVIDE = 0x07
    MAX = 0x08
    MIN = 0x09
    BITWISE_AND = 0x0A
    BITWISE_OR = 0x0B
    BITWISE_XOR = 0x0C
    LOGICAL_AND = 0x0D
    LOGICAL_OR = 0x0E
    LOGICAL_XOR = 0x0F
    LOGICAL_SHIFT_LEFT = 0x10
    LOGICAL_SHIFT_RIGHT = 0x11
    IS_EQ = 0x12
    IS_GT = 0x13
    IS_GE = 0x14
    IS_LE = 0x15
    IS_LT = 0x16
    ABSOLUTE_DIFF = 0x17
    IS_NE = 0x18
    ABSOLUTE_VALUE = 0x19
    POW = 0x1A
    MOD = 0x1B
    CRC32 = 0x1C
    RSQRT = 0x1D
    ABS_MAX = 0x20
    ABS_MIN = 0x21
    RE_LU = 0x22
    SQUARE = 0x23
    SYMMETRIC_CLAMP = 0x24
    ADD_INT = 0xC4
    MULT_INT = 0xC5
    SUBTRACT_INT = 0xC6
    DIVIDE_INT = 0xC7
    MOD_INT = 0xC8
    IS_EQUAL_INT = 0xC9
    IS_NE_INT = 0xCA
    ABS_MAX_INT = 0xCB
    ABS_MIN_INT = 0xCC
    ABS_DIFF_INT = 0xCD
    ABS_VALUE_INT = 0xCE
    MAX_INT = 0xCF
    MIN_INT = 0xD0
    IS_GT_INT = 0xD1
    IS_GE_INT = 0xD2
    IS_LE_INT = 0xD3
    IS_LT_INT = 0xD4
    MAX_UINT = 0xD5
    MIN_UINT = 0xD6
    IS_GT_UINT = 0xD7
    IS_GE_UINT = 0xD8
    IS_LE_UINT = 0xD9
    IS_LT_UINT = 0xDA
    MULT_UINT = 0xDB
    DIVIDE_UINT = 0xDC
    MOD_UINT = 0xDD
    ARGMAX_INT = 0xDE
    ARGMIN_INT = 0xDF
    ARGMAX_UINT = 0xE0
    ARGMIN_UINT = 0xE1


class ReduceOp(Code):
    """Fold operators of the partition fold (0x7C, 0x7D); not ALU_OP codes. Source: CrossLaneReduce."""

    ADD = 0x00
    AVERAGE = 0x01
    MAX = 0x02
    BITWISE_OR = 0x03
    BITWISE_AND = 0x04
    BITWISE_XOR = 0x05


class ReduceAxis(Code):
    """What the partition fold leaves: one element, or one partition. Source: CrossLaneReduce."""

    ALL = 0x00
    PARTITIONS = 0x01


class AccumCmd(Code):
    """What an instruction does to the accumulator of its engine.

    Source: CopyPredicatedReduce — SelectReduce (0xea); Activate + the PWL Application Mechanism.
    """

    IDLE = 0x00
    ZERO = 0x01
    ACCUMULATE = 0x02
    ZERO_ACCUMULATE = 0x03
    LOAD_ACCUMULATE = 0x04


class ReduceCmd(Code):
    """Accumulator control of the second activation form. Source: Activate + the PWL Application Mechanism."""

    IDLE = 0x00
    RESET = 0x01
    REDUCE = 0x02
    RESET_REDUCE = 0x03


class TensScalarRevOps(Code):
    """Which of the two operators take their operands swapped. Source: Scalar-Tensor-Tensor (STT)."""

    NONE = 0x00
    FIRST = 0x01
    SECOND = 0x02
    BOTH = 0x03


class ImmSrc(Code):
    """Where an immediate comes from; pointer forms read one scalar per active partition.

    Source: Tensor-Scalar + Tensor-Scalar-PTR; NonzeroWithCount.
    """

    INSTRUCTION_IMMEDIATE = 0x00
    POINTER_IMMEDIATE = 0x01
    REG_PTR_IMMEDIATE = 0x02


class ImmSrcN(Code):
    """As IMM_SRC with 0 and 1 exchanged. Source: Activate + the PWL Application Mechanism."""

    POINTER_IMMEDIATE = 0x00
    INSTRUCTION_IMMEDIATE = 0x01
    REG_PTR_IMMEDIATE = 0x02


class TensorSubdim(Code):
    """How many inner dimensions an operator works along; there is no value 1.

    Source: Tensor-Reduce (cross-partition).
    """

    UNUSED = 0x00
    X = 0x02
    XY = 0x03
    XYZ = 0x04
    XYZW = 0x05


class PoolType(Code):
    """Window function. Source: avg_pool/max_pool."""

    NONE = 0x00
    MAX = 0x01
    AVG = 0x02


class AffineSelectCmp(Code):
    """Comparison of the affine value with zero. Source: AffineSelect (0x92)."""

    GREATER_THAN = 0x00
    GREATER_EQ = 0x01
    EQ = 0x02
    NOT_EQ = 0x03


class DataSrc(Code):
    """Register or immediate. Source: Move (0xa7)."""

    REGISTER = 0x00
    IMMEDIATE = 0x01


class DequantFmt(Code):
    """Packed formats that 0x7B expands. Source: TensorDequantize."""

    INVALID = 0x00
    E2M1_TO_E5M2 = 0x01
    INT4_TO_E5M2 = 0x02
    NF4_TO_E4M3 = 0x03
    E2M3_TO_E4M3 = 0x04


class ModifyPoolOp(Code):
    """Library load or unload. Source: ISA Validator Architecture and Entry Tree."""

    INVALID = 0x00
    LOAD_LIB = 0x01
    UNLOAD_LIB = 0x02


class CustomOpArgType(Code):
    """Kind of a custom-op argument. Source: custom-op validators."""

    INVALID = 0x00
    TENSOR = 0x01
    ARRAY = 0x02


class ExtendedOpcode(Code):
    """Second-level opcode in byte 12 of 0xF0. Source: Cross-Generation Opcode-Table Diff + TONGA."""

    NOP = 0x00
    COPY = 0x01
    TENSOR_TENSOR_ARITH = 0x02
    RAND_SET = 0x03
    RAND_GET = 0x04
    SB2SB = 0x06
    CPTC = 0x07
    RDMA_GEN = 0x08
    RDMA_START = 0x09


class MatmulZeroRegion(Code):
    """PSUM zero region size of a matmul. Source: On-Chip State-Buffer (SBUF) + PSUM Bank Model."""

    B2048 = 0x00
    B4096 = 0x01
    B8192 = 0x02
    B16384 = 0x03


class PsumAccumulateFlags(Code):
    """Begin and end of an accumulation group. Source: The 64-Byte Bundle Quick-Reference."""

    NONE = 0x00
    BEGIN = 0x01
    END = 0x02
    BEGIN_END = 0x03


class DebugCmd(Code):
    """Profiling notification level. Source: The 64-Byte Instruction Record Format."""

    NONE = 0x00
    NOTIFY = 0x01
    START = 0x03
    END = 0x05
    START_END = 0x07
    INS_FIELD = 0x09


class WaitMode(Code):
    """Condition that gates the start of an instruction.

    Source: semaphore/sync encoding page; The 64-Byte Instruction Record Format.
    """

    NONE = 0x00
    SEM_EQ_IMM = 0x01
    SEM_LT_IMM = 0x02
    SEM_LE_IMM = 0x03
    SEM_GT_IMM = 0x04
    SEM_GE_IMM = 0x05
    EVT_SET = 0x06
    EVT_SET_THEN_CLEAR = 0x07
    EVT_CLEAR = 0x0E
    EVT_CLEAR_THEN_SET = 0x0F
    SEM_EQ_REG = 0x81
    SEM_LT_REG = 0x82
    SEM_LE_REG = 0x83
    SEM_GT_REG = 0x84
    SEM_GE_REG = 0x85


class UpdateMode(Code):
    """What a semaphore or event undergoes, at operand read or at completion.

    Source: semaphore/sync encoding page; SUNDA-only Dual / Deprecated TensorScalarPtr.
    """

    NONE = 0x00
    EVT_SET_READ = 0x01
    EVT_CLEAR_READ = 0x02
    SEM_INC_READ = 0x03
    SEM_DEC_READ = 0x04
    SEM_ADD_IMM_READ = 0x05
    SEM_SUB_IMM_READ = 0x07
    SEM_WR_IMM_READ = 0x09
    EVT_SET_COMPLETE = 0x11
    EVT_CLEAR_COMPLETE = 0x12
    SEM_INC_COMPLETE = 0x13
    SEM_DEC_COMPLETE = 0x14
    SEM_ADD_IMM_COMPLETE = 0x15
    SEM_SUB_IMM_COMPLETE = 0x17
    SEM_WR_IMM_COMPLETE = 0x19
    SEM_ADD_REG_READ = 0x85
    SEM_SUB_REG_READ = 0x87
    SEM_WR_REG_READ = 0x89
    SEM_ADD_REG_COMPLETE = 0x95
    SEM_SUB_REG_COMPLETE = 0x97
    SEM_WR_REG_COMPLETE = 0x99


class Engine(Code):
    """Engine numbers of the headers; the same on every generation.

    Source: Tensor-Reduce (cross-partition); ISA Validator Architecture and Entry Tree.
    """

    PE = 0x00
    ACT = 0x01
    POOL = 0x02
    DVE = 0x03
    TPB_SP = 0x04
    TOP_SP = 0x05


class RoundMode(Code):
    """Rounding modes as the vector core numbers them. Source: Formal Semantics II."""

    RNE = 0x00
    RTZ = 0x01
    PLUS_INF = 0x02
    MINUS_INF = 0x03
    AWAY = 0x04
