"""Golden cases of select_reduce (0xEA) and dve_read_accumulator (0x9B): hex in, hex out, one name for each fact.

Every case runs on every generation, on the flat path that contiguous operands of equal dtypes take and on the general
one, compiled and as plain Python. Expected codes are written down, not computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import records
from records import BF16, E3M4, E4M3, E5M2, FP16, FP32, FP32R, INT8, INT16, INT32, SIZE, UINT8, UINT16, UINT32, sbuf

import gpsimd_core as gp

NONE, MINUS_INF, INF, NAN = 0xA5A5A5A5, 0xFF800000, 0x7F800000, 0x7FC00000
ONE, TWO, THREE, MINUS_ONE = 0x3F800000, 0x40000000, 0x40400000, 0xBF800000
ZERO, MINUS_ZERO = 0, 0x80000000
IDLE, ACCUMULATE, ZERO_ACCUMULATE = 0, 2, 3
GENERATIONS = ("sunda", "cayman", "mariana", "mariana_plus", "maverick")

PRED, DATA, DST = 0x400, 0x800, 0xC00


class Bench:
    """One channel of a core on which single instructions are tried."""

    def __init__(self, machine: gp.Machine, *, compiled: bool) -> None:
        self.machine, self.gen = machine, machine.generation.name
        self.core = gp.NeuronCore(machine, compiled=compiled)

    def put(self, offset: int, dtype: int, codes: list[int], partition: int = 0, gap: int = 1) -> None:
        """Store codes `gap` elements apart."""
        for k, code in enumerate(codes):
            element = np.array([[code]], f"<u{SIZE[dtype]}")
            self.core.sbuf.write(element, partition, offset + k * gap * SIZE[dtype])

    def get(self, offset: int, dtype: int, count: int, partition: int = 0, gap: int = 1) -> list[int]:
        name = {1: "uint8", 2: "uint16", 4: "uint32"}[SIZE[dtype]]
        row = self.core.sbuf.read(partition, offset, shape=(1, (count - 1) * gap + 1), dtype=name)
        return [int(v) for v in row[0, ::gap]]

    @property
    def lane(self) -> int:
        """fp32 bits of accumulator lane 0."""
        return int(self.core.accumulators["dve"].view(np.uint32)[0])

    def select(
        self, mask: list[int], codes: list[int], data: int = FP32, out: int | None = None, *, flat: bool = True,
        pred: int = UINT8, command: int = ZERO_ACCUMULATE, **more: Any,
    ) -> list[int]:  # fmt: skip
        """Run one 0xEA over a row; the destination's codes afterwards."""
        out = data if out is None else out
        gap = 1 if flat else 2
        self.put(PRED, pred, mask, gap=gap)
        self.put(DATA, data, codes, gap=gap)
        self.put(DST, out, [NONE & (1 << 8 * SIZE[out]) - 1] * len(mask), gap=gap)
        shape = {
            f"{o}__{part}": v
            for o in ("src0", "src1", "dst")
            for part, v in (("num0", len(mask)), ("num1", 1), ("step0", gap), ("step1", 0))
        }
        record = records.select_reduce(
            self.gen, src0__addr=sbuf(self.gen, 0, PRED), src1__addr=sbuf(self.gen, 0, DATA),
            dst__addr=sbuf(self.gen, 0, DST), num_active_channels=1, src0_dtype=pred, src1_dtype=data, out_dtype=out,
            accumulator_cmd=command, **(shape | more),
        )  # fmt: skip
        self.core.run(record)
        return self.get(DST, out, len(mask), gap=gap)

    def read_back(self, dtype: int = FP32, negated: int = 0) -> int:
        """Run one 0x9B; the code that it writes."""
        self.core.run(
            records.read_accumulator(
                self.gen, dst__addr=sbuf(self.gen, 0, 0x20), dtype=dtype, negated=negated, num_active_channels=1
            )
        )
        return self.get(0x20, dtype, 1)[0]


@pytest.fixture(params=["compiled", "plain"])
def bench(request: pytest.FixtureRequest, load: Callable[..., gp.Machine]) -> Callable[..., Bench]:
    """`bench(gen, **policies)`: a fresh bench."""

    def make(gen: str = "cayman", **policies: Any) -> Bench:
        return Bench(load(gen, policies=policies), compiled=request.param == "compiled")

    return make


