"""`gpsimd asm`: text into records."""

from __future__ import annotations

import click

from gpsimd_core.cli.session import Session

__all__ = ["command"]


@click.command("asm")
@click.argument("file")
@click.option("-o", "--output", required=True, metavar="OUT", help="Where the records go; - is standard output.")
@click.option(
    "--write-manifest", "manifest_out", metavar="FILE",
    help="Write the tensors and registers of the text as a TOML manifest.",
)  # fmt: skip
@click.pass_obj
def command(session: Session, file: str, output: str, manifest_out: str | None) -> None:
    """Assemble FILE into records of 64 bytes. Nothing is judged: see `validate`."""
    from gpsimd_core.cli.files import write
    from gpsimd_core.errors import BadInput
    from gpsimd_core.manifest import load_program, manifest_text, read_source

    source = read_source(file)
    if source.text is None:
        raise BadInput(f"{source.name} is no assembly text")
    program = load_program(session.machine(source.generation), source)
    if program.streams and len(set(program.streams)) > 1:
        session.say("note: records stand in the order of the text; the marks of .stream are not part of them")
    write(output, bytes(program))
    if manifest_out is not None:
        write(manifest_out, manifest_text(program).encode())
    if output != "-":
        count = len(program)
        session.say(f"{output}: {count} record{'s' if count != 1 else ''}, {count * 64} bytes")
