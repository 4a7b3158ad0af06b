"""The replaced kernel of select_reduce: used only when named, and then equal to the generation's own, bit for bit."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gpsimd_acme", reason="gpsimd-acme is not installed")

import gpsimd_core as gp

if not gp.generations():
    pytest.skip("no generation is installed", allow_module_level=True)


def test_it_waits_to_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPSIMD_PLUGINS", raising=False)
    for gen in gp.generations():
        assert gp.load(gen).owners["instruction", "select_reduce"] == gen
        assert gp.load(gen, plugins=["acme_plain"]).owners["instruction", "select_reduce"] == "acme_plain"
        monkeypatch.setenv("GPSIMD_PLUGINS", "acme_plain")
        assert gp.load(gen).owners["instruction", "select_reduce"] == "acme_plain"
        monkeypatch.delenv("GPSIMD_PLUGINS")


@pytest.mark.parametrize("gen", gp.generations())
def test_rules_and_layout_stay(gen: str) -> None:
    own, plain = gp.load(gen, plugins=()), gp.load(gen, plugins=["acme_plain"])
    assert plain.books["select_reduce"].rules == own.books["select_reduce"].rules
    assert plain.layouts[0xEA] is own.layouts[0xEA]
    assert plain.engines_of("select_reduce") == ("dve",)


CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("fp32", "fp32", {"accumulator_cmd": "ZERO_ACCUMULATE"}),
    ("fp32", "bf16", {"accumulator_cmd": "ACCUMULATE"}),
    ("fp16", "fp16", {"accumulator_cmd": "IDLE", "reverse_operands": "FIRST"}),
    ("bf16", "int8", {"accumulator_cmd": "ACCUMULATE"}),
    ("int8", "int8", {"accumulator_cmd": "ZERO_ACCUMULATE"}),
    ("uint16", "fp32", {"accumulator_cmd": "ZERO_ACCUMULATE", "reverse_operands": "FIRST"}),
]


@functools.cache
def load(gen: str, plugins: tuple[str, ...]) -> gp.Machine:
    return gp.load(gen, plugins=plugins)


@pytest.mark.parametrize("gen", gp.generations())
@pytest.mark.parametrize(("data", "out", "fields"), CASES)
def test_equal_to_the_generation_s_kernel(gen: str, data: str, out: str, fields: dict[str, Any]) -> None:
    """All memory that it may touch, and every lane, after two instructions on random bits."""
    rng = np.random.default_rng(3)
    shape = (33, 8)
    bits = rng.integers(0, 256, (33, 32), np.uint8)
    mask = rng.integers(0, 2, shape).astype(np.uint8)
    found = []
    for plugins in ((), ("acme_plain",)):
        machine = load(gen, plugins)
        core = gp.NeuronCore(machine, compiled=False)
        core.sbuf.write(mask, offset=0)
        core.sbuf.write(bits, offset=0x100)
        record = machine.encode(
            "select_reduce", src0=gp.Tensor(dtype="uint8", shape=shape), src1=gp.Tensor(offset=0x100, dtype=data, shape=shape),
            dst=gp.Tensor(offset=0x200, dtype=out, shape=shape), **fields,
        )  # fmt: skip
        core.run(record * 2)
        found.append((core.sbuf.read(shape=(128, 0x400), dtype="uint8").tobytes(), core.lanes.tobytes()))
    assert found[0] == found[1]


def test_what_it_does_not_know_it_says() -> None:
    machine = gp.load(gp.generations()[0], plugins=["acme_plain"], policies={"select_reduce": "select"})
    tensor = gp.Tensor(dtype="uint8", shape=(1, 4))
    with pytest.raises(gp.Unsupported, match="knows no policy select_reduce = select"):
        gp.NeuronCore(machine).run(machine.encode("select_reduce", src0=tensor, src1=tensor, dst=tensor))
