"""Waits and updates of one stream: every mode, both boundaries of every comparison, flips, ranges and policies.

On one stream each instruction finishes before the next starts; an unmet wait is a fault at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import records

import gpsimd_core as gp

TOP = 0xFFFFFFFF
EVENTS = 256

# Mode codes: a register form is its immediate form with bit 7; COMPLETE is READ plus 0x10.
EQ, LT, LE, GT, GE = 1, 2, 3, 4, 5
SET, SET_THEN_CLEAR, CLEAR, CLEAR_THEN_SET = 0x06, 0x07, 0x0E, 0x0F
EVT_SET, EVT_CLEAR, INC, DEC, ADD, SUB, WRITE = 1, 2, 3, 4, 5, 7, 9
REG, COMPLETE = 0x80, 0x10


@pytest.fixture
def core(load: Callable[..., gp.Machine]) -> Callable[..., gp.NeuronCore]:
    """`core(gen, **policies)`: a core that runs plain Python."""

    def make(gen: str = "cayman", **policies: Any) -> gp.NeuronCore:
        return gp.NeuronCore(load(gen, policies=policies), compiled=False)

    return make


def run(core: gp.NeuronCore, **fields: int) -> gp.Result:
    """One 0x9B with these event fields."""
    return core.run(
        records.read_accumulator(core.machine.generation.name, num_active_channels=1, dst__addr=0, **fields)
    )


WAITS = [
    (EQ, 7, [7], [6, 8, 0]), (LT, 7, [6, 0], [7, 8]), (LE, 7, [7, 6], [8, TOP]), (GT, 7, [8, TOP], [7, 6]),
    (GE, 7, [7, 8, TOP], [6, 0]), (GE, 0x80000000, [0x80000000, TOP], [0x7FFFFFFF]), (LT, TOP, [TOP - 1], [TOP]),
]  # fmt: skip


@pytest.mark.parametrize("register", [False, True])
@pytest.mark.parametrize(("mode", "value", "met", "unmet"), WAITS)
def test_semaphore_waits(
    core: Callable[..., gp.NeuronCore], mode: int, value: int, met: list[int], unmet: list[int], register: bool
) -> None:
    """semaphore OP value, unsigned; the wait changes nothing. Codes with bit 7 take the value from a register."""
    c = core()
    c.registers[13] = value
    given = (
        {"wait_mode": mode | REG, "semaphore_value": 13} if register else {"wait_mode": mode, "semaphore_value": value}
    )
    for present in met:
        c.semaphores[9] = present
        assert run(c, wait_idx=9, **given).instructions == 1
        assert c.semaphores[9] == present
    for present in unmet:
        c.semaphores[9] = present
        sign = {EQ: "==", LT: "<", LE: "<=", GT: ">", GE: ">="}[mode]
        with pytest.raises(gp.Fault, match=f"would wait for ever: .* semaphore 9 {sign} {value}, .* {present}"):
            run(c, wait_idx=9, **given)


@pytest.mark.parametrize(("mode", "wanted", "after"), [
    (SET, 1, 1), (SET_THEN_CLEAR, 1, 0), (CLEAR, 0, 0), (CLEAR_THEN_SET, 0, 1),
])  # fmt: skip
def test_event_waits(core: Callable[..., gp.NeuronCore], mode: int, wanted: int, after: int) -> None:
    """The THEN forms flip the event they waited for; the others leave it."""
    c = core()
    c.events[200] = wanted
    run(c, wait_mode=mode, wait_idx=200)
    assert c.events[200] == after
    c.events[200] = 1 - wanted
    with pytest.raises(gp.Fault, match=f"event 200 {'set' if wanted else 'clear'}"):
        run(c, wait_mode=mode, wait_idx=200)
    assert c.events[200] == 1 - wanted


UPDATES = [
    (INC, 41, 5, 42), (DEC, 41, 5, 40), (ADD, 41, 5, 46), (SUB, 41, 5, 36), (WRITE, 41, 5, 5), (WRITE, 41, 0, 0),
    (ADD, 0, TOP, TOP), (SUB, TOP, TOP, 0), (DEC, 1, 0, 0), (INC, TOP - 1, 0, TOP),
]  # fmt: skip


@pytest.mark.parametrize("when", [0, COMPLETE], ids=["read", "complete"])
@pytest.mark.parametrize(("mode", "before", "value", "after", "register"), [
    (*row, register) for row in UPDATES for register in (False, True) if not (register and row[0] in (INC, DEC))
])  # fmt: skip
def test_semaphore_updates(
    core: Callable[..., gp.NeuronCore], mode: int, before: int, value: int, after: int, register: bool, when: int
) -> None:
    """INC and DEC change by one; ADD, SUB and WRITE use the value or the register that it names."""
    c = core()
    c.semaphores[3] = before
    c.registers[63] = value
    given = {"update_mode": mode + when | (REG if register else 0), "semaphore_value": 63 if register else value}
    run(c, update_idx=3, **given)
    assert c.semaphores[3] == after
    assert c.semaphores.sum() == after


@pytest.mark.parametrize("when", [0, COMPLETE])
@pytest.mark.parametrize(("mode", "after"), [(EVT_SET, 1), (EVT_CLEAR, 0)])
def test_event_updates(core: Callable[..., gp.NeuronCore], mode: int, after: int, when: int) -> None:
    for before in (0, 1):
        c = core()
        c.events[255] = before
        run(c, update_mode=mode + when, update_idx=255)
        assert c.events[255] == after
        assert not c.semaphores.any()


def test_every_mode_is_covered(any_machine: gp.Machine) -> None:
    waits = (
        {EQ, LT, LE, GT, GE} | {m | REG for m in (EQ, LT, LE, GT, GE)} | {SET, SET_THEN_CLEAR, CLEAR, CLEAR_THEN_SET}
    )
    plain = {EVT_SET, EVT_CLEAR, INC, DEC, ADD, SUB, WRITE}
    updates = plain | {m + COMPLETE for m in plain}
    updates |= {m + when | REG for m in (ADD, SUB, WRITE) for when in (0, COMPLETE)}
    assert {int(m) for m in any_machine.sets["wait_mode"]} - {0} == waits
    assert {int(m) for m in any_machine.sets["update_mode"]} - {0} == updates


def test_semaphores_and_events_are_two_index_spaces(core: Callable[..., gp.NeuronCore]) -> None:
    c = core()
    run(c, update_mode=INC, update_idx=7)
    run(c, update_mode=EVT_SET, update_idx=7)
    assert (c.semaphores[7], c.events[7]) == (1, 1)
    run(c, wait_mode=SET_THEN_CLEAR, wait_idx=7, update_mode=INC, update_idx=7)
    assert (c.semaphores[7], c.events[7]) == (2, 0)


def test_wait_and_update_share_one_value(core: Callable[..., gp.NeuronCore]) -> None:
    c = core()
    c.semaphores[0] = 10
    run(c, wait_mode=GE, wait_idx=0, update_mode=SUB, update_idx=0, semaphore_value=10)
    assert c.semaphores[0] == 0


def test_wait_and_update_read_the_value_each_in_its_own_kind(core: Callable[..., gp.NeuronCore]) -> None:
    """Mixed kinds warn, and run: the immediate is the number, the register is the register of that number."""
    c = core()
    c.registers[5] = 100
    c.semaphores[1] = 5
    result = run(c, wait_mode=EQ, wait_idx=1, update_mode=ADD | REG, update_idx=1, semaphore_value=5)
    assert c.semaphores[1] == 105
    assert [w.rule for w in result.report.warnings] == ["event_value_kinds"]


def test_registers_128_and_129_are_the_address_of_the_next_bundle(core: Callable[..., gp.NeuronCore]) -> None:
    c = core()
    one = records.read_accumulator("cayman", num_active_channels=1, dst__addr=0)
    wait = {"update_mode": WRITE | REG, "update_idx": 2}
    low = records.read_accumulator("cayman", num_active_channels=1, dst__addr=0, semaphore_value=128, **wait)
    high = records.read_accumulator("cayman", num_active_channels=1, dst__addr=0, semaphore_value=129, **wait)
    c.run(one * 2 + low)
    assert c.semaphores[2] == 3 * 64
    c.run(one + high)
    assert c.semaphores[2] == 0


@pytest.mark.parametrize("number", [64, 127, 130, 255, 0x80000000])
def test_other_register_numbers_fault(core: Callable[..., gp.NeuronCore], number: int) -> None:
    with pytest.raises(gp.Fault, match=f"semaphore_value names register {number}; there are 0 to 63, 128 and 129"):
        run(core(), wait_mode=GE | REG, semaphore_value=number)
    with pytest.raises(gp.Fault, match=f"names register {number}"):
        run(core(), update_mode=ADD | REG, semaphore_value=number)


RANGE = [
    (DEC, 0, 0, "changing it by -1", TOP), (INC, TOP, 0, "changing it by +1", 0), (SUB, 4, 5, "changing it by -5", TOP),
    (ADD, 1, TOP, "changing it by +4294967295", 0),
]  # fmt: skip


@pytest.mark.parametrize("when", [0, COMPLETE])
@pytest.mark.parametrize(("mode", "before", "value", "message", "wrapped"), RANGE)
def test_semaphore_range(
    core: Callable[..., gp.NeuronCore], mode: int, before: int, value: int, message: str, wrapped: int, when: int
) -> None:
    """Beyond 0 to 2^32 - 1: a fault with index, value and change, or modulo 2^32 under the policy."""
    c = core()
    c.semaphores[8] = before
    with pytest.raises(gp.Fault) as caught:
        run(c, update_mode=mode + when, update_idx=8, semaphore_value=value)
    assert f"semaphore 8 is {before}; {message}" in str(caught.value)
    assert c.semaphores[8] == before
    w = core(semaphore_range="wrap")
    w.semaphores[8] = before
    run(w, update_mode=mode + when, update_idx=8, semaphore_value=value)
    assert w.semaphores[8] == wrapped


def test_a_flip_is_undone_where_the_update_faults(core: Callable[..., gp.NeuronCore]) -> None:
    c = core()
    c.events[4] = 1
    with pytest.raises(gp.Fault, match="semaphore 8"):
        run(c, wait_mode=SET_THEN_CLEAR, wait_idx=4, update_mode=DEC, update_idx=8)
    assert c.events[4] == 1


def test_policy_events_ignore(core: Callable[..., gp.NeuronCore]) -> None:
    """Neither waits nor updates: nothing waits for ever, nothing changes, nothing leaves its range."""
    c = core(events="ignore")
    run(c, wait_mode=EQ, wait_idx=1, semaphore_value=99, update_mode=DEC, update_idx=1)
    run(c, wait_mode=GE | REG, semaphore_value=200)
    run(c, update_mode=EVT_SET, update_idx=1)
    assert not c.semaphores.any()
    assert not c.events.any()


def test_one_stream_is_program_order(core: Callable[..., gp.NeuronCore]) -> None:
    """Each instruction finishes before the next: a COMPLETE update is there for the wait after it."""
    c = core()
    gen, rest = "cayman", {"num_active_channels": 1, "dst__addr": 0}
    program = b"".join(
        records.read_accumulator(
            gen, wait_mode=EQ, wait_idx=5, semaphore_value=k, update_mode=INC + COMPLETE, update_idx=5, **rest
        )
        for k in range(4)
    )
    assert c.run(program).instructions == 4
    assert c.semaphores[5] == 4
    with pytest.raises(gp.Fault) as caught:
        c.run(program)
    assert caught.value.index == 0


def test_state_is_kept_between_runs_until_reset(core: Callable[..., gp.NeuronCore]) -> None:
    c = core()
    run(c, update_mode=INC, update_idx=0)
    run(c, update_mode=INC, update_idx=0)
    run(c, update_mode=EVT_SET, update_idx=EVENTS - 1)
    assert (c.semaphores[0], c.events[EVENTS - 1]) == (2, 1)
    c.reset_sync()
    assert not c.semaphores.any()
    assert not c.events.any()


def test_maverick_accepts_event_modes_with_a_warning(core: Callable[..., gp.NeuronCore]) -> None:
    c = core("maverick")
    c.events[3] = 1
    result = run(c, wait_mode=SET_THEN_CLEAR, wait_idx=3, update_mode=EVT_SET, update_idx=4)
    assert (c.events[3], c.events[4]) == (0, 1)
    assert [w.rule for w in result.report.warnings] == ["event_mode_kept[wait_mode]", "event_mode_kept[update_mode]"]
    with pytest.raises(gp.Violated, match="reported as dropped"):
        run(core("maverick", strict="on"), wait_mode=SET, wait_idx=3)


def test_registers_of_the_core(core: Callable[..., gp.NeuronCore]) -> None:
    c = core()
    c.registers[0] = TOP
    assert c.registers[0] == TOP
    with pytest.raises(gp.Fault, match="register r1 was never written"):
        c.registers[1]
    for number, value in ((64, 0), (-1, 0), (0, -1), (0, 1 << 32)):
        with pytest.raises(gp.BadValue):
            c.registers[number] = value
