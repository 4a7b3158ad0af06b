"""Watching an element, and stopping before an instruction, through the API."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from host_programs import PREPARE, nop, pair, ready

import gpsimd_core as gp
from gpsimd_core.elements import Element, place_text
from gpsimd_core.watch import Break, Change, Paused, Stopped, Watch, breakpoint_of

Load = Callable[..., gp.Machine]


@pytest.fixture(scope="module")
def cayman(load: Load) -> gp.Machine:
    return load("cayman")


def test_every_change_is_told_once(cayman: gp.Machine) -> None:
    text = (
        PREPARE
        + "nop\ncopy src=@x, dst=@z\ncopy src=@x, dst=@z\ntensor_tensor_arith_op src0=@x, src1=@x, dst=@z, op=ADD"
    )
    program, core, seen = cayman.assemble(text), ready(cayman), []
    watch = Watch([Element(program, core.memory, "z[1,2]"), Element(program, core.memory, "x[0,0]")], seen.append)
    core.run(program, watchers=[watch])
    assert [str(c) for c in seen] == [
        "z[1,2]: 0xa5a5a5a5 (-2.87351825e-16) -> 0x40c00000 (6) by dve instruction 1: copy src=@x, dst=@z",
        "z[1,2]: 0x40c00000 (6) -> 0x41400000 (12) by dve instruction 3: tensor_tensor_arith_op op=ADD, src0=@x, src1=@x, dst=@z",
    ]  # fmt: skip
    assert isinstance(seen[0], Change)


def test_a_change_by_one_of_several_streams(cayman: gp.Machine) -> None:
    program, core, seen = pair(cayman), ready(cayman), []
    core.run(program, watchers=[Watch([Element(program, core.memory, f"{t}[3,3]") for t in "yz"], seen.append)])
    assert [(c.element, c.engine, c.index) for c in seen] == [("y[3,3]", "pool", 0), ("z[3,3]", "dve", 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("z", r"written name\[p,i\]"), ("z[1]", r"written name\[p,i\]"), ("z[a,b]", r"written name\[p,i\]"),
        ("z[1,2", r"written name\[p,i\]"), ("w[0,0]", "no tensor 'w'; it has x, y, z"),
        ("z[4,0]", "outside z, which has 4 rows of 4 elements"), ("z[0,4]", "outside z"),
    ],
)  # fmt: skip
def test_elements_that_are_none(cayman: gp.Machine, text: str, message: str) -> None:
    with pytest.raises(gp.GpsimdError, match=message):
        Element(pair(cayman), ready(cayman).memory, text)


def test_an_element_of_a_tensor_with_more_axes(cayman: gp.Machine) -> None:
    program = cayman.assemble(".tensor t sbuf 32 0x40 int16 4x3x5 in\nnop")
    core = gp.NeuronCore(cayman, compiled=False)
    core.sbuf.write(np.arange(60, dtype=np.int16).reshape(4, 3, 5) - 30, partition=32, offset=0x40)
    element = Element(program, core.memory, "t[2,7]")
    assert element.text(element.code) == "0x0007 (7)"
    assert (str(element), element.size) == ("t[2,7]", 2)


def test_places_have_names(cayman: gp.Machine) -> None:
    program, memory = pair(cayman), ready(cayman).memory
    tensors = list(program.tensors.values())
    at = memory.sbuf.start + 2 * memory.sbuf.pitch + 0x200 + 9
    assert place_text(memory, tensors, at) == "z[2,2] at sbuf partition 2, byte 521"
    assert place_text(memory, tensors, memory.psum.start + 5) == "psum partition 0, byte 5"


# Breaks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "at"), [("0", (None, 0)), ("12", (None, 12)), ("dve:3", ("dve", 3)), ("POOL:0", ("pool", 0))]
)
def test_breakpoints(text: str, at: tuple[str | None, int]) -> None:
    assert breakpoint_of(text) == at


@pytest.mark.parametrize("text", ["", "x", "dve", "dve:", ":3", "-1", "1:dve"])
def test_breakpoints_that_are_none(text: str) -> None:
    with pytest.raises(gp.GpsimdError, match=r"--break takes N or ENGINE:N"):
        breakpoint_of(text)


def test_nothing_of_the_instruction_has_happened(cayman: gp.Machine) -> None:
    program, core, seen = pair(cayman), ready(cayman), []

    def pause(paused: Paused) -> bool:
        seen.append((paused.engine, paused.ready.index, paused.statement.split()[0], int(core.semaphores[4])))
        assert (core.sbuf.read(0, 0x200, shape=(4, 4), dtype=np.uint32) == 0xA5A5A5A5).all()
        return False

    stop = Break(core, ("dve", 0), pause)
    core.run(program, watchers=[stop])
    assert seen == [("dve", 0, "tensor_tensor_arith_op", 1)]
    assert stop.reached
    assert (core.sbuf.read(0, 0x200, shape=(1, 2), dtype="fp32") == [[0, 2]]).all()


def test_stopping_for_good(cayman: gp.Machine) -> None:
    core = ready(cayman)

    def stop(paused: Paused) -> bool:
        raise Stopped

    with pytest.raises(Stopped):
        core.run(nop(update=0x13) * 5, watchers=[Break(core, (None, 3), stop)])
    assert core.semaphores[0] == 3


def test_stepping(cayman: gp.Machine) -> None:
    core, seen = ready(cayman), []

    def pause(paused: Paused) -> bool:
        seen.append(paused.ready.index)
        return len(seen) < 3

    core.run(nop() * 6, watchers=[Break(core, (None, 1), pause)])
    assert seen == [1, 2, 3]


def test_the_state_at_hand(cayman: gp.Machine) -> None:
    text = (
        PREPARE
        + ".reg r3 = 0x80\n.tensor e sbuf 0 0x500 fp8_exp2 4x4 temp\nnop update_mode=SEM_INC_READ, update_idx=7\ncopy src=@x, dst=@z"
    )
    text = text.replace(".tensor e sbuf 0 0x500 fp8_exp2 4x4 temp\n", "")
    core, rows = ready(cayman), {}
    core.events[5] = 1
    core.accumulators.store("dve", 2, np.array([1.5, 2.5], np.float32))

    def pause(paused: Paused) -> bool:
        rows.update(paused.summary())
        rows["element"] = paused.element("x[1,1]")
        return False

    core.run(cayman.assemble(text), watchers=[Break(core, (None, 1), pause)])
    assert rows == {
        "next": "dve instruction 1: copy src=@x, dst=@z",
        "registers": "r3 = 0x80",
        "semaphores": "7 = 1",
        "events": "5 = 1",
        "accumulators of dve": "2 lanes defined: lane 2 = 1.5, lane 3 = 2.5",
        "accumulators of act": "no lane defined",
        "tensor x": "fp32 4x4, 0 to 15; first 0, 1, 2, 3, ...",
        "tensor y": "fp32 4x4, every byte 0xa5 as in fresh memory",
        "tensor z": "fp32 4x4, every byte 0xa5 as in fresh memory",
        "element": "x[1,1] = 0x40a00000 (5)",
    }
