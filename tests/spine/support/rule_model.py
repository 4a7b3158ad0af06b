"""The rules of 0xEA and 0x9B once more, in plain numpy over raw bytes: an independent judge, no project code.

Facts: headers of the instruction set as their validators are published, with the address words, `needs` and start
partitions in the reading that the project settled on. Each function returns the verdict of every rule on every record
as one array of `PASSES`, `BROKEN` and `SKIPPED` (a rule on which it stands is not met).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from records import PSUM, PSUM_ACTIVE, PSUM_STRIDE, PSUM_WINDOW, SBUF_ACTIVE, SBUF_STRIDE, SBUF_WINDOW, SIZE

PASSES, BROKEN, SKIPPED = np.uint8(0), np.uint8(1), np.uint8(2)

Array = np.ndarray[Any, Any]

_ALU_SUNDA = {*range(30), 196, 197, 198}
_ALU_CAYMAN = {*range(30), *range(196, 226)}
ALU = {
    "sunda": _ALU_SUNDA, "cayman": _ALU_CAYMAN, "mariana": _ALU_CAYMAN | {32, 33, 34, 35},
    "mariana_plus": _ALU_CAYMAN | {32, 33, 34, 35}, "maverick": _ALU_CAYMAN | {32, 33, 34, 35, 36},
}  # fmt: skip
_PLAIN = {2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15}
PLAIN = {g: _PLAIN | ({17} if g == "maverick" else set()) for g in ALU}
INTEGERS = {2, 3, 4, 5, 8, 9}
READ_BACK = {6, 7, 10, 11, 13, 14, 15}
WAITS = {0, 1, 2, 3, 4, 5, 6, 7, 14, 15, 129, 130, 131, 132, 133}
UPDATES = {0, 1, 2, 3, 4, 5, 7, 9, 17, 18, 19, 20, 21, 23, 25, 133, 135, 137, 149, 151, 153}
EVENT_WAITS, EVENT_UPDATES = {6, 7, 14, 15}, {1, 2, 17, 18}
REG_WAITS, IMM_WAITS = {129, 130, 131, 132, 133}, {1, 2, 3, 4, 5}
REG_UPDATES, IMM_UPDATES = {133, 135, 137, 149, 151, 153}, {5, 7, 9, 21, 23, 25}


class Verdicts:
    """Rules as they are added: name, whether it only warns, and what it says of each record."""

    def __init__(self) -> None:
        self.rows: dict[str, Array] = {}
        self.warnings: set[str] = set()
        self._ok: dict[str, Array] = {}
        self._needs: dict[str, tuple[str, ...]] = {}

    def add(self, name: str, ok: Array, *needs: str, warns: bool = False) -> None:
        """A rule: where it holds, and the rules on which it stands."""
        self._ok[name], self._needs[name] = ok, needs
        self.rows[name] = np.zeros(0)
        if warns:
            self.warnings.add(name)

    def settle(self) -> Verdicts:
        """Turn what was added into verdicts; a rule whose need is not met is skipped."""
        done: dict[str, Array] = {}

        def verdict(name: str) -> Array:
            if name not in done:
                row = np.where(self._ok[name], PASSES, BROKEN)
                for needed in self._needs[name]:
                    row = np.where(verdict(needed) == PASSES, row, SKIPPED)
                done[name] = row
            return done[name]

        self.rows = {name: verdict(name) for name in self._ok}
        return self


def among(column: Array, allowed: set[int]) -> Array:
    """Which codes of a byte column are members."""
    table = np.zeros(256, bool)
    table[sorted(allowed)] = True
    return table[column]


def u16(raw: Array, at: int) -> Array:
    """A little-endian 16-bit column."""
    return raw[:, at].astype(np.int64) | raw[:, at + 1].astype(np.int64) << 8


def u32(raw: Array, at: int) -> Array:
    """A little-endian 32-bit column."""
    return u16(raw, at) | u16(raw, at + 2) << 16


class Word:
    """The reading of an address word column on one generation."""

    def __init__(self, gen: str, word: Array) -> None:
        self.word = word
        bit31, bit30, bit29 = (word >> n & 1 == 1 for n in (31, 30, 29))
        self.register = bit31 & ~bit29
        if gen == "sunda":
            self.register_ok = self.register & (word >> 8 == 0x800000) & (word & 0xFF < 64)
        else:
            self.register_ok = self.register & (word & 0x00FFFF00 == 0) & (word & 0xFF < 64)
        self.shape = bit30 & ~bit29
        self.indirect = bit29
        self.plain = ~bit31 & ~bit29
        self.address = word & 0x1FFFFFFF
        self.psum = (self.address >= PSUM) & (self.address < PSUM + PSUM_WINDOW[gen])
        self.sbuf = ~self.psum & (self.address < SBUF_WINDOW[gen])
        inside = np.where(self.psum, self.address - PSUM, self.address)
        stride = np.where(self.psum, PSUM_STRIDE, SBUF_STRIDE[gen])
        self.partition, self.offset = inside // stride, inside % stride
        self.in_partition = self.offset < np.where(self.psum, PSUM_ACTIVE, SBUF_ACTIVE[gen])

    def aligned(self, dtype: Array) -> Array:
        """Whether the address is a multiple of the element size; false for a dtype without one."""
        sizes = np.zeros(256, np.int64)
        sizes[list(SIZE)] = list(SIZE.values())
        sizes[[1, 12]] = 8
        size = sizes[dtype]
        return (size > 0) & (self.address % np.maximum(size, 1) == 0)

    def starts(self, channels: Array) -> Array:
        """Whether this many channels may start at the address's partition."""
        everywhere = np.isin(self.partition, [0, 32, 64, 96])
        halves = np.isin(self.partition, [0, 64])
        allowed = np.where(channels > 64, self.partition == 0, np.where(channels > 32, halves, everywhere))
        return (self.sbuf | self.psum) & allowed

    def valid(self, dtype: Array, num: tuple[Array, ...], *, write: bool) -> Array:
        """tensorNd_valid with PSUM and SBUF allowed."""
        filled = self.shape
        every = np.ones(len(self.word), bool)
        for n in num:
            every &= n >= 1
        wide = among(dtype, {8, 9, 10, 11})
        region = self.sbuf | (self.psum & wide if write else self.psum)
        start = self.aligned(dtype) & self.in_partition & region
        return (self.register_ok | (self.plain & start)) & (filled | every)


