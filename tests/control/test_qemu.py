"""Generated programs on the classic variant and on QEMU, compared after every instruction.

`-m slow` runs the full set; GPSIMD_QEMU_PROGRAMS and GPSIMD_QEMU_SEED choose another. A failing program is written to
`programs/`, where every later run replays it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest
from control_programs import Writer, for_llvm
from control_qemu import CODE, CPUS, core, differences, judged, llvm_assemble, missing_program

from gpsimd_core.control import assemble

SAVED = Path(__file__).parent / "programs"
SEED = int(os.environ.get("GPSIMD_QEMU_SEED", "1"))
FULL = int(os.environ.get("GPSIMD_QEMU_PROGRAMS", "520"))
QUICK = 40

needs_qemu = pytest.mark.skipif(bool(missing_program()), reason=missing_program() or "QEMU is there")


def compare(seed: int, cpu: str) -> int:
    """Generate, assemble twice, run twice; how many instructions agreed."""
    text = Writer(seed, booleans=cpu == "de233_fpu").program()
    image = assemble(text, "classic", CODE)
    assert image.flat() == llvm_assemble(for_llvm(text, image)), f"llvm-mc disagrees on seed {seed}"
    count, wrong = differences(image.flat(), cpu)
    if wrong:
        SAVED.mkdir(exist_ok=True)
        path = SAVED / f"failed_{cpu}_{seed}.s"
        path.write_text(f"; cpu: {cpu}\n; seed: {seed}\n{text}")
        pytest.fail(f"seed {seed} on {cpu}, saved as {path}:\n" + "\n".join(wrong))
    return count


def compare_many(cpu: str, seeds: range, capsys: pytest.CaptureFixture[str]) -> None:
    counts = [compare(seed, cpu) for seed in seeds]
    with capsys.disabled():
        print(f"\n{cpu}: {len(counts)} programs, seeds {seeds.start} to {seeds.stop - 1}, {sum(counts)} instructions")
    assert min(counts) > 60


@needs_qemu
@pytest.mark.parametrize("cpu", CPUS)
def test_programs_agree(cpu: str, capsys: pytest.CaptureFixture[str]) -> None:
    compare_many(cpu, range(SEED, SEED + QUICK // 2), capsys)


@needs_qemu
@pytest.mark.slow
@pytest.mark.parametrize("cpu", CPUS)
def test_all_programs_agree(cpu: str, capsys: pytest.CaptureFixture[str]) -> None:
    compare_many(cpu, range(SEED, SEED + FULL // 2), capsys)


def header(path: Path) -> dict[str, str]:
    """The `; key: value` lines at the top of a saved program."""
    lines = (line[2:].split(": ", 1) for line in path.read_text().splitlines() if line.startswith("; "))
    return {line[0]: line[1] for line in lines if len(line) == 2}


PROGRAMS = sorted(SAVED.glob("*.s"))


@needs_qemu
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_saved_programs_agree(path: Path) -> None:
    count, wrong = differences(assemble(path.read_text(), "classic", CODE).flat(), header(path)["cpu"])
    assert not wrong
    assert count == int(header(path)["steps"])


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_saved_programs_leave_what_qemu_left(path: Path) -> None:
    """Without QEMU: the digest of every state that QEMU printed for the program."""
    facts = header(path)
    ours = core(assemble(path.read_text(), "classic", CODE).flat())
    digest = hashlib.sha256()
    for _ in range(int(facts["steps"])):
        digest.update(ours.state[judged()].astype("<u4").tobytes())
        stop = ours.run(1, fast=False)
    assert stop.reason == "exit"
    assert digest.hexdigest() == facts["states"]


def test_there_are_saved_programs() -> None:
    assert len(PROGRAMS) >= 8
    assert {header(path)["cpu"] for path in PROGRAMS} == set(CPUS)


def test_a_wrong_core_is_noticed() -> None:
    """The comparison can fail: another register value is a difference."""
    places = judged()
    ours = core(b"\x3d\xf0" * 4)
    other = ours.state.copy()
    other[places[5]] ^= 1
    assert not np.array_equal(other[places], ours.state[places])


@needs_qemu
def test_the_recipe_notices_a_difference() -> None:
    """QEMU refuses MULUH, which the model has: the harness must say so."""
    code = assemble("muluh a2, a3, a4\nnop", "classic", CODE).flat()
    _, wrong = differences(code, "dc233c")
    assert wrong
    assert "pc" in wrong[0]


EXPECTED = [
    "add",
    "addx2",
    "addx4",
    "addx8",
    "sub",
    "subx2",
    "subx4",
    "subx8",
    "and",
    "or",
    "xor",
    "neg",
    "abs",
    "addi",
    "addmi",
    "movi",
    "slli",
    "srli",
    "srai",
    "extui",
    "sll",
    "srl",
    "sra",
    "src",
    "ssr",
    "ssl",
    "ssa8l",
    "ssa8b",
    "ssai",
    "min",
    "max",
    "minu",
    "maxu",
    "clamps",
    "sext",
    "nsa",
    "nsau",
    "mull",
    "mul16u",
    "mul16s",
    "quou",
    "quos",
    "remu",
    "rems",
    "moveqz",
    "movnez",
    "movltz",
    "movgez",
    "l8ui",
    "l16ui",
    "l16si",
    "l32i",
    "l32r",
    "s8i",
    "s16i",
    "s32i",
    "beqz",
    "bnez",
    "bltz",
    "bgez",
    "beqi",
    "bnei",
    "blti",
    "bgei",
    "bltui",
    "bgeui",
    "bnone",
    "beq",
    "blt",
    "bltu",
    "ball",
    "bbc",
    "bany",
    "bne",
    "bge",
    "bgeu",
    "bnall",
    "bbs",
    "bbci",
    "bbsi",
    "j",
    "jx",
    "call0",
    "ret",
    "loop",
    "loopnez",
    "loopgtz",
    "call4",
    "call8",
    "call12",
    "callx4",
    "callx8",
    "callx12",
    "entry",
    "retw",
    "retw.n",
    "add.n",
    "addi.n",
    "mov.n",
    "movi.n",
    "l32i.n",
    "s32i.n",
    "beqz.n",
    "bnez.n",
    "rsr.lcount",
    "wsr.sar",
    "xsr.misc0",
    "rsil",
    "syscall",
    "ill",
    "break",
]
ON_DE233 = [
    "salt",
    "saltu",
    "movf",
    "movt",
    "bf",
    "bt",
    "andb",
    "andbc",
    "orb",
    "orbc",
    "xorb",
    "all4",
    "any4",
    "all8",
    "any8",
]


def test_the_generator_covers_what_it_should() -> None:
    """Within sixty programs, and booleans only where the core has them."""
    used = {}
    for cpu in CPUS:
        texts = [Writer(seed, booleans=cpu == "de233_fpu").program() for seed in range(SEED, SEED + 60)]
        used[cpu] = {line.split()[0] for text in texts for line in text.splitlines() if line.split()}
    assert not set(EXPECTED) - used["dc233c"]
    assert not set(EXPECTED + ON_DE233) - used["de233_fpu"]
    assert not set(ON_DE233) & used["dc233c"]


def test_the_saved_programs_reach_every_handler() -> None:
    """Overflow and underflow of 4, 8 and 12 registers, breaks, kernel exceptions."""
    visited = set()
    for path in PROGRAMS:
        ours = core(assemble(path.read_text(), "classic", CODE).flat())
        for _ in range(int(header(path)["steps"])):
            visited.add(ours.pc)
            ours.run(1, fast=False)
    assert {0x2000, 0x2040, 0x2080, 0x20C0, 0x2100, 0x2140, 0x2280, 0x2300} <= visited
