"""CTRL_NO: no operand at all. Opcodes 0x23, 0xA1 to 0xA4, 0xA6."""

from __future__ import annotations

from gpsimd_core.isa.layout import zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["CtrlNo"]


class CtrlNo(Bundle):
    """Table load, halt, drain, flush, nop and notify."""

    title = "CTRL_NO"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="Activate + the PWL Application Mechanism")
    notes = ("That bytes 12 to 63 are zero is the generic rule for reserved bytes; no page states it.",)
    reserved0 = zeros.at(12, 52)
