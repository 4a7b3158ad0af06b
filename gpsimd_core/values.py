"""What plugins give and a Machine holds: frozen values, no behaviour beyond checking themselves.

Every value is keyword-only, hashable and comparable, and says where it comes from. Nothing here is registered by
side effect: a hook returns values, the host collects them and knows who gave each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any

from attrs import field, frozen
from attrs.validators import in_, matches_re

__all__ = [
    "Activation",
    "BlobNote",
    "BlobSite",
    "CompiledKernel",
    "Encoding",
    "Engine",
    "EngineBinding",
    "Evidence",
    "Generation",
    "Geometry",
    "Instruction",
    "KernelRow",
    "KernelTable",
    "NamedSet",
    "Operand",
    "Policy",
    "Profile",
    "Reading",
    "Rule",
    "SelfName",
]

_name = matches_re(r"[a-z][a-z0-9_]*")
_opcode = in_(range(256))


def _names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(names)


def _members(members: Iterable[IntEnum]) -> frozenset[IntEnum]:
    return frozenset(members)


@frozen(kw_only=True)
class Reading:
    """One of several readings of a disputed fact."""

    topic: str
    chosen: str
    beaten: tuple[str, ...]
    why: str
    policy: str | None = None
    """Name of the policy under which a beaten reading stays executable, if there is one."""


@frozen(kw_only=True)
class Evidence:
    """How sure a fact is and who says so."""

    confidence: str
    """HIGH, MED or LOW x OBSERVED, INFERRED or CARRIED as the source grades it; PROPOSED where the choice is ours."""
    source: str
    note: str = ""
    readings: tuple[Reading, ...] = ()


@frozen(kw_only=True)
class Geometry:
    """The two on-chip memories of one generation. Sizes in bytes, per partition unless named otherwise."""

    sbuf_stride: int
    sbuf_active: int
    sbuf_window: int
    psum_stride: int
    psum_active: int
    psum_window: int
    """Size of the address window; 0 where flat addresses cannot name PSUM."""
    psum_banks: int
    psum_bank_bytes: int
    psum_base: int = 0x2000000
    partitions: int = 128


@frozen(kw_only=True)
class Generation:
    """One hardware generation: identity, memory, and which layout features its records have."""

    name: str = field(validator=_name)
    nc_version: int
    title: str
    geometry: Geometry
    features: frozenset[str] = field(converter=_names, default=frozenset())
    """What its records have: `mem_pattern`, `mxtensor_v2`, `inst_flags`, `strict_register_form`."""
    defaults: tuple[tuple[str, str], ...] = ()
    """Policy defaults that differ on this generation, such as the flavour of fp8 code 0xE."""
    facts: tuple[tuple[str, str], ...] = ()
    """What `gpsimd gens` tells about it: topic and text."""
    evidence: Evidence


@frozen(kw_only=True)
class NamedSet:
    """A named set of dtypes, operators or enum members that a rule of one generation refers to."""

    name: str = field(validator=_name)
    members: frozenset[IntEnum] = field(converter=_members)
    evidence: Evidence


@frozen(kw_only=True)
class Encoding:
    """An opcode byte that exists on a generation."""

    opcode: int = field(validator=_opcode)
    name: str = field(validator=_name)
    layout: type[Any] | None = None
    """The Layout class of its operands; None where no source grounds one: such records stay opaque."""
    flag: str = field(default="maintained", validator=in_(("maintained", "deprecated", "unflagged")))
    kind: str = field(default="real", validator=in_(("real", "pseudo", "sentinel")))
    not_executable: str | None = None
    """Why dispatch faults although the opcode is declared; None where it executes."""
    overrides: str | None = None
    evidence: Evidence


@frozen(kw_only=True)
class Engine:
    """An engine of one NeuronCore and its instruction queue."""

    name: str = field(validator=_name)
    index: int
    instances: int = 1
    accumulators: str | None = None
    """Name of the engine whose per-lane accumulators it uses; None where it has none."""
    reaches_psum: bool = True
    title: str = ""
    overrides: str | None = None
    evidence: Evidence


@frozen(kw_only=True)
class EngineBinding:
    """Which engines take an instruction, first owner first."""

    instruction: str = field(validator=_name)
    engines: tuple[str, ...] = ()
    reason: str | None = None
    """Why no engine takes it, where `engines` is empty."""
    psum: frozenset[str] = field(converter=_names, default=frozenset())
    """Engines that may reach PSUM with this instruction although they otherwise do not."""
    overrides: str | None = None
    evidence: Evidence

    def __attrs_post_init__(self) -> None:
        if not self.engines and not self.reason:
            raise ValueError(f"{self.instruction}: a binding without engines states its reason")


@frozen(kw_only=True)
class Rule:
    """One precondition of an instruction, evaluated on all its records at once."""

    id: str = field(validator=_name)
    part: str = ""
    """Operand or field, where one published rule covers several."""
    number: int = 0
    """Position of the published rule in its family's list; several parts share it."""
    fields: tuple[str, ...]
    """Leaf fields that the rule reads and a report shows."""
    check: Callable[..., Any] = field(eq=False)
    """`check(columns, facts)` gives a boolean array of shape (records,): true where the rule holds."""
    allowed: str | Callable[[Any], str] = field(eq=False)
    """What the report says is allowed: text, or a function of the facts."""
    needs: tuple[str, ...] = ()
    """Names of rules it stands on; not checked where one of them failed or was not checked."""
    sets: tuple[str, ...] = ()
    """Named sets it looks up; resolved when the machine is built."""
    default: tuple[tuple[str, int | Callable[[Any], Any]], ...] = field(default=(), eq=False)
    """Field values that this rule forces when a field is left out by a writer: a number, or a function of the columns
    of the other fields that gives one for each record."""
    warning: bool = False
    """A warning, which becomes a violation under `strict`."""
    open: str = ""
    """Why nobody can judge the records on which `check` is false: they are listed as not checked, never as broken."""
    overrides: str | None = None
    evidence: Evidence

    @property
    def name(self) -> str:
        """`id` or `id[part]`: unique within an instruction."""
        return f"{self.id}[{self.part}]" if self.part else self.id


