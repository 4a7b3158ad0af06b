"""The instructions that mariana and mariana_plus take from the library, one row each, by opcode."""

from __future__ import annotations

from gpsimd_core.isa.ops.activate import ACTIVATE, ACTIVATE2, ACTIVATE_QUANTIZE
from gpsimd_core.isa.ops.activation_read_accumulator import ACTIVATION_READ_ACCUMULATOR
from gpsimd_core.isa.ops.batch_norm import BATCH_NORM_BACK_PROP
from gpsimd_core.isa.ops.copy_cast import CAST, COPY, RECIPROCAL
from gpsimd_core.isa.ops.copy_predicated import CAST_PREDICATED, COPY_PREDICATED
from gpsimd_core.isa.ops.copy_predicated_scalar import COPY_PREDICATED_SCALAR
from gpsimd_core.isa.ops.cross_lane_reduce import CROSS_LANE_REDUCE_ARITH, CROSS_LANE_REDUCE_BITVEC
from gpsimd_core.isa.ops.dve_read_accumulator import DVE_READ_ACCUMULATOR
from gpsimd_core.isa.ops.gather import GATHER, INDIRECT_COPY, POOL_BUFFER_LOAD, SB2SB_COLLECTIVE
from gpsimd_core.isa.ops.generators import IOTA, TENSOR_SCALAR_AFFINE_SELECT
from gpsimd_core.isa.ops.memset import DVE_READ_INDICES, MEMSET
from gpsimd_core.isa.ops.move import LOAD_MASK_SELECT, MOVE
from gpsimd_core.isa.ops.nonzero_with_count import GET_SEQUENCE_BOUNDS, NONZERO_WITH_COUNT
from gpsimd_core.isa.ops.plain import (
    ACTIVATION_TABLE_LOAD,
    ALU_OP,
    BATCH_NORM_AGGREGATE,
    BATCH_NORM_PARAM_LOAD,
    BATCH_NORM_STATS,
    BATCH_NORM_STATS2,
    CUSTOM_OP_HEADER,
    CUSTOM_OP_PAYLOAD,
    DMA_INDIRECT,
    DMAMEMCPY,
    DRAIN,
    ENGINE_NOP,
    EXTENDED_INST,
    HALT,
    INSTRUCTION_FLUSH,
    LOAD_PARAMETER_RAM,
    LOAD_POOL_ARGUMENT,
    MODIFY_POOL_CONFIG,
    NOP,
    NOTIFY,
    PSEUDO_LOAD_ACT_FUNC_SET,
    REG_STORE,
    RNG,
    TRANSPOSE_BATCH_NORM_STATS2,
)
from gpsimd_core.isa.ops.pool import MAX_POOL_SELECT, POOL
from gpsimd_core.isa.ops.range_select import RANGE_SELECT
from gpsimd_core.isa.ops.scalar_tensor_tensor import SCALAR_TENSOR_TENSOR_ARITH, SCALAR_TENSOR_TENSOR_BITVEC
from gpsimd_core.isa.ops.search import FIND_INDEX8, MATCH_REPLACE8, MATCH_VALUE_LOAD, MAX8
from gpsimd_core.isa.ops.select_reduce import SELECT_REDUCE
from gpsimd_core.isa.ops.sort import SORT
from gpsimd_core.isa.ops.stream import STREAM_SHUFFLE, STREAM_TRANSPOSE
from gpsimd_core.isa.ops.tensor_cumulative import TENSOR_CUMULATIVE_ARITH_OP, TENSOR_CUMULATIVE_BITVEC_OP
from gpsimd_core.isa.ops.tensor_dequantize import TENSOR_DEQUANTIZE
from gpsimd_core.isa.ops.tensor_reduce import (
    TENSOR_REDUCE_ARITH_OP,
    TENSOR_REDUCE_BITVEC_OP,
    TRANSPOSE_TENSOR_REDUCE_ARITH_OP,
    TRANSPOSE_TENSOR_REDUCE_BITVEC_OP,
)
from gpsimd_core.isa.ops.tensor_scalar import (
    TENSOR_SCALAR_ARITH_OP,
    TENSOR_SCALAR_BITVEC_OP,
    TENSOR_SCALAR_PTR_ARITH_OP,
    TENSOR_SCALAR_PTR_BITVEC_OP,
    TRANSPOSE_TENSOR_SCALAR_ARITH_OP,
)
from gpsimd_core.isa.ops.tensor_scalar_addr import TENSOR_SCALAR_ADDR
from gpsimd_core.isa.ops.tensor_scalar_cache import (
    EXPONENTIAL,
    TENSOR_SCALAR_CACHE_CUMULATIVE,
    TENSOR_SCALAR_CACHE_REDUCE,
)
from gpsimd_core.isa.ops.tensor_scalar_ptr_multi import (
    TENSOR_SCALAR_IMM_LD_ARITH,
    TENSOR_SCALAR_IMM_LD_BITVEC,
    TENSOR_SCALAR_PTR_MULTI_ARITH,
    TENSOR_SCALAR_PTR_MULTI_BITVEC,
)
from gpsimd_core.isa.ops.tensor_scalar_select import TENSOR_SCALAR_SELECT
from gpsimd_core.isa.ops.tensor_tensor import TENSOR_TENSOR_ARITH_OP, TENSOR_TENSOR_BITVEC_OP
from gpsimd_core.isa.ops.tensor_tensor_scan_arith import TENSOR_TENSOR_SCAN_ARITH
from gpsimd_core.values import Instruction

