"""Tier C, the buffer fold: a reference that goes element by element, its limits, and the three tiers kept apart.

Titles: vring/SDMA page; CrossLaneReduce (the reduce layers); decisions 17, 18 and 30.
"""

from __future__ import annotations

from typing import Any

import fp32_model as fp32
import ml_dtypes
import numpy as np
import pytest
from alu_model import alu32
from family_model import Load
from records import BF16, E3M4, E4M3, E5M2, FP16, FP32, INT32
from value_cases import specials
from value_model import Policies, narrow, widen

import gpsimd_core as gp
from gpsimd_core.cce import REDUCIBLE, CceType, limits_of, reduce_buffers
from gpsimd_core.isa.enums import AluOp, ReduceOp

DTYPES = {
    E3M4: ml_dtypes.float8_e3m4, E4M3: ml_dtypes.float8_e4m3, E5M2: ml_dtypes.float8_e5m2, BF16: ml_dtypes.bfloat16,
    FP16: np.float16, INT32: np.int32, FP32: np.float32,
}  # fmt: skip
POLICIES: list[dict[str, Any]] = [
    {},
    {"reduce_nan": "propagate", "fp8_overflow": "saturate", "fp_to_int": "rtz_saturate"},
    {"reduce_nan": "select", "fp_to_int": "wrap"},
]


def expected(
    op: str, columns: list[list[int]], dtypes: list[int], constants: list[int] | None, out: int, policies: Policies
) -> list[int]:
    results = []
    for column in columns:
        state = None
        for n, (code, dtype) in enumerate(zip(column, dtypes, strict=True)):
            fresh = fp32.canonical(widen(code, dtype, policies))
            fresh = fp32.multiply(fresh, constants[n]) if constants else fresh
            state = fresh if state is None else alu32("ADD" if op == "FMA" else op, fresh, state, policies.reduce_nan)
        results.append(narrow(state, out, policies))
    return results


