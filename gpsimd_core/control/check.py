"""Published encodings against the assembler and the disassembler.

The published rows have a notation of their own: `offset N` is the raw field of a label, and a group of booleans is
spelled out (`b8:b9:b10:b11`, `b8..b15`) where our text names its first register.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import frozen

from gpsimd_core.control.assembler import assemble_word
from gpsimd_core.control.disassembler import disassemble
from gpsimd_core.control.table import table
from gpsimd_core.errors import BadValue

_PC = 0x1000
_OFFSET = re.compile(r"offset (-?\d+)")
_GROUP = re.compile(r"(b\d+)(?::b\d+|\.\.b\d+)+")


@frozen(kw_only=True)
class EncodingCheck:
    """How one published row fared.

    Args:
        text, word: as published; the word as a number.
        status: "passed", "failed", or "absent" where this variant has no such instruction or register.
        assembled: what the assembler made of the text, or why it made nothing.
        disassembled: what the disassembler made of the word.
    """

    text: str
    word: int
    status: str
    assembled: str
    disassembled: str


def check_encodings(rows: Iterable[tuple[str, int]], variant: str = "q7") -> list[EncodingCheck]:
    """Assemble each text and disassemble each word of published `[[encoding]]` rows.

    Args:
        rows: (text, word) pairs; the length of a word is that which its low four bits say.
        variant: "q7" or "classic".

    Returns:
        One result a row, in order.
    """
    return [_check(text, word, variant) for text, word in rows]


def _check(text: str, word: int, variant: str) -> EncodingCheck:
    ours = _our_notation(text, variant)
    found = disassemble(word, _PC, variant)
    try:
        assembled = assemble_word(ours, variant, _PC)
    except BadValue as error:
        status = "absent" if " has no " in str(error) else "failed"
        return EncodingCheck(text=text, word=word, status=status, assembled=str(error), disassembled=found)
    passed = assembled == word and found == ours
    return EncodingCheck(
        text=text,
        word=word,
        status="passed" if passed else "failed",
        assembled=f"{assembled:06x}",
        disassembled=found,
    )


def _our_notation(text: str, variant: str) -> str:
    row = table(variant).names.get(text.split()[0])

    def target(match: re.Match[str]) -> str:
        label = next(use.operand for use in row.uses if use.operand.kind == "label") if row else None
        return f"{label.value(label.place(int(match[1])), _PC):#010x}" if label else match[0]

    return _GROUP.sub(r"\1", _OFFSET.sub(target, text))
