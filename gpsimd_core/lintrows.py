"""The table of lints: what each looks for, what is lost, and what a person would change.

Sources: the diagnostics of the public compiler and kernel API, by their codes; decisions 13, 16, 19.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.isa.addresses import addresses
from gpsimd_core.isa.dtypes import SIZES
from gpsimd_core.isa.enums import AccumCmd, AluOp, Dtype, ImmSrc, PoolType, ReduceOp, TensorSubdim, TensScalarRevOps
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.layout import Columns
from gpsimd_core.machine import Machine
from gpsimd_core.program import Program
from gpsimd_core.values import Instruction

__all__ = ["LINTS", "Lint"]

Bools = Any
Check = Callable[[Columns, Facts, Instruction], Bools]


@frozen(kw_only=True)
class Lint:
    """What to look for, and what to say."""

    name: str
    reason: str
    """What is lost, or left out."""
    cure: str
    """What a person would change."""
    sources: tuple[str, ...]
    """Diagnostics of the public tools, and decisions, that it stands on."""
    cases: tuple[tuple[tuple[str, ...], Check], ...] = field(default=(), eq=False)
    """(instructions, check): `check(columns, facts, instruction)` gives a bool array, true where it applies. No
    instructions: every one."""
    sequence: Callable[[Machine, Program], Iterable[int]] | None = field(default=None, eq=False)
    """For what only shows between records: gives their positions."""
    refused: bool = False
    """It speaks of records that a rule refuses."""


# What values lose ------------------------------------------------------------------------------------------------------

WIDE = (Dtype.INT32, Dtype.UINT32)
INTEGER_BAND = 0xC4
"""The first operator code of the integer band."""
TENSOR_SCALAR = ("tensor_scalar_arith_op", "tensor_scalar_ptr_arith_op", "transpose_tensor_scalar_arith_op")
FOLDS = ("tensor_reduce_arith_op", "transpose_tensor_reduce_arith_op")


def _wide(*leaves: str) -> Check:
    """A 32-bit integer source, and no operator of the integer band."""

    def check(c: Columns, f: Facts, i: Instruction) -> Bools:
        ops = [name for name in ("op", "op0", "op1") if name in c.layout.leaves]
        whole = np.logical_or.reduce([c[op] >= INTEGER_BAND for op in ops]) if ops else False
        return np.logical_or.reduce([np.isin(c[leaf], WIDE) for leaf in leaves]) & ~np.asarray(whole)

    return check


def _wide_cast(source: str) -> Check:
    return lambda c, f, i: np.isin(c[source], WIDE) & (c[source] != c["out_dtype"])


def _wide_partitions(c: Columns, f: Facts, i: Instruction) -> Bools:
    return np.isin(c["in_dtype"], WIDE) & (f.policies["cross_lane_int"] == "fp32")


def _narrow(c: Columns) -> Bools:
    return SIZES[c["out_dtype"]] < 4


def _narrow_fold(c: Columns, f: Facts, i: Instruction) -> Bools:
    """Sums and products; a maximum or minimum of one dtype loses nothing in it."""
    op = c["op"] if "op" in c.layout.leaves else c["op1"]
    source = c["in_dtype"] if "in_dtype" in c.layout.leaves else c["src1_dtype"]
    picks = np.isin(op, (AluOp.MAX, AluOp.MIN, AluOp.BYPASS)) & (source == c["out_dtype"])
    return _narrow(c) & ~picks & (op < INTEGER_BAND)


def _narrow_partitions(c: Columns, f: Facts, i: Instruction) -> Bools:
    return _narrow(c) & ((c["reduce_op"] != ReduceOp.MAX) | (c["in_dtype"] != c["out_dtype"]))


def _other_flavour(c: Columns, f: Facts, i: Instruction) -> Bools:
    own = dict(f.generation.defaults).get("fp8_exp4", "ieee")
    used = [c[o.dtype] == Dtype.FP8_EXP4 for o in (*i.reads, *i.writes)]
    return np.logical_or.reduce(used) & (f.policies["fp8_exp4"] != own) if used else False


# What a record says in vain ------------------------------------------------------------------------------------------------

UNARY = (AluOp.BYPASS, AluOp.BITWISE_NOT, AluOp.ABSOLUTE_VALUE, AluOp.RE_LU, AluOp.SQUARE, AluOp.RSQRT)


def _ignored(*pairs: tuple[str, str, TensScalarRevOps]) -> Check:
    """An operator of one operand beside an immediate that is given: (operator, immediate, what swaps them)."""

    def check(c: Columns, f: Facts, i: Instruction) -> Bools:
        found = np.zeros(len(c), bool)
        for op, imm, swap in pairs:
            swapped = np.isin(c["reverse_operands"], (swap, TensScalarRevOps.BOTH))
            given = (c[imm] != 0) | (c[f"{imm}_src"] != ImmSrc.INSTRUCTION_IMMEDIATE)
            found |= np.isin(c[op], UNARY) & given & ~swapped
        return found

    return check


OP0 = ("op0", "imm0", TensScalarRevOps.FIRST)
OP1 = ("op1", "imm1", TensScalarRevOps.SECOND)


def _unread_fill(c: Columns, f: Facts, i: Instruction) -> Bools:
    given = (c["imm0"] != 0) | (c["imm0_src"] != ImmSrc.INSTRUCTION_IMMEDIATE)
    return given & (f.policies["select_reduce"] == "merge")


def _other_immediate(c: Columns, f: Facts, i: Instruction) -> Bools:
    return (c["imm0_src"] != ImmSrc.INSTRUCTION_IMMEDIATE) & (c["imm0_dtype"] != Dtype.FP32)


def _shapes_differ(*operands: str) -> Check:
    first, *others = operands
    return lambda c, f, i: np.logical_or.reduce(
        [(c[f"{first}.num_elem"] != c[f"{other}.num_elem"]).any(axis=1) for other in others]
    )


# Operands that lie over one another -----------------------------------------------------------------------------------------


def _reach(c: Columns, f: Facts, at: str, dtype: str) -> tuple[Any, Any, Any]:
    """The reading of an operand's address, and the first byte and the byte after the last that it touches."""
    a = addresses(c, f, at)
    size = SIZES[c[dtype]].astype(np.int64)
    span = (c[f"{at}.num_elem"].astype(np.int64) - 1) * c[f"{at}.step_elem"] * size[:, None]
    low = a.offset + np.minimum(span, 0).sum(axis=1)
    return a, low, a.offset + np.maximum(span, 0).sum(axis=1) + size


