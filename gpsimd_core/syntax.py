"""The words of assembly text: tokens, values and statements of one line, each with its column."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

__all__ = ["Assignment", "Mistake", "Reference", "Statement", "Token", "Value", "parse_statement", "words"]

_TOKEN = re.compile(
    r"""
\s*(?:
    (?P<float>[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE][+-]?\d))(?:[eE][+-]?\d+)?(?![\w.]) | [+-](?:inf|nan)\b)
  | (?P<hex>[+-]?0[xX][0-9a-fA-F]+\b)
  | (?P<int>[+-]?\d+\b(?!\.))
  | (?P<ref>@[A-Za-z_]\w*)
  | (?P<name>[A-Za-z_][\w.]*)
  | (?P<punct>[={}\[\],+])
    )""",
    re.VERBOSE | re.ASCII,
)
_REGISTER = re.compile(r"[rR]\d+")
_WORD = re.compile(r"\S+")


class Mistake(Exception):
    """Text that cannot be read. `column` counts from 1."""

    def __init__(self, column: int, reason: str) -> None:
        super().__init__(reason)
        self.column, self.reason = column, reason


class Token(NamedTuple):
    """A word of a line."""

    kind: str
    text: str
    column: int

    def __str__(self) -> str:
        return "the end of the line" if self.kind == "end" else repr(self.text)


class Reference(NamedTuple):
    """`@name` or `@name+offset`."""

    name: str
    offset: int | None


class Value(NamedTuple):
    """What stands behind an equals sign; `text` is the word as it was written, where it is one.

    `data` is by `kind`: int and hex an int; float a float; name a str; reg a register number; ref a Reference; list a
    list of ints; parts a dict of part name to Value.
    """

    kind: str
    data: Any
    column: int
    text: str = ""


class Assignment(NamedTuple):
    """One `field = value`."""

    key: str
    column: int
    value: Value


class Statement(NamedTuple):
    """One instruction."""

    mnemonic: str
    column: int
    assignments: tuple[Assignment, ...]


def words(text: str) -> list[Token]:
    """The blank-separated words of a directive."""
    return [Token("word", m.group(), m.start() + 1) for m in _WORD.finditer(text)]


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    text = text.rstrip()
    at = 0
    for m in _TOKEN.finditer(text):
        if m.start() != at:
            break
        kind = m.lastgroup or ""
        tokens.append(Token(kind, m[kind], m.start(kind) + 1))
        at = m.end()
    if at != len(text):
        stray = _WORD.search(text, at)
        assert stray is not None
        raise Mistake(stray.start() + 1, f"cannot read {stray.group()!r}")
    tokens.append(Token("end", "", len(text) + 1))
    return tokens


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.at = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.tokens[self.at]
        self.at += token.kind != "end"
        return token

    def accept(self, punct: str) -> bool:
        if self.next.kind == "punct" and self.next.text == punct:
            self.at += 1
            return True
        return False

    def expect(self, punct: str, where: str) -> None:
        if not self.accept(punct):
            raise Mistake(self.next.column, f"{punct!r} is needed {where}, not {self.next}")

    def value(self, key: str) -> Value:
        token = self.take()
        at = token.column
        if token.kind == "float" or (token.kind == "name" and token.text.lower() in ("inf", "nan")):
            return Value("float", float(token.text), at, token.text)
        if token.kind == "int":
            return Value("int", int(token.text), at, token.text)
        if token.kind == "hex":
            return Value("hex", int(token.text, 16), at, token.text)
        if token.kind == "ref":
            return Value("ref", Reference(token.text[1:], self._offset()), at)
        if token.kind == "name" and _REGISTER.fullmatch(token.text):
            number = int(token.text[1:])
            if number > 63:
                raise Mistake(at, f"there is no register {token.text}; there are r0 to r63")
            return Value("reg", number, at, token.text)
        if token.kind == "name":
            return Value("name", token.text, at, token.text)
        if token.text == "[":
            return Value("list", self._numbers(key), at)
        if token.text == "{":
            return Value("parts", self._parts(key), at)
        raise Mistake(at, f"a value is needed for {key}, not {token}")

    def _offset(self) -> int | None:
        token = self.next
        if token.kind in ("int", "hex") and token.text[0] in "+-":
            self.take()
            return int(token.text, 0)
        if self.accept("+"):
            token = self.take()
            if token.kind not in ("int", "hex"):
                raise Mistake(token.column, f"an offset in bytes is needed after '+', not {token}")
            return int(token.text, 0)
        return None

    def _numbers(self, key: str) -> list[int]:
        numbers: list[int] = []
        if self.accept("]"):
            return numbers
        while True:
            token = self.take()
            if token.kind not in ("int", "hex"):
                raise Mistake(token.column, f"a whole number is needed in the list of {key}, not {token}")
            numbers.append(int(token.text, 0))
            if self.accept("]"):
                return numbers
            self.expect(",", f"between the numbers of {key}")

    def _parts(self, key: str) -> dict[str, Value]:
        parts: dict[str, Value] = {}
        while True:
            name = self.take()
            if name.kind != "name":
                raise Mistake(name.column, f"the name of a part is needed in {key}, not {name}")
            part = name.text
            if part in parts:
                raise Mistake(name.column, f"{key} has two parts {part}")
            self.expect("=", f"after {part}")
            parts[part] = self.value(f"{key}.{part}")
            if self.accept("}"):
                return parts
            self.expect(",", f"between the parts of {key}")


def parse_statement(text: str) -> Statement:
    """An instruction statement, `mnemonic field=value, ...`.

    Raises:
        Mistake: with the column of the first word that does not fit.
    """
    reader = _Reader(text)
    head = reader.take()
    if head.kind not in ("name", "hex"):
        raise Mistake(head.column, f"an instruction, its opcode or a directive is needed, not {head}")
    assignments: list[Assignment] = []
    seen: set[str] = set()
    while reader.next.kind != "end":
        if assignments:
            reader.expect(",", "between fields")
        key = reader.take()
        if key.kind != "name":
            raise Mistake(key.column, f"a field name is needed, not {key}")
        name = key.text
        if reader.accept("["):
            index = reader.take()
            if index.kind != "int":
                raise Mistake(index.column, f"an index is needed, not {index}")
            reader.expect("]", "after the index")
            name = f"{name}[{index.text}]"
        reader.expect("=", f"after {name}")
        if name in seen:
            raise Mistake(key.column, f"{name} is given twice")
        seen.add(name)
        assignments.append(Assignment(name, key.column, reader.value(name)))
    return Statement(head.text, head.column, tuple(assignments))
