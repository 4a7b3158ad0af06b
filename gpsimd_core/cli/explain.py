"""`gpsimd explain`: all that is known about one instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpsimd_core.cli import show
from gpsimd_core.cli.session import Session

if TYPE_CHECKING:
    from gpsimd_core.isa.layout import RecordLayout
    from gpsimd_core.machine import BoundRule, Machine
    from gpsimd_core.values import Evidence, Reading

__all__ = ["command", "describe"]

MANY = 24
"""Members of a set beyond which a rule shows its first ones only."""


@click.command("explain")
@click.argument("name", metavar="NAME|0xEA")
@click.pass_obj
def command(session: Session, name: str) -> None:
    """Show an instruction: layout, rules, semantics, engines, device blobs, evidence and disputed readings.

    NAME is a name or alias in any case, or the opcode byte.
    """
    machine = session.machine()
    opcode = machine.opcode_of(name)
    if session.as_json:
        session.emit(describe(machine, opcode))
        return
    _head(machine, opcode)
    _layouts(machine, opcode)
    _rules(machine, opcode)
    _engines(machine, opcode)
    _cores(machine, opcode)
    _blobs(machine, opcode)
    _evidence(machine, opcode)


def _section(title: str) -> None:
    click.echo()
    show.heading(title)


def _head(machine: Machine, opcode: int) -> None:
    from gpsimd_core.cli.status import STATUSES, status

    encoding = machine.opcodes[opcode]
    instruction = machine.instructions.get(encoding.name)
    word, why = status(machine, opcode)
    show.heading(f"{encoding.name} (0x{opcode:02X}) on {machine.generation.name}, {machine.generation.title}")
    rows = [
        ("also called", ", ".join(machine.aliases(encoding.name))),
        ("opcode is", f"{encoding.flag}, {encoding.kind}; given by {machine.owners.get(('opcode', f'0x{opcode:02X}'), '?')}"),
        ("status", f"{word}: {why or STATUSES[word]}"),
        ("reads", _operands(instruction.reads) if instruction else ""),
        ("writes", _operands(instruction.writes) if instruction else ""),
        ("immediates", ", ".join(instruction.immediates) if instruction else ""),
    ]  # fmt: skip
    show.definitions([row for row in rows if row[1]])
    if instruction is not None and instruction.semantics:
        _section("What it does")
        show.paragraph(instruction.semantics, "  ")


def _operands(operands: Any) -> str:
    texts = []
    for o in operands:
        more = [o.dtype, *(["the predicate"] if o.predicate else []), *(["merging"] if o.merges else [])]
        texts.append(f"{o.name} at {o.at} ({', '.join(more)})")
    return "; ".join(texts)


# Layout ------------------------------------------------------------------------------------------------------------


def _layouts(machine: Machine, opcode: int) -> None:
    from gpsimd_core.encoding import base_record

    layout = machine.layouts[opcode]
    forms = [(layout, "")]
    if layout.otherwise is not None:
        leaf, value, other = layout.otherwise
        forms = [(layout, f", where {leaf} is {value}"), (other, f", where {leaf} is anything else")]
    for form, when in forms:
        _section(f"Layout {form.cls.title}{when}")
        show.drawing(_cells(form), total=64)
        base = base_record(machine, opcode, form)
        rows = []
        for f in form.fields:
            rows.append((_bytes(f), f.name, f.type, _default(form, base, f.name), f.doc))
            rows += _leaves(f)
        columns = [
            show.Column("bytes"), show.Column("field", style="bold"), show.Column("type", keep=2),
            show.Column("default", keep=3), show.Column("meaning"),
        ]  # fmt: skip
        click.echo()
        show.table(columns, rows)
        for note in form.cls.notes:
            show.paragraph(note, "  ")


def _cells(layout: RecordLayout) -> list[tuple[int, int, str]]:
    """(first byte, bytes, label) of what is drawn: fields, those inside one byte together."""
    cells: list[tuple[int, int, str]] = []
    for f in layout.fields:
        if cells and cells[-1][0] == f.offset:
            cells[-1] = (f.offset, max(cells[-1][1], f.size), f"{cells[-1][2]} {f.name}")
        else:
            cells.append((f.offset, f.size, "0" if f.kind == "zeros" else f.name))
    return cells


def _leaves(f: Any) -> list[tuple[str, str, str, str, str]]:
    """The parts of a field that has several, in each of its forms."""
    arms = f.arms()
    if f.kind not in ("tensor", "data", "bits") and len(arms) == 1:
        return []
    rows = []
    for form, leaves in arms.items():
        for leaf in leaves:
            if leaf.name == f.name:
                continue
            part = leaf.name.removeprefix(f"{f.name}.")
            kind = f"{leaf.format.lstrip('<')[0]}{leaf.bits or 8 * leaf.itemsize}"
            kind += f"[{leaf.count}]" if leaf.is_array else ""
            rows.append((f"  {_span(leaf)}", f"  .{part}", kind, "", f"{form} form" if len(arms) > 1 else ""))
    return rows


def _span(leaf: Any) -> str:
    if leaf.bits:
        last = leaf.shift + leaf.bits - 1
        return f"{leaf.offset} bit {leaf.shift}" + (f"..{last}" if leaf.bits > 1 else "")
    last = leaf.offset + leaf.itemsize * leaf.count - 1
    return str(leaf.offset) if last == leaf.offset else f"{leaf.offset}..{last}"


def _bytes(f: Any) -> str:
    if f.bits == 4:
        return f"{f.offset} {'high' if f.shift else 'low'}"
    return str(f.offset) if f.size == 1 else f"{f.offset}..{f.offset + f.size - 1}"


def _default(layout: RecordLayout, base: Any, name: str) -> str:
    if name == "opcode":
        return f"0x{int(base[0]):02X}"
    value = layout.read(base)[name]
    if isinstance(value, (dict, tuple)) or not value:
        return ""
    return getattr(value, "name", str(value))


# Rules -------------------------------------------------------------------------------------------------------------


def _rules(machine: Machine, opcode: int) -> None:
    from gpsimd_core.isa.checks import COMMON_RULES

    name = machine.opcodes[opcode].name
    common = {r.name for r in COMMON_RULES}
    book = machine.books[name].rules
    own = [b for b in book if b.rule.name not in common]
    _section(f"Rules: {len(book)} checks, numbered as the published list is")
    sources: list[str] = []
    for title, bounds in (("of every record", [b for b in book if b.rule.name in common]), ("of this one", own)):
        if bounds:
            click.echo(f"  {title}")
        for b in bounds:
            _rule(machine, b, sources)
    click.echo("  sources")
    for i, source in enumerate(sources, 1):
        show.paragraph(source, "        ", f"    [{i}] ")
    if not own:
        show.paragraph("No rules of its own are grounded.", "  ")


def _rule(machine: Machine, b: BoundRule, sources: list[str]) -> None:
    rule = b.rule
    allowed = rule.allowed if isinstance(rule.allowed, str) else rule.allowed(machine.facts)
    number = str(rule.number) if rule.number else "-"
    show.paragraph(f"{rule.name}: {_abridged(allowed)}", "         ", f"    {number:>3}  ")
    source = rule.evidence.source + (f" ({rule.evidence.note})" if rule.evidence.note else "")
    if source not in sources:
        sources.append(source)
    more = ["a warning"] if b.warning else []
    more += [f"needs {', '.join(rule.needs)}"] if rule.needs else []
    more.append(f"{rule.evidence.confidence} [{sources.index(source) + 1}]")
    show.paragraph("; ".join(more), "         ", "         ")


def _abridged(allowed: str) -> str:
    """A long list of members by its first ones and its length."""
    members = allowed.split()
    if len(members) <= MANY or not all(m.isupper() for m in members):
        return allowed
    return f"{' '.join(members[: MANY // 2])} ... ({len(members)} members; --json lists them)"


# Engines, blobs, evidence ------------------------------------------------------------------------------------------


def _engines(machine: Machine, opcode: int) -> None:
    binding = machine.bindings[machine.opcodes[opcode].name]
    _section("Engines")
    rows = []
    for name in binding.engines:
        e = machine.engines[name]
        reach = "SBUF and PSUM" if e.reaches_psum or name in binding.psum else "SBUF"
        lanes = f"; accumulators of {e.accumulators}" if e.accumulators else ""
        rows.append((name, f"{e.title + ': ' if e.title else ''}reaches {reach}{lanes}"))
    show.definitions(rows or [("none", binding.reason or "")])
    _told_by(binding.evidence)


def _cores(machine: Machine, opcode: int) -> None:
    """How POOL hands it to its vector cores."""
    from gpsimd_core import dispatch

    if dispatch.ENGINE not in machine.bindings[machine.opcodes[opcode].name].engines:
        return
    slots = dispatch.kernel_slots(machine, opcode)
    if not slots:
        return
    _section("Dispatch to the vector cores of POOL")
    columns = [
        show.Column("image"), show.Column("index", right=True), show.Column("function", right=True),
        show.Column("kernel", style="bold"), show.Column("confidence", keep=1), show.Column("note", keep=2),
    ]  # fmt: skip
    show.table(columns, [(s.image, str(s.index), f"0x{s.function:08x}", s.kernel, s.confidence, s.note) for s in slots])
    last = dispatch.CORES * dispatch.OWNED - 1
    show.paragraph(
        f"{dispatch.CORES} cores; each owns {dispatch.OWNED} partitions: core 0 has 0..{dispatch.OWNED - 1}, core "
        f"{dispatch.CORES - 1} has {last - dispatch.OWNED + 1}..{last}. The values do not depend on the split.", "  ",
    )  # fmt: skip
    _told_by(dispatch.EVIDENCE)


def _blobs(machine: Machine, opcode: int) -> None:
    from gpsimd_core.blobs import Catalogue

    catalogue = Catalogue.of(machine.hooks.blobs(machine.generation))
    places = [(p, p.self_name) for p in catalogue.names_of(opcode) if p.self_name is not None]
    names = {n.text for _, n in places}
    rows = [(f"0x{p.offset:x}", n.text, p.site.symbol, n.evidence.confidence) for p, n in places]
    rows += [("not placed", n, s.symbol, "") for s in catalogue.sites for n in s.unplaced if n in names]
    _section(f"Device blobs: its own name in the firmware of {machine.generation.name}")
    if not rows:
        show.paragraph("no page places one", "  ")
        return
    columns = [
        show.Column("offset", right=True), show.Column("self-name", style="bold"), show.Column("blob"),
        show.Column("confidence", keep=1),
    ]  # fmt: skip
    show.table(columns, rows)


def _evidence(machine: Machine, opcode: int) -> None:
    encoding = machine.opcodes[opcode]
    instruction = machine.instructions.get(encoding.name)
    layout = machine.layouts[opcode].cls.evidence
    _section("Evidence")
    _told_by(encoding.evidence, "that it exists")
    if layout is not None:
        _told_by(layout, "the layout")
    if instruction is not None:
        _told_by(instruction.evidence, "rules and effect")
    readings = [r for e in (encoding.evidence, instruction.evidence if instruction else None) if e for r in e.readings]
    if readings:
        _section("Disputed readings")
    for r in readings:
        click.echo(f"  {click.style(r.topic, bold=True)}")
        rows = [("taken", r.chosen), *(("not taken", b) for b in r.beaten), ("decides", r.why)]
        show.definitions([*rows, ("reachable", _reachable(machine, r))], "    ")


def _reachable(machine: Machine, r: Reading) -> str:
    if r.policy is None:
        return "the reading not taken is on record only"
    value = machine.policies[r.policy]
    others = [v for v in machine.facts.policies and _values(r.policy) if v != str(value)]
    told = " or ".join(f"--policy {r.policy}={v}" for v in others)
    return f"{told} (now {r.policy}={value})" if told else f"policy {r.policy}, now {value}"


def _values(policy: str) -> tuple[str, ...]:
    from gpsimd_core.isa.policies import POLICIES

    return next((p.values for p in POLICIES if p.name == policy), ())


def _told_by(e: Evidence, what: str = "says") -> None:
    note = f"; {e.note}" if e.note else ""
    show.paragraph(f"{what}: {e.confidence}, {e.source}{note}", "    ", "  ")


def describe(machine: Machine, opcode: int) -> dict[str, Any]:
    """What `--json` prints."""
    from attrs import asdict

    from gpsimd_core.blobs import Catalogue
    from gpsimd_core.cli.status import status
    from gpsimd_core.dispatch import ENGINE, kernel_slots

    encoding = machine.opcodes[opcode]
    instruction = machine.instructions.get(encoding.name)
    binding = machine.bindings[encoding.name]
    word, why = status(machine, opcode)
    catalogue = Catalogue.of(machine.hooks.blobs(machine.generation))
    return {
        "opcode": opcode, "name": encoding.name, "aliases": list(machine.aliases(encoding.name)),
        "generation": machine.generation.name, "flag": encoding.flag, "kind": encoding.kind, "status": word,
        "reason": why, "semantics": instruction.semantics if instruction else "",
        "layout": machine.layouts[opcode].cls.title,
        "fields": [
            {"name": f.name, "offset": f.offset, "size": f.size, "shift": f.shift, "bits": f.bits, "type": f.type, "doc": f.doc}
            for f in machine.layouts[opcode].fields
        ],
        "rules": [
            {
                "number": b.rule.number, "name": b.rule.name, "fields": list(b.rule.fields), "warning": b.warning,
                "allowed": b.rule.allowed if isinstance(b.rule.allowed, str) else b.rule.allowed(machine.facts),
                "needs": list(b.rule.needs), "confidence": b.rule.evidence.confidence, "source": b.rule.evidence.source,
            }
            for b in machine.books[encoding.name].rules
        ],
        "engines": list(binding.engines), "no_engine": binding.reason,
        "kernels": [asdict(s) for s in kernel_slots(machine, opcode)] if ENGINE in binding.engines else [],
        "blobs": [
            {"symbol": p.site.symbol, "self_name": n.text, "offset": p.offset, "confidence": n.evidence.confidence}
            for p in catalogue.names_of(opcode) if (n := p.self_name) is not None
        ],
        "readings": [
            {"topic": r.topic, "chosen": r.chosen, "beaten": list(r.beaten), "why": r.why, "policy": r.policy}
            for e in (encoding.evidence, instruction.evidence if instruction else None) if e for r in e.readings
        ],
    }  # fmt: skip
