"""`gpsimd blobs`: the device-blob catalogue, and a real library file against it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from gpsimd_core import host
from gpsimd_core.blobs import Catalogue, Place
from gpsimd_core.errors import PluginTrouble, UsageError
from gpsimd_core.machine import Machine, suggest
from gpsimd_core.values import KernelRow, KernelTable

__all__ = ["command"]


@frozen(kw_only=True)
class _Source:
    """The catalogue of the generations at hand, and their machines, which know opcode names."""

    catalogue: Catalogue
    machines: dict[str, Machine]

    def opcode_name(self, generation: str, opcode: int) -> str:
        """Name of an opcode, or `-` where the generation does not declare it."""
        row = self.machines[generation].opcodes.get(opcode)
        return row.name if row else "-"

    def opcode_called(self, name: str) -> int | None:
        """The opcode of an instruction's name or alias on any of the generations."""
        return next((m.names[name.lower()] for m in self.machines.values() if name.lower() in m.names), None)


def _source(gen: str | None) -> _Source:
    """One generation, or every installed one; then one that does not load is only a warning."""
    machines = {}
    for name in (gen,) if gen else host.generations():
        try:
            machines[name] = host.load(name)
        except PluginTrouble as e:
            if gen:
                raise
            click.echo(f"warning: {e}", err=True)
    if not machines:
        raise PluginTrouble("no generation is installed; install one, for example gpsimd-cayman")
    values = [value for m in machines.values() for value in m.hooks.blobs(m.generation)]
    return _Source(catalogue=Catalogue.of(values), machines=machines)


def _common(*names: str) -> Callable[[Any], Any]:
    options = {
        "gen": click.option("--gen", help="This generation only; every installed one otherwise."),
        "engine": click.option("--engine", help="Blobs of this engine: pe, act, pool, dve or sp."),
        "build": click.option("--build", help="Blobs of this build, such as DEBUG or PERF."),
        "core": click.option("--core", help="Blobs of this core: NX or Q7."),
        "region": click.option("--region", help="Blobs of this region, such as DRAM or IRAM."),
        "json": click.option("--json", "as_json", is_flag=True, help="One JSON object a line."),
    }

    def add(f: Any) -> Any:
        for name in reversed(names):
            f = options[name](f)
        return f

    return add


def _inherit(ctx: click.Context, gen: str | None, as_json: bool) -> tuple[str | None, bool]:
    """The common options, which may also stand before the verb."""
    before = ctx.find_root().params
    return gen or before.get("gen"), as_json or bool(before.get("as_json") or before.get("json"))


def _print_rows(rows: Iterable[dict[str, Any]], as_json: bool, line: Callable[[dict[str, Any]], str]) -> None:
    for row in rows:
        click.echo(json.dumps(row) if as_json else line(row))


@click.group("blobs", help="The device-blob catalogue, and a real library file against it.")
def command() -> None:
    """`gpsimd blobs`."""


@command.command("list")
@_common("gen", "engine", "build", "core", "region", "json")
@click.option("--notes", is_flag=True, help="What else is known about the firmware, instead of the blobs.")
@click.pass_context
def list_blobs(
    ctx: click.Context,
    gen: str | None,
    engine: str | None,
    build: str | None,
    core: str | None,
    region: str | None,
    as_json: bool,
    notes: bool,
) -> None:
    """List the blobs with file offset, size, device address and self-names."""
    gen, as_json = _inherit(ctx, gen, as_json)
    catalogue = _source(gen).catalogue
    rows: list[dict[str, Any]]
    if notes:
        rows = [{"generation": n.generation, "topic": n.topic, "text": n.text} for n in catalogue.notes]
        _print_rows(rows, as_json, lambda r: f"{r['generation']:13} {r['topic']:17} {r['text']}")
        return
    sites = catalogue.select(engine=engine, build=build, core=core, region=region)
    rows = [
        {
            "symbol": s.symbol, "generation": s.generation, "offset": s.offset, "size": s.size, "device": s.base,
            "sha256": s.sha256, "names": [n.text for n in s.self_names],
        }
        for s in sites
    ]  # fmt: skip
    if rows and not as_json:
        click.echo(f"{'symbol':44} {'offset':>8} {'size':>8} {'device':>9}  names")
    _print_rows(
        rows,
        as_json,
        lambda r: (
            f"{r['symbol']:44} {r['offset']:#8x} {r['size']:#8x} {_hex(r['device']):>9}  {len(r['names']) or '-'}"
        ),
    )
    click.echo(f"{len(rows)} blobs", err=True)
    if not rows:
        ctx.exit(1)


