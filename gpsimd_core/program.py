"""Programs: streams of 64-byte records, decoded as columns, and single records encoded from names and tensors."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.errors import BadInput, BadValue
from gpsimd_core.isa.dtypes import BY_CODE, code_of
from gpsimd_core.isa.enums import Dtype, ImmSrc
from gpsimd_core.isa.layout import RECORD_BYTES, Columns, Field, RecordLayout
from gpsimd_core.isa.layouts.common import Opaque
from gpsimd_core.memory import flat_address
from gpsimd_core.values import Encoding

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine
    from gpsimd_core.report import Report

__all__ = ["Bits", "Group", "NamedTensor", "Program", "Record", "Report", "Tensor", "decode", "encode", "register"]


def register(number: int) -> int:
    """The ADDR4 word that takes an address from register `number` (0 to 63)."""
    if not 0 <= number < 64:
        raise BadValue(f"register {number} is outside 0 to 63")
    return 0x80000000 | number


def _maybe_tuple(value: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if value is None else tuple(value)


class Bits(int):
    """A raw bit pattern for an immediate: `Bits(0x7FC00000)`."""


@frozen
class Tensor:
    """A place in memory with a dtype and a shape, from which patterns are made.

    Args:
        region: `sbuf` or `psum`.
        partition: of row 0.
        offset: byte offset inside each partition.
        dtype: dtype name.
        shape: (partitions, ...); the last axis becomes X.
        step: elements from one index to the next, one number an axis after the first; contiguous if left out.
    """

    region: str = "sbuf"
    partition: int = field(default=0, kw_only=True)
    offset: int = field(default=0, kw_only=True)
    dtype: str = field(kw_only=True)
    shape: tuple[int, ...] = field(converter=tuple, kw_only=True)
    step: tuple[int, ...] | None = field(default=None, converter=_maybe_tuple, kw_only=True)

    @property
    def code(self) -> Dtype:
        """Wire code of the dtype."""
        code = code_of(self.dtype)
        if code is None or not BY_CODE[code].size:
            known = ", ".join(r.name for r in BY_CODE.values() if r.size)
            raise BadValue(f"no tensor dtype is called {self.dtype!r}; there are {known}")
        return code


@frozen(kw_only=True)
class NamedTensor:
    """A tensor of a program, with its name and whether it goes in or out."""

    name: str
    tensor: Tensor
    direction: str
    """in, out, inout or temp."""


@frozen(kw_only=True, eq=False)
class Group:
    """The records of one opcode and layout."""

    encoding: Encoding | None
    """None for a byte that is no opcode of the generation."""
    layout: RecordLayout
    indices: np.ndarray[Any, Any]
    columns: Columns


@frozen(kw_only=True, eq=False)
class Record:
    """One record of a program."""

    index: int
    name: str
    """Instruction name, or `unknown`."""
    opcode: int
    layout: RecordLayout
    raw: np.ndarray[Any, Any]

    @property
    def opaque(self) -> bool:
        """Whether only header and events are grounded."""
        return self.layout.cls is Opaque

    @property
    def fields(self) -> dict[str, Any]:
        """Field name to value; see `RecordLayout.read`."""
        return self.layout.read(self.raw)

    def __bytes__(self) -> bytes:
        return self.raw.tobytes()


class Program:
    """A stream of records, with the tensors and registers it was written for.

    Args:
        machine: for which it was decoded.
        raw: uint8, shape (records, 64).
        tensors: named tensors, if known.
        registers: address registers to set before a run.
        streams: per record the engine whose stream it stands in, or None where it names none.
        name: of the file, for messages.
    """

    def __init__(
        self,
        machine: Machine,
        raw: np.ndarray[Any, Any],
        *,
        tensors: tuple[NamedTensor, ...] = (),
        registers: Mapping[int, int] | None = None,
        streams: tuple[str | None, ...] | None = None,
        name: str = "<program>",
    ) -> None:
        self.machine = machine
        self.raw = np.ascontiguousarray(raw)
        self.raw.flags.writeable = False
        self.tensors = {t.name: t for t in tensors}
        self.registers = dict(registers or {})
        self.streams = streams
        self.name = name
        self.prepared: dict[Any, Any] = {}
        """What a host derived from the records once and may use again."""

    def __len__(self) -> int:
        return len(self.raw)

    def __bytes__(self) -> bytes:
        return self.raw.tobytes()

    def __iter__(self) -> Iterator[Record]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> Record:
        index = range(len(self))[index]
        row = self.raw[index]
        opcode = int(row[0])
        encoding = self.machine.opcodes.get(opcode)
        layout = _select(self.machine.layouts.get(opcode) or _opaque(), row[None])[0][1]
        return Record(index=index, name=encoding.name if encoding else "unknown", opcode=opcode, layout=layout, raw=row)

    @functools.cached_property
    def groups(self) -> tuple[Group, ...]:
        """The records by opcode and layout, each group as columns."""
        opcodes = self.raw[:, 0]
        found = []
        order = np.argsort(opcodes, kind="stable")
        present, starts = np.unique(opcodes[order], return_index=True)
        for opcode, indices in zip(present.tolist(), np.split(order, starts[1:]), strict=True):
            encoding = self.machine.opcodes.get(opcode)
            layout = self.machine.layouts.get(opcode) or _opaque()
            for rows, chosen in _select(layout, self.raw[indices]):
                mine = indices[rows]
                columns = Columns(chosen, self.raw[mine])
                found.append(Group(encoding=encoding, layout=chosen, indices=mine, columns=columns))
        return tuple(found)

    def split(self) -> dict[str, Program]:
        """One program for each engine that its records name."""
        engines = dict.fromkeys(s for s in self.streams or () if s)
        parts = {}
        for engine in engines:
            rows = [i for i, s in enumerate(self.streams or ()) if s == engine]
            parts[engine] = Program(
                self.machine, self.raw[rows], tensors=tuple(self.tensors.values()), registers=self.registers,
                streams=(engine,) * len(rows), name=self.name,
            )  # fmt: skip
        return parts


def _opaque() -> RecordLayout:
    return Opaque.variant(frozenset())


def _select(layout: RecordLayout, raw: np.ndarray[Any, Any]) -> list[tuple[np.ndarray[Any, Any], RecordLayout]]:
    everything = np.arange(len(raw))
    if layout.otherwise is None:
        return [(everything, layout)]
    leaf, value, other = layout.otherwise
    mine = raw[:, layout.leaves[leaf].offset] == value
    return [(rows, chosen) for rows, chosen in ((everything[mine], layout), (everything[~mine], other)) if len(rows)]


def decode(machine: Machine, data: Any, name: str = "<program>") -> Program:
    """View bytes as a stream of records. Nothing is judged: unknown opcodes and numbers survive.

    Args:
        machine: the generation to read them for.
        data: bytes, or a uint8 array of shape (n, 64) or (n * 64,).
        name: of the file, for messages.

    Raises:
        BadInput: empty, or not a multiple of 64 bytes.
    """
    if isinstance(data, Program):
        return data
    if isinstance(data, (bytes, bytearray, memoryview)):
        raw = np.frombuffer(bytes(data), np.uint8)
    else:
        raw = np.asarray(data)
        if raw.dtype != np.uint8:
            raise BadValue(f"a program is bytes or a uint8 array, not {raw.dtype}")
        raw = raw.reshape(-1).copy()
    if raw.size == 0:
        raise BadInput(f"{name} is empty; a program is records of {RECORD_BYTES} bytes")
    if raw.size % RECORD_BYTES:
        whole, rest = divmod(raw.size, RECORD_BYTES)
        raise BadInput(
            f"{name} is {raw.size} bytes, not a multiple of {RECORD_BYTES}: {whole} whole records and {rest} bytes"
        )
    return Program(machine, raw.reshape(-1, RECORD_BYTES), name=name)


# Encoding ------------------------------------------------------------------------------------------------------------


def template(machine: Machine, opcode: int) -> np.ndarray[Any, Any]:
    """A record in which every field has the one value that its rules allow, else zero: uint8, shape (64,)."""
    cache = machine.facts.templates
    found = cache.get(opcode)
    if found is None:
        found = np.zeros(RECORD_BYTES, np.uint8)
        found[0] = opcode
        layout = machine.layouts[opcode]
        for bound in machine.books[machine.opcodes[opcode].name].rules:
            for name, value in bound.rule.default:
                layout.store(found, name, value)
        cache[opcode] = found
    return found.copy()


def encode(machine: Machine, name: str, /, **fields: Any) -> bytes:
    """One record.

    Args:
        machine: the generation.
        name: instruction name or alias.
        fields: field name to number, enum member or its name; patterns as `Tensor` or as a dict of `addr`, `step`
            and `num`; immediates as float (a value of their dtype), int (of an integer dtype) or `Bits`. What is
            left out takes the one value its rules allow, else zero; dtypes and num_active_channels follow from the
            tensors.

    Returns:
        64 bytes. Nothing is judged beyond what a field can hold: see `validate`.

    Raises:
        UsageError: unknown instruction.
        BadValue: unknown field, a value that the field cannot hold, tensors that do not fit.
    """
    opcode = machine.opcode_of(name)
    layout = machine.layouts[opcode]
    record = template(machine, opcode)
    implied = _from_tensors(machine, opcode, layout, fields)
    plain = {k: v for k, v in fields.items() if not isinstance(v, Tensor)}
    for key, value in {**implied, **plain}.items():
        f = layout.by_name.get(key)
        if f is not None and f.kind == "tensor" and isinstance(value, Mapping):
            value = _padded(f, value)
        if f is None or f.kind not in ("imm", "f32"):
            layout.write(record, key, value)
    for key, value in plain.items():
        f = layout.by_name.get(key)
        if f is not None and f.kind in ("imm", "f32"):
            layout.write(record, key, immediate_bits(machine, layout, record, f, value))
    return record.tobytes()


def _from_tensors(machine: Machine, opcode: int, layout: RecordLayout, fields: Mapping[str, Any]) -> dict[str, Any]:
    implied: dict[str, Any] = {}
    rows: dict[str, int] = {}
    instruction = machine.instructions.get(machine.opcodes[opcode].name)
    spans = {o.at: o.channels for o in (*instruction.reads, *instruction.writes)} if instruction else {}
    for name, value in fields.items():
        if not isinstance(value, Tensor):
            continue
        f = layout.by_name.get(name)
        if f is None or f.kind != "tensor":
            patterns = ", ".join(f.name for f in layout.fields if f.kind == "tensor")
            raise BadValue(f"{name} takes no tensor; patterns of {layout.name}: {patterns or 'none'}")
        implied[name] = pattern(machine, f, value)
        if f.dtype:
            given = implied.setdefault(f.dtype, value.code)
            if given != value.code:
                raise BadValue(f"{name} is {value.dtype}, but {f.dtype} is already {BY_CODE[given].name}")
        if spans.get(name) is None:
            rows[name] = value.shape[0]
    if rows and "num_active_channels" in layout.by_name:
        if len(set(rows.values())) > 1:
            told = ", ".join(f"{name} has {n}" for name, n in rows.items())
            raise BadValue(f"tensors of one instruction have the same number of partitions: {told}")
        implied["num_active_channels"] = next(iter(rows.values()))
    return implied


def pattern(machine: Machine, f: Field, tensor: Tensor) -> dict[str, Any]:
    """The pattern of a tensor in a slot of `f.dims` dimensions.

    Raises:
        BadValue: it needs more dimensions than the slot has, or a count or step beyond what they hold.
    """
    address = flat_address(machine.generation.geometry, tensor.region, tensor.partition, tensor.offset)
    shape = tensor.shape[1:] or (1,)
    steps = tensor.step or tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    if len(steps) != len(shape):
        raise BadValue(f"step has {len(steps)} numbers for {len(shape)} axes after the first")
    dims = [(n, s) for n, s in zip(reversed(shape), reversed(steps), strict=True)]
    while len(dims) > f.dims:
        merged = _merge_once(dims)
        if merged is None:
            raise BadValue(
                f"{f.name} has {f.dims} dimensions; shape {tensor.shape} with steps {steps} needs {len(dims)}"
            )
        dims = merged
    dims = [part for n, s in dims for part in _split(f.name, n, s)]
    if len(dims) > f.dims:
        raise BadValue(
            f"{f.name} has {f.dims} dimensions; shape {tensor.shape} needs {len(dims)} (an axis over 65535 takes two)"
        )
    return _padded(f, {"addr": address, "step": [s for _, s in dims], "num": [n for n, _ in dims]})


def _merge_once(dims: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
    for i in range(len(dims) - 1):
        (n, s), (m, t) = dims[i], dims[i + 1]
        if n == 1 or m == 1 or t == n * s:
            joined = (m, t) if n == 1 else (n, s) if m == 1 else (n * m, s)
            return [*dims[:i], joined, *dims[i + 2 :]]
    return None


def _split(name: str, n: int, s: int) -> list[tuple[int, int]]:
    if n <= 65535:
        return [(n, s)]
    largest = min(65535, 32767 // max(abs(s), 1))
    inner = next((a for a in range(largest, 1, -1) if n % a == 0 and n // a <= 65535), None)
    if inner is None:
        raise BadValue(f"{name}: an axis of {n} does not fit a count of 65535 and has no factor that does")
    return [(inner, s), (n // inner, inner * s)]


def _padded(f: Field, value: Mapping[str, Any]) -> dict[str, Any]:
    """A pattern with step 1 and count 1 in the dimensions that it leaves out."""
    full = dict(value)
    for part in ("step", "num"):
        if part in full:
            given = list(full[part])
            if len(given) > f.dims:
                raise BadValue(f"{f.name}.{part} has {len(given)} numbers; the slot has {f.dims} dimensions")
            full[part] = given + [1] * (f.dims - len(given))
    if "num" in full and "step" not in full:
        counts = list(value["num"])
        full["step"] = [math.prod(counts[:i]) for i in range(len(counts))] + [1] * (f.dims - len(counts))
    return full


def immediate_bits(machine: Machine, layout: RecordLayout, record: np.ndarray[Any, Any], f: Field, value: Any) -> int:
    """The 32 bits of an immediate: a value of its dtype when inline, an address or register number otherwise.

    Raises:
        BadValue: a whole number where a floating value is wanted, or the reverse; out of range.
    """
    if isinstance(value, Bits):
        return int(value)
    source = layout.number(record, f.source) if f.source else int(ImmSrc.INSTRUCTION_IMMEDIATE)
    inline = source == (ImmSrc.INSTRUCTION_IMMEDIATE if f.code is None else 1)
    code = Dtype.FP32 if f.kind == "f32" else layout.number(record, f.dtype) if f.dtype else None
    floating = code is not None and not (
        BY_CODE[member].name.startswith(("int", "uint")) if (member := _dtype(code)) else True
    )
    if isinstance(value, (float, np.floating)):
        if not inline:
            raise BadValue(f"{f.name} is {value!r}, but it comes from memory: an address is needed")
        if code is not None and not floating:
            raise BadValue(f"{f.name} is {value!r}, but its dtype is {_dtype_name(code)}: a whole number is needed")
        fmt = machine.formats.get(int(code)) if code is not None else None
        if fmt is None or fmt.name == "fp32":
            with np.errstate(over="ignore"):
                return int(np.float32(value).view(np.uint32))
        from gpsimd_core.isa.convert import convert

        with np.errstate(over="ignore"):
            bits = convert(np.array([value], np.float32), fmt.name)
        return int(bits.view(f"u{bits.itemsize}")[0])
    if isinstance(value, (int, np.integer)):
        number = int(value)
        if inline and floating and number:
            raise BadValue(
                f"{f.name} is {number}, but its dtype is {_dtype_name(int(code or 0))}: write {number}.0 for the value, "
                f"0x{number & 0xFFFFFFFF:x} or Bits(0x{number & 0xFFFFFFFF:x}) for the bits"
            )
        if not -(1 << 31) <= number < 1 << 32:
            raise BadValue(f"{f.name} is {number}; it holds 32 bits")
        return number & 0xFFFFFFFF
    raise BadValue(f"{f.name} takes a number, not {value!r}")


def _dtype(code: int) -> Dtype | None:
    return Dtype._value2member_map_.get(int(code))  # type: ignore[return-value]


def _dtype_name(code: int) -> str:
    found = _dtype(code)
    return found.name if found else f"0x{code:X}"
