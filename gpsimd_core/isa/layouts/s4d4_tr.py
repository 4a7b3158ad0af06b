"""S4D4_TR: a 4-D source into a 4-D destination.

Opcodes 0x42, 0x46, 0x47, 0x48, 0x4E, 0x52, 0x5E, 0x6A, 0x6B, 0x83, 0x84; on sunda 0x8C, 0x8D.
"""

from __future__ import annotations

from gpsimd_core.isa.enums import AluOp, Dtype, TensorSubdim
from gpsimd_core.isa.layout import U8, Tensor4D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["S4D4Tr"]


class S4D4Tr(Bundle):
    """Reductions over inner dimensions, scans, copies and the two stream permutations."""

    title = "S4D4_TR"
    evidence = Evidence(
        confidence="HIGH/OBSERVED",
        source=(
            "Tensor-Reduce (cross-partition); Cast and Copy — 0x47/0x46; TensorCumulative (0x4E/0x5E); StreamTranspose"
        ),
    )
    notes = (
        "0x46 copies and 0x47 casts: the opcode listing overrules a page that counts both among the reductions.",
        "The sunda binding of the packed bf16 reductions rests on one opcode matrix (MED).",
    )
    src = Tensor4D.at(12, dtype="in_dtype", mem_pattern=True, doc="source")
    in_dtype = Dtype.at(32, doc="dtype of src")
    out_dtype = Dtype.at(33, doc="dtype of dst")
    num_active_channels = U8.at(34, doc="partitions processed, 1 to 128")
    negated = U8.at(35, doc="1 flips the sign of an arithmetic result, 0 leaves it")
    op = AluOp.at(36, doc="operator of the fold or scan; BYPASS where nothing is computed")
    op_dim = TensorSubdim.at(37, doc="inner dimensions that are folded or scanned")
    mask_enable = U8.at(38, doc="1 only on 0x6B, where it is Unsupported to execute")
    reserved1 = zeros.at(39, 5)
    dst = Tensor4D.at(44, dtype="out_dtype", mem_pattern=True, doc="destination")