@command.command()
@click.argument("target")
@_common("gen", "engine", "build", "json")
@click.option("--va", is_flag=True, help="TARGET is a device address.")
@click.pass_context
def find(
    ctx: click.Context, target: str, gen: str | None, engine: str | None, build: str | None, as_json: bool, va: bool
) -> None:
    """Find a place or a name.

    TARGET is an opcode up to 0xFF, a larger file offset, a device address with --va, or else a whole self-name or
    the name of an instruction.
    """
    gen, as_json = _inherit(ctx, gen, as_json)
    source = _source(gen)
    places, kernels = _search(source, target, va)
    allowed = {s.symbol for s in source.catalogue.select(engine=engine, build=build)}
    places = [p for p in places if p.site.symbol in allowed]
    rows = [_place_row(source, p) for p in places] + [_kernel_row(source, t, r) for t, r in kernels]
    _print_found(rows, as_json)
    if not rows:
        click.echo(f"nothing: {_not_found(source, target, va)}", err=True)
        ctx.exit(1)
    if not as_json and not (engine or build):
        for name in dict.fromkeys(p.self_name.text for p in places if p.self_name):
            count = source.catalogue.occurrences(name)
            text = f"{name}: {count.placed} placed here"
            if count.unplaced:
                text += f", {count.unplaced} more in blobs whose place is not published"
            if count.expected is not None:
                text += f"; {count.expected} in the whole library"
            click.echo(text, err=True)


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return int(text) if text.isdecimal() else None


def _search(source: _Source, target: str, va: bool) -> tuple[list[Place], tuple[tuple[KernelTable, KernelRow], ...]]:
    catalogue, number = source.catalogue, _number(target)
    if va:
        if number is None:
            raise UsageError(f"--va takes an address, not {target!r}")
        return list(catalogue.at_device(number)), ()
    if number is not None and number > 0xFF:
        return list(catalogue.at(number)), ()
    if number is None:
        named = catalogue.named(target)
        if named or target in catalogue.texts():
            return list(named), ()
        number = source.opcode_called(target)
    if number is None or number < 0:
        return [], ()
    return list(catalogue.names_of(number)), catalogue.kernels_of(number)


def _not_found(source: _Source, target: str, va: bool) -> str:
    number, where = _number(target), ", ".join(source.machines)
    if not va and number is None:
        number = source.opcode_called(target)
    if va:
        return f"no blob of {where} with a known device address holds {target}"
    if number is not None and number > 0xFF:
        return f"no blob of {where} holds file offset {target}"
    if number is not None:
        return f"no self-name or kernel row of {where} belongs to opcode {target}"
    return f"no self-name or instruction of {where} is called {target!r}{suggest(target, source.catalogue.texts())}"


def _place_row(source: _Source, place: Place) -> dict[str, Any]:
    name = place.self_name
    opcodes = name.opcodes if name else ()
    generation = place.site.generation
    return {
        "generation": generation,
        "symbol": place.site.symbol,
        "engine": place.site.engine,
        "offset": place.offset,
        "into": place.offset - place.site.offset,
        "device": place.address,
        "name": name.text if name else None,
        "opcodes": {f"0x{o:02X}": source.opcode_name(generation, o) for o in opcodes},
        "confidence": (name or place.site).evidence.confidence,
    }


def _kernel_row(source: _Source, table: KernelTable, row: KernelRow) -> dict[str, Any]:
    return {
        "generation": table.generation,
        "symbol": table.symbol,
        "image": table.image,
        "opcodes": {f"0x{row.opcode:02X}": source.opcode_name(table.generation, row.opcode)},
        "spec": row.spec,
        "function": row.function,
        "kernel": row.kernel,
        "confidence": table.evidence.confidence,
    }


