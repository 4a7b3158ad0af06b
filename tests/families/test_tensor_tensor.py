"""tensor_tensor (0x41, 0x51) and sunda's packed forms (0x8A, 0x8B, 0x8F), against references that go one element at a
time; POW against MPFR.

Titles: Tensor-Tensor Elementwise Arith + the ALU-OP Table; Tensor-Tensor 64-bit Path; settled readings
7, 16, 20, 21 and 25 (docs/decisions.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gmpy2
import ml_dtypes
import numpy as np
import pytest
from alu_model import (
    INT64,
    UINT64,
    WideMaker,
    alu32,
    alu_bits,
    alu_integer,
    arith,
    bitvec,
    ladder,
    two_sources,
)
from family_model import GENERATIONS, INTS, OUT, PLAIN, Case, Load, Maker, Model, Twin
from records import BF16, INT32, UINT32

import gpsimd_core as gp

POLICIES: list[dict[str, Any]] = [
    {},
    {"reduce_nan": "propagate", "fp_to_int": "wrap"},
    {"reduce_nan": "select", "fp8_overflow": "ieee", "fp32r_mantissa_bits": 13},
]
EITHER = (
    "ADD_INT",
    "MULT_INT",
    "SUBTRACT_INT",
    "DIVIDE_INT",
    "MOD_INT",
    "IS_EQUAL_INT",
    "IS_NE_INT",
    "ABS_DIFF_INT",
    "MOD",
)
SIGNED = ("ABS_MAX_INT", "ABS_MIN_INT", "MAX_INT", "MIN_INT", "IS_GT_INT", "IS_GE_INT", "IS_LE_INT", "IS_LT_INT")
UNSIGNED = (
    "MAX_UINT", "MIN_UINT", "IS_GT_UINT", "IS_GE_UINT", "IS_LE_UINT", "IS_LT_UINT", "MULT_UINT", "DIVIDE_UINT", "MOD_UINT",
)  # fmt: skip


def band(gen: str, dtype: int) -> tuple[str, ...]:
    """The integer operators that a dtype takes on a generation."""
    if gen == "sunda":
        return ("ADD_INT", "MULT_INT", "SUBTRACT_INT", "MOD")
    return (*EITHER, *(SIGNED if dtype in (INT32, INT64) else UNSIGNED))


def patterns(maker: Maker, channels: int, x: Any, y: Any, dst: Any) -> dict[str, Any]:
    return {
        "num_active_channels": channels, "src0_dtype": x.dtype, "src1_dtype": y.dtype, "out_dtype": dst.dtype,
        "src0": maker.pattern(x, channels), "src1": maker.pattern(y, channels), "dst": maker.pattern(dst, channels),
    }  # fmt: skip


def pairs(model: Model, rows: tuple[Any, Any], value: Callable[[int, int], int]) -> list[list[int]]:
    return [[value(a, b) for a, b in zip(*both, strict=True)] for both in zip(*rows, strict=True)]


def floating(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    nums = [maker.split(maker.count(channels), 3)] * 2
    x, y = two_sources(maker, channels, (rng.choice(PLAIN), rng.choice(PLAIN)), nums)
    dst = maker.target(channels, rng.choice(OUT), maker.split(math.prod(nums[0]), 3))
    op = rng.choice(arith(maker.gen))

    def effect(model: Model) -> None:
        rows = model.hub(x, channels), model.hub(y, channels)
        found = pairs(model, rows, lambda a, b: alu32(op, a, b, model.policies.reduce_nan))
        model.write(dst, [[model.narrow(bits, dst.dtype) for bits in row] for row in found])

    return Case("tensor_tensor_arith_op", {**patterns(maker, channels, x, y, dst), "op": op}, effect, [x, y])


def integers(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype = rng.choice([INT32, UINT32] if maker.gen == "sunda" else [INT32, UINT32, INT64, UINT64])
    x, y = two_sources(maker, channels, (dtype, dtype), [maker.split(count, 3) for _ in range(2)], psum=False)
    dst = maker.operand(channels, dtype, maker.split(count, 3), region="sbuf")
    op = rng.choice(band(maker.gen, dtype))

    def effect(model: Model) -> None:
        rows = model.read(x, channels), model.read(y, channels)
        model.write(dst, pairs(model, rows, lambda a, b: alu_integer(op, a, b, dtype)))

    fill = dict.fromkeys(range(2), lambda r: ladder(r, dtype))
    fields = {**patterns(maker, channels, x, y, dst), "op": op}
    return Case("tensor_tensor_arith_op", fields, effect, [x, y], fill=fill, engine="pool")


def raw(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    wide = maker.gen != "sunda" and rng.random() < 0.4
    dtype = rng.choice([INT64, UINT64]) if wide else rng.choice(INTS)
    op = rng.choice(bitvec(dtype))
    second = UINT32 if wide and "SHIFT" in op else dtype
    x, y = two_sources(maker, channels, (dtype, second), [maker.split(count, 3) for _ in range(2)], psum=not wide)
    dst = (
        maker.operand(channels, dtype, maker.split(count, 3), region="sbuf")
        if wide
        else maker.target(channels, dtype, maker.split(count, 3))
    )

    def effect(model: Model) -> None:
        rows = model.read(x, channels), model.read(y, channels)
        model.write(dst, pairs(model, rows, lambda a, b: alu_bits(op, a, b, dtype)))

    fill = {1: lambda r: r.choice([0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 200])} if "SHIFT" in op else {}
    return Case(
        "tensor_tensor_bitvec_op", {**patterns(maker, channels, x, y, dst), "op": op}, effect, [x, y], fill=fill
    )


def packed(maker: Maker) -> Case:
    """0x8A, 0x8B, 0x8F: bf16, innermost step 1 and an even innermost count."""
    rng = maker.rng
    channels = maker.channels()
    inner, outer = rng.choice([2, 4]), maker.count(channels, most=8)
    op, name = rng.choice([("ADD", "add"), ("MULT", "mult"), ("SUBTRACT", "sub")])
    x, y, dst = (maker.operand(channels, BF16, (inner, outer, 1), region="sbuf") for _ in range(3))
    for o in (x, y, dst):
        o.step = (1, rng.choice([inner, inner + 1, -inner, 0]), 1)
        maker.place(o)
    y.partition = x.partition

    def effect(model: Model) -> None:
        rows = model.hub(x, channels), model.hub(y, channels)
        found = pairs(model, rows, lambda a, b: alu32(op, a, b))
        model.write(dst, [[model.narrow(bits, BF16) for bits in row] for row in found])

    fields = {**patterns(maker, channels, x, y, dst), "op": op}
    return Case(f"tensor_tensor_{name}_bf16", fields, effect, [x, y])


MAKES = (floating, integers, raw)


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_cases(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """At least 200 cases of each over all parameters."""
    twin = Twin(load(gen, policies=policies))
    for n in range(14):
        for make in MAKES:
            maker = WideMaker(gen, twin.policies, f"{make.__name__}-{n}-{gen}", 500 if n == 0 else 70)
            twin.run(maker, make(maker))


@pytest.mark.parametrize("seed", range(5))
def test_random_packed_forms(load: Load, seed: int) -> None:
    """200 cases over all seeds."""
    twin = Twin(load("sunda"))
    for n in range(40):
        maker = twin.maker(f"packed-{seed}-{n}", 60)
        twin.run(maker, packed(maker))


def test_the_uncompiled_kernel_agrees(load: Load) -> None:
    twin = Twin(load("cayman"), compiled=False)
    for n in range(6):
        for make in MAKES:
            maker = WideMaker("cayman", twin.policies, f"slow-{make.__name__}-{n}", 40)
            twin.run(maker, make(maker))


# Named facts ----------------------------------------------------------------------------------------------------------------


def once(load: Load, a: Any, b: Any, op: str, dtype: str, out: str | None = None, gen: str = "cayman") -> Any:
    """op on two arrays of one shape, through 0x41 or 0x51."""
    machine = load(gen)
    core = gp.NeuronCore(machine)
    core.sbuf.write(a, 0, 0)
    core.sbuf.write(b, 0, 4096)
    name = "tensor_tensor_bitvec_op" if op.startswith("BITWISE") or "SHIFT" in op else "tensor_tensor_arith_op"
    record = machine.encode(
        name, src0=gp.Tensor(dtype=dtype, shape=a.shape), src1=gp.Tensor(offset=4096, dtype=b.dtype, shape=b.shape),
        dst=gp.Tensor(offset=8192, dtype=out or dtype, shape=a.shape), op=op,
    )  # fmt: skip
    core.run(record)
    return core.sbuf.read(0, 8192, shape=a.shape, dtype=out or dtype)


def test_the_operator_decides_between_fp32_and_integers_never_the_dtype(load: Load) -> None:
    a, b = np.int32([[0x01000001, 0x7FFFFFFF]]), np.int32([[1, 1]])
    assert once(load, a, b, "ADD", "int32").tolist() == [[0x01000000, 0x7FFFFFFF]]  # ties to even, saturates
    assert once(load, a, b, "ADD_INT", "int32").tolist() == [[0x01000002, -0x80000000]]


def test_integer_division_corners(load: Load) -> None:
    a, b = np.int32([[-7, 7, 5, -(1 << 31)]]), np.int32([[2, -2, 0, -1]])
    assert once(load, a, b, "DIVIDE_INT", "int32").tolist() == [[-3, -3, -1, -(1 << 31)]]
    assert once(load, a, b, "MOD_INT", "int32").tolist() == [[-1, 1, 5, 0]]
    assert once(load, a, b, "MOD", "int32").tolist() == [[-1, 1, 5, 0]]
    u = np.uint32([[7, 0xFFFFFFFF]])
    assert once(load, u, np.uint32([[0, 2]]), "DIVIDE_UINT", "uint32").tolist() == [[0xFFFFFFFF, 0x7FFFFFFF]]


def test_sixty_four_bit_sums_carry_between_their_halves(load: Load) -> None:
    a, b = np.int64([[0xFFFFFFFF, -1, 1 << 62]]), np.int64([[1, 1, 1 << 62]])
    assert once(load, a, b, "ADD_INT", "int64").tolist() == [[1 << 32, 0, -(1 << 63)]]
    assert once(load, a, b, "IS_GT_INT", "int64").tolist() == [[1, 0, 0]]


def test_sixty_four_bit_shifts_count_by_words(load: Load) -> None:
    a = np.uint64([[1, 1, 1 << 63]])
    found = once(load, a, np.uint32([[40, 64, 63]]), "LOGICAL_SHIFT_LEFT", "uint64")
    assert found.tolist() == [[1 << 40, 0, 0]]
    assert once(load, a, np.uint32([[0, 1, 63]]), "LOGICAL_SHIFT_RIGHT", "uint64").tolist() == [[1, 0, 1]]


def test_sixty_four_bits_exist_from_cayman_on(machine: gp.Machine) -> None:
    tensor = [gp.Tensor(offset=64 * n, dtype="int64", shape=(1, 2)) for n in range(3)]
    record = machine.encode("tensor_tensor_arith_op", src0=tensor[0], src1=tensor[1], dst=tensor[2], op="ADD_INT")
    assert machine.validate(record).ok == (machine.generation.name != "sunda")


def test_the_integer_band_runs_on_pool_and_the_rest_on_dve(load: Load) -> None:
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    tensor = [gp.Tensor(offset=64 * n, dtype="int32", shape=(1, 2)) for n in range(3)]
    for op, engine in (("ADD_INT", "pool"), ("ADD", "dve")):
        record = machine.encode("tensor_tensor_arith_op", src0=tensor[0], src1=tensor[1], dst=tensor[2], op=op)
        assert core.run(record).steps[0].engine == engine


def test_narrow_elements_shift_at_their_own_width(load: Load) -> None:
    a, b = np.uint8([[0x81, 0x81, 0x81]]), np.uint8([[1, 7, 8]])
    assert once(load, a, b, "LOGICAL_SHIFT_LEFT", "uint8").tolist() == [[2, 0x80, 0]]
    assert once(load, a, b, "LOGICAL_SHIFT_RIGHT", "uint8").tolist() == [[0x40, 1, 0]]


def test_an_arithmetic_nan_has_one_code(load: Load) -> None:
    """Whatever the host's sign: inf - inf and 0 x inf."""
    a, b = np.float32([[np.inf, 0, np.nan]]), np.float32([[-np.inf, np.inf, 1]])
    for op in ("ADD", "MULT"):
        codes = once(load, a, b, op, "fp32").view(np.uint32)
        assert codes[0, 0 if op == "ADD" else 1] == 0x7FC00000
        assert codes[0, 2] == 0x7FC00000


