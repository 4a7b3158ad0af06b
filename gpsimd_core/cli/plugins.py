"""`gpsimd plugins`: what is installed, and whether it loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gpsimd_core.cli import show
from gpsimd_core.cli.session import Session

if TYPE_CHECKING:
    from gpsimd_core.host import Found

__all__ = ["command"]


@click.command("plugins")
@click.pass_obj
def command(session: Session) -> None:
    """List generations, third-party plugins and verbs that distributions bring, with their errors.

    Each is tried alone, then all third-party plugins together on the chosen generation; a clash ends with exit 4.
    """
    from gpsimd_core.host import installed

    rows = []
    for found in installed():
        state = _try(session, found)
        rows.append(
            (
                "generation" if found.group == "gpsimd.generations" else "plugin",
                found.name,
                found.distribution,
                found.target,
                state,
            )
        )
    from gpsimd_core.cli import commands_of_plugins

    for name, entry in sorted(commands_of_plugins().items()):
        try:
            state = "loads" if isinstance(entry.load(), click.Command) else f"error: {entry.value} is no click command"
        except Exception as e:
            state = f"error: importing it failed: {type(e).__name__}: {e}"
        if state != "loads":
            session.warn(f"verb {name} does not load: {state.partition(': ')[2]}")
        rows.append(
            ("verb", name, f"{entry.dist.name} {entry.dist.version}" if entry.dist else "?", entry.value, state)
        )
    if session.as_json:
        for kind, name, distribution, target, state in rows:
            session.emit({"kind": kind, "name": name, "distribution": distribution, "target": target, "state": state})
    elif rows:
        show.table(
            [
                show.Column("kind", keep=1), show.Column("name", style="bold"), show.Column("distribution", keep=2),
                show.Column("target", keep=3), show.Column("state"),
            ],
            rows,
        )  # fmt: skip
    else:
        session.say("no plugin is installed; a generation is needed, for example gpsimd-cayman")
    if session.gen or any(kind == "generation" and name == session.generation() for kind, name, *_ in rows):
        session.machine()


def _try(session: Session, found: Found) -> str:
    """Build a machine with this plugin alone."""
    from gpsimd_core.errors import GpsimdError
    from gpsimd_core.host import load

    name, generation = found.name, found.group == "gpsimd.generations"
    if not generation and name in session.without:
        return "left out by --no-plugin"
    try:
        machine = load(name, plugins=()) if generation else load(session.generation(), plugins=(name,))
    except GpsimdError as e:
        return f"error: {e}"
    if machine.warnings:
        return f"error: {machine.warnings[0].partition('is not used: ')[2] or machine.warnings[0]}"
    on_request = found.entry is not None and getattr(found.entry.load(), "GPSIMD_ON_REQUEST", False)
    return "loads; used where it is named" if on_request else "loads"