@frozen(kw_only=True)
class Operand:
    """A tensor, accumulator or immediate that an instruction reads or writes."""

    name: str = field(validator=_name)
    at: str
    """The layout field that holds its pattern."""
    dtype: str
    """The leaf field that holds its dtype code."""
    predicate: bool = False
    merges: bool = False
    """Elements whose predicate is false keep their bytes."""
    channels: int | None = None
    """Partitions it spans; None means num_active_channels."""


@frozen(kw_only=True)
class CompiledKernel:
    """A kernel over bit patterns, run by one compiled loop over plan rows.

    `run(memory, source, lanes, formats, rows, status)` is a lane function: memory and source are the storage bytes
    (source is memory itself unless operands overlap), lanes the per-partition state, formats the dtype table,
    rows (n, k) int64, status (n,) uint8 for notices. It writes in place and cannot raise.
    `row(step)` turns a planned step into one row of integers.
    """

    run: Callable[..., None]
    row: Callable[[Any], tuple[int, ...]]


@frozen(kw_only=True)
class Instruction:
    """One instruction: operands and rules above, effect below."""

    name: str = field(validator=_name)
    aliases: tuple[str, ...] = ()
    layout: type[Any]
    opcodes: tuple[int, ...] = ()
    """Opcode bytes, when the instruction brings its own encoding."""
    engine: str | tuple[str, ...] | None = None
    """Engines, when the instruction brings its own binding."""
    reads: tuple[Operand, ...] = ()
    writes: tuple[Operand, ...] = ()
    immediates: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    kernel: Callable[..., Any] | CompiledKernel | None = field(default=None, eq=False)
    """None: the record decodes and validates, and executing it is Unsupported with the text of `missing`."""
    missing: str = ""
    unsupported: Callable[[Any], str | None] | None = field(default=None, eq=False)
    """`unsupported(step)` names the missing fact where a legal record has no grounded value."""
    takes: Callable[..., Any] | None = field(default=None, eq=False)
    """`takes(columns, facts, engine)` gives a boolean array: which records an engine that is bound accepts."""
    accumulator: str | None = None
    """How it uses the engine's accumulator: the leaf field of the command, or `read`."""
    ready: Callable[..., Any] | None = field(default=None, eq=False)
    """`ready(step)` names what the core lacks for this step (state never loaded, a map value out of range): a Fault."""
    halts: bool = False
    """It ends its stream."""
    semantics: str = ""
    overrides: str | None = None
    evidence: Evidence


