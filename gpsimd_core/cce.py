"""Tier C of the reductions: the fold of whole buffers that the DMA engines' compute element does between cores.

A library function, not an instruction: the DMA descriptors that ask for it are outside the bundles. The three tiers share
names and no numbers, so each has an enumeration of its own: `AluOp` along the free axes (tier A), `ReduceOp` across
partitions (tier B), `CceType` here. A fourth one, of a compiler's scatter, counts copy, add, min, max and is none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from attrs import frozen

from gpsimd_core.errors import BadValue, Unsupported
from gpsimd_core.isa.enums import AluOp
from gpsimd_core.isa.formats import Format, format_of, format_row
from gpsimd_core.isa.lane import compiled
from gpsimd_core.isa.lanes.alu import NAN_POLICIES, alu_fp32_row
from gpsimd_core.isa.lanes.convert import narrow_row, widen_row
from gpsimd_core.machine import Machine
from gpsimd_core.values import Evidence

__all__ = ["REDUCIBLE", "CceType", "Limits", "limits_of", "reduce_buffers"]


class CceType(IntEnum):
    """Operators of the DMA compute element (SDMA_CCETYPE); neither ALU_OP nor REDUCE_OP codes."""

    ADD = 0
    FMA = 1
    MAX = 2
    MIN = 3
    EXT = 4
    GCE = 5


REDUCIBLE = ("fp8_e3m4", "fp8_e4m3", "fp8_e4m3fn", "fp8_e5m2", "bf16", "fp16", "int32", "fp32")
"""Formats that buffers may have. int64 is in the published table too and has no value here: decision 30."""

_OPERATORS = {CceType.ADD: AluOp.ADD, CceType.FMA: AluOp.ADD, CceType.MAX: AluOp.MAX, CceType.MIN: AluOp.MIN}


@frozen(kw_only=True)
class Limits:
    """What one descriptor of a core version takes."""

    sources: int
    elements: int
    destinations: bool
    """Whether it may have more than one destination."""
    evidence: Evidence


def _limits(
    sources: int, elements: int, destinations: bool, confidence: str = "HIGH/OBSERVED", note: str = ""
) -> Limits:
    evidence = Evidence(confidence=confidence, source="vring/SDMA page", note=note)
    return Limits(sources=sources, elements=elements, destinations=destinations, evidence=evidence)


_BY_VERSION = {
    2: _limits(16, 1024, destinations=False),
    3: _limits(16, 2048, destinations=True, note="that `arch > 2` means this version and later is INFERRED"),
    4: _limits(32, 2048, destinations=True),
    5: _limits(32, 2048, destinations=True, confidence="PROPOSED", note="carried from the version before"),
}


def limits_of(machine: Machine) -> Limits:
    """What one descriptor takes on the generation of a machine."""
    return _BY_VERSION[machine.generation.nc_version]


def reduce_buffers(
    machine: Machine,
    op: CceType | str,
    sources: Sequence[Any],
    *,
    constants: Sequence[float] | None = None,
    out: Any = None,
    destinations: int = 1,
    slow: bool = False,
) -> np.ndarray[Any, Any]:
    """Fold buffers element by element, in the order of the sources.

    Every element is read into fp32, folded in fp32 from the first source on (FMA: from the first product; product and sum
    are rounded apart), and converted once at the end. A buffer that is longer than a descriptor takes several of them,
    which changes no value. NaN and overflow follow the machine's policies (`reduce_nan`, `fp8_overflow`, `fp_to_int`).

    Args:
        machine: whose limits and policies.
        op: ADD, FMA, MAX or MIN; a name, or a CceType, but no other enumeration's member.
        sources: arrays of one shape, of reducible dtypes (numpy or ml_dtypes).
        constants: for FMA, one fp32 factor a source.
        out: dtype of the result; that of the first source if left out.
        destinations: how many buffers the descriptor writes.
        slow: with the uncompiled functions.

    Returns:
        An array of that shape, of the numpy dtype of `out`.

    Raises:
        BadValue: another enumeration, unequal shapes, a dtype that is not reducible, more sources or destinations than the
            generation takes, constants without FMA or the reverse.
        Unsupported: EXT and GCE, whose values are not published; int64.
    """
    chosen = _operator(op)
    arrays = [np.asarray(s) for s in sources]
    formats = [_reducible(a.dtype) for a in arrays]
    _check(machine, chosen, arrays, constants, destinations)
    target = _reducible(out) if out is not None else formats[0]
    run: Callable[[Any], Any] = (lambda f: f) if slow else compiled
    policy = NAN_POLICIES[str(machine.policies["reduce_nan"])]
    state = np.empty(0, np.uint32)
    for n, (array, fmt) in enumerate(zip(arrays, formats, strict=True)):
        fresh = np.empty(array.size, np.uint32)
        codes = np.ascontiguousarray(array).reshape(-1).view(fmt.code_dtype).astype(np.uint32)
        run(widen_row)(codes, np.array(format_row(fmt, policies=machine.policies)), fresh)
        if constants is not None:
            factor = np.full(array.size, np.float32(constants[n])).view(np.uint32)
            run(alu_fp32_row)(int(AluOp.MULT), fresh, factor, fresh, policy)
        if n == 0:
            run(alu_fp32_row)(int(AluOp.BYPASS), fresh, fresh, fresh, policy)
            state = fresh
        else:
            run(alu_fp32_row)(int(_OPERATORS[chosen]), fresh, state, state, policy)
    found = np.empty(state.size, np.uint32)
    run(narrow_row)(state, np.array(format_row(target, policies=machine.policies)), found, 0)
    return found.astype(target.code_dtype).view(target.dtype).reshape(arrays[0].shape)


def _operator(op: CceType | str) -> CceType:
    if isinstance(op, str) and op.upper() in CceType.__members__:
        op = CceType[op.upper()]
    if not isinstance(op, CceType):
        kind = type(op).__name__
        raise BadValue(f"{op!r} ({kind}) is no operator of the buffer fold; allowed: {', '.join(CceType.__members__)}")
    if op not in _OPERATORS:
        raise Unsupported(f"{op.name} in a buffer fold", "its values are not published")
    return op


def _reducible(dtype: Any) -> Format:
    fmt = format_of(dtype)
    if fmt.name == "int64":
        raise Unsupported("int64 in a buffer fold", "the fold computes in fp32, which 64-bit integers do not enter")
    if fmt.name not in REDUCIBLE:
        raise BadValue(f"{fmt.name} is not reducible; allowed: {', '.join(REDUCIBLE)}")
    return fmt


def _check(
    machine: Machine, op: CceType, arrays: Sequence[Any], constants: Sequence[float] | None, destinations: int
) -> None:
    limits, gen = limits_of(machine), machine.generation.name
    if not 1 <= len(arrays) <= limits.sources:
        raise BadValue(f"{len(arrays)} sources; a descriptor of {gen} takes 1 to {limits.sources}")
    if destinations < 1 or (destinations > 1 and not limits.destinations):
        raise BadValue(f"{destinations} destinations; a descriptor of {gen} takes 1{' or more' * limits.destinations}")
    shapes = {a.shape for a in arrays}
    if len(shapes) > 1:
        raise BadValue(f"buffers of one fold have one shape; found {', '.join(str(s) for s in sorted(shapes))}")
    if (constants is None) == (op == CceType.FMA):
        raise BadValue("FMA takes one constant a source, the other operators none")
    if constants is not None and len(constants) != len(arrays):
        raise BadValue(f"{len(constants)} constants for {len(arrays)} sources")
