"""The shipped programs, on every generation that can run them: within a bound of numpy in float64, and to the stored bits."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.errors import NotExecutable

PROGRAMS = Path(__file__).parents[2] / "examples" / "programs"
EVERY = ("sunda", "cayman", "mariana", "mariana_plus", "maverick")
SHAPE = (128, 64)
Arrays = dict[str, np.ndarray[Any, Any]]


def inputs() -> Arrays:
    """The tensors that the programs read."""
    r = np.random.default_rng(7)
    return {
        "x": (r.standard_normal(SHAPE) * 3).astype(np.float32),
        "gain": r.standard_normal(SHAPE).astype(np.float32),
        "shift": r.standard_normal(SHAPE).astype(np.float32),
        "mask": (r.random(SHAPE) < 0.6).astype(np.uint8),
        "scores": r.standard_normal(SHAPE).astype(np.float32),
        "decay": r.random(SHAPE).astype(ml_dtypes.bfloat16),
        "input": r.standard_normal(SHAPE).astype(ml_dtypes.bfloat16),
    }


def run(generation: str, name: str) -> Arrays:
    """The outputs of a shipped program."""
    machine = gp.load(generation, plugins=())
    program = machine.assemble((PROGRAMS / f"{name}.tpb").read_text(), name)
    core = gp.NeuronCore(machine)
    given = inputs()
    for t in program.tensors.values():
        if t.direction == "in":
            core.sbuf.write(given[t.name], partition=t.tensor.partition, offset=t.tensor.offset)
    core.run(program)
    return {
        t.name: core.sbuf.read(t.tensor.partition, t.tensor.offset, shape=t.tensor.shape, dtype=t.tensor.dtype)
        for t in program.tensors.values()
        if t.direction == "out"
    }


def exactly(name: str) -> dict[str, tuple[np.ndarray[Any, Any], float]]:
    """What each output is in float64, and how far ours may lie from it, relative to the largest value."""
    a = {k: v.astype(np.float64) for k, v in inputs().items()}
    if name.startswith("softmax"):
        e = np.exp(a["x"] - a["x"].max(1, keepdims=True))
        return {"y": (e / e.sum(1, keepdims=True), 1e-6)}
    if name == "top8":
        kept = np.where(a["mask"] != 0, a["scores"], -np.inf)
        order = np.argsort(-kept, axis=1, kind="stable")[:, :8]
        return {"best": (np.take_along_axis(kept, order, 1), 0.0), "places": (order.astype(np.float64), 0.0)}
    if name == "recurrence":
        state, rows = np.zeros(128), []
        for i in range(SHAPE[1]):
            state = a["decay"][:, i] * state + a["input"][:, i]
            rows.append(state)
        return {"state": (np.stack(rows, 1), 1e-6)}
    if name == "layernorm":
        centred = a["x"] - a["x"].mean(1, keepdims=True)
        variance = (centred**2).mean(1, keepdims=True)
        return {"y": (centred / np.sqrt(variance + 1e-5) * a["gain"] + a["shift"], 1e-6)}
    return {"total": (np.broadcast_to(a["x"].sum(0), SHAPE), 1e-5)}


CASES = {
    "softmax_act": ("sunda", "cayman", "mariana", "mariana_plus"),
    "softmax_exp": ("mariana", "mariana_plus", "maverick"),
    "top8": EVERY,
    "recurrence": EVERY,
    "layernorm": EVERY,
    "allreduce": EVERY,
}
BITS = {
    "softmax_act": {"y": "a1edbc2b935b7b28"},
    "softmax_exp": {"y": "a1edbc2b935b7b28"},
    "top8": {"best": "86566773b3903fe2", "places": "fa0e2cc11a8c2cea"},
    "recurrence": {"state": "eea60a20138d801f"},
    "layernorm": {"y": "2226311eccca6e74"},
    "allreduce": {"total": "6a39986cd15fee74"},
}
"""First 16 hex digits of the sha256 of each output's bytes; the two softmaxes have equal bits."""


@pytest.mark.parametrize(("name", "generation"), [(n, g) for n, gens in CASES.items() for g in gens])
def test_a_shipped_program(name: str, generation: str) -> None:
    if generation not in gp.generations():
        pytest.skip(f"{generation} is not installed")
    found = run(generation, name)
    for output, (wanted, bound) in exactly(name).items():
        error = np.abs(found[output].astype(np.float64) - wanted).max() / np.abs(wanted).max()
        assert error <= bound
        assert hashlib.sha256(found[output].tobytes()).hexdigest()[:16] == BITS[name][output]


@pytest.mark.parametrize(("name", "generation"), [("softmax_act", "maverick"), ("softmax_exp", "cayman")])
def test_a_program_on_a_generation_that_cannot(name: str, generation: str) -> None:
    if generation not in gp.generations():
        pytest.skip(f"{generation} is not installed")
    with pytest.raises(NotExecutable, match=f"declared on {generation} but not executable"):
        run(generation, name)
