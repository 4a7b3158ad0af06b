"""Properties of select_reduce (0xEA): what must hold whatever the numbers are."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import records
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from records import BF16, E5M2, FP16, FP32, FP32R, INT16, SIZE, UINT8, sbuf
from value_cases import Maker, pack, register_values
from value_model import Policies

import gpsimd_core as gp

ACCUMULATE, ZERO_ACCUMULATE = 2, 3
POISON = 0xA5
PRED, DATA, DST = 0x1000, 0x2000, 0x3000
quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def core(load: Callable[..., gp.Machine]) -> gp.NeuronCore:
    """A core of one generation; every property writes all that it reads."""
    return gp.NeuronCore(load("cayman"))


def row_of(length: int) -> dict[str, int]:
    """Pattern fields of contiguous operands of this length."""
    fields = {}
    for name in ("src0", "src1", "dst"):
        fields |= {f"{name}__num0": length, f"{name}__num1": 1, f"{name}__step0": 1, f"{name}__step1": 0}
    return fields


def put(core: gp.NeuronCore, offset: int, codes: list[int], size: int) -> None:
    core.sbuf.write(np.array([codes], f"<u{size}"), 0, offset)


def bits(core: gp.NeuronCore) -> int:
    return int(core.accumulators["dve"].view(np.uint32)[0])


@st.composite
def rows(draw: Any) -> tuple[int, list[int], list[int], list[int]]:
    """A data dtype, a mask, codes, and other codes to put where the mask is zero."""
    dtype = draw(st.sampled_from([UINT8, INT16, BF16, FP16, FP32, E5M2]))
    length = draw(st.integers(1, 40))
    code = st.integers(0, (1 << 8 * SIZE[dtype]) - 1)
    lists = st.lists(code, min_size=length, max_size=length)
    return dtype, draw(st.lists(st.integers(0, 2), min_size=length, max_size=length)), draw(lists), draw(lists)


def run_row(
    core: gp.NeuronCore, dtype: int, mask: list[int], codes: list[int], out: int | None = None, **more: Any
) -> tuple[bytes, int]:
    """Run one 0xEA on one channel; the destination's bytes and the accumulator."""
    put(core, PRED, mask, 1)
    put(core, DATA, codes, SIZE[dtype])
    if out is None:
        core.sbuf.write(np.full((1, 256), POISON, np.uint8), 0, DST)
    record = records.select_reduce(
        "cayman", src0__addr=PRED, src1__addr=DATA, dst__addr=DST, num_active_channels=1, src1_dtype=dtype,
        out_dtype=out or dtype, **(row_of(len(mask)) | more),
    )  # fmt: skip
    core.run(record)
    return core.sbuf.read(0, DST, shape=(1, 256), dtype="uint8").tobytes(), bits(core)


@quick
@given(rows(), st.sampled_from([None, FP32R]))
def test_dead_lanes_cannot_move_the_maximum(core: gp.NeuronCore, row: Any, out: int | None) -> None:
    """What stands where the predicate is zero changes neither memory nor the accumulator (policy merge)."""
    dtype, mask, codes, noise = row
    noisy = [c if m else n for m, c, n in zip(mask, codes, noise, strict=True)]
    if out is not None:
        core.sbuf.write(np.full((1, 256), POISON, np.uint8), 0, DST)
    first = run_row(core, dtype, mask, codes, out)
    if out is not None:
        core.sbuf.write(np.full((1, 256), POISON, np.uint8), 0, DST)
    assert run_row(core, dtype, mask, noisy, out) == first


@quick
@given(rows(), st.data())
def test_chained_instructions_equal_one_over_the_concatenation(core: gp.NeuronCore, row: Any, data: Any) -> None:
    """Seed, then continue k times, is one instruction over everything."""
    dtype, mask, codes, _ = row
    written, best = run_row(core, dtype, mask, codes)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(mask) - 1), max_size=4)) if len(mask) > 1 else [])
    core.sbuf.write(np.full((1, 256), POISON, np.uint8), 0, DST)
    program = b""
    for first, last in zip([0, *cuts], [*cuts, len(mask)], strict=True):
        program += records.select_reduce(
            "cayman", src0__addr=PRED + first, src1__addr=DATA + first * SIZE[dtype],
            dst__addr=DST + first * SIZE[dtype], num_active_channels=1, src1_dtype=dtype, out_dtype=dtype,
            accumulator_cmd=ACCUMULATE if first else ZERO_ACCUMULATE, **row_of(last - first),
        )  # fmt: skip
    core.run(program)
    assert (core.sbuf.read(0, DST, shape=(1, 256), dtype="uint8").tobytes(), bits(core)) == (written, best)


