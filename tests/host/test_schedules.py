"""Programs under many schedules: what is well synchronised ends one way; what is not is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from host_programs import PREPARE, UPDATE, WAIT, kinds, memory_of, nop, pair, ready

import gpsimd_core as gp
from gpsimd_core.deadlock import Deadlock
from gpsimd_core.explore import explore

Load = Callable[..., gp.Machine]

GROWING = (
    PREPARE
    + """
.tensor a sbuf 0 0x300 fp32 4x4 temp
.tensor b sbuf 0 0x400 fp32 4x4 temp
.stream act
copy src=@x, dst=@a, update_mode=SEM_INC_COMPLETE, update_idx=1
copy src=@b, dst=@z, wait_mode={over}, wait_idx=2, semaphore_value={second}
.stream pool
copy src=@x, dst=@y, update_mode=SEM_ADD_IMM_COMPLETE, update_idx=1, semaphore_value=1
nop
.stream dve
tensor_tensor_arith_op src0=@a, src1=@y, dst=@b, op=ADD, wait_mode={over}, wait_idx=1, semaphore_value={first}, update_mode=NONE
nop update_mode=SEM_ADD_IMM_COMPLETE, update_idx=2, semaphore_value=3
.stream sp
nop
nop
"""
)
"""Semaphores that only grow: two producers, one consumer that becomes a producer."""

EVENTS = (
    PREPARE
    + """
