"""`gpsimd diff`: one program twice, and where the two first part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpsimd_core.cli.job import Job
from gpsimd_core.cli.session import Session
from gpsimd_core.errors import UsageError

if TYPE_CHECKING:
    from gpsimd_core.diff import Comparison
    from gpsimd_core.machine import Machine
    from gpsimd_core.program import Program

__all__ = ["command"]


@click.command("diff")
@click.argument("file")
@click.option(
    "-i", "--input", "inputs", multiple=True, metavar="NAME=FILE.npy",
    help="An input tensor; or a folder that holds NAME.npy for each input. Repeatable.",
)  # fmt: skip
@click.option("--gens", metavar="A,B", help="Compare generations; the first with each of the others.")
@click.option("--profiles", metavar="A,B", help="Compare profiles.")
@click.option("--vary", metavar="KEY=V1,V2", help="Compare values of a policy.")
@click.option("--trace", "trace_file", metavar="FILE", help="Compare with a trace that was recorded with hashes.")
@click.option(
    "--golden", multiple=True, metavar="NAME=FILE.npy", help="Compare a tensor with what it should be. Repeatable."
)
@click.option(
    "--ulps", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
    help="Let elements differ by N units of the last place of their dtype.",
)  # fmt: skip
@click.option("--all", "every", is_flag=True, help="Go on to the end, and tell every difference.")
@click.option("--schedule", "seed", type=click.IntRange(min=0), metavar="SEED", help="As of `run`.")
@click.option("--compiled/--plain", default=None, help="As of `run`.")
@click.pass_obj
def command(
    session: Session,
    file: str,
    inputs: tuple[str, ...],
    gens: str | None,
    profiles: str | None,
    vary: str | None,
    trace_file: str | None,
    golden: tuple[str, ...],
    ulps: int,
    every: bool,
    seed: int | None,
    compiled: bool | None,
) -> None:
    """Run one program twice and show where the two first differ: instruction, operand, partition, element, bits,
    values, and the distance in units of the last place.

    Two generations, profiles or policies run in lock step. A trace tells by its hashes which instruction differs, and
    golden tensors are compared at the end. Exit 0: no difference. Exit 1: there is one.
    """
    asked = [x for x in (gens, profiles, vary, trace_file, golden) if x]
    if len(asked) != 1:
        raise UsageError("diff takes one of --gens, --profiles, --vary, --trace and --golden")
    job = Job(session, file, inputs, compiled)
    schedule = "round_robin" if seed is None else seed
    common = {"every": every, "schedule": schedule}
    if trace_file or golden:
        comparisons = [_recorded(job, trace_file, golden, ulps, common)]
    else:
        machines = _machines(job, gens, profiles, vary)
        comparisons = _lockstep(job, machines, {**common, "ulps": ulps})
    for c in comparisons:
        if session.as_json:
            _json(c)
        else:
            click.echo(str(c))
    if not all(c.equal for c in comparisons):
        click.get_current_context().exit(1)


def _machines(job: Job, gens: str | None, profiles: str | None, vary: str | None) -> dict[str, Machine]:
    """What to compare, by name."""
    from gpsimd_core.host import load

    session = job.session
    key, equals, values = (vary or "").partition("=")
    if vary and (not equals or not key):
        raise UsageError(f"--vary takes KEY=V1,V2, not {vary!r}")
    names = [n.strip() for n in (gens or profiles or values).split(",")]
    if len(names) < 2 or len(set(names)) < len(names) or not all(names):
        raise UsageError(f"two or more different names are needed, parted by commas, not {','.join(names)!r}")
    found = {}
    for name in names:
        generation = name if gens else session.generation(job.declared)
        profile = name if profiles else session.profile
        policies = {**session.policies, key: name} if vary else session.policies
        machine = load(generation, profile, policies, without=session.without, strict=session.strict)
        for warning in machine.warnings:
            session.warn(warning)
        found[f"{key}={name}" if vary else name] = machine
    return found


def _lockstep(job: Job, machines: Mapping[str, Machine], options: Mapping[str, Any]) -> list[Comparison]:
    from gpsimd_core.cli import show
    from gpsimd_core.diff import lockstep

    programs = {name: job.program(machine) for name, machine in machines.items()}
    refused = False
    for name, machine in machines.items():
        report = machine.validate(programs[name])
        if not report.ok:
            job.session.say(f"{name} refuses the program:")
            show.report(report, err=True)
            refused = True
    if refused:
        click.get_current_context().exit(1)
    first, *others = machines
    return [
        lockstep(
            (job.core(machines[first], programs[first]), programs[first]),
            (job.core(machines[other], programs[other]), programs[other]),
            sides=(first, other), **options,
        )
        for other in others
    ]  # fmt: skip


def _recorded(
    job: Job, trace_file: str | None, golden: Sequence[str], ulps: int, options: Mapping[str, Any]
) -> Comparison:
    from gpsimd_core import diff, tracefile
    from gpsimd_core.cli import show
    from gpsimd_core.errors import Fault, Violated

    session = job.session
    recorded = tracefile.read(Path(trace_file)) if trace_file else None
    machine = session.machine(job.declared)
    program = job.program(machine)
    core = job.core(machine, program)
    try:
        if recorded is not None:
            for key, now in (("generation", machine.generation.name), ("profile", machine.profile)):
                if recorded.header[key] != now:
                    session.say(f"note: the trace was recorded on {key} {recorded.header[key]}, this is {now}")
            return diff.against_trace(core, program, recorded, **options)
        return diff.against_golden(core, program, _golden(machine, program, golden), ulps=ulps, **options)
    except Violated as e:
        show.report(e.report, err=True)
        session.say("nothing was executed")
        click.get_current_context().exit(1)
    except Fault as e:
        session.say(f"gpsimd: {e}")
        click.get_current_context().exit(e.exit_code)


def _golden(machine: Machine, program: Program, texts: Sequence[str]) -> dict[str, Any]:
    """Tensor name to the codes that its file holds."""
    from gpsimd_core.cli import tensorfiles
    from gpsimd_core.errors import BadInput
    from gpsimd_core.neuroncore import NeuronCore

    scratch = NeuronCore(machine, compiled=False)
    found = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals or name not in program.tensors:
            there = ", ".join(program.tensors) or "no tensors"
            raise UsageError(f"--golden takes NAME=FILE.npy of a tensor, not {text!r}; the program has {there}")
        t = program.tensors[name]
        try:
            tensorfiles.load(scratch, t, Path(path))
        except BadInput as e:
            raise BadInput(str(e).replace("input ", "golden ", 1)) from None
        region, kind = scratch.memory.region(t.tensor.region), machine.formats[int(t.tensor.code)].code_dtype
        found[name] = region.read(t.tensor.partition, t.tensor.offset, shape=t.tensor.shape, dtype=kind)
    return found


def _json(c: Comparison) -> None:
    from attrs import asdict

    for d in c.differences:
        Session.emit({"kind": "difference", "sides": c.sides, **asdict(d)})
    Session.emit(
        {"kind": "diff", "sides": c.sides, "equal": c.equal, "instructions": c.instructions,
         "differences": len(c.differences)}
    )  # fmt: skip
