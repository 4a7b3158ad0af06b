"""How POOL hands an instruction to its vector cores: the kernel that each image has for it, and which core owns what.

The sequencer in front of POOL looks an opcode up in the kernel-info table of the loaded image; each of the eight cores
then works on its own sixteen partitions. What the cores compute is the same as one walk over all channels, so that the
split shows here and nowhere in the values.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from attrs import asdict, frozen

from gpsimd_core.machine import Machine
from gpsimd_core.step import Step
from gpsimd_core.values import Evidence, KernelTable

__all__ = ["CORES", "ENGINE", "EVIDENCE", "OWNED", "KernelSlot", "Share", "kernel_slots", "overview", "shares", "split"]

ENGINE = "pool"
CORES = 8
OWNED = 16
"""Consecutive partitions that each core owns."""
EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="CAYMAN × POOL image; POOL Engine Main Dispatch Loop",
    note="every generation alike",
)


@frozen(kw_only=True)
class KernelSlot:
    """Where the kernel of an opcode stands in the kernel-info table of one image."""

    image: str
    index: int
    """Position in the table."""
    spec: int
    """Second-level number of extended instructions; 0 for the others."""
    function: int
    """Address of the kernel."""
    kernel: str
    confidence: str
    note: str


@frozen(kw_only=True)
class Share:
    """What one core does of an instruction."""

    core: int
    channel: int
    """Its first channel."""
    channels: int
    partition: int
    """The partition of that channel."""


def kernel_slots(machine: Machine, opcode: int) -> tuple[KernelSlot, ...]:
    """The slots of an opcode in the images of a generation, as published; empty where no image has a kernel for it."""
    return tuple(
        KernelSlot(
            image=t.image, index=index, spec=row.spec, function=row.function, kernel=row.kernel,
            confidence=t.evidence.confidence, note=t.evidence.note,
        )
        for t in _tables(machine)
        for index, row in enumerate(t.rows)
        if row.opcode == opcode
    )  # fmt: skip


@functools.lru_cache(maxsize=32)
def _tables(machine: Machine) -> tuple[KernelTable, ...]:
    return tuple(t for t in machine.hooks.blobs(machine.generation) if isinstance(t, KernelTable))


def shares(partition: int, channels: int) -> tuple[Share, ...]:
    """Which core works on which channels.

    Args:
        partition: of channel 0.
        channels: how many, one a partition.
    """
    found = []
    for core in range(CORES):
        first = max(partition, core * OWNED)
        last = min(partition + channels, (core + 1) * OWNED)
        if first < last:
            found.append(Share(core=core, channel=first - partition, channels=last - first, partition=first))
    return tuple(found)


def split(step: Step) -> tuple[Share, ...]:
    """The split of a planned instruction: by the partitions of what it reads, or of what it writes if it reads nothing."""
    places = step.sources or step.written
    return shares(places[0].partition, places[0].channels) if places else ()


@functools.lru_cache(maxsize=32)
def overview(machine: Machine) -> Mapping[str, Any]:
    """The dispatch of every opcode of POOL that some image has a kernel for, as plain data."""
    kernels = {}
    for opcode, encoding in machine.opcodes.items():
        slots = kernel_slots(machine, opcode) if ENGINE in machine.bindings[encoding.name].engines else ()
        if slots:
            kernels[f"0x{opcode:02x}"] = [
                {k: v for k, v in asdict(s).items() if k in ("image", "index", "spec", "function", "kernel")}
                for s in slots
            ]
    return {"engine": ENGINE, "cores": CORES, "partitions_per_core": OWNED, "kernels": kernels}