.tensor b sbuf 0 0x400 fp32 4x4 temp
.stream pool
copy src=@x, dst=@y, update_mode=EVT_SET_COMPLETE, update_idx=1
copy src=@x, dst=@y, wait_mode=EVT_SET, wait_idx=2, update_mode=EVT_SET_COMPLETE, update_idx=3
.stream dve
copy src=@y, dst=@b, wait_mode=EVT_SET_THEN_CLEAR, wait_idx=1, update_mode=EVT_SET_COMPLETE, update_idx=2
tensor_tensor_arith_op src0=@y, src1=@b, dst=@z, op=ADD, wait_mode=EVT_SET, wait_idx=3
"""
)
"""Events with one waiter each: y is written, read, written again, read again."""

SOUND = [
    pytest.param(GROWING.format(over="SEM_GE_IMM", first=2, second=3), id="SEM_GE"),
    pytest.param(GROWING.format(over="SEM_GT_IMM", first=1, second=2), id="SEM_GT"),
    pytest.param(EVENTS, id="events"),
]


@pytest.fixture(scope="module")
def cayman(load: Load) -> gp.Machine:
    return load("cayman")


@pytest.mark.parametrize("text", SOUND)
@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_sound_programs_end_one_way(cayman: gp.Machine, text: str, count: int) -> None:
    program = cayman.assemble(text)
    found = explore(lambda: ready(cayman), program, range(count))
    assert found.agree
    assert found.notices == ()
    assert found.ends[0].seeds == tuple(range(count))
    default = ready(cayman)
    assert default.run(program, check=True).notices == ()
    assert memory_of(default, program) == memory_of(found.ends[0].core, program)
    assert memory_of(default, program)["z"] == (2 * np.arange(16, dtype=np.float32)).tobytes()


def test_schedules_really_differ(cayman: gp.Machine) -> None:
    program = cayman.assemble(GROWING.format(over="SEM_GE_IMM", first=2, second=3))
    orders = {tuple((s.engine, s.index) for s in ready(cayman).run(program, schedule=seed).steps) for seed in range(12)}
    assert len(orders) > 6


# Deadlock ------------------------------------------------------------------------------------------------------------


def test_without_the_update_the_wait_is_named_and_that_none_updates(cayman: gp.Machine) -> None:
    with pytest.raises(Deadlock) as e:
        ready(cayman).run(pair(cayman, update=""))
    assert str(e.value).splitlines() == [
        "deadlock: no engine can step",
        "  dve instruction 0, tensor_tensor_arith_op, waits with SEM_GE_IMM for semaphore 4 >= 1; it is 0",
        "    no instruction of any stream updates semaphore 4",
        "  pool stopped at its end, after 1 instructions",
    ]
    assert e.value.positions == {"pool": 1, "dve": 0}


@pytest.mark.parametrize("seed", ["round_robin", *range(5)])
def test_every_instruction_that_updates_the_index_is_listed(cayman: gp.Machine, seed: Any) -> None:
    """Done, pending behind a wait, and behind a halt."""
    halt = cayman.encode("halt")
    program = {
        "act": nop(update=0x13, update_index=4) + nop(update=0x11, update_index=4),
        "pool": halt + nop(update=0x15, update_index=4, value=7),
        "dve": nop(0x05, 4, value=3),
        "sp": nop(0x06, 9) + nop(update=0x03, update_index=4) + nop(update=0x19, update_index=5),
    }
    with pytest.raises(Deadlock) as e:
        gp.NeuronCore(cayman, compiled=False).run(program, schedule=seed)
    assert str(e.value).splitlines()[:7] == [
        "deadlock: no engine can step",
        "  dve instruction 0, nop, waits with SEM_GE_IMM for semaphore 4 >= 3; it is 1",
        "    SEM_INC_COMPLETE by act instruction 0, nop (done)",
        "    SEM_ADD_IMM_COMPLETE by pool instruction 1, nop (never reached: the stream has halted)",
        "    SEM_INC_READ by sp instruction 1, nop (pending)",
        "  sp instruction 0, nop, waits with EVT_SET for event 9 set; it is 0",
        "    no instruction of any stream updates event 9",
    ]


def test_who_else_flips_the_event_is_listed(cayman: gp.Machine) -> None:
    with pytest.raises(Deadlock) as e:
        gp.NeuronCore(cayman, compiled=False).run(
            {
                "act": nop(0x0F, 3),
                "dve": nop(0x0E, 3),
                "pool": nop() * 2 + nop(update=0x12, update_index=3) + nop(0x06, 1),
            }
        )
    text = str(e.value)
    assert (
        "dve instruction 0, nop, waits with EVT_CLEAR for event 3 clear; it is 1" in text
        or "pool instruction 3" in text
    )


# Races ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "place"), [(PREPARE, ("sbuf", (0, 3), (256, 271)))])
def test_without_the_wait_the_race_is_named(cayman: gp.Machine, text: str, place: Any) -> None:
    result = ready(cayman).run(pair(cayman, wait=""), check=True)
    assert kinds(result) == ["race"]
    assert str(result.notices[0]) == (
        "pool instruction 0: race, write after read: dve instruction 0 (tensor_tensor_arith_op) and pool instruction 0 "
        "(copy) both touch sbuf partitions 0..3, bytes 256..271, and nothing orders them"
    )


def test_a_race_that_the_default_schedule_hides_is_found_under_many(cayman: gp.Machine) -> None:
    """DVE has so much before it that round robin lets POOL finish long before; the race is there all the same, and the
    clock sees it under every schedule."""
    text = PREPARE + ".stream pool\ncopy src=@x, dst=@y\n.stream dve\n" + "nop\n" * 9 + "copy src=@y, dst=@z"
    program = cayman.assemble(text)
    assert kinds(ready(cayman).run(program, check=True)) == ["race"]
    found = explore(lambda: ready(cayman), program, range(100))
    races = [n for n in found.notices if n.kind == "race"]
    assert races
    assert all("pool instruction 0" in str(n) and "dve instruction 9" in str(n) for n in races)


def test_a_race_of_two_writers(cayman: gp.Machine) -> None:
    text = PREPARE + ".stream act\ncopy src=@x, dst=@z\n.stream dve\ncopy src=@x, dst=@z"
    result = ready(cayman).run(cayman.assemble(text), check=True)
    assert kinds(result) == ["race"]
    assert "race, write after write: act instruction 0 (copy) and dve instruction 0 (copy) both touch" in str(
        result.notices[0]
    )


def test_reads_do_not_race(cayman: gp.Machine) -> None:
    text = PREPARE + ".stream act\ncopy src=@x, dst=@z\n.stream dve\ncopy src=@x, dst=@y"
    assert ready(cayman).run(cayman.assemble(text), check=True).notices == ()


def test_neighbours_do_not_race(cayman: gp.Machine) -> None:
    """The destinations interleave element by element; no byte is shared."""
    text = (
        PREPARE
        + """
    .stream act
    copy src={addr=@x, num=[4]}, dst={addr=@z, step=[2], num=[4]}, in_dtype=fp32, out_dtype=fp32, num_active_channels=4
    .stream dve
    copy src={addr=@x, num=[4]}, dst={addr=@z+4, step=[2], num=[4]}, in_dtype=fp32, out_dtype=fp32, num_active_channels=4
    """
    )
    assert ready(cayman).run(cayman.assemble(text), check=True).notices == ()


def test_a_read_update_orders_what_was_read_and_not_what_is_written(cayman: gp.Machine) -> None:
    """POOL copies x to y and signals at read: DVE may write x, not y."""
    signal = ", update_mode=SEM_INC_READ, update_idx=4"
    wait = ", wait_mode=SEM_GE_IMM, wait_idx=4, semaphore_value=1"
    for target, expected in (("x", []), ("y", ["race"])):
        text = f"{PREPARE}.stream pool\ncopy src=@x, dst=@y{signal}\n.stream dve\ncopy src=@z, dst=@{target}{wait}"
        core = ready(cayman, at_0x200=np.ones((4, 4), np.float32))
        assert kinds(core.run(cayman.assemble(text), check=True)) == expected


def test_order_is_carried_through_a_third_engine(cayman: gp.Machine) -> None:
    text = (
        PREPARE
        + """
    .stream pool
    copy src=@x, dst=@y, update_mode=SEM_INC_COMPLETE, update_idx=1
    .stream sp
    nop wait_mode=SEM_GE_IMM, wait_idx=1, semaphore_value=1
    nop update_mode=EVT_SET_COMPLETE, update_idx=2
    .stream dve
    nop wait_mode=EVT_SET, wait_idx=2
    copy src=@y, dst=@z
    """
    )
    assert explore(lambda: ready(cayman), cayman.assemble(text), range(30)).notices == ()


def test_a_flip_hands_over_what_came_before_it(cayman: gp.Machine) -> None:
    """DVE reads y, then takes the event; POOL waits for the taking before it writes y again."""
    text = (
        PREPARE
        + """
    .stream pool
    copy src=@x, dst=@y, update_mode=EVT_SET_COMPLETE, update_idx=1
    copy src=@x, dst=@y, wait_mode=EVT_CLEAR, wait_idx=1
    .stream dve
    copy src=@y, dst=@z, wait_mode=EVT_SET, wait_idx=1
    nop wait_mode=EVT_SET_THEN_CLEAR, wait_idx=1
    """
    )
    assert explore(lambda: ready(cayman), cayman.assemble(text), range(30)).notices == ()


def test_mutual_exclusion_is_no_order(load: Load) -> None:
    """On sunda DVE and POOL never touch SBUF at once, and still race."""
    sunda = load("sunda")
    assert kinds(ready(sunda).run(pair(sunda, wait=""), check=True)) == ["race"]


# Ends that depend on the schedule ----------------------------------------------------------------------------------------


def test_an_end_that_depends_on_the_schedule_is_shown(cayman: gp.Machine) -> None:
    """SEM_EQ on a semaphore that goes on growing: whether DVE ever sees 1 is a matter of luck."""
    text = (
        PREPARE
        + """
    .stream pool
    copy src=@x, dst=@y, update_mode=SEM_INC_COMPLETE, update_idx=4
    nop update_mode=SEM_INC_COMPLETE, update_idx=4
    .stream dve
    copy src=@y, dst=@z, wait_mode=SEM_EQ_IMM, wait_idx=4, semaphore_value=1
    """
    )
    found = explore(lambda: ready(cayman), cayman.assemble(text), range(50))
    assert not found.agree
    assert {type(e.fault) for e in found.ends} == {type(None), Deadlock}
    notice = next(n for n in found.notices if n.kind == "schedule")
    assert "the end depends on the schedule:" in str(notice)
    assert "end in Deadlock: deadlock: no engine can step" in str(notice)
    seeds = sorted(s for e in found.ends for s in e.seeds)
    assert seeds == list(range(50))
    for end in found.ends:  # every seed really ends so, again
        for seed in end.seeds[:3]:
            if end.fault is None:
                ready(cayman).run(cayman.assemble(text), schedule=seed)
            else:
                with pytest.raises(Deadlock):
                    ready(cayman).run(cayman.assemble(text), schedule=seed)


def test_two_different_results_are_told_by_their_first_byte(cayman: gp.Machine) -> None:
    text = (
        PREPARE
        + ".stream act\ncopy src=@x, dst=@z\n.stream dve\ntensor_tensor_arith_op src0=@x, src1=@x, dst=@z, op=ADD"
    )
    found = explore(lambda: ready(cayman), cayman.assemble(text), range(20))
    assert len(found.ends) == 2
    words = str(next(n for n in found.notices if n.kind == "schedule"))
    assert "come to end 1; " in words
    assert "first in z[0,1] at sbuf partition 0, byte 518" in words
    race = next(n for n in found.notices if n.kind == "race")
    assert "of 20 schedules, first seed" in str(race)


def test_sound_text_is_the_helper_s_own() -> None:
    assert UPDATE.startswith(", ")
    assert WAIT.startswith(", ")
