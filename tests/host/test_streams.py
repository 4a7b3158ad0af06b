"""What a stream is: registers of its own, waits and updates in their steps, halts, faults that leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from host_programs import NOP, PREPARE, Turns, nop, pair, ready, run_text

import gpsimd_core as gp
from gpsimd_core.isa.enums import UpdateMode, WaitMode

Load = Callable[..., gp.Machine]


@pytest.fixture(scope="module")
def cayman(load: Load) -> gp.Machine:
    return load("cayman")


def move(machine: gp.Machine, register: int, value: int, **header: Any) -> bytes:
    """A record that writes a register."""
    fields = {"num_mov": 1, "dtype": "UINT32", "move_source": "IMMEDIATE", "dst_registers": [register] + [0] * 7}
    return machine.encode("move", **fields, immediate=[value] + [0] * 7, **header)


# Modes ---------------------------------------------------------------------------------------------------------------

# wait mode, what the semaphore or event holds, the value field, whether it is met, what an event holds after it
MET = [
    (0x01, 3, 3, True), (0x01, 2, 3, False), (0x01, 4, 3, False),
    (0x02, 2, 3, True), (0x02, 3, 3, False), (0x02, 0xFFFFFFFF, 3, False),
    (0x03, 3, 3, True), (0x03, 4, 3, False),
    (0x04, 4, 3, True), (0x04, 3, 3, False), (0x04, 0x80000000, 0x7FFFFFFF, True),
    (0x05, 3, 3, True), (0x05, 2, 3, False), (0x05, 0xFFFFFFFF, 0xFFFFFFFF, True),
    (0x81, 5, 7, True), (0x82, 4, 7, True), (0x83, 5, 7, True), (0x84, 6, 7, True), (0x85, 5, 7, True),
    (0x81, 7, 7, False), (0x82, 5, 7, False), (0x83, 6, 7, False), (0x84, 5, 7, False), (0x85, 4, 7, False),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "held", "value", "met"), MET)
def test_semaphore_waits(cayman: gp.Machine, mode: int, held: int, value: int, met: bool) -> None:
    """Register 7 holds 5: the register forms compare with it."""
    core = gp.NeuronCore(cayman, compiled=False)
    core.registers[7] = 5
    core.semaphores[9] = held
    if met:
        core.run(nop(mode, 9, value=value))
        assert core.semaphores[9] == held
    else:
        with pytest.raises(gp.Fault, match=rf"would wait for ever: it wants semaphore 9 .* which is {held}") as e:
            core.run(nop(mode, 9, value=value))
        assert WaitMode(mode).name in str(e.value)


@pytest.mark.parametrize(
    ("mode", "held", "met", "after"),
    [(0x06, 1, True, 1), (0x06, 0, False, 0), (0x07, 1, True, 0), (0x07, 0, False, 0),
     (0x0E, 0, True, 0), (0x0E, 1, False, 1), (0x0F, 0, True, 1), (0x0F, 1, False, 1)],
)  # fmt: skip
def test_event_waits(cayman: gp.Machine, mode: int, held: int, met: bool, after: int) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    core.events[9] = held
    if met:
        core.run(nop(mode, 9))
    else:
        with pytest.raises(gp.Fault, match="would wait for ever: it wants event 9"):
            core.run(nop(mode, 9))
    assert core.events[9] == after


# update mode, semaphore before, value field, after
UPDATED = [
    (0x03, 4, 9, 5), (0x13, 4, 9, 5), (0x04, 4, 9, 3), (0x14, 4, 9, 3),
    (0x05, 4, 9, 13), (0x15, 4, 9, 13), (0x07, 9, 4, 5), (0x17, 9, 4, 5), (0x09, 4, 9, 9), (0x19, 4, 9, 9),
    (0x85, 4, 7, 9), (0x95, 4, 7, 9), (0x87, 9, 7, 4), (0x97, 9, 7, 4), (0x89, 4, 7, 5), (0x99, 4, 7, 5),
    (0x09, 4, 0xFFFFFFFF, 0xFFFFFFFF), (0x05, 1, 0xFFFFFFFE, 0xFFFFFFFF),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "held", "value", "after"), UPDATED)
@pytest.mark.parametrize("engines", [1, 2])
def test_semaphore_updates(cayman: gp.Machine, mode: int, held: int, value: int, after: int, engines: int) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    core.registers[7] = 5
    core.semaphores[9] = held
    one = nop(update=mode, update_index=9, value=value)
    core.run(one if engines == 1 else {"dve": one, "sp": nop()})
    assert core.semaphores[9] == after
    assert core.semaphores.sum() == after


@pytest.mark.parametrize(("mode", "held", "after"), [(1, 0, 1), (2, 1, 0), (0x11, 0, 1), (0x12, 1, 0), (1, 1, 1)])
def test_event_updates(cayman: gp.Machine, mode: int, held: int, after: int) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    core.events[9] = held
    core.run(nop(update=mode, update_index=9))
    assert core.events[9] == after


def test_the_tables_above_hold_every_mode() -> None:
    waits = {m for m, *_ in MET} | {0x06, 0x07, 0x0E, 0x0F}
    assert waits == {int(m) for m in WaitMode} - {0}
    assert {m for m, *_ in UPDATED} | {1, 2, 0x11, 0x12} == {int(m) for m in UpdateMode} - {0}


@pytest.mark.parametrize(("number", "value"), [(128, 128), (129, 0)])
def test_registers_128_and_129_are_the_address_of_the_next_record(cayman: gp.Machine, number: int, value: int) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    core.run(nop() + nop(update=0x89, update_index=3, value=number))
    assert core.semaphores[3] == value


def test_wait_and_update_read_one_field_each_in_its_own_kind(cayman: gp.Machine) -> None:
    """The wait compares with register 3, which holds 40; the update adds 3."""
    core = gp.NeuronCore(cayman, compiled=False)
    core.registers[3] = 40
    core.semaphores[1] = 40
    core.run(nop(0x81, 1, 0x05, 2, value=3))
    assert core.semaphores[2] == 3


def test_an_update_takes_the_register_as_it_was_before_the_instruction(cayman: gp.Machine) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    core.registers[2] = 7
    core.run(move(cayman, 2, 99, update_mode="SEM_ADD_REG_COMPLETE", update_idx=1, semaphore_value=2))
    assert core.registers[2] == 99
    assert core.semaphores[1] == 7


# Two steps -----------------------------------------------------------------------------------------------------------


def semaphore_at(machine: gp.Machine, update: int) -> list[int]:
    """Semaphore 1 after each turn of `pool`, which updates it, and `dve`, which does not."""
    core, seen = gp.NeuronCore(machine, compiled=False), []

    class Look(Turns):
        def began(self, event: Any) -> None:
            seen.append(int(core.semaphores[1]))

        ended = began

    core.run({"pool": nop(update=update, update_index=1), "dve": nop()}, watchers=[Look()])
    return seen


def test_read_updates_fire_at_the_start_and_complete_updates_at_the_finish(cayman: gp.Machine) -> None:
    """Turns: pool starts, dve starts, pool finishes, dve finishes."""
    assert semaphore_at(cayman, 0x03) == [1, 1, 1, 1]
    assert semaphore_at(cayman, 0x13) == [0, 0, 1, 1]


def test_results_stand_in_memory_after_the_start(cayman: gp.Machine) -> None:
    core, seen = ready(cayman), []

    class Look(Turns):
        def began(self, event: Any) -> None:
            seen.append((event.engine, core.sbuf.read(0, 0x100, shape=(1, 1), dtype="fp32").item()))

    program = cayman.assemble(PREPARE + ".stream pool\ncopy src=@x, dst=@y\n.stream dve\nnop")
    core.sbuf.write(np.full((4, 4), 5, np.float32))
    core.run(program, watchers=[Look()])
    assert seen == [("pool", 5.0), ("dve", 5.0)]


def test_the_flip_and_the_start_are_one_step(cayman: gp.Machine) -> None:
    """Two engines wait to take one event; only one can."""
    core = gp.NeuronCore(cayman, compiled=False)
    core.events[5] = 1
    with pytest.raises(gp.Fault, match="deadlock") as e:
        core.run({"act": nop(0x07, 5), "dve": nop(0x07, 5)})
    assert "dve instruction 0, nop, waits with EVT_SET_THEN_CLEAR for event 5 set, then flipped; it is 0" in str(
        e.value
    )
    assert e.value.positions == {"act": 1, "dve": 0}


def test_round_robin_goes_pe_act_pool_dve_sp(machine: gp.Machine) -> None:
    turns = Turns()
    engines = [e for e in ("sp", "dve", "pool", "act", "pe") if e in machine.engines]
    gp.NeuronCore(machine, compiled=False).run({e: nop() * 2 for e in engines}, watchers=[turns])
    order = [e for e in ("pe", "act", "pool", "dve", "sp") if e in machine.engines]
    assert [engine for engine, _, _ in turns.seen] == order * 4
    assert ("act" in machine.engines) == (machine.generation.name != "maverick")


# Registers, halts, state between runs ----------------------------------------------------------------------------------


def test_each_stream_has_registers_of_its_own(cayman: gp.Machine) -> None:
    """Both start from the core's; what one writes the other does not see, nor does the core."""
    core = ready(cayman, at_0x100=np.ones((4, 4), np.float32))
    core.registers[1] = 0x100
    text = f"""{PREPARE}
    .stream act
    .raw {move(cayman, 1, 0x40).hex()}
    nop update_mode=SEM_WR_REG_COMPLETE, update_idx=1, semaphore_value=1
    .stream dve
    nop
    nop
    nop
    copy src={{addr=r1, num=[4]}}, dst={{addr=@z, num=[4]}}, in_dtype=fp32, out_dtype=fp32, num_active_channels=4
    """
    core.run(cayman.assemble(text))
    assert core.semaphores[1] == 0x40
    assert core.registers[1] == 0x100
    assert core.sbuf.read(0, 0x200, shape=(4, 4), dtype="fp32").tolist() == [[1.0] * 4] * 4