# mask, data codes, data dtype: destination codes, accumulator
REFERENCE = [
    pytest.param([1, 0, 1], [ONE, INF, TWO], FP32, [ONE, NONE, TWO], TWO, id="a dead lane neither writes nor wins"),
    pytest.param([1, 1, 0], [NAN, 0xC0000000, 0], FP32, [NAN, 0xC0000000, NONE], 0xC0000000, id="a NaN is copied and never wins"),
    pytest.param([1, 1], [0xFFC12345, 0x7F812345], FP32, [0xFFC12345, 0x7F812345], MINUS_INF, id="NaN payloads are copied, all NaN leaves the seed"),
    pytest.param([0, 0], [ONE, TWO], FP32, [NONE, NONE], MINUS_INF, id="no true lane leaves the seed"),
    pytest.param([1, 1], [MINUS_ZERO, ZERO], FP32, [MINUS_ZERO, ZERO], ZERO, id="+0 beats -0"),
    pytest.param([1, 1], [ZERO, MINUS_ZERO], FP32, [ZERO, MINUS_ZERO], ZERO, id="+0 beats -0 whatever the order"),
    pytest.param([1, 1], [MINUS_ZERO, 0x80000001], FP32, [MINUS_ZERO, 0x80000001], MINUS_ZERO, id="-0 beats the largest negative"),
    pytest.param([1, 1], [1, 0x80000001], FP32, [1, 0x80000001], 1, id="subnormals are kept"),
    pytest.param([1, 1], [MINUS_INF, MINUS_INF], FP32, [MINUS_INF, MINUS_INF], MINUS_INF, id="-inf is a value"),
    pytest.param([1, 1], [INF, 0x7F7FFFFF], FP32, [INF, 0x7F7FFFFF], INF, id="inf beats the largest finite"),
    pytest.param([2, 128, 0], [ONE, TWO, THREE], FP32, [ONE, TWO, NONE], TWO, id="any non-zero predicate is true"),
    pytest.param([1, 1], [0x80, 0x7F], INT8, [0x80, 0x7F], 0x42FE0000, id="int8 is signed"),
    pytest.param([1, 0], [0x80, 0x7F], INT8, [0x80, 0xA5], 0xC3000000, id="the lowest int8"),
    pytest.param([0, 0], [0x80, 0x7F], INT8, [0xA5, 0xA5], 0xC3000000, id="the seed of int8 is -128"),
    pytest.param([0, 0], [1, 2], INT16, [0xA5A5, 0xA5A5], 0xC7000000, id="the seed of int16 is -32768"),
    pytest.param([0, 0], [1, 2], UINT16, [0xA5A5, 0xA5A5], ZERO, id="the seed of uint16 is 0"),
    pytest.param([0, 0], [1, 2], UINT8, [0xA5, 0xA5], ZERO, id="the seed of uint8 is 0"),
    pytest.param([1, 1], [0xFF, 0x80], UINT8, [0xFF, 0x80], 0x437F0000, id="uint8 is unsigned"),
    pytest.param([1, 1], [0xFFFF, 1], UINT16, [0xFFFF, 1], 0x477FFF00, id="uint16 65535"),
    pytest.param([1, 1], [0xFFFF, 1], INT16, [0xFFFF, 1], ONE, id="int16 -1 loses"),
    pytest.param([1, 1], [0x7E01, 0x0001], FP16, [0x7E01, 0x0001], 0x33800000, id="fp16 subnormal, NaN skipped"),
    pytest.param([1, 1], [0xFC00, 0x7BFF], FP16, [0xFC00, 0x7BFF], 0x477FE000, id="fp16 largest finite"),
    pytest.param([0, 0], [0, 0], FP16, [0xA5A5, 0xA5A5], MINUS_INF, id="the seed of fp16 is -inf"),
    pytest.param([1, 1], [0x7F80, 0x7FFF], BF16, [0x7F80, 0x7FFF], INF, id="bf16 infinity, NaN skipped"),
    pytest.param([1, 1], [0x6F, 0x71], E3M4, [0x6F, 0x71], 0x41780000, id="E3M4 largest finite 15.5"),
    pytest.param([1, 1], [0x7B, 0x7D], E5M2, [0x7B, 0x7D], 0x47600000, id="E5M2 largest finite 57344"),
    pytest.param([1, 1], [0x80, 0x00], E5M2, [0x80, 0x00], ZERO, id="E5M2 signed zeros"),
    pytest.param([1, 0], [0x80, 0x00], E5M2, [0x80, 0xA5], MINUS_ZERO, id="E5M2 -0 alone"),
]  # fmt: skip