__all__ = ["INSTRUCTIONS"]

# fmt: off
INSTRUCTIONS: tuple[Instruction, ...] = (
    ACTIVATE,                           # 0x21
    ACTIVATE_QUANTIZE,                  # 0x22
    ACTIVATION_TABLE_LOAD,              # 0x23
    ACTIVATION_READ_ACCUMULATOR,        # 0x24
    ACTIVATE2,                          # 0x25
    EXPONENTIAL,                        # 0x30
    TENSOR_TENSOR_ARITH_OP,             # 0x41
    TENSOR_REDUCE_ARITH_OP,             # 0x42
    TENSOR_SCALAR_ARITH_OP,             # 0x43
    TENSOR_SCALAR_PTR_ARITH_OP,         # 0x44
    POOL,                               # 0x45
    COPY,                               # 0x46
    CAST,                               # 0x47
    RECIPROCAL,                         # 0x48
    MEMSET,                             # 0x49
    REG_STORE,                          # 0x4B
    RNG,                                # 0x4D
    TENSOR_CUMULATIVE_ARITH_OP,         # 0x4E
    TENSOR_SCALAR_PTR_MULTI_ARITH,      # 0x4F
    TENSOR_TENSOR_BITVEC_OP,            # 0x51
    TENSOR_REDUCE_BITVEC_OP,            # 0x52
    TENSOR_SCALAR_BITVEC_OP,            # 0x53
    TENSOR_SCALAR_PTR_BITVEC_OP,        # 0x54
    MAX_POOL_SELECT,                    # 0x58
    TENSOR_CUMULATIVE_BITVEC_OP,        # 0x5E
    TENSOR_SCALAR_PTR_MULTI_BITVEC,     # 0x5F
    BATCH_NORM_STATS,                   # 0x60
    BATCH_NORM_STATS2,                  # 0x61
    BATCH_NORM_AGGREGATE,               # 0x62
    BATCH_NORM_PARAM_LOAD,              # 0x64
    BATCH_NORM_BACK_PROP,               # 0x65
    LOAD_PARAMETER_RAM,                 # 0x66
    POOL_BUFFER_LOAD,                   # 0x67
    GATHER,                             # 0x68
    LOAD_MASK_SELECT,                   # 0x69
    STREAM_SHUFFLE,                     # 0x6A
    STREAM_TRANSPOSE,                   # 0x6B
    MAX8,                               # 0x6C
    MATCH_VALUE_LOAD,                   # 0x6D
    FIND_INDEX8,                        # 0x6E
    MATCH_REPLACE8,                     # 0x6F
    TENSOR_SCALAR_IMM_LD_ARITH,         # 0x70
    TENSOR_SCALAR_IMM_LD_BITVEC,        # 0x71
    COPY_PREDICATED,                    # 0x72
    TENSOR_SCALAR_ADDR,                 # 0x74
    LOAD_POOL_ARGUMENT,                 # 0x7A
    TENSOR_DEQUANTIZE,                  # 0x7B
    CROSS_LANE_REDUCE_ARITH,            # 0x7C
    CROSS_LANE_REDUCE_BITVEC,           # 0x7D
    IOTA,                               # 0x7E
    TRANSPOSE_BATCH_NORM_STATS2,        # 0x82
    TRANSPOSE_TENSOR_REDUCE_ARITH_OP,   # 0x83
    TRANSPOSE_TENSOR_REDUCE_BITVEC_OP,  # 0x84
    CUSTOM_OP_HEADER,                   # 0x85
    CUSTOM_OP_PAYLOAD,                  # 0x86
    TENSOR_SCALAR_AFFINE_SELECT,        # 0x92
    TRANSPOSE_TENSOR_SCALAR_ARITH_OP,   # 0x93
    MODIFY_POOL_CONFIG,                 # 0x95
    SORT,                               # 0x96
    TENSOR_SCALAR_SELECT,               # 0x98
    CAST_PREDICATED,                    # 0x99
    TENSOR_SCALAR_CACHE_REDUCE,         # 0x9A
    DVE_READ_ACCUMULATOR,               # 0x9B
    SCALAR_TENSOR_TENSOR_ARITH,         # 0x9D
    SCALAR_TENSOR_TENSOR_BITVEC,        # 0x9E
    ENGINE_NOP,                         # 0x9F
    HALT,                               # 0xA1
    DRAIN,                              # 0xA2
    INSTRUCTION_FLUSH,                  # 0xA3
    NOP,                                # 0xA4
    NOTIFY,                             # 0xA6
    MOVE,                               # 0xA7
    ALU_OP,                             # 0xA8
    DMAMEMCPY,                          # 0xB8
    DMA_INDIRECT,                       # 0xBB
    RANGE_SELECT,                       # 0xBC
    GET_SEQUENCE_BOUNDS,                # 0xBE
    SB2SB_COLLECTIVE,                   # 0xBF
    PSEUDO_LOAD_ACT_FUNC_SET,           # 0xC6
    TENSOR_TENSOR_SCAN_ARITH,           # 0xE5
    TENSOR_SCALAR_CACHE_CUMULATIVE,     # 0xE6
    INDIRECT_COPY,                      # 0xE7
    COPY_PREDICATED_SCALAR,             # 0xE8
    DVE_READ_INDICES,                   # 0xE9
    SELECT_REDUCE,                      # 0xEA
    EXTENDED_INST,                      # 0xF0
    NONZERO_WITH_COUNT,                 # 0xF2
)
# fmt: on
