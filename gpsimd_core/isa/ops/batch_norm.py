"""batch_norm_back_prop (0x65): the one batch-norm form with rules of its own."""

from __future__ import annotations

from gpsimd_core.isa.checks import dtype_in, field_is, rules
from gpsimd_core.isa.enums import AluOp
from gpsimd_core.isa.layouts.s3s3d3_tt import S3S3D3Tt
from gpsimd_core.isa.ops.tensor_tensor import READS, WRITES, matched
from gpsimd_core.values import Evidence, Instruction

__all__ = ["BATCH_NORM_BACK_PROP"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED", source="POOL/ACT Compute Gap-Cluster", note="that the dtypes are floating is MED"
)

BATCH_NORM_BACK_PROP = Instruction(
    name="batch_norm_back_prop",
    aliases=("BatchNormalizeBackProp",),
    layout=S3S3D3Tt,
    reads=READS,
    writes=WRITES,
    rules=rules(
        EVIDENCE,
        (2, dtype_in("out_dtype", "fp_datapath")),
        (2, dtype_in("src0_dtype", "fp_datapath")),
        (2, dtype_in("src1_dtype", "fp_datapath")),
        (5, field_is("op", AluOp.BYPASS)),
        *matched(6, 7, 7, "dtype_in"),
    ),
    missing="the formula of the backward pass and the place of its parameters",
    semantics="Decodes and validates only.",
    evidence=EVIDENCE,
)
