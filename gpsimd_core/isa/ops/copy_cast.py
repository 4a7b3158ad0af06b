"""copy (0x46), cast (0x47), reciprocal (0x48): one source element to one destination element."""

from __future__ import annotations

from gpsimd_core.isa.checks import active_channels, dtype_valid, field_in, field_is, reserved_zero, rules, same_count
from gpsimd_core.isa.enums import AluOp, TensorSubdim
from gpsimd_core.isa.kernels.moves import cast, copy, reciprocal
from gpsimd_core.isa.layouts.s4d4_tr import S4D4Tr
from gpsimd_core.isa.ops.shared import INDEX_LISTS, Rows, placed, same_dtype, valid
from gpsimd_core.values import Evidence, Instruction, Operand, Reading

__all__ = ["CAST", "COPY", "READS", "RECIPROCAL", "SAME_DTYPE", "WRITES"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="Cast and Copy — 0x47/0x46",
    readings=(
        Reading(
            topic="which of 0x42, 0x46, 0x47, 0x52 reduce",
            chosen="0x42 and 0x52",
            beaten=("0x46 and 0x47 as well",),
            why="the opcode listing of four generations",
        ),
        Reading(
            topic="floating to integer",
            chosen="nearest even, then saturate",
            beaten=("toward zero",),
            why="the public release note; the Cast page truncates",
            policy="fp_to_int",
        ),
        INDEX_LISTS,
    ),
)
RECIPROCAL_EVIDENCE = Evidence(confidence="HIGH/OBSERVED", source="POOL/ACT Compute Gap-Cluster")

SAME_DTYPE = same_dtype("in_dtype", "out_dtype", needs=("is_valid_dtype[in_dtype]", "is_valid_dtype[out_dtype]"))

HEAD: Rows = (
    (1, reserved_zero("reserved1")),
    (2, dtype_valid("in_dtype")),
    (2, dtype_valid("out_dtype", fp32r=True)),
)
REST: Rows = (
    (4, field_is("op", AluOp.BYPASS)),
    (4, field_is("negated", 0)),
    (4, field_is("mask_enable", 0)),
    (4, field_in("op_dim", TensorSubdim.UNUSED, TensorSubdim.X)),
    (5, same_count("src", "dst", needs=valid("src", "dst"))),
    *placed(5, "src", "in_dtype", "is_valid_dtype[in_dtype]", mem_pattern=True),
    *placed(5, "dst", "out_dtype", "is_valid_dtype[out_dtype]", write=True, mem_pattern=True),
    (5, active_channels()),
)

READS = (Operand(name="data", at="src", dtype="in_dtype"),)
WRITES = (Operand(name="out", at="dst", dtype="out_dtype"),)

COPY = Instruction(
    name="copy",
    aliases=("TensorCopy",),
    layout=S4D4Tr,
    reads=READS,
    writes=WRITES,
    rules=rules(EVIDENCE, *HEAD, (3, SAME_DTYPE), *REST),
    kernel=copy,
    semantics="dst[k] takes the bits of src[k].",
    evidence=EVIDENCE,
)

CAST = Instruction(
    name="cast",
    aliases=("TensorCast",),
    layout=S4D4Tr,
    reads=READS,
    writes=WRITES,
    rules=rules(EVIDENCE, *HEAD, *REST),
    kernel=cast,
    semantics="dst[k] = src[k] through fp32 to out_dtype; its bits when the dtypes are equal.",
    evidence=EVIDENCE,
)

RECIPROCAL = Instruction(
    name="reciprocal",
    aliases=("Reciprocal",),
    layout=S4D4Tr,
    reads=READS,
    writes=WRITES,
    rules=rules(RECIPROCAL_EVIDENCE, *HEAD, *REST),
    kernel=reciprocal,
    semantics="dst[k] = 1 / src[k] in fp32, correctly rounded; infinity with the sign of a zero.",
    evidence=RECIPROCAL_EVIDENCE,
)
