"""tensor_tensor_scan_arith (0xE5): a recurrence along each channel, its state carried from element to element."""

from __future__ import annotations

from gpsimd_core.isa.checks import field_is, member_of, reserved_zero, rules
from gpsimd_core.isa.enums import AccumCmd, TensScalarRevOps
from gpsimd_core.isa.kernels.scan import row, run
from gpsimd_core.isa.layouts.s2s2d2_stt import S2S2D2Stt
from gpsimd_core.isa.ops.scalar_tensor_tensor import dtypes, operators, patterns
from gpsimd_core.isa.ops.shared import inline_fp32
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand, Reading

__all__ = ["TENSOR_TENSOR_SCAN_ARITH"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="TensorTensorScan (0xe5)",
    readings=(
        Reading(
            topic="recurrence",
            chosen="state = op1(op0(src0, state), src1), from imm0 on",
            beaten=("the sources are combined first and the result is prefix-scanned",),
            why="the public API states it, and it uses both operators, both sources and imm0 exactly once",
        ),
        Reading(
            topic="INT64 operands",
            chosen="refused",
            beaten=("a dtype table of the page lists them",),
            why="the dtype predicate has no 64-bit flag here",
        ),
    ),
)

RULES = rules(
    EVIDENCE,
    *dtypes(2),
    (4, inline_fp32(needs=("is_valid_dtype[imm0_dtype]",))),
    *operators(5, 6, "general_arith"),
    *patterns(8, 9),
    (11, field_is("accumulator_cmd", AccumCmd.IDLE)),
    (12, member_of("reverse_operands", TensScalarRevOps)),
    (13, reserved_zero("reserved")),
)

TENSOR_TENSOR_SCAN_ARITH = Instruction(
    name="tensor_tensor_scan_arith",
    aliases=("TensorTensorScan",),
    layout=S2S2D2Stt,
    reads=(Operand(name="data0", at="src0", dtype="src0_dtype"), Operand(name="data1", at="src1", dtype="src1_dtype")),
    writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
    immediates=("imm0",),
    rules=RULES,
    kernel=CompiledKernel(run=run, row=row),
    semantics=(
        "state = imm0; for each element k of a channel in stream order: state = op1(op0(src0[k], state), src1[k]), "
        "dst[k] = state. The state stays fp32 and is converted only where it is stored. reverse_operands swaps the "
        "operands of op0 (FIRST), op1 (SECOND) or both."
    ),
    evidence=EVIDENCE,
)
