"""`gpsimd dtypes`: the element dtypes of a generation."""

from __future__ import annotations

from typing import Any

import click

from gpsimd_core.cli import show
from gpsimd_core.cli.session import Session

__all__ = ["command"]


@click.command("dtypes")
@click.pass_obj
def command(session: Session) -> None:
    """List dtypes: wire code, name, bits, format, whether values can be read, and the sets they are in."""
    from gpsimd_core.isa.dtypes import BY_CODE
    from gpsimd_core.isa.enums import Dtype

    machine = session.machine()
    sets = {
        name: members
        for name, members in machine.sets.items()
        if name != "dtype" and members and all(isinstance(m, Dtype) for m in members)
    }
    rows = []
    for code in sorted(machine.sets["dtype"]):
        row = BY_CODE.get(code)  # type: ignore[call-overload]
        fmt = machine.formats.get(int(code))
        readable = fmt is not None and fmt.readable
        within = [name for name, members in sets.items() if code in members]
        why = "" if readable else (fmt.missing if fmt is not None and fmt.missing else "stands for no element")
        if session.as_json:
            session.emit(
                {
                    "code": int(code), "enum": code.name, "name": _name(row, fmt),
                    "bits": fmt.bits if fmt else 0, "format": fmt.name if fmt else None, "readable": readable,
                    "missing": why, "sets": within,
                }
            )  # fmt: skip
        rows.append(
            (
                f"0x{int(code):02X}", code.name, _name(row, fmt), str(fmt.bits) if fmt else "-",
                _form(fmt), "yes" if readable else f"no: {why}", " ".join(within) or "-",
            )
        )  # fmt: skip
    if session.as_json:
        return
    columns = [
        show.Column("code"), show.Column("enumeration", keep=2), show.Column("name", style="bold"),
        show.Column("bits", right=True), show.Column("format", keep=1), show.Column("readable"),
        show.Column("in sets", keep=3),
    ]  # fmt: skip
    show.table(columns, rows)
    click.echo()
    show.paragraph(
        f"{len(rows)} dtypes of {machine.generation.name}; code 0xE is "
        f"{'OCP E4M3FN, up to 448' if machine.policies['fp8_exp4'] == 'ocp' else 'IEEE E4M3, up to 240'} "
        f"(policy fp8_exp4 = {machine.policies['fp8_exp4']})"
    )


def _name(row: Any, fmt: Any) -> str:
    """The public name; that of the format where a policy chooses it."""
    return str(fmt.name if fmt is not None and row is not None and row.name == "fp8_e4m3" else row.name if row else "-")


def _form(fmt: object) -> str:
    """A format in a few characters: s1e8m23 and the like."""
    from gpsimd_core.isa.formats import Format, Kind

    if not isinstance(fmt, Format) or fmt.kind == Kind.NONE:
        return "-"
    if fmt.kind == Kind.INTEGER:
        return "signed" if fmt.signed else "unsigned"
    sign = 1 if fmt.kind == Kind.FLOAT else 0
    pad = f" +{fmt.padding} zero" if fmt.padding else ""
    return f"s{sign}e{fmt.exponent_bits}m{fmt.mantissa_bits}{pad}"
