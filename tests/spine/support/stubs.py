"""Plugins as objects, made from functions: `plugin(gpsimd_sets=..., gpsimd_execute=...)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpsimd_core.hookspecs import hookimpl
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.layout import U8, Tensor2D, ungrounded
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence, Instruction, Operand

EVIDENCE = Evidence(confidence="PROPOSED", source="this test")


def plugin(api: Any = 1, **hooks: Callable[..., Any]) -> Any:
    """An object of a class `Stub` that implements these hooks; a function takes the hook's arguments, no self."""
    methods = {name: staticmethod(hookimpl(function)) for name, function in hooks.items()}
    return type("Stub", (), {"GPSIMD_API": api, **methods})()


class Doubling(Bundle):
    """An operand in, an operand out, and how often to double."""

    title = "DOUBLING"
    evidence = EVIDENCE
    times = U8.at(12, doc="how often")
    num_active_channels = U8.at(13, doc="partitions")
    dtype = Dtype.at(14, doc="dtype of both operands")
    rest0 = ungrounded.at(15, 1)
    src = Tensor2D.at(16, dtype="dtype")
    dst = Tensor2D.at(28, dtype="dtype")
    rest1 = ungrounded.at(40, 24)


def double(step: Any) -> dict[str, Any]:
    """dst = src x 2^times."""
    return {"dst": step.read("src") * (1 << step.number("times"))}


def doubling(**more: Any) -> Instruction:
    """An instruction 0xF5 `doubling` on DVE, in plain numpy."""
    given: dict[str, Any] = {
        "name": "doubling", "layout": Doubling, "opcodes": (0xF5,), "engine": "dve", "kernel": double,
        "reads": (Operand(name="src", at="src", dtype="dtype"),),
        "writes": (Operand(name="dst", at="dst", dtype="dtype"),),
        "evidence": EVIDENCE,
    }  # fmt: skip
    return Instruction(**(given | more))
