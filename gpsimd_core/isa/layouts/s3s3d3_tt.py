"""S3S3D3_TT: two 3-D sources and a 3-D destination. Opcodes 0x41, 0x51, 0x65, 0x72, 0x99; on sunda 0x8A, 0x8B, 0x8F."""

from __future__ import annotations

from gpsimd_core.isa.enums import AluOp, Dtype
from gpsimd_core.isa.layout import U8, Tensor3D
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S3S3D3Tt"]


class S3S3D3Tt(Bundle):
    """Elementwise operators on two tensors, and the two predicated copies. Every byte is in use."""

    title = "S3S3D3_TT"
    evidence = Evidence(
        confidence="HIGH/OBSERVED",
        source="Tensor-Tensor Elementwise Arith + the ALU-OP Table; CastPredicated — opcode 0x99",
    )
    notes = (
        "Header order src0, src1, dst; a companion page that puts dst first is overruled.",
        "Plain patterns on every generation (MED): the public kernel API has indirect operands here, no header page does.",
        "The sunda binding of the packed bf16 opcodes rests on one opcode matrix (MED).",
    )
    src0_dtype = Dtype.low(12, doc="dtype of src0")
    src1_dtype = Dtype.high(12, doc="dtype of src1")
    out_dtype = Dtype.at(13, doc="dtype of dst")
    op = AluOp.at(14, doc="binary operator; the predicated copies carry BYPASS")
    num_active_channels = U8.at(15, doc="partitions processed, 1 to 128")
    src0 = Tensor3D.at(16, dtype="src0_dtype", doc="left operand; for 0x72 and 0x99 the integer predicate")
    src1 = Tensor3D.at(32, dtype="src1_dtype", doc="right operand; for 0x72 and 0x99 the data")
    dst = Tensor3D.at(
        48, dtype="out_dtype", doc="destination; 0x72 and 0x99 keep its bytes where the predicate is false"
    )