def test_a_source_may_be_the_destination_and_may_overlap_it(load: Load) -> None:
    """In place element by element; shifted by one element, everything is read first."""
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.float32([[1, 2, 3, 4, 5]]), 0, 0)

    def double(at: int) -> None:
        tensor = gp.Tensor(dtype="fp32", shape=(1, 4))
        dst = gp.Tensor(offset=at, dtype="fp32", shape=(1, 4))
        core.run(machine.encode("tensor_tensor_arith_op", src0=tensor, src1=tensor, dst=dst, op="ADD"))

    double(0)
    assert core.sbuf.read(0, 0, shape=(1, 5), dtype="fp32").tolist() == [[2, 4, 6, 8, 5]]
    double(4)
    assert core.sbuf.read(0, 0, shape=(1, 5), dtype="fp32").tolist() == [[2, 4, 8, 12, 16]]


def test_a_long_channel_goes_in_pieces_and_loses_nothing(load: Load) -> None:
    rng = np.random.default_rng(5)
    for dtype in (np.float32, ml_dtypes.bfloat16):
        machine = load("cayman")
        core = gp.NeuronCore(machine)
        a, b = rng.standard_normal((3, 5000)).astype(dtype), rng.standard_normal((3, 5000)).astype(dtype)
        core.sbuf.write(a, 0, 0)
        core.sbuf.write(b, 0, 0x8000)
        record = machine.encode(
            "tensor_tensor_arith_op", src0=gp.Tensor(dtype=dtype, shape=(3, 5000)),
            src1=gp.Tensor(offset=0x8000, dtype=dtype, shape=(3, 5000)),
            dst=gp.Tensor(offset=0x10000, dtype="fp32", shape=(3, 5000)), op="MULT",
        )  # fmt: skip
        core.run(record)
        found = core.sbuf.read(0, 0x10000, shape=(3, 5000), dtype="fp32")
        assert (found == a.astype(np.float32) * b.astype(np.float32)).all()


