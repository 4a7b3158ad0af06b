"""dve_read_accumulator (0x9B): the DVE accumulator of each lane, into one element per channel."""

from __future__ import annotations

from gpsimd_core.isa.addresses import every
from gpsimd_core.isa.checks import (
    active_channels,
    addresses,
    dtype_in,
    field_in,
    field_is,
    reserved_zero,
    rule,
    rules,
    start_partition,
    tensor_valid,
)
from gpsimd_core.isa.kernels.read_accumulator import row, run
from gpsimd_core.isa.layouts.d1_rd import D1Rd
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand, Reading, Rule

__all__ = ["DVE_READ_ACCUMULATOR", "one_element"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="DVE State Read-Back",
    readings=(
        Reading(
            topic="after reading",
            chosen="the accumulator keeps its value",
            beaten=("reading clears it",),
            why="no page shows a clear",
        ),
        Reading(
            topic="which lanes",
            chosen="at partition p, lanes p to p + n - 1, whatever wrote them",
            beaten=("the lanes of the instruction before",),
            why="the accumulator is a register of each lane, indexed by partition",
        ),
    ),
)


def one_element(operand: str, needs: tuple[str, ...]) -> Rule:
    """The destination pattern holds one element a channel; waived where a shape register gives the count."""
    return rule(
        "one_element", operand, (f"{operand}.num_elem",),
        lambda c, f: addresses(c, f, operand).shape | every(c[f"{operand}.num_elem"] == 1), "1",
        needs=needs,
    )  # fmt: skip


RULES = rules(
    EVIDENCE,
    (2, dtype_in("dtype", "dve_read_accumulator_out")),
    (3, active_channels()),
    (4, start_partition("dst", needs=("check_active_channels",))),
    (5, tensor_valid("dst", "dtype", write=True, needs=("dtype_in[dtype]",))),
    (6, one_element("dst", needs=("tensor_valid[dst]",))),
    (7, field_is("dst_element_count", 1)),
    (8, field_in("negated", 0, 1)),
    (9, reserved_zero("reserved0", "reserved1", "reserved2")),
)  # fmt: skip

DVE_READ_ACCUMULATOR = Instruction(
    name="dve_read_accumulator",
    aliases=("DveReadAccumulator",),
    layout=D1Rd,
    writes=(Operand(name="out", at="dst", dtype="dtype"),),
    rules=RULES,
    kernel=CompiledKernel(run=run, row=row),
    accumulator="read",
    semantics=(
        "dst of channel c = the DVE accumulator of the partition that dst names plus c, its sign flipped first when negated "
        "is 1, converted to dtype. FP32 is an identity copy. The accumulator keeps its value."
    ),
    evidence=EVIDENCE,
)
