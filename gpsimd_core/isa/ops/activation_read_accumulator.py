"""activation_read_accumulator (0x24): the ACT accumulator of each lane, into one element per channel."""

from __future__ import annotations

from gpsimd_core.isa.checks import (
    active_channels,
    field_in,
    field_is,
    reserved_zero,
    rules,
    start_partition,
    tensor_valid,
)
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.kernels.read_accumulator import row, run
from gpsimd_core.isa.layouts.d1_rd import D1Rd
from gpsimd_core.isa.ops.dve_read_accumulator import one_element
from gpsimd_core.isa.ops.shared import CHANNELS, valid
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand

__all__ = ["ACTIVATION_READ_ACCUMULATOR"]

EVIDENCE = Evidence(confidence="HIGH/OBSERVED", source="Activate + the PWL Application Mechanism")

RULES = rules(
    EVIDENCE,
    (2, field_in("dtype", Dtype.FP16, Dtype.BFLOAT16, Dtype.FP32, Dtype.FP32R)),
    (3, active_channels()),
    (4, start_partition("dst", needs=(CHANNELS,))),
    (5, tensor_valid("dst", "dtype", write=True, needs=("field_in[dtype]",))),
    (6, one_element("dst", needs=valid("dst"))),
    (7, field_is("dst_element_count", 1)),
    (8, field_is("negated", 0)),
    (9, reserved_zero("reserved0", "reserved1", "reserved2")),
)

ACTIVATION_READ_ACCUMULATOR = Instruction(
    name="activation_read_accumulator",
    aliases=("ActivationReadAccumulator",),
    layout=D1Rd,
    writes=(Operand(name="out", at="dst", dtype="dtype"),),
    rules=RULES,
    accumulator="read",
    kernel=CompiledKernel(run=run, row=row),
    semantics=(
        "dst of channel c = the ACT accumulator of the partition that dst names plus c, converted to dtype. The "
        "accumulator keeps its value."
    ),
    evidence=EVIDENCE,
)