def test_halt_ends_its_stream(cayman: gp.Machine) -> None:
    """Its own update fires; what stands behind it never runs."""
    core = gp.NeuronCore(cayman, compiled=False)
    halt = cayman.encode("halt", update_mode=0x13, update_idx=1)
    more = nop(update=0x13, update_index=2)
    assert core.run(halt + more).instructions == 1
    assert core.run({"dve": halt + more, "act": more}).instructions == 2
    assert core.semaphores[1:3].tolist() == [2, 1]


@pytest.mark.parametrize("name", ["nop", "drain", "notify", "instruction_flush", "engine_nop"])
def test_these_carry_events_and_do_nothing_else(machine: gp.Machine, name: str) -> None:
    core = gp.NeuronCore(machine, compiled=False)
    before = core.memory.data.copy(), core.lanes.copy()
    core.semaphores[4] = 1
    engine = machine.engines_of(name)[0]
    record = machine.encode(name, wait_mode=5, wait_idx=4, semaphore_value=1, update_mode=0x13, update_idx=5)
    core.run({engine: record})
    assert core.semaphores[5] == 1
    assert (core.memory.data == before[0]).all()
    assert (core.lanes == before[1]).all()


def test_semaphores_and_events_are_kept_between_runs(cayman: gp.Machine) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    core.run(nop(update=0x13, update_index=1) + nop(update=0x11, update_index=1))
    core.run(nop(0x05, 1, value=1) + nop(0x06, 1))
    core.reset_sync()
    assert not core.semaphores.any()
    assert not core.events.any()


