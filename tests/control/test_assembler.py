"""The assembler's own language: labels, literals, directives, expressions, messages."""

from __future__ import annotations

import pytest
from control_help import execute

from gpsimd_core.control import assemble, listing
from gpsimd_core.errors import BadInput


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (".word 1, -1", "01000000 ffffffff"),
        (".long 0x12345678", "78563412"),
        (".short 1, 0xffff", "0100 ffff"),
        (".half 2", "0200"),
        (".byte 1, 255, -128", "01ff80"),
        ('.ascii "ab\\n"', "61620a"),
        ('.asciz "a;b"', "613b6200"),
        (".byte 1\n.space 3\n.byte 2", "0100000002"),
        (".byte 1\n.align 4\n.byte 2", "0100000002"),
        (".byte 1\n.org 4\n.byte 2", "0100000002"),
        (".byte 1\n.literal five, 5", "01000000 05000000"),
        (".equ size, 3\n.byte size, size + 2, size - 1 + 0x10", "030512"),
        ("here: .word here, . + 8", "00000000 0c000000"),
        (".word after - before\nbefore: nop.n\nafter:", "02000000 3df0"),
        (".byte 0b101, 0o17, 10", "050f0a"),
        ("a: b2_: .byte 1 // two labels", "01"),
        ("  # nothing\n\n; at all", ""),
    ],
)
def test_directives(text: str, data: str) -> None:
    assert assemble(text).flat() == bytes.fromhex(data)


def test_base_and_symbols() -> None:
    image = assemble("start: nop\nend: j start", base=0x1000)
    assert (image.base, image.symbols) == (0x1000, {"start": 0x1000, "end": 0x1003})
    assert image.lines == {0x1000: 1, 0x1003: 2}


def test_segments_are_apart() -> None:
    image = assemble("nop\n.org 0x10000\nnop.n")
    assert image.segments == ((0, bytes.fromhex("f02000")), (0x10000, bytes.fromhex("3df0")))


def test_forward_and_backward_targets() -> None:
    assert execute("movi a2, 3\nback: addi a2, a2, -1\nbnez a2, back\nj on\nill\non: movi a3, 1").a[3] == 1


def test_absolute_targets() -> None:
    assert assemble("j 0x108", base=0x100).flat() == assemble("j there\n.org 0x108\nthere:", base=0x100).flat()


def test_a_call_counts_in_words() -> None:
    with pytest.raises(BadInput, match="0x103 is not allowed here; allowed: 0x0 to 0x80100 in steps of 4"):
        assemble("call8 0x103", base=0x100)


def test_literals_must_lie_before_their_use() -> None:
    with pytest.raises(BadInput, match="allowed"):
        assemble("l32r a2, later\n.literal later, 5")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nop\nfrob a1", "text:2: frob a1: q7 has no instruction frob"),
        ("x: nop\nx: nop", "text:2: x: nop: x is defined twice"),
        ("j nowhere", "text:1: j nowhere: nothing is called nowhere"),
        (".word", None),
        (".quad 1", "not a directive with these operands: .quad; known: .word"),
        (".byte 300", "0x12c does not fit 1 bytes"),
        (".word 0x1ffffffff", "does not fit 4 bytes"),
        (".ascii ab", "expected a string in double quotes, found ab"),
        ("movi a2, ", "expected a number, found nothing"),
        ("movi a2, 5 5", "expected a number, found 5 5"),
        (".align 0", "0 is not allowed here"),
        ("a3: nop", "a3 is a register, not a name for a label"),
        (".org 0xfffffffe\nnop", "beyond the last address"),
        ("add.n a3, a4", "add.n takes 3 operands, found 2"),
    ],
)
def test_messages(text: str, message: str | None) -> None:
    if message is None:
        assert assemble(text).flat() == b""
        return
    with pytest.raises(BadInput) as error:
        assemble(text)
    assert message in str(error.value)
    assert error.value.exit_code == 3


def test_listing_names_its_targets() -> None:
    code = assemble("loop a2, end\nnop\nend: beqz a3, 0x200\n.byte 0xff, 0xff, 0xff", base=0x100).flat()
    assert listing(code, 0x100).splitlines() == [
        "        .org 0x100",
        "        loop a2, L00000106              ; 00000100  028276",
        "        nop                             ; 00000103  0020f0",
        "L00000106:",
        "        beqz a3, 0x00000200             ; 00000106  0f6316",
        "        .byte 0xff, 0xff, 0xff          ; 00000109  ffffff",
    ]
