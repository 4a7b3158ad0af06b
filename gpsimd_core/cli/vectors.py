"""`gpsimd vectors`: run golden-vector files, and write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine
    from gpsimd_core.vectors import Outcome, Report

__all__ = ["command"]


@click.group()
def command() -> None:
    """Check golden-vector files against this implementation, or write one."""


@command.command()
@click.argument("file")
@click.option("--compiled", is_flag=True, help="Run every row by the compiled functions too.")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a line: summary, groups, rows that did not pass."
)
def check(file: str, compiled: bool, as_json: bool) -> int:
    """Run every row of FILE and report what passed.

    FILE is a path, or the name of one of the project's own files: iss-vectors, alu-vectors, instruction-examples.
    Ends with 1 when a row failed, 3 when the file breaks its format.
    """
    from gpsimd_core.vectors import builtin_files, check_vectors

    path = file if Path(file).exists() else builtin_files().get(file, file)
    report = check_vectors(path, compiled=compiled, machine_loader=_loader)
    if as_json:
        for line in report.lines():
            click.echo(json.dumps(line, ensure_ascii=False))
    else:
        _print(report)
    return 0 if report.ok else 1


@command.command(context_settings={"ignore_unknown_options": True})
@click.argument("leaf")
@click.argument("operands", nargs=-1, type=click.UNPROCESSED)
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write; - is standard output.")
@click.option("--count", type=int, help="Rows to generate: boundary patterns first, then random ones (64).")
@click.option("--seed", type=int, help="Of the random operands (0).")
def make(leaf: str, operands: tuple[str, ...], output: str, count: int | None, seed: int | None) -> None:
    """Write a golden-vector file for LEAF, for one row of OPERANDS (as in `gpsimd leaf`) or for generated ones."""
    from gpsimd_core.cli.leaf import operands as parsed
    from gpsimd_core.errors import BadInput, UsageError
    from gpsimd_core.isa.leaves import find
    from gpsimd_core.vectors import make_vectors, to_toml
    from gpsimd_core.vectors.making import DEFAULT_COUNT

    if operands and (count is not None or seed is not None):
        raise UsageError("--count and --seed are for generated operands; here operands are given")
    if operands:
        content = make_vectors(leaf, [parsed(find(leaf), operands)])
    else:
        content = make_vectors(leaf, count=DEFAULT_COUNT if count is None else count, seed=seed or 0)
    text = to_toml(content)
    if output == "-":
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, "utf-8")
    except OSError as error:
        raise BadInput(f"{output}: {error.strerror or error}") from None
    click.echo(f"{output}: {len(content['group'][0]['rows'])} rows of {content['group'][0]['leaf']}", err=True)


def _loader(profile: str, policies: Mapping[str, Any]) -> Machine:
    """The machine of an example: the generation of `--gen`, with the profile and policies that the example names."""
    from gpsimd_core.cli.session import Session
    from gpsimd_core.host import default_generation, load

    session = click.get_current_context().find_object(Session)
    return load(session.generation() if session else default_generation(), profile, policies)


def _print(report: Report) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    if console.is_terminal:
        _table(console, report)
    else:
        for (group, evidence), counts in report.by_group().items():
            counted = "  ".join(f"{number} {status}" for status, number in counts.items() if number)
            click.echo(f"{group:28} {evidence:20} {counted}")
    for outcome in report.failed:
        click.echo(_place(outcome, "failed"))
        for difference in outcome.differences:
            how = f" ({difference.how})" if difference.how else ""
            click.echo(f"    {difference.name}: expected {difference.expected}, found {difference.found}{how}")
    for outcome in report.unsupported:
        click.echo(f"{_place(outcome, 'unsupported')}\n    {outcome.reason}")
    reasons = dict.fromkeys(outcome.reason for outcome in report.not_run)
    for reason in reasons:
        rows = sum(outcome.reason == reason for outcome in report.not_run)
        click.echo(f"{rows} rows not run: {reason}")
    click.echo(_summary(report))


def _place(outcome: Outcome, status: str) -> str:
    return f"{status}: {outcome.group} row {outcome.row} [{outcome.evidence}] {outcome.what}"


def _summary(report: Report) -> str:
    counts: dict[str, Any] = {
        "passed": report.passed,
        "failed": report.failed,
        "unsupported": report.unsupported,
        "not run": report.not_run,
    }
    text = ", ".join(f"{len(rows)} {status}" for status, rows in counts.items())
    twice = ", every row plain and compiled" if report.compiled else ""
    return f"{report.source}: {text}{twice}"


def _table(console: Any, report: Report) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("group")
    table.add_column("evidence")
    styles = {"passed": "green", "failed": "red", "unsupported": "yellow", "not run": "dim"}
    for status in styles:
        table.add_column(status, justify="right")
    for (group, evidence), counts in report.by_group().items():
        cells = [f"[{styles[status]}]{number}[/]" if number else "" for status, number in counts.items()]
        table.add_row(group, evidence, *cells)
    for evidence, counts in report.by_evidence().items():
        cells = [str(number) if number else "" for number in counts.values()]
        table.add_row(f"[bold]all {evidence}[/]", "", *cells)
    console.print(table)