@pytest.mark.parametrize("flat", [True, False], ids=["flat", "strided"])
@pytest.mark.parametrize(("mask", "codes", "data", "written", "best"), REFERENCE)
def test_reference(
    bench: Callable[..., Bench], mask: Any, codes: Any, data: int, written: Any, best: int, flat: bool
) -> None:
    b = bench()
    assert b.select(mask, codes, data, flat=flat) == written
    assert b.lane == best


@pytest.mark.parametrize("gen", GENERATIONS)
def test_every_generation_gives_the_same_bits(bench: Callable[..., Bench], gen: str) -> None:
    b = bench(gen)
    assert b.select([1, 0, 1, 1], [ONE, INF, 0xFFC00001, MINUS_ONE]) == [ONE, NONE, 0xFFC00001, MINUS_ONE]
    assert (b.lane, b.read_back(), b.read_back(BF16, negated=1)) == (ONE, ONE, 0xBF80)


@pytest.mark.parametrize(("gen", "code", "value"), [
    ("sunda", 0x77, 0x43700000), ("cayman", 0x77, 0x43700000), ("mariana", 0x77, 0x43700000),
    ("mariana_plus", 0x78, INF), ("maverick", 0x77, 0x43700000), ("maverick", 0x78, 0x43800000),
    ("maverick", 0x7E, 0x43E00000), ("cayman", 0x79, MINUS_INF), ("maverick", 0x7F, MINUS_INF),
])  # fmt: skip
def test_dtype_code_0xe_reads_as_the_generation_says(
    bench: Callable[..., Bench], gen: str, code: int, value: int
) -> None:
    """240, infinity and NaN of the IEEE style on sunda, cayman and mariana; up to 448 and one NaN on maverick."""
    b = bench(gen)
    assert b.select([1], [code], E4M3) == [code]
    assert b.lane == value