def test_events_ignored_by_policy(load: Load) -> None:
    core = gp.NeuronCore(load("cayman", policies={"events": "ignore"}), compiled=False)
    core.run({"dve": nop(0x05, 1, 0x13, 2, value=1), "act": nop(0x06, 1, 0x01, 3)})
    assert not core.semaphores.any()
    assert not core.events.any()


def test_semaphores_wrap_by_policy(load: Load) -> None:
    core = gp.NeuronCore(load("cayman", policies={"semaphore_range": "wrap"}), compiled=False)
    core.run({"dve": nop(update=0x14, update_index=1), "act": nop()})
    assert core.semaphores[1] == 0xFFFFFFFF


# Faults --------------------------------------------------------------------------------------------------------------


def test_a_fault_stops_every_engine_and_says_where_each_stands(cayman: gp.Machine) -> None:
    """pool faults at its second instruction; act has ended, dve stands in the middle of one, sp is held back."""
    core = gp.NeuronCore(cayman, compiled=False)
    core.registers[9] = 0
    program = {
        "act": nop(), "pool": nop() * 2 + nop(update=0x14, update_index=7), "dve": nop() * 4, "sp": nop(0x05, 9, value=1),
    }  # fmt: skip
    with pytest.raises(gp.Fault) as e:
        core.run(program)
    assert e.value.positions == {"act": 1, "pool": 2, "dve": 2, "sp": 0}
    assert e.value.index == 2
    assert str(e.value).splitlines() == [
        "pool instruction 2, nop: semaphore 7 is 0; changing it by -1 leaves 0 to 4294967295",
        "  act stopped at its end, after 1 instructions",
        "  dve stopped between start and finish of instruction 2",
        "  sp stopped before instruction 0, nop",
    ]


