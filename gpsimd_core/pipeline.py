"""From bytes to memory: decode, validate, plan, execute, commit. Every station is a plain function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve

from gpsimd_core.errors import Fault, GpsimdError, NotExecutable, PluginTrouble, Unsupported
from gpsimd_core.isa.checks import addresses
from gpsimd_core.isa.kernels.read_accumulator import UNDEFINED_READ
from gpsimd_core.isa.layouts.common import Opaque
from gpsimd_core.machine import Machine, RuleBook
from gpsimd_core.memory import Memory
from gpsimd_core.placement import Immediate, Immediates, Placed, read_codes, write_operand
from gpsimd_core.program import Group, Program, Record, decode
from gpsimd_core.report import NotChecked, Outcome, Report, Violation
from gpsimd_core.resolve import Resolver
from gpsimd_core.step import MAX_ELEMENTS, Step
from gpsimd_core.values import CompiledKernel, Instruction

__all__ = ["commit", "decode", "execute", "place", "plan", "validate"]


# 1. decode: `program.decode` views bytes as columns ------------------------------------------------------------------
# 2. validate ---------------------------------------------------------------------------------------------------------


def validate(machine: Machine, program: Any) -> Report:
    """Evaluate every rule on all records of a program.

    Args:
        machine: whose rules.
        program: a Program, bytes or uint8 array.

    Returns:
        A Report; `report.ok` says whether everything holds.
    """
    program = decode(machine, program)
    rows: list[tuple[np.ndarray[Any, Any], list[Outcome]]] = []
    extra: list[Violation] = []
    unchecked: list[NotChecked] = []
    engines: np.ndarray[Any, Any] = np.full(len(program), -1, np.int8)
    for group in program.groups:
        if group.encoding is None:
            extra += [_unknown(machine, program[i]) for i in group.indices.tolist()]
            continue
        book = machine.books[group.encoding.name]
        outcomes = judge(machine, group, book)
        rows.append((group.indices, outcomes))
        if group.layout.cls is Opaque:
            why = "no source grounds the layout of this opcode"
            unchecked += [
                NotChecked(index=i, name=group.encoding.name, rule="everything beyond header and events", why=why)
                for i in group.indices.tolist()
            ]
        extra += _engine_check(machine, program, group, outcomes, engines)
    return Report(machine, len(program), rows, extra, unchecked, engines)


def judge(machine: Machine, group: Group, book: RuleBook) -> list[Outcome]:
    """The verdict of each rule on a group, in the header's order; only rules that some record breaks are listed."""
    columns, facts = group.columns, machine.facts
    good: list[Any] = [None] * len(book.rules)
    checked: list[Any] = [True] * len(book.rules)
    for i in book.order:
        bound = book.rules[i]
        for n in bound.needs:
            if good[n] is not True or checked[n] is not True:
                checked[i] = checked[i] & good[n] & checked[n]
        ok = bound.rule.check(columns, facts)
        good[i] = True if ok is True or ok.all() else ok
    return [
        Outcome(group=group, book=book, position=i, good=good[i], checked=checked[i])
        for i in range(len(book.rules))
        if good[i] is not True or checked[i] is not True
    ]


def _unknown(machine: Machine, record: Record) -> Violation:
    there = f"one of the {len(machine.opcodes)} opcodes of {machine.generation.name}"
    return Violation(
        index=record.index, byte=record.index * 64, name="unknown", field="opcode", rule="header[opcode]", number=1,
        found=f"byte 0 is 0x{record.opcode:02X}", allowed=there, generation=machine.generation.name,
    )  # fmt: skip


# Which engine takes a record -------------------------------------------------------------------------------------------


def place(machine: Machine, group: Group) -> dict[str, np.ndarray[Any, Any]]:
    """Which engines accept each record of a group.

    Returns:
        Engine to bool, shape (records,), in the order in which owners are asked.
    """
    assert group.encoding is not None
    binding = machine.bindings[group.encoding.name]
    instruction = machine.instructions.get(group.encoding.name)
    accepted = {}
    for name in binding.engines:
        engine = machine.engines[name]
        ok = np.ones(len(group.columns), bool)
        if not engine.reaches_psum and name not in binding.psum:
            ok &= ~_touches_psum(machine, group)
        if instruction is not None and instruction.takes is not None:
            ok &= instruction.takes(group.columns, machine.facts, name)
        accepted[name] = ok
    return accepted


def _touches_psum(machine: Machine, group: Group) -> np.ndarray[Any, Any]:
    touched = np.zeros(len(group.columns), bool)
    for f in group.layout.fields:
        if f.kind == "tensor":
            a = addresses(group.columns, machine.facts, f.name)
            touched |= a.psum & a.plain
            if f.union:
                touched |= a.indirect & addresses(group.columns, machine.facts, f.name, "data_addr").psum
    return touched