def _overlap(c: Columns, f: Facts, i: Instruction) -> Bools:
    found = np.zeros(len(c), bool)
    for source in i.reads:
        for target in i.writes:
            a, low, high = _reach(c, f, source.at, source.dtype)
            b, start, end = _reach(c, f, target.at, target.dtype)
            n = c["num_active_channels"].astype(np.int64) if "num_active_channels" in c.layout.leaves else 1
            plain = a.plain & b.plain & ~a.shape & ~b.shape & (a.psum == b.psum)
            rows = (a.partition < b.partition + n) & (b.partition < a.partition + n)
            same = (a.address == b.address) & (SIZES[c[source.dtype]] == SIZES[c[target.dtype]])
            for part in ("num_elem", "step_elem"):
                one, two = c[f"{source.at}.{part}"], c[f"{target.at}.{part}"]
                same = same & ((one == two).all(axis=1) if one.shape == two.shape else False)
            found |= plain & rows & (low < end) & (start < high) & ~same
    return found


# Public tools that refuse it ------------------------------------------------------------------------------------------------

PUBLIC_PREDICATES = (Dtype.UINT8, Dtype.UINT16, Dtype.UINT32)
PUBLIC_FOLDS = (
    AluOp.ADD, AluOp.SUBTRACT, AluOp.MULT, AluOp.MAX, AluOp.MIN, AluOp.LOGICAL_AND, AluOp.LOGICAL_OR, AluOp.LOGICAL_XOR,
)  # fmt: skip
CACHED = ("tensor_scalar_cache_reduce", "tensor_scalar_cache_cumulative")


def _indirect_dims(c: Columns, f: Facts, i: Instruction) -> Bools:
    return addresses(c, f, "src").indirect & (c["op_dim"] != TensorSubdim.X)


def _scans(c: Columns, f: Facts, i: Instruction) -> Bools:
    given = (c["imm0"] != 0) | (c["imm0_src"] != ImmSrc.INSTRUCTION_IMMEDIATE)
    return (c["op0"] != AluOp.BYPASS) | given


def _bf16_in_psum(c: Columns, f: Facts, i: Instruction) -> Bools:
    return (c["dtype"] == Dtype.BFLOAT16) & addresses(c, f, "dst").psum & (f.generation.nc_version >= 4)


