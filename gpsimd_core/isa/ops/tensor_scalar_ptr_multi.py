"""tensor_scalar_ptr_multi: one preloaded scalar a row (0x4F, 0x5F; on sunda 0x87, 0x88), and the preload (0x70, 0x71)."""

from __future__ import annotations

from gpsimd_core.isa.checks import (
    active_channels,
    addresses,
    dtype_valid,
    field_in,
    field_is,
    member_of,
    reserved_zero,
    rule,
    rules,
    same_count,
)
from gpsimd_core.isa.enums import AluOp, ImmSrcN, TensorSubdim, TensScalarRevOps
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.combine import crc32_missing
from gpsimd_core.isa.kernels.elementwise import run
from gpsimd_core.isa.kernels.elementwise_plan import scalars_loaded, slices_bitvec_row, slices_row
from gpsimd_core.isa.kernels.pointer_scalars import preload_arith, preload_bitvec
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s2_bn import S2Bn
from gpsimd_core.isa.layouts.s4d4_tsm import S4D4Tsm
from gpsimd_core.isa.ops.shared import BITVEC_DTYPES, Bools, Rows, count_in, operator_in, placed, same_dtype, valid
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand, Reading, Rule

__all__ = [
    "TENSOR_SCALAR_IMM_LD_ARITH",
    "TENSOR_SCALAR_IMM_LD_BITVEC",
    "TENSOR_SCALAR_PTR_MULTI_ARITH",
    "TENSOR_SCALAR_PTR_MULTI_BITVEC",
    "TENSOR_SCALAR_PTR_MULTI_DUAL_ARITH",
    "TENSOR_SCALAR_PTR_MULTI_DUAL_BITVEC",
]

EVIDENCE = Evidence(confidence="HIGH/OBSERVED", source="SUNDA-only Dual / Deprecated TensorScalarPtr")
DUAL = Evidence(
    confidence="HIGH/OBSERVED",
    source=EVIDENCE.source,
    note="grounded for 0x87; that 0x88 has the same limits is PROPOSED",
)
LOAD = Evidence(
    confidence="HIGH/OBSERVED",
    source="TensorScalarImmLd",
    readings=(
        Reading(
            topic="whose scalars an instruction uses",
            chosen="those of the lanes at its destination's partitions; the preload fills the lanes at its source's",
            beaten=("those at its source's partitions",),
            why="accumulators are indexed by the destination as well: PROPOSED",
        ),
        Reading(
            topic="what 0x70 keeps",
            chosen="fp32 bits; 0x71 keeps raw words",
            beaten=("the elements as they lie, read again by each use",),
            why="arithmetic reads every operand into fp32: PROPOSED",
        ),
    ),
)

DTYPES: dict[str, Rows] = {
    "general_arith": ((2, dtype_valid("in_dtype")), (2, dtype_valid("out_dtype", fp32r=True))),
    "bitvec": (
        (2, field_in("in_dtype", *BITVEC_DTYPES)),
        (2, same_dtype("in_dtype", "out_dtype", needs=("field_in[in_dtype]",))),
    ),
}
GATES = {
    "general_arith": ("is_valid_dtype[in_dtype]", "is_valid_dtype[out_dtype]"),
    "bitvec": ("field_in[in_dtype]", "same_dtype[in_dtype,out_dtype]"),
}


ROWS = {"general_arith": slices_row, "bitvec": slices_bitvec_row}


def scalars_used(most: int) -> Rule:
    """The outermost source count, which is the number of scalars; waived where a shape register gives it."""

    def check(c: Columns, f: Facts) -> Bools:
        used = c["src.num_elem"][:, 3]
        return addresses(c, f, "src").shape | ((used >= 1) & (used <= most))

    return rule(
        "scalars_used", "src", ("src.num_elem",), check, f"1 to {most} in the outermost dimension", needs=valid("src")
    )


def multi(name: str, alias: str, operators: str, *, dual: bool) -> Instruction:
    """One form: its operator set, and whether a second scalar of each pair multiplies."""
    evidence = DUAL if dual else EVIDENCE
    source_gate, target_gate = GATES[operators]
    reverse = (
        member_of("reverse_operands", TensScalarRevOps)
        if dual
        else field_in("reverse_operands", TensScalarRevOps.NONE, TensScalarRevOps.BOTH)
    )
    return Instruction(
        name=name,
        aliases=(alias,),
        layout=S4D4Tsm,
        reads=(Operand(name="data", at="src", dtype="in_dtype"),),
        writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
        rules=rules(
            evidence,
            (1, member_of("op", AluOp)),
            (1, operator_in("op", operators, needs=("is_valid_enum[op]",))),
            *DTYPES[operators],
            (3, field_is("op_dim", TensorSubdim.XYZ)),
            *placed(3, "src", "in_dtype", source_gate),
            *placed(3, "dst", "out_dtype", target_gate, write=True),
            (3, active_channels()),
            (3, same_count("src", "dst", needs=valid("src", "dst"))),
            (3, reserved_zero("reserved0", "reserved1")),
            (4, scalars_used(4 if dual else 8)),
            (5, reverse),
        ),
        kernel=None if dual else CompiledKernel(run=run, row=ROWS[operators]),
        ready=scalars_loaded,
        unsupported=crc32_missing,
        semantics=(
            "Row w of the outermost dimension uses the preloaded scalar w of its channel: dst[w] = op(src[w], scalar[w]), "
            "operands swapped under BOTH." + (" A second scalar of each pair then multiplies." if dual else "")
        ),
        evidence=evidence,
    )


def load(name: str, alias: str, dtype: Rule) -> Instruction:
    """One preload, with its dtype rule."""
    return Instruction(
        name=name,
        aliases=(alias,),
        layout=S2Bn,
        reads=(Operand(name="scalars", at="src", dtype="dtype"),),
        rules=rules(
            LOAD,
            (2, dtype),
            *placed(3, "src", "dtype", dtype.name),
            (3, active_channels()),
            (4, count_in("src", 1, 8)),
            (5, member_of("imm0_src", ImmSrcN)),
            (6, reserved_zero("reserved0", "reserved1", "reserved2", "reserved3")),
        ),
        kernel=preload_arith if name.endswith("arith") else preload_bitvec,
        semantics="Keeps the elements of src as the scalars of each channel until they are loaded again.",
        evidence=LOAD,
    )


TENSOR_SCALAR_PTR_MULTI_ARITH = multi(
    "tensor_scalar_ptr_multi_arith", "TensorScalarPtrMultiArith", "general_arith", dual=False
)
TENSOR_SCALAR_PTR_MULTI_BITVEC = multi(
    "tensor_scalar_ptr_multi_bitvec", "TensorScalarPtrMultiBitvec", "bitvec", dual=False
)
TENSOR_SCALAR_PTR_MULTI_DUAL_ARITH = multi(
    "tensor_scalar_ptr_multi_dual_arith", "TensorScalarPtrMultiDualArith", "general_arith", dual=True
)
TENSOR_SCALAR_PTR_MULTI_DUAL_BITVEC = multi(
    "tensor_scalar_ptr_multi_dual_bitvec", "TensorScalarPtrMultiDualBitvec", "bitvec", dual=True
)
TENSOR_SCALAR_IMM_LD_ARITH = load("tensor_scalar_imm_ld_arith", "TensorScalarImmLdArith", dtype_valid("dtype"))
TENSOR_SCALAR_IMM_LD_BITVEC = load(
    "tensor_scalar_imm_ld_bitvec", "TensorScalarImmLdBitvec", field_in("dtype", *BITVEC_DTYPES)
)
