"""Kernels in plain numpy, what a third party writes first: what they may ask, and what happens to what they return.

On the made-up generation of `support/toy_generation.py`. Nothing of an answer is stored unless all of it fits.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stubs import EVIDENCE, doubling, plugin

import gpsimd_core as gp
from gpsimd_core.errors import PluginTrouble
from gpsimd_core.isa.enums import AccumCmd, Dtype, ImmSrc
from gpsimd_core.isa.layout import F32, U8, Imm, Tensor2D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Instruction, Operand

Kernel = Callable[[Any], Any]


@pytest.fixture
def run(distribution: Callable[..., Path]) -> Callable[..., gp.NeuronCore]:
    """`run(instruction, data, **fields)`: one instruction on a fresh core with `data` at byte 0x100."""
    distribution("gpsimd-toy", {"gpsimd.generations": {"toy": "toy_generation:toy"}})

    def go(
        instruction: Instruction, data: np.ndarray[Any, Any], core: gp.NeuronCore | None = None, **fields: Any
    ) -> gp.NeuronCore:
        machine = gp.load("toy", plugins=(plugin(gpsimd_execute=lambda gen: [instruction]),))
        core = core or gp.NeuronCore(machine, compiled=False)
        core.sbuf.write(data, offset=0x100)
        record = machine.encode(instruction.name, **fields)
        go.core = core  # type: ignore[attr-defined]
        core.run(machine.decode(record))
        return core

    return go


def tensor(offset: int, shape: tuple[int, ...] = (2, 4), dtype: str = "fp32", step: Any = None) -> gp.Tensor:
    return gp.Tensor(offset=offset, dtype=dtype, shape=shape, step=step)


SRC, DST = tensor(0x100), tensor(0x200)
DATA = np.arange(8, dtype=np.float32).reshape(2, 4)


# What a step offers ----------------------------------------------------------------------------------------------------


def test_read_gives_stream_order_and_cannot_be_written(run: Callable[..., gp.NeuronCore]) -> None:
    seen: list[Any] = []

    def kernel(step: Any) -> dict[str, Any]:
        seen.append(step.read("src").copy())
        step.read("src")[0, 0] = 1
        return {}

    src = tensor(0x100, (1, 2, 3), step=(1, 2))
    with pytest.raises(
        PluginTrouble, match=r"kernel of doubling \(plugin stub\) failed at instruction 0: ValueError: .*read-only"
    ):
        run(doubling(kernel=kernel), np.arange(6, dtype=np.float32)[None], src=src, dst=tensor(0x200, (1, 6)))
    assert seen[0].tolist() == [[0, 2, 4, 1, 3, 5]]


def test_what_is_read_comes_from_before_the_instruction(run: Callable[..., gp.NeuronCore]) -> None:
    core = run(doubling(), DATA, src=SRC, dst=tensor(0x104), times=1)
    assert core.sbuf.read(offset=0x104, shape=(2, 4), dtype="fp32").tolist() == (DATA * 2).tolist()


class Scaled(Bundle):
    """A masked operand, immediates of two kinds and an accumulator command."""

    title = "SCALED"
    evidence = EVIDENCE
    mask = Tensor2D.at(12, dtype="mask_dtype")
    dst = Tensor2D.at(24, dtype="dst_dtype")
    mask_dtype, dst_dtype = Dtype.at(36), Dtype.at(37)
    factor_dtype = Dtype.at(38)
    factor_src = ImmSrc.at(39)
    factor = Imm.at(40, dtype="factor_dtype", source="factor_src")
    bias = F32.at(44)
    num_active_channels = U8.at(48)
    accumulator_cmd = AccumCmd.at(49)
    rest = zeros.at(50, 14)


def scaled(kernel: Kernel, **more: Any) -> Instruction:
    given: dict[str, Any] = {
        "name": "scaled", "layout": Scaled, "opcodes": (0xF6,), "engine": "dve", "kernel": kernel,
        "reads": (Operand(name="mask", at="mask", dtype="mask_dtype", predicate=True),),
        "writes": (Operand(name="dst", at="dst", dtype="dst_dtype", merges=True),),
        "immediates": ("factor", "bias"), "accumulator": "accumulator_cmd", "evidence": EVIDENCE,
    }  # fmt: skip
    return Instruction(**(given | more))


MASK = tensor(0x100, dtype="uint8")
ONES = np.array([[1, 0, 1, 0], [0, 0, 0, 7]], np.uint8)


def test_immediates_and_mask(run: Callable[..., gp.NeuronCore]) -> None:
    told: dict[str, Any] = {}

    def kernel(step: Any) -> dict[str, Any]:
        told.update(mask=step.mask, factor=step.imm("factor"), bias=step.imm("bias"))
        return {}

    run(scaled(kernel), ONES, mask=MASK, dst=DST, factor_dtype="INT16", factor=0xFFFE, bias=0.5)
    assert told["mask"].tolist() == (ONES != 0).tolist()
    assert (told["factor"].dtype, told["factor"].tolist()) == (
        np.int16,
        [[-2], [-2]],
    )  # a narrow dtype takes the low bytes
    assert (told["bias"].dtype, told["bias"].tolist()) == (np.float32, [[0.5], [0.5]])


@pytest.mark.parametrize("source", ["POINTER_IMMEDIATE", "REG_PTR_IMMEDIATE"])
def test_immediates_from_memory_are_one_element_a_channel(run: Callable[..., gp.NeuronCore], source: str) -> None:
    told: list[Any] = []

    def kernel(step: Any) -> dict[str, Any]:
        told.append(step.imm("factor").tolist())
        return {}

    machine = gp.load("toy", plugins=(plugin(gpsimd_execute=lambda gen: [scaled(kernel)]),))
    core = gp.NeuronCore(machine, compiled=False)
    core.sbuf.write(np.array([[1.5], [-2.0]], np.float16), offset=0x40)
    core.registers[3] = 0x40
    value = 0x40 if source == "POINTER_IMMEDIATE" else 3
    run(scaled(kernel), ONES, core, mask=MASK, dst=DST, factor=value, factor_src=source, factor_dtype="FP16")
    assert told == [[[1.5], [-2.0]]]


def test_an_immediate_that_cannot_be_resolved_hurts_only_who_asks(run: Callable[..., gp.NeuronCore]) -> None:
    fields = {"mask": MASK, "dst": DST, "factor": 9, "factor_src": "REG_PTR_IMMEDIATE", "factor_dtype": "FP16"}
    run(scaled(lambda step: {}), ONES, **fields)
    with pytest.raises(gp.Fault, match="factor: register r9 was never written") as caught:
        run(scaled(lambda step: {"dst": step.imm("factor")}), ONES, **fields)
    assert caught.value.index == 0


# What is stored --------------------------------------------------------------------------------------------------------


def test_a_merging_operand_keeps_its_bytes_where_the_mask_is_false(run: Callable[..., gp.NeuronCore]) -> None:
    core = run(scaled(lambda step: {"dst": np.full((2, 4), 9, np.float32)}), ONES, mask=MASK, dst=DST)
    found = core.sbuf.read(offset=0x200, shape=(2, 4), dtype="uint32")
    assert found.tolist() == np.where(ONES != 0, 0x41100000, 0xA5A5A5A5).tolist()


def test_a_kernel_may_return_the_mask(run: Callable[..., gp.NeuronCore]) -> None:
    def kernel(step: Any) -> dict[str, Any]:
        return {"dst": np.ones((2, 4), np.float32), "mask": ~step.mask}

    found = run(scaled(kernel), ONES, mask=MASK, dst=DST).sbuf.read(offset=0x200, shape=(2, 4), dtype="uint32")
    assert ((found == 0xA5A5A5A5) == (ONES != 0)).all()


def test_the_last_write_to_a_place_wins(run: Callable[..., gp.NeuronCore]) -> None:
    """In stream order, and a masked write does not count."""
    values = np.array([[10, 20, 30, 40], [1, 2, 3, 4]], np.float32)
    dst = tensor(0x200, step=(0,))
    core = run(scaled(lambda step: {"dst": values}), ONES, mask=MASK, dst=dst)
    assert core.sbuf.read(offset=0x200, shape=(2, 1), dtype="fp32")[:, 0].tolist() == [30.0, 4.0]
    back = tensor(0x20C, step=(-1,))
    core = run(doubling(), values, src=SRC, dst=back)
    assert core.sbuf.read(offset=0x200, shape=(2, 4), dtype="fp32").tolist() == values[:, ::-1].tolist()


def test_the_accumulator(run: Callable[..., gp.NeuronCore]) -> None:
    def kernel(step: Any) -> dict[str, Any]:
        return {"accumulator": step.accumulator + np.float32(1)}

    dst = gp.Tensor(partition=32, offset=0x200, dtype="fp32", shape=(2, 4))
    machine = gp.load("toy", plugins=(plugin(gpsimd_execute=lambda gen: [scaled(kernel)]),))
    core = gp.NeuronCore(machine, compiled=False)
    core.accumulators["dve"] = np.arange(128, dtype=np.float32)
    run(scaled(kernel), ONES, core, mask=MASK, dst=dst)
    assert core.accumulators["dve"][30:36].tolist() == [30, 31, 33, 34, 34, 35]


def test_a_nan_in_the_accumulator_is_canonical(run: Callable[..., gp.NeuronCore]) -> None:
    bits = np.array([0xFFC12345, 0x7F812345], np.uint32)
    core = run(scaled(lambda step: {"accumulator": bits}), ONES, mask=MASK, dst=DST)
    assert core.accumulators["dve"].view(np.uint32)[:2].tolist() == [0x7FC00000] * 2


GOOD = np.zeros((2, 4), np.float32)
BAD_ANSWERS = [
    ({"dst": np.zeros((2, 5), np.float32)}, r"returned float32 \(2, 5\) for dst; allowed: float32 \(2, 4\)"),
    ({"dst": np.zeros((2, 4), np.float64)}, r"returned float64 \(2, 4\) for dst; allowed: float32"),
    ({"dst": 1.0}, r"returned float64 \(\) for dst"),
    ({"dst": GOOD, "out": GOOD}, "returned 'out'; allowed: accumulator, dst, lanes, mask, registers"),
    ({"dst": GOOD, "mask": np.ones((2, 5), bool)}, r"returned bool \(2, 5\) for mask"),
    ({"dst": GOOD, "mask": np.ones((2, 4), np.int8)}, r"returned int8 \(2, 4\) for mask; allowed: bool"),
    ({"dst": GOOD, "accumulator": np.zeros(3, np.float32)}, r"returned float32 \(3,\) for accumulator; .* \(2,\)"),
    ({"dst": GOOD, "accumulator": np.zeros(2, np.int64)}, r"returned int64 \(2,\) for accumulator"),
    (None, "returned None; a mapping of its outputs is needed"),
    ([("dst", GOOD)], "a mapping of its outputs is needed"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "message"), BAD_ANSWERS)
def test_an_answer_that_does_not_fit_stores_nothing(run: Any, answer: Any, message: str) -> None:
    with pytest.raises(gp.Fault, match=message) as caught:
        run(scaled(lambda step: answer), ONES, mask=MASK, dst=DST)
    assert caught.value.index == 0
    assert (run.core.sbuf.read(offset=0x200, shape=(2, 4), dtype="uint32") == 0xA5A5A5A5).all()
    assert not run.core.accumulators.defined("dve").any()


def test_an_engine_without_accumulators_takes_none(run: Callable[..., gp.NeuronCore]) -> None:
    with pytest.raises(gp.Fault, match="returned an accumulator; engine pool has none"):
        run(
            doubling(engine="pool", kernel=lambda step: {"accumulator": np.zeros(2, np.float32)}),
            DATA,
            src=SRC,
            dst=DST,
        )


def test_an_empty_answer_changes_nothing(run: Callable[..., gp.NeuronCore]) -> None:
    core = run(doubling(kernel=lambda step: {}), DATA, src=SRC, dst=DST)
    assert (core.sbuf.read(offset=0x200, shape=(2, 4), dtype="uint32") == 0xA5A5A5A5).all()


def test_a_kernel_may_fault(run: Callable[..., gp.NeuronCore]) -> None:
    def kernel(step: Any) -> dict[str, Any]:
        raise gp.Fault("no such table")

    with pytest.raises(gp.Fault, match="no such table") as caught:
        run(doubling(kernel=kernel), DATA, src=SRC, dst=DST)
    assert caught.value.index == 0


def test_no_kernel_is_unsupported_with_its_reason(run: Callable[..., gp.NeuronCore]) -> None:
    with pytest.raises(gp.Unsupported, match="doubling is not supported: nobody measured it"):
        run(doubling(kernel=None, missing="nobody measured it"), DATA, src=SRC, dst=DST)
    with pytest.raises(gp.Unsupported, match="doubling is not supported: not on tuesdays"):
        run(doubling(unsupported=lambda step: "not on tuesdays"), DATA, src=SRC, dst=DST)


def test_an_instruction_without_an_engine_is_not_executable(run: Callable[..., gp.NeuronCore]) -> None:
    with pytest.raises(gp.NotExecutable, match="doubling has no engine on toy: no plugin binds it to an engine"):
        run(doubling(engine=None), DATA, src=SRC, dst=DST)