@pytest.mark.parametrize("gen", ["sunda", "cayman", "mariana", "mariana_plus"])
@pytest.mark.parametrize("policies", POLICIES)
def test_random_folds(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """216 cases over all parameters: operators, dtypes, numbers of sources, constants."""
    machine = load(gen, policies=policies)
    known = Policies(**{name: machine.policies[name] for name in Policies.__annotations__})
    rng = np.random.default_rng(7)
    for n in range(18):
        op = rng.choice(["ADD", "FMA", "MAX", "MIN"])
        count, size = int(rng.integers(1, limits_of(machine).sources + 1)), int(rng.integers(1, 24))
        dtypes = [int(d) for d in rng.choice(list(DTYPES), count)]
        dtypes = dtypes[:1] * count if n % 2 else dtypes
        out = int(rng.choice(list(DTYPES)))
        codes = []
        for dtype in dtypes:
            bits = 8 * np.dtype(DTYPES[dtype]).itemsize
            drawn = rng.integers(0, 1 << bits, size, dtype=np.uint64)
            usual = rng.choice(np.array(specials(dtype, known), np.uint64), size)
            codes.append(np.where(rng.random(size) < 0.5, usual, drawn).tolist())
        constants = rng.standard_normal(count).astype(np.float32) if op == "FMA" else None
        sources = [
            np.array(c, f"u{np.dtype(DTYPES[d]).itemsize}").view(DTYPES[d]) for c, d in zip(codes, dtypes, strict=True)
        ]
        given = None if constants is None else constants.tolist()
        found = reduce_buffers(machine, str(op), sources, constants=given, out=DTYPES[out])
        factors = None if constants is None else constants.view(np.uint32).tolist()
        columns = [list(c) for c in zip(*codes, strict=True)]
        assert found.view(f"u{found.itemsize}").tolist() == expected(str(op), columns, dtypes, factors, out, known), (
            op,
            n,
        )


def test_the_slow_twin_agrees(load: Load) -> None:
    machine = load("cayman")
    sources = [np.float32([1, np.nan, -0.0]), np.float32([2, 3, 0.0])]
    for op in ("ADD", "MAX", "MIN"):
        fast, slow = (reduce_buffers(machine, op, sources, slow=s) for s in (False, True))
        assert fast.view(np.uint32).tolist() == slow.view(np.uint32).tolist()


def test_product_and_sum_are_rounded_apart(load: Load) -> None:
    """Fused, the second product's low half would survive."""
    factor = 1 + 2.0**-12
    buffers = [np.float32([-(1 + 2.0**-11)]), np.float32([factor])]
    assert reduce_buffers(load("cayman"), "FMA", buffers, constants=[1.0, factor]).tolist() == [0]


def test_the_fold_keeps_the_order_of_the_sources_and_converts_once(load: Load) -> None:
    one, big = np.ones(1, ml_dtypes.bfloat16), np.full(1, 256, ml_dtypes.bfloat16)
    assert reduce_buffers(load("cayman"), "ADD", [big, one, one]).astype(float).tolist() == [258]
    numbers = [np.float32([x]) for x in (1e8, 1, -1e8)]
    assert reduce_buffers(load("cayman"), "ADD", numbers).tolist() == [0]


def test_long_buffers_take_several_descriptors_and_keep_their_values(load: Load) -> None:
    a, b = np.arange(5000, dtype=np.float32), np.ones(5000, np.float32)
    assert (reduce_buffers(load("sunda"), "ADD", [a.reshape(50, 100), b.reshape(50, 100)]).ravel() == a + 1).all()


@pytest.mark.parametrize(("gen", "sources", "elements"), [
    ("sunda", 16, 1024), ("cayman", 16, 2048), ("mariana", 32, 2048), ("mariana_plus", 32, 2048),
])  # fmt: skip
def test_limits_by_generation(load: Load, gen: str, sources: int, elements: int) -> None:
    machine = load(gen)
    assert (limits_of(machine).sources, limits_of(machine).elements) == (sources, elements)
    buffers = [np.ones(2, np.float32)] * sources
    assert reduce_buffers(machine, "ADD", buffers).tolist() == [sources] * 2
    with pytest.raises(gp.BadValue, match=f"takes 1 to {sources}"):
        reduce_buffers(machine, "ADD", [*buffers, buffers[0]])


def test_more_than_one_destination_needs_a_later_engine(load: Load) -> None:
    buffers = [np.ones(2, np.float32)]
    with pytest.raises(gp.BadValue, match="2 destinations"):
        reduce_buffers(load("sunda"), "ADD", buffers, destinations=2)
    assert reduce_buffers(load("cayman"), "ADD", buffers, destinations=2).tolist() == [1, 1]


def test_what_is_refused(load: Load) -> None:
    machine = load("cayman")
    ones = np.ones(2, np.float32)
    with pytest.raises(gp.Unsupported, match="int64"):
        reduce_buffers(machine, "ADD", [np.ones(2, np.int64)])
    for dtype in (np.uint8, np.int16, np.uint32):
        with pytest.raises(gp.BadValue, match="not reducible"):
            reduce_buffers(machine, "ADD", [np.ones(2, dtype)])
    for op in (CceType.EXT, CceType.GCE):
        with pytest.raises(gp.Unsupported, match=op.name):
            reduce_buffers(machine, op, [ones])
    with pytest.raises(gp.BadValue, match="one shape"):
        reduce_buffers(machine, "ADD", [ones, np.ones(3, np.float32)])
    with pytest.raises(gp.BadValue, match="constant"):
        reduce_buffers(machine, "ADD", [ones], constants=[1.0])
    with pytest.raises(gp.BadValue, match="constant"):
        reduce_buffers(machine, "FMA", [ones])


def test_the_enumerations_of_the_three_tiers_are_apart(load: Load) -> None:
    """They agree on names alone: the same number means MAX in two of them and SUBTRACT or nothing in the third."""
    assert {t.name: int(t) for t in CceType} == {"ADD": 0, "FMA": 1, "MAX": 2, "MIN": 3, "EXT": 4, "GCE": 5}
    machine, ones = load("cayman"), [np.ones(2, np.float32)]
    for stranger in (AluOp.MAX, ReduceOp.MAX, ReduceOp.ADD, 2):
        with pytest.raises(gp.BadValue, match="no operator of the buffer fold"):
            reduce_buffers(machine, stranger, ones)
    names = [set(e.__members__) for e in (AluOp, ReduceOp, CceType)]
    assert set.intersection(*names) == {"ADD", "MAX"}
    assert "MIN" not in ReduceOp.__members__


def test_reducible_formats_are_the_published_ones_but_int64() -> None:
    assert set(REDUCIBLE) == {"fp8_e3m4", "fp8_e4m3", "fp8_e4m3fn", "fp8_e5m2", "bf16", "fp16", "int32", "fp32"}