def test_a_fault_at_the_finish_takes_the_start_back(cayman: gp.Machine) -> None:
    """dve counts down and takes an event; its COMPLETE update faults one turn after its results stood in memory."""
    text = (
        PREPARE
        + """
    .stream dve
    copy src=@x, dst=@z, wait_mode=EVT_SET_THEN_CLEAR, wait_idx=3, update_mode=SEM_DEC_COMPLETE, update_idx=7
    .stream pool
    copy src=@x, dst=@y
    """
    )
    core, other = ready(cayman), ready(cayman)
    core.events[3] = 1
    with pytest.raises(gp.Fault, match="dve instruction 0, copy: semaphore 7 is 0; changing it by -1"):
        core.run(cayman.assemble(text))
    other.sbuf.write(np.arange(16, dtype=np.float32).reshape(4, 4), offset=0x100)  # what pool did stays
    assert (core.memory.data == other.memory.data).all()
    assert core.events[3] == 1
    assert core.semaphores[7] == 0


def test_accumulators_come_back_too(cayman: gp.Machine) -> None:
    text = """
    .tensor m sbuf 0 0x000 uint8 4x4 in
    .tensor x sbuf 0 0x100 fp32 4x4 in
    .tensor y sbuf 0 0x200 fp32 4x4 out
    .stream dve
    select_reduce src0=@m, src1=@x, dst=@y, accumulator_cmd=ZERO_ACCUMULATE, update_mode=SEM_SUB_IMM_COMPLETE, semaphore_value=2
    .stream sp
    nop update_mode=SEM_INC_COMPLETE
    """
    core = gp.NeuronCore(cayman, compiled=False)
    core.sbuf.write(np.ones((4, 4), np.uint8))
    core.sbuf.write(np.ones((4, 4), np.float32), offset=0x100)
    before = core.memory.data.copy()
    with pytest.raises(gp.Fault, match="changing it by -2"):
        core.run(cayman.assemble(text))
    assert not core.accumulators.defined("dve").any()
    assert (core.memory.data == before).all()


def test_a_complete_update_is_judged_when_it_fires(cayman: gp.Machine) -> None:
    """At the start it would leave the range; by the finish another engine has counted up."""
    core = gp.NeuronCore(cayman, compiled=False)
    core.run({"act": nop(update=0x14, update_index=1), "pool": nop(update=0x03, update_index=1)})
    assert core.semaphores[1] == 0


def test_max_instructions_counts_all_streams(cayman: gp.Machine) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    program = {"dve": nop() * 3, "act": nop() * 3}
    assert core.run(program, max_instructions=6).instructions == 6
    with pytest.raises(gp.Fault, match="more than 5 instructions") as e:
        core.run(program, max_instructions=5)
    assert e.value.positions == {"act": 2, "dve": 2}
    assert "act stopped between start and finish of instruction 2" in str(e.value)


