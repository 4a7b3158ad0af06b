"""Fragments that pages include, made from the code: policies and profiles, and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from make_reference import code, table, text

from gpsimd_core.cli import VERBS, cli
from gpsimd_core.isa.policies import POLICIES, PROFILES

__all__ = ["command_line", "policies", "write"]


def policies() -> str:
    """The tables of policies and profiles."""
    rows = [
        (
            code(p.name),
            ", ".join(code(v) for v in p.values),
            text(p.help),
            f"{text(p.evidence.confidence)}: {text(p.evidence.source)}",
        )
        for p in POLICIES
    ]
    bundles = [
        (code(p.name), text(p.help), ", ".join(code(f"{k}={v}") for k, v in p.policies.items()) or "every first value")
        for p in PROFILES
    ]
    return (
        table(("policy", "values, the first one by default", "what it decides", "evidence"), rows)
        + "\n" + table(("profile", "reading", "policies"), bundles)
    )  # fmt: skip


def command_line() -> str:
    """Every verb with its arguments and options, as click knows them."""
    context = click.Context(cli, info_name="gpsimd")
    parts = ["## Common options\n", "They stand before or after the verb.\n", _options(cli, context)]
    for verb in VERBS:
        command = cli.get_command(context, verb)
        if command is not None:
            parts += _command(command, f"gpsimd {verb}", context, "##")
    return "\n".join(parts)


def _command(command: click.Command, name: str, above: click.Context, level: str) -> Iterator[str]:
    context = click.Context(command, info_name=name.rpartition(" ")[2], parent=above)
    yield f"{level} {name}\n"
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{name} {pieces}\n```\n"
    for paragraph in (command.help or "").replace("\b", "").split("\n\n"):
        yield text(paragraph) + "\n"
    yield _options(command, context)
    if isinstance(command, click.Group):
        for sub in command.list_commands(context):
            found = command.get_command(context, sub)
            if found is not None:
                yield from _command(found, f"{name} {sub}", context, level + "#")


def _options(command: click.Command, context: click.Context) -> str:
    shared = {p.name for p in cli.params} if command is not cli else set()
    rows = [
        record for p in command.params if p.name not in shared
        if isinstance(p, click.Option) and (record := p.get_help_record(context)) is not None
    ]  # fmt: skip
    return table(("option", "meaning"), [(code(option), text(told)) for option, told in rows]) if rows else ""


def write(folder: Path) -> None:
    """Write the fragments."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "policies.md").write_text(policies(), "utf-8")
    (folder / "command-line.md").write_text(command_line(), "utf-8")