def _engine_check(
    machine: Machine, program: Program, group: Group, outcomes: list[Outcome], engines: np.ndarray[Any, Any]
) -> list[Violation]:
    """Assign engines to the records of a group that break no rule; violations where no engine that may takes one."""
    assert group.encoding is not None
    binding = machine.bindings[group.encoding.name]
    if not binding.engines:
        return []  # no engine at all: a fault at dispatch, not a violation
    accepted = place(machine, group)
    number = {name: i for i, name in enumerate(machine.engines)}
    first: np.ndarray[Any, Any] = np.full(len(group.columns), -1, np.int8)
    for name, ok in reversed(accepted.items()):
        first = np.where(ok, np.int8(number[name]), first)
    streams = [program.streams[i] for i in group.indices.tolist()] if program.streams else []
    for row, wanted in enumerate(streams):
        if wanted is not None:
            first[row] = number[wanted] if wanted in accepted and accepted[wanted][row] else -1
    engines[group.indices] = first
    lost = first < 0
    if not lost.any():
        return []
    for o in outcomes:
        if not o.bound.warning:
            lost[o.failed] = False
    found = []
    for row in np.flatnonzero(lost).tolist():
        index = int(group.indices[row])
        wanted = streams[row] if streams else None
        takers = [name for name, ok in accepted.items() if ok[row]]
        where = f"it stands in the {wanted} stream" if wanted else "a PSUM operand or form that no owner takes"
        takers_text = " ".join(takers if wanted else binding.engines) or "none with these operands"
        found.append(
            Violation(
                index=index, byte=index * 64, name=group.encoding.name, field="opcode",
                rule="instruction_engine_check", number=0, found=where, allowed=f"engines {takers_text}",
                generation=machine.generation.name,
            )
        )  # fmt: skip
    return found


# 3. plan -----------------------------------------------------------------------------------------------------------------


def plan(
    machine: Machine,
    memory: Memory,
    record: Record,
    registers: Callable[[int, str], int],
    engine: str | None = None,
    limit: int = MAX_ELEMENTS,
) -> Step:
    """Resolve one record to places and numbers. Nothing is written before this has succeeded.

    Args:
        machine, memory: where it will run.
        record: a record that breaks no rule.
        registers: `registers(number, operand)` gives the value of an address register, or raises a Fault.
        engine: the engine that takes it, as `validate` placed it.
        limit: most elements of a channel.

    Raises:
        NotExecutable: declared, but nothing on this generation executes it.
        Unsupported: legal, but no source grounds what it does.
        Fault: an extent outside the partition, an undefined register, an address outside both windows.
    """
    try:
        return _plan(machine, memory, record, registers, engine, limit)
    except Fault as e:
        e.index = record.index
        raise


def _plan(
    machine: Machine,
    memory: Memory,
    record: Record,
    registers: Callable[[int, str], int],
    engine: str | None,
    limit: int,
) -> Step:
    encoding = machine.opcodes.get(record.opcode)
    gen = machine.generation.name
    if encoding is None:
        raise NotExecutable(f"0x{record.opcode:02X} is no opcode of {gen}")
    name = encoding.name
    if encoding.not_executable:
        raise NotExecutable(f"{name} is declared on {gen} but not executable: {encoding.not_executable}")
    binding = machine.bindings[name]
    if not binding.engines:
        raise NotExecutable(f"{name} has no engine on {gen}: {binding.reason}")
    if record.opaque:
        raise Unsupported(name, "no source grounds the layout of its operands")
    instruction = machine.instructions.get(name)
    if instruction is None or instruction.kernel is None:
        why = (instruction.missing if instruction else "") or "no source grounds what it computes"
        raise Unsupported(name, why)
    layout = record.layout
    row = record.raw.view(layout.numpy)[0]
    if "inst_flags" in layout.leaves and int(row["inst_flags"]):
        raise Unsupported(f"{name} with inst_flags 0x{int(row['inst_flags']):02X}", "no source says what the flags do")
    channels = int(row["num_active_channels"]) if "num_active_channels" in layout.leaves else 1
    resolver = Resolver(machine, memory, layout, record, registers, limit)
    operands = {o.name: resolver.operand(o, channels) for o in (*instruction.reads, *instruction.writes)}
    immediates = Immediates()
    for i in instruction.immediates:
        try:
            immediates[i] = resolver.immediate(layout.by_name[i], channels)
        except Fault as e:
            immediates.faults[i] = e
    step = Step(
        name=name, instruction=instruction, engine=machine.engines[engine or binding.engines[0]],
        record=bytes(record), layout=layout, channels=channels, operands=operands, immediates=immediates,
        policies=machine.policies, formats=machine.formats, hazard=_hazard(instruction, operands, immediates),
        activations=machine.activations, elements_limit=limit,
    )  # fmt: skip
    if instruction.unsupported is not None:
        missing = instruction.unsupported(step)
        if missing:
            raise Unsupported(name, missing)
    if isinstance(instruction.kernel, CompiledKernel) and not step.by_index:
        object.__setattr__(step, "row", tuple(int(v) for v in instruction.kernel.row(step)))
    return step


