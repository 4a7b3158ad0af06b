"""PSEUDO_LOAD_ACT_FUNC_SET: the compiler's wish for a set of activation tables. Opcode 0xC6."""

from __future__ import annotations

from gpsimd_core.isa.layout import U8, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["PseudoLoadActFuncSet"]


class PseudoLoadActFuncSet(Bundle):
    """Rewritten before execution; a machine never runs it."""

    title = "PSEUDO_LOAD_ACT_FUNC_SET"
    evidence = Evidence(confidence="HIGH/OBSERVED", source="Activate + the PWL Application Mechanism")
    act_set_name = U8.at(12, count=32, doc="name of the table set")
    reserved0 = zeros.at(44, 20)
