"""Kernels in threads: only what cannot meet runs at once, and the results are those of one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from host_programs import Turns

import gpsimd_core as gp
from gpsimd_core import workers
from gpsimd_core.pipeline import plan
from gpsimd_core.workers import Workers, meet

Load = Callable[..., gp.Machine]

SHAPE = "128x512"
TENSORS = "\n".join(f".tensor t{i} sbuf 0 {0x800 * i} fp32 {SHAPE} inout" for i in range(8))
MASK = f".tensor m sbuf 0 0x8000 uint8 {SHAPE} in"


@pytest.fixture(scope="module")
def cayman(load: Load) -> gp.Machine:
    return load("cayman")


def filled(machine: gp.Machine, threads: int, **more: Any) -> gp.NeuronCore:
    core = gp.NeuronCore(machine, threads=threads, **more)
    rng = np.random.default_rng(11)
    core.sbuf.write(rng.standard_normal((128, 4096)).astype(np.float32))
    core.sbuf.write(rng.integers(0, 2, (128, 512)).astype(np.uint8), offset=0x8000)
    return core


class Late:
    """An executor of one thread that does nothing before somebody waits: whatever was not waited for comes too late."""

    def __init__(self, max_workers: int) -> None:
        assert max_workers == 1
        self.queue: list[LateFuture] = []

    def submit(self, function: Any, *args: Any) -> LateFuture:
        self.queue.append(LateFuture(self, function, args))
        return self.queue[-1]

    def shutdown(self) -> None:
        assert not self.queue


class LateFuture:
    """What `Late` will do, after all that it was given before."""

    def __init__(self, executor: Late, function: Any, args: tuple[Any, ...]) -> None:
        self.executor, self.function, self.args = executor, function, args

    def done(self) -> bool:
        return self not in self.executor.queue

    def result(self) -> None:
        while not self.done():
            first = self.executor.queue.pop(0)
            first.function(*first.args)


@pytest.fixture
def crowd(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Kernels come as late as they may. In how many threads some are put aside, after each that was."""
    seen: list[int] = []
    real = Workers.__call__

    def call(self: Workers, stream: Any, segment: Any) -> Any:
        status = real(self, stream, segment)
        if status is None:
            seen.append(len({t.thread for t in self.tasks}))
        return status

    monkeypatch.setattr(Workers, "__call__", call)
    monkeypatch.setattr(workers, "ThreadPoolExecutor", Late)
    return seen


def pieces(count: int, dve: str, pool: str, act: str = "") -> str:
    streams = {"pool": pool, "dve": dve, "act": act}
    text = [TENSORS, MASK]
    for engine, statements in streams.items():
        if statements:
            text += [f".stream {engine}", *[statements] * count]
    return "\n".join(text)


APART = (
    "tensor_tensor_arith_op src0=@t0, src1=@t1, dst=@t2, op=ADD\ntensor_tensor_arith_op src0=@t2, src1=@t1, dst=@t0, op=MULT",
    "tensor_tensor_arith_op src0=@t4, src1=@t5, dst=@t6, op=MAX\ntensor_tensor_arith_op src0=@t6, src1=@t6, dst=@t4, op=ADD",
)


def test_independent_work_runs_at_once_and_gives_the_same(cayman: gp.Machine, crowd: list[int]) -> None:
    program = cayman.assemble(pieces(4, *APART))
    one, two = filled(cayman, 1), filled(cayman, 2)
    one.run(program)
    assert crowd == []
    two.run(program)
    assert 2 in crowd
    assert (one.memory.data == two.memory.data).all()


def test_real_threads_give_the_same(cayman: gp.Machine) -> None:
    program = cayman.assemble(pieces(8, *APART))
    one, two, three = filled(cayman, 1), filled(cayman, 2), filled(cayman, 2)
    one.run(program)
    two.run(program)
    three.run(program, schedule=5)
    assert (one.memory.data == two.memory.data).all()
    assert (one.memory.data == three.memory.data).all()


@pytest.mark.parametrize(
    ("dve", "pool"),
    [
        pytest.param(
            "tensor_tensor_arith_op src0=@t0, src1=@t0, dst=@t1, op=ADD",
            "tensor_tensor_arith_op src0=@t1, src1=@t1, dst=@t2, op=ADD",
            id="one reads what the other writes",
        ),
        pytest.param(
            "tensor_tensor_arith_op src0=@t0, src1=@t0, dst=@t1, op=ADD",
            "tensor_tensor_arith_op src0=@t2, src1=@t2, dst=@t1, op=ADD",
            id="both write",
        ),
        pytest.param(
            "tensor_tensor_arith_op src0=@t0, src1=@t0, dst=@t1, op=ADD",
            "tensor_tensor_arith_op src0=@t3, src1=@t3, dst=@t0, op=ADD",
            id="one writes what the other reads",
        ),
    ],
)
def test_what_can_meet_waits(cayman: gp.Machine, crowd: list[int], dve: str, pool: str) -> None:
    program = cayman.assemble(pieces(6, dve, pool))
    one, two = filled(cayman, 1), filled(cayman, 4)
    one.run(program)
    two.run(program)
    assert set(crowd) == {1}
    assert (one.memory.data == two.memory.data).all()


def test_neighbours_in_one_queue_go_to_one_thread(cayman: gp.Machine, crowd: list[int]) -> None:
    program = cayman.assemble(
        pieces(
            1,
            "tensor_tensor_arith_op src0=@t0, src1=@t0, dst=@t1, op=ADD\ntensor_tensor_arith_op src0=@t2, src1=@t2, dst=@t3, op=ADD\n"
            * 4,
            "nop",
        )
    )
    filled(cayman, 4).run(program)
    assert set(crowd) == {1}


