"""copy_predicated (0x72), cast_predicated (0x99), copy_predicated_scalar (0xE8), element by element against a reference,
and the statements of their page one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from family_model import GENERATIONS, INTS, PLAIN, Case, Load, Maker, Model, Twin
from records import INT32, SIZE

import gpsimd_core as gp
from gpsimd_core.isa.enums import AluOp


def sources(maker: Maker, channels: int, num: Any, pred: int, data: int, *, flat: bool) -> Any:
    """Two sources in places that may be paired: one quadrant of SBUF, or one of them in PSUM."""
    regions = maker.rng.choice([("sbuf", "sbuf"), (maker.region(), "sbuf"), ("sbuf", maker.region())])
    first = maker.start(channels)
    second = first if regions == ("sbuf", "sbuf") else maker.start(channels)
    one = maker.operand(channels, pred, num[0], region=regions[0], partition=first, flat=flat)
    two = maker.operand(channels, data, num[1], region=regions[1], partition=second, flat=flat)
    return one, two


def copies(maker: Maker, name: str) -> Case:
    """A random 0x72 or 0x99."""
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    data = rng.choice(PLAIN)
    out = data if name == "copy_predicated" or rng.random() < 0.4 else rng.choice(PLAIN)
    num = [maker.split(count, 3) for _ in range(3)]
    flat = rng.random() < 0.4
    predicate, source = sources(maker, channels, num, rng.choice(INTS), data, flat=flat)
    dst = maker.target(channels, out, num[2])
    if rng.random() < 0.2 and SIZE[out] == SIZE[data]:  # in place
        dst.region, dst.partition, dst.offset = source.region, source.partition, source.offset
        dst.num, dst.step = source.num, source.step
        if dst.region == "psum" and dst.size != 4:
            dst.region = source.region = "sbuf"
            dst.partition = source.partition = predicate.partition
            maker.place(source)
            dst.offset = source.offset
    fields = {
        "num_active_channels": channels, "src0_dtype": predicate.dtype, "src1_dtype": data, "out_dtype": out,
        "op": AluOp.BYPASS, "src0": maker.pattern(predicate, channels), "src1": source.pattern(maker.gen),
        "dst": maker.pattern(dst, channels),
    }  # fmt: skip

    def effect(model: Model) -> None:
        flags, codes = model.read(predicate, channels), model.read(source, channels)
        for c in range(channels):
            for flag, code, at in zip(flags[c], codes[c], dst.offsets(), strict=True):
                if flag:
                    model.store(dst, c, at, code if data == out else model.narrow(model.widen(code, data), out))

    return Case(name, fields, effect, [source, predicate], fill={1: lambda r: r.choice([0, 0, 1, 1 << r.randrange(8)])})


def scalar_copies(maker: Maker) -> Case:
    """A random 0xE8."""
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype = rng.choice(PLAIN)
    predicate = maker.operand(channels, rng.choice(INTS), maker.split(count, 3))
    dst = maker.target(channels, dtype, maker.split(count, 3))
    scalar = maker.scalar(channels, dtype)
    reversed_pred = rng.choice([0, 1])
    fields = {
        "num_active_channels": channels, "pred_dtype": predicate.dtype, "in_dtype": dtype, "out_dtype": dtype,
        "pred": maker.pattern(predicate, channels), "dst": maker.pattern(dst, channels),
        "reversed_pred": reversed_pred, **scalar.fields(maker.gen, "src0_imm", "src0_imm_src"),
    }  # fmt: skip

    def effect(model: Model) -> None:
        flags = model.read(predicate, channels)
        given = [scalar.code(model, c) for c in range(channels)]
        for c in range(channels):
            for flag, at in zip(flags[c], dst.offsets(), strict=True):
                if (flag != 0) == bool(reversed_pred):
                    model.store(dst, c, at, given[c])

    places = [predicate, *([scalar.place] if scalar.place else [])]
    return Case("copy_predicated_scalar", fields, effect, places, fill={0: lambda r: r.choice([0, 0, 1, 128])})


@pytest.mark.parametrize("policies", [{}, {"fp_to_int": "wrap", "fp8_overflow": "saturate", "fp8_exp4": "ocp"}])
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_predicated_copies(load: Load, gen: str, policies: dict[str, Any]) -> None:
    twin = Twin(load(gen, policies=policies))
    for n in range(8):
        for name in ("copy_predicated", "cast_predicated"):
            maker = twin.maker(f"{name}-{n}", 1000 if n == 0 else 150)
            twin.run(maker, copies(maker, name))
        maker = twin.maker(f"scalar-{n}", 1000 if n == 0 else 150)
        twin.run(maker, scalar_copies(maker))


def test_uncompiled_kernel_is_the_same(load: Load) -> None:
    twin = Twin(load("cayman"), compiled=False)
    for n in range(12):
        maker = twin.maker(f"plain-{n}", 150)
        twin.run(maker, copies(maker, "cast_predicated" if n % 2 else "copy_predicated"))
        maker = twin.maker(f"plain-scalar-{n}", 150)
        twin.run(maker, scalar_copies(maker))


# The statements of the page of the predicated family ------------------------------------------------------------------

FAMILY = ("copy_predicated", "cast_predicated", "copy_predicated_scalar", "select_reduce")
ROW = [0, 1, 0, 255]


def tensor(offset: int, dtype: str, values: int = 4) -> gp.Tensor:
    return gp.Tensor("sbuf", partition=0, offset=offset, dtype=dtype, shape=(1, values))


def run_copy(machine: gp.Machine, name: str, data: Any, out: Any, *, dtype: str, to: str, pred: Any = ROW) -> Any:
    """dst after a copy of one channel of four elements under the predicate 0 1 0 255, as `to`."""
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.array([pred], np.uint8), 0, 0)
    core.sbuf.write(np.array([data]), 0, 64)
    core.sbuf.write(np.array([out]), 0, 128)
    core.run(machine.encode(name, src0=tensor(0, "uint8"), src1=tensor(64, dtype), dst=tensor(128, to)))
    return core.sbuf.read(0, 128, shape=(1, 4), dtype=to)[0].tolist()


def test_all_four_run_on_dve_and_on_nothing_else(machine: gp.Machine) -> None:
    assert {name: machine.engines_of(name) for name in FAMILY} == dict.fromkeys(FAMILY, ("dve",))


def test_every_non_zero_predicate_is_true_and_false_lanes_keep_their_bytes(machine: gp.Machine) -> None:
    found = run_copy(
        machine, "copy_predicated", np.float32([1, 2, 3, 4]), np.float32([-1, -2, -3, -4]), dtype="fp32", to="fp32"
    )
    assert found == [-1, 2, -3, 4]


def test_copy_preserves_payloads_that_a_cast_would_lose(machine: gp.Machine) -> None:
    signalling = np.array([0x7F800001, 0xFFC12345, 0x7F800001, 0xFF800001], np.uint32).view(np.float32)
    core_bits = np.array(run_copy_bits(machine, "copy_predicated", signalling), np.uint32)
    assert core_bits.tolist() == [0, 0xFFC12345, 0, 0xFF800001]
    assert run_copy_bits(machine, "cast_predicated", signalling) == core_bits.tolist()


def run_copy_bits(machine: gp.Machine, name: str, data: Any) -> list[int]:
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.array([ROW], np.uint8), 0, 0)
    core.sbuf.write(data[None], 0, 64)
    core.sbuf.write(np.zeros((1, 4), np.float32), 0, 128)
    core.run(machine.encode(name, src0=tensor(0, "uint8"), src1=tensor(64, "fp32"), dst=tensor(128, "fp32")))
    return [int(v) for v in core.sbuf.read(0, 128, shape=(1, 4), dtype="uint32")[0]]


def test_cast_converts_through_fp32_and_copy_refuses_to(machine: gp.Machine) -> None:
    data, old = np.float32([0.5, 2.5, 3.5, -300.5]), np.int8([7, 7, 7, 7])
    assert run_copy(machine, "cast_predicated", data, old, dtype="fp32", to="int8") == [7, 2, 7, -128]
    with pytest.raises(gp.Violated, match=r"same_dtype\[src1_dtype,out_dtype\]"):
        run_copy(machine, "copy_predicated", data, old, dtype="fp32", to="int8")


def test_cast_takes_32_bit_integers_which_select_reduce_refuses(machine: gp.Machine) -> None:
    """Beyond 2^24 they survive only where the dtypes are equal: that is a copy of bits."""
    data, old = np.int32([0, 16777217, 0, -16777217]), np.int32([5, 5, 5, 5])
    assert run_copy(machine, "cast_predicated", data, old, dtype="int32", to="int32") == [5, 16777217, 5, -16777217]
    assert run_copy(machine, "cast_predicated", data, np.uint32([5] * 4), dtype="int32", to="uint32") == [
        5,
        16777216,
        5,
        0,
    ]
    record = machine.encode(
        "select_reduce", src0=tensor(0, "uint8"), src1=tensor(64, "int32"), dst=tensor(128, "int32"), accumulator_cmd=0
    )
    assert "dtype_not_in[src1_dtype]" in {v.rule for v in machine.validate(record).violations}


@pytest.mark.parametrize("name", FAMILY)
def test_the_predicate_is_one_of_the_six_integers(machine: gp.Machine, name: str) -> None:
    leaf = "pred_dtype" if name == "copy_predicated_scalar" else "src0_dtype"
    refused = set()
    for code in machine.sets["dtype"]:
        if leaf != "pred_dtype" and code > 15:
            continue  # a packed pair has four bits for each dtype
        fields: dict[str, Any] = {leaf: code, "num_active_channels": 1}
        report = machine.validate(machine.encode(name, **fields))
        if any(v.rule == f"dtype_in[{leaf}]" or v.rule == f"is_valid_dtype[{leaf}]" for v in report.violations):
            refused.add(int(code))
    assert {int(c) for c in machine.sets["dtype"] if leaf == "pred_dtype" or c <= 15} - refused == set(INTS)


@pytest.mark.parametrize("name", ["copy_predicated", "cast_predicated"])
def test_their_struct_has_one_operator_and_no_accumulator(machine: gp.Machine, name: str) -> None:
    layout = machine.layouts[machine.opcode_of(name)]
    assert layout.by_name["op"].offset == 14
    assert not {"op0", "op1", "accumulator_cmd", "reduce_op", "imm0"} & set(layout.by_name)
    report = machine.validate(machine.encode(name, num_active_channels=1, op=AluOp.MAX))
    assert "field_is[op]" in {v.rule for v in report.violations}


@pytest.mark.parametrize("leaf", ["src0_dtype", "src1_dtype", "out_dtype"])
def test_none_of_the_two_takes_fp32r_anywhere(machine: gp.Machine, leaf: str) -> None:
    for name in ("copy_predicated", "cast_predicated"):
        report = machine.validate(machine.encode(name, num_active_channels=1, **{leaf: 11}))
        assert f"is_valid_dtype[{leaf}]" in {v.rule for v in report.violations}


@pytest.mark.parametrize(("reversed_pred", "expected"), [(0, [9, -2, 9, -4]), (1, [-1, 9, -3, 9])])
def test_the_scalar_form_writes_where_the_predicate_is_zero(
    machine: gp.Machine, reversed_pred: int, expected: list[int]
) -> None:
    """reversed_pred = 1 writes where it is not; nothing is converted."""
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.array([ROW], np.uint8), 0, 0)
    core.sbuf.write(np.array([[-1, -2, -3, -4]], np.int32), 0, 128)
    core.run(
        machine.encode(
            "copy_predicated_scalar", pred=tensor(0, "uint8"), dst=tensor(128, "int32"), in_dtype=INT32, src0_imm=9,
            reversed_pred=reversed_pred,
        )
    )  # fmt: skip
    assert core.sbuf.read(0, 128, shape=(1, 4), dtype="int32")[0].tolist() == expected
