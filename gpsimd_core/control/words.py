"""Instruction words: what an operand is, what a row of the instruction table is.

A `Row` names its operands; the bits that no operand covers are fixed, so that word, mask, assembler text and
disassembly all follow from one declaration. An operand's number is computed in one place, the lane `immediate`.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import field, frozen

from gpsimd_core.control.layout import Words
from gpsimd_core.errors import BadValue
from gpsimd_core.isa.lane import lane

VARIANTS = ("q7", "classic")

# Groups: which lane executes a row.
(
    ARITHMETIC,
    SHIFT,
    MULTIPLY,
    BOOLEAN,
    LOAD,
    STORE,
    BRANCH,
    JUMP,
    LOOP,
    WINDOW,
    REGISTER,
    BUS,
    ORDER,
    TRAP,
    MISSING,
) = range(15)
GROUPS = (
    *("arithmetic", "shift", "multiply", "boolean", "load", "store", "branch", "jump", "loop", "window"),
    *("register", "bus", "order", "trap", "missing"),
)

# What a label's offset is counted from.
PLAIN, NEXT_4, WORD_4, LITERAL = range(4)

# Columns of an operand in the numeric table.
LOW, WIDTH, LOW2, WIDTH2, SIGN_BIT, SCALE, BIAS, BASE, LIST = range(9)
OPERAND_COLUMNS = 9


@lane
def immediate(table: Words, at: int, word: int, pc: int) -> int:
    """The number that an operand of `word` stands for.

    Args:
        table: int64 array that holds the operand's columns, and its list of values if it has one.
        at: where the columns start.
        word: the instruction.
        pc: its address, for labels.

    Returns:
        The number, signed; a label as an address. 0 for an operand that is absent.
    """
    width = table[at + WIDTH]
    if width == 0:
        return 0
    value = (word >> table[at + LOW]) & ((1 << width) - 1)
    value |= ((word >> table[at + LOW2]) & ((1 << table[at + WIDTH2]) - 1)) << width
    if table[at + LIST]:
        return table[table[at + LIST] + value]
    if value & table[at + SIGN_BIT]:
        value -= 2 * table[at + SIGN_BIT]
    value = value * table[at + SCALE] + table[at + BIAS]
    base = table[at + BASE]
    if base == NEXT_4:
        value = (value + pc + 4) & 0xFFFFFFFF
    elif base == WORD_4:
        value = (value + (pc & ~3) + 4) & 0xFFFFFFFF
    elif base == LITERAL:
        value = (value + ((pc + 3) & ~3)) & 0xFFFFFFFF
    return value


@lane
def length(word: int) -> int:
    """Bytes of the instruction that starts with `word`: its low four bits tell."""
    return 2 if 8 <= word & 15 <= 13 else 3


@frozen(kw_only=True)
class Operand:
    """One operand: where its bits lie and which number they stand for.

    The number is `values[raw]`, or `raw * scale + bias` (raw sign-extended where `signed`), to which a label adds the
    address that its `base` counts from.
    """

    kind: str  # a and b registers, imm, label, sr and ur register numbers
    pieces: tuple[tuple[int, int], ...]  # (lowest bit, width), least significant piece first, at most two
    signed: bool = False
    scale: int = 1
    bias: int = 0
    base: int = PLAIN
    values: tuple[int, ...] = ()
    no_zero: bool = False  # the raw pattern 0 is not a word
    hexadecimal: bool = False  # how people expect to read it

    @property
    def width(self) -> int:
        """Bits in the word."""
        return sum(width for _, width in self.pieces)

    @property
    def mask(self) -> int:
        """The bits of the word that belong to this operand."""
        return sum(((1 << width) - 1) << low for low, width in self.pieces)

    def columns(self, list_at: int = 0) -> list[int]:
        """The operand as `immediate` reads it; `list_at` says where its values lie in the same array."""
        (low, width), (low2, width2) = (*self.pieces, (0, 0), (0, 0))[:2]
        sign = 1 << (self.width - 1) if self.signed else 0
        return [low, width, low2, width2, sign, self.scale, self.bias, self.base, list_at]

    def raw(self, word: int) -> int:
        """The operand's own bits, unsigned."""
        (low, width), (low2, width2) = (*self.pieces, (0, 0), (0, 0))[:2]
        return (word >> low) & ((1 << width) - 1) | ((word >> low2) & ((1 << width2) - 1)) << width

    def value(self, word: int, pc: int = 0) -> int:
        """The number that `word`, at address `pc`, gives this operand."""
        table = [*self.columns(OPERAND_COLUMNS if self.values else 0), *self.values]
        return int(immediate(table, 0, word, pc))

    def place(self, raw: int) -> int:
        """The bits of the word for a raw pattern; a negative one is taken modulo the width."""
        raw &= (1 << self.width) - 1
        (low, width), (low2, _) = (*self.pieces, (0, 0), (0, 0))[:2]
        return (raw & ((1 << width) - 1)) << low | (raw >> width) << low2

    def encode(self, value: int, pc: int = 0) -> int:
        """The bits of the word that stand for `value`.

        Raises:
            BadValue: no bit pattern stands for it; the message says which numbers are allowed.
        """
        if self.values:
            if value not in self.values:
                raise BadValue(f"{value} is not allowed here; allowed: {self.allowed(pc)}")
            return self.place(self.values.index(value))
        offset = value - self.value(self.place(0), pc)
        if self.base != PLAIN:
            offset = (offset + 0x80000000) % 0x100000000 - 0x80000000
        raw, rest = divmod(offset, self.scale)
        low, high = self._raw_range()
        if rest or not low <= raw <= high:
            shown = f"{value:#x}" if self.kind == "label" else str(value)
            raise BadValue(f"{shown} is not allowed here; allowed: {self.allowed(pc)}")
        return self.place(raw)

    def allowed(self, pc: int = 0) -> str:
        """Which numbers the operand can hold, in words."""
        if self.values:
            return " ".join(str(value) for value in self.values)
        first = self.value(self.place(0), pc)
        low, high = sorted(first + raw * self.scale for raw in self._raw_range())
        text = f"{max(low, 0):#x} to {high:#x}" if self.base != PLAIN else f"{low} to {high}"
        return text if abs(self.scale) == 1 else f"{text} in steps of {abs(self.scale)}"

    def _raw_range(self) -> tuple[int, int]:
        if self.signed:
            return -(1 << (self.width - 1)), (1 << (self.width - 1)) - 1
        return int(self.no_zero), (1 << self.width) - 1


