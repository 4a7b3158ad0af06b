"""A Machine: everything that one generation, profile and set of plugins determine, frozen.

The builder in `host.py` makes it. It holds tables only; its verbs (`decode`, `encode`, `assemble`, `disassemble`,
`validate`) hand on to the stations above and import them when called.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.errors import UsageError
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.layout import RecordLayout
from gpsimd_core.values import Activation, Encoding, Engine, EngineBinding, Generation, Instruction, Rule

if TYPE_CHECKING:
    from gpsimd_core.program import Program, Report

__all__ = ["BoundRule", "Hooks", "Machine", "suggest"]


@frozen(kw_only=True)
class BoundRule:
    """A rule in its instruction's list: where its needs stand, and whether it only warns here."""

    rule: Rule
    needs: tuple[int, ...]
    """Positions of the rules it stands on."""
    warning: bool


@frozen(kw_only=True)
class RuleBook:
    """The rules of one instruction in the order of the report, and the order to evaluate them in."""

    rules: tuple[BoundRule, ...]
    order: tuple[int, ...]


@frozen(kw_only=True)
class Hooks:
    """The hooks that a run still needs, bound to their plugins."""

    load_program: Callable[[bytes, str, Machine], Any]
    observers: Callable[[Machine], tuple[Callable[[Any], None], ...]]
    run: Callable[[Any, Any], Any]
    blobs: Callable[[Generation], tuple[Any, ...]]


@frozen(kw_only=True, eq=False)
class Machine:
    """One generation under one profile, ready to decode, validate and execute."""

    generation: Generation
    profile: str
    policies: Mapping[str, str | int]
    overridden: Mapping[str, str | int]
    """Policies that the caller set."""
    opcodes: Mapping[int, Encoding]
    layouts: Mapping[int, RecordLayout]
    """Opcode to layout; opaque records have the opaque layout."""
    instructions: Mapping[str, Instruction]
    books: Mapping[str, RuleBook]
    """Rules by encoding name; opcodes without an instruction have the rules of every record."""
    sets: Mapping[str, frozenset[IntEnum]]
    engines: Mapping[str, Engine]
    bindings: Mapping[str, EngineBinding]
    formats: Mapping[int, Any]
    """Wire dtype code to Format, as the policies say."""
    activations: Mapping[int, Activation]
    """Number to activation function."""
    facts: Facts
    owners: Mapping[tuple[str, str], str]
    """(kind, name) to the plugin that gave it."""
    warnings: tuple[str, ...] = ()
    """Plugins that did not load, and why."""
    hooks: Hooks = field(repr=False)

    @functools.cached_property
    def names(self) -> Mapping[str, int]:
        """Every name of every opcode, lower case, to the opcode byte."""
        found: dict[str, int] = {}
        for opcode, encoding in self.opcodes.items():
            instruction = self.instructions.get(encoding.name)
            for name in (encoding.name, *(instruction.aliases if instruction else ())):
                found[name.lower()] = opcode
        return found

    @functools.cached_property
    def format_table(self) -> np.ndarray[Any, Any]:
        """The dtype table that kernels index by wire code: int64, one row for each of 256 codes."""
        from gpsimd_core.isa.formats import format_table

        return format_table(self.formats, self.policies)

    def opcode_of(self, name: str | int) -> int:
        """The opcode byte of an instruction's name, alias, or number (`0xEA`).

        Raises:
            UsageError: this generation has no such opcode.
        """
        if isinstance(name, int):
            text, opcode = f"0x{name:02X}", name
        else:
            text = name
            opcode = self.names.get(name.lower(), -1)
            if opcode < 0:
                try:
                    opcode = int(name, 0)
                except ValueError:
                    close = suggest(name.lower(), self.names)
                    raise UsageError(f"{self.generation.name} has no instruction {name!r}{close}") from None
        if opcode not in self.opcodes:
            raise UsageError(f"{self.generation.name} does not declare opcode {text}")
        return opcode

    def engines_of(self, name: str) -> tuple[str, ...]:
        """The engines that take an instruction, first owner first; empty where none does."""
        return self.bindings[self.opcodes[self.opcode_of(name)].name].engines

    def aliases(self, name: str) -> tuple[str, ...]:
        """The other names of an instruction."""
        instruction = self.instructions.get(name)
        return instruction.aliases if instruction else ()

    # Verbs: each is a plain function of the module named.

    def decode(self, data: Any) -> Program:
        """Records as a Program. See `gpsimd_core.program.decode`."""
        from gpsimd_core.program import decode

        return decode(self, data)

    def encode(self, name: str, **fields: Any) -> bytes:
        """One record of 64 bytes. See `gpsimd_core.program.encode`."""
        from gpsimd_core.program import encode

        return encode(self, name, **fields)

    def validate(self, program: Any) -> Report:
        """Check every rule. See `gpsimd_core.pipeline.validate`."""
        from gpsimd_core.pipeline import validate

        return validate(self, program)

    def assemble(self, text: str, name: str = "<text>") -> Program:
        """A Program from assembly text. See `gpsimd_core.assembly.assemble`."""
        from gpsimd_core.assembly import assemble

        return assemble(self, text, name)

    def disassemble(self, program: Any) -> str:
        """Assembly text of a Program. See `gpsimd_core.assembly.disassemble`."""
        from gpsimd_core.assembly import disassemble

        return disassemble(self, program)


def suggest(name: str, known: Any) -> str:
    """`; did you mean ...?`, or nothing."""
    import difflib

    close = difflib.get_close_matches(name, list(known), n=3)
    return f"; did you mean {' or '.join(close)}?" if close else ""
