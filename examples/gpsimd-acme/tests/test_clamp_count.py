"""The opcode 0xF5 beside whichever generations are installed: layout, rules, values, text."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("gpsimd_acme", reason="gpsimd-acme is not installed")

from gpsimd_acme.clamp import ClampCount

import gpsimd_core as gp

if not gp.generations():
    pytest.skip("no generation is installed", allow_module_level=True)

INF, NAN = float("inf"), float("nan")


@functools.cache
def load(gen: str) -> gp.Machine:
    return gp.load(gen, plugins=["acme"])


@pytest.fixture(params=gp.generations())
def machine(request: pytest.FixtureRequest) -> gp.Machine:
    """Every installed generation in turn, with acme."""
    return load(request.param)


def place(offset: int, dtype: str = "fp32", shape: tuple[int, ...] = (4, 6)) -> gp.Tensor:
    return gp.Tensor(offset=offset, dtype=dtype, shape=shape)


def record(machine: gp.Machine, **more: Any) -> bytes:
    given: dict[str, Any] = {"src": place(0x100), "dst": place(0x200), "low": -1.0, "high": 1.0}
    return machine.encode("clamp_count", **(given | more))


def run(machine: gp.Machine, data: np.ndarray[Any, Any], **more: Any) -> tuple[np.ndarray[Any, Any], gp.NeuronCore]:
    core = gp.NeuronCore(machine)
    core.sbuf.write(data, offset=0x100)
    core.run(record(machine, **more))
    return core.sbuf.read(offset=0x200, shape=data.shape, dtype=data.dtype), core


def test_it_is_an_opcode_like_any_other(machine: gp.Machine) -> None:
    assert machine.opcodes[0xF5].name == "clamp_count"
    assert machine.opcode_of("ClampCount") == 0xF5
    assert machine.engines_of("clamp_count") == ("dve",)
    assert machine.owners["instruction", "clamp_count"] == "acme"
    assert machine.warnings == ()


def test_the_layout_reads_what_it_writes(machine: gp.Machine) -> None:
    data = record(machine, accumulator_cmd="ACCUMULATE")
    program = machine.decode(data)
    assert program[0].layout.cls is ClampCount
    fields = program[0].fields
    assert (fields["low"], fields["high"]) == (0xBF800000, 0x3F800000)
    assert fields["src"] == {"addr": 0x100, "step": (1, 1), "num": (6, 1)}
    assert (fields["in_dtype"].name, fields["num_active_channels"]) == ("FP32", 4)
    assert data[0] == 0xF5
    assert bytes(program) == data


def test_it_assembles_and_disassembles(machine: gp.Machine) -> None:
    data = record(machine, accumulator_cmd="ZERO_ACCUMULATE", high=0.1) + record(machine, low=gp.Bits(0xFF800000))
    text = machine.disassemble(machine.decode(data))
    assert "clamp_count" in text
    assert bytes(machine.assemble(text)) == data


RULES = [
    (2, "dtype_in[in_dtype]", {"in_dtype": "INT8"}),
    (3, "check_active_channels", {"num_active_channels": 0}),
    (4, "start_addr_active_channels[src]", {"src": {"addr": 0x40000 * 4, "step": [1], "num": [6]}}),
    (5, "tensor_valid[src]", {"src": {"addr": 0x102, "step": [1], "num": [6]}}),
    (5, "tensor_valid[dst]", {"dst": {"addr": 0x100, "step": [1], "num": [0]}}),
    (6, "same_element_count[src,dst]", {"dst": {"addr": 0x100, "step": [1], "num": [5]}}),
    (7, "field_in[accumulator_cmd]", {"accumulator_cmd": "LOAD_ACCUMULATE"}),
    (8, "limits_in_order", {"low": 2.0}),
    (8, "limits_in_order", {"high": gp.Bits(0x7FC00000)}),
    (9, "reserved_zero", {"reserved1": [1, *[0] * 15]}),
]  # fmt: skip


@pytest.mark.parametrize(("number", "rule", "broken"), RULES)
def test_each_rule_alone(machine: gp.Machine, number: int, rule: str, broken: dict[str, Any]) -> None:
    given = {"in_dtype": "FP32", "num_active_channels": 4} | broken
    for operand, offset in (("src", 0x100), ("dst", 0x200)):
        given.setdefault(operand, {"addr": offset, "step": [1], "num": [6]})
    legal = {k: v for k, v in given.items() if k not in broken or k in ("in_dtype", "num_active_channels")}
    assert machine.validate(record(machine)).ok
    found = machine.validate(machine.encode("clamp_count", **({"low": -1.0, "high": 1.0} | legal | given | broken)))
    assert [(v.number, v.rule) for v in found.violations] == [(number, rule)]


@pytest.mark.parametrize("kind", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_values(machine: gp.Machine, kind: Any) -> None:
    data = np.array([[0.5, -0.5, 1.0, 2.0, -INF, -0.0]] * 4).astype(kind)
    name = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}[np.dtype(kind).name]
    found, core = run(machine, data, src=place(0x100, name), dst=place(0x200, name), accumulator_cmd="ZERO_ACCUMULATE")
    assert found.astype(np.float32)[0].tolist() == [0.5, -0.5, 1.0, 1.0, -1.0, 0.0]
    assert np.signbit(found.astype(np.float32)[0, 5])
    assert core.accumulators["dve"][:4].tolist() == [2.0] * 4
    assert core.accumulators.defined("dve").sum() == 4


def test_nan_stays_bit_for_bit_or_becomes_the_lower_limit() -> None:
    data = np.array([[0x7F812345, 0x3F800000]], np.uint32).view(np.float32)
    gen = gp.generations()[0]
    for policy, first, count in (("keep", 0x7F812345, 0.0), ("low", 0xBF800000, 1.0)):
        machine = gp.load(gen, plugins=["acme"], policies={"acme_clamp_nan": policy})
        src, dst = place(0x100, shape=(1, 2)), place(0x200, shape=(1, 2))
        found, core = run(machine, data, src=src, dst=dst, accumulator_cmd="ZERO_ACCUMULATE")
        assert found.view(np.uint32)[0, 0] == first
        assert core.accumulators["dve"][0] == count


def test_counts_go_on_and_idle_leaves_them(machine: gp.Machine) -> None:
    data = np.array([[5.0] * 6] * 4, np.float32)
    _, core = run(machine, data, accumulator_cmd="ZERO_ACCUMULATE")
    core.run(record(machine, accumulator_cmd="ACCUMULATE"))
    assert core.accumulators["dve"][:4].tolist() == [12.0] * 4
    core.run(record(machine))
    assert core.accumulators["dve"][:4].tolist() == [12.0] * 4


def test_it_chains_with_what_the_generation_brings(machine: gp.Machine) -> None:
    """The count that 0xF5 leaves in the accumulator is read by 0x9B."""
    data = np.array([[5.0, 0.0, -5.0, 0.5, 9.0, 1.0]] * 4, np.float32)
    core = gp.NeuronCore(machine)
    core.sbuf.write(data, offset=0x100)
    read = machine.encode("dve_read_accumulator", dst=gp.Tensor(offset=0x300, dtype="fp32", shape=(4, 1)))
    result = core.run(record(machine, accumulator_cmd="ZERO_ACCUMULATE") + read)
    assert core.sbuf.read(offset=0x300, shape=(4, 1), dtype="fp32")[:, 0].tolist() == [3.0] * 4
    assert [s.name for s in result.steps] == ["clamp_count", "dve_read_accumulator"]


def test_an_undefined_count_gives_a_notice(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.zeros((4, 6), np.float32), offset=0x100)
    (notice,) = core.run(record(machine, accumulator_cmd="ACCUMULATE")).notices
    assert "no value" in str(notice)


def test_overlap_reads_first(machine: gp.Machine) -> None:
    """The kernel never writes, so a destination one element beside its source is no trouble."""
    data = np.arange(6, dtype=np.float32)[None] / 10
    core = gp.NeuronCore(machine)
    core.sbuf.write(data, offset=0x100)
    core.run(record(machine, src=place(0x100, shape=(1, 6)), dst=place(0x104, shape=(1, 6))))
    assert core.sbuf.read(offset=0x100, shape=(1, 7), dtype="fp32")[0].tolist() == [0.0, *data[0].tolist()]


def test_a_fault_leaves_everything_as_it_was(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    before = core.memory.data.copy()
    with pytest.raises(gp.Fault, match="src touches bytes"):
        core.run(record(machine, src={"addr": 0x100, "step": [32767, 32767], "num": [6, 60]}, dst={"addr": 0x200, "num": [360]},
                        in_dtype="FP32", num_active_channels=4))  # fmt: skip
    assert np.array_equal(core.memory.data, before)
