"""An instruction that faults leaves memory, registers, accumulators and synchronisation as they were, each kind of fault.

The instructions before it have happened; nothing of it, and nothing after it, has.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import records
from records import BF16, E2M5, SBUF_ACTIVE, psum, sbuf

import gpsimd_core as gp

REGISTER, SHAPE = 0x80000000, 0x40000000
BOTH = ("cayman", "maverick")
"""With and without a PSUM that addresses name; what differs by generation says so."""
WITH_PSUM = ("sunda", "cayman")


def case(
    name: str, message: str, fields: dict[str, Any], gens: tuple[str, ...] = BOTH, kind: type[gp.Fault] = gp.Fault,
    **more: Any,
) -> Any:  # fmt: skip
    """A faulty 0xEA: its fields, what the fault says, and `registers`, `semaphores`, `policies` that it needs."""
    return pytest.param(fields, message, gens, kind, more, id=name)


FAULTS = [
    case("the last element beyond the active part", "src1 touches bytes", {"src1__addr": lambda g: SBUF_ACTIVE[g] - 92}),
    case("the first row of a large step", "dst touches bytes", {"dst__step0": 32767}),
    case("an element before the partition", "src0 touches bytes -", {"src0__addr": 0, "src0__step0": -1}),
    case("beyond the active part of PSUM", "dst touches bytes", {"dst__addr": psum(64, 0x4000 - 92)}, WITH_PSUM),
    case("more elements than a channel may have", "elements a channel; the limit is 16777216", {
        f"{o}__{part}": v for o in ("src0", "src1", "dst") for part, v in
        (("num0", 65535), ("num1", 257), ("step0", 0), ("step1", 0))
    }),
    case("a register that was never written", "dst: register r5 was never written", {"dst__addr": REGISTER | 5}),
    case("a register that names no memory", "r5 holds 0x1fffffff, which is outside", {"src0__addr": REGISTER | 5},
         registers={5: 0x1FFFFFFF}),
    case("a register with marker bits", "r5 holds 0x80000000, which is outside", {"src0__addr": REGISTER | 5},
         registers={5: 0x80000000}),
    case("a register that is not aligned", "r5 holds 0x1002, which is not aligned to 4 bytes", {"src1__addr": REGISTER | 5},
         registers={5: 0x1002}),
    case("a register too far down", "runs past partition 127", {"src1__addr": REGISTER | 5}, registers={5: lambda g: sbuf(g, 65)}),
    case("a register in the padding", "src1 touches bytes", {"src1__addr": REGISTER | 5}, ("sunda", "cayman", "maverick"),
         registers={5: lambda g: SBUF_ACTIVE[g] + 4}),
    case("a narrow write to PSUM by register", "in PSUM, where writes are 4 bytes wide", {
        "dst__addr": REGISTER | 5, "src1_dtype": BF16, "out_dtype": BF16}, WITH_PSUM, registers={5: psum(0)}),
    case("counts from shape registers", "counts from shape registers", {"src0__addr": SHAPE | 0x100}, kind=gp.Unsupported),
    case("counts and address from registers", "counts from shape registers", {"dst__addr": 0xC0000005}, BOTH, gp.Unsupported),
    case("instruction flags", "inst_flags 0x01", {"byte3": 1}, ("maverick",), gp.Unsupported),
    case("E2M5 output", "dst of dtype fp8_e2m5", {"out_dtype": E2M5}, ("maverick",), gp.Unsupported),
    case("an imm0 that select cannot read", "imm0 of dtype fp8_e2m5", {"imm0_src": 1, "imm0": 8, "imm0_dtype": E2M5},
         ("maverick",), gp.Unsupported, policies={"select_reduce": "select"}),
    case("a semaphore wait that nobody meets", "would wait for ever", {"wait_mode": 5, "wait_idx": 3, "semaphore_value": 1}),
    case("an event wait that nobody meets", "would wait for ever", {"wait_mode": 7, "wait_idx": 3}),
    case("a wait on a register never written", "register r9 was never written", {"wait_mode": 0x85, "semaphore_value": 9}),
    case("a wait on a register that is none", "names register 64", {"wait_mode": 0x85, "semaphore_value": 64}),
    case("a semaphore below zero", "semaphore 4 is 0; changing it by -1", {"update_mode": 0x14, "update_idx": 4}),
    case("a semaphore above 32 bits", "semaphore 4 is 4294967295; changing it by +1", {"update_mode": 3, "update_idx": 4},
         semaphores={4: 0xFFFFFFFF}),
    case("an update by a register never written", "register r9 was never written", {"update_mode": 0x95, "semaphore_value": 9}),
    case("an undefined accumulator under strict", "holds no value", {"accumulator_cmd": 2, "dst__addr": 0}, policies={"strict": "on"}),
]  # fmt: skip


def state(core: gp.NeuronCore) -> list[np.ndarray[Any, Any]]:
    """Everything that an instruction could change."""
    registers = core.registers.values, core.registers.defined
    return [core.memory.data, core.lanes, *registers, core.semaphores, core.events]


def assert_same_state(one: gp.NeuronCore, two: gp.NeuronCore) -> None:
    for mine, other in zip(state(one), state(two), strict=True):
        assert np.array_equal(mine, other)


@pytest.mark.parametrize(("fields", "message", "gens", "kind", "more"), FAULTS)
def test_a_fault_leaves_everything_untouched(
    load: Callable[..., gp.Machine], fields: Any, message: str, gens: Any, kind: Any, more: Any
) -> None:
    for gen in gens:
        machine = load(gen, policies=more.get("policies"))
        core = gp.NeuronCore(machine)
        core.sbuf.write(np.ones((128, 0x3000), np.uint8), 0, 0)
        for number, value in more.get("registers", {}).items():
            core.registers[number] = value(gen) if callable(value) else value
        for index, value in more.get("semaphores", {}).items():
            core.semaphores[index] = value
        good = records.select_reduce(gen, update_mode=0x13, update_idx=200)
        bad = records.select_reduce(gen, **{k: v(gen) if callable(v) else v for k, v in fields.items()})
        never = records.select_reduce(gen, dst__addr=sbuf(gen, 0, 0x5000), update_mode=0x13, update_idx=201)

        twin = gp.NeuronCore(machine)
        twin.memory.data[:] = core.memory.data
        twin.registers.values[:], twin.registers.defined[:] = core.registers.values, core.registers.defined
        twin.semaphores[:] = core.semaphores
        twin.run(good)

        with pytest.raises(gp.Fault, match=re.escape(message)) as caught:
            core.run(good + bad + never)
        assert caught.type is kind
        assert caught.value.index == 1
        assert_same_state(core, twin)


def test_a_program_with_a_violation_executes_nothing(load: Callable[..., gp.Machine]) -> None:
    core, untouched = gp.NeuronCore(load("cayman")), gp.NeuronCore(load("cayman"))
    with pytest.raises(gp.Violated, match=r"field_is\[op1\]") as caught:
        core.run(records.select_reduce("cayman") + records.select_reduce("cayman", op1=9))
    assert_same_state(core, untouched)
    assert [v.index for v in caught.value.report.violations] == [1]


def test_records_that_are_not_executable_fault_when_reached(load: Callable[..., gp.Machine]) -> None:
    """Declared, but nothing dispatches it there: it decodes and validates, and what stands before it has run."""
    machine = load("sunda")
    core = gp.NeuronCore(machine)
    dead = bytearray(64)
    dead[:2] = 0x7B, 16
    assert machine.validate(bytes(dead)).ok
    with pytest.raises(gp.NotExecutable, match="tensor_dequantize is declared on sunda but not executable") as caught:
        core.run(records.select_reduce("sunda") + bytes(dead))
    assert caught.value.index == 1
    assert core.accumulators.defined("dve").sum() == 64


def test_opaque_records_fault_when_reached(load: Callable[..., gp.Machine]) -> None:
    machine = load("cayman")
    opaque = next(o for o, e in machine.opcodes.items() if machine.layouts[o].name == "Opaque" and not e.not_executable
                  and e.kind == "real" and machine.engines_of(e.name))  # fmt: skip
    record = bytes([opaque, 16]) + bytes(62)
    assert machine.validate(record).ok
    core = gp.NeuronCore(machine)
    with pytest.raises(gp.Unsupported, match="no source grounds the layout"):
        core.run(records.select_reduce("cayman") + record)
    assert core.accumulators.defined("dve").sum() == 64


def test_max_instructions(load: Callable[..., gp.Machine]) -> None:
    """Exactly so many run; the next one is the fault."""
    core = gp.NeuronCore(load("cayman"))
    program = records.select_reduce("cayman", update_mode=0x13) + records.select_reduce("cayman") * 3
    assert core.run(program, max_instructions=4).instructions == 4
    with pytest.raises(gp.Fault, match="more than 2 instructions") as caught:
        core.run(program, max_instructions=2)
    assert caught.value.index == 2


def test_strict_accepts_what_an_earlier_instruction_of_the_program_defined(load: Callable[..., gp.Machine]) -> None:
    """Instructions that run in one go are still one after the other."""
    core = gp.NeuronCore(load("cayman", policies={"strict": "on"}))
    first = records.select_reduce("cayman", accumulator_cmd=3)
    result = core.run(first + records.select_reduce("cayman", accumulator_cmd=2) * 2)
    assert result.instructions == 3
    assert result.notices == ()


def test_max_elements_is_a_limit_of_the_core(load: Callable[..., gp.Machine]) -> None:
    machine = load("cayman")
    assert gp.NeuronCore(machine, max_elements=24).run(records.select_reduce("cayman")).instructions == 1
    with pytest.raises(gp.Fault, match="has 24 elements a channel; the limit is 23"):
        gp.NeuronCore(machine, max_elements=23).run(records.select_reduce("cayman"))


def test_e2m5_imm0_is_never_read_by_a_merge(load: Callable[..., gp.Machine]) -> None:
    """What has no values may be named where nothing reads it."""
    core = gp.NeuronCore(load("maverick"))
    assert core.run(records.select_reduce("maverick", imm0_src=1, imm0=8, imm0_dtype=E2M5)).instructions == 1
