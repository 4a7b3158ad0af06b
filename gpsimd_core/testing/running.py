"""Checks that run a plugin's kernels on memory full of noise. Each returns what is wrong, as text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from attrs import frozen

from gpsimd_core.errors import GpsimdError
from gpsimd_core.machine import Machine
from gpsimd_core.placement import Placed
from gpsimd_core.step import Step
from gpsimd_core.values import CompiledKernel, Instruction

if TYPE_CHECKING:
    from gpsimd_core.testing.conformance import Subject

__all__ = ["CHECKS", "Bench"]

Array = np.ndarray[Any, Any]
BLOCK = 1_000_003
"""Bytes after which the noise repeats: a prime, so that no two partitions hold the same."""

FEW = 4
"""Channels on which a kernel is tried."""


SCALARS = 4
"""What all per-lane state holds at first: accumulators are defined, and that many scalars preloaded."""


@frozen(kw_only=True, eq=False)
class Ran:
    """What one record did to a bench."""

    step: Step
    outputs: Mapping[str, Array]
    """Codes by operand, (channels, elements)."""
    lanes: Array
    stray: Array
    """Storage bytes that changed and belong to no output."""

    def same(self, other: Ran) -> str:
        """Where two runs differ; empty where they do not."""
        for name, codes in self.outputs.items():
            wrong = np.argwhere(codes != other.outputs[name])
            if len(wrong):
                channel, element = wrong[0].tolist()
                one, two = int(codes[channel, element]), int(other.outputs[name][channel, element])
                return f"{name}[{channel},{element}] is 0x{one:x} and 0x{two:x}"
        if not np.array_equal(self.lanes, other.lanes):
            lane = np.argwhere(self.lanes != other.lanes)[0].tolist()
            return f"the per-lane state of partition {lane[0]} differs"
        return ""


class Bench:
    """A NeuronCore full of noise, on which one record after the other runs from the same state.

    Args:
        machine: to run on.
    """

    def __init__(self, machine: Machine) -> None:
        from gpsimd_core.isa.lane import compiled
        from gpsimd_core.neuroncore import NeuronCore

        self.core = NeuronCore(machine, compiled=False)
        self._twins = {False: self.core.compiled, True: compiled}
        noise = np.random.default_rng(BLOCK).integers(0, 256, BLOCK, np.uint8)
        self.data = self.core.memory.data
        self.data[...] = np.resize(noise, self.data.size)
        self.before = self.data.copy()
        self.core.lanes[...] = SCALARS
        self.core.registers.values[...] = 0x100
        self.core.registers.defined[...] = True
        self._plain: dict[bytes, Ran] = {}
        self._state = self.core.lanes.copy(), self.core.registers.copy()

    def plain(self, record: bytes) -> Ran:
        """What a record does uncompiled; kept."""
        if record not in self._plain:
            self._plain[record] = self.run(record)
        return self._plain[record]

    def run(self, record: bytes, *, fast: bool = False, change: Mapping[str, Any] | None = None) -> Ran:
        """Run one record, then put everything back as it was.

        Args:
            record: 64 bytes.
            fast: by the compiled kernel.
            change: operand -> codes (channels, elements), or (codes, where), that its memory holds meanwhile.

        Raises:
            GpsimdError: it cannot be run.
        """
        core = self.core
        core.compiled = self._twins[fast]
        touched: list[Placed] = []
        if change:
            places = self.step(record).operands
            for name, (codes, where) in change.items():
                touched.append(places[name])
                view = window(self.data, places[name])
                view[where.reshape(view.shape)] = codes.reshape(view.shape)[where.reshape(view.shape)]
        start = self.data.copy() if change else self.before
        try:
            step = core.run(record).steps[0].step
            lanes = core.lanes.copy()
        finally:
            core.lanes[...] = self._state[0]
            core.registers.values[...] = self._state[1].values
            core.registers.defined[...] = True
            core.reset_sync()
        outputs = {}
        for p in step.written:
            view = window(self.data, p)
            outputs[p.operand] = view.reshape(p.channels, p.elements).copy()
            view[...] = window(start, p)
        stray = self._put_back(start)
        for p in touched:
            window(self.data, p)[...] = window(self.before, p)
        return Ran(step=step, outputs=outputs, lanes=lanes, stray=stray)

    def step(self, record: bytes) -> Step:
        """A record as it is planned."""
        from gpsimd_core.pipeline import plan

        program = self.core.machine.decode(record)
        engine = self.core.machine.validate(program).engines[0]
        return plan(self.core.machine, self.core.memory, program[0], lambda n, _: self.core.registers[n], engine)

    def _put_back(self, start: Array) -> Array:
        words = np.flatnonzero(self.data.view(np.uint64) != start.view(np.uint64))
        around = (words[:, None] * 8 + np.arange(8)).reshape(-1)
        stray: Array = around[self.data[around] != start[around]]
        self.data[stray] = start[stray]
        return stray

    def place(self, byte: int) -> str:
        """A storage byte in words."""
        for region in (self.core.psum, self.core.sbuf):
            if byte >= region.start:
                partition, offset = divmod(byte - region.start, region.pitch)
                return f"{region.name} partition {partition} byte 0x{offset:x}"
        return f"storage byte {byte}"


def window(data: Array, p: Placed) -> Array:
    """An operand's codes in an array of storage bytes: a view (channels, outermost, ..., innermost)."""
    shape, strides = (p.channels, *reversed(p.num)), (p.pitch, *(s * p.size for s in reversed(p.step)))
    return np.lib.stride_tricks.as_strided(data[p.base :].view(f"u{p.size}"), shape, strides)


