"""Differences: one program on two machines in lock step, against a recorded trace, or against golden tensors.

Two elements differ when their bits do. A tolerance counts units of the last place of the element's dtype; then two NaN
are equal, and so are two zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, field, frozen

from gpsimd_core.differences import Comparison, Difference, elements, plain
from gpsimd_core.elements import statement
from gpsimd_core.errors import Fault, UsageError
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.lanestate import ACCUMULATOR
from gpsimd_core.placement import Placed, read_codes
from gpsimd_core.schedule import Event, Watcher
from gpsimd_core.step import Step
from gpsimd_core.stream import Ready, Stream
from gpsimd_core.sync import Registers
from gpsimd_core.trace import ROW, Trace, Tracer

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore
    from gpsimd_core.program import Program

__all__ = ["Comparison", "Difference", "against_golden", "against_trace", "lockstep"]

Codes = np.ndarray[Any, Any]


# Two machines in lock step ----------------------------------------------------------------------------------------------


def lockstep(
    one: tuple[NeuronCore, Program],
    two: tuple[NeuronCore, Program],
    *,
    sides: tuple[str, str],
    ulps: int = 0,
    every: bool = False,
    schedule: str | int = "round_robin",
) -> Comparison:
    """Run a program on two cores, an instruction at a time, and compare what each instruction left.

    Compared are the elements of every output, accumulators, registers, per-lane state, semaphores and events.

    Args:
        one, two: each a core with its inputs in place, and the program for its machine.
        sides: what they are called.
        ulps: differences of so many units of the last place are none.
        every: go on after a difference, to the end.
        schedule: as of `NeuronCore.run`.

    Raises:
        Violated: the program breaks a rule on one of the machines.
    """
    runs = [_Run(core, program, schedule) for core, program in (one, two)]
    found: list[Difference] = []
    count = 0
    while True:
        first, second = (run.step() for run in runs)
        if isinstance(first, Event) and isinstance(second, Event) and _same_place(runs, first, second):
            count += 1
            found += _compare(runs, first, second, ulps)
        else:
            if first is not None or second is not None:
                found += _parted(runs, first, second)
            break
        if found and not every:
            break
    if not found:
        found = list(_sync(runs))
    for run in runs:
        run.steps.close()
    return Comparison(sides=sides, instructions=count, differences=tuple(found if every else found[:1]))


class _Run(Watcher):
    def __init__(self, core: NeuronCore, program: Program, schedule: str | int) -> None:
        self.core, self.program = core, program
        self.streams: dict[str, Stream] = {}
        self.steps: Any = core.stepwise(program, schedule=schedule, watchers=[self])

    def starting(self, stream: Stream, engine: str, ready: Ready) -> None:
        self.streams[stream.engine or ""] = stream

    def step(self) -> Event | Fault | None:
        try:
            return next(self.steps, None)
        except Fault as e:
            return e

    def statement(self, event: Event) -> str:
        stream = self.streams.get(event.engine) or self.streams[""]
        return statement(stream.program, event.index)


def _same_place(runs: Sequence[_Run], a: Event, b: Event) -> bool:
    alone = all("" in run.streams for run in runs)
    return a.index == b.index and a.step.name == b.step.name and (alone or a.engine == b.engine)


def _parted(runs: Sequence[_Run], a: Event | Fault | None, b: Event | Fault | None) -> Iterator[Difference]:
    """One run went elsewhere, or ended, or faulted, where the other did not."""
    if isinstance(a, Fault) and isinstance(b, Fault) and (a.index, str(a)) == (b.index, str(b)):
        return
    words = []
    for run, x in zip(runs, (a, b), strict=True):
        if isinstance(x, Event):
            words.append(f"runs {x.engine} instruction {x.index}: {run.statement(x)}")
        else:
            words.append("has ended" if x is None else f"{type(x).__name__}: {x}")
    yield plain("what happens next", words[0], words[1])


def _compare(runs: Sequence[_Run], a: Event, b: Event, ulps: int) -> Iterator[Difference]:
    for d in (*_outputs(runs, a.step, b.step, ulps), *_state(runs, a, ulps), *_sync(runs)):
        yield evolve(d, index=a.index, engine=a.engine, statement=runs[0].statement(a))


def _outputs(runs: Sequence[_Run], a: Step, b: Step, ulps: int) -> Iterator[Difference]:
    for o in a.instruction.writes:
        p, q = a.operands[o.name], b.operands[o.name]
        x, y = _codes(runs[0].core, p), _codes(runs[1].core, q)
        formats = a.formats.get(p.code), b.formats.get(q.code)
        yield from elements(f"{o.name} at {p.at}", x, y, formats, (p.partition, p.size), ulps)


def _codes(core: NeuronCore, p: Placed) -> Codes:
    return read_codes(core.memory, p)


def _state(runs: Sequence[_Run], event: Event, ulps: int) -> Iterator[Difference]:
    """Accumulators, the rest of the lane state, and registers."""
    a, b = (run.core for run in runs)
    if not np.array_equal(a.lanes, b.lanes):
        fmt = a.machine.formats[int(Dtype.FP32)]
        for owner in (o for o in a.accumulators if o in set(b.accumulators)):
            one, two = (core.accumulators[owner].view(np.uint32)[:, None] for core in (a, b))
            yield from elements(f"accumulator of {owner}", one, two, (fmt, fmt), (0, 4), ulps)
        rest = [c for c in range(a.lanes.shape[1]) if not any(c - 1 <= owner <= c for owner in ACCUMULATOR.values())]
        yield from elements("per-lane state of the engine", a.lanes[:, rest], b.lanes[:, rest], (None, None), (0, 4), 0)
    held = [(run.streams.get(event.engine) or run.streams[""]).registers for run in runs]
    differ = (held[0].values != held[1].values) | (held[0].defined != held[1].defined)
    for number in np.flatnonzero(differ).tolist():
        yield plain(f"register r{number}", _register(held[0], number), _register(held[1], number))


def _register(held: Registers, number: int) -> str:
    return f"0x{int(held.values[number]):08x}" if held.defined[number] else "never written"


def _sync(runs: Sequence[_Run]) -> Iterator[Difference]:
    for what in ("semaphores", "events"):
        x, y = (getattr(run.core, what) for run in runs)
        for i in np.flatnonzero(x != y).tolist():
            yield plain(f"{what.removesuffix('s')} {i}", str(int(x[i])), str(int(y[i])))


# A recorded trace ----------------------------------------------------------------------------------------------------------


class _Found(Exception):
    """Ends a run at its first difference."""


@frozen(kw_only=True, eq=False)
class _Place:
    what: str
    names: tuple[str, ...]


COMPARED = (
    _Place(what="which instruction runs", names=("index", "engine", "opcode")),
    _Place(what="its wait and update", names=tuple(n for n in ROW.names or () if n.startswith(("wait", "update")))),
    _Place(what="the byte ranges of its operands", names=("places",)),
    _Place(what="the hash of its outputs", names=("output_hash",)),
    _Place(what="the hash of the accumulators after it", names=("accumulator_hash",)),
)


class _AgainstTrace(Tracer):
    def __init__(self, core: NeuronCore, trace: Trace, *, every: bool) -> None:
        super().__init__(core, hashes=True)
        self.trace_given, self.every = trace, every
        self.count = 0
        self.differences: list[Difference] = []
        self.programs: dict[str, Program] = {}

    def starting(self, stream: Stream, engine: str, ready: Ready) -> None:
        self.programs[engine] = stream.program

    def _keep(self, rows: np.ndarray[Any, Any]) -> None:
        row = rows[0]
        engine, index = self.engines[row["engine"]], int(row["index"])
        about: dict[str, Any] = {
            "index": index, "engine": engine, "statement": statement(self.programs[engine], index),
        }  # fmt: skip
        if self.count >= len(self.trace_given):
            self.differences.append(
                Difference(**about, what="what happens", values=("it runs", "the trace has ended before it"))
            )
        else:
            other = self.trace_given.rows[self.count]
            for place in COMPARED:
                if any((row[n] != other[n]).any() for n in place.names):
                    words = [", ".join(_field_text(r, n) for n in place.names) for r in (row, other)]
                    self.differences.append(Difference(**about, what=place.what, values=(words[0], words[1])))
                    break
        self.count += 1
        if self.differences and not self.every:
            raise _Found


def _field_text(row: Any, name: str) -> str:
    if name.endswith("hash"):
        return f"{int(row[name]):016x}"
    if name == "places":
        return "; ".join(f"partition {p['partition']} + {p['channels']}, bytes {p['low']}..{p['high'] - 1}"
                         for p in row[name] if p["role"])  # fmt: skip
    return f"{name} {f'0x{int(row[name]):02x}' if name == 'opcode' else int(row[name])}"


def against_trace(
    core: NeuronCore, program: Program, trace: Trace, *, every: bool = False, schedule: str | int = "round_robin"
) -> Comparison:
    """Run a program and compare each instruction with a recorded one: order, places, waits, and hashes.

    A hash tells that outputs differ and not where: run both sides in lock step to see the element.

    Args:
        core: with its inputs in place.
        program: what to run.
        trace: recorded with hashes.
        every: go on after a difference, to the end.
        schedule: the one under which it was recorded.

    Raises:
        UsageError: the trace holds no hashes.
        Violated, Fault: as `NeuronCore.run`.
    """
    if not trace.header["hashes"]:
        raise UsageError("the trace was recorded without hashes, so there is nothing to compare; use --trace-hashes")
    tracer = _AgainstTrace(core, trace, every=every)
    try:
        core.run(program, watchers=[tracer], schedule=schedule)
    except _Found:
        pass
    else:
        if tracer.count < len(trace):
            missing = f"the trace has {len(trace)} instructions"
            tracer.differences.append(plain("what happens next", f"ended after {tracer.count} instructions", missing))
    return Comparison(sides=("now", "trace"), instructions=tracer.count, differences=tuple(tracer.differences))


# Golden tensors --------------------------------------------------------------------------------------------------------


@frozen(kw_only=True, eq=False)
class _Writers(Watcher):
    """Which instruction wrote where, to name the last one that wrote an element."""

    seen: list[tuple[str, int, Step, Program]] = field(factory=list)
    programs: dict[str, Program] = field(factory=dict)

    def starting(self, stream: Stream, engine: str, ready: Ready) -> None:
        self.programs[engine] = stream.program

    def began(self, event: Event) -> None:
        self.seen.append((event.engine, event.index, event.step, self.programs[event.engine]))

    def last(self, region: str, partition: int, byte: int) -> tuple[str, int, Program] | None:
        for engine, index, step, program in reversed(self.seen):
            if any(_covers(p, region, partition, byte) for p in step.written):
                return engine, index, program
        return None


def _covers(p: Placed, region: str, partition: int, byte: int) -> bool:
    """Whether one of an operand's elements holds a byte of a partition."""
    if region != p.region or not p.partition <= partition < p.partition + p.channels or not p.low <= byte < p.high:
        return False
    reachable: Codes = np.zeros(1, np.int64)
    for n, s in zip(p.num, p.step, strict=True):
        reachable = np.unique(reachable[:, None] + np.arange(n, dtype=np.int64) * s * p.size)
    offset = byte - p.offset - reachable
    return bool(((offset >= 0) & (offset < p.size)).any())