def _reg(*pieces: tuple[int, int], kind: str = "a", scale: int = 1) -> Operand:
    return Operand(kind=kind, pieces=pieces, scale=scale)


def _imm(*pieces: tuple[int, int], scale: int = 1, bias: int = 0, signed: bool = False) -> Operand:
    return Operand(kind="imm", pieces=pieces, scale=scale, bias=bias, signed=signed)


def _list(*pieces: tuple[int, int], values: tuple[int, ...]) -> Operand:
    return Operand(kind="imm", pieces=pieces, values=values)


def _label(*pieces: tuple[int, int], base: int = NEXT_4, scale: int = 1, signed: bool = True, bias: int = 0) -> Operand:
    return Operand(kind="label", pieces=pieces, base=base, scale=scale, signed=signed, bias=bias)


_CONSTANTS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256)

OPERANDS = {
    # address registers
    "r": _reg((12, 4)),
    "s": _reg((8, 4)),
    "t": _reg((4, 4)),
    # booleans; a group is named by its first register
    "br": _reg((12, 4), kind="b"),
    "bs": _reg((8, 4), kind="b"),
    "bt": _reg((4, 4), kind="b"),
    "bs4": _reg((10, 2), kind="b", scale=4),
    "bs8": _reg((11, 1), kind="b", scale=8),
    # constants
    "simm8": _imm((16, 8), signed=True),
    "simm8x256": _imm((16, 8), signed=True, scale=256),
    "simm12": _imm((16, 8), (8, 4), signed=True),
    "const16": Operand(kind="imm", pieces=((8, 16),), hexadecimal=True),
    "b4const": _list((12, 4), values=(-1, 1, *_CONSTANTS)),
    "b4constu": _list((12, 4), values=(32768, 65536, *_CONSTANTS)),
    "addi.n": _list((4, 4), values=(-1, *range(1, 16))),
    "movi.n": _list((12, 4), (4, 3), values=(*range(96), *range(-32, 0))),
    "bit": _imm((4, 4), (12, 1)),
    "left": Operand(kind="imm", pieces=((4, 4), (20, 1)), scale=-1, bias=32, no_zero=True),
    "right4": _imm((8, 4)),
    "right5": _imm((8, 4), (20, 1)),
    "sar5": _imm((8, 4), (4, 1)),
    "shift": _imm((8, 4), (16, 1)),
    "length": _imm((20, 4), bias=1),
    "top_bit": _imm((4, 4), bias=7),
    "uimm4s": _imm((8, 4)),
    "uimm4t": _imm((4, 4)),
    "simm4": _imm((4, 4), signed=True),
    "zero": _list(values=(0,)),
    "rest20": Operand(kind="imm", pieces=((4, 20),), hexadecimal=True),
    # offsets of loads and stores
    "offset8": _imm((16, 8)),
    "offset16": _imm((16, 8), scale=2),
    "offset32": _imm((16, 8), scale=4),
    "offset.n": _imm((12, 4), scale=4),
    "frame": _imm((12, 12), scale=8),
    "save": _imm((12, 4), scale=4, bias=-64),
    "guarded": _imm((12, 3), scale=-16, bias=192),
    # labels
    "to8": _label((16, 8)),
    "to12": _label((12, 12)),
    "to18": _label((6, 18)),
    "to6": _label((12, 4), (4, 2), signed=False),
    "end8": _label((16, 8), signed=False),
    "call18": _label((6, 18), base=WORD_4, scale=4),
    "literal": _label((8, 16), base=LITERAL, scale=4, signed=False, bias=-0x40000),
    # special and user registers
    "sr": Operand(kind="sr", pieces=((8, 8),)),
    "rur": Operand(kind="ur", pieces=((4, 8),)),
    "wur": Operand(kind="ur", pieces=((8, 8),)),
}


