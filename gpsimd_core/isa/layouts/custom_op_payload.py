"""CUSTOM_OP_PAYLOAD: an argument of a custom operation. Opcode 0x86."""

from __future__ import annotations

from gpsimd_core.isa.enums import CustomOpArgType
from gpsimd_core.isa.layout import U8, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["CustomOpPayload"]


class CustomOpPayload(Bundle):
    """Follows a CUSTOM_OP_HEADER record."""

    title = "CUSTOM_OP_PAYLOAD"
    evidence = Evidence(confidence="MED/OBSERVED", source="custom-op validators")
    notes = ("Grounded on sunda; on the other generations this layout is MED, and nothing executes it there.",)
    reserved0 = zeros.at(12, 3)
    arg_type = CustomOpArgType.at(15, doc="tensor or array")
    arg = U8.at(16, count=48, doc="body of the argument")
