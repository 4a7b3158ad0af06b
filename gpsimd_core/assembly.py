"""Programs as text: one statement a line, both ways.

    .tensor mask sbuf 0 0x0000 uint8 128x4096 in      ; name region partition offset dtype shape in|out|inout|temp
    .reg r3 = 0x2000                                  ; an address register
    .stream dve                                       ; what follows is that engine's stream
    select_reduce src0=@mask, src1=@x, dst=@y, accumulator_cmd=ZERO_ACCUMULATE
    .raw ea10...                                      ; any record: 64 bytes of hex

Fields left out are `encode`'s defaults, and `disassemble` prints only what differs from them, so that text and bytes
are inverse for every record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gpsimd_core.disassembly import INDIRECT, disassemble, statements
from gpsimd_core.encoding import encode, layout_of
from gpsimd_core.errors import BadInput, BadValue, UsageError
from gpsimd_core.isa.dtypes import code_of
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import RECORD_BYTES, Field, RecordLayout
from gpsimd_core.machine import suggest
from gpsimd_core.memory import flat_address
from gpsimd_core.program import Program
from gpsimd_core.syntax import Assignment, Mistake, Reference, Token, Value, parse_statement, words
from gpsimd_core.tensors import BadField, Bits, NamedTensor, make_tensor, register

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["assemble", "declared_generation", "disassemble", "statements"]

MOST_ERRORS = 20
"""Mistakes that one message lists; a file of another kind would fill the screen."""

_GEN = re.compile(r"^[ \t]*\.gen[ \t]+([^\s;]+)", re.MULTILINE | re.IGNORECASE)
_SHAPE = re.compile(r"[1-9]\d*(x[1-9]\d*)*")
_HEX = re.compile(r"[0-9a-fA-F]*")


def declared_generation(text: str) -> str | None:
    """The generation that a text names with `.gen`, or None."""
    found = _GEN.search(text)
    return found.group(1).lower() if found else None


def assemble(machine: Machine, text: str, name: str = "<text>") -> Program:
    """A program from text.

    Args:
        machine: the generation to encode for; it stands above `.gen`.
        text: statements, one a line.
        name: of the file, for messages.

    Returns:
        A Program with the tensors, registers and streams that the text names.

    Raises:
        BadInput: `name:line:column: what, found, allowed`, one line for each mistake; or no instruction at all.
    """
    lines = [line.partition(";")[0].rstrip() for line in text.split("\n")]
    reader = _Assembler(machine)
    mistakes: list[str] = []
    for first_pass in (True, False):  # tensors first, so that a statement may name one that is declared below it
        for number, line in enumerate(lines, 1):
            try:
                reader.line(line, first_pass)
            except Mistake as e:
                mistakes.append(f"{name}:{number}:{e.column}: {e.reason}")
        if mistakes:
            more = [f"... and {len(mistakes) - MOST_ERRORS} more mistakes"] if len(mistakes) > MOST_ERRORS else []
            raise BadInput("\n".join(mistakes[:MOST_ERRORS] + more))
    if not reader.records:
        raise BadInput(f"{name} has no instructions; a program has one or more, one a line")
    raw = np.frombuffer(b"".join(reader.records), np.uint8).reshape(-1, RECORD_BYTES)
    return Program(
        machine, raw, tensors=tuple(reader.tensors.values()), registers=reader.registers,
        streams=tuple(reader.streams) if any(reader.streams) else None, name=name,
    )  # fmt: skip


class _Assembler:
    """What a text has said so far."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.tensors: dict[str, NamedTensor] = {}
        self.registers: dict[int, int] = {}
        self.records: list[bytes] = []
        self.streams: list[str | None] = []
        self.stream: str | None = None
        self.generation: str | None = None

    def line(self, line: str, first_pass: bool) -> None:
        """Take in one line without its comment."""
        given = words(line)
        if not given:
            return
        head, rest = given[0], given[1:]
        directive = head.text.lower()
        if not directive.startswith("."):
            if not first_pass:
                self._statement(line)
            return
        early = {".gen": self._gen, ".tensor": self._tensor}
        late = {".reg": self._register, ".stream": self._stream, ".raw": self._raw}
        if directive not in early | late:
            raise Mistake(head.column, f"no directive is called {head.text!r}; there are {', '.join(early | late)}")
        act = (early if first_pass else late).get(directive)
        if act is not None:
            act(head, rest)

    # Directives ----------------------------------------------------------------------------------------------------

    def _gen(self, head: Token, rest: list[Token]) -> None:
        name = _only(head, rest, "the name of a generation").text.lower()
        if self.generation not in (None, name):
            raise Mistake(rest[0].column, f".gen {name}, but the text said .gen {self.generation} before")
        self.generation = name

    def _tensor(self, head: Token, rest: list[Token]) -> None:
        form = "name region partition offset dtype shape in|out|inout|temp"
        if len(rest) != 7:
            at = rest[7].column if len(rest) > 7 else head.column
            raise Mistake(at, f".tensor takes {form}: 7 words, not {len(rest)}")
        name, region, partition, offset, dtype, shape, direction = rest
        if name.text in self.tensors:
            raise Mistake(name.column, f"tensor {name.text} is declared twice")
        if not _SHAPE.fullmatch(shape.text.lower()):
            raise Mistake(shape.column, f"{shape.text!r} is no shape; a shape reads 128x4096, every count at least 1")
        words_of = {
            "name": name,
            "region": region,
            "partition": partition,
            "offset": offset,
            "dtype": dtype,
            "direction": direction,
        }
        try:
            self.tensors[name.text] = make_tensor(
                self.machine, name.text, region.text.lower(), _number(partition), _number(offset), dtype.text.lower(),
                tuple(int(n) for n in shape.text.lower().split("x")), direction.text.lower(),
            )  # fmt: skip
        except BadField as e:
            raise Mistake(words_of.get(e.field, shape).column, str(e)) from None

    def _register(self, head: Token, rest: list[Token]) -> None:
        pieces = [Token("word", m.group(), t.column + m.start()) for t in rest for m in re.finditer(r"=|[^=]+", t.text)]
        if len(pieces) != 3 or pieces[1].text != "=":
            raise Mistake(head.column, ".reg takes a register and its value: .reg r3 = 0x2000")
        name, _, value = pieces
        if not re.fullmatch(r"[rR]\d+", name.text) or int(name.text[1:]) > 63:
            raise Mistake(name.column, f"{name.text!r} is no address register; there are r0 to r63")
        number = int(name.text[1:])
        if number in self.registers:
            raise Mistake(name.column, f"register r{number} is set twice")
        if value.text.startswith("@"):
            tensor, _, offset = value.text[1:].partition("+")
            reference = Reference(tensor, int(offset, 0) if offset else 0)
            content = self._address(Value("ref", reference, value.column))
        else:
            content = _number(value)
        if not 0 <= content < 1 << 32:
            raise Mistake(value.column, f"r{number} is {value.text}; a register holds 0 to 0xffffffff")
        self.registers[number] = content

    def _stream(self, head: Token, rest: list[Token]) -> None:
        engine = _only(head, rest, "the name of an engine, or none")
        name = engine.text.lower()
        if name != "none" and name not in self.machine.engines:
            there = ", ".join(self.machine.engines)
            raise Mistake(
                engine.column, f"{self.machine.generation.name} has no engine {engine.text!r}; there are {there}, none"
            )
        self.stream = None if name == "none" else name

    def _raw(self, head: Token, rest: list[Token]) -> None:
        for word in rest:
            if not _HEX.fullmatch(word.text):
                raise Mistake(word.column, f"{word.text!r} is not hexadecimal")
        digits = "".join(word.text for word in rest)
        if len(digits) != 2 * RECORD_BYTES:
            at = rest[0].column if rest else head.column
            raise Mistake(at, f".raw has {len(digits)} hex digits; a record has {2 * RECORD_BYTES}, two a byte")
        self._add(bytes.fromhex(digits))

    def _add(self, record: bytes) -> None:
        self.records.append(record)
        self.streams.append(self.stream)

    # Instructions --------------------------------------------------------------------------------------------------

    def _statement(self, line: str) -> None:
        statement = parse_statement(line)
        try:
            opcode = self.machine.opcode_of(statement.mnemonic)
        except UsageError as e:
            raise Mistake(statement.column, str(e)) from None
        layout = self._layout(opcode, statement.assignments)
        fields: dict[str, Any] = {}
        implied: dict[str, Any] = {}
        places: dict[str, int] = {}
        for written in statement.assignments:
            a = written._replace(key=_spelled(written.key, layout.by_name, layout.leaves))
            if a.key in fields:
                raise Mistake(a.column, f"{a.key} is given twice")
            fields[a.key] = self._resolve(layout, statement.mnemonic, a, implied)
            places[a.key] = a.value.column
        try:
            self._add(encode(self.machine, f"0x{opcode:02X}", **{**implied, **fields}))
        except BadField as e:
            raise Mistake(places.get(e.field, statement.column), str(e)) from None

    def _layout(self, opcode: int, assignments: tuple[Assignment, ...]) -> RecordLayout:
        layout = self.machine.layouts[opcode]
        leaf = layout.otherwise[0] if layout.otherwise else ""
        chosen = next((a.value for a in assignments if a.key.lower() == leaf.lower()), None)
        if chosen is None:
            return layout_of(self.machine, opcode, {})
        try:
            number = _member(leaf, layout.by_name[leaf], chosen) if chosen.text.isidentifier() else chosen.data
            return layout_of(self.machine, opcode, {leaf: number})
        except BadValue as e:
            raise Mistake(chosen.column, str(e)) from None

    def _resolve(self, layout: RecordLayout, mnemonic: str, a: Assignment, implied: dict[str, Any]) -> Any:
        """What `encode` takes for an assignment; what it implies for other fields goes to `implied`."""
        key, value = a.key, a.value
        f = layout.by_name.get(key)
        if key == "opcode":
            raise Mistake(a.column, "the mnemonic gives the opcode; a number such as 0xEA may stand in its place")
        if f is None:
            leaf = layout.leaves.get(key.partition("[")[0])
            if leaf is None or "." not in leaf.name:
                names = [name for name in layout.by_name if name != "opcode"]
                raise Mistake(
                    a.column, f"{mnemonic} has no field {key!r}{suggest(key, names)}; it has {', '.join(names)}"
                )
            return self._word(key, value) if value.kind != "list" else value.data
        if f.kind == "tensor":
            return self._pattern(f, value)
        if f.kind in ("data", "bits"):
            if value.kind != "parts":
                raise Mistake(value.column, f"{key} takes parts in braces, such as {{{_example(f)}}}")
            names = [name for name, _, _ in f.parts]
            parts = {_spelled(part, names): (part, v) for part, v in value.data.items()}
            return {part: self._plain(f"{key}.{written}", v) for part, (written, v) in parts.items()}
        if f.kind in ("imm", "f32"):
            return self._immediate(layout, f, value, implied)
        if f.kind == "addr":
            if value.kind == "ref" and value.data.offset is None:
                return self._tensor_of(value).tensor
            return self._word(key, value)
        if f.kind == "code":
            if value.text.isidentifier():
                return _member(key, f, value)
            return self._plain(key, value)
        if value.kind == "hex" and f.count > 1 and f.format == "u1":
            return _bytes(key, f, value)
        if value.kind == "reg" and f.type != "ADDR8":
            return value.data
        return self._plain(key, value)

    def _pattern(self, f: Field, value: Value) -> Any:
        if value.kind == "ref" and value.data.offset is None:
            return self._tensor_of(value).tensor
        if value.kind != "parts":
            raise Mistake(
                value.column, f"{f.name} takes @name, or {{addr=..., step=[...], num=[...]}} with {f.dims} dimensions"
            )
        parts: dict[str, Any] = {}
        for written, v in value.data.items():
            part = written.lower()
            key = f"{f.name}.{part}"
            if part == "index":
                parts[part] = self._index(key, v)
            elif part in ("addr", "data"):
                parts[part] = self._word(key, v)
            else:
                parts[part] = _bytes(key, None, v) if v.kind == "hex" and part == "reserved" else self._plain(key, v)
        return parts

    def _index(self, key: str, value: Value) -> int:
        """The word of an index list, whose mark is bit 29."""
        if value.kind in ("ref", "reg"):
            return self._word(key, value) | INDIRECT
        word = self._word(key, value)
        if not word & INDIRECT:
            raise Mistake(
                value.column,
                f"{key} is 0x{word:x} without bit 29, the mark of an index list: write 0x{word | INDIRECT:x}",
            )
        return word

    def _immediate(self, layout: RecordLayout, f: Field, value: Value, implied: dict[str, Any]) -> Any:
        sourced = f.source and layout.leaves[f.source].code is not None
        if value.kind == "hex":
            return Bits(value.data)
        if value.kind == "ref":
            if value.data.offset is None:
                return self._tensor_of(value).tensor
            if sourced:
                implied[str(f.source)] = "POINTER_IMMEDIATE"
            return Bits(self._address(value))
        if value.kind == "reg":
            if sourced:
                implied[str(f.source)] = "REG_PTR_IMMEDIATE"
            return Bits(value.data)
        if value.kind in ("int", "float"):
            return value.data
        raise Mistake(value.column, f"{f.name} takes a number, @name or a register")

    # Values --------------------------------------------------------------------------------------------------------

    def _word(self, key: str, value: Value) -> int:
        """A number, address of a tensor, or the word that names a register."""
        if value.kind == "reg":
            return register(value.data)
        if value.kind == "ref":
            return self._address(value)
        number = self._plain(key, value)
        if not isinstance(number, int):
            raise Mistake(value.column, f"{key} takes an address: a number, @name+offset or a register")
        return number

    def _plain(self, key: str, value: Value) -> Any:
        if value.kind in ("int", "hex", "list"):
            return value.data
        raise Mistake(value.column, f"{key} takes {'numbers' if value.kind == 'parts' else 'a whole number'}")

    def _tensor_of(self, value: Value) -> NamedTensor:
        found = self.tensors.get(value.data.name)
        if found is None:
            there = ", ".join(self.tensors) or "none"
            close = suggest(value.data.name, self.tensors)
            raise Mistake(value.column, f"no tensor is called {value.data.name!r}{close}; declared: {there}")
        return found

    def _address(self, value: Value) -> int:
        tensor = self._tensor_of(value).tensor
        offset = tensor.offset + (value.data.offset or 0)
        try:
            return flat_address(self.machine.generation.geometry, tensor.region, tensor.partition, offset)
        except BadValue as e:
            raise Mistake(value.column, str(e)) from None


