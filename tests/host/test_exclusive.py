"""sunda shares its memories: DVE with POOL on SBUF, DVE with ACT on PSUM. Later generations work in parallel."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from host_programs import Turns

import gpsimd_core as gp
from gpsimd_core.trace import Trace, Tracer

Load = Callable[..., gp.Machine]

ON_SBUF = """
.tensor x sbuf 0 0x000 fp32 4x4 in
.tensor y sbuf 0 0x100 fp32 4x4 temp
.tensor z sbuf 0 0x200 fp32 4x4 temp
.reg r1 = 0x200
.stream {one}
copy src=@x, dst=@y
copy src=@x, dst=@y
copy src=@x, dst=@y
.stream {two}
copy src=@x, dst=@z
copy src=@x, dst={{addr=r1, num=[4]}}, out_dtype=fp32
copy src=@x, dst=@z
"""
ON_PSUM = (
    ON_SBUF.replace("y sbuf", "y psum").replace("z sbuf", "z psum").replace("0x200\n.stream", "0x2000200\n.stream")
)


def traced(machine: gp.Machine, text: str, schedule: str | int) -> Trace:
    core = gp.NeuronCore(machine, compiled=False)
    core.sbuf.write(np.ones((4, 4), np.float32))
    tracer = Tracer(core)
    core.run(machine.assemble(text), schedule=schedule, watchers=[tracer])
    return tracer.trace()


def overlaps(trace: Trace, one: str, two: str) -> int:
    """How many pairs of intervals of two engines overlap."""
    spans: dict[str, list[tuple[int, int]]] = {one: [], two: []}
    for r in trace.records():
        spans[r["engine"]].append((r["begin"], r["end"]))
    return sum(a[0] < b[1] and b[0] < a[1] for a, b in product(spans[one], spans[two]))


SCHEDULES: list[str | int] = ["round_robin", *range(8)]


@pytest.mark.parametrize(
    ("text", "one", "two"), [(ON_SBUF, "dve", "pool"), (ON_PSUM, "dve", "act")], ids=["DVE and POOL", "DVE and ACT"]
)
def test_on_sunda_they_never_overlap(load: Load, text: str, one: str, two: str) -> None:
    """Not even where the memory is told by a register."""
    traces = [traced(load("sunda"), text.format(one=one, two=two), s) for s in SCHEDULES]
    assert [overlaps(t, one, two) for t in traces] == [0] * len(SCHEDULES)
    assert all(len(t) == 6 for t in traces)
    held = [r for t in traces for r in t.records() if r["since"] < r["begin"]]
    assert held
    assert all(r["wait"] is None for r in held)


@pytest.mark.parametrize("gen", ["cayman", "mariana", "mariana_plus", "maverick"])
def test_later_they_do(load: Load, gen: str) -> None:
    traces = [traced(load(gen), ON_SBUF.format(one="dve", two="pool"), s) for s in SCHEDULES[:5]]
    assert overlaps(traces[0], "dve", "pool")
    assert sum(overlaps(t, "dve", "pool") > 0 for t in traces) > 1


def test_other_pairs_on_sunda_do(load: Load) -> None:
    """ACT and DVE on SBUF, ACT and POOL on SBUF."""
    for one, two in (("act", "dve"), ("act", "pool")):
        assert overlaps(traced(load("sunda"), ON_SBUF.format(one=one, two=two), "round_robin"), one, two)


def test_what_touches_no_memory_is_not_held_back(load: Load) -> None:
    sunda = load("sunda")
    turns = Turns()
    core = gp.NeuronCore(sunda, compiled=False)
    core.sbuf.write(np.ones((4, 4), np.float32))
    text = ON_SBUF.partition(".stream")[0] + ".stream pool\ncopy src=@x, dst=@y\n.stream dve\nnop"
    core.run(sunda.assemble(text.replace("{{", "{").replace("}}", "}")), watchers=[turns])
    assert turns.seen[:2] == [("pool", "start", 0), ("dve", "start", 0)]
