"""`gpsimd gens`: the installed hardware generations, and one in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpsimd_core.cli import show
from gpsimd_core.cli.session import Session

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["command"]


@click.command("gens")
@click.argument("name", required=False)
@click.pass_obj
def command(session: Session, name: str | None) -> None:
    """List the installed generations, or tell everything about one.

    NAME is a generation; --gen NAME says the same.
    """
    if name or session.gen:
        session.gen = name or session.gen
        machine = session.machine()
        Session.emit(_record(machine)) if session.as_json else _detail(machine)
        return
    machines = _all(session)
    if session.as_json:
        for machine in machines:
            Session.emit(_record(machine))
        return
    _overview(machines)


def _all(session: Session) -> list[Machine]:
    """Every installed generation that loads; the others are warnings."""
    from gpsimd_core.errors import PluginTrouble
    from gpsimd_core.host import generations

    names = generations()
    if not names:
        raise PluginTrouble("no generation is installed; install one, for example gpsimd-cayman")
    machines = []
    for name in names:
        try:
            session.gen = name
            machines.append(session.machine())
        except PluginTrouble as e:
            session.warn(str(e))
    session.gen = None
    return sorted(machines, key=lambda m: (m.generation.nc_version, m.generation.name))


def _counts(machine: Machine) -> dict[str, int]:
    return {
        "opcodes": len(machine.opcodes), "dtypes": len(machine.sets["dtype"]), "operators": len(machine.sets["alu_op"]),
    }  # fmt: skip


def _overview(machines: list[Machine]) -> None:
    rows = []
    for m in machines:
        g = m.generation.geometry
        n = _counts(m)
        rows.append(
            (
                m.generation.name, str(m.generation.nc_version), _products(m), f"{g.sbuf_active // 1024} KiB",
                f"{g.psum_banks} x {g.psum_bank_bytes}", str(n["opcodes"]), str(n["dtypes"]), str(n["operators"]),
            )
        )  # fmt: skip
    columns = [
        show.Column("name", style="bold"), show.Column("NC-v", right=True), show.Column("products", keep=2),
        show.Column("SBUF"), show.Column("PSUM banks", keep=1), show.Column("opcodes", right=True),
        show.Column("dtypes", right=True), show.Column("operators", right=True),
    ]  # fmt: skip
    show.table(columns, rows)
    click.echo("SBUF and PSUM: bytes of each of 128 partitions")
    for m in machines:
        special = _special(m, machines)
        if special:
            click.echo()
            show.heading(f"{m.generation.name}: what the others do not have")
            show.definitions(special)


def _products(m: Machine) -> str:
    return m.generation.title.partition(": ")[2] or m.generation.title


def _special(machine: Machine, machines: list[Machine]) -> list[tuple[str, str]]:
    """Facts that no generation of another NC version shares, or that a sibling of the same version lacks."""
    mine = machine.generation
    others = [m.generation for m in machines if m is not machine]
    shared = {fact for g in others if g.nc_version != mine.nc_version for fact in g.facts}
    siblings = [set(g.facts) for g in others if g.nc_version == mine.nc_version]
    counted = ("size", "sbuf", "psum") if len(machines) > 1 else ()
    own = [fact for fact in mine.facts if fact not in shared and fact[0] not in counted]
    if siblings and any(set(own) <= facts for facts in siblings):
        return own if mine.name == min(g.name for g in (*others, mine) if g.nc_version == mine.nc_version) else []
    common = set().union(*siblings) if siblings else set()
    return [fact for fact in own if fact not in common] or own


def _detail(machine: Machine) -> None:
    gen, g = machine.generation, machine.generation.geometry
    n = _counts(machine)
    show.heading(f"{gen.name}: {gen.title}")
    psum = f"{g.psum_banks} banks x {g.psum_bank_bytes} bytes, {g.psum_stride // 1024} KiB apart"
    psum += f"; window 0x{g.psum_window:x} at 0x{g.psum_base:x}" if g.psum_window else "; no address names it"
    show.definitions(
        [
            ("counts", f"{n['opcodes']} opcodes, {n['dtypes']} dtypes, {n['operators']} ALU operators"),
            ("SBUF", f"{g.partitions} partitions of {g.sbuf_active // 1024} KiB, {g.sbuf_stride // 1024} KiB apart; window 0x{g.sbuf_window:x} at 0x0"),
            ("PSUM", f"{g.partitions} partitions of {psum}"),
            ("record forms", ", ".join(sorted(gen.features)) or "plain"),
            ("from", machine.owners.get(("set", "dtype"), gen.name)),
            ("evidence", f"{gen.evidence.confidence}: {gen.evidence.source}"),
        ]
    )  # fmt: skip
    click.echo()
    show.heading("What it is like")
    show.definitions(list(gen.facts))
    click.echo()
    show.heading("Engines")
    bound: dict[str, int] = {}
    for b in machine.bindings.values():
        for engine in b.engines:
            bound[engine] = bound.get(engine, 0) + 1
    rows = [
        (
            e.name, str(e.index), str(e.instances), str(bound.get(e.name, 0)), "yes" if e.reaches_psum else "no",
            e.accumulators or "-", e.title,
        )
        for e in machine.engines.values()
    ]  # fmt: skip
    columns = [
        show.Column("engine", style="bold"), show.Column("number", right=True), show.Column("instances", right=True),
        show.Column("instructions", right=True), show.Column("PSUM", keep=2), show.Column("accumulators", keep=1),
        show.Column("title", keep=3),
    ]  # fmt: skip
    if not any(e.title for e in machine.engines.values()):
        columns, rows = columns[:-1], [row[:-1] for row in rows]  # type: ignore[misc]
    show.table(columns, rows)
    click.echo()
    show.heading(f"Policies (profile {machine.profile})")
    from gpsimd_core.isa.policies import POLICIES

    help_of = {p.name: f"{p.help} ({' '.join(p.values)})" for p in POLICIES}
    show.definitions([(f"{k} = {v}", help_of.get(k, "")) for k, v in sorted(machine.policies.items())])
    for reading in gen.evidence.readings:
        click.echo()
        show.heading(f"Disputed: {reading.topic}")
        show.definitions(
            [("taken", reading.chosen), *(("not taken", b) for b in reading.beaten), ("because", reading.why)]
        )


def _record(machine: Machine) -> dict[str, Any]:
    from attrs import asdict

    gen = machine.generation
    return {
        "name": gen.name, "nc_version": gen.nc_version, "title": gen.title, **_counts(machine),
        "geometry": asdict(gen.geometry), "features": sorted(gen.features), "facts": dict(gen.facts),
        "engines": list(machine.engines), "policies": dict(machine.policies),
    }  # fmt: skip
