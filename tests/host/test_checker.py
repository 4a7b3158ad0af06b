"""What a check finds beside races: reads of bytes nobody wrote, and accumulators used in vain or undefined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from host_programs import PREPARE, kinds, ready

import gpsimd_core as gp

Load = Callable[..., gp.Machine]

FOLDS = """
.tensor m sbuf 0 0x000 uint8 4x4 in
.tensor x sbuf 0 0x100 fp32 4x4 in
.tensor y sbuf 0 0x200 fp32 4x4 inout
.tensor best sbuf 0 0x300 fp32 4x1 out
"""
FOLD = "select_reduce src0=@m, src1=@x, dst=@y, accumulator_cmd="
READ = "dve_read_accumulator dst=@best"


@pytest.fixture(scope="module")
def cayman(load: Load) -> gp.Machine:
    return load("cayman")


def told(machine: gp.Machine, text: str, core: gp.NeuronCore | None = None) -> list[str]:
    """The notices of a checked run, as text."""
    core = core or ready(machine)
    return [str(n) for n in core.run(machine.assemble(text), check=True).notices]


# Stray reads -----------------------------------------------------------------------------------------------------------


def test_an_input_that_nobody_wrote(machine: gp.Machine) -> None:
    """Named with the operand and the first such byte, on every generation."""
    core = gp.NeuronCore(machine, compiled=False)
    assert told(machine, PREPARE + "copy src=@x, dst=@z", core) == [
        "instruction 0: copy reads bytes nobody wrote: src, sbuf partition 0, first at byte 0"
    ]


def test_the_first_byte_that_nobody_wrote(cayman: gp.Machine) -> None:
    """Rows 0 and 1 are whole, row 2 is written up to its third element."""
    core = gp.NeuronCore(cayman, compiled=False)
    core.sbuf.write(np.zeros((2, 4), np.float32))
    core.sbuf.write(np.zeros((1, 2), np.float32), partition=2)
    core.sbuf.write(np.zeros((1, 4), np.float32), partition=3)
    assert told(cayman, PREPARE + "copy src=@x, dst=@z", core) == [
        "instruction 0: copy reads bytes nobody wrote: src, sbuf partition 2, first at byte 8"
    ]


def test_a_pointer_immediate_that_nobody_wrote(cayman: gp.Machine) -> None:
    text = PREPARE + "tensor_scalar_arith_op src=@x, dst=@z, imm0=0x500, imm0_src=POINTER_IMMEDIATE, op0=ADD"
    found = told(cayman, text)
    assert len(found) == 1
    assert "reads bytes nobody wrote: imm0, sbuf partition 0, first at byte 1280" in found[0]


def test_what_an_instruction_writes_is_written(cayman: gp.Machine) -> None:
    assert told(cayman, PREPARE + "copy src=@x, dst=@y\ncopy src=@y, dst=@z") == []


def test_what_an_earlier_run_wrote_is_written(cayman: gp.Machine) -> None:
    """An unwatched run of its own, more of them than are remembered, and one that a fault ended."""
    core = ready(cayman)
    core.run(cayman.assemble(PREPARE + "copy src=@x, dst=@y"))
    for i in range(70):
        text = (
            PREPARE
            + f"copy src={{addr=@x, num=[1]}}, dst={{addr={0x600 + 4 * i}, num=[1]}}, in_dtype=fp32, out_dtype=fp32"
        )
        core.run(cayman.assemble(text + ", num_active_channels=4"))
    with pytest.raises(gp.Fault):
        core.run(cayman.assemble(PREPARE + "copy src=@y, dst=@z\nnop wait_mode=EVT_SET"))
    wide = "copy src={addr=0x600, num=[70]}, dst={addr=0x900, num=[70]}, in_dtype=fp32, out_dtype=fp32, num_active_channels=4"
    assert told(cayman, PREPARE + f"copy src=@z, dst=@x\n{wide}", core) == []


def test_a_merge_reads_and_writes(cayman: gp.Machine) -> None:
    """A destination that keeps bytes nobody wrote is told as such, once: afterwards they count as written."""
    core = gp.NeuronCore(cayman, compiled=False)
    core.sbuf.write(np.zeros((4, 4), np.uint8))
    core.sbuf.write(np.zeros((4, 4), np.float32), offset=0x100)
    result = core.run(cayman.assemble(f"{FOLDS}{FOLD}ZERO_ACCUMULATE\n{FOLD}ACCUMULATE\n{READ}"), check=True)
    assert [str(n) for n in result.notices] == [
        "instruction 0: select_reduce merges into unwritten bytes: dst, sbuf partition 0, first at byte 512"
    ]
    assert kinds(result) == ["merge"]


def test_nothing_is_checked_unless_asked_for(cayman: gp.Machine) -> None:
    assert gp.NeuronCore(cayman, compiled=False).run(cayman.assemble(PREPARE + "copy src=@x, dst=@z")).notices == ()


# Accumulators ------------------------------------------------------------------------------------------------------------


def folds(machine: gp.Machine, *statements: str) -> list[str]:
    core = gp.NeuronCore(machine, compiled=False)
    core.sbuf.write(np.ones((4, 4), np.uint8))
    core.sbuf.write(np.ones((4, 4), np.float32), offset=0x100)
    core.sbuf.write(np.ones((4, 4), np.float32), offset=0x200)
    return [n.removeprefix("instruction ") for n in told(machine, "\n".join([FOLDS, *statements]), core)]


def test_folded_and_read(cayman: gp.Machine) -> None:
    assert folds(cayman, FOLD + "ZERO_ACCUMULATE", FOLD + "ACCUMULATE", READ) == []


def test_folded_and_never_read(machine: gp.Machine) -> None:
    assert folds(machine, FOLD + "ZERO_ACCUMULATE") == [
        "0: select_reduce folded into accumulator lanes 0..3, which nothing read"
    ]


def test_folded_and_replaced(cayman: gp.Machine) -> None:
    assert folds(cayman, FOLD + "ZERO_ACCUMULATE", FOLD + "ZERO_ACCUMULATE", READ) == [
        "0: select_reduce folded into accumulator lanes 0..3, which instruction 1 (select_reduce) replaced before "
        "anything read it"
    ]


def test_idle_is_a_fold_under_single_shot(cayman: gp.Machine) -> None:
    assert folds(cayman, FOLD + "IDLE") == ["0: select_reduce folded into accumulator lanes 0..3, which nothing read"]
    assert folds(cayman, FOLD + "IDLE", READ) == []


def test_idle_leaves_the_lane_undefined_under_the_other_policy(load: Load) -> None:
    nki = load("cayman", policies={"idle_accumulator": "undefined"})
    found = folds(nki, FOLD + "IDLE", READ)
    assert found == [
        "1: dve_read_accumulator used an accumulator lane that holds no value; 7fc00000 stood in",
        "1: dve_read_accumulator reads accumulator lanes 0..3, which instruction 0 (select_reduce) left undefined",
    ]
    assert folds(nki, FOLD + "IDLE", FOLD + "ZERO_ACCUMULATE", READ) == []


def test_read_without_any_fold(cayman: gp.Machine) -> None:
    assert folds(cayman, READ) == [
        "0: dve_read_accumulator used an accumulator lane that holds no value; 7fc00000 stood in"
    ]


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ((FOLD + "ZERO_ACCUMULATE",), "folded into accumulator lanes 0..3, which nothing read (strict)"),
        ((READ,), "uses the accumulator of lane 0, which holds no value (strict)"),
        ((FOLD + "ACCUMULATE",), "uses the accumulator of lane 0, which holds no value (strict)"),
    ],
)
def test_both_are_faults_under_strict(load: Load, statements: Any, message: str) -> None:
    with pytest.raises(gp.Fault) as e:
        folds(load("cayman", policies={"strict": "on"}), *statements)
    assert message in str(e.value)


def test_a_fault_carries_what_the_check_had_found(cayman: gp.Machine) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    with pytest.raises(gp.Fault) as e:
        core.run(cayman.assemble(PREPARE + "copy src=@x, dst=@z\nnop wait_mode=EVT_SET"), check=True)
    assert e.value.__notes__ == ["instruction 0: copy reads bytes nobody wrote: src, sbuf partition 0, first at byte 0"]