def _hazard(instruction: Instruction, operands: Mapping[str, Placed], immediates: Mapping[str, Immediate]) -> bool:
    sources = [operands[o.name] for o in instruction.reads]
    sources += [i.placed for i in immediates.values() if i.placed is not None]
    targets = [operands[o.name] for o in instruction.writes]
    return any(s.overlaps(t) and not s.same_places(t) for s in sources for t in targets)


# 4. execute -----------------------------------------------------------------------------------------------------------------


def execute(
    core: Any,
    steps: Sequence[Step],
    indices: Sequence[int],
    rows: np.ndarray[Any, Any] | None = None,
    registers: Any = None,
) -> np.ndarray[Any, Any]:
    """Execute planned steps that share one kernel, in order.

    Args:
        core: the NeuronCore.
        steps: planned steps of one instruction kernel; more than one only for compiled kernels without hazards.
        indices: their positions in the program.
        registers: the address registers of their stream; the core's own if left out.
        rows: their plan rows, int64, shape (steps, k), where the caller has them already.

    Returns:
        uint8, shape (steps,): status bits for notices.
    """
    kernel, ready = steps[0].instruction.kernel, steps[0].instruction.ready
    memory: Memory = core.memory
    if ready is not None:
        for step, index in zip(steps, indices, strict=True):
            lacking = ready(bound(core, step, index, registers))
            if lacking:
                raise Fault(f"{step.name}: {lacking}", index=index)
    status = np.zeros(len(steps), np.uint8)
    if isinstance(kernel, CompiledKernel) and steps[0].by_index:
        _run_on_copies(core, steps[0], kernel, status)
    elif isinstance(kernel, CompiledKernel):
        if rows is None:
            rows = np.array([s.row for s in steps], np.int64)
        source = keep_sources(memory, steps[0]) if steps[0].hazard else memory.data
        core.compiled(kernel.run)(memory.data, source, core.lanes, core.machine.format_table, rows, status)
    else:
        assert kernel is not None
        for position, (step, index) in enumerate(zip(steps, indices, strict=True)):
            try:
                window = bound(core, step, index, registers)
                if step.accumulates_undefined and not window.accumulator_defined.all():
                    status[position] |= UNDEFINED_READ
                commit(core, step, _asked(window, kernel), window.registers)
            except Fault as e:
                e.index = index
                raise
    return status


class _Copies:
    """Storage of the operands of one step."""

    def __init__(self, size: int) -> None:
        self.data: np.ndarray[Any, Any] = np.zeros(size, np.uint8)


