"""Ratios of the engine host: two engines in two threads, and what tracing costs on small instructions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from spine import core_for_distinct, distinct
from timing import Row, together

import gpsimd_core as gp
from gpsimd_core.trace import Tracer

COLUMNS = 8192


def rows() -> Iterator[Row]:
    """The rows of this module, measured now."""
    yield from threads()
    yield from tracing()


def threads() -> Iterator[Row]:
    """POOL and DVE, each eight products of (128, 8192) fp16 tiles of its own; work that memory does not bound."""
    machine = gp.load("cayman")
    text = "\n".join(f".tensor t{i} sbuf 0 {2 * COLUMNS * i} fp16 128x{COLUMNS} inout" for i in range(6))
    for engine, first in (("pool", 0), ("dve", 3)):
        a, b, c = (f"@t{first + i}" for i in range(3))
        statement = f"tensor_tensor_arith_op src0={a}, src1={b}, dst={c}, op=MULT\n"
        text += f"\n.stream {engine}\n" + statement * 8
    program = machine.assemble(text)
    one, two = (_filled(machine, n) for n in (1, 2))
    alone, both = together(lambda: one.run(program), lambda: two.run(program), 60)
    yield Row(
        "two engines on (128, 8192) fp16 tiles, two threads", alone / both, 1.6, False, "x faster than one thread"
    )


def _filled(machine: gp.Machine, count: int) -> gp.NeuronCore:
    core = gp.NeuronCore(machine, threads=count)
    rng = np.random.default_rng(1)
    for i in range(6):
        core.sbuf.write(rng.standard_normal((128, COLUMNS)).astype(np.float16), offset=2 * COLUMNS * i)
    return core


def tracing() -> Iterator[Row]:
    """1,000 distinct instructions on (128, 8), warm: with a trace, with hashes, and without."""
    machine = gp.load("cayman")
    program = machine.decode(distinct(machine, 1000))
    core = core_for_distinct(machine)

    def run(**options: Any) -> None:
        core.run(program, watchers=[Tracer(core, **options)] if options else [])

    run(hashes=False)
    traced, plain = together(lambda: run(hashes=False), lambda: run(), 60)
    yield Row("tracing 1,000 (128, 8) instructions", traced / plain, 1.2, True, "x without a trace")
    hashed, plain = together(lambda: run(hashes=True), lambda: run(), 3)
    yield Row("the same with hashes", hashed / plain, None, True, "x without a trace")
