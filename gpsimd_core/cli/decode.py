"""`gpsimd decode`: records as assembly text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpsimd_core.cli.session import Session

if TYPE_CHECKING:
    from gpsimd_core.program import Program, Record

__all__ = ["command"]


@click.command("decode")
@click.argument("file")
@click.pass_obj
def command(session: Session, file: str) -> None:
    """Print the records of FILE as text that assembles to the same bytes.

    Only what differs from the defaults is printed. Records that no source describes are .raw lines. With --json:
    index, byte, opcode, name, layout, fields and hex of each record.
    """
    from gpsimd_core.manifest import load_program, read_manifest, read_source

    source = read_source(file)
    manifest = read_manifest(session.manifest) if session.manifest else None
    machine = session.machine(source.generation or (manifest.generation if manifest else None))
    program = load_program(machine, source, manifest)
    if session.as_json:
        _json(session, program)
    else:
        click.echo(machine.disassemble(program), nl=False)


def _json(session: Session, program: Program) -> None:
    for record in program:
        stream = program.streams[record.index] if program.streams else None
        session.emit(
            {
                "index": record.index, "byte": record.index * 64, "opcode": record.opcode, "name": record.name,
                "layout": record.layout.name, "stream": stream, "fields": _fields(record), "hex": bytes(record).hex(),
            }
        )  # fmt: skip


def _fields(record: Record) -> dict[str, Any]:
    return {name: _plain(value) for name, value in record.fields.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return getattr(value, "name", value)
