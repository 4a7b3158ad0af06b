"""Save generated programs with the digest of what QEMU did: `python control_save.py CPU SEED...` (needs QEMU)."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import numpy as np
from control_programs import Writer
from control_qemu import CODE, differences, judged, qemu_trace

from gpsimd_core.control import assemble, registers
from gpsimd_core.control import layout as at


def save(cpu: str, seed: int) -> Path:
    """Write one program to `programs/`.

    Args:
        cpu: QEMU's name of the core.
        seed: of the generator.
    """
    text = Writer(seed, booleans=cpu == "de233_fpu").program()
    code = assemble(text, "classic", CODE).flat()
    count, wrong = differences(code, cpu)
    assert not wrong, wrong
    names = {at.PC: "pc"} | {at.AR + n: f"ar{n:02d}" for n in range(32)}
    names |= {at.SR + register.number: register.name for register in registers.special("classic").values()}
    digest = hashlib.sha256()
    for _, record in zip(range(count), qemu_trace(code, cpu), strict=False):
        digest.update(np.array([record[names[place]] for place in judged()], "<u4").tobytes())
    path = Path(__file__).parents[1] / "programs" / f"{cpu}_{seed}.s"
    path.parent.mkdir(exist_ok=True)
    head = f"; cpu: {cpu}\n; seed: {seed}\n; steps: {count}\n; states: {digest.hexdigest()}\n"
    path.write_text(head + text)
    return path


if __name__ == "__main__":
    for argument in sys.argv[2:]:
        print(save(sys.argv[1], int(argument)))