def _common(gen: str, raw: Array, v: Verdicts) -> None:
    wait, update = raw[:, 4], raw[:, 6]
    v.add("header[opcode]", raw[:, 0] != 0xFF)
    v.add("header[length]", raw[:, 1] == 16)
    v.add("is_valid_enum[wait_mode]", among(wait, WAITS))
    v.add("is_valid_enum[update_mode]", among(update, UPDATES))
    mixed = among(wait, IMM_WAITS) & among(update, REG_UPDATES) | among(wait, REG_WAITS) & among(update, IMM_UPDATES)
    v.add("event_value_kinds", ~mixed, warns=True)
    dropped = gen == "maverick"
    v.add("event_mode_kept[wait_mode]", ~(among(wait, EVENT_WAITS) & dropped), warns=True)
    v.add("event_mode_kept[update_mode]", ~(among(update, EVENT_UPDATES) & dropped), warns=True)


def select_reduce(gen: str, raw: Array) -> Verdicts:
    """The 20 rules of 0xEA on records of shape (n, 64)."""
    v = Verdicts()
    _common(gen, raw, v)
    src0_dtype, src1_dtype, out_dtype, imm0_dtype = raw[:, 40] & 15, raw[:, 40] >> 4, raw[:, 41], raw[:, 43]
    imm0_src, channels = raw[:, 39], raw[:, 42].astype(np.int64)
    src0, src1, dst = (Word(gen, u32(raw, at)) for at in (12, 24, 48))
    num = {name: (u16(raw, at), u16(raw, at + 2)) for name, at in (("src0", 20), ("src1", 32), ("dst", 56))}
    total = {name: a * b for name, (a, b) in num.items()}
    imm0 = Word(gen, u32(raw, 60))

    v.add("is_valid_dtype[src0_dtype]", among(src0_dtype, PLAIN[gen]))
    v.add("is_valid_dtype[src1_dtype]", among(src1_dtype, PLAIN[gen]))
    v.add("is_valid_dtype[imm0_dtype]", among(imm0_dtype, PLAIN[gen]))
    v.add("is_valid_dtype[out_dtype]", among(out_dtype, PLAIN[gen] | {11}))
    v.add("dtype_in[src0_dtype]", among(src0_dtype, INTEGERS), "is_valid_dtype[src0_dtype]")
    v.add("dtype_not_in[src1_dtype]", ~among(src1_dtype, {8, 9}), "is_valid_dtype[src1_dtype]")
    from_memory = (imm0_src == 1) | (imm0_src == 2)
    v.add("s2s2d2_stt_imm0_dtype", from_memory | (imm0_dtype == 10), "is_valid_dtype[imm0_dtype]")
    v.add("is_valid_enum[op0]", among(raw[:, 36], ALU[gen]))
    v.add("is_valid_enum[op1]", among(raw[:, 37], ALU[gen]))
    v.add("field_is[op0]", raw[:, 36] == 0, "is_valid_enum[op0]")
    v.add("field_is[op1]", raw[:, 37] == 8, "is_valid_enum[op1]")
    pointer = (imm0.word >> 29 == 0) & imm0.starts(channels) & imm0.aligned(imm0_dtype)
    immediate = (imm0_src == 0) | (imm0_src == 1) & pointer | (imm0_src == 2) & (imm0.word < 64)
    v.add("has_valid_immediates[imm0]", immediate, "is_valid_dtype[imm0_dtype]", "check_active_channels")
    for name, word in (("src0", src0), ("src1", src1), ("dst", dst)):
        ok = ~word.plain | word.starts(channels)
        v.add(f"start_addr_active_channels[{name}]", ok, "check_active_channels")
    v.add("tensor_valid[src0]", src0.valid(src0_dtype, num["src0"], write=False), "is_valid_dtype[src0_dtype]")
    v.add("tensor_valid[src1]", src1.valid(src1_dtype, num["src1"], write=False), "is_valid_dtype[src1_dtype]")
    v.add("tensor_valid[dst]", dst.valid(out_dtype, num["dst"], write=True), "is_valid_dtype[out_dtype]")
    v.add("check_active_channels", (channels >= 1) & (channels <= 128))
    for name, word in (("src1", src1), ("dst", dst)):
        equal = src0.shape | word.shape | (total["src0"] == total[name])
        v.add(f"same_element_count[src0,{name}]", equal, "tensor_valid[src0]", f"tensor_valid[{name}]")
    apart = src0.psum & src1.sbuf | src0.sbuf & src1.psum
    quadrant = src0.sbuf & src1.sbuf & (src0.partition // 32 == src1.partition // 32)
    v.add(
        "tt_valid_partitions[src0,src1]", ~src0.plain | ~src1.plain | apart | quadrant,
        "start_addr_active_channels[src0]", "start_addr_active_channels[src1]",
    )  # fmt: skip
    v.add("field_in[accumulator_cmd]", among(raw[:, 44], {0, 2, 3}))
    v.add("is_valid_enum[reverse_operands]", raw[:, 38] <= 3)
    v.add("reserved_zero", ~raw[:, 45:48].any(axis=1))
    v.add("field_in[reverse_operands]", raw[:, 38] <= 1, "is_valid_enum[reverse_operands]")
    v.add("out_dtype_differs", out_dtype == src1_dtype, warns=True)
    v.add("wide_predicate", ~among(src0_dtype, {8, 9}), warns=True)
    return v.settle()


def read_accumulator(gen: str, raw: Array) -> Verdicts:
    """The 9 rules of 0x9B on records of shape (n, 64)."""
    v = Verdicts()
    _common(gen, raw, v)
    dtype, channels = raw[:, 32], raw[:, 34].astype(np.int64)
    dst, num = Word(gen, u32(raw, 44)), u16(raw, 50)
    v.add("dtype_in[dtype]", among(dtype, READ_BACK))
    v.add("check_active_channels", (channels >= 1) & (channels <= 128))
    v.add("start_addr_active_channels[dst]", ~dst.plain | dst.starts(channels), "check_active_channels")
    v.add("tensor_valid[dst]", dst.valid(dtype, (num,), write=True), "dtype_in[dtype]")
    v.add("one_element[dst]", dst.shape | (num == 1), "tensor_valid[dst]")
    v.add("field_is[dst_element_count]", u32(raw, 28) == 1)
    v.add("field_in[negated]", raw[:, 33] <= 1)
    reserved = [*range(12, 28), *range(35, 44), *range(52, 64)]
    v.add("reserved_zero", ~raw[:, reserved].any(axis=1))
    return v.settle()


MODELS: dict[int, Callable[[str, Array], Verdicts]] = {0xEA: select_reduce, 0x9B: read_accumulator}
