"""`gpsimd example`: a program and its tensors, ready to run."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from gpsimd_core.cli.session import Session

__all__ = ["FILES", "command"]

FILES = ("program.tpb", "mask.npy", "scores.npy", "kept.npy")


@click.command("example")
@click.argument("folder", metavar="DIR")
@click.pass_obj
def command(session: Session, folder: str) -> None:
    """Write a program and its tensors into DIR, and tell how to run it.

    It computes what a softmax under a mask needs first: the scores that the mask keeps, and the largest of each row.
    """
    from gpsimd_core.cli.files import write
    from gpsimd_core.errors import UsageError

    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise UsageError(f"cannot make {folder}: {(e.strerror or str(e)).lower()}") from None
    data = files("gpsimd_core") / "data" / "example"
    for name in FILES:
        write(str(target / name), (data / name).read_bytes())
    gen = f"--gen {session.gen} " if session.gen else ""
    command_line = f"gpsimd {gen}run {target / 'program.tpb'} -i {target} -o {target / 'out'}"
    if session.as_json:
        session.emit({"folder": str(target), "files": list(FILES), "run": command_line})
        return
    click.echo(f"{target}: {', '.join(FILES)}")
    click.echo("run it with")
    click.echo(f"  {command_line}")
