"""CrossLaneReduce 0x7C and 0x7D: a reference that goes element by element, and each statement of its page.

Titles: CrossLaneReduce — pool_cross_lane_reduce_arith / _bitvec; settled readings 17, 19
and 30 (docs/decisions.md); policy `cross_lane_int`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fp32_model as fp32
import ml_dtypes
import numpy as np
import pytest
from alu_model import alu32, alu_bits
from family_model import GENERATIONS, INTS, OUT, PLAIN, Case, Load, Maker, Model, Twin
from value_model import INTEGERS

import gpsimd_core as gp
from gpsimd_core.isa.enums import AluOp, Dtype, ReduceOp

POLICIES: list[dict[str, Any]] = [
    {},
    {"cross_lane_int": "widening", "reduce_nan": "propagate"},
    {"cross_lane_int": "widening", "reduce_nan": "select", "fp_to_int": "wrap", "fp8_overflow": "saturate"},
]
ADD, AVERAGE, MAX, OR, AND, XOR = range(6)
BITS = {OR: "BITWISE_OR", AND: "BITWISE_AND", XOR: "BITWISE_XOR"}


def shape(maker: Maker, axis: int, channels: int, dtype: int, out: int) -> tuple[Any, Any, int]:
    """Source and one-partition destination; `axis` 0 for ALL, 1 for PARTITIONS."""
    count = maker.count(channels)
    src = maker.operand(channels, dtype, maker.split(count, 4), region="sbuf")
    dst = maker.operand(1, out, maker.split(count, 4) if axis else (1, 1, 1, 1), region="sbuf")
    return src, dst, count


def fold(rows: list[list[int]], axis: int, step: Callable[[int, int], int]) -> list[int]:
    """Left to right: ascending partition for each element, or partition after partition in stream order."""
    chains = [list(column) for column in zip(*rows, strict=True)] if axis else [[x for row in rows for x in row]]
    results = []
    for chain in chains:
        state = chain[0]
        for new in chain[1:]:
            state = step(new, state)
        results.append(state)
    return results


def widening(rows: list[list[int]], axis: int, dtype: int, out: int, op: int) -> list[int]:
    """Integers accumulated at 16 or 32 bits, wrapping; extremes unwidened; the store saturates."""
    bits, signed = INTEGERS[dtype]
    values = [[x - (1 << bits) if signed and x >> (bits - 1) else x for x in row] for row in rows]
    found = fold(values, axis, max if op == MAX else lambda new, state: new + state)
    results = []
    for total in found:
        width = bits if op == MAX else min(2 * bits, 32)
        value = total & ((1 << width) - 1)
        value = value - (1 << width) if signed and value >> (width - 1) else value
        if out in INTEGERS:
            to, negative = INTEGERS[out]
            low, high = (-(1 << (to - 1)), (1 << (to - 1)) - 1) if negative else (0, (1 << to) - 1)
            results.append(min(max(value, low), high) & ((1 << to) - 1))
        else:
            results.append(fp32.rounded(fp32.Fraction(value)))
    return results


def arith(maker: Maker, widens: bool) -> Case:
    rng = maker.rng
    channels, axis, op = maker.channels(), rng.choice([0, 1, 1]), rng.choice([ADD, AVERAGE, MAX])
    dtype, out = rng.choice(PLAIN), rng.choice(OUT)
    widens = widens and dtype in INTEGERS and op != AVERAGE
    src, dst, _ = shape(maker, axis, channels, dtype, out)
    scale = rng.choice([0x3E800000, 0x3C000000, 0xBF800000, 0x7F800000, 0x00000001, rng.getrandbits(32)])
    fields = {
        "in_dtype": dtype, "out_dtype": out, "num_active_channels": channels, "reduce_op": op, "reduce_axis": axis,
        "scale": gp.Bits(scale), "src": maker.pattern(src, channels), "dst": maker.pattern(dst, 1),
    }  # fmt: skip

    def effect(model: Model) -> None:
        if widens:
            found = widening(model.read(src, channels), axis, dtype, out, op)
            model.write(dst, [[b if out in INTEGERS else model.narrow(b, out) for b in found]])
            return
        rows = [[fp32.canonical(x) for x in row] for row in model.hub(src, channels)]
        if op == AVERAGE:
            rows = [[fp32.multiply(x, scale) for x in row] for row in rows]
        name = "MAX" if op == MAX else "ADD"
        found = fold(rows, axis, lambda new, state: alu32(name, new, state, model.policies.reduce_nan))
        model.write(dst, [[model.narrow(bits, out) for bits in found]])

    return Case("cross_lane_reduce_arith", fields, effect, [src])


def bitvec(maker: Maker, _: bool) -> Case:
    rng = maker.rng
    channels, axis, op, dtype = maker.channels(), rng.choice([0, 1, 1]), rng.choice(list(BITS)), rng.choice(INTS)
    src, dst, _ = shape(maker, axis, channels, dtype, dtype)
    fields = {
        "in_dtype": dtype, "out_dtype": dtype, "num_active_channels": channels, "reduce_op": op, "reduce_axis": axis,
        "src": maker.pattern(src, channels), "dst": maker.pattern(dst, 1),
    }  # fmt: skip

    def effect(model: Model) -> None:
        model.write(
            dst, [fold(model.read(src, channels), axis, lambda new, state: alu_bits(BITS[op], new, state, dtype))]
        )

    return Case("cross_lane_reduce_bitvec", fields, effect, [src], engine="pool")


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_folds(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """At least 200 cases of each over all parameters."""
    twin = Twin(load(gen, policies=policies))
    for n in range(14):
        for make in (arith, bitvec):
            maker = twin.maker(f"{make.__name__}-{n}", 1000 if n == 0 else 150)
            twin.run(maker, make(maker, policies.get("cross_lane_int") == "widening"))


def run(
    load: Load,
    rows: Any,
    dtype: str = "fp32",
    out: str = "fp32",
    gen: str = "cayman",
    policies: Any = None,
    **fields: Any,
) -> Any:
    """Fold rows of one 0x7C or 0x7D from partition 0 on; gives the core and its machine."""
    machine = load(gen, policies=policies or {})
    core = gp.NeuronCore(machine)
    data = np.asarray(rows)
    core.sbuf.write(data, 0, 0)
    count = 1 if fields.get("reduce_axis") == "ALL" else data.shape[1]
    bitwise = str(fields.get("reduce_op", "")).startswith("BITWISE")
    record = machine.encode(
        f"cross_lane_reduce_{'bitvec' if bitwise else 'arith'}", src=gp.Tensor(dtype=dtype, shape=data.shape),
        dst=gp.Tensor(partition=0, offset=4096, dtype=out, shape=(1, count)), num_active_channels=len(data), **fields,
    )  # fmt: skip
    core.run(record)
    return core.sbuf.read(0, 4096, shape=(1, count), dtype=out)[0]


def bits(array: Any) -> list[int]:
    return np.ascontiguousarray(array).view(np.uint32).tolist()


def record(machine: gp.Machine, name: str = "cross_lane_reduce_arith", **changes: Any) -> bytes:
    """A legal record: 64 channels of 8 fp32 elements into one partition, with something changed."""
    fields: dict[str, Any] = {
        "in_dtype": Dtype.FP32, "out_dtype": Dtype.FP32, "num_active_channels": 64, "reduce_op": "ADD", "reduce_axis": "PARTITIONS",
        "src": {"addr": 0, "num": (8,)}, "dst": {"addr": 4096, "num": (8,)},
    }  # fmt: skip
    return bytes(machine.encode(name, **(fields | changes)))


# The rules of the page ----------------------------------------------------------------------------------------------


def test_input_fp32r_is_refused_and_output_fp32r_accepted(machine: gp.Machine) -> None:
    assert machine.validate(record(machine, out_dtype=Dtype.FP32R)).ok
    report = machine.validate(record(machine, in_dtype=Dtype.FP32R))
    assert [v.rule for v in report.violations] == ["is_valid_dtype[in_dtype]"]


@pytest.mark.parametrize("operand", ["src", "dst"])
def test_psum_operands_are_refused(load: Load, operand: str) -> None:
    machine = load("cayman")
    report = machine.validate(record(machine, **{operand: {"addr": 0x2000000, "num": (8,)}}))
    assert f"tensor_valid[{operand}]" in [v.rule for v in report.violations]


def test_sixty_four_bit_input_is_refused(machine: gp.Machine) -> None:
    assert not machine.validate(record(machine, in_dtype=Dtype.INT64)).ok


def test_all_wants_a_single_destination_element_and_partitions_as_many_as_the_source(machine: gp.Machine) -> None:
    one, eight = {"addr": 4096, "num": (1,)}, {"addr": 4096, "num": (2, 2, 2)}
    assert machine.validate(record(machine, reduce_axis="ALL", dst=one)).ok
    assert not machine.validate(record(machine, reduce_axis="ALL")).ok
    assert machine.validate(record(machine, dst=eight)).ok
    assert not machine.validate(record(machine, dst=one)).ok


def test_each_opcode_takes_its_own_three_operators(machine: gp.Machine) -> None:
    words = {"in_dtype": Dtype.UINT32, "out_dtype": Dtype.UINT32}
    for op in ReduceOp:
        taken = [
            machine.validate(record(machine, name, reduce_op=op, **words)).ok
            for name in ("cross_lane_reduce_arith", "cross_lane_reduce_bitvec")
        ]
        assert taken == [op <= ReduceOp.MAX, op >= ReduceOp.BITWISE_OR]
    assert not machine.validate(record(machine, reduce_op=6)).ok


def test_the_enumeration_is_its_own_and_closed(machine: gp.Machine) -> None:
    """Its numbers are not those of the ALU operators, and there is no minimum."""
    assert {op.name: int(op) for op in ReduceOp} == {
        "ADD": 0, "AVERAGE": 1, "MAX": 2, "BITWISE_OR": 3, "BITWISE_AND": 4, "BITWISE_XOR": 5,
    }  # fmt: skip
    assert not isinstance(ReduceOp.ADD, AluOp)
    assert int(AluOp.ADD) == 4
    assert int(AluOp.MAX) == 8


def test_both_opcodes_have_their_numbers_on_every_generation(machine: gp.Machine) -> None:
    assert machine.opcode_of("cross_lane_reduce_arith") == 0x7C
    assert machine.opcode_of("cross_lane_reduce_bitvec") == 0x7D
    assert machine.engines_of("cross_lane_reduce_arith") == ("pool",)


def test_the_three_tiers_have_opcodes_of_their_own(machine: gp.Machine) -> None:
    """0x46 and 0x47 copy and cast, 0x52 folds along a partition; only 0x7C and 0x7D fold across partitions."""
    names = {code: machine.opcodes[code].name for code in (0x42, 0x46, 0x47, 0x52, 0x7C, 0x7D)}
    assert names == {
        0x42: "tensor_reduce_arith_op", 0x46: "copy", 0x47: "cast", 0x52: "tensor_reduce_bitvec_op",
        0x7C: "cross_lane_reduce_arith", 0x7D: "cross_lane_reduce_bitvec",
    }  # fmt: skip


def test_source_spans_the_channels_and_destination_one_partition(load: Load) -> None:
    """64 channels from partition 32 on are refused as a source; partition 96 is as good a destination as any."""
    machine = load("cayman")
    there = {"addr": machine_address(32, 0), "num": (8,)}
    report = machine.validate(record(machine, src=there))
    assert [v.rule for v in report.violations] == ["start_addr_active_channels[src]"]
    assert machine.validate(record(machine, dst={"addr": machine_address(96, 0), "num": (8,)})).ok


def test_reserved_bytes_and_the_axis_are_checked(machine: gp.Machine) -> None:
    assert not machine.validate(record(machine, reserved0=(0, 1, 0))).ok
    assert not machine.validate(record(machine, reduce_axis=2)).ok
    for channels in (0, 129):
        assert not machine.validate(record(machine, num_active_channels=channels)).ok


# What it computes -----------------------------------------------------------------------------------------------------


def test_all_writes_exactly_one_element_and_nothing_else(load: Load) -> None:
    """One element on one partition: it is not broadcast."""
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.float32(np.arange(64 * 8).reshape(64, 8)), 0, 0)
    before = core.sbuf.read(0, 0, shape=(128, 8192), dtype="uint8").copy()
    core.run(record(machine, reduce_axis="ALL", dst={"addr": machine_address(32, 4096), "num": (1,)}))
    after = core.sbuf.read(0, 0, shape=(128, 8192), dtype="uint8")
    changed = np.argwhere(before != after)
    assert {p for p, _ in changed} == {32}
    assert {b // 4 for _, b in changed} == {1024}
    assert core.sbuf.read(32, 4096, shape=(1, 1), dtype="fp32")[0, 0] == sum(range(512))


def machine_address(partition: int, offset: int) -> int:
    return partition * 0x40000 + offset


def test_partitions_writes_one_partition_and_no_other_byte(load: Load) -> None:
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.float32(np.arange(64 * 8).reshape(64, 8)), 0, 0)
    before = core.sbuf.read(0, 0, shape=(128, 8192), dtype="uint8").copy()
    core.run(record(machine, dst={"addr": machine_address(96, 4096), "num": (8,)}))
    changed = np.argwhere(before != core.sbuf.read(0, 0, shape=(128, 8192), dtype="uint8"))
    assert {p for p, _ in changed} == {96}
    assert {b // 4 for _, b in changed} <= set(range(1024, 1032))
    assert core.sbuf.read(96, 4096, shape=(1, 8), dtype="fp32")[0].tolist() == [64 * k + 8 * 2016 for k in range(8)]


def test_average_multiplies_each_element_and_never_divides(load: Load) -> None:
    """A scale that is no reciprocal of the count shows it, and so does one that overflows before the sum."""
    rows = [[1.0], [2.0], [4.0], [9.0]]
    assert run(load, np.float32(rows), reduce_op="AVERAGE", reduce_axis="PARTITIONS", scale=10.0)[0] == 160
    huge = run(load, np.float32([[3e38], [-3e38]]), reduce_op="AVERAGE", reduce_axis="PARTITIONS", scale=2.0)
    assert bits(huge) == [0x7FC00000]  # inf - inf: scaled first
    third = np.float32(1 / 3)
    scaled = run(load, np.float32([[1], [1], [1]]), reduce_op="AVERAGE", reduce_axis="ALL", scale=float(third))
    assert scaled[0] == (third * np.float32(1) + third) + third


def test_max_skips_nan_signalling_ones_too(load: Load) -> None:
    rows = np.uint32([[0x7FC00000, 0x7F800001], [0xC0000000, 0xFF800001], [0xFFC12345, 0xBF800000]]).view(np.float32)
    found = run(load, rows, reduce_op="MAX", reduce_axis="PARTITIONS")
    assert bits(found) == [0xC0000000, 0xBF800000]
    nothing = run(load, np.uint32([[0x7F800001], [0xFFFFFFFF]]).view(np.float32), reduce_op="MAX", reduce_axis="ALL")
    assert bits(nothing) == [0x7FC00000]


def test_max_orders_the_zeros(load: Load) -> None:
    rows = np.uint32([[0x80000000], [0], [0x80000000]]).view(np.float32)
    assert bits(run(load, rows, reduce_op="MAX", reduce_axis="PARTITIONS")) == [0]


def test_xor_folds_although_the_vector_core_has_no_such_primitive(load: Load) -> None:
    rows = np.uint8([[0x0F, 1], [0xF0, 2], [0xFF, 4]])
    assert run(load, rows, "uint8", "uint8", reduce_op="BITWISE_XOR", reduce_axis="PARTITIONS").tolist() == [0, 7]
    assert run(load, rows, "uint8", "uint8", reduce_op="BITWISE_XOR", reduce_axis="ALL").tolist() == [7]


def test_bitwise_folds_keep_raw_words(load: Load) -> None:
    """No conversion: a NaN pattern and numbers above 2^24 pass bit for bit."""
    rows = np.uint32([[0x7F800001], [0xFFFFFFFF]])
    assert run(load, rows, "uint32", "uint32", reduce_op="BITWISE_AND", reduce_axis="PARTITIONS").tolist() == [
        0x7F800001
    ]
    assert run(load, rows[:1], "uint32", "uint32", reduce_op="BITWISE_OR", reduce_axis="ALL").tolist() == [0x7F800001]


def test_integers_are_summed_in_fp32_and_the_other_reading_is_a_policy(load: Load) -> None:
    """16 lanes of 10000000h wrap to 0 in the vector core's 32-bit adder; in fp32 the sum is 2^32, which saturates."""
    rows = np.full((16, 1), 0x10000000, np.int32)
    kwargs = {"reduce_op": "ADD", "reduce_axis": "PARTITIONS"}
    assert run(load, rows, "int32", "int32", **kwargs).tolist() == [0x7FFFFFFF]
    assert run(load, rows, "int32", "int32", policies={"cross_lane_int": "widening"}, **kwargs).tolist() == [0]


