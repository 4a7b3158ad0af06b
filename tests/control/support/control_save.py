"""Save generated programs with the digest of what QEMU did: `python control_save.py CPU SEED...` (needs QEMU)."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from control_programs import Writer
from control_qemu import CODE, columns, differences, judged, qemu_states

from gpsimd_core.control import assemble


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
    names, records = qemu_states(code, cpu)
    found = {place: column for column, place in columns(names).items()}
    order = [found[place] for place in judged()]
    digest = hashlib.sha256(records[:count, order].astype("<u4").tobytes())
    path = Path(__file__).parents[1] / "programs" / f"{cpu}_{seed}.s"
    path.parent.mkdir(exist_ok=True)
    head = f"; cpu: {cpu}\n; seed: {seed}\n; steps: {count}\n; states: {digest.hexdigest()}\n"
    path.write_text(head + text)
    return path


if __name__ == "__main__":
    for argument in sys.argv[2:]:
        print(save(sys.argv[1], int(argument)))
