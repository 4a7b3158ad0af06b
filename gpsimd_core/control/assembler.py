"""Text to words.

One statement a line; `;`, `#` and `//` start comments; mnemonics and register names in any case. Labels end in a colon.
Numbers are decimal, 0x, 0b or 0o, symbols, `.` for the current address, and their sums and differences.

Directives: .word or .long, .short or .half, .byte (values), .space N (zero bytes), .ascii .asciz "text", .align N (to a multiple of N,
with zeros), .org ADDRESS, .literal NAME, VALUE (a word at a multiple of 4, for L32R), .equ NAME, VALUE.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from attrs import define, field, frozen

from gpsimd_core.control import registers
from gpsimd_core.control.table import Table, table
from gpsimd_core.control.words import Operand, Row
from gpsimd_core.errors import BadInput, BadValue

_NAME = r"[A-Za-z_.$][\w.$]*"
_LABEL = re.compile(rf"\s*({_NAME})\s*:")
_TERM = re.compile(rf"\s*([+-]?)\s*(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|\d+|{_NAME})\s*")
_REGISTER = re.compile(r"(a|b)(\d+)\Z", re.IGNORECASE)
_IGNORED = {".text", ".global", ".globl", ".literal_position", ".type", ".size"}
_SIZES = {".byte": 1, ".short": 2, ".half": 2, ".word": 4, ".long": 4}


@frozen(kw_only=True)
class Image:
    """Assembled code and data.

    Args:
        segments: (address, bytes), in the order of the text.
        symbols: labels and constants.
        lines: address of an instruction = line number of its text.
    """

    segments: tuple[tuple[int, bytes], ...]
    symbols: Mapping[str, int]
    lines: Mapping[int, int]

    @property
    def base(self) -> int:
        """The lowest address, 0 for an empty image."""
        return min((address for address, _ in self.segments), default=0)

    def flat(self) -> bytes:
        """Everything from `base` on, gaps as zeros."""
        end = max((address + len(data) for address, data in self.segments), default=0)
        content = bytearray(end - self.base)
        for address, data in self.segments:
            content[address - self.base : address - self.base + len(data)] = data
        return bytes(content)


def assemble(text: str, variant: str = "q7", base: int = 0, name: str = "text") -> Image:
    """Assemble a program.

    Args:
        text: the source.
        variant: "q7" or "classic".
        base: where it starts, unless it says `.org`.
        name: of the source, for messages.

    Raises:
        BadInput: a line that cannot be assembled; the message names it, what was found and what is allowed.
    """
    return _Assembly(table(variant), base, name).run(text)


def assemble_word(text: str, variant: str = "q7", pc: int = 0) -> int:
    """The word of one instruction.

    Args:
        text: the instruction, targets as absolute addresses.
        variant: "q7" or "classic".
        pc: its address.

    Raises:
        BadValue: no instruction of this variant is spelled like this.
    """
    row, texts = _parse(table(variant), text)
    return _encode(table(variant), row, texts, pc, partial(_number, symbols={".": pc}))


@define
class _Assembly:
    table: Table
    here: int
    name: str
    symbols: dict[str, int] = field(factory=dict)
    later: list[tuple[int, int, Callable[[], bytes]]] = field(factory=list)  # line, address, what lies there
    lines: dict[int, int] = field(factory=dict)

    def run(self, text: str) -> Image:
        for number, line in enumerate(text.splitlines(), 1):
            try:
                for statement in self._statements(line):
                    self._place(number, statement)
            except BadValue as error:
                raise BadInput(f"{self.name}:{number}: {line.strip()}: {error}") from None
        source = text.splitlines()
        segments: list[tuple[int, bytes]] = []
        for number, address, make in self.later:
            try:
                data = make()
            except BadValue as error:
                raise BadInput(f"{self.name}:{number}: {source[number - 1].strip()}: {error}") from None
            if segments and segments[-1][0] + len(segments[-1][1]) == address:
                segments[-1] = (segments[-1][0], segments[-1][1] + data)
            else:
                segments.append((address, data))
        return Image(segments=tuple(segments), symbols=self.symbols, lines=self.lines)

    def _statements(self, line: str) -> Iterator[str]:
        text = _without_comment(line)
        while match := _LABEL.match(text):
            self._define(match[1], self.here)
            text = text[match.end() :]
        if text.strip():
            yield text.strip()

    def _define(self, name: str, value: int) -> None:
        if name in self.symbols:
            raise BadValue(f"{name} is defined twice")
        if _REGISTER.match(name):
            raise BadValue(f"{name} is a register, not a name for a label")
        self.symbols[name] = value

    def _place(self, number: int, text: str) -> None:
        if text.startswith("."):
            self._directive(number, text)
            return
        row, texts = _parse(self.table, text)
        self.lines[self.here] = number
        self._add(number, row.length, partial(self._instruction, row, texts, self.here))

    def _instruction(self, row: Row, texts: list[str], pc: int) -> bytes:
        return _encode(self.table, row, texts, pc, partial(self._value, pc)).to_bytes(row.length, "little")

    def _add(self, number: int, size: int, make: Callable[[], bytes]) -> None:
        if self.here + size > 1 << 32:
            raise BadValue("this lies beyond the last address 0xffffffff")
        self.later.append((number, self.here, make))
        self.here += size

    def _value(self, here: int, text: str) -> int:
        return _number(text, {**self.symbols, ".": here})

    def _directive(self, number: int, text: str) -> None:
        name, _, rest = text.partition(" ")
        name = name.lower()
        parts = _split(rest)
        here = self.here
        if name in _IGNORED:
            return
        if name in _SIZES:
            size = _SIZES[name]
            for part in parts:
                self._add(number, size, partial(self._data, part, size, self.here))
        elif name in (".ascii", ".asciz"):
            data = _string(rest) + (b"\0" if name == ".asciz" else b"")
            self._add(number, len(data), lambda: data)
        elif name == ".literal" and len(parts) == 2:
            self._pad(number, 4)
            self._define(parts[0], self.here)
            self._add(number, 4, partial(self._data, parts[1], 4, self.here))
        elif name in (".equ", ".set") and len(parts) == 2:
            self._define(parts[0], self._value(here, parts[1]))
        elif name == ".org" and len(parts) == 1:
            self.here = self._value(here, parts[0])
        elif name == ".space" and len(parts) == 1:
            size = self._positive(parts[0])
            self._add(number, size, lambda: bytes(size))
        elif name in (".align", ".balign") and len(parts) == 1:
            self._pad(number, self._positive(parts[0]))
        else:
            raise BadValue(
                f"not a directive with these operands: {name}; known: .word .short .byte .space .ascii .asciz "
                ".align .org .literal .equ"
            )

    def _positive(self, text: str) -> int:
        value = self._value(self.here, text)
        if not 0 < value <= 1 << 28:
            raise BadValue(f"{value} is not allowed here; allowed: 1 to {1 << 28}")
        return value

    def _pad(self, number: int, step: int) -> None:
        gap = -self.here % step
        if gap:
            self._add(number, gap, lambda: bytes(gap))

    def _data(self, text: str, size: int, here: int) -> bytes:
        value = self._value(here, text)
        if not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
            raise BadValue(f"{value:#x} does not fit {size} bytes")
        return (value % (1 << 8 * size)).to_bytes(size, "little")


def _without_comment(line: str) -> str:
    quoted = False
    for k, letter in enumerate(line):
        if letter == '"' and (k == 0 or line[k - 1] != "\\"):
            quoted = not quoted
        if not quoted and (letter in ";#" or line.startswith("//", k)):
            return line[:k]
    return line


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")] if text.strip() else []


def _string(text: str) -> bytes:
    match = re.fullmatch(r'"((?:[^"\\]|\\.)*)"', text.strip())
    if not match:
        raise BadValue(f"expected a string in double quotes, found {text.strip()}")
    return match[1].encode().decode("unicode_escape").encode("latin-1")


def _number(text: str, symbols: Mapping[str, int]) -> int:
    at, total = 0, 0
    while at < len(text) or at == 0:
        match = _TERM.match(text, at)
        if not match or (at and not match[1]):
            raise BadValue(f"expected a number, found {text.strip() or 'nothing'}")
        sign, term = match.groups()
        if term[0].isdigit():
            value = int(term, 0) if term.strip("0") else 0
        elif term in symbols:
            value = symbols[term]
        else:
            raise BadValue(f"nothing is called {term}")
        total += -value if sign == "-" else value
        at = match.end()
    return total


def _parse(known: Table, text: str) -> tuple[Row, list[str]]:
    """The row and the operand texts, in the row's order, of one instruction."""
    mnemonic, _, rest = text.strip().partition(" ")
    mnemonic, texts = mnemonic.lower(), _split(rest.strip())
    if mnemonic == "mov" and len(texts) == 2:
        mnemonic, texts = "or", [texts[0], texts[1], texts[1]]
    row = known.names.get(mnemonic)
    if row is None:
        name, _, which = mnemonic.partition(".")
        row = known.names.get(name)
        if row is None or not which or not _names_a_register(row):
            other = "classic" if known.variant == "q7" else "q7"
            hint = f"; it exists on {other}" if mnemonic in table(other).names else ""
            raise BadValue(f"{known.variant} has no instruction {mnemonic}{hint}")
        texts = [which, *texts]
    elif _names_a_register(row):
        texts = texts[::-1]
    if len(texts) != len(row.uses):
        raise BadValue(f"{row.name} takes {len(row.uses)} operands, found {len(texts)}")
    return row, texts


def _names_a_register(row: Row) -> bool:
    return any(use.operand.kind in ("sr", "ur") for use in row.uses)


def _encode(known: Table, row: Row, texts: list[str], pc: int, value: Callable[[str], int]) -> int:
    word = row.word
    for use, text in zip(row.uses, texts, strict=True):
        word |= _operand(known, row, use.operand, text, pc, value)
    return word


def _operand(known: Table, row: Row, operand: Operand, text: str, pc: int, value: Callable[[str], int]) -> int:
    if operand.kind in ("a", "b"):
        match = _REGISTER.match(text)
        if not match or match[1].lower() != operand.kind:
            what = "an address register a0 to a15" if operand.kind == "a" else "a boolean b0 to b15"
            raise BadValue(f"expected {what}, found {text or 'nothing'}")
        return operand.encode(int(match[2]))
    if operand.kind in ("sr", "ur"):
        name: str | int = int(text, 0) if text[:1].isdigit() else text
        register = registers.find(operand.kind, name, known.variant)
        if not known.allows(row, register.number):
            raise BadValue(f"{register.name} has no {row.name.upper()} on {known.variant}")
        return operand.encode(register.number)
    return operand.encode(value(text), pc)
