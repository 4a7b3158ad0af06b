"""CUSTOM_OP_HEADER: first record of a custom operation. Opcode 0x85."""

from __future__ import annotations

from gpsimd_core.isa.layout import U8, U16, U32, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["CustomOpHeader"]


class CustomOpHeader(Bundle):
    """Names the function and how many payload records follow."""

    title = "CUSTOM_OP_HEADER"
    evidence = Evidence(confidence="MED/OBSERVED", source="custom-op validators")
    notes = (
        "Grounded on sunda; on the other generations this layout is MED, and nothing executes it there.",
        "Bytes 17 to 19 and the width of scratch_parts follow by elimination.",
    )
    num_payloads = U16.at(12, doc="payload records that follow")
    function_id = U8.at(14, doc="which function")
    num_arguments = U8.at(15, doc="how many arguments it takes")
    has_scratch = U8.at(16, doc="1 where scratch memory is given, else 0")
    gap17 = zeros.at(17, 3)
    scratch_addr = U32.at(20, doc="address of the scratch memory")
    scratch_size = U32.at(24, doc="its size in bytes")
    scratch_parts = U32.at(28, doc="its partitions")
    reserved2 = zeros.at(32, 32)
