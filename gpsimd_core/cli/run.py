"""`gpsimd run`: load tensors, validate, execute, write outputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpsimd_core.cli.session import Session

if TYPE_CHECKING:
    import numpy as np

    from gpsimd_core.errors import Fault
    from gpsimd_core.neuroncore import NeuronCore, Result
    from gpsimd_core.program import Program
    from gpsimd_core.report import Violation

__all__ = ["command"]

SMALL = 1 << 17
"""Elements up to which plain Python has finished before a compiler has started."""


@click.command("run")
@click.argument("file")
@click.option(
    "-i", "--input", "inputs", multiple=True, metavar="NAME=FILE.npy",
    help="An input tensor; or a folder that holds NAME.npy for each input. Repeatable.",
)  # fmt: skip
@click.option("-o", "--output", metavar="DIR", help="Folder for NAME.npy of each output; made if it is not there.")
@click.option("--max-instructions", type=click.IntRange(min=1), metavar="N", help="Refuse a longer program.")
@click.option(
    "--compiled/--plain", default=None,
    help="Compile the kernels, or run the same functions as plain Python; by default small programs run plain.",
)  # fmt: skip
@click.pass_obj
def command(
    session: Session,
    file: str,
    inputs: tuple[str, ...],
    output: str | None,
    max_instructions: int | None,
    compiled: bool | None,
) -> None:
    """Run a program on tensors and write its outputs.

    FILE is assembly text (.tpb) or records (.bin with --manifest); - is standard input. Every input tensor of the
    program is needed. The whole program is validated first; nothing is written unless all of it succeeds. Elements
    of bf16, fp8, fp4 and e8m0 have no name in .npy files: their codes are stored as uint16 or uint8, and read as such
    or as numpy.save stores an ml_dtypes array.
    """
    from gpsimd_core.cli import show, tensorfiles
    from gpsimd_core.errors import Fault, UsageError, Violated
    from gpsimd_core.manifest import load_program, read_manifest, read_source
    from gpsimd_core.neuroncore import NeuronCore
    from gpsimd_core.pipeline import MAX_ELEMENTS

    source = read_source(file)
    manifest = read_manifest(session.manifest) if session.manifest else None
    machine = session.machine(source.generation or (manifest.generation if manifest else None))
    program = load_program(machine, source, manifest)
    given = tensorfiles.assign(program, inputs)
    wanted = [t for t in program.tensors.values() if t.direction in ("out", "inout")]
    if wanted and output is None:
        raise UsageError(f"the program has outputs ({', '.join(t.name for t in wanted)}): give a folder with -o DIR")
    folder = Path(output) if output is not None else None
    if folder is not None:
        tensorfiles.check_folder(folder)
    if compiled is None:
        compiled = _elements(program) > SMALL
    core = NeuronCore(machine, compiled=compiled, max_elements=session.max_elements or MAX_ELEMENTS)
    for name, path in given.items():
        tensorfiles.load(core, program.tensors[name], path)
    try:
        with show.waiting("running; kernels are compiled on first use and kept on disk", on=compiled):
            result = core.run(program, max_instructions=max_instructions)
    except Violated as e:
        show.report(e.report, err=True)
        session.say("nothing was executed, nothing written")
        click.get_current_context().exit(1)
    except Fault as e:
        session.say(f"gpsimd: {_where(program, e)}{e}; nothing was written")
        click.get_current_context().exit(e.exit_code)
    arrays = {t.name: tensorfiles.fetch(core, t) for t in wanted}
    if folder is not None:
        tensorfiles.save(folder, arrays)
    if session.as_json:
        _json(core, program, result, arrays, folder)
    else:
        _summary(core, program, result, arrays, folder, compiled)


def _where(program: Program, e: Fault) -> str:
    """Which instruction a fault belongs to; several streams say it themselves."""
    if e.index is None or len(set(program.streams or ())) > 1:
        return ""
    name = program[e.index].name
    return f"instruction {e.index} (byte 0x{e.index * 64:x}), {name} on {program.machine.generation.name}: "


def _warnings(result: Result) -> list[tuple[str, Violation]]:
    """Every warning with the stream that it stands in."""
    return [(stream, w) for stream, report in result.reports.items() for w in report.warnings]


def _elements(program: Program) -> int:
    """Elements that the largest operands of the records have together, all channels counted."""
    import numpy as np

    total = 0
    for group in program.groups:
        most = np.ones(len(group.columns), np.int64)
        for f in group.layout.fields:
            if f.kind == "tensor":
                most = np.maximum(most, group.columns[f"{f.name}.num_elem"].prod(axis=1, dtype=np.int64))
        if "num_active_channels" in group.layout.leaves:
            most = most * group.columns["num_active_channels"]
        total += int(most.sum())
    return total


def _policies(core: NeuronCore) -> dict[str, Any]:
    return dict(core.machine.overridden)


def _lanes(core: NeuronCore) -> dict[str, int]:
    """Engine to how many of its accumulator lanes hold a value."""
    return {engine: int(core.accumulators.defined(engine).sum()) for engine in core.accumulators}


def _json(
    core: NeuronCore, program: Program, result: Result, arrays: dict[str, np.ndarray[Any, Any]], folder: Path | None
) -> None:
    from gpsimd_core.cli import tensorfiles

    machine = core.machine
    Session.emit(
        {
            "kind": "run", "program": program.name, "generation": machine.generation.name, "profile": machine.profile,
            "policies": _policies(core), "instructions": result.instructions, "seconds": result.seconds,
            "accumulators": _lanes(core),
        }
    )  # fmt: skip
    for name, array in arrays.items():
        t = program.tensors[name]
        low, high = tensorfiles.extremes(core, t, array)
        Session.emit(
            {
                "kind": "output", "name": name, "file": str((folder or Path()) / f"{name}.npy"),
                "shape": list(array.shape), "dtype": t.tensor.dtype, "stored": str(array.dtype), "min": low, "max": high,
            }
        )  # fmt: skip
    for stream, w in _warnings(result):
        Session.emit({"kind": "warning", "stream": stream, "index": w.index, "name": w.name, "text": str(w)})
    for n in result.notices:
        Session.emit({"kind": "notice", "index": n.index, "text": n.text})


def _summary(
    core: NeuronCore,
    program: Program,
    result: Result,
    arrays: dict[str, np.ndarray[Any, Any]],
    folder: Path | None,
    compiled: bool,
) -> None:
    from gpsimd_core.cli import show, tensorfiles

    machine = core.machine
    policies = ", ".join(f"{k}={v}" for k, v in _policies(core).items()) or "none overridden"
    lanes = ", ".join(f"{n} of 128 lanes of {engine}" for engine, n in _lanes(core).items() if n) or "none defined"
    count = result.instructions
    show.definitions(
        [
            ("program", f"{program.name}: {count} instruction{'s' if count != 1 else ''}"),
            ("generation", f"{machine.generation.name} ({machine.generation.title})"),
            ("profile", machine.profile),
            ("policies", policies),
            ("time", _time(result.seconds) + (", kernels compiled" if compiled else ", kernels as plain Python")),
            ("accumulators", lanes),
        ],
        indent="",
    )
    if not program.tensors:
        click.echo("the program names no tensors, so nothing was read or written (a .bin takes --manifest)")
    if arrays:
        click.echo()
        rows = []
        coded = False
        for name, array in arrays.items():
            t = program.tensors[name]
            low, high = tensorfiles.extremes(core, t, array)
            stored = tensorfiles.stored_as(core, t)
            coded |= stored is not None
            rows.append(
                (
                    name, "x".join(map(str, array.shape)), t.tensor.dtype + (f" as {stored}" if stored else ""),
                    _number(low), _number(high), str((folder or Path()) / f"{name}.npy"),
                )
            )  # fmt: skip
        columns = [
            show.Column("output"), show.Column("shape"), show.Column("dtype"), show.Column("min", right=True),
            show.Column("max", right=True), show.Column("written to"),
        ]  # fmt: skip
        show.table(columns, rows)
        if coded:
            click.echo("dtypes that .npy cannot name are stored as their codes")
    for kind, lines in (
        (
            "warning",
            [f"{stream}{' ' * bool(stream)}instruction {w.index}, {w.name}: {w}" for stream, w in _warnings(result)],
        ),
        ("notice", [str(n) for n in result.notices]),
    ):
        for line in lines:
            show.paragraph(line, "  ", f"{kind}: ")


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _number(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.6g}"
