"""Short forms for the tables of a generation: one call, one row, one fact.

A generation plugin writes its opcodes, named sets and engine bindings with these, so that its files read as tables and
every row still carries its evidence. Anybody may build the values of `gpsimd_core.values` directly instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any

from gpsimd_core.values import Encoding, EngineBinding, Evidence, NamedSet

__all__ = [
    "CARRIED",
    "INFERRED",
    "MED_CARRIED",
    "OBSERVED",
    "OPCODE_TABLE",
    "PSEUDO",
    "binder",
    "named",
    "not_executable",
    "opcode",
    "pseudo",
    "sentinel",
    "unbound",
]

OPCODE_TABLE = Evidence(
    confidence="HIGH/OBSERVED",
    source="The Opcode ↔ Kernel ↔ Engine Matrix; Cross-Generation Opcode-Table Diff + TONGA",
)
"""Who says that an opcode exists, how it is called and how it is flagged: the same pages for every generation."""

OBSERVED = "HIGH/OBSERVED"
CARRIED = "HIGH/CARRIED"
INFERRED = "MED/INFERRED"
MED_CARRIED = "MED/CARRIED"
_WEAKEST_FIRST = (INFERRED, MED_CARRIED, CARRIED, OBSERVED)

FLAGS = {"Y": "maintained", "n": "deprecated", ".": "unflagged"}
PSEUDO = "pseudo-instruction: the host runtime rewrites it, it never reaches an engine"


def opcode(
    number: int,
    name: str,
    flag: str,
    layout: type[Any] | None = None,
    *,
    kind: str = "real",
    why: str | None = None,
    evidence: Evidence = OPCODE_TABLE,
) -> Encoding:
    """One opcode of a generation.

    Args:
        number: the opcode byte.
        name: instruction name, in lower case.
        flag: `Y` maintained, `n` deprecated, `.` listed without a flag.
        layout: Layout of the operands; None where no source grounds one.
        kind: `real`, `pseudo` or `sentinel`.
        why: why nothing executes it although it is declared.
        evidence: who says so.
    """
    return Encoding(
        opcode=number, name=name, layout=layout, flag=FLAGS[flag], kind=kind, not_executable=why, evidence=evidence
    )


def pseudo(number: int, name: str, flag: str, layout: type[Any] | None = None) -> Encoding:
    """One pseudo-instruction: it decodes and validates its header, and nothing executes it."""
    return opcode(number, name, flag, layout, kind="pseudo", why=PSEUDO)


def sentinel(number: int, name: str, flag: str) -> Encoding:
    """The value that the enumeration lists and that is no opcode."""
    return opcode(number, name, flag, kind="sentinel", why="never a valid opcode: the header rule refuses it")


def not_executable(source: str) -> Evidence:
    """Evidence of an opcode that the header declares and no engine handles; `source` names who looked."""
    return Evidence(
        confidence="MED/OBSERVED",
        source=source,
        note=f"that it is declared: {OPCODE_TABLE.confidence}, {OPCODE_TABLE.source}",
    )


def named(name: str, members: Iterable[IntEnum], evidence: Evidence) -> NamedSet:
    """One named set."""
    return NamedSet(name=name, members=members, evidence=evidence)


def binder(source: str) -> Callable[..., EngineBinding]:
    """A function that writes binding rows whose evidence comes from `source`.

    Returns:
        `on(instruction, *, psum=(), note="", **engines)`: engine name to grade, first owner first. The grade of the
        row is that of its weakest engine; the note tells the grades apart where they differ.
    """

    def on(instruction: str, *, psum: Iterable[str] = (), note: str = "", **engines: str) -> EngineBinding:
        grades = set(engines.values())
        if len(grades) > 1:
            apart = ", ".join(f"{engine} {grade}" for engine, grade in engines.items())
            note = f"{apart}; {note}" if note else apart
        weakest = min(grades, key=_WEAKEST_FIRST.index)
        evidence = Evidence(confidence=weakest, source=source, note=note)
        return EngineBinding(instruction=instruction, engines=tuple(engines), psum=psum, evidence=evidence)

    return on


def unbound(instruction: str, reason: str, evidence: Evidence = OPCODE_TABLE) -> EngineBinding:
    """One instruction that no engine takes, and why."""
    return EngineBinding(instruction=instruction, reason=reason, evidence=evidence)
