"""The shipped two-engine program: right under every schedule, and every signal in it is needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.deadlock import Deadlock
from gpsimd_core.explore import explore

Load = Callable[..., gp.Machine]

TEXT = (Path(__file__).parents[2] / "examples" / "programs" / "double_buffer.tpb").read_text().replace("128x", "4x")
DATA = np.random.default_rng(8).integers(-99, 99, (4, 256)).astype(np.float32)
WAITS = re.findall(r", wait_mode=SEM_GE_IMM, wait_idx=\d, semaphore_value=\d", TEXT)
UPDATES = re.findall(r", update_mode=SEM_INC_COMPLETE, update_idx=\d", TEXT)


def core(machine: gp.Machine) -> gp.NeuronCore:
    fresh = gp.NeuronCore(machine, compiled=False)
    fresh.sbuf.write(DATA)
    return fresh


def without(text: str, pattern: str, number: int) -> str:
    """The text with one occurrence of a pattern taken away."""
    at = [m.span() for m in re.finditer(pattern, text)][number]
    return text[: at[0]] + text[at[1] :]


def test_the_sums(machine: gp.Machine) -> None:
    """Whole numbers, so that every order of adding gives the same."""
    expected = (2 * DATA + 1).reshape(4, 4, 64).sum(axis=2)
    found = explore(lambda: core(machine), machine.assemble(TEXT), range(10))
    assert found.agree
    assert found.notices == ()
    assert (found.ends[0].core.sbuf.read(0, 0x2000, shape=(4, 4), dtype="fp32") == expected).all()


@pytest.mark.parametrize("number", range(6))
def test_every_wait_is_needed(load: Load, number: int) -> None:
    """Both instructions of the race are named, whichever wait is missing."""
    assert len(WAITS) == 6
    cayman = load("cayman")
    program = cayman.assemble(without(TEXT, r", wait_mode=SEM_GE_IMM, wait_idx=\d, semaphore_value=\d", number))
    found = explore(lambda: core(cayman), program, range(30))
    races = [str(n) for n in found.notices if n.kind == "race"]
    assert races
    assert all("pool instruction" in r and "dve instruction" in r and "sbuf partitions 0..3, bytes" in r for r in races)


@pytest.mark.parametrize("number", range(6))
def test_every_update_is_needed(load: Load, number: int) -> None:
    assert len(UPDATES) == 6
    cayman = load("cayman")
    text = without(TEXT, r", update_mode=SEM_INC_COMPLETE, update_idx=\d", number)
    with pytest.raises(Deadlock) as e:
        core(cayman).run(cayman.assemble(text))
    assert re.search(
        r"(pool|dve) instruction \d, \w+, waits with SEM_GE_IMM for semaphore [12] >= \d; it is \d", str(e.value)
    )
