"""Lints: legal records that lose or leave out something that a person would want to know about.

A lint is no rule: the record runs, and does what it says. Lints are asked for (`gpsimd validate --lint`), and judged on
whole streams at once, as rules are. Their table is `lintrows.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

from gpsimd_core.lintrows import LINTS, Lint
from gpsimd_core.machine import Machine
from gpsimd_core.pipeline import validate
from gpsimd_core.program import Group, Program, decode
from gpsimd_core.report import Report

__all__ = ["LINTS", "Finding", "Lint", "lint"]


@frozen(kw_only=True)
class Finding:
    """A lint that applies to a record."""

    index: int
    name: str
    """Instruction."""
    lint: str
    reason: str
    cure: str

    def __str__(self) -> str:
        return f"instruction {self.index} (byte 0x{self.index * 64:x}), {self.name}: {self.lint}: {self.reason}; {self.cure}"


def lint(machine: Machine, program: Any, report: Report | None = None) -> tuple[Finding, ...]:
    """What there is to say about the records of a program that break no rule.

    Args:
        machine: whose instructions.
        program: a Program, bytes or uint8 array.
        report: its validation, if it was done already.

    Returns:
        Findings, by record.
    """
    program = decode(machine, program)
    broken = {v.index for v in (report or validate(machine, program)).violations}
    found = [
        Finding(index=i, name=program[i].name, lint=one.name, reason=one.reason, cure=one.cure)
        for one in LINTS
        for i in _where(machine, program, one)
        if (i in broken) == one.refused
    ]
    return tuple(sorted(found, key=lambda f: (f.index, f.lint)))


def _where(machine: Machine, program: Program, one: Lint) -> Iterator[int]:
    if one.sequence is not None:
        yield from one.sequence(machine, program)
    for group in program.groups:
        instruction = machine.instructions.get(group.encoding.name) if group.encoding else None
        for names, check in one.cases:
            if instruction is not None and (not names or instruction.name in names):
                yield from _rows(group, check(group.columns, machine.facts, instruction))


def _rows(group: Group, applies: Any) -> list[int]:
    hits = np.broadcast_to(np.asarray(applies, bool), (len(group.columns),))
    return [int(i) for i in group.indices[hits]]
