"""Differences: the first one, down to the element, between machines, against traces, against golden tensors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from host_programs import PREPARE, nop, pair, ready
from hypothesis import given, settings
from hypothesis import strategies as st

import gpsimd_core as gp
from gpsimd_core.diff import against_golden, against_trace, lockstep
from gpsimd_core.elements import APART, distances
from gpsimd_core.isa.formats import FORMATS
from gpsimd_core.trace import Tracer

Load = Callable[..., gp.Machine]
SIDES = ("one", "two")
EXAMPLES = Path(__file__).parents[2] / "examples" / "programs"


@pytest.fixture(scope="module")
def cayman(load: Load) -> gp.Machine:
    return load("cayman")


def sides(
    machines: tuple[gp.Machine, gp.Machine], text: str, change: Any = None
) -> list[tuple[gp.NeuronCore, gp.Program]]:
    """The same program on two cores; `change(core)` touches the second."""
    found = []
    for machine in machines:
        core = ready(machine)
        found.append((core, machine.assemble(text)))
    if change is not None:
        change(found[1][0])
    return found


# Distances -----------------------------------------------------------------------------------------------------------


def apart(a: int, b: int, name: str) -> int:
    fmt = FORMATS[name]
    return int(distances(np.array([a], fmt.code_dtype), np.array([b], fmt.code_dtype), fmt)[0])


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("fp32", 0x3F800000, 0x3F800001, 1), ("fp32", 0x3F800000, 0x3F7FFFFF, 1), ("fp32", 0x00000001, 0x80000001, 2),
        ("fp32", 0x00000000, 0x80000000, 0), ("fp32", 0x7F7FFFFF, 0x7F800000, 1), ("fp32", 0x7FC00000, 0xFFC00001, 0),
        ("fp32", 0x7FC00000, 0x3F800000, int(APART)), ("fp32", 0xFF800000, 0x7F800000, 2 * 0x7F800000),
        ("bf16", 0x3F80, 0x3F82, 2), ("fp16", 0x3C00, 0xBC00, 2 * 0x3C00), ("fp8_e4m3", 0x77, 0x78, 1),
        ("fp8_e4m3fn", 0x7E, 0x7F, int(APART)), ("fp8_e5m2", 0x01, 0x81, 2),
        ("int8", 0x7F, 0x80, 255), ("int8", 0xFF, 0x01, 2), ("uint8", 0xFF, 0x01, 254), ("int16", 0x8000, 0x7FFF, 65535),
        ("int32", 0xFFFFFFFF, 0, 1), ("uint32", 0xFFFFFFFF, 0, 0xFFFFFFFF), ("int32", 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF),
        ("int64", 1 << 63, (1 << 63) - 1, (1 << 64) - 1), ("uint64", 0, (1 << 64) - 1, (1 << 64) - 1),
    ],
)  # fmt: skip
def test_distances(name: str, a: int, b: int, expected: int) -> None:
    assert apart(a, b, name) == apart(b, a, name) == expected


@pytest.mark.parametrize(("name", "kind"), [("fp16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_distances_count_the_numbers_between(name: str, kind: Any) -> None:
    """All finite 16-bit codes, in the order of their values: neighbours are 1 apart, the two zeros 0."""
    codes = np.arange(65536, dtype=np.uint16)
    finite = (
        codes[np.isfinite(codes.view(kind).astype(np.float32))]
        if kind is np.float16
        else codes[codes & 0x7FFF < 0x7F80]
    )
    line = finite[np.argsort(finite.view(kind).astype(np.float64), kind="stable")]
    steps = distances(line[:-1], line[1:], FORMATS[name])
    zeros = (line[:-1] & 0x7FFF == 0) & (line[1:] & 0x7FFF == 0)
    assert zeros.sum() == 1
    assert (steps == np.where(zeros, 0, 1)).all()


@settings(deadline=None)
@given(a=st.integers(0, 0xFFFFFFFF), b=st.integers(0, 0xFFFFFFFF), c=st.integers(0, 0xFFFFFFFF))
def test_distances_are_a_metric(a: int, b: int, c: int) -> None:
    """Where none is a NaN."""
    numbers = [x for x in (a, b, c) if x & 0x7FFFFFFF <= 0x7F800000]
    if len(numbers) == 3:
        assert apart(a, c, "fp32") <= apart(a, b, "fp32") + apart(b, c, "fp32")


# Lock step -----------------------------------------------------------------------------------------------------------


def test_equal_runs_are_equal(machine: gp.Machine, load: Load) -> None:
    program = pair(machine)
    found = lockstep((ready(machine), program), (ready(machine), program), sides=SIDES)
    assert found.equal
    assert str(found) == "one and two agree on 2 instructions"


def test_a_planted_bit_is_found_with_its_lane_and_ulps(cayman: gp.Machine) -> None:
    """One bit of one element of x: seen where it first reaches an output."""
    text = PREPARE + "nop\ntensor_scalar_arith_op src=@x, dst=@y, op0=MULT, imm0=1.0\ncopy src=@y, dst=@z"

    def plant(core: gp.NeuronCore) -> None:
        x = core.sbuf.read(0, 0, shape=(4, 4), dtype=np.uint32)
        x[2, 3] ^= 1
        core.sbuf.write(x)

    one, two = sides((cayman, cayman), text, plant)
    found = lockstep(one, two, sides=SIDES)
    assert found.instructions == 2
    assert [str(found)] == [
        "dve instruction 1: tensor_scalar_arith_op src=@x, op0=MULT, imm0=0x3f800000, dst=@y\n"
        "  out at dst, partition 2, element 3\n"
        "    one  fp32 0x41300000 11\n"
        "    two  fp32 0x41300001 11.000001\n"
        "    1 ulp of fp32 apart"
    ]
    (d,) = found.differences
    assert (d.index, d.engine, d.partition, d.element, d.bits, d.ulps, d.count) == (
        1, "dve", 2, 3, ("0x41300000", "0x41300001"), 1, 1,
    )  # fmt: skip


def test_a_tolerance(cayman: gp.Machine) -> None:
    text = PREPARE + "copy src=@x, dst=@y\ncopy src=@y, dst=@z"

    def plant(core: gp.NeuronCore) -> None:
        x = core.sbuf.read(0, 0, shape=(4, 4), dtype=np.uint32)
        x[1, 0] += 3
        x[3, 1] -= 2
        core.sbuf.write(x)

    expected = {0: (2, 3), 2: (1, 3), 3: None}
    for ulps, what in expected.items():
        one, two = sides((cayman, cayman), text, plant)
        found = lockstep(one, two, sides=SIDES, ulps=ulps)
        assert found.equal == (what is None)
        if what is not None:
            assert (found.differences[0].count, found.differences[0].worst) == what
            assert found.differences[0].partition == 1


def test_all_differences_are_summarised(cayman: gp.Machine) -> None:
    text = PREPARE + "copy src=@x, dst=@y\nnop\ncopy src=@y, dst=@z"
    one, two = sides((cayman, cayman), text, lambda core: core.sbuf.write(np.full((2, 1), 9, np.float32), partition=1))
    found = lockstep(one, two, sides=SIDES, every=True)
    assert found.instructions == 3
    assert [(d.index, d.count, d.partition, d.element) for d in found.differences] == [(0, 2, 1, 0), (2, 2, 1, 0)]


def test_two_nan_and_two_zeros_are_equal_within_a_tolerance(cayman: gp.Machine) -> None:
    def plant(core: gp.NeuronCore) -> None:
        core.sbuf.write(np.array([[0x80000000, 0xFFC00001]], np.uint32))

    text = PREPARE + "copy src=@x, dst=@z"
    for ulps, equal in ((0, False), (1, True)):
        one, two = sides((cayman, cayman), text, plant)
        one[0].sbuf.write(np.array([[0, 0x7FC00000]], np.uint32))
        assert lockstep(one, two, sides=SIDES, ulps=ulps).equal == equal


def test_a_nan_is_no_number_of_ulps_from_a_number(cayman: gp.Machine) -> None:
    text = PREPARE + "copy src=@x, dst=@z"
    one, two = sides((cayman, cayman), text, lambda core: core.sbuf.write(np.array([[np.nan]], np.float32)))
    found = lockstep(one, two, sides=SIDES, ulps=10**9)
    assert found.differences[0].ulps is None
    assert "one of them is NaN, so they are no number of ulps apart" in str(found)


def test_accumulators_registers_and_semaphores(cayman: gp.Machine) -> None:
    def accumulators(core: gp.NeuronCore) -> None:
        core.accumulators.store("dve", 3, np.array([1.5], np.float32))

    one, two = sides((cayman, cayman), PREPARE + "nop", accumulators)
    assert (
        "accumulator of dve, partition 3, element 0\n    one  fp32 0x7fc00000 nan\n    two  fp32 0x3fc00000 1.5"
        in str(lockstep(one, two, sides=SIDES))
    )

    def registers(core: gp.NeuronCore) -> None:
        core.registers[5] = 7

    one, two = sides((cayman, cayman), PREPARE + "nop", registers)
    assert str(lockstep(one, two, sides=SIDES)).splitlines()[1:] == [
        "  register r5", "    one  never written", "    two  0x00000007",
    ]  # fmt: skip

    def semaphores(core: gp.NeuronCore) -> None:
        core.semaphores[9] = 2

    one, two = sides((cayman, cayman), PREPARE + "nop", semaphores)
    assert str(lockstep(one, two, sides=SIDES)).splitlines()[1:] == ["  semaphore 9", "    one  0", "    two  2"]


def test_lane_state(cayman: gp.Machine) -> None:
    def other(core: gp.NeuronCore) -> None:
        core.lanes[7, 14] = 3

    one, two = sides((cayman, cayman), PREPARE + "nop", other)
    assert "per-lane state of the engine, partition 7" in str(lockstep(one, two, sides=SIDES))


def test_one_that_faults_and_one_that_does_not(cayman: gp.Machine) -> None:
    text = PREPARE + "nop\nnop wait_mode=EVT_SET, wait_idx=1"

    def met(core: gp.NeuronCore) -> None:
        core.events[1] = 1

    one, two = sides((cayman, cayman), text, met)
    found = str(lockstep(one, two, sides=SIDES, every=True))
    assert "one  Fault: nop would wait for ever" in found
    assert "two  runs" in found
    one, two = sides((cayman, cayman), text)
    assert lockstep(one, two, sides=SIDES).equal  # both fault alike


def test_several_streams_in_lock_step(cayman: gp.Machine) -> None:
    for schedule in ("round_robin", 7):
        text = PREPARE + ".stream act\nnop\n.stream dve\ncopy src=@x, dst=@z"
        one, two = sides((cayman, cayman), text, lambda core: core.sbuf.write(np.full((1, 1), 99, np.float32)))
        found = lockstep(one, two, sides=SIDES, schedule=schedule)
        assert (found.differences[0].engine, found.differences[0].index) == ("dve", 0)


def test_the_fp8_flavours_of_two_generations(load: Load) -> None:
    """The shipped example: the first number beyond 240, infinity on cayman, 288 on maverick."""
    text = (EXAMPLES / "fp8_flavours.tpb").read_text()
    given = []
    for gen in ("cayman", "maverick"):
        machine = load(gen)
        core = gp.NeuronCore(machine, compiled=False)
        core.sbuf.write(np.linspace(1, 500, 2048, dtype=np.float32).reshape(32, 64))
        given.append((core, machine.assemble(text)))
    found = lockstep(given[0], given[1], sides=("cayman", "maverick"))
    assert str(found).splitlines()[:5] == [
        "dve instruction 1: cast src=@x, dst=@y", "  out at dst, partition 17, element 24",
        "    cayman    fp8_e4m3 0x78 inf", "    maverick  fp8_e4m3fn 0x79 288", "    1 code apart; the formats differ",
    ]  # fmt: skip


def test_a_policy(load: Load) -> None:
    machines = load("cayman"), load("cayman", policies={"fp_to_int": "rtz_saturate"})
    text = PREPARE.replace("z sbuf 0 0x200 fp32", "z sbuf 0 0x200 int32") + "cast src=@x, dst=@z"
    one, two = sides(machines, text)
    for core, _ in (one, two):
        core.sbuf.write(np.array([[0.5, 1.5, 2.5, 3.5]], np.float32))
    (d,) = lockstep(one, two, sides=SIDES).differences
    assert (d.partition, d.element, d.values, d.ulps, d.count) == (0, 1, ("2", "1"), 1, 2)


def test_an_engine_that_is_folded_away_is_no_difference(load: Load) -> None:
    """0x23 runs on ACT, and on maverick on DVE; one stream does not care."""
    given = [
        (gp.NeuronCore(m, compiled=False), m.assemble("activation_table_load\nnop"))
        for m in (load("cayman"), load("maverick"))
    ]
    assert lockstep(given[0], given[1], sides=SIDES).equal


# Against a trace -------------------------------------------------------------------------------------------------------


def recorded(machine: gp.Machine, program: Any, *, hashes: bool = True) -> Any:
    core = ready(machine)
    tracer = Tracer(core, hashes=hashes)
    core.run(program, watchers=[tracer])
    return tracer.trace()


def test_against_its_own_trace(cayman: gp.Machine) -> None:
    program = pair(cayman)
    found = against_trace(ready(cayman), program, recorded(cayman, program))
    assert found.equal
    assert found.instructions == 2


def test_a_trace_of_other_data(cayman: gp.Machine) -> None:
    program = pair(cayman)
    trace = recorded(cayman, program)
    core = ready(cayman)
    core.sbuf.write(np.full((1, 1), 99, np.float32))
    first = against_trace(core, program, trace)
    assert [(d.engine, d.index, d.what) for d in first.differences] == [("pool", 0, "the hash of its outputs")]
    core = ready(cayman)
    core.sbuf.write(np.full((1, 1), 99, np.float32))
    assert len(against_trace(core, program, trace, every=True).differences) == 2


def test_a_trace_of_another_program(cayman: gp.Machine) -> None:
    trace = recorded(cayman, pair(cayman))
    found = against_trace(
        ready(cayman), pair(cayman, update=", update_mode=SEM_ADD_IMM_COMPLETE, update_idx=4, semaphore_value=1"), trace
    )
    assert found.differences[0].what == "its wait and update"
    longer = cayman.assemble(PREPARE + "copy src=@x, dst=@y\ncopy src=@y, dst=@z")
    short = cayman.assemble(PREPARE + "copy src=@x, dst=@y")
    assert "the trace has ended before it" in str(against_trace(ready(cayman), longer, recorded(cayman, short)))
    assert "the trace has 2 instructions" in str(against_trace(ready(cayman), short, recorded(cayman, longer)))
    moved = cayman.assemble(PREPARE + "copy src=@x, dst=@z")
    assert (
        against_trace(ready(cayman), moved, recorded(cayman, short)).differences[0].what
        == "the byte ranges of its operands"
    )
    assert against_trace(ready(cayman), nop(), recorded(cayman, short)).differences[0].what == "which instruction runs"


def test_a_trace_without_hashes(cayman: gp.Machine) -> None:
    with pytest.raises(gp.GpsimdError, match="recorded without hashes"):
        against_trace(ready(cayman), nop(), recorded(cayman, nop(), hashes=False))


# Against golden tensors ---------------------------------------------------------------------------------------------------


def test_golden_tensors(cayman: gp.Machine) -> None:
    program = pair(cayman)
    golden = 2 * np.arange(16, dtype=np.float32).reshape(4, 4)
    assert against_golden(ready(cayman), program, {"z": golden, "y": golden / 2}).equal
    golden.view(np.uint32)[3, 2] ^= 1
    found = against_golden(ready(cayman), program, {"z": golden})
    (d,) = found.differences
    assert (d.what, d.engine, d.index, d.partition, d.element, d.ulps) == ("z", "dve", 0, 3, 2, 1)
    assert d.statement.startswith("tensor_tensor_arith_op")
    assert against_golden(ready(cayman), program, {"z": golden}, ulps=1).equal


def test_the_last_writer_is_named(cayman: gp.Machine) -> None:
    """Of an element between the elements that others write, and of one that nobody wrote."""
    text = (
        PREPARE
        + """
    copy src=@x, dst=@z
    copy src={addr=@x, num=[2]}, dst={addr=@z+4, step=[2], num=[2]}, in_dtype=fp32, out_dtype=fp32, num_active_channels=4
    copy src={addr=@x, num=[1]}, dst={addr=@z, num=[1]}, in_dtype=fp32, out_dtype=fp32, num_active_channels=2
    """
    )
    program = cayman.assemble(text)
    right = ready(cayman)
    right.run(program)
    golden = right.sbuf.read(0, 0x200, shape=(4, 4), dtype="fp32")
    for (row, column), index in {(0, 0): 2, (1, 0): 2, (2, 0): 0, (0, 1): 1, (3, 3): 1, (3, 2): 0}.items():
        wrong = golden.copy()
        wrong[row, column] += 1
        (d,) = against_golden(ready(cayman), program, {"z": wrong}).differences
        assert (d.index, d.partition, d.element) == (index, row, column)
    (d,) = against_golden(ready(cayman), cayman.assemble(PREPARE + "nop"), {"z": golden}).differences
    assert d.index is None


def test_golden_of_another_kind(cayman: gp.Machine) -> None:
    for name, array, message in (
        ("w", np.zeros((4, 4), np.float32), "no tensor 'w'; it has x, y, z"),
        ("z", np.zeros((4, 5), np.float32), r"float32 \(4, 5\); the program declares fp32 \(4, 4\)"),
        ("z", np.zeros((4, 4), np.float16), "golden z is float16"),
    ):
        with pytest.raises(gp.GpsimdError, match=message):
            against_golden(ready(cayman), pair(cayman), {name: array})


def test_golden_codes_of_a_small_format(load: Load) -> None:
    text = PREPARE.replace("z sbuf 0 0x200 fp32", "z sbuf 0 0x200 fp8_e4m3") + "cast src=@x, dst=@z"
    cayman = load("cayman")
    golden = np.arange(16, dtype=np.float32).reshape(4, 4).astype(ml_dtypes.float8_e4m3)
    assert against_golden(ready(cayman), cayman.assemble(text), {"z": golden}).equal
    assert against_golden(ready(cayman), cayman.assemble(text), {"z": golden.view(np.uint8)}).equal