def drawn(seed: int, index: int) -> int:
    """The upper half of splitmix64(seed + index)."""
    ones = (1 << 64) - 1
    z = (seed + index + 0x9E3779B97F4A7C15) & ones
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & ones
    z = (z ^ z >> 27) * 0x94D049BB133111EB & ones
    return (z ^ z >> 31) >> 32


def test_stochastic_rounding_numbers_the_elements_channel_by_channel(load: Load) -> None:
    """Also where a channel goes in pieces; the kept bits step up when the dropped ones exceed the element's draw."""
    machine = load("cayman", policies={"stochastic_rounding": 7})
    core = gp.NeuronCore(machine)
    x = np.random.default_rng(4).uniform(1, 2, (3, 2500)).astype(np.float32)
    core.sbuf.write(x, 0, 0)
    core.sbuf.write(np.zeros_like(x), 0, 0x8000)
    tensors = [gp.Tensor(offset=at, dtype="fp32", shape=x.shape) for at in (0, 0x8000)]
    dst = gp.Tensor(offset=0x10000, dtype="bf16", shape=x.shape)
    core.run(machine.encode("tensor_tensor_arith_op", src0=tensors[0], src1=tensors[1], dst=dst, op="ADD"))
    found = core.sbuf.read(0, 0x10000, shape=x.shape, dtype="bf16").view(np.uint16).ravel().tolist()
    bits = x.view(np.uint32).ravel().tolist()
    assert found == [(b >> 16) + ((b & 0xFFFF) << 16 > drawn(7, n)) for n, b in enumerate(bits)]