ACT_PAIRS = ((AluOp.MULT, AluOp.ADD), (AluOp.MULT, AluOp.BYPASS), (AluOp.ADD, AluOp.BYPASS))


def _pairs_of_engines(machine: Machine, program: Program) -> Iterator[int]:
    for group in program.groups:
        if group.encoding is None or group.encoding.name not in TENSOR_SCALAR:
            continue
        c = group.columns
        for row, index in enumerate(group.indices.tolist()):
            engine = program.streams[index] if program.streams else None
            pair = (int(c["op0"][row]), int(c["op1"][row]))
            if (engine == "act" and pair not in ACT_PAIRS) or (engine == "pool" and pair[0] != AluOp.RSQRT):
                yield index


# Between records -------------------------------------------------------------------------------------------------------------


def _read_elsewhere(machine: Machine, program: Program) -> Iterator[int]:
    """Read-backs of lanes that the last fold of their engine did not fold."""
    folded: dict[str, tuple[int, int]] = {}
    for record in program:
        instruction = machine.instructions.get(record.name)
        if instruction is None or instruction.accumulator is None or record.opaque:
            continue
        column = Columns(record.layout, record.raw[None])
        place = addresses(column, machine.facts, instruction.writes[0].at)
        if not bool(place.plain[0]):
            continue
        engines = machine.bindings[record.name].engines
        owner = machine.engines[engines[0]].accumulators if engines else None
        lanes = (int(place.partition[0]), int(column["num_active_channels"][0]))
        if owner is None:
            continue
        if instruction.accumulator != "read":
            if column[instruction.accumulator][0] != AccumCmd.IDLE or record.name == "select_reduce":
                folded[owner] = lanes
        elif folded.get(owner, lanes) != lanes:
            yield record.index


