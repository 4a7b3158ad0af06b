"""How fast the arithmetic families are: partition fold and scan against memcpy, elementwise operators against numpy.

A program holds one instruction four times, each on operands of its own, so that the host's work for a run, which is the same
for any program, is a quarter, and nobody finds the operands of the time before in a near cache; so does what it is compared
with. numpy works on the same bytes of SBUF, seen as strided arrays. Run `python benchmarks/run.py families`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from timing import Row, together

import gpsimd_core as gp

SHAPE, SCAN_SHAPE = (128, 4096), (128, 2048)
PLACES = range(0, 4 * 0xC000, 0xC000)
"""Where the operand sets lie in each partition: two sources and a destination of 16 KiB each."""
SECOND, RESULT = 0x4000, 0x8000


def rows() -> Iterator[Row]:
    """The rows of this module, measured now."""
    machine = gp.load("cayman")
    yield partition_fold(machine, "ADD", 1.2)
    yield partition_fold(machine, "MAX", None)
    yield scan(machine)
    yield tensor_tensor(machine)
    yield tensor_scalar(machine)
    yield from others(machine)


def prepared(
    machine: gp.Machine, encode: Callable[[int], bytes], shape: tuple[int, int]
) -> tuple[gp.NeuronCore, Callable[[], object]]:
    """A core whose operands hold random numbers, and a run of `encode(place)` for every place."""
    core = gp.NeuronCore(machine)
    rng = np.random.default_rng(0)
    for place in PLACES:
        for at in (place, place + SECOND, place + RESULT):
            core.sbuf.write(rng.standard_normal(shape).astype(np.float32), 0, at)
    program = machine.decode(b"".join(encode(place) for place in PLACES))
    core.run(program)
    return core, lambda: core.run(program)


def view(core: gp.NeuronCore, offset: int, shape: tuple[int, int]) -> np.ndarray[Any, Any]:
    """Elements of SBUF where they lie: float32, strided."""
    sbuf = core.sbuf
    return np.lib.stride_tricks.as_strided(sbuf.data[sbuf.start + offset :].view(np.float32), shape, (sbuf.pitch, 4))


def tensor(offset: int, shape: tuple[int, int], dtype: str = "fp32") -> gp.Tensor:
    return gp.Tensor(offset=offset, dtype=dtype, shape=shape)


def each(work: Callable[[int], object]) -> Callable[[], None]:
    """The same at every place."""

    def run() -> None:
        for place in PLACES:
            work(place)

    return run


def copied(shape: tuple[int, int]) -> Callable[[], None]:
    """memcpy of as many fp32 elements, from and to other arrays for every place."""
    arrays = {place: (np.ones(shape, np.float32), np.zeros(shape, np.float32)) for place in PLACES}
    return each(lambda place: np.copyto(arrays[place][1], arrays[place][0]))


def partition_fold(machine: gp.Machine, op: str, required: float | None) -> Row:
    """0x7C over 128 partitions."""

    def record(place: int) -> bytes:
        return machine.encode(
            "cross_lane_reduce_arith", src=tensor(place, SHAPE), dst=tensor(place + RESULT, (1, SHAPE[1])),
            num_active_channels=128, reduce_op=op, reduce_axis="PARTITIONS",
        )  # fmt: skip

    _, run = prepared(machine, record, SHAPE)
    ours, memcpy = together(run, copied(SHAPE), 60)
    return Row(f"partition fold {op}, {SHAPE} fp32", ours / memcpy, required, True, "x memcpy")


def scan(machine: gp.Machine) -> Row:
    """0xE5, state = x state + y."""

    def record(place: int) -> bytes:
        return machine.encode(
            "tensor_tensor_scan_arith", src0=tensor(place, SCAN_SHAPE), src1=tensor(place + SECOND, SCAN_SHAPE),
            dst=tensor(place + RESULT, SCAN_SHAPE), op0="MULT", op1="ADD", imm0=0.0,
        )  # fmt: skip

    _, run = prepared(machine, record, SCAN_SHAPE)
    ours, memcpy = together(run, copied(SCAN_SHAPE), 60)
    return Row(f"scan MULT ADD, {SCAN_SHAPE} fp32", ours / memcpy, 5.5, True, "x memcpy")


def tensor_tensor(machine: gp.Machine) -> Row:
    """0x41 ADD against numpy's add on the same views."""

    def record(place: int) -> bytes:
        return machine.encode(
            "tensor_tensor_arith_op", src0=tensor(place, SHAPE), src1=tensor(place + SECOND, SHAPE),
            dst=tensor(place + RESULT, SHAPE), op="ADD",
        )  # fmt: skip

    core, run = prepared(machine, record, SHAPE)
    views = {p: [view(core, p + at, SHAPE) for at in (0, SECOND, RESULT)] for p in PLACES}
    ours, numpy = together(run, each(lambda p: np.add(views[p][0], views[p][1], out=views[p][2])), 60)
    return Row(f"TensorTensor ADD, {SHAPE} fp32", ours / numpy, 1.5, True, "x numpy's add")


def tensor_scalar(machine: gp.Machine) -> Row:
    """0x43 with two operators against one numpy pass."""

    def record(place: int) -> bytes:
        return machine.encode(
            "tensor_scalar_arith_op", src=tensor(place, SHAPE), dst=tensor(place + RESULT, SHAPE), op0="MULT", imm0=1.5,
            op1="ADD", imm1=0.25,
        )  # fmt: skip

    core, run = prepared(machine, record, SHAPE)
    views = {p: [view(core, p + at, SHAPE) for at in (0, RESULT)] for p in PLACES}
    ours, numpy = together(run, each(lambda p: np.multiply(views[p][0], np.float32(1.5), out=views[p][1])), 60)
    return Row(f"TensorScalar MULT ADD, {SHAPE} fp32", ours / numpy, 1.5, True, "x one numpy pass")


def others(machine: gp.Machine) -> Iterator[Row]:
    """Figures without a bound."""

    def reduce(p: int) -> bytes:
        return machine.encode(
            "tensor_reduce_arith_op", src=tensor(p, SHAPE), dst=tensor(p + RESULT, (128, 1)), op="ADD", op_dim="X"
        )

    def accumulate(p: int) -> bytes:
        return machine.encode(
            "scalar_tensor_tensor_arith", src0=tensor(p, SHAPE), src1=tensor(p + SECOND, SHAPE),
            dst=tensor(p + RESULT, SHAPE), op0="MULT", imm0=1.5, op1="ADD", accumulator_cmd="ZERO_ACCUMULATE",
        )  # fmt: skip

    def narrowing(p: int) -> bytes:
        return machine.encode(
            "tensor_tensor_arith_op", src0=tensor(p, SHAPE), src1=tensor(p + SECOND, SHAPE),
            dst=tensor(p + RESULT, SHAPE, "bf16"), op="MULT",
        )  # fmt: skip

    works = {
        "TensorReduce ADD along X": reduce,
        "ScalarTensorTensor with accumulation": accumulate,
        "TensorTensor into bf16": narrowing,
    }
    for name, record in works.items():
        _, run = prepared(machine, record, SHAPE)
        ours, memcpy = together(run, copied(SHAPE), 10)
        yield Row(f"{name}, {SHAPE} fp32", ours / memcpy, None, True, "x memcpy")