def test_widening_adds_bytes_at_16_and_halves_at_32_bits(load: Load) -> None:
    wide = {"cross_lane_int": "widening"}
    kwargs: dict[str, Any] = {"reduce_op": "ADD", "reduce_axis": "ALL", "policies": wide}
    assert run(load, np.full((1, 64), 127, np.int8), "int8", "int16", **kwargs).tolist() == [8128]
    assert run(load, np.full((1, 32), 32767, np.int16), "int16", "int32", **kwargs).tolist() == [1048544]
    assert run(load, np.full((1, 32), -32768, np.int16), "int16", "int32", **kwargs).tolist() == [-1048576]
    assert run(load, np.full((1, 32), 0xFFFF, np.uint16), "uint16", "uint32", **kwargs).tolist() == [0x1FFFE0]
    assert run(load, np.full((1, 300), 127, np.int8), "int8", "int32", **kwargs).tolist() == [38100 - 65536]
    assert run(load, np.full((1, 32), 32767, np.int16), "int16", "int16", **kwargs).tolist() == [32767]


def test_max_of_integers_keeps_its_sign(load: Load) -> None:
    """The same bits have different extremes as signed and unsigned numbers, in both readings."""
    for policies in ({}, {"cross_lane_int": "widening"}):
        kwargs: dict[str, Any] = {"reduce_op": "MAX", "reduce_axis": "ALL", "policies": policies}
        assert run(load, np.int16([[-1, 1, -1000]]), "int16", "int16", **kwargs).tolist() == [1]
        assert run(load, np.uint16([[0xFFFF, 1, 0xFC18]]), "uint16", "uint16", **kwargs).tolist() == [0xFFFF]


