"""The ALU operators once more, one number at a time in Python integers and fractions; no project kernel.

fp32 values travel as 32-bit patterns, integers as unsigned codes. Sources: settled readings 16
to 20 (docs/decisions.md); the ALU-OP table.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import fp32_model as fp32
from family_model import Case, Maker, Operand
from fp32_model import CANONICAL, INFINITY, Fraction
from records import INT32, SIZE, UINT8, UINT16, UINT32
from value_model import INTEGERS, is_nan32, larger

__all__ = [
    "ARITH", "BITVEC", "INT64", "ONE", "REDUCE_DTYPES", "UINT64", "WideMaker", "alu32", "alu_bits", "alu_integer",
    "arith", "bitvec", "fold_into", "identity", "ladder", "legal_bitvec", "swapped", "transposed", "two_sources",
]  # fmt: skip

ONE = 0x3F800000
UINT64, INT64 = 1, 12
SIZE.update({UINT64: 8, INT64: 8})
INTEGERS.update({UINT64: (64, False), INT64: (64, True)})

ARITH = (
    "BYPASS", "ADD", "SUBTRACT", "MULT", "MAX", "MIN", "LOGICAL_AND", "LOGICAL_OR", "LOGICAL_XOR", "IS_EQ", "IS_GT",
    "IS_GE", "IS_LE", "IS_LT", "ABSOLUTE_DIFF", "IS_NE", "ABSOLUTE_VALUE",
)  # fmt: skip
"""The general arithmetic operators of sunda and cayman; mariana and maverick have four more."""
LATER = ("ABS_MAX", "ABS_MIN", "RE_LU", "SQUARE")
BITVEC = (
    "BYPASS", "BITWISE_NOT", "ARITH_SHIFT_LEFT", "ARITH_SHIFT_RIGHT", "BITWISE_AND", "BITWISE_OR", "BITWISE_XOR",
    "LOGICAL_SHIFT_LEFT", "LOGICAL_SHIFT_RIGHT",
)  # fmt: skip
REDUCE_DTYPES = (UINT8, UINT16, INT32, UINT32)


def arith(gen: str) -> tuple[str, ...]:
    """The general arithmetic operators of a generation."""
    return ARITH if gen in ("sunda", "cayman") else (*ARITH, *LATER)


def bitvec(dtype: int) -> tuple[str, ...]:
    """The raw-bit operators that elements of a dtype take: an arithmetic right shift needs four bytes."""
    return tuple(op for op in BITVEC if op != "ARITH_SHIFT_RIGHT" or SIZE[dtype] == 4)


def legal_bitvec(dtype: int) -> tuple[str, ...]:
    """Those of the bitvec reductions and scans: a logical right shift is INT32's alone."""
    return tuple(op for op in bitvec(dtype) if op != "LOGICAL_SHIFT_RIGHT" or dtype == INT32)


# Operators ----------------------------------------------------------------------------------------------------------------


def larger_of(a: int, b: int, policy: str) -> int:
    return fp32.canonical(larger(a, b, policy))


def smaller_of(a: int, b: int, policy: str) -> int:
    found = larger(fp32.negate(a), fp32.negate(b), policy)
    return CANONICAL if is_nan32(found) else fp32.negate(found)


