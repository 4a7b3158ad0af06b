"""Arithmetic, shifts, products, booleans and branches against plain Python integers."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest
from control_help import Program, execute, small_core
from hypothesis import given
from hypothesis import strategies as st

from gpsimd_core.control import Trap
from gpsimd_core.control.groups.arithmetic import leading_zeros
from gpsimd_core.control.groups.flow import taken
from gpsimd_core.control.groups.shift import funnel

EDGES = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0x80000000,
    0x80000001,
    0xFFFFFFFF,
    0x5A5A1234,
)
words = st.one_of(st.sampled_from(EDGES), st.integers(0, 0xFFFFFFFF))


def pairs() -> list[tuple[int, int]]:
    """Every pair of the edges, and random ones, the same every time."""
    random_ = random.Random(1)
    return list(itertools.product(EDGES, EDGES)) + [
        (random_.getrandbits(32), random_.getrandbits(32) >> random_.randrange(32)) for _ in range(60)
    ]


def s32(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


def div(x: int, y: int) -> int:
    return int(abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)


THREE: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: x + y,
    "addx2": lambda x, y: 2 * x + y,
    "addx4": lambda x, y: 4 * x + y,
    "addx8": lambda x, y: 8 * x + y,
    "sub": lambda x, y: x - y,
    "subx2": lambda x, y: 2 * x - y,
    "subx4": lambda x, y: 4 * x - y,
    "subx8": lambda x, y: 8 * x - y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "min": lambda x, y: min(s32(x), s32(y)),
    "max": lambda x, y: max(s32(x), s32(y)),
    "minu": min,
    "maxu": max,
    "salt": lambda x, y: int(s32(x) < s32(y)),
    "saltu": lambda x, y: int(x < y),
    "mull": lambda x, y: x * y,
    "muluh": lambda x, y: x * y >> 32,
    "mulsh": lambda x, y: s32(x) * s32(y) >> 32,
    "mul16u": lambda x, y: (x & 0xFFFF) * (y & 0xFFFF),
    "mul16s": lambda x, y: s32(x << 16 & 0xFFFFFFFF) * s32(y << 16 & 0xFFFFFFFF) >> 32,
    "quou": lambda x, y: x // y,
    "quos": lambda x, y: div(s32(x), s32(y)),
    "remu": lambda x, y: x % y,
    "rems": lambda x, y: s32(x) - s32(y) * div(s32(x), s32(y)),
    "add.n": lambda x, y: x + y,
}


@pytest.mark.parametrize("name", THREE)
def test_two_operands(name: str) -> None:
    program = Program(f"{name} a4, a2, a3", small_core())
    for x, y in pairs():
        if y or not name.startswith(("quo", "rem")):
            assert program.run({2: x, 3: y}).a[4] == THREE[name](x, y) & 0xFFFFFFFF


@pytest.mark.parametrize("name", ["quou", "quos", "remu", "rems"])
def test_division_by_zero(name: str) -> None:
    core = small_core()
    with pytest.raises(Trap) as trap:
        execute(f"{name} a4, a2, a3", core=core, ars={2: 5, 4: 77})
    assert (trap.value.name, trap.value.cause, core.a[4]) == ("IntegerDivideByZero", 6, 77)
    assert trap.value.registers == {"a4": 77, "a2": 5, "a3": 0}


def test_minimum_divided_by_minus_one() -> None:
    core = execute("quos a4, a2, a3\nrems a5, a2, a3", ars={2: 0x80000000, 3: -1})
    assert (core.a[4], core.a[5]) == (0x80000000, 0)


@pytest.mark.parametrize("x", EDGES)
def test_one_operand(x: int) -> None:
    core = execute(
        "neg a3, a2\nabs a4, a2\nnsa a5, a2\nnsau a6, a2\nsext a7, a2, 7\nsext a8, a2, 22\nclamps a9, a2, 7\n"
        "clamps a10, a2, 22\nmov.n a11, a2\naddi a12, a2, -128\naddmi a13, a2, -32768\naddi.n a14, a2, -1",
        ars={2: x},
    )
    signed = s32(x)
    bits = format(x, "032b")
    assert core.a[3] == -x & 0xFFFFFFFF
    assert core.a[4] == abs(signed) & 0xFFFFFFFF
    assert core.a[5] == len(bits) - len(bits.lstrip(bits[0])) - 1
    assert core.a[6] == 32 - x.bit_length()
    assert core.a[7] == (x & 0xFF if not x & 0x80 else x & 0xFF | 0xFFFFFF00)
    assert core.a[8] == (x & 0x7FFFFF if not x & 0x400000 else x & 0x7FFFFF | 0xFF800000)
    assert core.a[9] == max(min(signed, 127), -128) & 0xFFFFFFFF
    assert core.a[10] == max(min(signed, (1 << 22) - 1), -(1 << 22)) & 0xFFFFFFFF
    assert core.a[11] == x
    assert core.a[12] == x - 128 & 0xFFFFFFFF
    assert core.a[13] == x - 32768 & 0xFFFFFFFF
    assert core.a[14] == x - 1 & 0xFFFFFFFF


@given(x=st.integers(0, 0xFFFFFFFF))
def test_leading_zeros(x: int) -> None:
    assert leading_zeros(x) == 32 - x.bit_length()


def test_constants() -> None:
    core = execute(
        "movi a2, -2048\nmovi a3, 2047\nmovi.n a4, -32\nmovi.n a5, 95\nconst16 a6, 0x1234\nconst16 a6, 0x5678\n"
        "const16 a7, 0xffff",
        ars={7: 0xAAAABBBB},
    )
    assert [core.a[n] for n in range(2, 8)] == [0xFFFFF800, 2047, 0xFFFFFFE0, 95, 0x12345678, 0xBBBBFFFF]


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("moveqz", {0}),
        ("movnez", {1, 0x80000000, 0xFFFFFFFF}),
        ("movltz", {0x80000000, 0xFFFFFFFF}),
        ("movgez", {0, 1}),
    ],
)
def test_conditional_moves_keep_the_destination(name: str, moves: set[int]) -> None:
    for condition in (0, 1, 0x80000000, 0xFFFFFFFF):
        core = execute(f"{name} a4, a2, a3", ars={2: 11, 3: condition, 4: 22})
        assert core.a[4] == (11 if condition in moves else 22)


@pytest.mark.parametrize(
    ("name", "flag", "result"), [("movf", 0, 11), ("movf", 1, 22), ("movt", 0, 22), ("movt", 1, 11)]
)
def test_moves_by_a_boolean(name: str, flag: int, result: int) -> None:
    core = small_core()
    core.sr["br"] = flag << 9
    assert execute(f"{name} a4, a2, b9", core=core, ars={2: 11, 4: 22}).a[4] == result


class TestShifts:
    @pytest.mark.parametrize("amount", range(1, 32))
    def test_immediate(self, amount: int) -> None:
        x = 0x89ABCDEF
        core = execute(f"slli a3, a2, {amount}\nsrai a4, a2, {amount}", ars={2: x})
        assert core.a[3] == x << amount & 0xFFFFFFFF
        assert core.a[4] == s32(x) >> amount & 0xFFFFFFFF

    @pytest.mark.parametrize("amount", range(16))
    def test_srli(self, amount: int) -> None:
        assert execute(f"srli a3, a2, {amount}", ars={2: 0x89ABCDEF}).a[3] == 0x89ABCDEF >> amount

    @pytest.mark.parametrize("low", [0, 5, 16, 31])
    @pytest.mark.parametrize("width", [1, 8, 16])
    def test_extui(self, low: int, width: int) -> None:
        assert (
            execute(f"extui a3, a2, {low}, {width}", ars={2: 0x89ABCDEF}).a[3] == 0x89ABCDEF >> low & (1 << width) - 1
        )

    @pytest.mark.parametrize("amount", range(64))
    def test_by_sar(self, amount: int) -> None:
        high, low = 0x89ABCDEF, 0x13579BDF
        core = execute(
            "wsr.sar a5\nsrl a6, a3\nsra a7, a2\nsrc a8, a2, a3\nsll a9, a2", ars={2: high, 3: low, 5: amount}
        )
        assert core.a[6] == low >> amount
        assert core.a[7] == s32(high) >> amount & 0xFFFFFFFF
        assert core.a[8] == (high << 32 | low) >> amount & 0xFFFFFFFF
        assert core.a[9] == (high << 32) >> amount & 0xFFFFFFFF  # SRC with a zero low word (PROPOSED above 32)

    @pytest.mark.parametrize("x", [0, 1, 2, 3, 31, 32, 33, 0xFFFFFFFF])
    def test_amounts(self, x: int) -> None:
        for text, sar in (
            ("ssr a2", x & 31),
            ("ssl a2", 32 - (x & 31)),
            ("ssa8l a2", 8 * (x & 3)),
            ("ssa8b a2", 32 - 8 * (x & 3)),
            ("ssai 31", 31),
        ):
            assert execute(text, ars={2: x}).sr["sar"] == sar

    @given(high=words, low=words, amount=st.integers(0, 63))
    def test_funnel(self, high: int, low: int, amount: int) -> None:
        assert funnel(high, low, amount) == (high << 32 | low) >> amount & 0xFFFFFFFF


class TestBooleans:
    @pytest.mark.parametrize("flags", [0, 0b0010, 0b0100, 0b0110])
    def test_algebra(self, flags: int) -> None:
        x, y = flags >> 1 & 1, flags >> 2 & 1
        for name, result in (
            ("andb", x & y),
            ("andbc", x & 1 - y),
            ("orb", x | y),
            ("orbc", x | 1 - y),
            ("xorb", x ^ y),
        ):
            for before in (0, 0x8000):
                core = small_core()
                core.sr["br"] = flags | before
                execute(f"{name} b15, b1, b2", core=core)
                assert core.sr["br"] == flags | result << 15

    @pytest.mark.parametrize("flags", [0, 0xF0, 0xE0, 0x10, 0xFF00, 0x7F00, 0x0100])
    def test_groups(self, flags: int) -> None:
        core = small_core()
        core.sr["br"] = flags
        execute("all4 b0, b4\nany4 b1, b4\nall8 b2, b8\nany8 b3, b8", core=core)
        four, eight = flags >> 4 & 15, flags >> 8
        assert core.sr["br"] == flags | (four == 15) | (four > 0) << 1 | (eight == 255) << 2 | (eight > 0) << 3


BRANCHES: dict[str, Callable[[int, int], bool]] = {
    "beq": lambda x, y: x == y,
    "bne": lambda x, y: x != y,
    "blt": lambda x, y: s32(x) < s32(y),
    "bge": lambda x, y: s32(x) >= s32(y),
    "bltu": lambda x, y: x < y,
    "bgeu": lambda x, y: x >= y,
    "bany": lambda x, y: x & y != 0,
    "bnone": lambda x, y: x & y == 0,
    "ball": lambda x, y: ~x & y == 0,
    "bnall": lambda x, y: ~x & y != 0,
    "bbc": lambda x, y: not x >> (y & 31) & 1,
    "bbs": lambda x, y: bool(x >> (y & 31) & 1),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_branches_on_two_registers(name: str) -> None:
    program = Program(f"movi a4, 0\n{name} a2, a3, out\nmovi a4, 1\nout:", small_core())
    for x, y in pairs():
        assert program.run({2: x, 3: y}).a[4] == int(not BRANCHES[name](x, y))


@pytest.mark.parametrize("x", EDGES)
def test_branches_on_one_register(x: int) -> None:
    signed = s32(x)
    for text, goes in (
        ("beqz a2,", x == 0),
        ("bnez a2,", x != 0),
        ("bltz a2,", signed < 0),
        ("bgez a2,", signed >= 0),
        ("beqz.n a2,", x == 0),
        ("bnez.n a2,", x != 0),
        ("beqi a2, -1,", signed == -1),
        ("bnei a2, 1,", signed != 1),
        ("blti a2, -1,", signed < -1),
        ("bgei a2, 128,", signed >= 128),
        ("bltui a2, 32768,", x < 32768),
        ("bgeui a2, 65536,", x >= 65536),
        ("bbci a2, 31,", not x >> 31),
        ("bbsi a2, 15,", bool(x >> 15 & 1)),
    ):
        core = execute(f"movi a4, 0\n{text} out\nmovi a4, 1\nout:", ars={2: x})
        assert core.a[4] == int(not goes), text


@pytest.mark.parametrize("flag", [0, 1])
def test_branches_on_a_boolean(flag: int) -> None:
    for name, goes in (("bf", not flag), ("bt", bool(flag))):
        core = small_core()
        core.sr["br"] = flag << 3
        execute(f"movi a4, 0\n{name} b3, out\nmovi a4, 1\nout:", core=core)
        assert core.a[4] == int(not goes)


def test_every_branch_code_is_told_apart() -> None:
    """No two conditions agree on all of these, so none falls through to another's arm."""
    probes = [(x, y, a, flag) for x in EDGES for y in (0, 1, 5, 0x80000000) for a in (0, 7, 31) for flag in (0, 1)]
    answers = {code: tuple(bool(taken(code, *probe)) for probe in probes) for code in range(26)}
    assert len(set(answers.values())) == 26