# data code and dtype, out dtype: written code; policy where it is not the default
CONVERSIONS = [
    pytest.param(0x3F801000, FP32, FP32R, 0x3F801000, {}, id="FP32R keeps 11 bits"),
    pytest.param(0x3F800800, FP32, FP32R, 0x3F800000, {}, id="FP32R rounds a tie to even, down"),
    pytest.param(0x3F801800, FP32, FP32R, 0x3F802000, {}, id="FP32R rounds a tie to even, up"),
    pytest.param(0x7F7FFFFF, FP32, FP32R, INF, {}, id="FP32R may round up to infinity"),
    pytest.param(0xFFC12345, FP32, FP32R, NAN, {}, id="FP32R has the canonical NaN"),
    pytest.param(0x3F801000, FP32, FP32R, 0x3F800000, {"fp32r_mantissa_bits": 10}, id="FP32R with 10 bits"),
    pytest.param(0x3F800400, FP32, FP32R, 0x3F800400, {"fp32r_mantissa_bits": 13}, id="FP32R with 13 bits"),
    pytest.param(0x3F808000, FP32, BF16, 0x3F80, {}, id="bf16 tie to even, down"),
    pytest.param(0x3F818000, FP32, BF16, 0x3F82, {}, id="bf16 tie to even, up"),
    pytest.param(0x7F7FFFFF, FP32, BF16, 0x7F80, {}, id="bf16 overflows to infinity"),
    pytest.param(0xFFC12345, FP32, BF16, 0x7FC0, {}, id="bf16 has the canonical NaN"),
    pytest.param(0x477FF000, FP32, FP16, 0x7C00, {}, id="fp16 overflows at 65520"),
    pytest.param(0x477FEFFF, FP32, FP16, 0x7BFF, {}, id="fp16 just below 65520"),
    pytest.param(0x33000001, FP32, FP16, 0x0001, {}, id="fp16 smallest subnormal"),
    pytest.param(0x33000000, FP32, FP16, 0x0000, {}, id="fp16 half of it goes to zero"),
    pytest.param(0xB3000000, FP32, FP16, 0x8000, {}, id="and keeps its sign"),
    pytest.param(0x43F00000, FP32, E4M3, 0x78, {}, id="E4M3 IEEE style overflows to infinity"),
    pytest.param(0x43F00000, FP32, E4M3, 0x7E, {"fp8_exp4": "ocp"}, id="E4M3FN saturates"),
    pytest.param(MINUS_INF, FP32, E4M3, 0xFE, {"fp8_exp4": "ocp"}, id="E4M3FN of -inf is -448"),
    pytest.param(INF, FP32, E4M3, 0x7F, {"fp8_exp4": "ocp", "fp8_overflow": "ieee"}, id="E4M3FN of inf as IEEE is NaN"),
    pytest.param(MINUS_INF, FP32, E5M2, 0xFB, {"fp8_overflow": "saturate"}, id="E5M2 saturates when told to"),
    pytest.param(NAN, FP32, E3M4, 0x78, {}, id="E3M4 canonical NaN"),
    pytest.param(0x40200000, FP32, INT8, 2, {}, id="2.5 to int8 is 2"),
    pytest.param(0x40600000, FP32, INT8, 4, {}, id="3.5 to int8 is 4"),
    pytest.param(0xC0200000, FP32, INT8, 0xFE, {}, id="-2.5 to int8 is -2"),
    pytest.param(0x437F8000, FP32, UINT8, 255, {}, id="255.5 to uint8 saturates"),
    pytest.param(MINUS_ONE, FP32, UINT8, 0, {}, id="-1 to uint8 is 0"),
    pytest.param(INF, FP32, INT32, 0x7FFFFFFF, {}, id="inf to int32"),
    pytest.param(0x4F800000, FP32, UINT32, 0xFFFFFFFF, {}, id="2^32 to uint32"),
    pytest.param(NAN, FP32, INT16, 0x7FFF, {}, id="positive NaN gives the maximum"),
    pytest.param(0xFFC00000, FP32, INT16, 0x8000, {}, id="negative NaN gives the minimum"),
    pytest.param(0xFFC00000, FP32, UINT16, 0, {}, id="negative NaN gives 0 where unsigned"),
    pytest.param(0x40600000, FP32, INT8, 3, {"fp_to_int": "rtz_saturate"}, id="3.5 truncates"),
    pytest.param(0x43808000, FP32, UINT8, 1, {"fp_to_int": "wrap"}, id="257 wraps to 1"),
    pytest.param(0xBF800000, FP32, UINT8, 255, {"fp_to_int": "wrap"}, id="-1 wraps to 255"),
    pytest.param(NAN, FP32, INT32, 0, {"fp_to_int": "wrap"}, id="NaN wraps to 0"),
    pytest.param(0xFF, UINT8, FP16, 0x5BF8, {}, id="uint8 to fp16"),
    pytest.param(0x80, INT8, INT32, 0xFFFFFF80, {}, id="int8 to int32 keeps the sign"),
    pytest.param(0x8000, INT16, UINT8, 0, {}, id="int16 to uint8 saturates"),
    pytest.param(0x7C01, FP16, FP32, NAN, {}, id="a signalling NaN is quietened"),
    pytest.param(0x0001, FP16, FP32, 0x33800000, {}, id="fp16 subnormal becomes a normal fp32"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "data", "out", "written", "policies"), CONVERSIONS)
def test_other_out_dtypes_go_through_the_hub(
    bench: Callable[..., Bench], code: int, data: int, out: int, written: int, policies: Any
) -> None:
    assert bench(**policies).select([1], [code], data, out) == [written]


def test_the_maximum_is_folded_before_it_is_narrowed(bench: Callable[..., Bench]) -> None:
    """Evidence names the losing reading, a seed and a fold by out_dtype."""
    b = bench()
    assert b.select([1, 0], [0x3F801001, TWO], FP32, INT8) == [1, 0xA5]
    assert b.lane == 0x3F801001
    b.select([0], [0], UINT8, FP32)
    assert b.lane == ZERO


@pytest.mark.parametrize("flat", [True, False])
def test_reverse_first_inverts_the_predicate(bench: Callable[..., Bench], flat: bool) -> None:
    b = bench()
    assert b.select([1, 0, 7], [THREE, ONE, THREE], flat=flat, reverse_operands=1) == [NONE, ONE, NONE]
    assert b.lane == ONE


@pytest.mark.parametrize(("pred", "mask", "expected"), [
    (INT8, [0x80, 0], [1, 0]), (UINT8, [0xFF, 0], [1, 0]), (INT16, [0x8000, 0x0100], [1, 1]), (UINT16, [0, 0x0001], [0, 1]),
    (INT32, [0x80000000, 0], [1, 0]), (UINT32, [0x00010000, 0x01000000], [1, 1]),
])  # fmt: skip
@pytest.mark.parametrize("flat", [True, False])
def test_a_predicate_is_true_where_any_bit_is_set(
    bench: Callable[..., Bench], pred: int, mask: Any, expected: Any, flat: bool
) -> None:
    written = bench().select(mask, [ONE, TWO], pred=pred, flat=flat)
    assert [int(w != NONE) for w in written] == expected