def _trials(subject: Subject) -> Iterator[tuple[Bench, Instruction, bytes]]:
    """Every legal record of every instruction that executes and can run by itself, on few channels where it can."""
    for instruction in subject.executing:
        for legal in subject.legal(instruction):
            bench: Bench = subject.bench
            for record in dict.fromkeys((_narrowed(subject, legal), legal)):
                try:
                    bench.plain(record)
                except GpsimdError:  # it needs state or registers that the bench has not, or what is not grounded
                    continue
                yield bench, instruction, record
                break


def _narrowed(subject: Subject, record: bytes) -> bytes:
    """The record on few channels, if that is legal."""
    layout = subject.machine.decode(record)[0].layout
    if "num_active_channels" not in layout.leaves:
        return record
    raw = np.frombuffer(record, np.uint8).copy()
    layout.store(raw, "num_active_channels", min(FEW, layout.number(raw, "num_active_channels")))
    return raw.tobytes() if subject.machine.validate(raw).ok else record


def every_kernel_is_tried(subject: Subject) -> list[str]:
    """For each instruction that executes some legal record runs, so that the other checks have something to judge."""
    tried = {instruction.name for _, instruction, _ in _trials(subject)}
    return [
        f"{i.name}: no record is given that runs by itself; give `records` or a vector" + _last_trouble(subject, i)
        for i in subject.executing
        if i.name not in tried
    ]


def _last_trouble(subject: Subject, instruction: Instruction) -> str:
    said = ""
    for record in subject.legal(instruction):
        try:
            subject.bench.plain(record)
        except GpsimdError as e:
            said = f" (the last one: {e})"
    return said


def compiled_equals_uncompiled(subject: Subject) -> list[str]:
    """The compiled kernel gives the same bits as the same function in plain Python."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        pytest.skip("NUMBA_DISABLE_JIT is set: nothing is compiled")
    problems = []
    for bench, instruction, record in _trials(subject):
        if not isinstance(instruction.kernel, CompiledKernel):
            continue
        try:
            fast = bench.run(record, fast=True)
            found = bench.plain(record).same(fast) or _outside(bench, fast)
        except Exception as e:  # whatever numba says of a function that it cannot build
            found = f"{type(e).__name__}: {' '.join(str(e).split())[:200]}"
        if found:
            problems.append(f"{instruction.name}, plain and compiled: {found}")
    return problems


def writes_only_its_outputs(subject: Subject) -> list[str]:
    """No byte of memory changes but those of the outputs that the instruction declares."""
    found = [(i.name, _outside(bench, bench.plain(record))) for bench, i, record in _trials(subject)]
    return [f"{name} {why}" for name, why in found if why]


def _outside(bench: Bench, ran: Ran) -> str:
    if not len(ran.stray):
        return ""
    outputs = ", ".join(f"{p.operand} at {p.at}" for p in ran.step.written) or "none"
    count = f"{len(ran.stray)} byte{'s' if len(ran.stray) > 1 else ''}"
    return f"writes {count} outside its outputs ({outputs}), first {bench.place(int(ran.stray[0]))}"


def dead_lanes_are_inert(subject: Subject) -> list[str]:
    """Where a predicate keeps an element of the destination, nothing that depends on other operands' elements there moves."""
    problems = []
    for bench, instruction, record in _trials(subject):
        predicates = [o for o in instruction.reads if o.predicate]
        merging = [o for o in instruction.writes if o.merges]
        if not predicates or not merging:
            continue
        found = _dead(bench, instruction, record, predicates[0].name, merging[0].name)
        if found:
            problems.append(f"{instruction.name}: {found}")
    return problems


def _dead(bench: Bench, instruction: Instruction, record: bytes, predicate: str, merging: str) -> str:
    places = bench.step(record).operands
    p, out = places[predicate], places[merging]
    everywhere = np.ones((p.channels, p.elements), bool)
    lanes = (np.indices((p.channels, p.elements)).sum(axis=0) % 3 != 0).astype(f"u{p.size}")
    held = {predicate: (lanes, everywhere)}
    old = window(bench.before, out).reshape(out.channels, out.elements)
    first = bench.run(record, change=held)
    second = bench.run(record, change=held | {merging: (~old, np.ones(old.shape, bool))})
    dead = (first.outputs[merging] == old) & (second.outputs[merging] == ~old)
    if not dead.any():
        return f"no element of {merging} keeps its bytes, whatever {predicate} says"
    if dead.shape != everywhere.shape:
        return ""
    for o in instruction.reads:
        q = places[o.name]
        if o.predicate or (q.channels, q.elements) != dead.shape or q.overlaps(out) or q.overlaps(p):
            continue
        codes = window(bench.before, q).reshape(dead.shape)
        largest = np.full_like(codes, (1 << 8 * q.size) // 2 - 1 if q.size == 8 else (1 << (8 * q.size - 1)) - 1)
        for other in (~codes, np.zeros_like(codes), largest, _greatest(q, codes)):
            moved = first.same(bench.run(record, change=held | {o.name: (other, dead)}))
            if moved:
                return f"{o.name} matters in lanes that {predicate} turns off: {moved}"
    return ""


def _greatest(p: Placed, codes: Array) -> Array:
    """A large finite number in every floating format: the exponent one below all ones is reached by 0x7F7F.. or 0x7B.."""
    return np.full_like(codes, int.from_bytes(b"\x7f" * p.size, "big") & ~(0x80 << 8 * max(p.size - 2, 0)))


CHECKS: dict[str, Callable[[Subject], list[str]]] = {
    check.__name__: check
    for check in (every_kernel_is_tried, compiled_equals_uncompiled, writes_only_its_outputs, dead_lanes_are_inert)
}
