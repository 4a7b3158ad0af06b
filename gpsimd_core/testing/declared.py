"""Checks of what a plugin declares: names, rules, layouts, evidence, vectors. Each returns what is wrong, as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gpsimd_core.errors import GpsimdError
from gpsimd_core.isa.checks import COMMON_RULES
from gpsimd_core.isa.layouts.common import Opaque
from gpsimd_core.testing.mutations import rules_alone
from gpsimd_core.values import Evidence, Instruction, Rule
from gpsimd_core.vectors.report import PASSED, Outcome

if TYPE_CHECKING:
    from gpsimd_core.testing.conformance import Subject

__all__ = ["CHECKS"]

CONFIDENCE = re.compile(r"(HIGH|MED|LOW)(/(OBSERVED|INFERRED|CARRIED))?|PROPOSED")
RANDOM_RECORDS, MEMBER_RECORDS = 2, 6
MOST = 8
"""Problems of one kind that a message shows."""


def unique_names(subject: Subject) -> list[str]:
    """The machine can be built, and no two opcodes share a name or alias."""
    if subject.trouble:
        return [subject.trouble]
    machine = subject.machine
    holders: dict[str, list[str]] = {}
    for opcode, encoding in machine.opcodes.items():
        instruction = machine.instructions.get(encoding.name)
        for name in {n.lower() for n in (encoding.name, *(instruction.aliases if instruction else ()))}:
            holders.setdefault(name, []).append(f"{encoding.name} (0x{opcode:02X})")
    return [f"the name {name} belongs to {' and '.join(who)}" for name, who in holders.items() if len(who) > 1]


def rules_named(subject: Subject) -> list[str]:
    """Every rule has a name of its own, names what it reads, and says what is allowed."""
    if subject.trouble:
        return [subject.trouble]
    problems = []
    for instruction in subject.instructions:
        for rule in _own_rules(subject, instruction):
            said = rule.allowed if isinstance(rule.allowed, str) else rule.allowed(subject.machine.facts)
            if not said.strip():
                problems.append(f"{instruction.name}: rule {rule.name} does not say what is allowed")
            if not rule.fields:
                problems.append(f"{instruction.name}: rule {rule.name} names no field that a report could show")
    return problems


def rules_fail_alone(subject: Subject) -> list[str]:
    """Each rule is the only violation of some record that differs from a legal one in one place."""
    problems = []
    for instruction in subject.instructions:
        own = _own_rules(subject, instruction)
        if not own or subject.machine.layouts[subject.machine.opcode_of(instruction.name)].cls is Opaque:
            continue
        legal = subject.legal(instruction)
        if not legal:
            problems.append(f"{instruction.name}: no legal record is known, so that no rule of it can be tried")
            continue
        own = tuple(rule for rule in own if not rule.warning and not rule.open)
        excuses = {rule.name: _excuse(subject, instruction, rule) for rule in own}
        wanted = frozenset(name for name, why in excuses.items() if not why)
        try:
            alone = rules_alone(subject.machine, instruction.name, legal, wanted)
        except ValueError as e:
            problems.append(str(e))
            continue
        problems += [
            f"{instruction.name}: rule {name} is never the only violation of a record; another rule says the same, it can "
            "never fail, or it stands on a rule that `needs` does not name"
            for name in sorted(wanted - alone)
        ]
        problems += [
            f"{instruction.name}: rule {name} is excused ({why}), and yet it fails alone"
            for name, why in excuses.items()
            if why and name in alone
        ]
    return problems


def _excuse(subject: Subject, instruction: Instruction, rule: Rule) -> str:
    found = subject.excuses
    return found.get((instruction.name, rule.name)) or found.get(("*", rule.name)) or ""


def _own_rules(subject: Subject, instruction: Instruction) -> tuple[Rule, ...]:
    common = {rule.name for rule in COMMON_RULES}
    book = subject.machine.books[instruction.name].rules
    return tuple(bound.rule for bound in book if bound.rule.name not in common)


def encode_inverts_decode(subject: Subject) -> list[str]:
    """Records come back from their fields and from their text: legal ones, and any bytes at all."""
    problems = []
    for instruction in subject.instructions:
        opcode = subject.machine.opcode_of(instruction.name)
        records = [*subject.legal(instruction), *_any_records(subject, opcode)]
        if _text(subject, b"".join(records)) and not any(_fields(subject, raw) for raw in records):
            continue
        found = [why for raw in records if (why := _fields(subject, raw) or _told(subject, raw))]
        problems += [f"{instruction.name}: {why}" for why in list(dict.fromkeys(found))[:2]]
    return problems[:MOST]


def _any_records(subject: Subject, opcode: int) -> list[bytes]:
    """Records of random bytes; in all but the first ones each enumeration has one of its members."""
    layout = subject.machine.layouts[opcode]
    raw = np.random.default_rng(opcode).integers(0, 256, (RANDOM_RECORDS + MEMBER_RECORDS, 64), np.uint8)
    raw[:, 0] = opcode
    for k, record in enumerate(raw[RANDOM_RECORDS:]):
        for leaf in layout.leaves.values():
            if leaf.code is not None:
                members = list(leaf.code)
                layout.store(record, leaf.name, members[k % len(members)])
    return [record.tobytes() for record in raw]


def _text(subject: Subject, raw: bytes) -> bool:
    """Whether records come back from their text."""
    try:
        return bytes(subject.machine.assemble(subject.machine.disassemble(raw))) == raw
    except GpsimdError:
        return False


def _told(subject: Subject, raw: bytes) -> str:
    return _lost("text", raw, lambda: bytes(subject.machine.assemble(subject.machine.disassemble(raw))))


def _fields(subject: Subject, raw: bytes) -> str:
    from gpsimd_core.tensors import Bits

    record = subject.machine.decode(raw)[0]
    kinds = {f.name: f.kind for f in record.layout.fields}
    fields = {k: Bits(v) if kinds[k] in ("imm", "f32") else v for k, v in record.fields.items()}
    return _lost("fields", raw, lambda: subject.machine.encode(f"0x{raw[0]:02X}", **fields))


def _lost(way: str, raw: bytes, again: Callable[[], bytes]) -> str:
    """What is lost on the way from bytes to fields or text and back; empty where nothing is."""
    try:
        made = again()
    except GpsimdError as e:
        return f"its {way} cannot be encoded: {e}"
    if made != raw:
        byte = next(i for i in range(64) if made[i] != raw[i])
        return f"encoding its {way} gives 0x{made[byte]:02x} at byte {byte} where the record has 0x{raw[byte]:02x}"
    return ""


def evidence_present(subject: Subject) -> list[str]:
    """Instruction, encoding, binding and rules say how sure they are and who says so."""
    problems = []
    for instruction in subject.instructions:
        machine = subject.machine
        given: Iterator[tuple[str, Any]] = iter(
            [
                ("the instruction", instruction.evidence),
                ("its encoding", machine.opcodes[machine.opcode_of(instruction.name)].evidence),
                ("its engines", machine.bindings[instruction.name].evidence),
                *((f"rule {rule.name}", rule.evidence) for rule in _own_rules(subject, instruction)),
            ]
        )
        problems += [f"{instruction.name}: {what} {why}" for what, e in given if (why := _lacking(e))]
    return problems


def _lacking(evidence: Any) -> str:
    if not isinstance(evidence, Evidence):
        return "has no evidence"
    if not CONFIDENCE.fullmatch(evidence.confidence):
        return f"has no evidence: its confidence is {evidence.confidence!r}; allowed: HIGH, MED or LOW, or PROPOSED"
    return "" if evidence.source.strip() else "has no evidence: its source is empty"


def vectors_present(subject: Subject) -> list[str]:
    """Each instruction that executes is a step of some vector."""
    try:
        stepped = {step["opcode"] for _, example in subject.examples for step in example["step"]}
    except (GpsimdError, KeyError, TypeError) as e:
        return [f"the vectors cannot be read: {e}"]
    problems = []
    for instruction in subject.executing:
        there = any(subject.machine.opcodes[o].name == instruction.name for o in stepped)
        excused = subject.without_vectors.get(instruction.name)
        if not there and not excused:
            files = ", ".join(f.name for f in subject.files) or "no file is given"
            problems.append(f"{instruction.name} executes and has no vector ({files})")
        if there and excused:
            problems.append(f"{instruction.name} is excused from vectors ({excused}), and yet it has one")
    return problems


def vectors_pass(subject: Subject) -> list[str]:
    """Every vector passes, to the bit."""
    try:
        ran = subject.run
    except GpsimdError as e:
        return [f"the vectors cannot be read: {e}"]
    problems = []
    for title, outcome, _ in ran:
        if not isinstance(outcome, Outcome):
            problems.append(f"{title}: {outcome}")
        elif outcome.status != PASSED:
            problems.append(f"{title} {outcome.status}{': ' if outcome.reason else ''}{outcome.reason}")
            problems += [f"  {d.name}: expected {d.expected}, found {d.found}" for d in outcome.differences]
    return problems


CHECKS: dict[str, Callable[[Subject], list[str]]] = {
    check.__name__: check
    for check in (
        unique_names, rules_named, rules_fail_alone, encode_inverts_decode, evidence_present, vectors_present, vectors_pass,
    )
}  # fmt: skip
