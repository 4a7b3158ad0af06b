"""The ALU operators: tables in hex, numpy and Python integers as judges, NaN policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpsimd_core.errors import BadValue, Unsupported
from gpsimd_core.isa.alu import OPERATORS, evaluate, identity_code, operator_of
from gpsimd_core.isa.enums import AluOp
from gpsimd_core.isa.formats import FORMATS, format_of
from gpsimd_core.isa.lanes import alu, alu_integer
from gpsimd_core.isa.lanes.alu import PROPAGATE, SELECT, SUPPRESS

ZERO, MINUS_ZERO, ONE, TWO, MINUS_ONE = 0x00000000, 0x80000000, 0x3F800000, 0x40000000, 0xBF800000
INF, MINUS_INF, NAN, MINUS_NAN, SIGNALLING = 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001
HALF, THREE, FOUR, LEAST, MAX = 0x3F000000, 0x40400000, 0x40800000, 0x00000001, 0x7F7FFFFF

FP32 = [  # operator, a, b, result
    ("BYPASS", MINUS_NAN, 0, NAN),
    ("BYPASS", MINUS_ZERO, 0, MINUS_ZERO),
    ("ADD", ONE, TWO, THREE),
    ("ADD", INF, MINUS_INF, NAN),
    ("ADD", MINUS_NAN, ONE, NAN),
    ("ADD", ONE, MINUS_ONE, ZERO),
    ("ADD", ZERO, MINUS_ZERO, ZERO),
    ("ADD", MINUS_ZERO, MINUS_ZERO, MINUS_ZERO),
    ("ADD", MAX, MAX, INF),
    ("ADD", LEAST, LEAST, 0x00000002),
    ("SUBTRACT", MINUS_ZERO, ZERO, MINUS_ZERO),
    ("SUBTRACT", INF, INF, NAN),
    ("SUBTRACT", ONE, ONE, ZERO),
    ("MULT", INF, ZERO, NAN),
    ("MULT", MINUS_ONE, ZERO, MINUS_ZERO),
    ("MULT", LEAST, HALF, ZERO),
    ("DIVIDE", ONE, ZERO, INF),
    ("DIVIDE", ONE, MINUS_ZERO, MINUS_INF),
    ("DIVIDE", ZERO, MINUS_ZERO, NAN),
    ("DIVIDE", INF, INF, NAN),
    ("DIVIDE", NAN, ZERO, NAN),
    ("DIVIDE", ONE, THREE, 0x3EAAAAAB),
    ("DIVIDE", ONE, MINUS_INF, MINUS_ZERO),
    ("LOGICAL_AND", NAN, TWO, ONE),
    ("LOGICAL_AND", MINUS_ZERO, TWO, ZERO),
    ("LOGICAL_OR", MINUS_ZERO, ZERO, ZERO),
    ("LOGICAL_OR", MINUS_ZERO, LEAST, ONE),
    ("LOGICAL_XOR", NAN, ONE, ZERO),
    ("LOGICAL_XOR", ZERO, NAN, ONE),
    ("IS_EQ", ZERO, MINUS_ZERO, ONE),
    ("IS_EQ", NAN, NAN, ZERO),
    ("IS_NE", NAN, NAN, ONE),
    ("IS_NE", ZERO, MINUS_ZERO, ZERO),
    ("IS_GT", TWO, ONE, ONE),
    ("IS_GT", NAN, ONE, ZERO),
    ("IS_GE", ZERO, MINUS_ZERO, ONE),
    ("IS_GE", ONE, NAN, ZERO),
    ("IS_LE", MINUS_ZERO, ZERO, ONE),
    ("IS_LE", NAN, NAN, ZERO),
    ("IS_LT", MINUS_INF, INF, ONE),
    ("IS_LT", ONE, SIGNALLING, ZERO),
    ("ABSOLUTE_DIFF", ONE, THREE, TWO),
    ("ABSOLUTE_DIFF", ZERO, ZERO, ZERO),
    ("ABSOLUTE_DIFF", INF, INF, NAN),
    ("ABSOLUTE_VALUE", MINUS_ZERO, 0, ZERO),
    ("ABSOLUTE_VALUE", MINUS_NAN, 0, NAN),
    ("ABSOLUTE_VALUE", MINUS_INF, 0, INF),
    ("RSQRT", FOUR, 0, HALF),
    ("RSQRT", ZERO, 0, INF),
    ("RSQRT", MINUS_ZERO, 0, MINUS_INF),
    ("RSQRT", MINUS_ONE, 0, NAN),
    ("RSQRT", INF, 0, ZERO),
    ("RSQRT", LEAST, 0, 0x64B504F3),
    ("SQUARE", MINUS_ZERO, 0, ZERO),
    ("SQUARE", 0xC0400000, 0, 0x41100000),
    ("SQUARE", MINUS_NAN, 0, NAN),
    ("SYMMETRIC_CLAMP", MINUS_ONE, TWO, 0xC0000000),
    ("SYMMETRIC_CLAMP", 0xC0400000, TWO, 0xC0400000),
    ("POW", TWO, THREE, 0x41000000),
    ("POW", NAN, ZERO, ONE),
    ("POW", ONE, NAN, ONE),
    ("POW", MINUS_ONE, INF, ONE),
    ("POW", MINUS_ONE, HALF, NAN),
    ("POW", 0xC0000000, THREE, 0xC1000000),
    ("POW", ZERO, MINUS_ONE, INF),
    ("POW", MINUS_ZERO, MINUS_ONE, MINUS_INF),
    ("POW", MINUS_ZERO, 0xC0000000, INF),
    ("POW", MINUS_INF, THREE, MINUS_INF),
    ("POW", MINUS_INF, HALF, INF),
    ("POW", HALF, MINUS_INF, INF),
    ("POW", TWO, 0x43800000, INF),
    ("POW", TWO, 0xC3150000, LEAST),
    ("POW", NAN, ONE, NAN),
    ("CRC32", ONE, ONE, NAN),
]


@pytest.mark.parametrize(
    ("name", "a", "b", "result"), FP32, ids=lambda value: hex(value) if isinstance(value, int) else value
)
def test_fp32_operators(run: Callable[[Any], Any], name: str, a: int, b: int, result: int) -> None:
    assert int(run(alu.alu_fp32)(int(AluOp[name]), np.uint32(a), np.uint32(b), SUPPRESS)) == result


# policy reduce_nan: operator, a, b, then the results under suppress, propagate and select (a > b ? a : b).
REDUCE_NAN = [
    ("MAX", NAN, ONE, (ONE, NAN, ONE)),
    ("MAX", ONE, NAN, (ONE, NAN, NAN)),
    ("MAX", SIGNALLING, MINUS_INF, (MINUS_INF, NAN, MINUS_INF)),
    ("MAX", MINUS_NAN, SIGNALLING, (NAN, NAN, NAN)),
    ("MAX", ZERO, MINUS_ZERO, (ZERO, ZERO, MINUS_ZERO)),
    ("MAX", MINUS_ZERO, ZERO, (ZERO, ZERO, ZERO)),
    ("MAX", MINUS_ONE, MINUS_INF, (MINUS_ONE, MINUS_ONE, MINUS_ONE)),
    ("MIN", NAN, ONE, (ONE, NAN, ONE)),
    ("MIN", ONE, NAN, (ONE, NAN, NAN)),
    ("MIN", ZERO, MINUS_ZERO, (MINUS_ZERO, MINUS_ZERO, MINUS_ZERO)),
    ("MIN", MINUS_ZERO, ZERO, (MINUS_ZERO, MINUS_ZERO, ZERO)),
    ("MIN", NAN, MINUS_NAN, (NAN, NAN, NAN)),
    ("ABS_MAX", MINUS_NAN, 0xC0400000, (THREE, NAN, THREE)),
    ("ABS_MAX", MINUS_ONE, HALF, (ONE, ONE, ONE)),
    ("ABS_MIN", MINUS_ZERO, TWO, (ZERO, ZERO, ZERO)),
    ("ABS_MIN", ONE, MINUS_NAN, (ONE, NAN, NAN)),
    ("RE_LU", NAN, 0, (ZERO, NAN, ZERO)),
    ("RE_LU", MINUS_ZERO, 0, (ZERO, ZERO, ZERO)),
    ("RE_LU", MINUS_ONE, 0, (ZERO, ZERO, ZERO)),
    ("RE_LU", TWO, 0, (TWO, TWO, TWO)),
]


@pytest.mark.parametrize(("name", "a", "b", "results"), REDUCE_NAN)
def test_policy_reduce_nan(run: Callable[[Any], Any], name: str, a: int, b: int, results: tuple[int, ...]) -> None:
    found = [
        int(run(alu.alu_fp32)(int(AluOp[name]), np.uint32(a), np.uint32(b), policy))
        for policy in (SUPPRESS, PROPAGATE, SELECT)
    ]
    assert found == list(results)


NUMPY: dict[str, Callable[..., Any]] = {
    "ADD": np.add,
    "SUBTRACT": np.subtract,
    "MULT": np.multiply,
    "DIVIDE": np.divide,
    "IS_EQ": np.equal,
    "IS_NE": np.not_equal,
    "IS_GT": np.greater,
    "IS_GE": np.greater_equal,
    "IS_LE": np.less_equal,
    "IS_LT": np.less,
    "ABSOLUTE_DIFF": lambda a, b: np.abs(a - b),
    "LOGICAL_AND": np.logical_and,
    "LOGICAL_OR": np.logical_or,
    "LOGICAL_XOR": np.logical_xor,
    "ABSOLUTE_VALUE": lambda a, b: np.abs(a),
    "SQUARE": lambda a, b: a * a,
    "MAX": np.fmax,
    "MIN": np.fmin,
    "ABS_MAX": lambda a, b: np.fmax(np.abs(a), np.abs(b)),
    "ABS_MIN": lambda a, b: np.fmin(np.abs(a), np.abs(b)),
}


def pairs(count: int, seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    edges = np.array(
        [ZERO, MINUS_ZERO, ONE, MINUS_ONE, INF, MINUS_INF, NAN, MINUS_NAN, LEAST, MAX, 0x00800000], np.uint32
    )
    a, b = rng.integers(0, 1 << 32, (2, count), dtype=np.uint32)
    b = np.where(rng.random(count) < 0.3, a ^ rng.integers(0, 4, count, dtype=np.uint32), b)
    a[: edges.size**2], b[: edges.size**2] = np.repeat(edges, edges.size), np.tile(edges, edges.size)
    return a, b


@pytest.mark.parametrize("name", NUMPY)
def test_fp32_operators_before_numpy(name: str) -> None:
    a, b = pairs(50_000, seed=len(name))
    operands = (a,) if OPERATORS[AluOp[name]].unary else (a, b)
    mine = evaluate(name, *operands, from_="fp32", to="fp32")
    with np.errstate(all="ignore"):
        theirs = NUMPY[name](a.view(np.float32), b.view(np.float32)).astype(np.float32)
    nan = np.isnan(theirs)
    bits = theirs.view(np.uint32)
    judged = ~nan
    if name in ("MAX", "MIN", "ABS_MAX", "ABS_MIN"):
        # numpy takes either of two equal zeros, and a NaN where one operand signals
        signalling = [(x & 0x7FFFFFFF > INF) & (x & 0x00400000 == 0) for x in (a, b)]
        judged &= ~((theirs == 0) & ((a ^ b) == MINUS_ZERO)) & ~signalling[0] & ~signalling[1]
        nan &= ~signalling[0] & ~signalling[1]
    assert (mine[judged] == bits[judged]).all()
    assert (mine[nan] == NAN).all()


@pytest.mark.parametrize("op", list(AluOp), ids=lambda op: op.name)
def test_rows_are_the_operators_element_by_element(op: AluOp, run: Callable[[Any], Any]) -> None:
    a, b = pairs(300, seed=int(op))
    for policy in (SUPPRESS, PROPAGATE, SELECT):
        out = np.zeros_like(a)
        run(alu.alu_fp32_row)(int(op), a, b, out, policy)
        expected = [alu.alu_fp32(int(op), x, y, policy) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        assert out.tolist() == expected


def test_order_keys_sort_numbers() -> None:
    numbers = [MINUS_INF, 0xFF7FFFFF, MINUS_ONE, 0x80000001, MINUS_ZERO, ZERO, LEAST, ONE, MAX, INF]
    keys = [alu.key_of(number) for number in numbers]
    assert keys == sorted(set(keys))
    assert [alu.pattern_of(key) for key in keys] == numbers


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def by_python(name: str, a: int, b: int, width: int, is_signed: bool) -> int:
    """An operator of the integer band on patterns, by Python integers and settled reading 20 (docs/decisions.md)."""
    unsigned_name = name.endswith("_UINT")
    x, y = (a, b) if unsigned_name or not is_signed else (signed(a, width), signed(b, width))
    always_signed = {"MAX_INT", "MIN_INT", "IS_GT_INT", "IS_GE_INT", "IS_LE_INT", "IS_LT_INT"}
    if name in always_signed:
        x, y = signed(a, width), signed(b, width)
    quotient = -1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    remainder = x if y == 0 else x - quotient * y
    base = name.removesuffix("_INT").removesuffix("_UINT")
    result = {
        "ADD": x + y,
        "SUBTRACT": x - y,
        "MULT": x * y,
        "DIVIDE": quotient,
        "MOD": remainder,
        "IS_EQUAL": x == y,
        "IS_NE": x != y,
        "IS_GT": x > y,
        "IS_GE": x >= y,
        "IS_LE": x <= y,
        "IS_LT": x < y,
        "MAX": max(x, y),
        "MIN": min(x, y),
        "ABS_MAX": max(abs(x), abs(y)),
        "ABS_MIN": min(abs(x), abs(y)),
        "ABS_DIFF": abs(x - y),
        "ABS_VALUE": abs(x),
    }[base]
    return int(result) % (1 << width)


def integer_edges(width: int) -> list[int]:
    top = 1 << (width - 1)
    rng = np.random.default_rng(width)
    some = [int(x) % (1 << width) for x in rng.integers(0, 2**63, 6)]
    return [0, 1, 2, 3, 7, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, *some]


@pytest.mark.parametrize("is_signed", [False, True], ids=["unsigned", "signed"])
@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("name", [op.name for op, row in OPERATORS.items() if row.kind == "int"])
def test_integer_operators_before_python(run: Callable[[Any], Any], name: str, width: int, is_signed: bool) -> None:
    lane = run(alu_integer.alu_int)
    for a in integer_edges(width):
        for b in integer_edges(width):
            mine = int(lane(int(AluOp[name]), np.uint64(a), np.uint64(b), width, int(is_signed)))
            assert mine == by_python(name, a, b, width, is_signed), (hex(a), hex(b))


BITVEC: dict[str, Callable[[int, int, int], int]] = {
    "BYPASS": lambda a, b, w: a,
    "BITWISE_NOT": lambda a, b, w: ~a,
    "BITWISE_AND": lambda a, b, w: a & b,
    "BITWISE_OR": lambda a, b, w: a | b,
    "BITWISE_XOR": lambda a, b, w: a ^ b,
    "ARITH_SHIFT_LEFT": lambda a, b, w: a << b if b < w else 0,
    "LOGICAL_SHIFT_LEFT": lambda a, b, w: a << b if b < w else 0,
    "LOGICAL_SHIFT_RIGHT": lambda a, b, w: a >> b if b < w else 0,
    "ARITH_SHIFT_RIGHT": lambda a, b, w: signed(a, w) >> min(b, w - 1),
    "CRC32": lambda a, b, w: 0,
}


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("name", BITVEC)
def test_raw_bit_operators_before_python(run: Callable[[Any], Any], name: str, width: int) -> None:
    lane = run(alu_integer.alu_bitvec)
    counts = [0, 1, width - 1, width, width + 1, 31, 32, 33, 63, 64, (1 << width) - 1]
    for a in integer_edges(width):
        for b in [*(count % (1 << width) for count in counts), *integer_edges(width)[:6]]:
            expected = BITVEC[name](a, b, width) % (1 << width)
            assert int(lane(int(AluOp[name]), np.uint64(a), np.uint64(b), width)) == expected, (hex(a), hex(b))


@pytest.mark.parametrize(
    ("name", "from_", "to", "a", "b", "result"),
    [
        ("ADD_INT", "uint32", "uint64", 0xFFFFFFFF, 1, 0x100000000),
        ("SUBTRACT_INT", "uint32", "uint64", 0, 1, 0xFFFFFFFFFFFFFFFF),
        ("MULT_UINT", "uint32", "uint64", 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFE00000001),
        ("MULT_INT", "int32", "int64", 0xFFFFFFFF, 2, 0xFFFFFFFFFFFFFFFE),
        ("IS_EQ", "int32", "fp32", 2**24, 2**24 + 1, ONE),
        ("IS_EQUAL_INT", "int32", "int32", 2**24, 2**24 + 1, 0),
        ("ADD", "fp8_e4m3", "fp8_e4m3", 0x77, 0x77, 0x78),
        ("ADD", "int8", "int8", 0x7F, 0x7F, 0x7F),
        ("MOD", "int32", "int32", 0xFFFFFFF9, 3, 0xFFFFFFFF),
        ("MOD", "uint32", "uint32", 0xFFFFFFF9, 3, 0),
        ("IS_GT", "bf16", "int8", 0x4000, 0x3F80, 1),
    ],
)
@pytest.mark.parametrize("slow", [False, True], ids=["compiled", "plain"])
def test_evaluate(name: str, from_: str, to: str, a: int, b: int, result: int, slow: bool) -> None:
    found = evaluate(name, np.uint64(a), [np.uint64(b)], from_=from_, to=to, slow=slow)
    assert found.dtype == format_of(to).code_dtype
    assert found.tolist() == [result]


@pytest.mark.parametrize(
    ("args", "how", "complaint"),
    [
        (("NOPE", 1, 2), {"from_": "fp32", "to": "fp32"}, "BYPASS"),
        ((0x99, 1, 2), {"from_": "fp32", "to": "fp32"}, "BYPASS"),
        (("ADD", 1), {"from_": "fp32", "to": "fp32"}, "2 operands"),
        (("SQUARE", 1, 2), {"from_": "fp32", "to": "fp32"}, "1 operands"),
        (("ADD_INT", 1, 2), {"from_": "fp32", "to": "fp32"}, "integers"),
        (("BITWISE_AND", 1, 2), {"from_": "int8", "to": "int16"}, "integer format"),
        (("ADD", 1, 2), {"from_": "int64", "to": "int64"}, "64-bit"),
        (("ARGMAX_INT", 1), {"from_": "int32", "to": "uint32"}, "reduction"),
        (("MAX", 1, 2), {"from_": "fp32", "to": "fp32", "policies": {"reduce_nan": "quiet"}}, "suppress"),
        (("ADD", 1, 2), {"from_": "fp32", "to": "fp32", "rounding": "UP"}, "RNE"),
    ],
)
def test_bad_evaluations(args: tuple[Any, ...], how: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadValue, match=complaint):
        evaluate(*args, **how)


def test_evaluate_stores_under_the_policies() -> None:
    ones = np.full(200, 0x3F801000, np.uint32)  # a tie between two fp16 numbers
    found = evaluate("BYPASS", ones, from_="fp32", to="fp16", policies={"stochastic_rounding": 3})
    assert set(found.tolist()) == {0x3C00, 0x3C01}
    assert evaluate("ADD", ones[:1], ones[:1], from_="fp32", to="fp16", rounding="RPI").tolist() == [0x4001]


def test_crc32_says_what_is_missing() -> None:
    with pytest.raises(Unsupported, match="polynomial"):
        evaluate("CRC32", 1, 2, from_="int32", to="int32")


def test_argument_reductions_keep_the_first_of_equals() -> None:
    wins = alu_integer.argument_wins
    assert not wins(int(AluOp.ARGMAX_INT), 5, 5, 32)
    assert wins(int(AluOp.ARGMAX_INT), 5, 0xFFFFFFFF, 32)
    assert not wins(int(AluOp.ARGMAX_UINT), 5, 0xFFFFFFFF, 32)
    assert wins(int(AluOp.ARGMIN_INT), 1 << 63, 0, 64)
    assert not wins(int(AluOp.ARGMIN_UINT), 1 << 63, 0, 64)


def test_every_operator_has_its_row() -> None:
    assert list(OPERATORS) == list(AluOp)
    assert len(OPERATORS) == 65
    assert operator_of("add") is operator_of(0x04) is OPERATORS[AluOp.ADD]
    unary = {op.name for op, row in OPERATORS.items() if row.unary}
    assert unary == {
        "BYPASS", "BITWISE_NOT", "ABSOLUTE_VALUE", "RSQRT", "RE_LU", "SQUARE", "ABS_VALUE_INT",
        "ARGMAX_INT", "ARGMIN_INT", "ARGMAX_UINT", "ARGMIN_UINT",
    }  # fmt: skip


@pytest.mark.parametrize("op", [op for op, row in OPERATORS.items() if row.identity], ids=lambda op: op.name)
def test_identities_change_nothing(op: AluOp) -> None:
    row = OPERATORS[op]
    name = {"arith": "fp32", "bitvec": "uint32", "int": "uint32" if op.name.endswith("UINT") else "int32"}[row.kind]
    fmt = FORMATS[name]
    start = identity_code(row, fmt)
    magnitudes = [ZERO, LEAST, ONE, MAX, INF]
    values = (
        magnitudes if op in (AluOp.ABS_MAX, AluOp.ABS_MIN, AluOp.ABS_MAX_INT) else [*magnitudes, MINUS_ZERO, MINUS_ONE]
    )
    if op == AluOp.ABS_MAX_INT:
        values = [0, 1, 5, 2**31]
    for value in values:
        assert evaluate(op, np.uint32(value), np.uint32(start), from_=fmt, to=fmt).tolist() == value
        assert evaluate(op, np.uint32(start), np.uint32(value), from_=fmt, to=fmt).tolist() == value
