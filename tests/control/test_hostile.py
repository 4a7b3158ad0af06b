"""Random words and random states: every stop has a name, nothing is written outside memory, both twins agree."""

from __future__ import annotations

import os

import numpy as np
import pytest
from control_help import small_core

from gpsimd_core.control import ControlCore, Memory, Region, Trap, assemble
from gpsimd_core.control.exceptions import NAMES
from gpsimd_core.control.layout import HIDDEN, PS
from gpsimd_core.control.table import table
from gpsimd_core.errors import Unsupported

JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
STEPS = 1_000_000 if JIT else 20_000
SIZE = 0x8000
GUARD = 0x1000


def guarded_core(variant: str, seed: int, **options: object) -> tuple[ControlCore, np.ndarray]:
    """A core whose memory stands between guards, and the whole array: random words, real ones among them."""
    random_ = np.random.default_rng(seed)
    core = ControlCore(variant, memory=Memory([Region(base=0, size=SIZE)]), **options)  # type: ignore[arg-type]
    whole = np.full(SIZE + 2 * GUARD, 0xA5, np.uint8)
    core.memory.bytes = whole[GUARD : GUARD + SIZE]
    core.memory.bytes[:] = random_.integers(0, 256, SIZE, np.uint8)
    rows = table(variant).rows
    for at in range(0, SIZE // 2, 4):  # the other half stays as random as it is
        row = rows[random_.integers(len(rows))]
        word = row.word | int(random_.integers(1 << 24)) & ~row.mask & ((1 << 8 * row.length) - 1)
        core.memory.bytes[at : at + row.length] = list(word.to_bytes(row.length, "little"))
    core.state[: len(core.ar)] = random_.integers(0, SIZE, len(core.ar)) & ~3
    return core, whole


def outcome(core: ControlCore, steps: int, fast: bool) -> str:
    """Run, and name the stop; the report of an exception comes with its name."""
    try:
        return str(core.run(steps, fast=fast))
    except Trap as trap:
        return f"{trap.name if trap.name in NAMES else 'nameless'}: {trap}"
    except Unsupported as error:
        return f"unsupported: {error.missing}"


@pytest.mark.parametrize("variant", ["q7", "classic"])
@pytest.mark.parametrize(("vectors", "share"), [(False, 0.02), (True, 0.48)], ids=["stopping", "vectors"])
def test_a_million_random_words(variant: str, vectors: bool, share: float) -> None:
    """A million steps in all, thrown to another place whenever they stop or loop for long.

    Few of them stop at every exception, which takes a report each; most send exceptions to a handler, if it lasts.
    """
    core, whole = guarded_core(variant, 20, vectors=vectors)
    steps = int(STEPS * share)
    handler = assemble("rsr.epc a3\naddi a3, a3, 3\nwsr.epc a3\nrfdo 0").flat()
    random_ = np.random.default_rng(21)
    done, stops = 0, set()
    while done < steps:
        before = core.steps
        stop = outcome(core, min(2000, steps - done), JIT)
        done += max(1, core.steps - before)
        assert stop.split()[0].rstrip(":") in {*NAMES, "unsupported", "halt", "exit", "step"}, stop
        stops.add(stop.split()[0])
        core.pc = int(random_.integers(0, SIZE))
        core.state[: len(core.ar)] = random_.integers(0, SIZE, len(core.ar)) & ~3
        core.state[PS] = random_.choice([0, 0x40000]) if variant == "classic" else 0
        core.sr["lcount"] = 0
        core.sr["vecbase"] = 0x400
        if variant == "q7":
            core.sr["ms"] = 0
            core.memory.write(0x400, handler)
    assert (whole[:GUARD] == 0xA5).all()
    assert (whole[-GUARD:] == 0xA5).all()
    assert core.state.min() >= 0
    assert core.state[:HIDDEN].max() <= 0xFFFFFFFF
    assert len(stops) > (1 if vectors else 5)


@pytest.mark.parametrize("variant", ["q7", "classic"])
@pytest.mark.parametrize("vectors", [False, True])
def test_the_twins_agree(variant: str, vectors: bool) -> None:
    """The compiled interpreter and plain Python leave the same state, memory and stop."""
    random_ = np.random.default_rng(5)
    for seed in range(6):
        cores = [guarded_core(variant, seed, vectors=vectors)[0] for _ in range(2)]
        start = int(random_.integers(0, SIZE // 4)) * 4
        outcomes = []
        for core, fast in zip(cores, (True, False), strict=True):
            core.pc = start
            if variant == "classic":
                core.sr["ps"] = 0x40000
            outcomes.append(outcome(core, 300, fast))
        assert outcomes[0] == outcomes[1]
        assert (cores[0].state == cores[1].state).all()
        assert (cores[0].memory.bytes == cores[1].memory.bytes).all()


def test_every_single_word_of_a_row_is_safe() -> None:
    """One word of each row in each variant, with random registers: it runs or stops by name."""
    random_ = np.random.default_rng(9)
    for variant in ("q7", "classic"):
        for row in table(variant).rows:
            for _ in range(3):
                core = small_core(variant)
                core.state[: len(core.ar)] = random_.integers(0, 1 << 32, len(core.ar))
                word = row.word | int(random_.integers(1 << 24)) & ~row.mask & ((1 << 8 * row.length) - 1)
                core.memory.write(0x100, word.to_bytes(row.length, "little"))
                core.pc = 0x100
                assert outcome(core, 1, fast=False)
                assert core.state.min() >= 0
                assert core.state[:HIDDEN].max() <= 0xFFFFFFFF


def test_auto_switches_without_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long runs change from plain to compiled on the way; the answer is that of either."""
    monkeypatch.setattr("gpsimd_core.control.core.PLAIN_STEPS", 1000)
    states = []
    for fast in (None, True):
        core = small_core()
        core.load(assemble("back: addi.n a3, a3, 1\nj back"))
        core.pc = 0
        core.run(12_345, fast=fast)
        states.append(core.state.copy())
    assert (states[0] == states[1]).all()
    assert states[0][3] == 6173