# The accumulator ----------------------------------------------------------------------------------------------------


def test_accumulate_continues_and_zero_accumulate_starts_again(bench: Callable[..., Bench]) -> None:
    b = bench()
    b.select([1], [TWO])
    b.select([1], [ONE], command=ACCUMULATE)
    assert b.lane == TWO
    b.select([1], [THREE], command=ACCUMULATE)
    assert b.lane == THREE
    b.select([1], [ONE], command=ZERO_ACCUMULATE)
    assert b.lane == ONE


def test_accumulate_over_nothing_but_nan_keeps_what_is_there(bench: Callable[..., Bench]) -> None:
    b = bench()
    b.select([1], [MINUS_ONE])
    b.select([1, 1, 0], [NAN, 0xFFFFFFFF, TWO], command=ACCUMULATE)
    assert b.lane == MINUS_ONE


def test_an_undefined_lane_stands_for_a_nan_and_gives_a_notice(bench: Callable[..., Bench]) -> None:
    b = bench()
    assert not b.core.accumulators.defined("dve").any()
    record = records.read_accumulator(b.gen, dst__addr=0, num_active_channels=1)
    (notice,) = b.core.run(record).notices
    assert "no value" in str(notice)
    assert b.get(0, FP32, 1) == [NAN]
    b.select([1], [MINUS_ONE], command=ACCUMULATE)
    assert not b.core.accumulators.defined("dve").any(), "going on from an undefined lane defines nothing"
    b.select([1], [MINUS_ONE])
    assert b.lane == MINUS_ONE
    assert b.core.accumulators.defined("dve").tolist() == [True] + [False] * 127


def test_idle_is_a_single_shot(bench: Callable[..., Bench]) -> None:
    b = bench()
    b.select([1], [THREE])
    b.select([1], [ONE], command=IDLE)
    assert b.lane == ONE
    assert b.core.accumulators.defined("dve")[0]


def test_idle_leaves_the_lane_undefined_under_the_other_policy(bench: Callable[..., Bench]) -> None:
    b = bench(idle_accumulator="undefined")
    b.select([1], [THREE])
    assert b.core.accumulators.defined("dve")[0]
    b.select([1], [ONE], command=IDLE)
    assert not b.core.accumulators.defined("dve")[0]


def test_the_lane_is_that_of_the_destination(bench: Callable[..., Bench]) -> None:
    b = bench()
    b.put(PRED, UINT8, [1])
    b.put(DATA, FP32, [TWO])
    b.core.run(
        records.select_reduce(
            b.gen, num_active_channels=1, src0__addr=PRED, src1__addr=DATA, dst__addr=sbuf(b.gen, 96, DST),
            **{f"{o}__num{d}": 1 for o in ("src0", "src1", "dst") for d in (0, 1)},
        )
    )  # fmt: skip
    assert np.flatnonzero(b.core.accumulators.defined("dve")).tolist() == [96]


@pytest.mark.parametrize(("policy", "best"), [("suppress", TWO), ("propagate", NAN), ("select", TWO)])
def test_policy_reduce_nan(bench: Callable[..., Bench], policy: str, best: int) -> None:
    b = bench(reduce_nan=policy)
    b.select([1, 1, 1], [ONE, NAN, TWO])
    assert b.lane == best


@pytest.mark.parametrize("policy", ["suppress", "propagate"])
def test_plus_zero_beats_minus_zero_in_either_order(bench: Callable[..., Bench], policy: str) -> None:
    b = bench(reduce_nan=policy)
    for codes in ([MINUS_ZERO, ZERO], [ZERO, MINUS_ZERO]):
        b.select([1, 1], codes)
        assert b.lane == ZERO


def test_ordered_compare_keeps_the_first_zero(bench: Callable[..., Bench]) -> None:
    """Under `a > b ? a : b` with the element left and the accumulator right, equal zeros leave the accumulator."""
    b = bench(reduce_nan="select")
    b.select([1, 1], [MINUS_ZERO, ZERO])
    assert b.lane == MINUS_ZERO