def against_golden(
    core: NeuronCore,
    program: Program,
    golden: Mapping[str, Any],
    *,
    ulps: int = 0,
    every: bool = False,
    schedule: str | int = "round_robin",
) -> Comparison:
    """Run a program and compare tensors with what they should be.

    Args:
        core: with its inputs in place.
        program: what to run.
        golden: tensor name to array, of the tensor's shape and dtype, or of its codes.
        ulps, every, schedule: as of `lockstep`.

    Returns:
        Differences, each with the last instruction that wrote the element.

    Raises:
        UsageError: no such tensor, or an array of another shape or dtype.
        Violated, Fault: as `NeuronCore.run`.
    """
    wanted = {name: _golden(core, program, name, array) for name, array in golden.items()}
    writers = _Writers()
    result = core.run(program, watchers=[writers], schedule=schedule)
    found: list[Difference] = []
    for name, codes in wanted.items():
        t = program.tensors[name].tensor
        size = codes.dtype.itemsize
        region = core.memory.region(t.region)
        have = region.read(t.partition, t.offset, shape=codes.shape, dtype=codes.dtype)
        fmt = core.machine.formats.get(int(t.code))
        for d in elements(name, have, codes, (fmt, fmt), (t.partition, size), ulps):
            assert d.partition is not None
            assert d.element is not None
            who = writers.last(t.region, d.partition, t.offset + d.element * size)
            if who is not None:
                engine, index, where = who
                d = evolve(d, engine=engine, index=index, statement=statement(where, index))
            found.append(d)
    return Comparison(
        sides=("run", "golden"), instructions=result.instructions, differences=tuple(found if every else found[:1])
    )


def _golden(core: NeuronCore, program: Program, name: str, array: Any) -> Codes:
    if name not in program.tensors:
        there = ", ".join(program.tensors) or "none"
        raise UsageError(f"the program has no tensor {name!r}; it has {there}")
    t = program.tensors[name].tensor
    fmt = core.machine.formats[int(t.code)]
    given = np.asarray(array)
    allowed = (fmt.dtype, fmt.code_dtype)
    if given.shape != t.shape or given.dtype.newbyteorder("=") not in allowed:
        raise UsageError(
            f"golden {name} is {given.dtype} {given.shape}; the program declares {t.dtype} {t.shape} ({fmt.dtype})"
        )
    little = np.ascontiguousarray(given).astype(given.dtype.newbyteorder("<"), copy=False)
    codes: Codes = little.view(fmt.code_dtype).reshape(given.shape[0], -1)
    return codes
