"""What select_reduce (0xEA) and dve_read_accumulator (0x9B) leave in memory and accumulators, bit by bit.

Random programs over every generation, dtype, policy, operand place and pattern are compared with `support/value_model.py`,
which computes one element at a time in Python integers and fractions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from value_cases import WINDOW, Case, Maker, pack, register_values
from value_model import Policies, State, read_accumulator, select_reduce

import gpsimd_core as gp

POLICIES = [
    pytest.param({}, id="reference"),
    pytest.param({"select_reduce": "select"}, id="select"),
    pytest.param({"reduce_nan": "propagate", "fp_to_int": "rtz_saturate"}, id="propagate-truncate"),
    pytest.param({"reduce_nan": "select", "fp_to_int": "wrap"}, id="ordered-wrap"),
    pytest.param({"fp8_overflow": "saturate", "fp8_exp4": "ocp", "fp32r_mantissa_bits": 13}, id="saturate-ocp"),
    pytest.param({"fp8_overflow": "ieee", "fp8_exp4": "ocp", "select_reduce": "select"}, id="ieee-ocp-select"),
    pytest.param({"fp8_exp4": "ieee", "idle_accumulator": "undefined", "fp32r_mantissa_bits": 10}, id="idle-undefined"),
]  # fmt: skip
GENERATIONS = ("sunda", "cayman", "mariana", "mariana_plus", "maverick")


def policies_of(machine: gp.Machine) -> Policies:
    return Policies(**{name: machine.policies[name] for name in Policies.__annotations__})


def as_array(rows: list[bytearray]) -> np.ndarray[Any, Any]:
    """The rows of a window: uint8, shape (128, WINDOW)."""
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)


class Twin:
    """A NeuronCore and the model side by side."""

    def __init__(self, machine: gp.Machine, *, compiled: bool) -> None:
        self.machine, self.gen = machine, machine.generation.name
        self.core = gp.NeuronCore(machine, compiled=compiled)
        self.policies = policies_of(machine)
        self.lanes: list[tuple[int, bool]] = [(0, False)] * 128

    def run(self, maker: Maker, program: list[Case]) -> None:
        """Run a program on both, and compare every byte of the windows, the accumulators and the notices."""
        core, windows = self.core, maker.contents(program)
        for region, (first, rows) in windows.items():
            core.memory.region(region).write(as_array(rows), 0, first)
        for case in program:
            for number, value in register_values(self.gen, case).items():
                core.registers[number] = value
        data = b"".join(pack(self.gen, case) for case in program)
        result = core.run(data)
        state = State(windows, self.lanes)
        for case in program:
            (select_reduce if hasattr(case, "src0") else read_accumulator)(state, case, self.policies)
        for region, (first, rows) in windows.items():
            found = core.memory.region(region).read(0, first, shape=(128, WINDOW), dtype="uint8")
            wrong = np.argwhere(found != as_array(rows))
            assert not len(wrong), f"{region} partition {wrong[0][0]} byte {first + wrong[0][1]} after {program}"
        defined = core.accumulators.defined("dve").tolist()
        assert defined == [d for _, d in state.lanes], program
        bits = core.accumulators["dve"].view(np.uint32).tolist()
        assert [b for b, d in zip(bits, defined, strict=True) if d] == [b for b, d in state.lanes if d], program
        assert {n.index for n in result.notices} == state.notices, program
        assert result.instructions == len(program)

    def assert_untouched_elsewhere(self, firsts: dict[str, set[int]]) -> None:
        """Whatever lies outside the windows is as it was when the memory was made."""
        for region, used in firsts.items():
            memory = self.core.memory.region(region)
            found = memory.read(0, 0, shape=(128, memory.active), dtype="uint8")
            for first in used:
                found[:, first : first + WINDOW] = 0xA5
            assert (found == 0xA5).all(), region


def run_random(machine: gp.Machine, label: str, programs: int, elements: int, *, compiled: bool) -> None:
    twin = Twin(machine, compiled=compiled)
    firsts: dict[str, set[int]] = {"sbuf": set(), "psum": set()}
    for n in range(programs):
        maker = Maker(twin.gen, twin.policies, f"{label}-{twin.gen}-{n}", elements)
        twin.run(maker, maker.program())
        for region, first in maker.first.items():
            firsts[region].add(first)
    twin.assert_untouched_elsewhere(firsts)


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_programs_equal_the_model(load: Callable[..., gp.Machine], gen: str, policies: dict[str, Any]) -> None:
    """11 programs of one to four instructions, below 4,096 elements each: 385 programs over all parameters."""
    run_random(load(gen, policies=policies), "small", 10, 600, compiled=True)
    run_random(load(gen, policies=policies), "large", 1, 4096, compiled=True)


@pytest.mark.parametrize("policies", POLICIES[:4])
def test_uncompiled_kernels_equal_the_model_too(load: Callable[..., gp.Machine], policies: dict[str, Any]) -> None:
    """The same functions as plain Python: what numba compiles is what the source says."""
    run_random(load("cayman", policies=policies), "plain", 6, 200, compiled=False)
