"""tensor_reduce (0x42, 0x52, transposing 0x83, 0x84), sunda's packed forms (0x8C, 0x8D) and tensor_cumulative (0x4E,
0x5E), against references that go one element at a time.

Titles: Tensor-Reduce (cross-partition); TensorCumulative (0x4E/0x5E); settled readings 7, 17, 19, 26
and 27 (docs/decisions.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import fp32_model as fp32
import numpy as np
import pytest
from alu_model import (
    INT64,
    REDUCE_DTYPES,
    UINT64,
    WideMaker,
    alu32,
    alu_bits,
    alu_integer,
    arith,
    ladder,
    legal_bitvec,
    transposed,
)
from family_model import GENERATIONS, OUT, PLAIN, Case, Load, Maker, Model, Operand, Twin, signed
from records import BF16, INT32, UINT32
from value_model import is_nan32

import gpsimd_core as gp

POLICIES: list[dict[str, Any]] = [
    {},
    {"reduce_nan": "propagate", "fp_to_int": "rtz_saturate"},
    {"reduce_nan": "select", "fp8_overflow": "saturate"},
]
X, XY, XYZ, XYZW = 2, 3, 4, 5
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
SIGNED = ("ABS_MAX_INT", "ABS_MIN_INT", "MAX_INT", "MIN_INT", "IS_GT_INT", "IS_LE_INT")
UNSIGNED = ("MAX_UINT", "MIN_UINT", "IS_GE_UINT", "IS_LT_UINT", "MULT_UINT", "DIVIDE_UINT", "MOD_UINT")
ARGUMENTS = ("ARGMAX_INT", "ARGMIN_INT", "ARGMAX_UINT", "ARGMIN_UINT")


def band(gen: str, dtype: int) -> tuple[str, ...]:
    if gen == "sunda":
        return ("ADD_INT", "MULT_INT", "SUBTRACT_INT", "MOD")
    return (*EITHER, *(SIGNED if dtype in (INT32, INT64) else UNSIGNED))


def shape(maker: Maker, *, transposes: bool = False) -> tuple[int, tuple[int, ...], int, int]:
    """Channels, source counts, op_dim, and how many elements a fold takes."""
    rng = maker.rng
    channels = rng.choice([32, 32, 32, 64]) if transposes else maker.channels()
    num = maker.split(rng.choice([32, 32, 64]) if transposes else maker.count(channels), 4)
    op_dim = rng.choice([X, XY, XYZ, XYZW])
    return channels, num, op_dim, math.prod(num[: op_dim - 1])


def fields_of(maker: Maker, channels: int, src: Operand, dst: Operand, op: str, op_dim: int) -> dict[str, Any]:
    return {
        "num_active_channels": channels, "in_dtype": src.dtype, "out_dtype": dst.dtype, "op": op, "op_dim": op_dim,
        "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
    }  # fmt: skip


def blocks(rows: list[list[int]], inner: int) -> list[list[list[int]]]:
    return [[row[k : k + inner] for k in range(0, len(row), inner)] for row in rows]


def fold(block: list[int], step: Callable[[int, int], int]) -> int:
    """op(new, state) from the first element on."""
    state = block[0]
    for new in block[1:]:
        state = step(new, state)
    return state


def floating(maker: Maker, *, transposes: bool = False) -> Case:
    rng = maker.rng
    channels, num, op_dim, inner = shape(maker, transposes=transposes)
    count = math.prod(num)
    src = maker.operand(channels, rng.choice(PLAIN), num)
    dst = maker.target(channels, rng.choice(OUT), maker.split(count // inner, 4))
    op, negated = rng.choice([*arith(maker.gen), "ADD", "MAX"]), rng.choice([0, 0, 1])
    fields = fields_of(maker, channels, src, dst, op, op_dim) | {"negated": negated}

    def effect(model: Model) -> None:
        rows = [[fp32.canonical(x) for x in row] for row in model.hub(src, channels)]
        rows = transposed(rows) if transposes else rows
        found = []
        for row in blocks(rows, inner):
            results = [fold(b, lambda new, state: alu32(op, new, state, model.policies.reduce_nan)) for b in row]
            results = [bits if is_nan32(bits) or not negated else fp32.negate(bits) for bits in results]
            found.append([model.narrow(bits, dst.dtype) for bits in results])
        model.write(dst, found)

    return Case(f"{'transpose_' if transposes else ''}tensor_reduce_arith_op", fields, effect, [src])


def raw(maker: Maker, *, transposes: bool = False) -> Case:
    rng = maker.rng
    channels, num, op_dim, inner = shape(maker, transposes=transposes)
    dtype = rng.choice(REDUCE_DTYPES)
    src = maker.operand(channels, dtype, num)
    dst = maker.target(channels, dtype, maker.split(math.prod(num) // inner, 4))
    op = rng.choice(legal_bitvec(dtype))

    def effect(model: Model) -> None:
        rows = model.read(src, channels)
        rows = transposed(rows) if transposes else rows
        found = [
            [fold(b, lambda new, state: alu_bits(op, new, state, dtype)) for b in row] for row in blocks(rows, inner)
        ]
        model.write(dst, found)

    name = f"{'transpose_' if transposes else ''}tensor_reduce_bitvec_op"
    return Case(name, fields_of(maker, channels, src, dst, op, op_dim), effect, [src])


def transposing(maker: Maker) -> Case:
    return floating(maker, transposes=True)


def transposing_raw(maker: Maker) -> Case:
    return raw(maker, transposes=True)


def integers(maker: Maker) -> Case:
    rng = maker.rng
    channels, num, op_dim, inner = shape(maker)
    dtype = rng.choice([INT32, UINT32] if maker.gen == "sunda" else [INT32, UINT32, INT64, UINT64])
    src = maker.operand(channels, dtype, num, region="sbuf")
    dst = maker.operand(channels, dtype, maker.split(math.prod(num) // inner, 4), region="sbuf")
    op = rng.choice(band(maker.gen, dtype))

    def effect(model: Model) -> None:
        rows = model.read(src, channels)
        found = [
            [fold(b, lambda new, state: alu_integer(op, new, state, dtype)) for b in row] for row in blocks(rows, inner)
        ]
        model.write(dst, found)

    fields = fields_of(maker, channels, src, dst, op, op_dim)
    return Case("tensor_reduce_arith_op", fields, effect, [src], fill={0: lambda r: ladder(r, dtype)}, engine="pool")


def arguments(maker: Maker) -> Case:
    rng = maker.rng
    channels, num, op_dim, inner = shape(maker)
    dtype = rng.choice([INT32, UINT32, INT64, UINT64])
    op = rng.choice(ARGUMENTS)
    src = maker.operand(channels, dtype, num, region="sbuf")
    dst = maker.operand(channels, UINT32, maker.split(math.prod(num) // inner, 4), region="sbuf")
    reads = {32: INT32, 64: INT64}[8 * src.size] if op.endswith("_INT") else None

    def best(block: list[int]) -> int:
        values = [signed(x, reads) if reads is not None else x for x in block]
        return values.index(max(values) if "MAX" in op else min(values))

    def effect(model: Model) -> None:
        model.write(dst, [[best(b) for b in row] for row in blocks(model.read(src, channels), inner)])

    fields = fields_of(maker, channels, src, dst, op, op_dim)
    return Case("tensor_reduce_arith_op", fields, effect, [src], fill={0: lambda r: ladder(r, dtype)}, engine="pool")


def cumulative(maker: Maker) -> Case:
    rng = maker.rng
    channels, num, op_dim, inner = shape(maker)
    kind = rng.choice(["float", "float", "integer", "raw"])
    dtype = rng.choice({"float": PLAIN, "integer": (INT32, UINT32), "raw": REDUCE_DTYPES}[kind])
    out = rng.choice(OUT) if kind == "float" else dtype
    src = maker.operand(channels, dtype, num)
    dst = maker.target(channels, out, maker.split(math.prod(num), 4))
    unary = ("BYPASS", "ABSOLUTE_VALUE", "RE_LU", "SQUARE", "BITWISE_NOT")
    # the scans take five integer operators; sunda has three of them
    few = [
        op for op in ("ADD_INT", "MULT_INT", "SUBTRACT_INT", "DIVIDE_INT", "MOD_INT") if op in band(maker.gen, dtype)
    ]
    choices = {"float": arith(maker.gen), "integer": few, "raw": legal_bitvec(dtype)}[kind]
    op = rng.choice([o for o in choices if o not in unary])

    def effect(model: Model) -> None:
        rows = model.hub(src, channels) if kind == "float" else model.read(src, channels)
        found = []
        for row in blocks(rows, inner):
            results = []
            for block in row:
                state = fp32.canonical(block[0]) if kind == "float" else block[0]
                results.append(state)
                for new in block[1:]:
                    if kind == "float":
                        state = alu32(op, state, new, model.policies.reduce_nan)
                    else:
                        value = alu_integer if kind == "integer" else alu_bits
                        state = value(op, state, new, dtype)
                    results.append(state)
            found.append([model.narrow(bits, out) if kind == "float" else bits for bits in results])
        model.write(dst, found)

    name = f"tensor_cumulative_{'bitvec' if kind == 'raw' else 'arith'}_op"
    fill = {0: lambda r: ladder(r, dtype)} if kind == "integer" else {}
    return Case(name, fields_of(maker, channels, src, dst, op, op_dim), effect, [src], fill=fill)


def packed(maker: Maker) -> Case:
    """0x8C and 0x8D: bf16, innermost step 1 and an even innermost count."""
    rng = maker.rng
    channels = maker.channels()
    num = (rng.choice([2, 4, 6]), rng.choice([1, 2, 3]), rng.choice([1, 2]), 1)
    op_dim = rng.choice([X, XY, XYZ])
    inner = math.prod(num[: op_dim - 1])
    op, name = rng.choice([("ADD", "add"), ("MAX", "max")])
    src = maker.place(Operand("sbuf", maker.start(channels), 0, BF16, num, (1, 7, -20, 1)))
    rest = math.prod(num) // inner
    dst = maker.place(Operand("sbuf", maker.start(channels), 0, BF16, (rest, 1, 1, 1), (1, 1, 1, 1)))

    def effect(model: Model) -> None:
        rows = [[fp32.canonical(x) for x in row] for row in model.hub(src, channels)]
        found = [[fold(b, lambda new, state: alu32(op, new, state)) for b in row] for row in blocks(rows, inner)]
        model.write(dst, [[model.narrow(bits, BF16) for bits in row] for row in found])

    return Case(f"tensor_reduce_{name}_bf16", fields_of(maker, channels, src, dst, op, op_dim), effect, [src])


MAKES = (floating, raw, transposing, transposing_raw, integers, arguments, cumulative)


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_cases(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """At least 200 cases of each over all parameters; sunda has no arg-reduce, as its operators end before."""
    twin = Twin(load(gen, policies=policies))
    makes = [m for m in MAKES if gen != "sunda" or m is not arguments]
    for n in range(17 if gen != "sunda" else 14):
        for make in makes:
            if n < 14 or make is arguments:
                maker = WideMaker(gen, twin.policies, f"{make.__name__}-{n}-{gen}", 400 if n == 0 else 70)
                twin.run(maker, make(maker))


@pytest.mark.parametrize("seed", range(4))
def test_random_packed_forms(load: Load, seed: int) -> None:
    """200 cases over all seeds."""
    twin = Twin(load("sunda"))
    for n in range(50):
        maker = twin.maker(f"packed-{seed}-{n}", 60)
        twin.run(maker, packed(maker))


def test_the_uncompiled_kernel_agrees(load: Load) -> None:
    twin = Twin(load("cayman"), compiled=False)
    for n in range(3):
        for make in MAKES:
            maker = WideMaker("cayman", twin.policies, f"slow-{make.__name__}-{n}", 40)
            twin.run(maker, make(maker))


# Named facts ----------------------------------------------------------------------------------------------------------------


def once(
    load: Load,
    x: Any,
    dtype: str,
    count: int,
    out: str | None = None,
    name: str = "tensor_reduce_arith_op",
    gen: str = "cayman",
    **fields: Any,
) -> Any:
    machine = load(gen)
    core = gp.NeuronCore(machine)
    core.sbuf.write(x.reshape(len(x), -1), 0, 0)
    record = machine.encode(
        name, src=gp.Tensor(dtype=dtype, shape=x.shape),
        dst=gp.Tensor(offset=8192, dtype=out or dtype, shape=(len(x), count)), **fields,
    )  # fmt: skip
    core.run(record)
    return core.sbuf.read(0, 8192, shape=(len(x), count), dtype=out or dtype)


def test_a_fold_starts_from_its_first_element_and_takes_the_new_one_first(load: Load) -> None:
    """3 - (2 - 1); from 0 it would be another number."""
    x = np.float32([[1, 2, 3]])
    assert once(load, x, "fp32", 1, op="SUBTRACT", op_dim="X").tolist() == [[2]]
    cumulative_of = once(load, x, "fp32", 3, name="tensor_cumulative_arith_op", op="SUBTRACT", op_dim="X")
    assert cumulative_of.tolist() == [[1, -1, -4]]  # the one family that takes the state first


def test_the_named_dimensions_fold_and_the_others_stay_in_order(load: Load) -> None:
    x = np.float32(np.arange(24).reshape(1, 2, 3, 4))
    assert once(load, x, "fp32", 6, op="ADD", op_dim="X").tolist() == [x[0].sum(-1).ravel().tolist()]
    assert once(load, x, "fp32", 2, op="ADD", op_dim="XY").tolist() == [x[0].sum((-1, -2)).tolist()]
    assert once(load, x, "fp32", 1, op="ADD", op_dim="XYZ").tolist() == [[276]]


def test_negated_flips_the_sign_of_the_result_and_leaves_nan_alone(load: Load) -> None:
    x = np.float32([[1, 2, 3], [0, -0.0, 0], [np.nan, 1, 1]])
    found = once(load, x, "fp32", 1, op="ADD", op_dim="X", negated=1).view(np.uint32)
    assert found.ravel().tolist() == [0xC0C00000, 0x80000000, 0x7FC00000]


def test_an_argument_is_the_index_inside_the_folded_block_the_first_on_ties(load: Load) -> None:
    x = np.int32([[[1, 9, 9], [9, 2, 3]], [[-5, -1, -7], [0, 0, 0]]])
    assert once(load, x, "int32", 1, "uint32", op="ARGMAX_INT", op_dim="XY").tolist() == [[1], [3]]
    assert once(load, x, "int32", 2, "uint32", op="ARGMIN_INT", op_dim="X").tolist() == [[0, 1], [2, 0]]


def test_signs_decide_an_argument(load: Load) -> None:
    x = np.int32([[1, -1]])
    assert once(load, x, "int32", 1, "uint32", op="ARGMAX_INT", op_dim="X").tolist() == [[0]]
    assert once(load, x.view(np.uint32), "uint32", 1, "uint32", op="ARGMAX_UINT", op_dim="X").tolist() == [[1]]


def test_integer_folds_are_exact_and_fp32_ones_are_not(load: Load) -> None:
    x = np.int32([[1 << 24, 1, 1]])
    assert once(load, x, "int32", 1, op="ADD_INT", op_dim="X").tolist() == [[(1 << 24) + 2]]
    assert once(load, x, "int32", 1, op="ADD", op_dim="X").tolist() == [[1 << 24]]
    wide = np.int64([[1 << 62, 1 << 62, 5]])
    assert once(load, wide, "int64", 1, op="ADD_INT", op_dim="X").tolist() == [[5 - (1 << 63)]]


def test_folding_into_another_width_validates_and_has_no_value(load: Load) -> None:
    machine = load("cayman")
    record = machine.encode(
        "tensor_reduce_arith_op", src=gp.Tensor(dtype="int32", shape=(1, 4)), dst=gp.Tensor(offset=64, dtype="int64", shape=(1, 1)),
        op="ADD_INT", op_dim="X",
    )  # fmt: skip
    assert machine.validate(record).ok
    with pytest.raises(gp.Unsupported, match="at which width a fold of 32-bit integers into 64-bit ones wraps"):
        gp.NeuronCore(machine).run(record)


def test_negated_integers_are_refused(load: Load) -> None:
    machine = load("cayman")
    record = machine.encode(
        "tensor_reduce_arith_op", src=gp.Tensor(dtype="int32", shape=(1, 4)), dst=gp.Tensor(offset=64, dtype="int32", shape=(1, 1)),
        op="ADD_INT", op_dim="X", negated=1,
    )  # fmt: skip
    assert [v.rule for v in machine.validate(record).violations] == ["integer_negated[negated]"]


def test_a_scan_restarts_for_each_outer_index(load: Load) -> None:
    x = np.float32([[[1, 2, 3], [4, 5, 6]]])
    name = "tensor_cumulative_arith_op"
    assert once(load, x, "fp32", 6, name=name, op="ADD", op_dim="X").tolist() == [[1, 3, 6, 4, 9, 15]]
    assert once(load, x, "fp32", 6, name=name, op="ADD", op_dim="XY").tolist() == [[1, 3, 6, 10, 15, 21]]


def test_the_running_value_of_a_scan_stays_fp32(load: Load) -> None:
    x = np.float32([[256, 1, 1]])
    found = once(load, x, "fp32", 3, "bf16", name="tensor_cumulative_arith_op", op="ADD", op_dim="X")
    assert found.astype(float).tolist() == [[256, 256, 258]]


def test_the_transposing_form_folds_the_transposed_stream(load: Load) -> None:
    x = np.float32(np.arange(32 * 64).reshape(32, 64))
    found = once(load, x, "fp32", 1, name="transpose_tensor_reduce_arith_op", op="MAX", op_dim="X")
    wanted = np.concatenate([x[:, :32].T, x[:, 32:].T], axis=1).max(axis=1)
    assert found[:, 0].tolist() == wanted.tolist()


def test_the_transposing_form_needs_whole_blocks(load: Load) -> None:
    machine = load("cayman")
    record = machine.encode(
        "transpose_tensor_reduce_arith_op", src=gp.Tensor(dtype="fp32", shape=(32, 33)),
        dst=gp.Tensor(offset=1024, dtype="fp32", shape=(32, 1)), op="ADD", op_dim="X",
    )  # fmt: skip
    assert machine.validate(record).ok
    with pytest.raises(gp.Unsupported, match="blocks of 32"):
        gp.NeuronCore(machine).run(record)


def test_long_folds_go_in_pieces_from_left_to_right(load: Load) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((3, 5000)).astype(np.float32)
    found = once(load, x[:, :2047], "fp32", 1, op="ADD", op_dim="X")
    assert (
        found.view(np.uint32)[:, 0].tolist() == np.add.accumulate(x[:, :2047], axis=1)[:, -1].view(np.uint32).tolist()
    )
