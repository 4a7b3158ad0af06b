"""The ISA reference: a page an opcode and one of contents, made from what the installed generations declare."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from drawing import svg

import gpsimd_core as gp
from gpsimd_core.blobs import Catalogue
from gpsimd_core.cli.explain import describe
from gpsimd_core.cli.status import STATUSES
from gpsimd_core.isa.checks import COMMON_RULES
from gpsimd_core.isa.policies import POLICIES

__all__ = ["pages", "write"]

ORDER = ("sunda", "cayman", "mariana", "mariana_plus", "maverick")
COMMON = {rule.name for rule in COMMON_RULES}
LEGEND = (
    '<p class="legend"><span><i class="tensor"></i>pattern</span><span><i class="code"></i>enumeration</span>'
    '<span><i class="imm"></i>immediate or address</span><span><i class="plain"></i>number</span>'
    '<span><i class="ungrounded"></i>not grounded</span></p>'
)
ORPHAN = "---\norphan: true\n---\n"
"""Pages of opcodes stand in the table of contents and in no sidebar, which would repeat all of them on each page."""
Facts = dict[str, Any]


def text(words: object) -> str:
    """Words as Markdown that shows them as they are, in one table cell."""
    return re.sub(r"([\\`*_{}\[\]<>#|$~&])", r"\\\1", " ".join(str(words).split()))


def code(words: object) -> str:
    """Words as code, in one table cell."""
    return f"`{str(words).replace('|', chr(92) + '|')}`" if str(words) else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], name: str = "") -> str:
    """A table; Markdown in its cells."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows)]
    return (f"{{.{name}}}\n" if name else "") + "\n".join(lines) + "\n"


def raw(html: str) -> str:
    """HTML as it is."""
    return f"```{{raw}} html\n{html}\n```\n"


