"""`gpsimd ops`: the opcodes of a generation, and what can be done with each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from gpsimd_core.cli import show
from gpsimd_core.cli.session import Session

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["command"]


@click.command("ops")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.pass_obj
def command(session: Session, words: tuple[str, ...]) -> None:
    """List opcodes: byte, name, layout, engines, flag and kind, status.

    WORDs narrow the list to rows that contain each of them: an engine, a status, a layout, part of a name.
    """
    from gpsimd_core.cli.status import STATUSES, status

    machine = session.machine()
    rows = []
    counted: Counter[str] = Counter()
    for opcode, encoding in machine.opcodes.items():
        word, why = status(machine, opcode)
        row = (
            f"0x{opcode:02X}", encoding.name, _layout(machine, opcode), " ".join(machine.bindings[encoding.name].engines),
            encoding.flag if encoding.kind == "real" else encoding.kind, f"{word}: {why}" if why else word,
        )  # fmt: skip
        if not all(w.lower() in " ".join(row).lower() for w in words):
            continue
        counted[word] += 1
        if session.as_json:
            session.emit(
                {
                    "opcode": opcode, "name": encoding.name, "aliases": list(machine.aliases(encoding.name)),
                    "layout": row[2], "engines": list(machine.bindings[encoding.name].engines), "flag": encoding.flag,
                    "kind": encoding.kind, "status": word, "reason": why,
                }
            )  # fmt: skip
        rows.append(row)
    if session.as_json:
        return
    columns = [
        show.Column("opcode"), show.Column("name", style="bold"), show.Column("layout", keep=1),
        show.Column("engines", keep=2), show.Column("flag", keep=3), show.Column("status"),
    ]  # fmt: skip
    if not rows:
        session.say(f"no opcode of {machine.generation.name} has {' and '.join(map(repr, words))}")
        click.get_current_context().exit(1)
    show.table(columns, rows)
    click.echo()
    click.echo(f"{len(rows)} opcodes of {machine.generation.name}" + (" that match" if words else ""))
    show.definitions([(f"{counted[word]:3} {word}", text) for word, text in STATUSES.items() if counted[word]])


def _layout(machine: Machine, opcode: int) -> str:
    cls = machine.layouts[opcode].cls
    return cls.title if cls.title != "opaque record" else "-"
