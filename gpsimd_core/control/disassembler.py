"""Words to text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from gpsimd_core.control import registers
from gpsimd_core.control.table import table
from gpsimd_core.control.words import Operand, Row, length


@frozen(kw_only=True)
class Instruction:
    """A decoded word at an address.

    Args:
        row: what it is.
        word, pc: the instruction and where it stands.
        values: the operands' numbers, in the order of `row.uses`.
        variant: "q7" or "classic".
    """

    row: Row
    word: int
    pc: int
    values: tuple[int, ...]
    variant: str

    def text(self, labels: Mapping[int, str] | None = None) -> str:
        """Assembly text that assembles to the same word at the same address.

        Args:
            labels: address to name, for targets.
        """
        name = self.row.name
        operands = []
        for use, value in zip(self.row.uses, self.values, strict=True):
            operand = use.operand
            if operand.kind in ("sr", "ur"):
                name = f"{name}.{registers.find(operand.kind, value, self.variant).name}"
            else:
                operands.append(_shown(operand, value, labels or {}))
        return f"{name} {', '.join(operands)}" if operands else name

    def registers(self) -> tuple[int, ...]:
        """Numbers of the address registers that it names."""
        pairs = zip(self.row.uses, self.values, strict=True)
        return tuple(dict.fromkeys(value for use, value in pairs if use.operand.kind == "a"))


def _shown(operand: Operand, value: int, labels: Mapping[int, str]) -> str:
    if operand.kind in ("a", "b"):
        return f"{operand.kind}{value}"
    if operand.kind == "label":
        return labels.get(value, f"{value:#010x}")
    return f"{value:#x}" if operand.hexadecimal else str(value)


def decode(word: int, pc: int = 0, variant: str = "q7") -> Instruction | None:
    """What a word means.

    Args:
        word: 24 bits, or 16 for a density instruction.
        pc: its address, from which labels count.
        variant: "q7" or "classic".

    Returns:
        None for an undefined word.
    """
    row = table(variant).find(word)
    if row is None:
        return None
    values = tuple(use.operand.value(word, pc) for use in row.uses)
    return Instruction(row=row, word=word, pc=pc, values=values, variant=variant)


def disassemble(word: int, pc: int = 0, variant: str = "q7") -> str:
    """The text of one word; an undefined one as the bytes that it is made of."""
    instruction = decode(word, pc, variant)
    return instruction.text() if instruction else _bytes(word.to_bytes(length(word), "little"))


def _bytes(data: bytes) -> str:
    return ".byte " + ", ".join(f"{byte:#04x}" for byte in data)


def walk(data: bytes, base: int = 0, variant: str = "q7") -> Iterator[tuple[int, bytes, Instruction | None]]:
    """Split code into instructions: address, bytes, and what they mean, None for what means nothing."""
    at = 0
    while at < len(data):
        size = length(data[at])
        piece = data[at : at + size]
        word = int.from_bytes(piece, "little")
        yield base + at, piece, decode(word, base + at, variant) if len(piece) == size else None
        at += size


def listing(data: bytes, base: int = 0, variant: str = "q7") -> str:
    """Code as assembly text, one instruction a line, address and word as a comment; it assembles to the same bytes.

    Args:
        data: machine code.
        base: its address.
        variant: "q7" or "classic".
    """
    pieces = list(walk(data, base, variant))
    starts = {address for address, _, _ in pieces}
    targets = {
        value
        for _, _, instruction in pieces
        if instruction
        for use, value in zip(instruction.row.uses, instruction.values, strict=True)
        if use.operand.kind == "label"
    }
    labels = {address: f"L{address:08x}" for address in targets & starts}
    lines = [f"        .org {base:#x}"] if base else []
    for address, piece, instruction in pieces:
        if address in labels:
            lines.append(f"{labels[address]}:")
        text = instruction.text(labels) if instruction else _bytes(piece)
        word = int.from_bytes(piece, "little")
        lines.append(f"        {text:<32}; {address:08x}  {word:0{2 * len(piece)}x}")
    return "\n".join(lines) + "\n"
