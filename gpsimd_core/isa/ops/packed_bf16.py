"""The packed bf16 forms of sunda: tensor-tensor (0x8A, 0x8B, 0x8F) and reductions (0x8C, 0x8D)."""

from __future__ import annotations

from gpsimd_core.isa.checks import active_channels, addresses, field_in, field_is, reserved_zero, rule, rules
from gpsimd_core.isa.enums import AluOp, Dtype
from gpsimd_core.isa.kernels.elementwise import run as run_elementwise
from gpsimd_core.isa.kernels.elementwise_plan import tensor_row
from gpsimd_core.isa.kernels.reduce import reduce_row
from gpsimd_core.isa.kernels.reduce import run as run_fold
from gpsimd_core.isa.layouts.s3s3d3_tt import S3S3D3Tt
from gpsimd_core.isa.layouts.s4d4_tr import S4D4Tr
from gpsimd_core.isa.ops.shared import SUBDIMS, Rows, placed, reduced_count, valid
from gpsimd_core.isa.ops.tensor_tensor import matched
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand, Rule

__all__ = [
    "TENSOR_REDUCE_ADD_BF16",
    "TENSOR_REDUCE_MAX_BF16",
    "TENSOR_TENSOR_ADD_BF16",
    "TENSOR_TENSOR_MULT_BF16",
    "TENSOR_TENSOR_SUB_BF16",
]

EVIDENCE = Evidence(
    confidence="MED/OBSERVED",
    source="Gen-Bracket Extremes — MAVERICK INT_WIDE + SUNDA BF16",
    note="the layout rests on one opcode matrix",
)


def inner_step(operand: str) -> Rule:
    """The innermost step is 1."""
    leaf = f"{operand}.step_elem"
    return rule("inner_step", operand, (leaf,), lambda c, f: c[leaf][:, 0] == 1, "1 in the innermost dimension")


def inner_even(operand: str) -> Rule:
    """The innermost count is even; waived where a shape register gives it."""
    leaf = f"{operand}.num_elem"
    return rule(
        "inner_count_even", operand, (leaf,), lambda c, f: addresses(c, f, operand).shape | (c[leaf][:, 0] % 2 == 0),
        "an even innermost count", needs=valid(operand),
    )  # fmt: skip


def bf16(*names: str) -> Rows:
    """These dtypes are BFLOAT16."""
    return tuple((2, field_is(name, Dtype.BFLOAT16)) for name in names)


def tensor_tensor(name: str, alias: str, op: AluOp) -> Instruction:
    """One of the elementwise forms."""
    return Instruction(
        name=name,
        aliases=(alias,),
        layout=S3S3D3Tt,
        reads=(
            Operand(name="left", at="src0", dtype="src0_dtype"),
            Operand(name="right", at="src1", dtype="src1_dtype"),
        ),
        writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
        rules=rules(
            EVIDENCE,
            *bf16("src0_dtype", "src1_dtype", "out_dtype"),
            (3, field_is("op", op)),
            *((4, inner_step(operand)) for operand in ("src0", "src1", "dst")),
            *((4, inner_even(operand)) for operand in ("src0", "src1", "dst")),
            *matched(5, 6, 6, "field_is"),
        ),
        kernel=CompiledKernel(run=run_elementwise, row=tensor_row),
        semantics=f"tensor_tensor_arith_op with {op.name} on bf16 operands.",
        evidence=EVIDENCE,
    )


def tensor_reduce(name: str, alias: str, op: AluOp) -> Instruction:
    """One of the reductions."""
    return Instruction(
        name=name,
        aliases=(alias,),
        layout=S4D4Tr,
        reads=(Operand(name="data", at="src", dtype="in_dtype"),),
        writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
        rules=rules(
            EVIDENCE,
            (1, reserved_zero("reserved1")),
            *bf16("in_dtype", "out_dtype"),
            (3, field_is("op", op)),
            (3, field_is("negated", 0)),
            (3, field_is("mask_enable", 0)),
            (4, field_in("op_dim", *SUBDIMS)),
            (4, inner_step("src")),
            (4, inner_even("src")),
            (4, inner_step("dst")),
            (5, reduced_count("src", "dst", "op_dim", needs=(*valid("src", "dst"), "field_in[op_dim]"))),
            *placed(5, "src", "in_dtype", "field_is[in_dtype]"),
            *placed(5, "dst", "out_dtype", "field_is[out_dtype]", write=True),
            (5, active_channels()),
        ),
        kernel=CompiledKernel(run=run_fold, row=reduce_row),
        semantics=f"tensor_reduce_arith_op with {op.name} on bf16 operands.",
        evidence=EVIDENCE,
    )


TENSOR_TENSOR_ADD_BF16 = tensor_tensor("tensor_tensor_add_bf16", "TensorTensorAddBf16", AluOp.ADD)
TENSOR_TENSOR_MULT_BF16 = tensor_tensor("tensor_tensor_mult_bf16", "TensorTensorMultBf16", AluOp.MULT)
TENSOR_TENSOR_SUB_BF16 = tensor_tensor("tensor_tensor_sub_bf16", "TensorTensorSubBf16", AluOp.SUBTRACT)
TENSOR_REDUCE_ADD_BF16 = tensor_reduce("tensor_reduce_add_bf16", "TensorReduceAddBf16", AluOp.ADD)
TENSOR_REDUCE_MAX_BF16 = tensor_reduce("tensor_reduce_max_bf16", "TensorReduceMaxBf16", AluOp.MAX)