OVERLAP = (
    "copy src={addr=0, num=[1022]}, dst={addr=8, num=[1022]}, in_dtype=fp32, out_dtype=fp32, num_active_channels=128"
)


def test_overlapping_operands_never_go_to_a_thread(cayman: gp.Machine, crowd: list[int]) -> None:
    """Their sources are kept in storage that all of them share."""
    program = cayman.assemble(
        pieces(4, OVERLAP, OVERLAP.replace("addr=0", "addr=0x2000").replace("addr=8", "addr=0x2008"))
    )
    one, two = filled(cayman, 1), filled(cayman, 2)
    one.run(program)
    two.run(program)
    assert crowd == []
    assert (one.memory.data == two.memory.data).all()


def test_notices_come_from_threads_too(cayman: gp.Machine, crowd: list[int]) -> None:
    fold = "select_reduce src0=@m, src1=@t0, dst=@t1, accumulator_cmd=ACCUMULATE"
    program = cayman.assemble(pieces(3, fold, "tensor_tensor_arith_op src0=@t5, src1=@t5, dst=@t6, op=ADD"))
    results = [filled(cayman, n).run(program) for n in (1, 2)]
    assert 2 in crowd
    assert [str(n) for n in results[0].notices] == [str(n) for n in results[1].notices]
    assert len(results[0].notices) == 3


@pytest.mark.parametrize("schedule", ["round_robin", 1, 2, 3])
def test_waits_and_updates_keep_their_order(cayman: gp.Machine, crowd: list[int], schedule: Any) -> None:
    text = f"""{TENSORS}
    .stream pool
    tensor_tensor_arith_op src0=@t0, src1=@t1, dst=@t2, op=ADD, update_mode=SEM_INC_COMPLETE, update_idx=1
    tensor_tensor_arith_op src0=@t0, src1=@t1, dst=@t3, op=MULT, update_mode=SEM_INC_COMPLETE, update_idx=1
    .stream dve
    tensor_tensor_arith_op src0=@t5, src1=@t5, dst=@t6, op=ADD
    tensor_tensor_arith_op src0=@t2, src1=@t2, dst=@t4, op=ADD, wait_mode=SEM_GE_IMM, wait_idx=1, semaphore_value=1
    tensor_tensor_arith_op src0=@t3, src1=@t3, dst=@t5, op=ADD, wait_mode=SEM_GE_IMM, wait_idx=1, semaphore_value=2
    .stream sp
    nop
    nop
    """
    program = cayman.assemble(text)
    one, two = filled(cayman, 1), filled(cayman, 3)
    one.run(program, schedule=schedule)
    two.run(program, schedule=schedule)
    assert crowd
    assert (one.memory.data == two.memory.data).all()
    assert (one.semaphores == two.semaphores).all()


def test_a_fault_waits_for_what_was_put_aside(cayman: gp.Machine, crowd: list[int]) -> None:
    text = f"{TENSORS}\n.stream pool\n{APART[1]}\n.stream dve\ntensor_tensor_arith_op src0=@t0, src1=@t0, dst=@t1, op=ADD\nnop update_mode=SEM_DEC_READ"
    one, two = filled(cayman, 1), filled(cayman, 2)
    for core in (one, two):
        with pytest.raises(gp.Fault, match="semaphore 0 is 0"):
            core.run(cayman.assemble(text))
    assert 2 in crowd
    assert (one.memory.data == two.memory.data).all()


def test_small_work_and_watched_work_stay_where_they_are(
    cayman: gp.Machine, crowd: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(cayman, 2).run(cayman.assemble(pieces(1, *APART)), watchers=[Turns()])
    filled(cayman, 2).run(cayman.assemble(pieces(1, *APART)), check=True)
    filled(cayman, 2, compiled=False).run(cayman.assemble(pieces(1, "nop", "nop")))
    list(filled(cayman, 2).stepwise(cayman.assemble(pieces(1, *APART))))
    monkeypatch.setattr(workers, "LARGE", 1 << 30)
    filled(cayman, 2).run(cayman.assemble(pieces(1, *APART)))
    assert crowd == []


def test_sunda_never_does(load: Load, crowd: list[int]) -> None:
    """Its engines share the memories; nothing there could overlap."""
    sunda = load("sunda")
    filled(sunda, 2).run(sunda.assemble(pieces(2, *APART)))
    assert crowd == []


def test_who_meets_whom(cayman: gp.Machine) -> None:
    """Bytes, not only ranges of partitions; reads beside reads; and the lanes of one accumulator."""
    core = filled(cayman, 1)
    lines = [
        "tensor_tensor_arith_op src0=@t0, src1=@t0, dst=@t1, op=ADD", "tensor_tensor_arith_op src0=@t0, src1=@t0, dst=@t2, op=ADD", "tensor_tensor_arith_op src0=@t1, src1=@t1, dst=@t3, op=ADD",
        "select_reduce src0=@m, src1=@t0, dst=@t5, accumulator_cmd=ZERO_ACCUMULATE",
        "select_reduce src0=@m, src1=@t0, dst=@t6, accumulator_cmd=ZERO_ACCUMULATE",
    ]  # fmt: skip
    program = cayman.assemble("\n".join([TENSORS, MASK, *lines]))
    steps = [plan(cayman, core.memory, program[i], lambda n, o: 0, "dve") for i in range(len(lines))]
    pairs = {(i, j): meet(steps[i], steps[j]) for i in range(5) for j in range(5) if i < j}
    assert {k for k, v in pairs.items() if v} == {(0, 2), (3, 4)}
