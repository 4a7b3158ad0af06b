"""What the conformance suite needs to know of the instruction library, of which every generation takes its part.

One legal record or more for each instruction with a layout, as fields by name. Patterns are `pattern(address, counts...)`,
contiguous. The first record of an instruction is its ordinary form; further ones reach forms of their own, such as integer
operators or 64-bit operands, and name the generations that have them. Beside them stands what cannot be broken alone, and
which instructions have no vectors, each with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpsimd_core.isa.enums import AluOp, Dtype, TensorSubdim

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["EVERY", "LEGAL", "LIBRARY", "legal", "never_alone", "record"]

Fields = dict[str, Any]
A, D, S = AluOp, Dtype, TensorSubdim
SINCE_CAYMAN = ("cayman", "mariana", "mariana_plus", "maverick")
EVERY = ("sunda", *SINCE_CAYMAN)
SHAPE = 0x40000000
ONE = 0x3F800000


def pattern(address: int, *num: int) -> Fields:
    """A contiguous pattern."""
    steps = [int(np.prod(num[:i])) for i in range(len(num))]
    return {"addr": address, "step": tuple(min(s, 32767) for s in steps), "num": num}


def generator(*num: int) -> Fields:
    """An affine generator from 0."""
    return {"base": 0, "step": (1,) * 4, "num": num}


CHANNELS = {"num_active_channels": 32}
IN2D = {"src": pattern(0x100, 6, 4), "dst": pattern(0x2000, 6, 4)}
IN4D = {"src": pattern(0x100, 8, 4, 2, 1), "dst": pattern(0x2000, 8, 4, 2, 1)}
FP32 = {"in_dtype": D.FP32, "out_dtype": D.FP32}
INT32 = {"in_dtype": D.INT32, "out_dtype": D.INT32}


def dtypes(code: Dtype, *more: str) -> Fields:
    """Both sources and the destination have one dtype."""
    return dict.fromkeys(("src0_dtype", "src1_dtype", "out_dtype", *more), code)


STT = CHANNELS | {
    "src0": pattern(0x100, 6, 4), "src1": pattern(0x1000, 6, 4), "dst": pattern(0x2000, 6, 4),
    "op0": A.ADD, "op1": A.ADD,
}  # fmt: skip
STT_BITS = STT | {"op0": A.BITWISE_AND, "op1": A.BITWISE_OR}
TT = CHANNELS | {
    "src0": pattern(0x100, 6, 4, 1), "src1": pattern(0x1000, 6, 4, 1), "dst": pattern(0x2000, 6, 4, 1), "op": A.ADD,
}  # fmt: skip
TS = CHANNELS | FP32 | {
    "src": pattern(0x100, 8, 4, 1), "dst": pattern(0x2000, 8, 4, 1), "op0": A.ADD, "op1": A.MULT,
}  # fmt: skip
TS_BITS = TS | {"op0": A.BITWISE_AND, "op1": A.BITWISE_OR, "in_dtype": D.INT16, "out_dtype": D.INT16}
TS_SHIFTS = TS_BITS | {"op0": A.LOGICAL_SHIFT_LEFT, "op1": A.BITWISE_AND}
TS_RSQRT = TS | {"op0": A.RSQRT, "op1": A.BYPASS}
TS_INTEGER = TS | INT32 | {"op0": A.ADD_INT, "op1": A.ADD_INT}
TS_BY_COUNT = TS | {"dst": pattern(SHAPE | 0x2000, 8, 4, 1)}
TR = CHANNELS | FP32 | IN4D
FOLD = TR | {"dst": pattern(0x2000, 4, 2, 1, 1), "op": A.ADD, "op_dim": S.X}
FOLD_BITS = FOLD | {"op": A.BITWISE_AND, "in_dtype": D.UINT16, "out_dtype": D.UINT16}
FOLDS = [
    FOLD,
    FOLD | INT32 | {"op": A.ADD_INT},
    (SINCE_CAYMAN, FOLD | {"op": A.ARGMAX_INT, "in_dtype": D.INT32, "out_dtype": D.UINT32}),
]
LANES = TR | {"reduce_axis": "PARTITIONS"}
ONE_LANE = TR | {"reduce_axis": "ALL", "dst": pattern(0x2000, 1, 1, 1, 1)}
LANE_BITS = {"reduce_op": "BITWISE_OR", "in_dtype": D.INT16, "out_dtype": D.INT16}
MULTI = CHANNELS | FP32 | {
    "src": pattern(0x100, 16, 2, 1, 4), "dst": pattern(0x2000, 16, 2, 1, 4), "op": A.ADD, "op_dim": S.XYZ,
}  # fmt: skip
MULTI_BITS = MULTI | INT32 | {"op": A.BITWISE_AND}
POOLED = CHANNELS | {
    "src": pattern(0x100, 2, 2, 3, 5), "dst": pattern(0x2000, 3, 5, 1, 1), "in_dtype": D.FP32, "pool_dim": S.XY,
    "pool_scale": ONE,
}  # fmt: skip
WORDS = CHANNELS | {"in_dtype": D.UINT32, "out_dtype": D.UINT32}
BF16_TT = TT | dtypes(D.BFLOAT16)
BF16_TR = FOLD | {"in_dtype": D.BFLOAT16, "out_dtype": D.BFLOAT16}
ACT = CHANNELS | FP32 | {"src": pattern(0x100, 8, 4, 1), "dst": pattern(0x2000, 8, 4, 1), "bias_dtype": D.FP32}
ACT2 = CHANNELS | FP32 | IN2D | {"imm_dtype": D.FP32, "op0": A.MULT, "op1": A.ADD, "reduce_op": A.ADD}

LEGAL: dict[str, list[Any]] = {
    "select_reduce": [
        STT | dtypes(D.FP32, "imm0_dtype") | {
            "src0_dtype": D.UINT8, "op0": A.BYPASS, "op1": A.MAX, "accumulator_cmd": "ZERO_ACCUMULATE",
        },
    ],
    "scalar_tensor_tensor_arith": [STT | dtypes(D.FP32, "imm0_dtype")],
    "scalar_tensor_tensor_bitvec": [
        STT_BITS | dtypes(D.INT32, "imm0_dtype"),
        STT_BITS | dtypes(D.INT16, "imm0_dtype"),
    ],
    "tensor_tensor_scan_arith": [STT | dtypes(D.FP32, "imm0_dtype")],
    "tensor_tensor_arith_op": [
        TT | dtypes(D.FP32),
        TT | dtypes(D.FP32) | {"op": A.POW},
        TT | dtypes(D.INT32) | {"op": A.MULT_INT},
        (SINCE_CAYMAN, TT | dtypes(D.INT32) | {"op": A.MAX_INT}),
        (SINCE_CAYMAN, TT | dtypes(D.UINT64) | {"op": A.ADD_INT}),
    ],
    "tensor_tensor_bitvec_op": [
        TT | dtypes(D.INT16) | {"op": A.BITWISE_AND},
        (SINCE_CAYMAN, TT | dtypes(D.UINT64) | {"op": A.BITWISE_AND}),
        (SINCE_CAYMAN, TT | dtypes(D.UINT64) | {"op": A.LOGICAL_SHIFT_LEFT, "src1_dtype": D.UINT32}),
    ],
    "copy_predicated": [TT | dtypes(D.FP32) | {"op": A.BYPASS, "src0_dtype": D.UINT8}],
    "cast_predicated": [TT | dtypes(D.FP32) | {"op": A.BYPASS, "src0_dtype": D.UINT8}],
    "batch_norm_back_prop": [TT | dtypes(D.FP32) | {"op": A.BYPASS}],
    "tensor_tensor_add_bf16": [BF16_TT],
    "tensor_tensor_mult_bf16": [BF16_TT | {"op": A.MULT}],
    "tensor_tensor_sub_bf16": [BF16_TT | {"op": A.SUBTRACT}],
    "tensor_reduce_add_bf16": [BF16_TR],
    "tensor_reduce_max_bf16": [BF16_TR | {"op": A.MAX}],
    "tensor_scalar_arith_op": [TS, TS_RSQRT, (("maverick",), TS_INTEGER)],
    "transpose_tensor_scalar_arith_op": [TS, TS_RSQRT, (("maverick",), TS_INTEGER), TS_BY_COUNT],
    "tensor_scalar_ptr_arith_op": [TS | {"imm0": 0x40, "imm1": 0x80}, TS_RSQRT, (("maverick",), TS_INTEGER)],
    "tensor_scalar_bitvec_op": [TS_BITS, TS_SHIFTS],
    "tensor_scalar_ptr_bitvec_op": [TS_BITS | {"imm0": 0x40}, TS_SHIFTS],
    "tensor_scalar_cache_reduce": [TS | {"accumulator_cmd": 3}, TS | {"accumulator_cmd": 4}],
    "tensor_scalar_cache_cumulative": [TS | {"accumulator_cmd": 3}, TS | {"accumulator_cmd": 4}],
    "exponential": [TS | {"accumulator_cmd": cmd, "op0": A.BYPASS, "op1": A.BYPASS} for cmd in (3, 4)],
    "tensor_scalar_ptr_multi_arith": [MULTI],
    "tensor_scalar_ptr_multi_bitvec": [MULTI_BITS],
    "tensor_scalar_ptr_multi_dual_arith": [MULTI],
    "tensor_scalar_ptr_multi_dual_bitvec": [MULTI_BITS],
    "tensor_scalar_imm_ld_arith": [CHANNELS | {"src": pattern(0x100, 4, 1), "dtype": D.FP32}],
    "tensor_scalar_imm_ld_bitvec": [CHANNELS | {"src": pattern(0x100, 4, 1), "dtype": D.INT32}],
    "copy": [TR],
    "cast": [TR],
    "reciprocal": [TR],
    "stream_shuffle": [TR],
    "stream_transpose": [TR],
    "tensor_cumulative_arith_op": [
        TR | {"op": A.ADD, "op_dim": S.X},
        TR | INT32 | {"op": A.ADD_INT, "op_dim": S.XY},
    ],
    "tensor_cumulative_bitvec_op": [
        TR | {"op": A.BITWISE_AND, "op_dim": S.X, "in_dtype": D.UINT16, "out_dtype": D.UINT16},
    ],
    "tensor_reduce_arith_op": FOLDS,
    "transpose_tensor_reduce_arith_op": FOLDS,
    "tensor_reduce_bitvec_op": [FOLD_BITS],
    "transpose_tensor_reduce_bitvec_op": [FOLD_BITS],
    "cross_lane_reduce_arith": [LANES, ONE_LANE],
    "cross_lane_reduce_bitvec": [LANES | LANE_BITS, ONE_LANE | LANE_BITS],
    "copy_predicated_scalar": [
        CHANNELS | FP32 | {"pred": pattern(0x100, 6, 4, 1), "dst": pattern(0x2000, 6, 4, 1), "pred_dtype": D.UINT8},
    ],
    "tensor_scalar_select": [
        CHANNELS | {
            "src0": pattern(0x100, 6, 4, 1), "dst": pattern(0x2000, 6, 4, 1), "dtype": D.FP32, "pred_imm_dtype": D.INT32,
        },
    ],
    "range_select": [
        CHANNELS | FP32 | IN2D | {
            "reduce_op": A.MAX, "fill_val": 0xFF7FFFFF, "comp_op0": A.IS_GE, "comp_op1": A.IS_LT,
        },
    ],
    "activation_read_accumulator": [
        CHANNELS | {"dst": pattern(0x2000, 1), "dst_element_count": 1, "dtype": D.FP32},
    ],
    "dve_read_accumulator": [CHANNELS | {"dst": pattern(0x2000, 1), "dst_element_count": 1, "dtype": D.FP32}],
    "dve_read_indices": [
        CHANNELS | {"dst": pattern(0x2000, 8, 1, 1, 1), "dst_element_count": 8, "dtype": D.UINT16},
    ],
    "memset": [
        CHANNELS | {"dst": pattern(0x2000, 8, 2, 1, 1), "dst_element_count": 16, "dtype": D.FP32},
        CHANNELS | {"dst": pattern(0x2000, 8, 2, 1, 1), "dst_element_count": 16, "dtype": D.UINT8, "set_value": 0xAB},
    ],
    "max8": [CHANNELS | FP32 | {"src": pattern(0x100, 8, 4, 1, 1), "dst": pattern(0x2000, 8, 1)}],
    "find_index8": [
        CHANNELS | FP32 | {"src": pattern(0x100, 8, 4, 1, 1), "dst": pattern(0x2000, 8, 1), "out_dtype": D.UINT16},
    ],
    "match_value_load": [CHANNELS | {"src": pattern(0x100, 8, 1), "dtype": D.FP32}],
    "match_replace8": [TR, TR | {"dst": pattern(SHAPE | 0x2000, 8, 4, 2, 1)}],
    "tensor_scalar_affine_select": [CHANNELS | FP32 | IN2D | {"mask_pattern": generator(6, 4, 1, 1)}],
    "iota": [
        CHANNELS | {
            "dst": pattern(0x2000, 6, 4, 1, 1), "src_data_pattern": generator(6, 4, 1, 1), "out_dtype": D.INT32,
        },
    ],
    "pool": [POOLED | {"out_dtype": D.FP32, "pool_func": "MAX"}],
    "max_pool_select": [POOLED | {"out_dtype": D.UINT16, "pool_func": "NONE"}],
    "sort": [CHANNELS | FP32 | {"src": pattern(0x100, 64), "dst": pattern(0x2000, 2, 64), "comparison": A.IS_LT}],
    "nonzero_with_count": [
        CHANNELS | {
            "src": pattern(0x100, 6, 4, 1), "dst": pattern(0x2000, 25, 1, 1), "in_dtype": D.FP32, "out_dtype": D.INT32,
        },
    ],
    "get_sequence_bounds": [
        {
            "num_active_channels": 1, "src": pattern(0x100, 6, 4, 1), "dst": pattern(0x2000, 6, 4, 2),
            "in_dtype": D.FP32, "out_dtype": D.INT32,
        },
    ],
    "tensor_dequantize": [
        WORDS | {"src": pattern(0x100, 6, 4, 1), "dst": pattern(0x2000, 12, 4, 1), "dequant_fmt": 1},
        WORDS | {"src": pattern(0x100, 5, 4, 1), "dst": pattern(0x2000, 8, 4, 1), "dequant_fmt": 2, "group_size": 8},
        WORDS | {"src": pattern(0x100, 6, 4, 1), "dst": pattern(0x2000, 8, 4, 1), "dequant_fmt": 4},
    ],
    "move": [
        {
            "num_mov": 2, "dtype": D.UINT32, "move_source": "REGISTER",
            "src_registers": (1, 128, 0, 0, 0, 0, 0, 0), "dst_registers": (3, 4, 0, 0, 0, 0, 0, 0),
        },
        {"num_mov": 2, "dtype": D.FP32, "move_source": "IMMEDIATE", "dst_registers": (3, 4, 0, 0, 0, 0, 0, 0)},
    ],
    "load_mask_select": [{"immediate": (255, *range(31))}],
    "pool_buffer_load": [CHANNELS | {"src": pattern(0x100, 8, 4, 1, 1), "in_dtype": D.FP32}],
    "gather": [TR | {"in_dtype": D.UINT16}],
    "indirect_copy": [
        CHANNELS | FP32 | {
            "index_addr": 0x20000100, "data_addr": 0x1000, "num_elem": 16, "src_num_elem_per_idx": 4,
            "dst": pattern(0x2000, 8, 4, 1, 1),
        },
    ],
    "sb2sb_collective": [FP32 | {"src": pattern(0x100, 8, 4, 1), "dst": pattern(0x2000, 8, 4, 1)}],
    "tensor_scalar_addr": [
        CHANNELS | IN2D | {"op0": A.MULT_INT, "op1": A.ADD_INT}
        | dict.fromkeys(("in_dtype", "out_dtype", "imm0_dtype", "imm1_dtype"), D.UINT64),
    ],
    "activate": [ACT | {"bias_src_n": "INSTRUCTION_IMMEDIATE"}],
    "activate_quantize": [
        ACT | {"out_dtype": D.UINT8, "quant_scale_value": ONE, "dequant_scale_value": ONE, "bias_addr": 0x40},
    ],
    "activate2": [ACT2],
    "activate_multipass": [ACT2 | {"prev_pass": pattern(0x3000, 1)}],
    "matmul": [{}],
    "extended_inst": [{"extended_opcode": 2}, {"extended_opcode": 7}],
}  # fmt: skip
LEGAL |= {
    name: [CHANNELS]
    for name in (
        "reg_store", "rng", "batch_norm_stats", "batch_norm_stats2", "batch_norm_aggregate", "batch_norm_param_load",
        "transpose_batch_norm_stats2",
    )
}  # fmt: skip


def legal(name: str, gen: str) -> list[Fields]:
    """The legal records of an instruction on a generation, as fields; an empty one where the table has none."""
    rows = [row if isinstance(row, tuple) else (EVERY, row) for row in LEGAL.get(name, [{}])]
    return [fields for gens, fields in rows if gen in gens]


def record(machine: Machine, name: str, fields: Fields) -> np.ndarray[Any, Any]:
    """A record packed through its layout, header and `fields`: uint8, (64,)."""
    opcode = machine.opcode_of(name)
    raw: np.ndarray[Any, Any] = np.zeros(64, np.uint8)
    raw[:2] = opcode, 16
    for field, value in fields.items():
        machine.layouts[opcode].write(raw, field, value)
    return raw


def records(machine: Machine, name: str) -> Iterator[bytes]:
    """The legal records of an instruction whose operands the generation lays out."""
    if machine.opcodes[machine.opcode_of(name)].layout is not None:
        yield from (record(machine, name, fields).tobytes() for fields in legal(name, machine.generation.name))


# What cannot be broken alone ----------------------------------------------------------------------------------------

VERSION = "the opcode exists on no generation that is too old"
NIBBLE = "all 16 numbers of the nibble are dtypes"
NO_WIDE = "no 64-bit operand passes the dtype gate"
NO_PSUM = "no address is PSUM here"
ALL_TAKEN = "the sets around it leave nothing over here"
NEVER_ALONE: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {
    ("*", "core_version"): (EVERY, VERSION),
    ("extended_inst", "is_valid_enum[src0_dtype]"): (EVERY, NIBBLE),
    ("extended_inst", "is_valid_enum[src1_dtype]"): (EVERY, NIBBLE),
    ("tensor_scalar_addr", "is_valid_enum[imm0_dtype]"): (EVERY, NIBBLE),
    ("tensor_scalar_addr", "is_valid_enum[imm1_dtype]"): (EVERY, NIBBLE),
    ("tensor_scalar_addr", "is_valid_enum[in_dtype]"): (EVERY, NIBBLE),
    ("tensor_scalar_addr", "is_valid_enum[out_dtype]"): (EVERY, NIBBLE),
    **{
        (name, "dtype_in[in_dtype]"): (EVERY[:4], ALL_TAKEN)
        for name in ("exponential", "tensor_scalar_cache_reduce", "tensor_scalar_cache_cumulative")
    },
    **{
        (name, "integer_dtypes"): (EVERY[:4], ALL_TAKEN)
        for name in ("tensor_scalar_arith_op", "tensor_scalar_ptr_arith_op", "transpose_tensor_scalar_arith_op")
    },
    **{
        ("tensor_scalar_affine_select", f"affine_in_sbuf[{name}]"): (("sunda",), "PSUM is allowed")
        for name in ("src", "dst")
    },
    ("tensor_tensor_arith_op", "integer_signedness"): (("sunda",), ALL_TAKEN),
    ("tensor_reduce_arith_op", "argument_dtype[out_dtype]"): (("sunda",), ALL_TAKEN),
    ("transpose_tensor_reduce_arith_op", "argument_dtype[out_dtype]"): (("sunda",), ALL_TAKEN),
    **{
        ("tensor_tensor_arith_op", f"no_64bit[{name}]"): (("sunda",), NO_WIDE)
        for name in ("src0_dtype", "src1_dtype", "out_dtype")
    },
    **{("tensor_tensor_bitvec_op", f"wide_in_sbuf[{name}]"): (("sunda",), NO_WIDE) for name in ("src0", "src1")},
}
IN_SBUF = ("affine_in_sbuf", "integer_in_sbuf", "pow_in_sbuf", "wide_in_sbuf")


def never_alone(machine: Machine) -> dict[tuple[str, str], str]:
    """(instruction, rule) that no record of this generation breaks alone, and why; `*` stands for every instruction."""
    gen = machine.generation
    found = {key: why for key, (gens, why) in NEVER_ALONE.items() if gen.name in gens}
    if not gen.geometry.psum_window:
        names = {(name, b.rule.name) for name, book in machine.books.items() for b in book.rules}
        found |= {key: NO_PSUM for key in names if key[1].startswith(IN_SBUF)}
    return found


NO_DESTINATION = "the example format states what is in dst and in the accumulator; it has neither"
LOADED_BEFORE = "the example format has no step that loads what it needs: such steps have no destination"
WITHOUT_VECTORS = {
    **dict.fromkeys(
        (
            "activation_table_load", "drain", "engine_nop", "halt", "instruction_flush", "load_mask_select",
            "match_value_load", "move", "nop", "notify", "tensor_scalar_imm_ld_arith", "tensor_scalar_imm_ld_bitvec",
        ),
        NO_DESTINATION,
    ),
    **dict.fromkeys(
        (
            "dve_read_indices", "find_index8", "match_replace8", "stream_shuffle", "tensor_scalar_affine_select",
            "tensor_scalar_ptr_multi_arith", "tensor_scalar_ptr_multi_bitvec",
        ),
        LOADED_BEFORE,
    ),
    "copy_predicated_scalar": "its predicate lies in a field that the example format does not name",
}  # fmt: skip

LIBRARY: dict[str, Any] = {
    "vectors": Path(__file__).with_name("library.toml"),
    "records": records,
    "never_alone": never_alone,
    "without_vectors": WITHOUT_VECTORS,
}
"""Arguments of `conformance` for a generation, whose instructions come from the library."""