@quick
@given(rows(), st.sampled_from([1, 2]))
def test_in_place_equals_out_of_place(core: gp.NeuronCore, row: Any, gap: int) -> None:
    """A destination that is its own source element by element gives what a copy of that source would give."""
    dtype, mask, codes, _ = row
    size, length = SIZE[dtype], len(mask)
    pattern = row_of(length) | {f"{name}__step0": gap for name in ("src1", "dst")}
    spread = [0] * (length * gap)
    spread[::gap] = codes
    put(core, PRED, mask, 1)
    put(core, DATA, spread, size)
    put(core, DST, spread, size)  # what false lanes keep must be the data itself, as it is in place
    record = {"src0__addr": PRED, "src1__addr": DATA, "num_active_channels": 1, "src1_dtype": dtype, "out_dtype": dtype}
    core.run(records.select_reduce("cayman", dst__addr=DST, **record, **pattern))
    apart = core.sbuf.read(0, DST, shape=(1, length * gap * size), dtype="uint8").tobytes(), bits(core)
    put(core, DATA, spread, size)
    core.run(records.select_reduce("cayman", dst__addr=DATA, **record, **pattern))
    assert (core.sbuf.read(0, DATA, shape=(1, length * gap * size), dtype="uint8").tobytes(), bits(core)) == apart


@quick
@given(rows())
def test_in_place_conversion_between_dtypes_of_one_width(core: gp.NeuronCore, row: Any) -> None:
    """fp16 converted to bf16 where it stands equals fp16 converted elsewhere."""
    _, mask, codes, _ = row
    length, codes = len(mask), [c & 0xFFFF for c in codes]
    put(core, PRED, mask, 1)
    record = {"src0__addr": PRED, "src1__addr": DATA, "num_active_channels": 1, "src1_dtype": FP16, "out_dtype": BF16}
    results = []
    for dst in (DST, DATA):
        put(core, DATA, codes, 2)
        put(core, DST, codes, 2)
        core.run(records.select_reduce("cayman", dst__addr=dst, **record, **row_of(length)))
        results.append((core.sbuf.read(0, dst, shape=(1, length), dtype="uint16").tobytes(), bits(core)))
    assert results[0] == results[1]


def test_overlap_reads_everything_before_it_writes(core: gp.NeuronCore) -> None:
    """A destination one element beside its source shifts the row; a running copy would smear the first element."""
    put(core, PRED, [1] * 8, 1)
    put(core, DATA, [*range(1, 9), 0], 4)
    record = {"src0__addr": PRED, "src1__addr": DATA, "num_active_channels": 1}
    core.run(records.select_reduce("cayman", dst__addr=DATA + 4, **record, **row_of(8)))
    assert core.sbuf.read(0, DATA, shape=(1, 9), dtype="uint32")[0].tolist() == [1, *range(1, 9)]
    core.run(records.select_reduce("cayman", dst__addr=DATA - 4, **record, **row_of(8)))
    assert core.sbuf.read(0, DATA - 4, shape=(1, 9), dtype="uint32")[0].tolist() == [1, 1, 2, 3, 4, 5, 6, 7, 7]


def test_overlap_between_channels(core: gp.NeuronCore) -> None:
    """Channel 0 writes where channel 32 reads: it still reads what was there before."""
    rows = np.arange(64, dtype=np.uint32)[:, None] * np.ones((1, 4), np.uint32)
    core.sbuf.write(np.ones((64, 4), np.uint8), 0, PRED)
    core.sbuf.write(rows, 0, DATA)
    core.registers[1] = sbuf("cayman", 32, DATA)
    record = records.select_reduce(
        "cayman", src0__addr=PRED, src1__addr=DATA, dst__addr=0x80000001, num_active_channels=64, **row_of(4)
    )
    core.run(record)
    assert (core.sbuf.read(32, DATA, shape=(64, 4), dtype="uint32") == rows).all()


