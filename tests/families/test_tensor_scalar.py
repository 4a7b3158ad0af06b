"""tensor_scalar (0x43, 0x53, transposing 0x93, by pointer 0x44, 0x54) and the preloaded forms (0x70, 0x71, 0x4F, 0x5F),
against references that go one element at a time.

Titles: Tensor-Scalar + Tensor-Scalar-PTR; SUNDA-only Dual / Deprecated TensorScalarPtr; TensorScalarImmLd; settled
readings 14, 20, 25 and 27 (docs/decisions.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from alu_model import (
    REDUCE_DTYPES,
    alu32,
    alu_bits,
    alu_integer,
    arith,
    bitvec,
    ladder,
    swapped,
    transposed,
)
from family_model import GENERATIONS, INTS, OUT, PLAIN, Case, Load, Maker, Model, Operand, Scalar, Twin
from records import FP32, INT32, SIZE, UINT32
from value_cases import specials

import gpsimd_core as gp

POLICIES: list[dict[str, Any]] = [
    {},
    {"reduce_nan": "propagate", "fp_to_int": "rtz_saturate", "fp8_exp4": "ocp"},
    {"reduce_nan": "select", "fp_to_int": "wrap", "fp32r_mantissa_bits": 10},
]
SHIFTS = [0, 1, 3, 7, 8, 16, 31, 32, 33, 255]
INTEGER_OPERATORS = (
    "ADD_INT", "MULT_INT", "SUBTRACT_INT", "IS_EQUAL_INT", "IS_NE_INT", "ABS_MAX_INT", "ABS_MIN_INT", "ABS_DIFF_INT",
    "MAX_INT", "MIN_INT", "IS_GT_INT", "IS_GE_INT", "IS_LE_INT", "IS_LT_INT",
)  # fmt: skip


def patterns(maker: Maker, channels: int, src: Operand, dst: Operand) -> dict[str, Any]:
    return {
        "num_active_channels": channels, "in_dtype": src.dtype, "out_dtype": dst.dtype,
        "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
    }  # fmt: skip


def both(value: Callable[..., int], ops: tuple[str, str], reverse: int, x: int, scalars: tuple[int, int]) -> int:
    first, second = swapped(reverse)
    t = value(ops[0], *((scalars[0], x) if first else (x, scalars[0])))
    return value(ops[1], *((scalars[1], t) if second else (t, scalars[1])))


def scalar32(maker: Maker, channels: int) -> Scalar:
    bits = maker.rng.choice([maker.rng.getrandbits(32), *specials(FP32, maker.policies)])
    return maker.scalar(channels, FP32, inline=bits)


def pair(maker: Maker, ops: tuple[str, ...]) -> tuple[str, str]:
    """Two operators; after BYPASS comes BYPASS."""
    op0 = maker.rng.choice(ops)
    return op0, "BYPASS" if op0 == "BYPASS" else maker.rng.choice(ops)


def floating(maker: Maker, *, transposes: bool = False, points: bool = False) -> Case:
    rng = maker.rng
    channels = rng.choice([32, 32, 32, 32, 64, 96]) if transposes else maker.channels()
    count = rng.choice([32, 32, 64]) if transposes else maker.count(channels)
    src = maker.operand(channels, rng.choice(PLAIN), maker.split(count, 3))
    dst = maker.target(channels, rng.choice(OUT), maker.split(count, 3))
    ops, reverse = pair(maker, arith(maker.gen)), rng.randrange(4)
    scalars = [pointer(maker, channels, FP32) if points else scalar32(maker, channels) for _ in range(2)]
    if rng.random() < 0.1 and not points:
        ops, scalars = ("RSQRT", "BYPASS"), [Scalar(FP32), Scalar(FP32)]
    fields = {**patterns(maker, channels, src, dst), "op0": ops[0], "op1": ops[1], "reverse_operands": reverse}
    for n, scalar in enumerate(scalars):
        fields |= scalar.fields(maker.gen, f"imm{n}", f"imm{n}_src")
        fields |= {f"imm{n}_src": 0} if points else {}

    def effect(model: Model) -> None:
        rows = model.hub(src, channels)
        rows = transposed(rows) if transposes else rows
        given = [(scalars[0].code(model, c), scalars[1].code(model, c)) for c in range(channels)]

        def value(op: str, a: int, b: int) -> int:
            return alu32(op, a, b, model.policies.reduce_nan)

        found = [[both(value, ops, reverse, x, given[c]) for x in row] for c, row in enumerate(rows)]
        model.write(dst, [[model.narrow(bits, dst.dtype) for bits in row] for row in found])

    name = "tensor_scalar_ptr_arith_op" if points else "tensor_scalar_arith_op"
    name = "transpose_tensor_scalar_arith_op" if transposes else name
    return Case(name, fields, effect, [src, *(s.place for s in scalars if s.place)])


def pointer(maker: Maker, channels: int, dtype: int) -> Scalar:
    place = maker.place(Operand(maker.region(), maker.start(channels), 0, dtype))
    return Scalar(dtype, place=place)


def transposing(maker: Maker) -> Case:
    return floating(maker, transposes=True)


def pointing(maker: Maker) -> Case:
    return floating(maker, points=True)


def raw(maker: Maker, *, points: bool = False) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype = rng.choice(INTS)
    src = maker.operand(channels, dtype, maker.split(count, 3))
    dst = maker.target(channels, dtype, maker.split(count, 3))
    ops, reverse = pair(maker, bitvec(dtype)), rng.randrange(4)
    if SIZE[dtype] < 4 and "LEFT" in ops[0] and "RIGHT" in ops[1]:
        ops = ops[0], "BITWISE_XOR"
    scalars = [pointer(maker, channels, dtype) if points else raw_scalar(maker, channels, dtype) for _ in range(2)]
    fields = {**patterns(maker, channels, src, dst), "op0": ops[0], "op1": ops[1], "reverse_operands": reverse}
    for n, scalar in enumerate(scalars):
        fields |= scalar.fields(maker.gen, f"imm{n}", f"imm{n}_src")
        fields |= {f"imm{n}_src": 0} if points else {}

    def effect(model: Model) -> None:
        rows = model.read(src, channels)
        given = [(scalars[0].code(model, c), scalars[1].code(model, c)) for c in range(channels)]

        def value(op: str, a: int, b: int) -> int:
            return alu_bits(op, a, b, dtype)

        model.write(dst, [[both(value, ops, reverse, x, given[c]) for x in row] for c, row in enumerate(rows)])

    sources = [src, *(s.place for s in scalars if s.place)]
    fill = {i: (lambda r: r.choice(SHIFTS)) for i in range(1, len(sources)) if rng.random() < 0.7}
    return Case(f"tensor_scalar{'_ptr' if points else ''}_bitvec_op", fields, effect, sources, fill=fill)


def raw_scalar(maker: Maker, channels: int, dtype: int) -> Scalar:
    """A scalar of an integer dtype; in memory it lies at a multiple of four bytes, as planning demands of pointers."""
    wide = maker.scalar(channels, UINT32, inline=maker.rng.choice([*SHIFTS, maker.rng.getrandbits(32)]))
    if wide.place is None:
        return Scalar(dtype, wide.bits & ((1 << 8 * SIZE[dtype]) - 1))
    place = Operand(wide.place.region, wide.place.partition, wide.place.offset, dtype)
    return Scalar(dtype, place=place, register=wide.register)


def pointing_raw(maker: Maker) -> Case:
    return raw(maker, points=True)


def integers(maker: Maker, *, points: bool = False) -> Case:
    """maverick: integer operators on DVE, raw 32-bit scalars."""
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype = rng.choice([INT32, UINT32])
    src = maker.operand(channels, dtype, maker.split(count, 3), region="sbuf")
    dst = maker.operand(channels, dtype, maker.split(count, 3), region="sbuf")
    ops = rng.choice(INTEGER_OPERATORS), rng.choice([*INTEGER_OPERATORS, "BYPASS"])
    reverse = rng.randrange(4)
    scalars = [
        pointer(maker, channels, UINT32) if points else maker.scalar(channels, UINT32, inline=ladder(rng, UINT32))
        for _ in range(2)
    ]
    fields = {**patterns(maker, channels, src, dst), "op0": ops[0], "op1": ops[1], "reverse_operands": reverse}
    for n, scalar in enumerate(scalars):
        fields |= scalar.fields(maker.gen, f"imm{n}", f"imm{n}_src")
        fields |= {f"imm{n}_src": 0} if points else {}

    def effect(model: Model) -> None:
        rows = model.read(src, channels)
        given = [(scalars[0].code(model, c), scalars[1].code(model, c)) for c in range(channels)]

        def value(op: str, a: int, b: int) -> int:
            return alu_integer(op, a, b, dtype)

        model.write(dst, [[both(value, ops, reverse, x, given[c]) for x in row] for c, row in enumerate(rows)])

    sources = [src, *(s.place for s in scalars if s.place)]
    fill = {i: (lambda r: ladder(r, dtype)) for i in range(len(sources))}
    return Case(f"tensor_scalar{'_ptr' if points else ''}_arith_op", fields, effect, sources, fill=fill)


MAKES = (floating, raw, transposing, pointing, pointing_raw)


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_cases(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """At least 200 cases of each over all parameters."""
    twin = Twin(load(gen, policies=policies))
    for n in range(14):
        for make in MAKES:
            maker = twin.maker(f"{make.__name__}-{n}", 400 if n == 0 else 60)
            twin.run(maker, make(maker))


@pytest.mark.parametrize("points", [False, True])
def test_random_integers_on_maverick(load: Load, points: bool) -> None:
    """200 cases of each."""
    twin = Twin(load("maverick"))
    for n in range(200):
        maker = twin.maker(f"integers-{points}-{n}", 40)
        twin.run(maker, integers(maker, points=points))


def test_the_uncompiled_kernels_agree(load: Load) -> None:
    twin = Twin(load("maverick"), compiled=False)
    for n in range(3):
        for make in (*MAKES, integers):
            maker = twin.maker(f"slow-{make.__name__}-{n}", 40)
            twin.run(maker, make(maker))


# Preloaded scalars ----------------------------------------------------------------------------------------------------------


def sliced(maker: Maker, band: str) -> tuple[Case, Case]:
    """A preload and the instruction that uses it; both start at one partition."""
    rng = maker.rng
    channels, slices = maker.channels(), rng.randint(1, 8)
    partition = maker.start(channels)
    loaded = rng.randint(slices, 8)
    each = rng.choice([1, 2, 3, 6])
    dtype = rng.choice(PLAIN) if band == "arith" else rng.choice(REDUCE_DTYPES)
    out = rng.choice(OUT) if band == "arith" else dtype
    scalar_dtype = rng.choice(PLAIN) if band == "arith" else dtype
    scalars = maker.operand(channels, scalar_dtype, maker.split(loaded, 2), partition=partition)
    src = maker.operand(channels, dtype, (*maker.split(each, 3), slices))
    dst = maker.target(channels, out, maker.split(each * slices, 4))
    dst.partition = partition
    op = rng.choice(arith(maker.gen) if band == "arith" else bitvec(dtype))
    reverse = rng.choice([0, 3])
    load = Case(
        f"tensor_scalar_imm_ld_{band}",
        {"num_active_channels": channels, "dtype": scalar_dtype, "src": scalars.pattern(maker.gen)},
        lambda model: None,
        [scalars],
    )
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": out, "op": op, "reverse_operands": reverse,
        "src": src.pattern(maker.gen), "dst": dst.pattern(maker.gen),
    }  # fmt: skip
    kept: list[list[int]] = []

    def keep(model: Model) -> None:
        rows = model.hub(scalars, channels) if band == "arith" else model.read(scalars, channels)
        kept[:] = rows

    def effect(model: Model) -> None:
        rows = model.hub(src, channels) if band == "arith" else model.read(src, channels)
        found = []
        for c, row in enumerate(rows):
            results = []
            for k, x in enumerate(row):
                s = kept[c][k // each]
                a, b = (s, x) if reverse else (x, s)
                if band == "arith":
                    results.append(model.narrow(alu32(op, a, b, model.policies.reduce_nan), out))
                else:
                    results.append(alu_bits(op, a, b, dtype))
            found.append(results)
        model.write(dst, found)

    load.effect = keep
    return load, Case(f"tensor_scalar_ptr_multi_{band}", fields, effect, [src])


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_preloaded_scalars(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """At least 200 pairs of each band over all parameters."""
    twin = Twin(load(gen, policies=policies))
    for n in range(14):
        for band in ("arith", "bitvec"):
            maker = twin.maker(f"sliced-{band}-{n}", 60)
            first, then = sliced(maker, band)
            twin.run(maker, first)
            twin.run(maker, then)


def test_fewer_scalars_than_rows_is_a_fault_and_so_is_none(load: Load) -> None:
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.ones((2, 8), np.float32), 0, 0)
    source = gp.Tensor(dtype="fp32", shape=(2, 3, 1, 1, 2))
    use = machine.encode(
        "tensor_scalar_ptr_multi_arith", src=source, dst=gp.Tensor(offset=64, dtype="fp32", shape=(2, 6)), op="ADD"
    )
    with pytest.raises(gp.Fault, match="lane 0 holds 0 preloaded scalars and 3 are needed"):
        core.run(use)
    core.run(machine.encode("tensor_scalar_imm_ld_arith", src=gp.Tensor(dtype="fp32", shape=(2, 2))))
    with pytest.raises(gp.Fault, match="holds 2 preloaded scalars and 3 are needed"):
        core.run(use)
    core.run(machine.encode("tensor_scalar_imm_ld_arith", src=gp.Tensor(dtype="fp32", shape=(2, 3))))
    core.run(use)
    assert core.sbuf.read(0, 64, shape=(2, 6), dtype="fp32").tolist() == [[2] * 6] * 2


# Named facts ----------------------------------------------------------------------------------------------------------------


def once(
    load: Load,
    x: Any,
    dtype: str,
    out: str | None = None,
    name: str = "tensor_scalar_arith_op",
    gen: str = "cayman",
    **fields: Any,
) -> Any:
    machine = load(gen)
    core = gp.NeuronCore(machine)
    core.sbuf.write(x, 0, 0)
    record = machine.encode(
        name,
        src=gp.Tensor(dtype=dtype, shape=x.shape),
        dst=gp.Tensor(offset=8192, dtype=out or dtype, shape=x.shape),
        **fields,
    )
    core.run(record)
    return core.sbuf.read(0, 8192, shape=x.shape, dtype=out or dtype)


def test_bypass_with_first_gives_the_scalar(load: Load) -> None:
    x = np.float32([[1, 2]])
    found = once(load, x, "fp32", op0="BYPASS", op1="BYPASS", imm0=7.0, reverse_operands="FIRST")
    assert found.tolist() == [[7, 7]]


def test_each_operator_rounds_and_the_store_converts_once(load: Load) -> None:
    x = np.float32([[16777216, 1]])
    found = once(load, x, "fp32", op0="ADD", imm0=1.0, op1="SUBTRACT", imm1=16777216.0)
    assert found.tolist() == [[0, -16777214]]  # 2^24 + 1 ties to 2^24
    assert once(load, np.float32([[2.5, 3.5]]), "fp32", "int8", op0="MULT", imm0=1.0, op1="ADD", imm1=0.0).tolist() == [
        [2, 4]
    ]


def test_rsqrt_is_correctly_rounded(load: Load) -> None:
    rng = np.random.default_rng(1)
    x = np.abs(rng.standard_normal((4, 500)) * np.float64(10) ** rng.integers(-37, 37, (4, 500))).astype(np.float32)
    x[0, :5] = [4, 0.0, -0.0, np.inf, -1]
    found = once(load, x, "fp32", op0="RSQRT", op1="BYPASS").view(np.uint32)
    wanted = [[alu32("RSQRT", int(b), 0) for b in row] for row in x.view(np.uint32)]
    assert found.tolist() == wanted


@pytest.mark.parametrize("op", ["DIVIDE", "POW", "MOD"])
def test_divide_pow_and_mod_are_refused(machine: gp.Machine, op: str) -> None:
    tensor = gp.Tensor(dtype="fp32", shape=(1, 2))
    record = machine.encode(
        "tensor_scalar_arith_op", src=tensor, dst=gp.Tensor(offset=64, dtype="fp32", shape=(1, 2)), op0=op
    )
    assert "operator_in[op0]" in [v.rule for v in machine.validate(record).violations]


def test_crc32_validates_and_is_not_supported(load: Load) -> None:
    machine = load("cayman")
    tensor = gp.Tensor(dtype="uint32", shape=(1, 2))
    record = machine.encode(
        "tensor_scalar_bitvec_op",
        src=tensor,
        dst=gp.Tensor(offset=64, dtype="uint32", shape=(1, 2)),
        op0="CRC32",
        op1="CRC32",
    )
    assert machine.validate(record).ok
    with pytest.raises(gp.Unsupported, match="CRC32"):
        gp.NeuronCore(machine).run(record)


def test_the_transposing_form_transposes_before_it_computes(load: Load) -> None:
    x = np.float32(np.arange(32 * 64).reshape(32, 64))
    found = once(load, x, "fp32", name="transpose_tensor_scalar_arith_op", op0="ADD", imm0=1.0, op1="BYPASS")
    wanted = np.concatenate([x[:, :32].T, x[:, 32:].T], axis=1) + 1
    assert (found == wanted).all()


def test_the_transposing_form_works_in_place(load: Load) -> None:
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    x = np.float32(np.arange(32 * 2048).reshape(32, 2048))
    core.sbuf.write(x, 0, 0)
    tensor = gp.Tensor(dtype="fp32", shape=(32, 2048))
    core.run(
        machine.encode("transpose_tensor_scalar_arith_op", src=tensor, dst=tensor, op0="MULT", imm0=2.0, op1="BYPASS")
    )
    wanted = np.concatenate([x[:, k : k + 32].T for k in range(0, 2048, 32)], axis=1) * 2
    assert (core.sbuf.read(0, 0, shape=(32, 2048), dtype="fp32") == wanted).all()


def test_pointer_forms_read_one_scalar_a_channel(load: Load) -> None:
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.float32([[1, 2], [3, 4]]), 0, 0)
    core.sbuf.write(np.float32([[10], [20]]), 0, 256)
    record = machine.encode(
        "tensor_scalar_ptr_arith_op", src=gp.Tensor(dtype="fp32", shape=(2, 2)), imm0=gp.Bits(256), imm1=gp.Bits(256),
        dst=gp.Tensor(offset=64, dtype="fp32", shape=(2, 2)), op0="ADD", op1="MULT",
    )  # fmt: skip
    core.run(record)
    assert core.sbuf.read(0, 64, shape=(2, 2), dtype="fp32").tolist() == [[110, 120], [460, 480]]


def test_a_destination_written_twice_keeps_the_last_value_and_reads_come_first(load: Load) -> None:
    """Source and destination are one element, twice: the second result starts from the old value as well."""
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.float32([[1]]), 0, 0)
    tensor = {"addr": 0, "num": (2,), "step": (0,)}
    record = machine.encode(
        "tensor_scalar_arith_op", src=tensor, dst=tensor, in_dtype=10, out_dtype=10, num_active_channels=1, op0="ADD",
        imm0=1.0, op1="BYPASS",
    )  # fmt: skip
    core.run(record)
    assert core.sbuf.read(0, 0, shape=(1, 1), dtype="fp32")[0, 0] == 2