def test_the_fold_goes_left_to_right_by_ascending_partition(load: Load) -> None:
    """1e8 + 1 - 1e8 keeps nothing of the 1; in another order it would."""
    rows = np.float32([[1e8, 1], [1, 1e8], [-1e8, -1e8]])
    assert run(load, rows, reduce_op="ADD", reduce_axis="PARTITIONS").tolist() == [0, 0]
    assert run(load, rows[[0, 2, 1]], reduce_op="ADD", reduce_axis="PARTITIONS").tolist() == [1, 0]


def test_all_takes_one_partition_after_the_other(load: Load) -> None:
    rows = np.float32([[1e8, -1e8], [1, 1]])
    assert run(load, rows, reduce_op="ADD", reduce_axis="ALL").tolist() == [2]
    assert run(load, rows.T.copy(), reduce_op="ADD", reduce_axis="ALL").tolist() == [1]


def test_a_fold_of_one_channel_is_arithmetic(load: Load) -> None:
    """It passes the hub: a NaN takes its one code."""
    rows = np.uint32([[0xFF800001]]).view(np.float32)
    assert bits(run(load, rows, reduce_op="ADD", reduce_axis="PARTITIONS")) == [0x7FC00000]


def test_sums_leave_the_hub_once(load: Load) -> None:
    """256 + 1 + 1 in bf16 would stay at 256 if every sum were narrowed."""
    rows = np.float32([[256], [1], [1]]).astype(ml_dtypes.bfloat16)
    assert float(run(load, rows, "bf16", "bf16", reduce_op="ADD", reduce_axis="PARTITIONS")[0]) == 258


def test_the_uncompiled_kernel_agrees(load: Load) -> None:
    for policies in POLICIES:
        twin = Twin(load("cayman", policies=policies), compiled=False)
        for n in range(4):
            for make in (arith, bitvec):
                maker = twin.maker(f"slow-{make.__name__}-{n}", 60)
                twin.run(maker, make(maker, policies.get("cross_lane_int") == "widening"))