def test_a_destination_element_visited_twice_keeps_the_last_write(core: gp.NeuronCore) -> None:
    put(core, PRED, [1, 1, 1, 0], 1)
    put(core, DATA, [10, 20, 30, 40], 4)
    record = {"src0__addr": PRED, "src1__addr": DATA, "dst__addr": DST, "num_active_channels": 1}
    core.run(records.select_reduce("cayman", **record, **(row_of(4) | {"dst__step0": 0})))
    assert core.sbuf.read(0, DST, shape=(1, 1), dtype="uint32")[0, 0] == 30


def test_shapes_may_differ_as_long_as_products_agree(core: gp.NeuronCore) -> None:
    """The k-th element of each operand pairs with the k-th of the others, dim 0 fastest."""
    put(core, PRED, [1] * 6, 1)
    put(core, DATA, list(range(6)), 4)
    put(core, DST, [99] * 6, 4)
    record = records.select_reduce(
        "cayman", src0__addr=PRED, src1__addr=DATA, dst__addr=DST + 20, num_active_channels=1,
        src0__num0=6, src0__num1=1, src1__num0=2, src1__num1=3, src1__step0=3, src1__step1=1,
        dst__num0=3, dst__num1=2, dst__step0=-2, dst__step1=-1,
    )  # fmt: skip
    core.run(record)
    assert core.sbuf.read(0, DST, shape=(1, 6), dtype="uint32")[0].tolist() == [5, 1, 2, 3, 4, 0]


# Compiled and plain -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gen", ["sunda", "cayman", "mariana", "mariana_plus", "maverick"])
def test_compiled_equals_uncompiled(load: Callable[..., gp.Machine], gen: str) -> None:
    """The same small programs on both twins: all memory that they can reach, and every lane."""
    machine = load(gen)
    policies = Policies(fp8_exp4=str(machine.policies["fp8_exp4"]))
    twins = gp.NeuronCore(machine), gp.NeuronCore(machine, compiled=False)
    for n in range(8):
        maker = Maker(gen, policies, f"twins-{gen}-{n}", elements=100)
        program = maker.program()
        for region, (first, contents) in maker.contents(program).items():
            window = np.frombuffer(b"".join(contents), np.uint8).reshape(128, -1)
            for core in twins:
                core.memory.region(region).write(window, 0, first)
        for case in program:
            for number, value in register_values(gen, case).items():
                for core in twins:
                    core.registers[number] = value
        notices = [core.run(b"".join(pack(gen, case) for case in program)).notices for core in twins]
        assert notices[0] == notices[1]
        assert np.array_equal(twins[0].memory.data, twins[1].memory.data)
        assert np.array_equal(twins[0].lanes, twins[1].lanes)


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"), reason="nothing is compiled")
def test_few_signatures_are_compiled(load: Callable[..., gp.Machine]) -> None:
    """Formats are data, never a signature: whatever ran, 0xEA and 0x9B have at most 16 compiled entry points."""
    from gpsimd_core.isa.lane import compiled

    kernels = set()
    for gen, policies in (("cayman", {}), ("maverick", {"select_reduce": "select"})):
        machine = load(gen, policies=policies)
        core = gp.NeuronCore(machine)
        model = Policies(fp8_exp4=str(machine.policies["fp8_exp4"]))
        for n in range(10):
            maker = Maker(gen, model, f"signatures-{n}", elements=100)
            program = maker.program()
            for case in program:
                for number, value in register_values(gen, case).items():
                    core.registers[number] = value
            result = core.run(b"".join(pack(gen, case) for case in program))
            kernels |= {step.step.instruction.kernel.run for step in result.steps}
    assert len(kernels) == 2
    signatures = [signature for kernel in kernels for signature in compiled(kernel).signatures]
    assert 2 <= len(signatures) <= 16
