"""The host against a second scheduler, on random programs that only wait and signal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from host_programs import Turns, nop
from hypothesis import given, settings
from hypothesis import strategies as st
from scheduler_model import Model, Operation, OutOfRange

import gpsimd_core as gp
from gpsimd_core.deadlock import Deadlock

WAITS = (0, 0, 1, 2, 3, 4, 5, 0x06, 0x07, 0x0E, 0x0F, 0x81, 0x82, 0x83, 0x84, 0x85)
UPDATES = (0, 3, 0x13, 0x01, 0x02, 0x04, 0x05, 0x07, 0x09, 0x11, 0x12, 0x14, 0x15, 0x17, 0x19,
           0x85, 0x87, 0x89, 0x95, 0x97, 0x99)  # fmt: skip
REGISTERS = {0: 0, 1: 2, 2: 1, 3: 0xFFFFFFFF}

operations = st.tuples(
    st.sampled_from(WAITS), st.integers(0, 1), st.sampled_from(UPDATES), st.integers(0, 1), st.integers(0, 3)
)
programs = st.dictionaries(
    st.sampled_from(("pe", "act", "pool", "dve", "sp")), st.lists(operations, min_size=1, max_size=5), min_size=1, max_size=4
)  # fmt: skip


def run(machine: gp.Machine, streams: dict[str, list[Operation]], schedule: Any) -> tuple[gp.NeuronCore, Turns, Any]:
    """The host's turns, its core, and the fault that ended it if one did."""
    core, turns = gp.NeuronCore(machine, compiled=False), Turns()
    for number, value in REGISTERS.items():
        core.registers[number] = value
    given = {engine: b"".join(nop(*o) for o in ops) for engine, ops in streams.items()}
    try:
        core.run(given, schedule=schedule, watchers=[turns])
    except gp.Fault as e:
        return core, turns, e
    return core, turns, None


def agree(core: gp.NeuronCore, model: Model, fault: Any) -> None:
    assert [int(v) for v in core.semaphores] == model.semaphore
    assert [bool(v) for v in core.events] == model.event
    left = model.unfinished()
    if fault is None:
        assert not left
        return
    assert set(fault.positions) == set(model.streams)
    assert fault.positions == model.position
    if isinstance(fault, Deadlock):
        assert all(
            f"\n  {engine} instruction {model.position[engine]}, nop, waits with" in str(fault) for engine in left
        )
        assert not any(model.able(engine) for engine in model.streams)


@pytest.fixture(scope="module")
def cayman(load: Callable[..., gp.Machine]) -> gp.Machine:
    return load("cayman")


@settings(deadline=None, max_examples=60)
@given(streams=programs)
def test_round_robin_takes_the_turns_of_the_model(cayman: gp.Machine, streams: dict[str, list[Operation]]) -> None:
    core, turns, fault = run(cayman, streams, "round_robin")
    model, seen, raised = Model(streams, REGISTERS), [], None
    try:
        for turn in model.round_robin():
            seen.append(turn)
    except OutOfRange as e:
        raised = e
    assert turns.seen == seen
    if raised is not None:
        assert fault is not None
        assert not isinstance(fault, Deadlock)
        assert (fault.index, str(fault).split()[0]) == (raised.position, raised.engine)
    agree(core, model, fault)


@settings(deadline=None, max_examples=60)
@given(streams=programs, seed=st.integers(0, 2**32))
def test_every_turn_of_a_seeded_schedule_is_one_the_model_allows(
    cayman: gp.Machine, streams: dict[str, list[Operation]], seed: int
) -> None:
    core, turns, fault = run(cayman, streams, seed)
    model = Model(streams, REGISTERS)
    for turn in turns.seen:
        assert model.able(turn[0])
        assert model.step(turn[0]) == turn
    if fault is not None and not isinstance(fault, Deadlock):
        engine = str(fault).split()[0]
        assert model.able(engine)
        with pytest.raises(OutOfRange):
            model.step(engine)
    agree(core, model, fault)


def test_seeds_differ_and_repeat(cayman: gp.Machine) -> None:
    streams: dict[str, list[Operation]] = {engine: [(0, 0, 0, 0, 0)] * 4 for engine in ("act", "pool", "dve")}
    first = [tuple(run(cayman, streams, seed)[1].seen) for seed in range(10)]
    assert len(set(first)) == 10
    assert first == [tuple(run(cayman, streams, seed)[1].seen) for seed in range(10)]
