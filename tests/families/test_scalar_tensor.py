"""scalar_tensor_tensor (0x9D, 0x9E) and tensor_tensor_scan (0xE5), against references that go one element at a time.

Titles: Scalar-Tensor-Tensor (STT); TensorTensorScan (0xe5); settled readings 16, 19, 22 and 24
(docs/decisions.md).
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from alu_model import alu32, alu_bits, arith, bitvec, fold_into, swapped, two_sources
from family_model import GENERATIONS, INTS, OUT, PLAIN, Case, Load, Maker, Model, Scalar, Twin
from records import FP32
from value_cases import specials

import gpsimd_core as gp

POLICIES: list[dict[str, Any]] = [
    {},
    {"reduce_nan": "propagate", "fp_to_int": "rtz_saturate"},
    {"reduce_nan": "select", "fp8_overflow": "saturate", "fp32r_mantissa_bits": 10},
]


def operands(maker: Maker, dtypes: tuple[int, int], out: int) -> tuple[int, Any, Any, Any]:
    channels = maker.channels()
    count = maker.count(channels)
    x, y = two_sources(maker, channels, dtypes, [maker.split(count, 2) for _ in range(2)])
    return channels, x, y, maker.target(channels, out, maker.split(count, 2))


def patterns(maker: Maker, channels: int, x: Any, y: Any, dst: Any) -> dict[str, Any]:
    return {
        "num_active_channels": channels, "src0_dtype": x.dtype, "src1_dtype": y.dtype, "out_dtype": dst.dtype,
        "src0": maker.pattern(x, channels), "src1": maker.pattern(y, channels), "dst": maker.pattern(dst, channels),
    }  # fmt: skip


def starting(maker: Maker, channels: int) -> Any:
    """imm0: FP32 when inline, any dtype from memory."""
    scalar = maker.scalar(channels, maker.rng.choice(PLAIN))
    return (
        scalar
        if scalar.place
        else Scalar(FP32, maker.rng.choice([maker.rng.getrandbits(32), *specials(FP32, maker.policies)]))
    )


def scalar_tensor_arith(maker: Maker) -> Case:
    rng = maker.rng
    channels, x, y, dst = operands(maker, (rng.choice(PLAIN), rng.choice(PLAIN)), rng.choice(OUT))
    scalar = starting(maker, channels)
    op0, op1 = rng.choice(arith(maker.gen)), rng.choice(arith(maker.gen))
    reverse, command = rng.randrange(4), rng.choice([0, 2, 3])
    fields = {
        **patterns(maker, channels, x, y, dst), **scalar.fields(maker.gen, "imm0", "imm0_src"), "imm0_dtype": scalar.dtype,
        "op0": op0, "op1": op1, "reverse_operands": reverse, "accumulator_cmd": command,
    }  # fmt: skip

    def effect(model: Model) -> None:
        policy = model.policies.reduce_nan
        xs, ys = model.hub(x, channels), model.hub(y, channels)
        scalars = [model.widen(scalar.code(model, c), scalar.dtype) for c in range(channels)]
        first, second = swapped(reverse)
        rows = []
        for c in range(channels):
            row = []
            for a, b in zip(xs[c], ys[c], strict=True):
                t = alu32(op0, *((scalars[c], a) if first else (a, scalars[c])), policy)
                row.append(alu32(op1, *((b, t) if second else (t, b)), policy))
            if command:
                fold_into(model, dst.partition + c, command, "ADD", row)
            rows.append(row)
        model.write(dst, [[model.narrow(bits, dst.dtype) for bits in row] for row in rows])

    return Case("scalar_tensor_tensor_arith", fields, effect, [x, y, *([scalar.place] if scalar.place else [])])


def scalar_tensor_bitvec(maker: Maker) -> Case:
    rng = maker.rng
    dtype = rng.choice(INTS)
    channels, x, y, dst = operands(maker, (dtype, dtype), dtype)
    scalar = maker.scalar(channels, dtype, inline=rng.choice([0, 1, 3, 7, 8, 31, 32, 200, rng.getrandbits(32)]))
    op0, op1, reverse = rng.choice(bitvec(dtype)), rng.choice(bitvec(dtype)), rng.randrange(4)
    fields = {
        **patterns(maker, channels, x, y, dst), **scalar.fields(maker.gen, "imm0", "imm0_src"), "imm0_dtype": dtype,
        "op0": op0, "op1": op1, "reverse_operands": reverse,
    }  # fmt: skip

    def effect(model: Model) -> None:
        xs, ys = model.read(x, channels), model.read(y, channels)
        scalars = [scalar.code(model, c) for c in range(channels)]
        first, second = swapped(reverse)
        rows = []
        for c in range(channels):
            row = []
            for a, b in zip(xs[c], ys[c], strict=True):
                t = alu_bits(op0, *((scalars[c], a) if first else (a, scalars[c])), dtype)
                row.append(alu_bits(op1, *((b, t) if second else (t, b)), dtype))
            rows.append(row)
        model.write(dst, rows)

    counts = {1: lambda r: r.choice([0, 1, 5, 8, 31, 32, 255])} if rng.random() < 0.6 else {}
    sources = [x, y, *([scalar.place] if scalar.place else [])]
    return Case("scalar_tensor_tensor_bitvec", fields, effect, sources, fill=counts)


def scan(maker: Maker) -> Case:
    rng = maker.rng
    channels, x, y, dst = operands(maker, (rng.choice(PLAIN), rng.choice(PLAIN)), rng.choice(OUT))
    scalar = starting(maker, channels)
    usual = rng.random() < 0.3  # the recurrence that has a loop of its own
    op0, op1 = ("MULT", "ADD") if usual else (rng.choice(arith(maker.gen)), rng.choice(arith(maker.gen)))
    reverse = rng.randrange(4)
    fields = {
        **patterns(maker, channels, x, y, dst), **scalar.fields(maker.gen, "imm0", "imm0_src"), "imm0_dtype": scalar.dtype,
        "op0": op0, "op1": op1, "reverse_operands": reverse,
    }  # fmt: skip

    def effect(model: Model) -> None:
        policy = model.policies.reduce_nan
        xs, ys = model.hub(x, channels), model.hub(y, channels)
        scalars = [model.widen(scalar.code(model, c), scalar.dtype) for c in range(channels)]
        first, second = swapped(reverse)
        rows = []
        for c in range(channels):
            state, row = scalars[c], []
            for a, b in zip(xs[c], ys[c], strict=True):
                t = alu32(op0, *((state, a) if first else (a, state)), policy)
                state = alu32(op1, *((b, t) if second else (t, b)), policy)
                row.append(model.narrow(state, dst.dtype))
            rows.append(row)
        model.write(dst, rows)

    return Case("tensor_tensor_scan_arith", fields, effect, [x, y, *([scalar.place] if scalar.place else [])])


MAKES = (scalar_tensor_arith, scalar_tensor_bitvec, scan)


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_cases(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """At least 200 cases of each over all parameters."""
    twin = Twin(load(gen, policies=policies))
    for n in range(14):
        for make in MAKES:
            maker = twin.maker(f"{make.__name__}-{n}", 500 if n == 0 else 70)
            twin.run(maker, make(maker))


def test_the_uncompiled_kernels_agree(load: Load) -> None:
    twin = Twin(load("cayman"), compiled=False)
    for n in range(6):
        for make in MAKES:
            maker = twin.maker(f"slow-{make.__name__}-{n}", 40)
            twin.run(maker, make(maker))


# Named facts ----------------------------------------------------------------------------------------------------------------


def once(
    load: Load,
    name: str,
    src0: Any,
    src1: Any,
    dtype: str = "fp32",
    out: str = "fp32",
    gen: str = "cayman",
    **fields: Any,
) -> Any:
    """Run one record on arrays of one shape; gives the results and the core."""
    machine = load(gen)
    core = gp.NeuronCore(machine)
    core.sbuf.write(src0, 0, 0)
    core.sbuf.write(src1, 0, 4096)
    record = machine.encode(
        name, src0=gp.Tensor(dtype=dtype, shape=src0.shape), src1=gp.Tensor(offset=4096, dtype=dtype, shape=src1.shape),
        dst=gp.Tensor(offset=8192, dtype=out, shape=src0.shape), **fields,
    )  # fmt: skip
    core.run(record)
    return core.sbuf.read(0, 8192, shape=src0.shape, dtype=out), core


def test_the_state_of_a_scan_stays_fp32_between_bf16_elements(load: Load) -> None:
    """Were it narrowed to bf16 after each element, 256 + 1 would stay 256 for ever; so the fourth element differs."""
    ones = np.ones((2, 4), ml_dtypes.bfloat16)
    found, _ = once(load, "tensor_tensor_scan_arith", ones, ones, "bf16", "bf16", op0="MULT", op1="ADD", imm0=256.0)
    assert found.astype(float).tolist() == [[256, 258, 260, 260]] * 2  # 257, 258, 259, 260 in fp32
    narrow = np.float32(256)
    for _ in range(4):
        narrow = (narrow + np.float32(1)).astype(ml_dtypes.bfloat16).astype(np.float32)
    assert narrow == 256


def test_a_scan_carries_op1_of_op0_and_does_not_combine_first(load: Load) -> None:
    """The other reading, sources combined and then summed, would give 10, 50, 140."""
    x, y = np.float32([[1, 2, 3]]), np.float32([[10, 20, 30]])
    found, _ = once(load, "tensor_tensor_scan_arith", x, y, op0="MULT", op1="ADD", imm0=0.0)
    assert found.tolist() == [[10, 40, 150]]


def test_a_scan_goes_over_rows_without_a_restart(load: Load) -> None:
    x, y = np.ones((1, 6), np.float32), np.ones((1, 6), np.float32)
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(x, 0, 0)
    core.sbuf.write(y, 0, 64)
    record = machine.encode(
        "tensor_tensor_scan_arith", src0=gp.Tensor(dtype="fp32", shape=(1, 2, 3)),
        src1=gp.Tensor(offset=64, dtype="fp32", shape=(1, 3, 2)), dst=gp.Tensor(offset=128, dtype="fp32", shape=(1, 2, 3)),
        op0="MULT", op1="ADD", imm0=0.0,
    )  # fmt: skip
    core.run(record)
    assert core.sbuf.read(0, 128, shape=(1, 6), dtype="fp32").tolist() == [[1, 2, 3, 4, 5, 6]]


def test_a_nan_in_a_scan_has_one_code_wherever_it_came_from(load: Load) -> None:
    """Among eight channels that go side by side, and in one that goes alone."""
    for channels in (1, 8, 11):
        x = np.full((channels, 3), np.inf, np.float32)
        y = np.full((channels, 3), -np.inf, np.float32)
        found, _ = once(load, "tensor_tensor_scan_arith", x, y, op0="MULT", op1="ADD", imm0=1.0)
        assert set(found.view(np.uint32).ravel().tolist()) == {0x7FC00000}


def test_products_and_sums_of_a_scan_are_rounded_apart(load: Load) -> None:
    """A fused multiply-add would keep the low half of the square."""
    x = np.full((8, 1), 1 + 2.0**-12, np.float32)
    y = np.full((8, 1), -(1 + 2.0**-11), np.float32)
    found, _ = once(load, "tensor_tensor_scan_arith", x, y, op0="MULT", op1="ADD", imm0=float(x[0, 0]))
    assert found.ravel().tolist() == [0] * 8


def test_dst_is_written_while_results_accumulate(load: Load) -> None:
    x, y = np.float32([[1, 2, 3]]), np.float32([[10, 20, 30]])
    fields: dict[str, Any] = {"op0": "ADD", "op1": "MULT", "imm0": 1.0}
    found, core = once(load, "scalar_tensor_tensor_arith", x, y, accumulator_cmd="ZERO_ACCUMULATE", **fields)
    assert found.tolist() == [[20, 60, 120]]
    assert core.accumulators["dve"][0] == 200


def test_results_accumulate_before_they_are_narrowed(load: Load) -> None:
    x, y = np.float32([[256, 256]]), np.float32([[1, 1]])
    fields: dict[str, Any] = {"op0": "BYPASS", "op1": "ADD", "imm0": 0.0}
    found, core = once(load, "scalar_tensor_tensor_arith", x, y, out="bf16", accumulator_cmd=3, **fields)
    assert found.astype(float).tolist() == [[256, 256]]
    assert core.accumulators["dve"][0] == 514


def test_accumulating_on_an_undefined_lane_is_told_and_leaves_it_undefined(load: Load) -> None:
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.ones((2, 2), np.float32), 0, 0)
    tensor = gp.Tensor(dtype="fp32", shape=(2, 2))
    record = machine.encode(
        "scalar_tensor_tensor_arith", src0=tensor, src1=tensor, dst=gp.Tensor(offset=64, dtype="fp32", shape=(2, 2)),
        op0="ADD", op1="ADD", imm0=0.0, accumulator_cmd="ACCUMULATE",
    )  # fmt: skip
    assert len(core.run(record).notices) == 1
    assert not core.accumulators.defined("dve")[:2].any()


def test_a_scan_refuses_to_accumulate(machine: gp.Machine) -> None:
    for command, ok in ((0, True), (2, False), (3, False)):
        record = machine.encode(
            "tensor_tensor_scan_arith", src0=gp.Tensor(dtype="fp32", shape=(1, 2)), src1=gp.Tensor(dtype="fp32", shape=(1, 2)),
            dst=gp.Tensor(offset=64, dtype="fp32", shape=(1, 2)), op0="MULT", op1="ADD", accumulator_cmd=command,
        )  # fmt: skip
        assert machine.validate(record).ok == ok