def _print_found(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        _print_rows(rows, as_json, str)
        return
    above = None
    for row in rows:
        opcodes = ", ".join(f"{o} {n}" for o, n in row["opcodes"].items())
        if "image" in row:
            title = f"kernel tables: {opcodes}"
        else:
            title = f"{row['name']} ({opcodes})" if row["name"] else "no self-name"
        if title != above:
            click.echo(title)
            above = title
        doubt = "" if row["confidence"] == "HIGH/OBSERVED" else f"  {row['confidence']}"
        if "image" in row:
            place = f"{row['image']}  spec {row['spec']}  {row['function']:#010x}  {row['kernel']}"
        else:
            place = f"{row['offset']:#08x}  device {_hex(row['device']):>7}  {row['symbol']} + {row['into']:#x}"
        click.echo(f"  {row['generation']:12}  {place}{doubt}".rstrip())


def _hex(number: int | None) -> str:
    return "-" if number is None else f"{number:#x}"


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@_common("gen", "json")
@click.option("--content", is_flag=True, help="Also compare the published digests of the blobs' bytes.")
@click.pass_context
def verify(ctx: click.Context, file: Path, gen: str | None, as_json: bool, content: bool) -> None:
    """Compare a host library FILE with the catalogue: symbols, names, counts and, if asked, content."""
    from gpsimd_core.hostlibrary import HostLibrary, verify

    gen, as_json = _inherit(ctx, gen, as_json)
    catalogue = _source(gen).catalogue
    with HostLibrary(file) as library:
        checks = verify(library, catalogue, content)
    wrong = sum(len(c.mismatches) for c in checks)
    for c in checks:
        if as_json:
            row = {"check": c.name, "compared": c.compared, "absent": len(c.absent), "note": c.note}
            row["mismatches"] = [{"subject": m.subject, "expected": m.expected, "found": m.found} for m in c.mismatches]
            click.echo(json.dumps(row | {"counted": dict(c.counted)}))
            continue
        parts = [c.note] if c.note else [f"{c.compared} compared", f"{len(c.mismatches)} wrong"]
        if c.absent:
            parts.append(f"{len(c.absent)} not in this file")
        if c.counted:
            parts.append(f"{len(c.counted)} more names counted and not judged")
        click.echo(f"{c.name} {', '.join(parts)}")
        for m in c.mismatches:
            click.echo(f"  {m.subject}: expected {m.expected}, found {m.found}")
    click.echo(f"{file}: {f'{wrong} wrong' if wrong else 'agrees with the catalogue'}", err=True)
    if wrong:
        ctx.exit(1)


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@_common("gen", "engine", "build", "core", "region", "json")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write to.")
@click.pass_context
def carve(
    ctx: click.Context,
    file: Path,
    gen: str | None,
    engine: str | None,
    build: str | None,
    core: str | None,
    region: str | None,
    as_json: bool,
    output: Path,
) -> None:
    """Write blobs of a host library FILE: <symbol>.bin each, and carve.json."""
    from gpsimd_core.hostlibrary import HostLibrary, carve

    gen, as_json = _inherit(ctx, gen, as_json)
    sites = _source(gen).catalogue.select(engine=engine, build=build, core=core, region=region)
    if not sites:
        raise UsageError("no blob answers to this; see gpsimd blobs list")
    with HostLibrary(file) as library:
        rows = carve(library, sites, output)
    _print_rows(rows, as_json, lambda r: f"{r['symbol']}.bin  {r['offset']:#x}  {r['size']:#x}  {r['sha256']}")
    click.echo(f"{len(rows)} blobs written to {output}", err=True)


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@_common("gen", "json")
@click.option("--image", help="Which image FILE is, such as EXTISA_0; found out by name or content otherwise.")
@click.option("--offset", help="File offset of the table.")
@click.option("--count", type=click.IntRange(1, 256), help="Records of the table.")
@click.pass_context
def kernels(
    ctx: click.Context,
    file: Path,
    gen: str | None,
    as_json: bool,
    image: str | None,
    offset: str | None,
    count: int | None,
) -> None:
    """Print the kernel-info table of a carved image FILE: opcode, spec, address of the function."""
    from gpsimd_core.hostlibrary import MappedFile
    from gpsimd_core.kernelinfo import find_table, known_table, read_table

    gen, as_json = _inherit(ctx, gen, as_json)
    source = _source(gen)
    at = None if offset is None else _number(offset)
    if offset is not None and (at is None or at < 0):
        raise UsageError(f"--offset takes a file offset, not {offset!r}")
    with MappedFile(file) as mapped:
        table = known_table(mapped, source.catalogue, gen if image else None, image)
        if table is None and (at is None or count is None):
            raise UsageError(f"{file}: not a known image; give --gen and --image, or --offset and --count")
        if at is None:
            assert table is not None
            at = find_table(mapped, table)
        rows = read_table(mapped, at, count or len(table.rows if table else ()))
    published = table.rows if table else ()
    names = source.machines[table.generation if table else gen or next(iter(source.machines))].opcodes
    shown = []
    for i, row in enumerate(rows):
        known = published[i] if i < len(published) else None
        same = known and (known.opcode, known.spec, known.function) == (row.opcode, row.spec, row.function)
        shown.append(
            {
                "index": i, "opcode": row.opcode, "name": names[row.opcode].name if row.opcode in names else None,
                "spec": row.spec, "function": row.function,
                "kernel": known.kernel if known and same else "",
                "published": None if known is None else bool(same),
            }
        )  # fmt: skip
    if table and not as_json:
        click.echo(f"{table.generation} {table.image}: {len(rows)} records at {at:#x}", err=True)
    _print_rows(shown, as_json, _kernel_line)


def _kernel_line(row: dict[str, Any]) -> str:
    remark = "  not as published" if row["published"] is False else ""
    text = f"{row['index']:3}  0x{row['opcode']:02X}  {row['spec']:3}  {row['function']:#010x}  {row['name'] or '?':28}"
    return f"{text}  {row['kernel']}{remark}".rstrip()