@frozen(kw_only=True)
class Activation:
    """One row of the table of activation functions, which the host of the hardware would load.

    `function` is a lane on fp32 bits: `function(bits) -> bits`, or `function(bits, parameter) -> bits` where
    `parameter` names what the second one is (fp32 bits as well).
    """

    number: int = field(validator=in_(range(256)))
    name: str = field(validator=_name)
    function: Callable[..., int] = field(eq=False)
    parameter: str = ""
    formula: str
    ulp: float
    """Bound of the error, in units of the last place of the fp32 result; 0 means exact, 0.5 correctly rounded."""
    overrides: str | None = None
    evidence: Evidence


@frozen(kw_only=True)
class SelfName:
    """An instruction's own name, as the firmware that handles it logs it."""

    text: str
    offset: int
    """File offset in the host library."""
    opcodes: tuple[int, ...]
    evidence: Evidence


@frozen(kw_only=True)
class BlobSite:
    """A firmware blob inside a host library, and the instruction self-names found in it."""

    generation: str = field(validator=_name)
    symbol: str
    """Accessor function; the bytes are the object `<symbol>.data`."""
    core: str
    """`NX`, the sequencer core of an engine, or `Q7`, the vector cores of POOL."""
    engine: str = field(validator=_name)
    build: str
    region: str
    offset: int
    """File offset of the first byte, which is its address in read-only data too."""
    end: int
    """File offset after the last byte."""
    accessor: int
    """Address of the accessor in the library's code."""
    base: int | None = None
    """Device address of the first byte, where one is known."""
    sha256: str = ""
    """First hexadecimal digits of the digest of its bytes, where published."""
    self_names: tuple[SelfName, ...] = ()
    unplaced: tuple[str, ...] = ()
    """Self-names that published counts demand in it and no page places."""
    overrides: str | None = None
    evidence: Evidence

    @property
    def size(self) -> int:
        """Bytes."""
        return self.end - self.offset


@frozen(kw_only=True)
class KernelRow:
    """One record of a kernel-info table."""

    opcode: int = field(validator=_opcode)
    spec: int
    function: int
    """Address of the kernel."""
    kernel: str = ""


@frozen(kw_only=True)
class KernelTable:
    """The kernel-info table inside an image of the POOL vector cores, as published."""

    generation: str = field(validator=_name)
    image: str
    symbol: str | None = None
    """Accessor of the blob that holds the image; None where no blob of the host library does."""
    address: int | None = None
    """Address of the table in the image, where published."""
    offset: int | None = None
    """Offset of the table in the image file, where published."""
    rows: tuple[KernelRow, ...]
    evidence: Evidence


@frozen(kw_only=True)
class BlobNote:
    """What else is known about the firmware of a generation."""

    generation: str = field(validator=_name)
    topic: str
    text: str
    evidence: Evidence


@frozen(kw_only=True)
class Policy:
    """A choice between readings that stays open at run time."""

    name: str = field(validator=_name)
    values: tuple[str, ...]
    """Allowed values; `<integer>` stands for any whole number."""
    default: str
    help: str
    evidence: Evidence


@frozen(kw_only=True)
class Profile:
    """A named bundle of policy values."""

    name: str = field(validator=_name)
    policies: Mapping[str, str] = field(factory=dict, hash=False)
    help: str
    evidence: Evidence