# imm0: dtype and code of a pointer, or inline bits: what false lanes take under `select`
SELECT = [
    pytest.param(None, MINUS_ONE, FP32, MINUS_ONE, TWO, id="inline"),
    pytest.param(None, INF, FP32, INF, INF, id="the written row takes part in the maximum"),
    pytest.param(None, 0xFF812345, FP32, NAN, TWO, id="a NaN passes the hub"),
    pytest.param(BF16, 0x4040, FP32, THREE, THREE, id="a bf16 element in memory"),
    pytest.param(INT8, 0x80, FP32, 0xC3000000, TWO, id="an int8 element in memory"),
    pytest.param(UINT32, 0xFFFFFFFF, FP32, 0x4F800000, 0x4F800000, id="a uint32 element is rounded to nearest"),
    pytest.param(FP32, 0x40200000, INT8, 2, 0x40200000, id="to out_dtype last: 2.5 is folded, 2 is stored"),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "code", "out", "stored", "best"), SELECT)
@pytest.mark.parametrize("register", [False, True])
def test_policy_select_fills_false_lanes(
    bench: Callable[..., Bench], dtype: int | None, code: int, out: int, stored: int, best: int, register: bool
) -> None:
    b = bench(select_reduce="select")
    given: dict[str, int] = {"imm0": code}
    if dtype is not None:
        b.put(0x40, dtype, [code])
        b.core.registers[9] = 0x40
        given = {"imm0": 9, "imm0_src": 2} if register else {"imm0": 0x40, "imm0_src": 1}
        given["imm0_dtype"] = dtype
    two = 0x40000000
    assert b.select([0, 1], [THREE, two], FP32, out, **given) == [stored, two if out == FP32 else 2]
    assert b.lane == best


def test_policy_merge_never_reads_imm0(bench: Callable[..., Bench]) -> None:
    """It is validated, yet an undefined register or a pointer beyond the partition's active part harms nobody."""
    b = bench()
    assert b.select([0, 1], [ONE, TWO], imm0_src=2, imm0=63) == [NONE, TWO]
    beyond = records.SBUF_STRIDE[b.gen] - 4
    assert b.select([0, 1], [ONE, TWO], imm0_src=1, imm0=beyond) == [NONE, TWO]
    other = bench(select_reduce="select")
    with pytest.raises(gp.Fault, match="imm0: register r63 was never written"):
        other.select([0, 1], [ONE, TWO], imm0_src=2, imm0=63)
    with pytest.raises(gp.Fault, match="imm0 touches bytes"):
        other.select([0, 1], [ONE, TWO], imm0_src=1, imm0=beyond)


# 0x9B ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "dtype", "negated", "code"), [
    (0x3F812345, FP32, 0, 0x3F812345), (0x3F812345, FP32, 1, 0xBF812345), (ZERO, FP32, 1, MINUS_ZERO),
    (0x3F812345, FP32R, 0, 0x3F812000), (0x7F7FFFFF, FP32R, 0, INF), (0x3F818000, BF16, 1, 0xBF82),
    (0x477FF000, FP16, 1, 0xFC00), (MINUS_INF, FP16, 1, 0x7C00), (0x43F00000, E4M3, 0, 0x78), (0x41780000, E3M4, 1, 0xEF),
    (0x47600000, E5M2, 0, 0x7B), (MINUS_INF, FP32, 0, MINUS_INF),
])  # fmt: skip
def test_read_accumulator(bench: Callable[..., Bench], value: int, dtype: int, negated: int, code: int) -> None:
    """The sign is flipped first, then the value is converted; FP32 is an identity copy."""
    b = bench()
    b.core.accumulators["dve"] = np.array([value], np.uint32).view(np.float32)
    assert b.read_back(dtype, negated) == code
    assert b.lane == value


def test_read_accumulator_clears_nothing(bench: Callable[..., Bench]) -> None:
    b = bench()
    b.select([1], [TWO])
    assert [b.read_back(), b.read_back(negated=1), b.read_back()] == [TWO, 0xC0000000, TWO]


def test_read_accumulator_reads_the_lanes_of_its_partitions(bench: Callable[..., Bench]) -> None:
    """At partition p with n channels: lanes p to p + n - 1, whatever wrote them."""
    b = bench()
    b.core.accumulators["dve"] = np.arange(128, dtype=np.float32)
    b.core.run(records.read_accumulator(b.gen, dst__addr=sbuf(b.gen, 64, 0x20), num_active_channels=64))
    column = b.core.sbuf.read(0, 0x20, shape=(128, 1), dtype="fp32")[:, 0]
    assert column[64:].tolist() == list(range(64, 128))
    assert (column[:64].view(np.uint32) == NONE).all()