class TestMemory:
    def test_loads(self) -> None:
        core = small_core()
        core.memory.write(0x400, bytes([0x80, 0xFF, 0x7F, 0x01, 0x88, 0x99, 0xAA, 0xBB]))
        execute(
            "l8ui a3, a2, 0\nl16ui a4, a2, 0\nl16si a5, a2, 0\nl16si a6, a2, 2\nl32i a7, a2, 4\nl32i.n a8, a2, 4",
            core=core,
            ars={2: 0x400},
        )
        assert [core.a[n] for n in range(3, 9)] == [0x80, 0xFF80, 0xFFFFFF80, 0x17F, 0xBBAA9988, 0xBBAA9988]

    def test_stores(self) -> None:
        core = execute(
            "s32i a3, a2, 0\ns16i a4, a2, 4\ns8i a4, a2, 6\ns32i.n a3, a2, 8",
            ars={2: 0x400, 3: 0x11223344, 4: 0xAABBCCDD},
        )
        assert core.memory.read(0x400, 12) == bytes.fromhex("44332211 ddcc dd00 44332211")

    def test_l32r_reads_a_literal_before_it(self) -> None:
        core = execute("j over\n.literal big, 0xdeadbeef\nover: l32r a2, big")
        assert core.a[2] == 0xDEADBEEF

    def test_ddr_moves_through_memory(self) -> None:
        core = execute("s32i a3, a2, 0\nlddr32.p a2\nsddr32.p a2", ars={2: 0x400, 3: 0x12345678})
        assert (core.sr["ddr"], core.a[2]) == (0x12345678, 0x408)
        assert core.memory.word(0x404) == 0x12345678

    @pytest.mark.parametrize(
        ("text", "address"),
        [
            ("l16ui a3, a2, 0", 1025),
            ("l16si a3, a2, 2", 1027),
            ("l32i a3, a2, 4", 1029),
            ("s16i a3, a2, 0", 1025),
            ("s32i a3, a2, 0", 1025),
            ("l32e a3, a2, -4", 1021),
        ],
    )
    def test_unaligned_access(self, text: str, address: int) -> None:
        core = small_core()
        with pytest.raises(Trap) as trap:
            execute(text, core=core, ars={2: 0x401, 3: 5})
        assert (trap.value.name, trap.value.cause, trap.value.address) == ("LoadStoreAlignment", 9, address)
        assert core.sr["excvaddr"] == address
        assert core.memory.read(0x3F8, 16) == bytes(16)

    def test_compare_and_swap_on_classic(self) -> None:
        core = small_core("classic")
        core.memory.write(0x400, (5).to_bytes(4, "little"))
        execute(
            "wsr.scompare1 a3\ns32c1i a4, a2, 0\ns32c1i a5, a2, 0",
            "classic",
            core=core,
            ars={2: 0x400, 3: 5, 4: 7, 5: 9},
        )
        assert (core.a[4], core.a[5], core.memory.word(0x400)) == (5, 7, 7)