def _only(head: Token, rest: list[Token], what: str) -> Token:
    if len(rest) != 1:
        raise Mistake(rest[1].column if rest else head.column, f"{head.text} takes {what}, one word")
    return rest[0]


def _number(word: Token) -> int:
    try:
        return int(word.text, 0)
    except ValueError:
        raise Mistake(word.column, f"{word.text!r} is no whole number; decimal and 0x hexadecimal are") from None


def _spelled(text: str, *known: Iterable[str]) -> str:
    """The known name that a text writes in whatever case; the text itself where there is none."""
    name, bracket, index = text.partition("[")
    names = [n for group in known for n in group]
    if name not in names:
        name = next((n for n in names if n.lower() == name.lower()), name)
    return f"{name}{bracket}{index}"


def _member(key: str, f: Field, value: Value) -> int:
    """The number of an enumeration member by name; of a dtype by its public name too."""
    assert f.code is not None
    members = f.code.__members__
    public = code_of(value.text) if f.code is Dtype else None
    if public is not None:
        return int(public)
    name = _spelled(value.text, members)
    if name in members:
        return int(members[name])
    close = suggest(value.text.upper(), members)
    raise Mistake(
        value.column, f"{key}: {f.code.__name__} has no member {value.text!r}{close}; it has {', '.join(members)}"
    )


def _bytes(key: str, f: Field | None, value: Value) -> list[int]:
    """Bytes in record order, from `0x` and two digits a byte."""
    digits = value.text[2:]
    if len(digits) % 2 or (f is not None and len(digits) != 2 * f.count):
        wanted = f"{2 * f.count}, two a byte" if f is not None else "an even number"
        raise Mistake(value.column, f"{key} has {len(digits)} hex digits; it takes {wanted}")
    return list(bytes.fromhex(digits))


def _example(f: Field) -> str:
    if f.kind == "bits":
        return ", ".join(f"{name}=0" for name, _, _ in f.parts)
    return "base=0, step=[1], num=[8]"
