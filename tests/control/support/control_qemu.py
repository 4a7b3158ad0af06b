"""Run a program on qemu-system-xtensa and on the core, and compare every step."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpsimd_core.control import ControlCore, Memory, Region, assemble, registers
from gpsimd_core.control import layout as at

CODE = 0xFE000000
VECTORS = 0x2000
RAM_SIZE = 0x20000
CPUS = ("dc233c", "de233_fpu")

FEATURES = (
    "+bool,+clamps,+coprocessor,+dcache,+debug,+density,+div32,+exception,+fp,+highpriinterrupts,+interrupt,+loop,"
    "+minmax,+miscsr,+mul16,+mul32,+mul32high,+nsa,+prid,+rvector,+s32c1i,+sext,+threadptr,+timers3,+windowed"
)
UNJUDGED = {"ccount", "interrupt", "intclear", "icount"}  # time and interrupt lines, which the model does not have

HANDLERS = """
overflow4:      .org BASE
        s32e a0, a5, -16
        s32e a1, a5, -12
        s32e a2, a5, -8
        s32e a3, a5, -4
        rfwo
underflow4:     .org BASE + 0x40
        l32e a0, a5, -16
        l32e a1, a5, -12
        l32e a2, a5, -8
        l32e a3, a5, -4
        rfwu
overflow8:      .org BASE + 0x80
        s32e a0, a9, -16
        l32e a0, a1, -12
        s32e a1, a9, -12
        s32e a2, a9, -8
        s32e a3, a9, -4
        s32e a4, a0, -32
        s32e a5, a0, -28
        s32e a6, a0, -24
        s32e a7, a0, -20
        rfwo
underflow8:     .org BASE + 0xc0
        l32e a0, a9, -16
        l32e a1, a9, -12
        l32e a2, a9, -8
        l32e a7, a1, -12
        l32e a3, a9, -4
        l32e a4, a7, -32
        l32e a5, a7, -28
        l32e a6, a7, -24
        l32e a7, a7, -20
        rfwu
overflow12:     .org BASE + 0x100
        s32e a0, a13, -16
        l32e a0, a1, -12
        s32e a1, a13, -12
        s32e a2, a13, -8
        s32e a3, a13, -4
        s32e a4, a0, -48
        s32e a5, a0, -44
        s32e a6, a0, -40
        s32e a7, a0, -36
        s32e a8, a0, -32
        s32e a9, a0, -28
        s32e a10, a0, -24
        s32e a11, a0, -20
        rfwo
underflow12:    .org BASE + 0x140
        l32e a0, a13, -16
        l32e a1, a13, -12
        l32e a2, a13, -8
        l32e a11, a1, -12
        l32e a3, a13, -4
        l32e a4, a11, -48
        l32e a5, a11, -44
        l32e a6, a11, -40
        l32e a7, a11, -36
        l32e a8, a11, -32
        l32e a9, a11, -28
        l32e a10, a11, -24
        l32e a11, a11, -20
        rfwu
debug:          .org BASE + 0x280   ; step over a three-byte break
        wsr.excsave6 a2
        rsr.epc6 a2
        addi a2, a2, 3
        wsr.epc6 a2
        rsr.excsave6 a2
        rfi 6
kernel:         .org BASE + 0x300   ; step over the three-byte instruction that trapped
        wsr.excsave1 a2
        rsr.epc1 a2
        addi a2, a2, 3
        wsr.epc1 a2
        rsr.excsave1 a2
        rfe
user:           .org BASE + 0x340
        wsr.excsave1 a2
        rsr.epc1 a2
        addi a2, a2, 3
        wsr.epc1 a2
        rsr.excsave1 a2
        rfe
double:         .org BASE + 0x3c0
        movi a2, 1
        movi a3, 3
        simcall