def test_a_fault_that_is_raised_again_is_told_once(cayman: gp.Machine) -> None:
    """A program is planned once; running it again must not tell the old story inside the new one."""
    core = gp.NeuronCore(cayman, compiled=False)
    unbound = next(o for o, e in cayman.opcodes.items() if not cayman.bindings[e.name].engines and not e.not_executable)
    program = cayman.decode(bytes([unbound, 16]) + bytes(62))
    texts = []
    for _ in range(2):
        with pytest.raises(gp.NotExecutable) as e:
            core.run({"dve": program, "act": nop()})
        texts.append(str(e.value))
    assert texts[0] == texts[1]
    assert texts[0].count("dve instruction") == 1


# Programs for streams ---------------------------------------------------------------------------------------------------


def test_text_with_several_streams_is_several_streams(cayman: gp.Machine) -> None:
    core = ready(cayman)
    result = core.run(pair(cayman))
    assert [(s.engine, s.index, s.name) for s in result.steps] == [
        ("pool", 0, "copy"), ("dve", 0, "tensor_tensor_arith_op"),
    ]  # fmt: skip
    assert core.sbuf.read(0, 0x200, shape=(4, 4), dtype="fp32").tolist() == (2 * np.arange(16).reshape(4, 4)).tolist()
    assert set(result.reports) == {"pool", "dve"}


def test_what_is_planned_for_a_stream_is_kept(cayman: gp.Machine) -> None:
    core, program = ready(cayman), pair(cayman)
    core.run(program)
    parts = program.split()
    assert parts["dve"].prepared
    assert program.split()["dve"] is parts["dve"]
    one = cayman.decode(nop())
    assert one.on("dve") is one.on("dve")
    core.run({"dve": one})
    assert one.on("dve").prepared


def test_streams_that_do_not_exist_or_contradict(cayman: gp.Machine) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    with pytest.raises(gp.GpsimdError, match="cayman has no engine 'gpu'; it has pe, act, pool, dve, sp"):
        core.run({"gpu": nop()})
    with pytest.raises(gp.GpsimdError, match="given to act; its instructions stand in the stream of dve"):
        core.run({"act": cayman.assemble(".stream dve\nnop")})
    with pytest.raises(gp.GpsimdError, match="some instructions stand in no stream, others in act, dve"):
        core.run(cayman.assemble("nop\n.stream act\nnop\n.stream dve\nnop"))
    for schedule in ("fastest", 1.5, True):
        with pytest.raises(gp.GpsimdError, match="allowed: round_robin, or a whole number as a seed"):
            core.run(nop(), schedule=schedule)  # type: ignore[arg-type]


def test_a_violation_names_its_stream(cayman: gp.Machine) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    with pytest.raises(gp.Violated, match=r"in the stream of act:\ninstruction 1 "):
        core.run({"dve": nop(), "act": nop() + bytes([NOP, 15]) + bytes(62)})


def test_stepwise_yields_each_start(cayman: gp.Machine) -> None:
    core = ready(cayman)
    seen = [(e.engine, e.index, int(core.semaphores[4])) for e in core.stepwise(pair(cayman))]
    assert seen == [("pool", 0, 0), ("dve", 0, 1)]
    single = [e.step.name for e in core.stepwise(nop() * 3)]
    assert single == ["nop"] * 3


def test_one_stream_goes_in_program_order(cayman: gp.Machine) -> None:
    """Each instruction is finished before the next starts."""
    core, _ = run_text(cayman, PREPARE + "copy src=@x, dst=@y, update_mode=SEM_INC_COMPLETE\n"
                       "copy src=@y, dst=@z, wait_mode=SEM_EQ_IMM, semaphore_value=1")  # fmt: skip
    assert core.sbuf.read(0, 0x200, shape=(4, 4), dtype="fp32")[3, 3] == 15