# POW ------------------------------------------------------------------------------------------------------------------------


def ulps(found: int, base: int, exponent: int) -> float:
    """How far fp32 bits lie from a power to 50 digits, in units of the last place."""
    with gmpy2.context(gmpy2.get_context(), precision=200, emin=-10000, emax=10000):
        values = [gmpy2.mpfr(float(np.uint32(b).view(np.float32))) for b in (base, exponent, found)]
        exact = values[0] ** values[1]
        number = float(np.uint32(found).view(np.float32))
        if not math.isfinite(number):
            return 0.0 if exact >= gmpy2.mpfr(2) ** 128 * (1 - gmpy2.mpfr(2) ** -25) else math.inf
        unit = gmpy2.mpfr(2) ** (max(math.frexp(abs(number) or 2.0**-149)[1] - 24, -149))
        return float(abs(values[2] - exact) / unit)


def test_pow_is_within_one_ulp(load: Load) -> None:
    rng = np.random.default_rng(3)
    base = np.abs(rng.standard_normal((4, 100)) * np.float64(10) ** rng.integers(-20, 20, (4, 100))).astype(np.float32)
    exponent = (rng.standard_normal((4, 100)) * np.float64(10) ** rng.integers(-3, 2, (4, 100))).astype(np.float32)
    base[0, :20], exponent[0, :20] = 1 + np.arange(20) * 2.0**-23, 1e7  # near 1, where a logarithm is small
    found = once(load, base, exponent, "POW", "fp32").view(np.uint32)
    worst = max(
        ulps(int(f), int(b), int(e))
        for f, b, e in zip(found.ravel(), base.view(np.uint32).ravel(), exponent.view(np.uint32).ravel(), strict=True)
    )
    assert worst <= 1


def test_pow_of_powers_of_two_is_exact(load: Load) -> None:
    a, b = np.float32([[2, 2, 4, -2, -2, 0.5]]), np.float32([[10, -3, 0.5, 3, 2, 126]])
    assert once(load, a, b, "POW", "fp32").tolist() == [[1024, 0.125, 2, -8, 4, 2.0**-126]]


def test_pow_stays_out_of_psum(load: Load) -> None:
    machine = load("cayman")
    tensors = [gp.Tensor(offset=64 * n, dtype="fp32", shape=(1, 2)) for n in range(2)]
    dst = gp.Tensor("psum", dtype="fp32", shape=(1, 2))
    record = machine.encode("tensor_tensor_arith_op", src0=tensors[0], src1=tensors[1], dst=dst, op="POW")
    assert "pow_in_sbuf[dst]" in [v.rule for v in machine.validate(record).violations]