class Opcode:
    """One opcode byte with its facts on every generation that declares it.

    Args:
        opcode: the byte.
        machines: of all generations, by name, in order.
    """

    def __init__(self, opcode: int, machines: dict[str, gp.Machine]) -> None:
        self.opcode = opcode
        self.machines = {gen: m for gen, m in machines.items() if opcode in m.opcodes}
        self.facts: dict[str, Facts] = {gen: describe(m, opcode) for gen, m in self.machines.items()}
        best = sorted(self.facts, key=lambda g: (list(STATUSES).index(self.facts[g]["status"]), g != "cayman"))
        self.first = best[0]
        """The generation that is shown in full: where most is known of it."""

    @property
    def main(self) -> Facts:
        return self.facts[self.first]

    @property
    def page(self) -> str:
        return f"{self.opcode:02x}"

    def markdown(self) -> str:
        """The page."""
        return "\n".join(part for part in self._parts() if part) + "\n"

    def _parts(self) -> Iterator[str]:
        main = self.main
        yield ORPHAN
        yield f"# 0x{self.opcode:02X} {main['name']}\n"
        names = [*main["aliases"], *sorted({f["name"] for f in self.facts.values()} - {main["name"]})]
        yield f"Also called {', '.join(code(n) for n in names)}.\n" if names else ""
        yield "## What it does\n"
        yield (text(main["semantics"]) or "No source grounds what it computes.") + "\n"
        yield from self._operands()
        yield "## Generations\n"
        yield table(
            ("generation", "status", "layout", "engines", "declared as"), [self._generation(g) for g in self.facts]
        )
        yield "## Layout\n"
        yield from self._layouts()
        yield "## Rules\n"
        yield from self._rules()
        yield "## Device blobs\n"
        yield from self._blobs()
        yield "## Evidence\n"
        yield from self._evidence()
        yield from self._readings()

    def _operands(self) -> Iterator[str]:
        instruction = self.machines[self.first].instructions.get(self.main["name"])
        if instruction is None:
            return
        rows = [
            (way, code(o.name), code(o.at), code(o.dtype), ", ".join(
                [*(["predicate"] if o.predicate else []), *(["false elements keep their bytes"] if o.merges else [])]
            ))
            for way, operands in (("reads", instruction.reads), ("writes", instruction.writes)) for o in operands
        ]  # fmt: skip
        rows += [("immediate", code(name), code(name), "", "") for name in instruction.immediates]
        if rows:
            yield table(("", "operand", "field", "dtype", ""), rows)

    def _generation(self, gen: str) -> tuple[str, ...]:
        f = self.facts[gen]
        engines = " ".join(f["engines"]) or f"none: {f['no_engine']}"
        why = f": {f['reason']}" if f["reason"] else ""
        kind = ", ".join(word for word in (f["flag"], f["kind"]) if word not in ("maintained", "real")) or "maintained"
        return text(gen), text(f["status"] + why), text(f["layout"]), text(engines), text(kind)

    # Layout --------------------------------------------------------------------------------------------------------

    def _layouts(self) -> Iterator[str]:
        forms: dict[str, tuple[Any, list[str]]] = {}
        for gen, machine in self.machines.items():
            layout = machine.layouts[self.opcode]
            chosen = [(layout, "")]
            if layout.otherwise is not None:
                leaf, value, other = layout.otherwise
                chosen = [(layout, f", where {leaf} is {value}"), (other, f", where {leaf} is anything else")]
            for form, when in chosen:
                drawn = svg(form, f"{form.cls.title}: 64 bytes, four a row")
                title = f"{form.cls.title}{when}"
                forms.setdefault(f"{title}\n{drawn}", (form, []))[1].append(gen)
        yield "Four bytes a row, to scale; lower bytes and lower bits stand left.\n"
        for key, (form, gens) in forms.items():
            title, drawn = key.split("\n", 1)
            where = "" if len(gens) == len(self.machines) else f" on {text(', '.join(gens))}"
            yield f"**{text(title)}**{where}\n"
            yield raw(drawn)
            yield from (f"{text(note)}\n" for note in form.cls.notes)
        yield raw(LEGEND)
        form = self.machines[self.first].layouts[self.opcode]
        rows = [(self._bytes(f), code(f.name), text(f.type), text(f.doc)) for f in form.fields]
        yield table(("bytes", "field", "type", "meaning"), rows)

    @staticmethod
    def _bytes(f: Any) -> str:
        if f.bits == 4:
            return f"{f.offset} {'high' if f.shift else 'low'} nibble"
        return str(f.offset) if f.size == 1 else f"{f.offset}..{f.offset + f.size - 1}"

    # Rules ---------------------------------------------------------------------------------------------------------

    def _rules(self) -> Iterator[str]:
        own = [r for r in self.main["rules"] if r["name"] not in COMMON]
        yield f"As on {self.first}; the rules of header and events stand on [the page of every record](every.md).\n"
        if not own:
            yield "No rules of its own are grounded.\n"
            return
        sources = list(dict.fromkeys(r["source"] for r in own))
        rows = []
        for r in own:
            differing = [
                f"{gen}: {other['allowed']}" if (other := self._rule(gen, r["name"])) else f"{gen}: no such rule"
                for gen in self.facts
                if (self._rule(gen, r["name"]) or {}).get("allowed") != r["allowed"]
            ]
            allowed = text(r["allowed"]) + "".join(f"<br>{text(d)}" for d in differing)
            rows.append((
                str(r["number"] or ""), code(r["name"]) + (" (a warning)" if r["warning"] else ""), allowed,
                ", ".join(code(n) for n in r["needs"]), f"{r['confidence']} [{sources.index(r['source']) + 1}]",
            ))  # fmt: skip
        more = [
            (gen, r) for gen, f in self.facts.items() for r in f["rules"]
            if r["name"] not in COMMON and self._rule(self.first, r["name"]) is None
        ]  # fmt: skip
        yield table(("no.", "rule", "allowed", "stands on", "confidence"), rows, "rules-table")
        if more:
            yield "Further rules elsewhere:\n"
            yield table(
                ("generation", "rule", "allowed"), [(text(g), code(r["name"]), text(r["allowed"])) for g, r in more]
            )
        yield "".join(f"{i}. {text(source)}\n" for i, source in enumerate(sources, 1))

    def _rule(self, gen: str, name: str) -> Facts | None:
        return next((r for r in self.facts[gen]["rules"] if r["name"] == name), None)

    # The rest ------------------------------------------------------------------------------------------------------

    def _blobs(self) -> Iterator[str]:
        rows = []
        for gen, machine in self.machines.items():
            catalogue = Catalogue.of(machine.hooks.blobs(machine.generation))
            for place in catalogue.names_of(self.opcode):
                if place.self_name is not None:
                    n = place.self_name
                    row = (
                        text(gen),
                        code(f"0x{place.offset:x}"),
                        text(n.text),
                        code(place.site.symbol),
                        text(n.evidence.confidence),
                    )
                    rows.append(row)
        if rows:
            yield "Where the firmware that handles it holds its own name, as file offsets in the host library.\n"
            yield table(("generation", "offset", "self-name", "blob", "confidence"), rows)
        else:
            yield "No page places its name in a firmware image.\n"

    def _evidence(self) -> Iterator[str]:
        machine = self.machines[self.first]
        encoding, name = machine.opcodes[self.opcode], self.main["name"]
        instruction = machine.instructions.get(name)
        given = [
            ("that it exists", encoding.evidence), ("layout", machine.layouts[self.opcode].cls.evidence),
            ("rules and effect", instruction.evidence if instruction else None),
            ("engines", machine.bindings[name].evidence),
        ]  # fmt: skip
        yield table(
            ("", "confidence", "source", ""),
            [(what, text(e.confidence), text(e.source), text(e.note)) for what, e in given if e is not None],
        )

    def _readings(self) -> Iterator[str]:
        readings = self.main["readings"]
        if not readings:
            return
        yield "## Disputed readings\n"
        for r in readings:
            yield f"### {text(r['topic'])}\n"
            yield f"Taken\n: {text(r['chosen'])}\n"
            yield "Not taken\n: " + "\n: ".join(text(b) for b in r["beaten"]) + "\n"
            yield f"Decides\n: {text(r['why'])}\n"
            yield f"Reachable\n: {self._reachable(r['policy'])}\n"

    @staticmethod
    def _reachable(policy: str | None) -> str:
        if policy is None:
            return "the reading that was not taken is on record only"
        values = next(p.values for p in POLICIES if p.name == policy)
        return f"by [policy](../numerics.md#policies) {code(policy)}: " + ", ".join(code(v) for v in values)