def _run_on_copies(core: Any, step: Step, kernel: CompiledKernel, status: np.ndarray[Any, Any]) -> None:
    """Run a compiled kernel for operands by index lists: on copies of all operands, each one run of elements.

    A merging destination takes back what has changed; what merges by an index list writes one value a channel, so that an
    element that keeps its value needs no write.
    """
    size = 0

    def moved(p: Placed) -> Placed:
        nonlocal size
        base, pitch = size, -(-p.elements * p.size // 64) * 64
        size += p.channels * pitch
        steps = tuple(math.prod(p.num[:d]) for d in range(len(p.num)))
        return evolve(p, base=base, pitch=pitch, step=steps, indices=(), index_list=None)

    operands = {name: moved(p) for name, p in step.operands.items()}
    pairs = [(p, operands[name]) for name, p in step.operands.items()]
    immediates = Immediates()
    for name, given in step.immediates.items():
        immediates[name] = given
        if given.placed is not None:
            copy = moved(given.placed)
            immediates[name] = evolve(given, placed=copy)
            pairs.append((given.placed, copy))
    inner = evolve(step, operands=operands, immediates=immediates, hazard=False)
    copies = _Copies(size)
    for origin, copy in pairs:
        write_operand(copies, copy, read_codes(core.memory, origin))
    rows = np.array([kernel.row(inner)], np.int64)
    core.compiled(kernel.run)(copies.data, copies.data, core.lanes, core.machine.format_table, rows, status)
    for o in step.instruction.writes:
        p = step.operands[o.name]
        value = read_codes(copies, operands[o.name])
        write_operand(core.memory, p, value, value != read_codes(core.memory, p) if o.merges else None)


def bound(core: Any, step: Step, index: int, registers: Any = None) -> Step:
    """The step as a window to a core and to the registers of its stream, at its position in the program."""
    window = evolve(step)
    object.__setattr__(window, "core", core)
    object.__setattr__(window, "index", index)
    object.__setattr__(window, "registers", registers or core.registers)
    return window


def keep_sources(memory: Memory, step: Step) -> np.ndarray[Any, Any]:
    """Copy a step's sources to the shadow storage, so that they are read as they were before it wrote."""
    shadow = memory.shadow
    placed = [step.operands[o.name] for o in step.instruction.reads]
    placed += [i.placed for i in step.immediates.values() if i.placed is not None]
    for p in placed:
        first = p.base - p.offset + p.low
        shape, strides = (p.channels, p.high - p.low), (p.pitch, 1)
        for target, origin in ((shadow, memory.data),):
            view = [np.lib.stride_tricks.as_strided(a[first:], shape, strides) for a in (target, origin)]
            view[0][...] = view[1]
    return shadow


def _asked(step: Step, kernel: Callable[..., Any]) -> dict[str, Any]:
    """What an array kernel returns; what lies in storage as a copy, for nothing of it may change while it is stored."""
    try:
        answer = kernel(step)
    except GpsimdError:
        raise
    except Exception as e:
        owner = step.core.machine.owners.get(("instruction", step.name))
        if owner == step.core.machine.generation.name:
            raise
        why = f"{type(e).__name__}: {e}"
        raise PluginTrouble(f"kernel of {step.name} (plugin {owner}) failed at instruction {step.index}: {why}") from e
    if not isinstance(answer, Mapping):
        raise Fault(f"the kernel of {step.name} returned {answer!r}; a mapping of its outputs is needed")
    outputs = {o.name for o in step.instruction.writes} | STATE_OUTPUTS
    stray = set(answer) - outputs
    if stray:
        raise Fault(f"the kernel of {step.name} returned {sorted(stray)[0]!r}; allowed: {', '.join(sorted(outputs))}")
    storage = step.core.memory.data
    copies = {
        name: np.array(value) if name not in STATE_OUTPUTS and np.may_share_memory(value, storage) else value
        for name, value in answer.items()
    }
    if "mask" not in copies and any(o.merges for o in step.instruction.writes):
        copies["mask"] = step.mask
    return copies


STATE_OUTPUTS = {"accumulator", "lanes", "registers", "mask"}
"""What an array kernel may return beside its operands: the engine's accumulator, float32 or fp32 bits of (channels,);
lane state, {(column, first partition): uint32 (channels, width)}; registers, {number: value}; and the merge mask, where
it is not simply `step.mask`."""


# 5. commit --------------------------------------------------------------------------------------------------------------------


def commit(core: Any, step: Step, answer: Mapping[str, Any], registers: Any) -> None:
    """Store what an array kernel returned: converted by nobody, masked where an operand merges.

    Raises:
        Fault: wrong shape or dtype; nothing is stored then.
    """
    stores = []
    for o in step.instruction.writes:
        if o.name not in answer:
            continue
        p = step.operands[o.name]
        wanted = step.formats[p.code].dtype
        value = _returned(step, o.name, answer[o.name], (wanted,), (p.channels, p.elements))
        mask = _returned(step, "mask", answer["mask"], (np.dtype(bool),), value.shape) if o.merges else None
        stores.append((p, value, mask))
    accumulator = None
    if "accumulator" in answer:
        if step.engine.accumulators is None:
            raise Fault(f"the kernel of {step.name} returned an accumulator; engine {step.engine.name} has none")
        kinds = (np.dtype(np.float32), np.dtype(np.uint32))
        accumulator = _returned(step, "accumulator", answer["accumulator"], kinds, (step.channels,))
    for p, value, mask in stores:
        write_operand(core.memory, p, value, mask)
    if accumulator is not None:
        first = step.operands[step.instruction.writes[0].name].partition
        core.accumulators.store(
            step.engine.accumulators, first, accumulator.view(np.float32), defines=not step.accumulates
        )
    for (column, first), values in answer.get("lanes", {}).items():
        core.lanes[first : first + len(values), column : column + values.shape[1]] = values
    for number, value in answer.get("registers", {}).items():
        registers[number] = value


def _returned(
    step: Step, name: str, value: Any, kinds: tuple[np.dtype[Any], ...], shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """What a kernel returned for an output, if it has a dtype and shape that the output takes."""
    array = np.asarray(value)
    if array.shape != shape or array.dtype not in kinds:
        raise Fault(
            f"the kernel of {step.name} returned {array.dtype} {array.shape} for {name}; "
            f"allowed: {' or '.join(str(k) for k in kinds)} {shape}"
        )
    return array