def reciprocal_root(a: int) -> int:
    """1 / sqrt(a), rounded once; -0 gives -infinity."""
    if is_nan32(a) or (a > fp32.SIGN):
        return CANONICAL
    if a & 0x7FFFFFFF == 0:
        return a | INFINITY
    if a == INFINITY:
        return 0
    inverse = 1 / fp32.number(a)
    whole = isqrt((inverse.numerator << 400) // inverse.denominator)
    exact = Fraction(whole, 1 << 200) ** 2 == inverse
    return fp32.rounded(Fraction(2 * whole + (not exact), 1 << 201))  # a tiny excess decides no tie wrongly


def full(bits: int) -> bool:
    return bits & 0x7FFFFFFF != 0


VALUES: dict[str, Callable[[int, int, str], int]] = {
    "BYPASS": lambda a, b, p: fp32.canonical(a),
    "ADD": lambda a, b, p: fp32.add(a, b),
    "SUBTRACT": lambda a, b, p: fp32.subtract(a, b),
    "MULT": lambda a, b, p: fp32.multiply(a, b),
    "SQUARE": lambda a, b, p: fp32.multiply(a, a),
    "RSQRT": lambda a, b, p: reciprocal_root(a),
    "MAX": larger_of,
    "MIN": smaller_of,
    "ABS_MAX": lambda a, b, p: larger_of(a & 0x7FFFFFFF, b & 0x7FFFFFFF, p),
    "ABS_MIN": lambda a, b, p: smaller_of(a & 0x7FFFFFFF, b & 0x7FFFFFFF, p),
    "RE_LU": lambda a, b, p: larger_of(a, 0, p),
    "ABSOLUTE_VALUE": lambda a, b, p: fp32.canonical(a & 0x7FFFFFFF),
    "ABSOLUTE_DIFF": lambda a, b, p: fp32.subtract(a, b) & 0x7FFFFFFF,
}
TRUTHS: dict[str, Callable[[int, int], bool]] = {
    "LOGICAL_AND": lambda a, b: full(a) and full(b),
    "LOGICAL_OR": lambda a, b: full(a) or full(b),
    "LOGICAL_XOR": lambda a, b: full(a) != full(b),
    "IS_EQ": lambda a, b: fp32.compare(a, b) == 0,
    "IS_NE": lambda a, b: fp32.compare(a, b) != 0,
    "IS_GT": lambda a, b: fp32.compare(a, b) == 1,
    "IS_GE": lambda a, b: fp32.compare(a, b) in (0, 1),
    "IS_LE": lambda a, b: fp32.compare(a, b) in (0, -1),
    "IS_LT": lambda a, b: fp32.compare(a, b) == -1,
}


def alu32(op: str, a: int, b: int, policy: str = "suppress") -> int:
    """One operator on fp32 bits; unary operators take `a`."""
    if op in TRUTHS:
        return ONE if TRUTHS[op](a, b) else 0
    return VALUES[op](a, b, policy)


def alu_bits(op: str, a: int, b: int, dtype: int) -> int:
    """One operator on raw codes; shift counts are unsigned and at least the width gives nothing, or all sign bits."""
    bits = 8 * SIZE[dtype]
    ones = (1 << bits) - 1
    if op == "ARITH_SHIFT_RIGHT":
        return ((a - (1 << bits) if a >> (bits - 1) else a) >> min(b, bits)) & ones
    if op in ("ARITH_SHIFT_LEFT", "LOGICAL_SHIFT_LEFT"):
        return (a << min(b, bits)) & ones
    if op == "LOGICAL_SHIFT_RIGHT":
        return a >> min(b, bits)
    return {"BYPASS": a, "BITWISE_NOT": ~a & ones, "BITWISE_AND": a & b, "BITWISE_OR": a | b, "BITWISE_XOR": a ^ b}[op]


def alu_integer(op: str, a: int, b: int, dtype: int) -> int:
    """One operator of the integer band on codes; compares and extremes named _INT are signed, _UINT ones are not."""
    bits, negative = INTEGERS[dtype]
    ones = (1 << bits) - 1
    root, _, kind = op.rpartition("_")
    if kind in ("INT", "UINT") and root in ("MAX", "MIN", "IS_GT", "IS_GE", "IS_LE", "IS_LT", "MULT", "DIVIDE", "MOD"):
        ordered = root not in ("MULT", "DIVIDE", "MOD")
        negative = kind == "INT" if ordered or kind == "UINT" else negative
    x, y = ((n - (1 << bits) if negative and n >> (bits - 1) else n) for n in (a, b))
    root = root or op
    if root in ("DIVIDE", "MOD"):
        if y == 0:
            return ones if root == "DIVIDE" else a
        quotient = abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
        return (quotient if root == "DIVIDE" else x - quotient * y) & ones
    table = {
        "BYPASS": x, "ADD": x + y, "SUBTRACT": x - y, "MULT": x * y, "IS_EQUAL": x == y, "IS_NE": x != y,
        "ABS_MAX": max(abs(x), abs(y)), "ABS_MIN": min(abs(x), abs(y)), "ABS_DIFF": abs(x - y), "MAX": max(x, y),
        "MIN": min(x, y), "IS_GT": x > y, "IS_GE": x >= y, "IS_LE": x <= y, "IS_LT": x < y,
    }  # fmt: skip
    return int(table[root]) & ones


# Shapes ---------------------------------------------------------------------------------------------------------------------


def transposed(rows: list[list[int]]) -> list[list[int]]:
    """Per quadrant, out[p][32 t + e] = rows[e][32 t + p]."""
    out = [list(row) for row in rows]
    for p in range(len(rows)):
        for k in range(len(rows[0])):
            out[p][k] = rows[p // 32 * 32 + k % 32][k // 32 * 32 + p % 32]
    return out


def ladder(rng: Any, dtype: int) -> int:
    """A code of an integer dtype that integer operators care about: small numbers of both signs and the extremes."""
    bits, _ = INTEGERS[dtype]
    top = 1 << (bits - 1)
    value = rng.choice(
        [0, 1, 2, 3, 7, -1, -2, -7, top - 1, top, top + 1, 10, rng.getrandbits(bits), rng.randint(-40, 40)]
    )
    return int(value) & ((1 << bits) - 1)


def two_sources(maker: Maker, channels: int, dtypes: tuple[int, int], nums: Any, *, psum: bool = True) -> list[Operand]:
    """Two sources that a vector instruction may read together: one quadrant of SBUF, or one of them in PSUM."""
    first = maker.operand(channels, dtypes[0], nums[0], region=None if psum else "sbuf")
    second = "sbuf" if first.region == "psum" or not psum else None
    other = maker.operand(channels, dtypes[1], nums[1], region=second)
    if first.region == other.region == "sbuf":
        other.partition = first.partition
    return [first, other]


def swapped(reverse: int) -> tuple[bool, bool]:
    """Whether the operands of the first and of the second operator change places."""
    return reverse in (1, 3), reverse in (2, 3)


def identity(op: str) -> int:
    """What a cleared accumulator holds."""
    return {"ADD": 0, "SUBTRACT": 0, "MULT": ONE, "MAX": 0xFF800000, "MIN": INFINITY}[op]


def fold_into(model: Any, lane: int, command: int, op: str, row: list[int], loaded: int = 0) -> list[int]:
    """Fold a row into a lane's accumulator, op(new, state), after command 2, 3 or 4; gives every state."""
    policy = model.policies.reduce_nan
    state = model.accumulated(lane) if command == 2 else identity(op) if command == 3 else loaded
    states = []
    for new in row:
        state = alu32(op, new, state, policy)
        states.append(state)
    model.lanes[lane] = (state, command != 2 or model.lanes[lane][1])
    return states


class WideMaker(Maker):
    """A maker that fills 64-bit sources too."""

    def windows(self, case: Case) -> dict[str, tuple[int, list[bytearray]]]:
        wide = [o for o in case.sources if o.size == 8]
        draws = {id(o): case.fill[i] for i, o in enumerate(case.sources) if i in case.fill}
        narrow = [o for o in case.sources if o.size < 8]
        fill = {i: draws[id(o)] for i, o in enumerate(narrow) if id(o) in draws}
        found = super().windows(Case(case.name, case.fields, case.effect, narrow, fill=fill))
        for o in wide:
            self._draw(found, o, case, draws.get(id(o)))
        return found

    def _draw(self, windows: Any, o: Operand, case: Case, draw: Any) -> None:
        first, rows = windows[o.region]
        for row in rows[o.partition : o.partition + case.fields.get("num_active_channels", 1)]:
            for at in o.offsets():
                code = draw(self.rng) if draw else ladder(self.rng, o.dtype)
                row[at - first : at - first + 8] = code.to_bytes(8, "little")
