"""`gpsimd validate`: every rule on every record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gpsimd_core.cli import show
from gpsimd_core.cli.session import Session

if TYPE_CHECKING:
    from gpsimd_core.program import Program
    from gpsimd_core.report import Report

__all__ = ["command"]


@click.command("validate")
@click.argument("file")
@click.option("--lint", "lints", is_flag=True, help="Also say what legal records lose or leave out.")
@click.pass_obj
def command(session: Session, file: str, lints: bool) -> None:
    """Check FILE: every violation with what was found and what is allowed, or one line of success.

    Exit code 1 if a rule is broken. Warnings, and what could not be checked and why, are told apart. Lints never change
    the exit code.
    """
    from gpsimd_core.manifest import load_program, read_manifest, read_source

    source = read_source(file)
    manifest = read_manifest(session.manifest) if session.manifest else None
    machine = session.machine(source.generation or (manifest.generation if manifest else None))
    program = load_program(machine, source, manifest)
    report = machine.validate(program)
    (_json if session.as_json else _text)(session, program, report)
    if lints:
        _lints(session, program, report)
    if not report.ok:
        click.get_current_context().exit(1)


def _lints(session: Session, program: Program, report: Report) -> None:
    from gpsimd_core.lints import lint

    for f in lint(program.machine, program, report):
        if session.as_json:
            session.emit(
                {"kind": "lint", "index": f.index, "name": f.name, "lint": f.lint, "reason": f.reason, "cure": f.cure}
            )
        else:
            click.echo(f"lint: {f}")


def _text(session: Session, program: Program, report: Report) -> None:
    show.report(report)
    count = len(program)
    told = [
        f"{program.name}: {count} instruction{'s' if count != 1 else ''} on {program.machine.generation.name}",
        _counted(len(report.violations), "violation") if report.violations else "every rule holds",
    ]
    told += [_counted(len(report.warnings), "warning")] if report.warnings else []
    told += [f"{len(report.not_checked)} not checked"] if report.not_checked else []
    click.echo(", ".join(told))


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"


def _json(session: Session, program: Program, report: Report) -> None:
    for kind, rows in (("violation", report.violations), ("warning", report.warnings)):
        for v in rows:
            session.emit(
                {
                    "kind": kind, "index": v.index, "byte": v.byte, "name": v.name, "field": v.field, "rule": v.rule,
                    "number": v.number, "found": v.found, "allowed": v.allowed, "generation": v.generation,
                }
            )  # fmt: skip
    for n in report.not_checked:
        session.emit({"kind": "not checked", "index": n.index, "name": n.name, "rule": n.rule, "why": n.why})
    session.emit(
        {
            "kind": "report", "program": program.name, "generation": program.machine.generation.name, "ok": report.ok,
            "instructions": len(program), "violations": len(report.violations), "warnings": len(report.warnings),
            "not_checked": len(report.not_checked),
        }
    )  # fmt: skip