"""


@cache
def vectors() -> bytes:
    """The handlers as machine code, to lie at VECTORS."""
    return assemble(HANDLERS.replace("BASE", hex(VECTORS)), "classic").flat()


@cache
def missing_program() -> str:
    """Why QEMU cannot judge here, empty when it can."""
    for program in ("qemu-system-xtensa", *TOOLS):
        if shutil.which(program) is None:
            return f"{program} is not installed; tests/control/setup_qemu.sh installs it"
    if not single_step():
        return "this qemu-system-xtensa has neither -singlestep nor -accel one-insn-per-tb"
    return ""


def _tool(name: str) -> str:
    """A program of LLVM 22 where it is installed, else of any version, else the name that is wanted."""
    for found in (f"{name}-22", name):
        if shutil.which(found):
            return found
    return f"{name}-22"


TOOLS = (_tool("llvm-mc"), _tool("llvm-objcopy"))


@cache
def single_step() -> list[str]:
    """The option that makes QEMU translate one instruction at a time; its name changed."""
    for option in (["-singlestep"], ["-accel", "tcg,one-insn-per-tb=on"]):
        command = ["qemu-system-xtensa", "-M", "none", *option, "-S", "-display", "none", "-monitor", "stdio"]
        done = subprocess.run(command, input=b"quit\n", capture_output=True, check=False, timeout=20)
        if done.returncode == 0:
            return option
    return []


def llvm_assemble(text: str) -> bytes:
    """Machine code of `text` as llvm-mc makes it, linked at no address in particular."""
    with tempfile.TemporaryDirectory() as folder:
        source, made, code = (Path(folder) / name for name in ("main.s", "main.o", "main.bin"))
        source.write_text(text)
        mc, objcopy = TOOLS
        command = [mc, "-triple=xtensa", f"-mattr={FEATURES}", "-filetype=obj", source, "-o", made]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        subprocess.run([objcopy, "-O", "binary", "-j", ".text", made, code], check=True)
        return code.read_bytes()


def qemu_states(code: bytes, cpu: str) -> tuple[list[str], NDArray[np.int64]]:
    """What QEMU's registers hold before each instruction of `code`, run from CODE with the handlers at VECTORS.

    Returns:
        Register names in lower case, and their values: int64, shape (instructions, names).
    """
    with tempfile.TemporaryDirectory() as folder:
        main, handlers, trace = (Path(folder) / name for name in ("main.bin", "vectors.bin", "trace"))
        main.write_bytes(code)
        handlers.write_bytes(vectors())
        command = ["qemu-system-xtensa", "-M", "sim", "-cpu", cpu, "-semihosting", "-nographic"]
        command += ["-monitor", "none", "-serial", "none", *single_step(), "-d", "exec,cpu,nochain", "-D", str(trace)]
        command += ["-device", f"loader,file={main},addr={CODE:#x},force-raw=on"]
        command += ["-device", f"loader,file={handlers},addr={VECTORS:#x},force-raw=on"]

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))

        subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60, preexec_fn=limit
        )
        return _parsed(trace.read_text())


def _parsed(text: str) -> tuple[list[str], NDArray[np.int64]]:
    """The records of a trace; all have the layout of the first, so that places stand for names."""
    records = [record[record.index("\nPC=") :] for record in text.split("Trace ")[1:]]
    found = list(re.finditer(r"(\w+)=([0-9a-f]{8})\b", records[0]))
    places = [match.start(2) for match in found]
    values = [[int(record[place : place + 8], 16) for place in places] for record in records]
    return [match[1].lower() for match in found], np.array(values, np.int64)


def core(code: bytes) -> ControlCore:
    """A core with the same memory, as after QEMU's reset."""
    made = ControlCore(
        "classic", memory=Memory([Region(base=0, size=RAM_SIZE), Region(base=CODE, size=RAM_SIZE)]), vectors=True
    )
    made.load(vectors(), VECTORS)
    made.load(code, CODE)
    made.pc = CODE
    return made


def judged() -> list[int]:
    """Positions in the state of what every comparison covers: PC, ARs, SAR, the loop and window registers, PS."""
    names = ("sar", "lbeg", "lend", "lcount", "windowbase", "windowstart", "ps")
    special = [at.SR + registers.find("sr", name, "classic").number for name in names]
    return [at.PC, *range(at.AR, at.AR + 32), *special]


def columns(names: list[str]) -> dict[int, int]:
    """Which of QEMU's registers are judged, and where the core's state has them: column = position."""
    places = {f"ar{n:02d}": at.AR + n for n in range(32)} | {"pc": at.PC}
    special = registers.special("classic").values()
    places |= {register.name: at.SR + register.number for register in special if register.name not in UNJUDGED}
    places |= {register.name: at.UR + register.number for register in registers.user("classic").values()}
    return {column: places[name] for column, name in enumerate(names) if name in places}


def differences(code: bytes, cpu: str, *, fast: bool = True) -> tuple[int, list[str]]:
    """Run `code` on both; how many instructions were compared, and the first step's differences."""
    ours = core(code)
    names, records = qemu_states(code, cpu)
    found = columns(names)
    theirs, places = records[:, list(found)], np.array(list(found.values()))
    for count, expected in enumerate(theirs):
        state = ours.state[places]
        if not np.array_equal(expected, state):
            where = f"step {count}, pc {expected[places.tolist().index(at.PC)]:08x}"
            judged_names = [names[column] for column in found]
            wrong = np.flatnonzero(expected != state)
            return count, [f"{where}: {judged_names[k]} is {state[k]:08x}, QEMU has {expected[k]:08x}" for k in wrong]
        if ours.run(1, fast=fast).reason == "exit":
            return count + 1, []
    return len(theirs), []
