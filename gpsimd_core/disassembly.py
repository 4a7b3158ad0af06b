"""A program as text that assembles to the same bytes: only what differs from the defaults is printed.

Records are taken by opcode and layout, and compared with the default record field by field in bulk; text is made only
for what differs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpsimd_core.encoding import base_record, derived, pattern
from gpsimd_core.errors import BadValue
from gpsimd_core.isa.dtypes import BY_CODE, SIZES
from gpsimd_core.isa.enums import Dtype, ImmSrc
from gpsimd_core.isa.layout import RECORD_BYTES, Columns, Field, Leaf, RecordLayout, member
from gpsimd_core.isa.layouts.common import Opaque
from gpsimd_core.memory import flat_address
from gpsimd_core.program import Group, Program, decode
from gpsimd_core.tensors import NamedTensor

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["disassemble", "field_text", "statements"]

INDIRECT = 0x20000000
"""Mark of an index list in an ADDR4 word."""
HEADER_BYTES = 12
"""Header and events: printed after the operands, because they seldom say anything."""


def disassemble(machine: Machine, program: Any) -> str:
    """The text of a program.

    Args:
        machine: the generation to read it for.
        program: a Program, bytes or a uint8 array of records.

    Returns:
        Text with `.gen`, the program's tensors and registers, and one statement a record. `assemble` makes the same
        bytes from it.
    """
    program = _on(machine, program)
    lines = [f".gen {machine.generation.name}"]
    for t in program.tensors.values():
        lines.append(_tensor_line(t))
    lines += [f".reg r{number} = 0x{value:x}" for number, value in sorted(program.registers.items())]
    return "\n".join([*lines, "", *statements(machine, program), ""])


def statements(machine: Machine, program: Any) -> Iterator[str]:
    """The statements of a program, one line each, and `.stream` where the stream changes."""
    program = _on(machine, program)
    texts: list[str] = [""] * len(program)
    for group in program.groups:
        for index, text in zip(group.indices.tolist(), _Writer(machine, program, group).texts(), strict=True):
            texts[index] = text
    streams: Sequence[str | None] = program.streams or [None] * len(texts)
    stream = None
    for text, wanted in zip(texts, streams, strict=True):
        if wanted != stream:
            stream = wanted
            yield f".stream {stream or 'none'}"
        yield text


def _on(machine: Machine, given: Any) -> Program:
    program: Program = decode(machine, given)
    if program.machine is machine:
        return program
    return Program(
        machine, program.raw, tensors=tuple(program.tensors.values()), registers=program.registers,
        streams=program.streams, name=program.name,
    )  # fmt: skip


def _tensor_line(t: NamedTensor) -> str:
    x = t.tensor
    shape = "x".join(map(str, x.shape))
    line = f".tensor {t.name} {x.region} {x.partition} 0x{x.offset:04x} {x.dtype} {shape} {t.direction}"
    return line if x.step is None else f"; {line}, with steps {x.step}, which text cannot say"


class _Writer:
    """The statements of one group of records."""

    def __init__(self, machine: Machine, program: Program, group: Group) -> None:
        self.machine, self.group, self.layout = machine, group, group.layout
        self.columns: Columns = group.columns
        self.places = _Places(machine, program)

    def texts(self) -> list[str]:
        """One statement a record, in the order of the group."""
        group = self.group
        if group.encoding is None or group.layout.cls is Opaque:
            return self._raw()
        opcode, mnemonic = group.encoding.opcode, group.encoding.name
        raw = self.columns.raw
        given: list[dict[str, str]] = [{} for _ in range(len(raw))]
        base = np.broadcast_to(base_record(self.machine, opcode, self.layout), raw.shape).copy()
        for t in self.places.tensors:
            self._refer(t, base, given)
        for name, numbers in derived(self.machine, opcode, self.columns).items():
            for row, number in zip(base, numbers.tolist(), strict=True):
                self.layout.store(row, name, number)
        order = _fields(self.layout)
        for f, mask in order:
            rows = np.flatnonzero(((raw ^ base) & mask).any(axis=1)).tolist()
            if rows:
                for row, text in zip(rows, field_text(f, self.columns, rows, self.places), strict=True):
                    given[row][f.name] = text
        return [
            f"{mnemonic} {', '.join(f'{f.name}={g[f.name]}' for f, _ in order if f.name in g)}".rstrip() for g in given
        ]

    def _raw(self) -> list[str]:
        if self.group.encoding is None:
            opcode = int(self.columns.raw[0, 0])
            comment = f"0x{opcode:02X} is no opcode of {self.machine.generation.name}"
        else:
            comment = self.group.encoding.name
        return [f".raw {row.tobytes().hex()}  ; {comment}" for row in self.columns.raw]

    def _refer(self, t: NamedTensor, base: np.ndarray[Any, Any], given: list[dict[str, str]]) -> None:
        """Name the tensor where a whole pattern and its dtype are those of the tensor, and put that into `base`."""
        instruction = self.machine.instructions.get(self.group.encoding.name if self.group.encoding else "")
        spans = {o.at: o.channels for o in (*instruction.reads, *instruction.writes)} if instruction else {}
        channels = self.layout.leaves.get("num_active_channels")
        raw = self.columns.raw
        for f in self.layout.fields:
            if f.kind != "tensor" or f.dtype is None:
                continue
            try:
                parts = pattern(self.machine, f, t.tensor)
            except BadValue:
                continue
            record = np.zeros(RECORD_BYTES, np.uint8)
            self.layout.write(record, f.name, parts)
            bytes_ = slice(f.offset, f.offset + f.size)
            same = (raw[:, bytes_] == record[bytes_]).all(axis=1) & (self.columns[f.dtype] == int(t.tensor.code))
            for row in np.flatnonzero(same).tolist():
                if f.name in given[row]:
                    continue
                if channels is not None and spans.get(f.name) is None:
                    if raw[row, channels.offset] != t.tensor.shape[0]:
                        continue
                    base[row, channels.offset] = t.tensor.shape[0]
                given[row][f.name] = f"@{t.name}"
                base[row, bytes_] = record[bytes_]
                self.layout.store(base[row], f.dtype, int(t.tensor.code))


class _Places:
    """The tensors of a program by address."""

    def __init__(self, machine: Machine, program: Program) -> None:
        self.tensors = [t for t in program.tensors.values() if t.tensor.step is None]
        self.spans: list[tuple[int, int, str]] = []
        for t in self.tensors:
            x = t.tensor
            try:
                first = flat_address(machine.generation.geometry, x.region, x.partition, x.offset)
            except BadValue:
                continue
            width = int(SIZES[x.code] * np.prod(x.shape[1:], dtype=np.int64))
            self.spans.append((first, first + width, t.name))

    def text(self, word: int) -> str:
        """An ADDR4 word: `r3`, `@name`, `@name+0x40`, or the number."""
        if word & 0xFFFFFFC0 == 0x80000000:
            return f"r{word & 0x3F}"
        if word < INDIRECT:
            for first, after, name in self.spans:
                if first <= word < after:
                    return f"@{name}+{word - first}" if word > first else f"@{name}"
        return f"0x{word:x}"


@functools.cache
def _fields(layout: RecordLayout) -> tuple[tuple[Field, np.ndarray[Any, Any]], ...]:
    """The fields in the order of the text, each with the bits of a record that it owns: uint8, shape (64,)."""
    rows = []
    for f in sorted(layout.fields, key=lambda f: (f.offset < HEADER_BYTES, f.offset, f.shift)):
        if f.name == "opcode":
            continue  # the mnemonic says it
        bits = 0
        for leaf in (leaf for arm in f.arms().values() for leaf in arm):
            span = leaf.bit_span()
            bits |= ((1 << len(span)) - 1) << span.start
        rows.append((f, np.frombuffer(bits.to_bytes(RECORD_BYTES, "little"), np.uint8)))
    return tuple(rows)


# Values ------------------------------------------------------------------------------------------------------------


def field_text(f: Field, c: Columns, rows: Sequence[int], places: Any = None) -> list[str]:
    """The values of a field as text that `assemble` reads.

    Args:
        f: the field.
        c: the records.
        rows: which of them.
        places: what names addresses; None prints them as numbers.
    """
    word: Callable[[int], str] = places.text if places is not None else lambda w: f"0x{w:x}"
    if f.kind == "tensor":
        return _patterns(f, c, rows, word)
    if f.kind == "data":
        base, step, num = (c[f"{f.name}.{part}"][rows].tolist() for part in ("base", "step_elem", "num_elem"))
        return [f"{{base={b}, {_dims(s, n)}}}" for b, s, n in zip(base, step, num, strict=True)]
    if f.kind == "bits":
        columns = [(name, c[f"{f.name}.{name}"][rows].tolist()) for name, _, _ in f.parts]
        return ["{" + ", ".join(f"{name}={numbers[i]}" for name, numbers in columns) + "}" for i in range(len(rows))]
    leaf = c.layout.leaves[f.name]
    numbers = c[f.name][rows].tolist()
    if f.kind in ("imm", "f32"):
        return _immediates(f, c, rows, numbers, word)
    if f.kind == "addr":
        return [_apart(word(n)) for n in numbers]
    if f.kind == "code":
        return [_member_text(leaf, n) for n in numbers]
    if leaf.is_array:
        if f.format == "u1":
            return [f"0x{bytes(n).hex()}" for n in numbers]
        return [f"[{', '.join(map(str, n))}]" for n in numbers]
    return [str(n) if n < 10_000 else f"0x{n:x}" for n in numbers]


def _patterns(f: Field, c: Columns, rows: Sequence[int], word: Callable[[int], str]) -> list[str]:
    start, step, num = (c[f"{f.name}.{part}"][rows].tolist() for part in ("start_addr", "step_elem", "num_elem"))
    texts = [f"{{addr={word(a)}, {_dims(s, n)}}}" for a, s, n in zip(start, step, num, strict=True)]
    if f.union:
        for i, a in enumerate(start):
            if a & INDIRECT:
                texts[i] = _indirect(f, c, rows[i], word)
    return texts


def _dims(step: Sequence[int], num: Sequence[int]) -> str:
    """Steps and counts without the outer dimensions that do nothing."""
    used = len(num)
    while used > 1 and (step[used - 1], num[used - 1]) == (1, 1):
        used -= 1
    return f"step=[{', '.join(map(str, step[:used]))}], num=[{', '.join(map(str, num[:used]))}]"


def _indirect(f: Field, c: Columns, row: int, word: Callable[[int], str]) -> str:
    index, data, count = (int(c[f"{f.name}.{part}"][row]) for part in ("index_addr", "data_addr", "num_indices"))
    rest = bytes(c[f"{f.name}.indirect_reserved"][row])
    listed = word(index ^ INDIRECT)
    listed = f"0x{index:x}" if listed.startswith("0x") else listed
    more = f", reserved=0x{rest.hex()}" if any(rest) else ""
    return f"{{index={listed}, data={word(data)}, count={count}{more}}}"


def _immediates(
    f: Field, c: Columns, rows: Sequence[int], bits: Sequence[int], word: Callable[[int], str]
) -> list[str]:
    sources = c[f.source][rows].tolist() if f.source else None
    code = c.layout.leaves[f.source].code if f.source else None
    dtypes = c[f.dtype][rows].tolist() if f.dtype else None
    texts = []
    for i, b in enumerate(bits):
        inline = sources is None or (code is not None and sources[i] == code["INSTRUCTION_IMMEDIATE"])
        register = sources is not None and code is not None and sources[i] == ImmSrc.REG_PTR_IMMEDIATE
        dtype = int(Dtype.FP32) if f.kind == "f32" else dtypes[i] if dtypes else None
        if inline and dtype == Dtype.FP32:
            texts.append(_float_text(b))
        elif inline and dtype is not None and _integer(dtype) and b < 10_000:
            texts.append(str(b))
        elif register and b < 64:
            texts.append(f"r{b}")
        elif not inline:
            texts.append(_apart(word(b)) if word(b).startswith("@") else f"0x{b:x}")
        else:
            texts.append(f"0x{b:x}")
    return texts


def _apart(text: str) -> str:
    """An address that names a tensor without taking its dtype along."""
    return f"{text}+0" if text.startswith("@") and "+" not in text else text


def _integer(dtype: int) -> bool:
    row = BY_CODE.get(dtype)  # type: ignore[call-overload]
    return row is not None and row.name.startswith(("int", "uint"))


def _float_text(bits: int) -> str:
    """The shortest decimal that gives these fp32 bits back, or the bits in hexadecimal."""
    value = np.array(bits, np.uint32).view(np.float32)[()]
    text = str(value)
    if np.isnan(value) or int(np.float32(float(text)).view(np.uint32)) != bits:
        return f"0x{bits:08x}"
    return text


def _member_text(leaf: Leaf, number: int) -> str:
    found = member(leaf.code, number)
    return found.name if hasattr(found, "name") else f"0x{number:x}"
