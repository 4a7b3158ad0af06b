"""Traces: one row an executed instruction, spooled in binary; `tracefile.py` has the forms that files take.

A row says when an instruction started and finished (in turns of the engines), on which engine, what it waited for and
signalled, how long it was held back, and the byte range of every operand. Rows of a planned run are made once and only
stamped while it runs, so that tracing costs next to nothing; with hashes, each instruction's outputs are hashed after
it.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from gpsimd_core.dispatch import overview
from gpsimd_core.isa.enums import UpdateMode, WaitMode
from gpsimd_core.isa.lanestate import ACCUMULATOR
from gpsimd_core.machine import Machine
from gpsimd_core.placement import read_operand
from gpsimd_core.schedule import Event, Watcher
from gpsimd_core.step import Step
from gpsimd_core.stream import Ready

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore

__all__ = [
    "OPERANDS",
    "ROW",
    "Trace",
    "Tracer",
    "lanes_hash",
    "outputs_hash",
]

MAGIC = b"gpsimd-trace 1\n"
OPERANDS = 8
"""Places a row holds: operands, pointer immediates, index lists; no instruction of ours has more."""

PLACE = np.dtype(
    [
        ("role", "u1"),  # 0 none, 1 read, 2 written, 3 merged into
        ("region", "u1"),  # 0 SBUF, 1 PSUM
        ("partition", "u1"),
        ("channels", "u1"),
        ("low", "<u4"),  # first byte inside each partition
        ("high", "<u4"),  # one past the last
    ]
)
ROW = np.dtype(
    [
        ("since", "<u4"),  # the turn from which on it was held back
        ("begin", "<u4"),
        ("end", "<u4"),
        ("index", "<u4"),
        ("engine", "u1"),
        ("opcode", "u1"),
        ("wait_mode", "u1"),
        ("wait_idx", "u1"),
        ("update_mode", "u1"),
        ("update_idx", "u1"),
        ("wait_value", "<u4"),
        ("update_value", "<u4"),
        ("places", PLACE, (OPERANDS,)),
        ("accumulator_hash", "<u8"),
        ("output_hash", "<u8"),
    ]
)
MOST_TEMPLATES = 65536
ROLES = ("none", "read", "write", "merge")
REGIONS = ("sbuf", "psum")


@frozen(kw_only=True, eq=False)
class Trace:
    """A recorded run.

    Attributes:
        header: generation, profile, policies, engine names, instruction names by opcode, whether hashes were taken.
        rows: array of dtype ROW.
    """

    header: Mapping[str, Any]
    rows: np.ndarray[Any, Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self.header == other.header and self.rows.tobytes() == other.rows.tobytes()

    def __len__(self) -> int:
        return len(self.rows)

    def records(self) -> Iterator[dict[str, Any]]:
        """Each row in words: what JSON lines and the timeline's arguments hold.

        `step` counts the rows; `since`, `begin` and `end` are turns of the engines. Hashes are there where they were
        taken.
        """
        engines, names, hashes = self.header["engines"], self.header["names"], self.header["hashes"]
        columns = {n: self.rows[n].tolist() for n in ROW.names or () if n != "places"}
        raw, width = self.rows["places"].tobytes(), OPERANDS * PLACE.itemsize
        places: dict[bytes, list[dict[str, Any]]] = {}
        for i in range(len(self.rows)):
            row = {n: column[i] for n, column in columns.items()}
            part = raw[i * width : (i + 1) * width]
            operands = places.get(part)
            if operands is None:
                operands = places[part] = [_place(*p) for p in np.frombuffer(part, PLACE).tolist() if p[0]]
            found = {
                "step": i,
                "index": row["index"],
                "engine": engines[row["engine"]],
                "name": names.get(f"0x{row['opcode']:02x}", "unknown"),
                "opcode": f"0x{row['opcode']:02x}",
                "since": row["since"],
                "begin": row["begin"],
                "end": row["end"],
                "wait": _signal(WaitMode, row, "wait"),
                "update": _signal(UpdateMode, row, "update"),
                "operands": operands,
            }
            if hashes:
                found["accumulator_hash"] = f"{row['accumulator_hash']:016x}"
                found["output_hash"] = f"{row['output_hash']:016x}"
            yield found


def _signal(code: Any, row: Mapping[str, int], part: str) -> dict[str, Any] | None:
    mode = row[f"{part}_mode"]
    if not mode:
        return None
    return {"mode": code(mode).name, "index": row[f"{part}_idx"], "value": row[f"{part}_value"]}


def _place(role: int, region: int, partition: int, channels: int, low: int, high: int) -> dict[str, Any]:
    return {
        "role": ROLES[role], "region": REGIONS[region], "partition": partition, "channels": channels, "low": low,
        "high": high,
    }  # fmt: skip


# Recording -----------------------------------------------------------------------------------------------------------


class Tracer(Watcher):
    """Spools a row for each instruction that finishes.

    Args:
        core: what runs.
        spool: a binary file opened for writing; None keeps the rows in memory.
        hashes: hash outputs and accumulators after each instruction.
        about: what else the header shall say, plain data.
    """

    def __init__(
        self,
        core: NeuronCore,
        spool: IO[bytes] | None = None,
        *,
        hashes: bool = False,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.core, self.spool, self.hashes = core, spool, hashes
        self.bulk = not hashes
        self.engines = list(core.machine.engines)
        self.header = {**_about_machine(core.machine), "hashes": hashes, **(about or {})}
        self._kept: list[np.ndarray[Any, Any]] = []
        self._begun: dict[str, Event] = {}
        self._templates: dict[tuple[Step, str], bytes] = {}
        if spool is not None:
            head = json.dumps(self.header).encode()
            spool.write(MAGIC + len(head).to_bytes(4, "little") + head)

    def segment(self, ready: Ready, ordinal: int) -> None:
        segment = ready.segment
        if self.hashes or segment.synced:
            super().segment(ready, ordinal)
            return
        rows = segment.memo.get("trace")
        if rows is None:
            packed = b"".join([self._template(step, step.engine.name) for step in segment.steps])
            rows = np.frombuffer(packed, ROW).copy()
            rows["index"] = segment.indices
            segment.memo["trace"] = rows
        stamped = rows.copy()
        turns = np.arange(2 * ordinal, 2 * (ordinal + len(rows)), 2, dtype=np.uint32)
        stamped["since"], stamped["begin"], stamped["end"] = turns, turns, turns + 1
        self._keep(stamped)

    def began(self, event: Event) -> None:
        self._begun[event.engine] = event

    def ended(self, event: Event) -> None:
        self._keep(self._finished(event, self._begun.pop(event.engine), event.turn))

    def stopped(self) -> None:
        for event in self._begun.values():  # a fault of another engine came before their finish
            row = self._finished(event, event, event.turn + 1)
            if event.update is not None and not event.update.at_read:
                row["update_mode"] = row["update_idx"] = row["update_value"] = 0
            self._keep(row)
        self._begun.clear()

    def _finished(self, event: Event, start: Event, end: int) -> np.ndarray[Any, Any]:
        row = np.frombuffer(self._template(event.step, event.engine), ROW).copy()
        row["index"] = event.index
        row["since"], row["begin"], row["end"] = start.since, start.turn, end
        if event.wait is not None:
            row["wait_mode"], row["wait_idx"] = event.wait.mode, event.wait.index
            row["wait_value"] = event.wait.value
        if event.update is not None:
            row["update_mode"], row["update_idx"] = event.update.mode, event.update.index
            row["update_value"] = event.update.value
        if self.hashes:
            row["output_hash"], row["accumulator_hash"] = outputs_hash(self.core, event.step), lanes_hash(self.core)
        return row

    def trace(self) -> Trace:
        """What was recorded, where no spool was given."""
        rows = np.concatenate(self._kept) if self._kept else np.zeros(0, ROW)
        return Trace(header=self.header, rows=rows)

    def _keep(self, rows: np.ndarray[Any, Any]) -> None:
        if self.spool is None:
            self._kept.append(rows)
        else:
            self.spool.write(rows.tobytes())

    def _template(self, step: Step, engine: str) -> bytes:
        """The row of a step without its index, turns and signals; kept, for steps come again."""
        key = step, engine
        row = self._templates.get(key)
        if row is None:
            if len(self._templates) >= MOST_TEMPLATES:
                self._templates.clear()
            row = self._templates[key] = self._row(step, engine).tobytes()
        return row

    def _row(self, step: Step, engine: str) -> np.ndarray[Any, Any]:
        row = np.zeros(1, ROW)
        row["engine"], row["opcode"] = self.engines.index(engine), step.record[0]
        placed = [(1, p) for p in step.sources]
        placed += [(3 if o.merges else 2, step.operands[o.name]) for o in step.instruction.writes]
        for slot, (role, p) in enumerate(placed[:OPERANDS]):
            at = row["places"][0][slot]
            at["role"], at["region"], at["partition"] = role, REGIONS.index(p.region), p.partition
            at["channels"], at["low"], at["high"] = p.channels, p.low, p.high
        return row


@functools.lru_cache(maxsize=32)
def _about_machine(machine: Machine) -> dict[str, Any]:
    return {
        "generation": machine.generation.name,
        "profile": machine.profile,
        "policies": {k: str(v) for k, v in machine.policies.items()},
        "engines": list(machine.engines),
        "names": {f"0x{op:02x}": e.name for op, e in machine.opcodes.items()},
        "dispatch": overview(machine),
    }


def outputs_hash(core: NeuronCore, step: Step) -> int:
    """64 bits over the bytes of a step's outputs, in stream order."""
    parts = [read_operand(core.memory, step.operands[o.name], step.formats) for o in step.instruction.writes]
    return _digest(b"".join(np.ascontiguousarray(p).tobytes() for p in parts))


def lanes_hash(core: NeuronCore) -> int:
    """64 bits over the accumulators of every engine and their defined flags."""
    return _digest(core.lanes[:, sorted(c + i for c in ACCUMULATOR.values() for i in (0, 1))].tobytes())


def _digest(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