def _every(machine: gp.Machine) -> str:
    rows = []
    for rule in COMMON_RULES:
        allowed = rule.allowed if isinstance(rule.allowed, str) else rule.allowed(machine.facts)
        more = (text(allowed), ", ".join(code(n) for n in rule.needs), text(rule.evidence.confidence))
        rows.append((str(rule.number or ""), code(rule.name), *more))
    return (
        "# Every record\n\nBytes 0 to 11, header and events, and the rules that every record keeps.\n\n"
        + table(("no.", "rule", "allowed", "stands on", "confidence"), rows, "rules-table")
        + f"\nSource: {text(COMMON_RULES[0].evidence.source)}. What is allowed is shown for {machine.generation.name}.\n"
    )


def _reading_blobs_once(machine: gp.Machine) -> gp.Machine:
    return evolve(machine, hooks=evolve(machine.hooks, blobs=functools.cache(machine.hooks.blobs)))


def pages() -> dict[str, str]:
    """File name to Markdown of every page of the reference; one page alone where no generation is installed."""
    names = [g for g in ORDER if g in gp.generations()] + [g for g in gp.generations() if g not in ORDER]
    machines = {gen: _reading_blobs_once(gp.load(gen, plugins=())) for gen in names}
    opcodes = [Opcode(o, machines) for o in sorted({o for m in machines.values() for o in m.opcodes})]
    marks = {"executes": "executes", "not executable": "not exec."}
    rows = [
        (
            f"[0x{o.opcode:02X}]({o.page}.md)", f"[{text(o.main['name'])}]({o.page}.md)", text(o.main["layout"]),
            *(marks.get(o.facts[g]["status"], o.facts[g]["status"]) if g in o.facts else "" for g in names),
        )
        for o in opcodes
    ]  # fmt: skip
    meaning = "\n".join(f"{word}\n: {text(told)}\n" for word, told in STATUSES.items())
    tree = "```{toctree}\n:hidden:\n\nevery\n```" if opcodes else ""
    index = (
        "# ISA reference\n\nEvery opcode that an installed generation declares, made from the declarations. "
        "What the words mean:\n\n" + meaning + "\n" + table(("opcode", "instruction", "layout", *map(text, names)), rows)
        + "\n" + tree + "\n"
    )  # fmt: skip
    found = {f"{o.page}.md": o.markdown() for o in opcodes} | {"index.md": index}
    if machines:
        found["every.md"] = _every(next(iter(machines.values())))
    return found


def write(folder: Path) -> None:
    """Write the pages into a folder, and nothing that is there already."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for path in folder.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, content in made.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != content:
            path.write_text(content, "utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent / "reference")