@frozen(kw_only=True)
class Use:
    """An operand as one row uses it: read, written, or both."""

    operand: Operand
    writes: bool
    reads: bool


def _uses(text: str) -> tuple[Use, ...]:
    uses = []
    for word in text.split():
        name = word.rstrip("=+")
        uses.append(Use(operand=OPERANDS[name], writes=word.endswith(("=", "=+")), reads=not word.endswith("=")))
    return tuple(uses)


@frozen(kw_only=True)
class Row:
    """One word form of one instruction.

    Args:
        name: mnemonic.
        word: the word with every operand bit zero.
        uses: operands in the order of the text. `"t= s simm8"` writes t; `"t=+ const16"` reads and writes it.
        group: which lane executes it.
        code: which arm of that lane.
        variants: where the word means this.
        privileged: needs ring 0, or a handler.
        touches: number of a register that the word uses without naming it, -1 for none.
        missing: why executing it is `Unsupported`; empty when it executes.
        source: who publishes the word.
    """

    name: str
    word: int
    uses: tuple[Use, ...] = field(converter=_uses, default="")
    group: int
    code: int = 0
    variants: tuple[str, ...] = VARIANTS
    privileged: bool = False
    touches: int = -1
    missing: str = ""
    source: str

    length: int = field(init=False)
    """Bytes: 2 for the density words, else 3."""
    mask: int = field(init=False)
    """The fixed bits of the word."""
    no_zero: int = field(init=False)
    """Bits of which at least one must be set, 0 if there is no such rule."""

    @length.default
    def _length(self) -> int:
        return length(self.word)

    @mask.default
    def _mask(self) -> int:
        return ((1 << 8 * self.length) - 1) & ~sum(use.operand.mask for use in self.uses)

    @no_zero.default
    def _no_zero(self) -> int:
        return sum(use.operand.mask for use in self.uses if use.operand.no_zero)

    def matches(self, word: int) -> bool:
        """Whether `word` is this instruction, register numbers of special registers apart."""
        return word & self.mask == self.word and (not self.no_zero or bool(word & self.no_zero))

    def registers(self) -> Iterator[Use]:
        """The address registers among the operands."""
        return (use for use in self.uses if use.operand.kind == "a")
