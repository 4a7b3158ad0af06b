"""tensor_scalar_addr (0x74): 64-bit address arithmetic."""

from __future__ import annotations

from gpsimd_core.isa.checks import active_channels, field_in, member_of, reserved_zero, rules
from gpsimd_core.isa.enums import AluOp, Dtype, TensScalarRevOps
from gpsimd_core.isa.layouts.s2d2_addr import S2D2Addr
from gpsimd_core.isa.ops.shared import placed
from gpsimd_core.values import Evidence, Instruction, Operand

__all__ = ["TENSOR_SCALAR_ADDR"]

EVIDENCE = Evidence(
    confidence="MED/OBSERVED",
    source="Tensor-Scalar + Tensor-Scalar-PTR",
    note=(
        "the page has five legal shapes of operator pair, immediate dtypes and pointer flags, all of integer MULT and ADD, "
        "and does not list them: not checked"
    ),
)

TENSOR_SCALAR_ADDR = Instruction(
    name="tensor_scalar_addr",
    aliases=("TensorScalarAddr",),
    layout=S2D2Addr,
    reads=(Operand(name="data", at="src", dtype="in_dtype"),),
    writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
    rules=rules(
        EVIDENCE,
        (2, member_of("op0", AluOp)),
        (2, member_of("op1", AluOp)),
        (2, member_of("reverse_operands", TensScalarRevOps)),
        *((3, member_of(name, Dtype)) for name in ("imm0_dtype", "imm1_dtype", "in_dtype", "out_dtype")),
        (4, field_in("imm0_is_ptr", 0, 1)),
        (4, field_in("imm1_is_ptr", 0, 1)),
        *placed(5, "src", "in_dtype", "is_valid_enum[in_dtype]"),
        *placed(5, "dst", "out_dtype", "is_valid_enum[out_dtype]", write=True),
        (5, active_channels()),
        (6, reserved_zero("reserved0")),
    ),
    missing="the five legal shapes of operators, immediates and pointer flags, and what they compute",
    semantics="Decodes and validates only.",
    evidence=EVIDENCE,
)
