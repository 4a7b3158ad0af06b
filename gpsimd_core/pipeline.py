"""From bytes to memory: decode, validate, plan, execute, commit. Every station is a plain function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, field, frozen

from gpsimd_core.errors import Fault, NotExecutable, Unsupported
from gpsimd_core.isa.checks import REGISTERS, addresses
from gpsimd_core.isa.dtypes import SIZES, name_of
from gpsimd_core.isa.enums import Dtype, ImmSrc
from gpsimd_core.isa.kernels.read_accumulator import UNDEFINED_READ
from gpsimd_core.isa.kernels.rows import narrow_rows, widen_rows
from gpsimd_core.isa.layout import Field, RecordLayout
from gpsimd_core.isa.layouts.common import Opaque
from gpsimd_core.machine import Machine, RuleBook
from gpsimd_core.memory import Memory
from gpsimd_core.program import Group, Program, Record, decode
from gpsimd_core.report import NotChecked, Outcome, Report, Violation
from gpsimd_core.values import Activation, CompiledKernel, Engine, Instruction, Operand

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "MAX_ELEMENTS",
    "Immediate",
    "Placed",
    "Step",
    "commit",
    "decode",
    "execute",
    "place",
    "plan",
    "validate",
    "window",
]

MAX_ELEMENTS = 1 << 24
"""Most elements of a channel; a limit of ours that keeps a stray count from filling the machine."""
NEXT_RECORD = (128, 129)
"""Register numbers that read as the address of the next record: its low and its high word."""


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


@frozen(kw_only=True)
class Placed:
    """An operand at its place in storage."""

    operand: str
    at: str
    region: str
    partition: int
    offset: int
    """Byte offset of the first element inside its partition."""
    base: int
    """Storage byte of the first element on the first channel."""
    pitch: int
    """Storage distance between channels."""
    size: int
    code: int
    """Wire dtype code."""
    num: tuple[int, ...]
    step: tuple[int, ...]
    channels: int
    elements: int
    """Elements a channel."""
    low: int
    high: int
    """Bytes of each partition that it touches lie in low to high - 1."""

    def same_places(self, other: Placed) -> bool:
        """Whether element k of both is the same bytes on the same partition, for every k."""
        return (
            (self.base, self.pitch, self.size) == (other.base, other.pitch, other.size)
            and self.elements == other.elements
            and _walk(self) == _walk(other)
        )

    def overlaps(self, other: Placed) -> bool:
        """Whether some byte may belong to both."""
        return (
            self.region == other.region
            and self.partition < other.partition + other.channels
            and other.partition < self.partition + self.channels
            and self.low < other.high
            and other.low < self.high
        )


@frozen(kw_only=True)
class Immediate:
    """A resolved immediate: inline bits, or the place of one element a channel."""

    source: int
    bits: int
    placed: Placed | None = None


class Immediates(dict[str, Immediate]):
    """Immediates by name. The fault of one that cannot be resolved is raised when a kernel asks for it: one that is never
    read, as imm0 of a merging select_reduce, may point anywhere."""

    def __init__(self) -> None:
        self.faults: dict[str, Fault] = {}

    def __missing__(self, name: str) -> Immediate:
        raise self.faults[name]


@frozen(kw_only=True, eq=False)
class Step:
    """A planned instruction: plain data, good to execute any number of times.

    For array kernels it is also the window to the machine: `read`, `mask`, `imm`, `accumulator`, `policy`.
    """

    name: str
    instruction: Instruction
    engine: Engine
    record: bytes
    layout: RecordLayout
    channels: int
    operands: Mapping[str, Placed]
    immediates: Mapping[str, Immediate]
    policies: Mapping[str, str | int]
    formats: Mapping[int, Any]
    hazard: bool
    """Sources overlap a destination elsewhere than at the same index: they are kept from before the instruction."""
    activations: Mapping[int, Activation] = field(factory=dict)
    """The table of activation functions, by number."""
    elements_limit: int = MAX_ELEMENTS
    row: tuple[int, ...] | None = field(default=None, init=False)
    index: int = field(default=-1, init=False)
    core: Any = field(default=None, init=False)
    registers: Any = field(default=None, init=False)

    def number(self, leaf: str) -> int:
        """The number of a scalar field."""
        return self.layout.number(np.frombuffer(self.record, np.uint8), leaf)

    @property
    def sources(self) -> list[Placed]:
        """What it reads: operands, then immediates behind a pointer."""
        return [self.operands[o.name] for o in self.instruction.reads] + [
            i.placed for i in self.immediates.values() if i.placed is not None
        ]

    @property
    def written(self) -> list[Placed]:
        """What it writes."""
        return [self.operands[o.name] for o in self.instruction.writes]

    @property
    def places(self) -> list[Placed]:
        """Everything that it touches."""
        return self.sources + self.written

    @property
    def fusible(self) -> bool:
        """Whether it may run in one go with its neighbours of the same kernel."""
        return not self.hazard and self.instruction.ready is None

    @property
    def accumulates_undefined(self) -> bool:
        """Whether the instruction takes what is in the accumulator."""
        use = self.instruction.accumulator
        return use == "read" or (use is not None and self.number(use) == 2)

    def number_or(self, leaf: str, default: int) -> int:
        """The number of a scalar field, or `default` where the layout has none of that name."""
        return self.number(leaf) if leaf in self.layout.leaves else default

    # What an array kernel and `ready` may ask, while the step runs ------------------------------------------------------

    def read(self, operand: str) -> np.ndarray[Any, Any]:
        """An operand's elements in stream order: (channels, elements), of the dtype's numpy type; read-only."""
        return read_operand(self.core.memory, self.operands[operand], self.formats)

    def hub(self, operand: str) -> np.ndarray[Any, Any]:
        """An operand's elements as fp32 bits: uint32, (channels, elements)."""
        return self.widened(self.operands[operand])

    def widened(self, p: Placed) -> np.ndarray[Any, Any]:
        """The elements of a placed operand as fp32 bits: uint32, (channels, elements)."""
        return self.widened_codes(read_operand(self.core.memory, p, self.formats).view(f"u{p.size}"), p.code)

    def widened_codes(self, codes: np.ndarray[Any, Any], code: int) -> np.ndarray[Any, Any]:
        """Codes of a dtype as fp32 bits: uint32, of the same shape (channels, elements)."""
        words = np.array(codes, np.uint32, order="C")  # a copy even where none is needed: read-only arrays are a type of
        # their own, for which everything would be compiled once more
        out = np.empty(words.shape, np.uint32)
        self.core.compiled(widen_rows)(words, self.core.machine.format_table[code], out)
        return out

    def narrowed(self, operand: str, hub: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """fp32 bits as an operand's dtype.

        Args:
            operand: an output.
            hub: uint32, (channels, elements).

        Returns:
            (channels, elements) of the dtype's numpy type.
        """
        p = self.operands[operand]
        out = np.empty(hub.shape, np.uint32)
        self.core.compiled(narrow_rows)(np.ascontiguousarray(hub), self.core.machine.format_table[p.code], out)
        return out.astype(f"u{p.size}", copy=False).view(self.formats[p.code].dtype)

    def imm_hub(self, name: str) -> np.ndarray[Any, Any]:
        """An immediate as fp32 bits, one a channel: uint32, (channels, 1); inline ones are fp32 bits already."""
        given = self.immediates[name]
        if given.placed is not None:
            return self.widened(given.placed)
        return np.full((self.channels, 1), given.bits, np.uint32)

    def state(self, column: int, first: int, width: int = 1) -> np.ndarray[Any, Any]:
        """Per-lane state of the step's channels: uint32, (channels, width), columns of `isa/lanestate.py`."""
        found: np.ndarray[Any, Any] = self.core.lanes[first : first + self.channels, column : column + width]
        return found

    def register(self, number: int) -> int:
        """The 32 bits of a register of the step's stream; 128 and 129 are the low and the high word of the address of
        the next record, a program starting at address 0.

        Raises:
            Fault: it was never written.
        """
        if number in NEXT_RECORD:
            return ((self.index + 1) * 64) >> 32 * NEXT_RECORD.index(number) & 0xFFFFFFFF
        return int(self.registers[number])

    @property
    def mask(self) -> np.ndarray[Any, Any]:
        """Where the predicate operand is non-zero: bool, (channels, elements)."""
        name = next(o.name for o in self.instruction.reads if o.predicate)
        return np.asarray(self.read(name) != 0)

    def imm(self, name: str) -> np.ndarray[Any, Any]:
        """An immediate as one number a channel: (channels, 1), of its dtype's numpy type, or uint32 where it has none."""
        given = self.immediates[name]
        if given.placed is not None:
            return read_operand(self.core.memory, given.placed, self.formats)
        f = self.layout.by_name[name]
        code = self.number(f.dtype) if f.dtype else int(Dtype.UINT32)
        fmt = self.formats.get(code)
        bits = np.full((self.channels, 1), given.bits, np.uint32)
        if fmt is None or fmt.nbytes == 4:
            return bits.view(fmt.dtype if fmt else np.uint32)
        return bits.astype(fmt.code_dtype).view(fmt.dtype)

    @property
    def accumulator(self) -> np.ndarray[Any, Any]:
        """The engine's accumulator of each channel: float32, (channels,)."""
        first = self.operands[self.instruction.writes[0].name].partition
        values: np.ndarray[Any, Any] = self.core.accumulators[self.engine.accumulators]
        return values[first : first + self.channels]

    @property
    def accumulator_defined(self) -> np.ndarray[Any, Any]:
        """Whether the engine's accumulator holds a value: bool, (channels,)."""
        first = self.operands[self.instruction.writes[0].name].partition
        defined: np.ndarray[Any, Any] = self.core.accumulators.defined(self.engine.accumulators)
        return defined[first : first + self.channels]

    def policy(self, name: str) -> str | int:
        """The value of a policy."""
        return self.policies[name]


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
    resolver = _Resolver(machine, memory, layout, record, registers, limit)
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
    if isinstance(instruction.kernel, CompiledKernel):
        object.__setattr__(step, "row", tuple(int(v) for v in instruction.kernel.row(step)))
    return step


@frozen(kw_only=False)
class _Resolver:
    machine: Machine
    memory: Memory
    layout: RecordLayout
    record: Record
    registers: Callable[[int, str], int]
    limit: int

    def operand(self, o: Operand, channels: int) -> Placed:
        value = self.layout.read(self.record.raw)[o.at]
        code = self.layout.number(self.record.raw, o.dtype)
        self._readable(o, code)
        if "index" in value:
            raise Unsupported(f"{o.at} by an index list", "index lists are not modelled for this instruction")
        word = value["addr"]
        if word & 0x60000000 == 0x40000000:
            raise Unsupported(f"{o.at} with counts from shape registers", "no source grounds the shape registers")
        span = channels if o.channels is None else o.channels
        if word & 0xA0000000 == 0x80000000:
            address = self._register(word & 0xFF, o.at, code, span, write=any(w is o for w in self._writes()))
        else:
            address = word & 0x1FFFFFFF
        return self._place(o.name, o.at, address, code, tuple(value["num"]), tuple(value["step"]), span)

    def _writes(self) -> Iterable[Operand]:
        return self.machine.instructions[self.record.name].writes

    def _readable(self, o: Operand, code: int) -> None:
        fmt = self.machine.formats.get(code)
        if fmt is None or not fmt.readable:
            why = fmt.missing if fmt is not None and fmt.missing else "the format has no published values"
            raise Unsupported(f"{o.at} of dtype {name_of(code)}", why, where=o.at)

    def _register(self, number: int, at: str, code: int, channels: int, *, write: bool) -> int:
        address = self.registers(number, at)
        where = f"{at}: register r{number} holds 0x{address:x}"
        found = self.memory.locate(address)
        if found is None:
            raise Fault(f"{where}, which is outside SBUF and PSUM on {self.machine.generation.name}", where=at)
        region, partition, _ = found
        size = int(SIZES[code])
        if size == 0 or address % size:
            raise Fault(f"{where}, which is not aligned to {size} bytes ({name_of(code)})", where=at)
        if partition + channels > 128:
            raise Fault(
                f"{where}, partition {partition}: with {channels} channels it runs past partition 127", where=at
            )
        if write and region.name == "psum" and size != 4:
            raise Fault(f"{where} in PSUM, where writes are 4 bytes wide; {name_of(code)} has {size}", where=at)
        return address

    def immediate(self, f: Field, channels: int) -> Immediate:
        bits = self.layout.number(self.record.raw, f.name)
        if f.source is not None:
            source = self.layout.codes(f.source, self.record.raw)
        else:
            source = int(ImmSrc.POINTER_IMMEDIATE if f.type == "PARTITION_OFFSET" else ImmSrc.INSTRUCTION_IMMEDIATE)
        if source == ImmSrc.INSTRUCTION_IMMEDIATE:
            return Immediate(source=source, bits=bits)
        code = self.layout.number(self.record.raw, f.dtype) if f.dtype else int(Dtype.FP32)
        if source == ImmSrc.REG_PTR_IMMEDIATE:
            address = self._register(bits & 0xFF, f.name, code, channels, write=False)
        else:
            address = bits
        if not self.machine.formats[code].readable:
            raise Unsupported(f"{f.name} of dtype {name_of(code)}", self.machine.formats[code].missing, where=f.name)
        return Immediate(
            source=source, bits=bits, placed=self._place(f.name, f.name, address, code, (1,), (1,), channels)
        )

    def _place(
        self, name: str, at: str, address: int, code: int, num: tuple[int, ...], step: tuple[int, ...], channels: int
    ) -> Placed:
        found = self.memory.locate(address)
        if found is None:
            raise Fault(f"{at}: address 0x{address:x} is outside SBUF and PSUM", where=at)
        region, partition, offset = found
        size = int(SIZES[code])
        elements = 1
        for n in num:
            elements *= n
        if elements > self.limit:
            raise Fault(f"{at} has {elements} elements a channel; the limit is {self.limit} (--max-elements)", where=at)
        reach = [(n - 1) * s * size for n, s in zip(num, step, strict=True)]
        low = offset + sum(r for r in reach if r < 0)
        high = offset + sum(r for r in reach if r > 0) + size
        if low < 0 or high > region.active:
            raise Fault(
                f"{at} touches bytes {low} to {high - 1} of its partitions; "
                f"a {region.name.upper()} partition of {self.machine.generation.name} has bytes 0 to {region.active - 1}",
                where=at,
            )
        if partition + channels > 128:
            raise Fault(f"{at}: {channels} channels from partition {partition} run past partition 127", where=at)
        return Placed(
            operand=name, at=at, region=region.name, partition=partition, offset=offset,
            base=region.start + partition * region.pitch + offset, pitch=region.pitch, size=size, code=code,
            num=num, step=step, channels=channels, elements=elements, low=low, high=high,
        )  # fmt: skip


def _walk(p: Placed) -> tuple[tuple[int, int], ...]:
    """The dimensions that move, merged where one continues the other, so that equal walks compare equal."""
    dims: list[tuple[int, int]] = []
    for n, s in zip(p.num, p.step, strict=True):
        if n == 1:
            continue
        if dims and s == dims[-1][0] * dims[-1][1]:
            dims[-1] = (dims[-1][0] * n, dims[-1][1])
        else:
            dims.append((n, s))
    return tuple(dims)


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
    if isinstance(kernel, CompiledKernel):
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
    """What an array kernel returns, as copies: nothing of it may change while it is stored."""
    answer = kernel(step)
    outputs = {o.name for o in step.instruction.writes} | STATE_OUTPUTS
    stray = set(answer) - outputs
    if stray:
        raise Fault(f"the kernel of {step.name} returned {sorted(stray)[0]!r}; allowed: {', '.join(sorted(outputs))}")
    copies = {name: np.array(value) if name not in STATE_OUTPUTS else value for name, value in answer.items()}
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
        core.accumulators.store(step.engine.accumulators, first, accumulator.view(np.float32))
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


def window(memory: Memory, p: Placed, kind: np.dtype[Any] | None = None) -> np.ndarray[Any, Any]:
    """A strided view of an operand: (channels, outermost, ..., innermost), of `kind` or else of unsigned codes."""
    kind = kind or np.dtype(f"u{p.size}")
    shape = (p.channels, *reversed(p.num))
    strides = (p.pitch, *(s * p.size for s in reversed(p.step)))
    first = memory.data[p.base :].view(f"u{p.size}")  # numpy strides no array of a dtype that is not its own
    return np.lib.stride_tricks.as_strided(first, shape, strides).view(kind)


def read_operand(memory: Memory, p: Placed, formats: Mapping[int, Any]) -> np.ndarray[Any, Any]:
    """The elements of an operand in stream order, read-only: (channels, elements)."""
    found = window(memory, p, formats[p.code].dtype).reshape(p.channels, p.elements)
    found.flags.writeable = False
    return found


def write_operand(memory: Memory, p: Placed, value: np.ndarray[Any, Any], mask: Any = None) -> None:
    """Store elements in stream order; the last write to a place wins; only where `mask`, if one is given."""
    target = window(memory, p, value.dtype)
    shaped = value.reshape(target.shape)
    kept = None if mask is None else np.asarray(mask, bool).reshape(target.shape)
    if (0 in p.step and any(n > 1 and s == 0 for n, s in zip(p.num, p.step, strict=True))) or not _distinct(p):
        for k in np.ndindex(target.shape):
            if kept is None or kept[k]:
                target[k] = shaped[k]
    elif kept is None:
        target[...] = shaped
    else:
        target[kept] = shaped[kept]


def _distinct(p: Placed) -> bool:
    """Whether no two elements of a channel share a place, judged by nesting of the dimensions."""
    reach = 1
    for n, s in sorted(zip(p.num, p.step, strict=True), key=lambda d: abs(d[1])):
        if n > 1:
            if abs(s) < reach:
                return False
            reach += (n - 1) * abs(s)
    return True


def registers_named(layout: RecordLayout, record: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """The address registers that a record's operands and immediates read."""
    named = []
    row = record.view(layout.numpy)[0]
    for f in layout.fields:
        if f.kind == "tensor" and int(row[f"{f.name}.start_addr"]) & 0xA0000000 == 0x80000000:
            named.append(int(row[f"{f.name}.start_addr"]) & 0xFF)
        if f.kind == "imm" and f.source and layout.codes(f.source, record) == ImmSrc.REG_PTR_IMMEDIATE:
            named.append(int(row[f.name]) & 0xFF)
    return tuple(n for n in named if n < REGISTERS)
