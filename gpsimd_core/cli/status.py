"""How far the grounded facts carry an opcode, in one word and a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpsimd_core.isa.layouts.common import Opaque

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["STATUSES", "status"]

STATUSES = {
    "executes": "decodes, validates and executes",
    "validates": "decodes and validates by its own rules; executing it is Unsupported",
    "decodes": "has a layout; validates by the rules of every record; executing it is Unsupported",
    "opaque": "no source grounds its operands: it round-trips, header and events are checked",
    "not executable": "declared, and nothing executes it: a fault when it is reached",
}


def status(machine: Machine, opcode: int) -> tuple[str, str]:
    """A word of STATUSES, and the reason where it does not execute (else empty)."""
    encoding = machine.opcodes[opcode]
    binding = machine.bindings[encoding.name]
    if encoding.not_executable:
        return "not executable", encoding.not_executable
    if not binding.engines:
        return "not executable", f"no engine: {binding.reason}"
    if machine.layouts[opcode].cls is Opaque:
        return "opaque", "no source grounds the layout of its operands"
    instruction = machine.instructions.get(encoding.name)
    if instruction is None:
        return "decodes", "no source grounds its rules and what it computes"
    if instruction.kernel is None:
        return "validates", instruction.missing or "no source grounds what it computes"
    return "executes", ""
