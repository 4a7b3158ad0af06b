"""`gpsimd clamps`: the limits of every clamp_count in a program."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

__all__ = ["clamps"]


@click.command("clamps")
@click.argument("file")
@click.pass_obj
def clamps(session: Any, file: str) -> None:
    """List the limits of every clamp_count in a program.

    FILE is assembly text or records, - is standard input.
    """
    from gpsimd_core.manifest import load_program, read_source

    source = read_source(file)
    machine = session.machine(source.generation)
    for record in load_program(machine, source):
        if record.name == "clamp_count":
            low, high = (float(np.uint32(record.fields[n]).view(np.float32)) for n in ("low", "high"))
            if session.as_json:
                session.emit({"index": record.index, "low": low, "high": high})
            else:
                click.echo(f"instruction {record.index}: {low} to {high}")
