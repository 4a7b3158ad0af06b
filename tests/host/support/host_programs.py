"""Programs and cores for the tests of the host: small tiles, run as plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import gpsimd_core as gp
from gpsimd_core.schedule import Event, Watcher

NOP = 0xA4
PREPARE = """
.tensor x sbuf 0 0x000 fp32 4x4 in
.tensor y sbuf 0 0x100 fp32 4x4 temp
.tensor z sbuf 0 0x200 fp32 4x4 out
"""
PAIR = (
    PREPARE
    + """
.stream pool
copy src=@x, dst=@y{update}
.stream dve
tensor_tensor_arith_op src0=@y, src1=@x, dst=@z, op=ADD{wait}
"""
)
"""POOL makes y, DVE needs it."""
UPDATE = ", update_mode=SEM_INC_COMPLETE, update_idx=4"
WAIT = ", wait_mode=SEM_GE_IMM, wait_idx=4, semaphore_value=1"


def nop(wait: int = 0, wait_index: int = 0, update: int = 0, update_index: int = 0, value: int = 0) -> bytes:
    """A record that only waits and signals."""
    head = bytes([NOP, 16, 0, 0, wait, wait_index, update, update_index])
    return head + value.to_bytes(4, "little") + bytes(52)


def pair(machine: gp.Machine, update: str = UPDATE, wait: str = WAIT) -> gp.Program:
    """The two-engine program, with its signals or others."""
    return machine.assemble(PAIR.format(update=update, wait=wait))


def ready(machine: gp.Machine, **arrays: Any) -> gp.NeuronCore:
    """A core with `x` in place, and whatever else is named by its byte offset: `at_0x100=array`."""
    core = gp.NeuronCore(machine, compiled=False)
    core.sbuf.write(np.arange(16, dtype=np.float32).reshape(4, 4))
    for place, array in arrays.items():
        core.sbuf.write(array, offset=int(place.removeprefix("at_"), 0))
    return core


def run_text(machine: gp.Machine, text: str, **options: Any) -> tuple[gp.NeuronCore, Any]:
    """Run text on a core with `x` in place."""
    core = ready(machine)
    return core, core.run(machine.assemble(text), **options)


def kinds(result: Any) -> list[str]:
    """The kinds of a result's notices."""
    return [n.kind for n in result.notices]


class Turns(Watcher):
    """Every turn: engine, `start` or `finish`, position."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, int]] = []
        self.events: list[Event] = []

    def began(self, event: Event) -> None:
        self.seen.append((event.engine, "start", event.index))
        self.events.append(event)

    def ended(self, event: Event) -> None:
        self.seen.append((event.engine, "finish", event.index))


def memory_of(core: gp.NeuronCore, program: gp.Program) -> dict[str, bytes]:
    """The bytes of a program's tensors."""
    found: dict[str, bytes] = {}
    tensors: Mapping[str, gp.NamedTensor] = program.tensors
    for name, t in tensors.items():
        region = core.memory.region(t.tensor.region)
        shape = (t.tensor.shape[0], int(np.prod(t.tensor.shape[1:])) * core.machine.formats[int(t.tensor.code)].nbytes)
        found[name] = region.read(t.tensor.partition, t.tensor.offset, shape=shape, dtype=np.uint8).tobytes()
    return found
