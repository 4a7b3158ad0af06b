"""Write docs/coverage.md: what can be done with each opcode on each generation, from the code itself."""

from __future__ import annotations

import sys
from pathlib import Path

import gpsimd_core as gp
from gpsimd_core.cli.status import STATUSES, status

WORDS = {"executes": "**executes**", "validates": "validates", "decodes": "decodes", "opaque": "opaque"}


def table() -> str:
    """The page, as Markdown."""
    machines = {name: gp.load(name, plugins=()) for name in ("sunda", "cayman", "mariana", "mariana_plus", "maverick")}
    names = {op: e.name for m in machines.values() for op, e in m.opcodes.items()}
    lines = [
        "# Coverage",
        "",
        "What can be done with each opcode on each generation. Made by `docs/make_coverage.py`; a test compares.",
        "",
        *(f"- **{word}**: {text}" for word, text in STATUSES.items()),
        "- **-**: the generation does not declare the opcode",
        "",
        "| opcode | instruction | " + " | ".join(machines) + " |",
        "|---|---|" + "---|" * len(machines),
    ]
    for opcode, name in sorted(names.items()):
        cells = []
        for machine in machines.values():
            word = status(machine, opcode)[0] if opcode in machine.opcodes else "-"
            cells.append(WORDS.get(word, word))
        lines.append(f"| 0x{opcode:02X} | {name} | " + " | ".join(cells) + " |")
    counts = []
    for name, machine in machines.items():
        words = [status(machine, op)[0] for op in machine.opcodes]
        counts.append(f"| {name} | " + " | ".join(str(words.count(w)) for w in STATUSES) + f" | {len(words)} |")
    lines += ["", "## Counts", "", "| generation | " + " | ".join(STATUSES) + " | opcodes |", "|---" * 7 + "|", *counts]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("coverage.md")
    target.write_text(table())