LINTS = (
    Lint(
        name="integers_through_fp32",
        reason="32-bit integers beyond 2^24 are rounded on their way through fp32",
        cure="use an operator of the integer band or a bitvec form, or keep the numbers within 2^24",
        sources=("EVRF060", "EVRF061", "EVRF062", "EVRF063", "err_tensor_int32_add_multiply_supported_engine"),
        cases=(
            (("tensor_tensor_arith_op", "scalar_tensor_tensor_arith", "tensor_tensor_scan_arith"), _wide("src0_dtype", "src1_dtype")),
            ((*TENSOR_SCALAR, *FOLDS, "tensor_cumulative_arith_op", "tensor_scalar_ptr_multi_arith", "reciprocal", "pool",
              "max8", "activate", "activate_quantize", "activate2"), _wide("in_dtype")),
            (("cast", "tensor_scalar_affine_select"), _wide_cast("in_dtype")),
            (("cast_predicated",), _wide_cast("src1_dtype")),
            (("cross_lane_reduce_arith",), _wide_partitions),
        ),
    ),
    Lint(
        name="narrow_fold",
        reason="the fold is fp32, and its result is rounded to a narrower dtype",
        cure="write FP32, and cast where the narrow number is needed",
        sources=("reductions, section 6", "decisions 19"),
        cases=(
            ((*FOLDS, "tensor_cumulative_arith_op", "tensor_tensor_scan_arith", "tensor_scalar_cache_cumulative"), _narrow_fold),
            (("cross_lane_reduce_arith",), _narrow_partitions),
            (("pool",), lambda c, f, i: _narrow(c) & (c["pool_func"] == PoolType.AVG)),
        ),
    ),
    Lint(
        name="fp8_flavour",
        reason="dtype code 0xE is read in the flavour that this generation does not have by itself",
        cure="leave policy fp8_exp4 at the generation's default, or expect other numbers on hardware",
        sources=("EVRF051", "EVRF052"),
        cases=(((), _other_flavour),),
    ),
    Lint(
        name="ignored_immediate",
        reason="the operator takes one operand, and the immediate beside it is never used",
        cure="set the immediate and its source to zero, or choose an operator that takes it",
        sources=("tensor_scalar of the public kernel API",),
        cases=(
            ((*TENSOR_SCALAR[:1], TENSOR_SCALAR[2], "tensor_scalar_bitvec_op", "activate2"), _ignored(OP0, OP1)),
            (("scalar_tensor_tensor_arith", "scalar_tensor_tensor_bitvec", "tensor_scalar_cache_reduce"), _ignored(OP0)),
            (("select_reduce",), _unread_fill),
        ),
    ),
    Lint(
        name="immediate_dtype",
        reason="the public tools take an fp32 immediate here, from memory too",
        cure="store the immediate as FP32",
        sources=("BIR216",),
        cases=((("select_reduce",), _other_immediate),),
    ),
    Lint(
        name="shapes_differ",
        reason="the counts are equal and the shapes are not: elements pair in stream order, not by row and column",
        cure="give all operands one shape, if rows and columns are meant",
        sources=("BIR214", "BIR215"),
        cases=(
            (("copy_predicated", "cast_predicated", "select_reduce"), _shapes_differ("src0", "src1", "dst")),
            (("copy_predicated_scalar",), _shapes_differ("pred", "dst")),
        ),
    ),
    Lint(
        name="overlap",
        reason="source and destination lie over one another in different patterns: all reads come before all writes here",
        cure="keep them apart, or let them be the same bytes element by element",
        sources=("BVF029", "decisions 13"),
        cases=(((), _overlap),),
    ),
    Lint(
        name="bf16_memset_in_psum",
        reason="a compiler rule lets memset write bf16 into PSUM from core version 4 on; the header's rule of 4-byte writes does not",
        cure="write a 4-byte dtype, or go by way of SBUF",
        sources=("BIR311",),
        cases=((("memset",), _bf16_in_psum),),
        refused=True,
    ),
    Lint(
        name="predicate_dtype",
        reason="the public kernel API takes UINT8, UINT16 and UINT32 predicates here",
        cure="store the predicate unsigned",
        sources=("tensor_copy_predicated of the public kernel API",),
        cases=(
            (("copy_predicated",), lambda c, f, i: ~np.isin(c["src0_dtype"], PUBLIC_PREDICATES)),
            (("copy_predicated_scalar",), lambda c, f, i: ~np.isin(c["pred_dtype"], PUBLIC_PREDICATES)),
        ),
    ),
    Lint(
        name="xor_across_partitions",
        reason="not every edition of the public tools folds partitions with XOR, and the vector core has no primitive for it",
        cure="fold with OR or AND where that serves",
        sources=("err_par_reduce_unsupported_op",),
        cases=((("cross_lane_reduce_bitvec",), lambda c, f, i: c["reduce_op"] == ReduceOp.BITWISE_XOR),),
    ),
    Lint(
        name="unusual_fold",
        reason="the public tools reduce with add, subtract, multiply, max, min and the logical operators only",
        cure="choose one of those",
        sources=("check_tensor_reduce_supported_ops",),
        cases=((FOLDS, lambda c, f, i: ~np.isin(c["op"], PUBLIC_FOLDS) & (c["op"] < INTEGER_BAND)),),
    ),
    Lint(
        name="cached_output_dtype",
        reason="the public tools refuse INT32, UINT32 and FP32R as the output of the caching forms",
        cure="write FP32",
        sources=("BVF012", "BVF013"),
        cases=((CACHED, lambda c, f, i: np.isin(c["out_dtype"], (*WIDE, Dtype.FP32R))),),
    ),
    Lint(
        name="cumulative_operator",
        reason="the public tools scan with op0 BYPASS and a first immediate of 0",
        cure="apply op0 in an instruction of its own",
        sources=("BVF016", "BVF018"),
        cases=((("tensor_scalar_cache_cumulative",), _scans),),
    ),
    Lint(
        name="indirect_fold",
        reason="the public simulator folds what an index list names along X only",
        cure="set op_dim to X",
        sources=("sim_1929",),
        cases=(((*FOLDS, "tensor_reduce_bitvec_op", "transpose_tensor_reduce_bitvec_op"), _indirect_dims),),
    ),
    Lint(
        name="engine_operators",
        reason="the public tools send this pair of operators to another engine",
        cure="ACT takes MULT with ADD, MULT or ADD, POOL takes RSQRT; leave the rest to DVE",
        sources=("err_instruction_engine_unsupported_op_comb",),
        sequence=_pairs_of_engines,
    ),
    Lint(
        name="read_back_elsewhere",
        reason="it reads other accumulator lanes than the last fold of that engine folded",
        cure="let the destinations of the fold and of the read-back start at one partition, with one channel count",
        sources=("BVF007", "BVF011", "decisions 22"),
        sequence=_read_elsewhere,
    ),
)  # fmt: skip
"""Every lint."""
