"""`gpsimd run`: load tensors, validate, execute, write outputs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from gpsimd_core.cli.job import Job
from gpsimd_core.cli.session import Session

if TYPE_CHECKING:
    import numpy as np

    from gpsimd_core.errors import Fault
    from gpsimd_core.neuroncore import NeuronCore, Result
    from gpsimd_core.program import Program
    from gpsimd_core.report import Violation
    from gpsimd_core.stream import Notice

__all__ = ["command"]

WRONG = ("race", "stray", "schedule")
"""Notices of a check that make its answer no."""


@click.command("run")
@click.argument("file")
@click.option(
    "-i", "--input", "inputs", multiple=True, metavar="NAME=FILE.npy",
    help="An input tensor; or a folder that holds NAME.npy for each input. Repeatable.",
)  # fmt: skip
@click.option("-o", "--output", metavar="DIR", help="Folder for NAME.npy of each output; made if it is not there.")
@click.option("--max-instructions", type=click.IntRange(min=1), metavar="N", help="Fault at the one after N.")
@click.option(
    "--compiled/--plain", default=None,
    help="Compile the kernels, or run the same functions as plain Python; by default small programs run plain.",
)  # fmt: skip
@click.option(
    "--check", is_flag=True,
    help="Report races, reads of bytes that nobody wrote, and accumulators folded in vain. Exit 1 on the first two.",
)  # fmt: skip
@click.option(
    "--schedule", "seed", type=click.IntRange(min=0), metavar="SEED",
    help="Of several streams: let chance, so seeded, pick the engine that steps next. Default: round robin.",
)  # fmt: skip
@click.option(
    "--schedules", type=click.IntRange(min=1), metavar="N",
    help="Run under the N schedules of seeds 0 to N - 1, with --check, and compare how they end.",
)  # fmt: skip
@click.option(
    "--trace", "trace_file", metavar="FILE",
    help="Record each instruction: .jsonl, .json (Perfetto, chrome://tracing), .parquet, else binary.",
)  # fmt: skip
@click.option("--trace-hashes", is_flag=True, help="Add hashes of outputs and accumulators to the trace.")
@click.option(
    "--watch", multiple=True, metavar="NAME[p,i]", help="Print every instruction that changes the element. Repeatable."
)
@click.option(
    "--break", "at", metavar="[ENGINE:]N",
    help="Stop before instruction N and show the state; on a terminal, ask how to go on.",
)  # fmt: skip
@click.pass_obj
def command(
    session: Session,
    file: str,
    inputs: tuple[str, ...],
    output: str | None,
    max_instructions: int | None,
    compiled: bool | None,
    check: bool,
    seed: int | None,
    schedules: int | None,
    trace_file: str | None,
    trace_hashes: bool,
    watch: tuple[str, ...],
    at: str | None,
) -> None:
    """Run a program on tensors and write its outputs.

    FILE is assembly text (.tpb) or records (.bin with --manifest); - is standard input. Every input tensor of the
    program is needed. The whole program is validated first; nothing is written unless all of it succeeds. Elements
    of bf16, fp8, fp4 and e8m0 have no name in .npy files: their codes are stored as uint16 or uint8, and read as such
    or as numpy.save stores an ml_dtypes array.
    """
    from gpsimd_core.cli import observe, show, tensorfiles
    from gpsimd_core.errors import Fault, UsageError, Violated
    from gpsimd_core.watch import Stopped

    if schedules is not None and (seed is not None or trace_file or watch or at or max_instructions):
        raise UsageError("--schedules goes with none of --schedule, --trace, --watch, --break, --max-instructions")
    job = Job(session, file, inputs, compiled)
    machine = session.machine(job.declared)
    program = job.program(machine)
    core = job.core(machine, program)
    wanted = [t for t in program.tensors.values() if t.direction in ("out", "inout")]
    if wanted and output is None:
        raise UsageError(f"the program has outputs ({', '.join(t.name for t in wanted)}): give a folder with -o DIR")
    folder = Path(output) if output is not None else None
    if folder is not None:
        tensorfiles.check_folder(folder)
    schedule = "round_robin" if seed is None else seed
    about = {"program": program.name, "schedule": schedule}
    looking = observe.watching(session, core, program, watch)
    breaks = observe.breaking(session, core, at)
    compiling = show.waiting("running; kernels are compiled on first use and kept on disk", on=core.compiles)
    try:
        if schedules is not None:
            with compiling:
                core, result = _explore(job, core, program, schedules)
        else:
            with observe.tracing(core, trace_file, trace_hashes, about) as tracers, compiling:
                result = core.run(
                    program, schedule=schedule, check=check, watchers=[*tracers, *looking, *breaks],
                    max_instructions=max_instructions,
                )  # fmt: skip
    except Violated as e:
        if str(e) != str(e.report):
            session.say(str(e).partition("\n")[0])
        show.report(e.report, err=True)
        session.say("nothing was executed, nothing written")
        click.get_current_context().exit(1)
    except Fault as e:
        _fault(session, program, e)
    except Stopped:
        session.say("stopped before the end; nothing was written")
        click.get_current_context().exit(0)
    if breaks and not breaks[0].reached:
        session.say(f"note: the program ended before it came to --break {at}")
    arrays = {t.name: tensorfiles.fetch(core, t) for t in wanted}
    if folder is not None:
        tensorfiles.save(folder, arrays)
    if session.as_json:
        _json(core, program, result, arrays, folder)
    else:
        _summary(core, program, result, arrays, folder)
    if any(n.kind in WRONG for n in result.notices):
        click.get_current_context().exit(1)


def _explore(job: Job, core: NeuronCore, program: Program, count: int) -> tuple[NeuronCore, Result]:
    """Run under many schedules. Where they end alike, the core of the first and its result, with all notices."""
    from attrs import evolve

    from gpsimd_core.explore import explore

    first = [core]

    def prepare() -> NeuronCore:
        return first.pop() if first else job.core(core.machine, program)

    found = explore(prepare, program, range(count))
    end = found.ends[0]
    if found.agree and end.result is not None:
        job.session.say(f"{count} schedules, and all end alike")
        return end.core, evolve(end.result, notices=found.notices)
    _notices(job.session, found.notices)
    faults = [e.fault for e in found.ends if e.fault is not None]
    if faults:
        _fault(job.session, program, faults[0])
    job.session.say("nothing was written")
    raise click.exceptions.Exit(1)


def _fault(session: Session, program: Program, e: Fault) -> NoReturn:
    text = f"gpsimd: {_where(program, e)}{e}"
    session.say(f"{text}\nnothing was written" if "\n" in text else f"{text}; nothing was written")
    for note in getattr(e, "__notes__", ()):
        session.say(f"notice: {note}")
    click.get_current_context().exit(e.exit_code)


def _where(program: Program, e: Fault) -> str:
    """Which instruction a fault belongs to; several streams say it themselves."""
    if e.index is None or e.positions:
        return ""
    name = program[e.index].name
    return f"instruction {e.index} (byte 0x{e.index * 64:x}), {name} on {program.machine.generation.name}: "


def _warnings(result: Result) -> list[tuple[str, Violation]]:
    """Every warning with the stream that it stands in."""
    return [(stream, w) for stream, report in result.reports.items() for w in report.warnings]


def _policies(core: NeuronCore) -> dict[str, Any]:
    return dict(core.machine.overridden)


def _lanes(core: NeuronCore) -> dict[str, int]:
    """Engine to how many of its accumulator lanes hold a value."""
    return {engine: int(core.accumulators.defined(engine).sum()) for engine in core.accumulators}


def _json(
    core: NeuronCore, program: Program, result: Result, arrays: dict[str, np.ndarray[Any, Any]], folder: Path | None
) -> None:
    from gpsimd_core.cli import observe, tensorfiles

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
        Session.emit(observe.notice(n))


def _summary(
    core: NeuronCore,
    program: Program,
    result: Result,
    arrays: dict[str, np.ndarray[Any, Any]],
    folder: Path | None,
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
            ("time", _time(result.seconds) + (", kernels compiled" if core.compiles else ", kernels as plain Python")),
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
    for stream, w in _warnings(result):
        show.paragraph(f"{stream}{' ' * bool(stream)}instruction {w.index}, {w.name}: {w}", "  ", "warning: ")
    _notices(None, result.notices)


def _notices(session: Session | None, notices: Iterable[Notice]) -> None:
    """Notices as text; through `session`, as it wants them."""
    from gpsimd_core.cli import observe, show

    for n in notices:
        if session is not None and session.as_json:
            Session.emit(observe.notice(n))
        else:
            show.paragraph(str(n), "  ", "notice: ")


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _number(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.6g}"
