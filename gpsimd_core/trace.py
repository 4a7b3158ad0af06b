"""Traces: one row an executed instruction, spooled in binary, exported as JSON lines, Parquet or a Perfetto timeline.

A row says when an instruction started and finished (in turns of the engines), on which engine, what it waited for and
signalled, and the byte range of every operand. Rows of a planned run are made once and only stamped while it runs, so
that tracing costs next to nothing; with hashes, each instruction's outputs are hashed after it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from gpsimd_core.errors import BadInput
from gpsimd_core.isa.enums import UpdateMode, WaitMode
from gpsimd_core.pipeline import Step, read_operand
from gpsimd_core.schedule import Event, Watcher
from gpsimd_core.stream import Segment, Stream

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore

__all__ = ["OPERANDS", "ROW", "Trace", "Tracer", "export", "read"]

MAGIC = b"gpsimd-trace 1\n"
OPERANDS = 5
"""Places a row holds: three operands and two pointer immediates."""

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
        return isinstance(other, Trace) and self.header == other.header and bool((self.rows == other.rows).all())

    def __len__(self) -> int:
        return len(self.rows)

    def records(self) -> Iterator[dict[str, Any]]:
        """Each row in words: what JSON lines and the timeline's arguments hold."""
        engines, names = self.header["engines"], self.header["names"]
        for row in self.rows:
            found = {
                "index": int(row["index"]),
                "engine": engines[row["engine"]],
                "name": names.get(f"0x{row['opcode']:02x}", "unknown"),
                "opcode": f"0x{row['opcode']:02x}",
                "begin": int(row["begin"]),
                "end": int(row["end"]),
                "wait": _wait(row),
                "update": _update(row),
                "operands": [_place(p) for p in row["places"] if p["role"]],
            }
            if self.header["hashes"]:
                found["accumulator_hash"] = f"{row['accumulator_hash']:016x}"
                found["output_hash"] = f"{row['output_hash']:016x}"
            yield found


def _wait(row: Any) -> dict[str, Any] | None:
    mode = int(row["wait_mode"])
    return (
        {"mode": WaitMode(mode).name, "index": int(row["wait_idx"]), "value": int(row["wait_value"])} if mode else None
    )


def _update(row: Any) -> dict[str, Any] | None:
    mode = int(row["update_mode"])
    if not mode:
        return None
    return {"mode": UpdateMode(mode).name, "index": int(row["update_idx"]), "value": int(row["update_value"])}


def _place(p: Any) -> dict[str, Any]:
    return {
        "role": ROLES[p["role"]], "region": REGIONS[p["region"]], "partition": int(p["partition"]),
        "channels": int(p["channels"]), "low": int(p["low"]), "high": int(p["high"]),
    }  # fmt: skip


# Recording -----------------------------------------------------------------------------------------------------------


class Tracer(Watcher):
    """Spools a row for each instruction that finishes.

    Args:
        core: what runs.
        spool: a binary file opened for writing; None keeps the rows in memory.
        hashes: hash outputs and accumulators after each instruction.
    """

    def __init__(self, core: NeuronCore, spool: IO[bytes] | None = None, *, hashes: bool = False) -> None:
        self.core, self.spool, self.hashes = core, spool, hashes
        self.bulk = not hashes
        machine = core.machine
        self.engines = list(machine.engines)
        self.header = {
            "generation": machine.generation.name,
            "profile": machine.profile,
            "policies": {k: str(v) for k, v in machine.policies.items()},
            "engines": self.engines,
            "names": {f"0x{op:02x}": e.name for op, e in machine.opcodes.items()},
            "hashes": hashes,
        }
        self._kept: list[np.ndarray[Any, Any]] = []
        self._begun: dict[str, Event] = {}
        if spool is not None:
            head = json.dumps(self.header).encode()
            spool.write(MAGIC + len(head).to_bytes(4, "little") + head)

    def segment(self, stream: Stream, segment: Segment, wait: Any, ordinal: int) -> None:
        if self.hashes or segment.synced:
            super().segment(stream, segment, wait, ordinal)
            return
        rows = segment.memo.get("trace")
        if rows is None:
            rows = np.concatenate([self._row(step, index, step.engine.name) for index, step in segment.pairs()])
            segment.memo["trace"] = rows
        stamped = rows.copy()
        turns = np.arange(2 * ordinal, 2 * (ordinal + len(rows)), 2, dtype=np.uint32)
        stamped["begin"], stamped["end"] = turns, turns + 1
        self._keep(stamped)

    def began(self, event: Event) -> None:
        self._begun[event.engine] = event

    def ended(self, event: Event) -> None:
        row = self._row(event.step, event.index, event.engine)
        row["begin"], row["end"] = self._begun[event.engine].turn, event.turn
        if event.wait is not None:
            row["wait_mode"], row["wait_idx"] = event.wait.mode, event.wait.index
            row["wait_value"] = event.wait.value
        if event.update is not None:
            row["update_mode"], row["update_idx"] = event.update.mode, event.update.index
            row["update_value"] = event.update.value
        if self.hashes:
            row["output_hash"] = outputs_hash(self.core, event.step)
            row["accumulator_hash"] = _digest(self.core.lanes[:, :4].tobytes())
        self._keep(row)

    def trace(self) -> Trace:
        """What was recorded, where no spool was given."""
        rows = np.concatenate(self._kept) if self._kept else np.zeros(0, ROW)
        return Trace(header=self.header, rows=rows)

    def _keep(self, rows: np.ndarray[Any, Any]) -> None:
        if self.spool is None:
            self._kept.append(rows)
        else:
            self.spool.write(rows.tobytes())

    def _row(self, step: Step, index: int, engine: str) -> np.ndarray[Any, Any]:
        row = np.zeros(1, ROW)
        row["index"], row["engine"], row["opcode"] = index, self.engines.index(engine), step.record[0]
        placed = [(1, step.operands[o.name]) for o in step.instruction.reads]
        placed += [(1, i.placed) for i in step.immediates.values() if i.placed is not None]
        placed += [(3 if o.merges else 2, step.operands[o.name]) for o in step.instruction.writes]
        for slot, (role, p) in enumerate(placed[:OPERANDS]):
            at = row["places"][0][slot]
            at["role"], at["region"], at["partition"] = role, REGIONS.index(p.region), p.partition
            at["channels"], at["low"], at["high"] = p.channels, p.low, p.high
        return row


def outputs_hash(core: NeuronCore, step: Step) -> int:
    """64 bits over the bytes of a step's outputs, in stream order."""
    parts = [read_operand(core.memory, step.operands[o.name], step.formats) for o in step.instruction.writes]
    return _digest(b"".join(np.ascontiguousarray(p).tobytes() for p in parts))


def _digest(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


# Files ---------------------------------------------------------------------------------------------------------------


def export(trace: Trace, path: Path) -> None:
    """Write a trace in the form that the name's ending says.

    `.jsonl`: a header line, then one record a line. `.json`: a timeline for Perfetto or chrome://tracing. `.parquet`: a
    table (needs the extra `parquet`). Anything else: the binary spool.

    Raises:
        BadInput: `.parquet` without pyarrow.
    """
    if path.suffix == ".jsonl":
        lines = [json.dumps({"header": trace.header}), *(json.dumps(r) for r in trace.records())]
        path.write_text("\n".join(lines) + "\n")
    elif path.suffix == ".json":
        path.write_text(json.dumps(timeline(trace)))
    elif path.suffix == ".parquet":
        _parquet_write(trace, path)
    else:
        head = json.dumps(trace.header).encode()
        path.write_bytes(MAGIC + len(head).to_bytes(4, "little") + head + trace.rows.tobytes())


def read(path: Path) -> Trace:
    """Read a trace in any of the forms that `export` writes.

    Raises:
        BadInput: no trace, or a damaged one.
    """
    try:
        data = path.read_bytes()
    except OSError as e:
        raise BadInput(f"{path}: {e.strerror}") from e
    try:
        if data.startswith(MAGIC):
            return _binary(data)
        if path.suffix == ".parquet":
            return _parquet_read(path)
        if path.suffix == ".jsonl":
            header, *records = (json.loads(line) for line in data.decode().splitlines())
            return _from_records(header["header"], records)
        whole = json.loads(data)
        records = [e["args"] for e in whole["traceEvents"] if e.get("cat") == "instruction"]
        return _from_records(whole["otherData"], records)
    except (ValueError, KeyError, TypeError) as e:
        raise BadInput(f"{path} is no trace of ours, or a damaged one: {e}") from e


def _binary(data: bytes) -> Trace:
    start = len(MAGIC) + 4
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    header = json.loads(data[start : start + length])
    body = data[start + length :]
    if len(body) % ROW.itemsize:
        raise ValueError(f"{len(body)} bytes of rows are no multiple of {ROW.itemsize}")
    return Trace(header=header, rows=np.frombuffer(body, ROW))


def _from_records(header: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Trace:
    rows = np.zeros(len(records), ROW)
    for row, r in zip(rows, records, strict=True):
        row["begin"], row["end"], row["index"] = r["begin"], r["end"], r["index"]
        row["engine"], row["opcode"] = header["engines"].index(r["engine"]), int(r["opcode"], 16)
        for part, code in (("wait", WaitMode), ("update", UpdateMode)):
            given = r[part]
            if given:
                row[f"{part}_mode"], row[f"{part}_idx"] = code[given["mode"]], given["index"]
                row[f"{part}_value"] = given["value"]
        for at, p in zip(row["places"], r["operands"], strict=False):
            at["role"], at["region"] = ROLES.index(p["role"]), REGIONS.index(p["region"])
            at["partition"], at["channels"], at["low"], at["high"] = (
                p[k] for k in ("partition", "channels", "low", "high")
            )
        for part in ("accumulator_hash", "output_hash"):
            row[part] = int(r.get(part, "0"), 16)
    return Trace(header=header, rows=rows)


def timeline(trace: Trace) -> dict[str, Any]:
    """A trace in the Trace Event Format: a track an engine, a slice an instruction, a slice for each time spent waiting.

    A turn is a microsecond.
    """
    engines = trace.header["engines"]
    events: list[dict[str, Any]] = [
        {"ph": "M", "ts": 0, "pid": 1, "tid": tid, "name": "thread_name", "args": {"name": engine}}
        for tid, engine in enumerate(engines)
    ]
    free = dict.fromkeys(engines, 0)
    for r in trace.records():
        common = {"ph": "X", "pid": 1, "tid": engines.index(r["engine"])}
        if r["wait"] and r["begin"] > free[r["engine"]]:
            start = free[r["engine"]]
            name = f"wait {r['wait']['mode']} {r['wait']['index']}"
            events.append(
                {**common, "ts": start, "dur": r["begin"] - start, "name": name, "cat": "wait", "args": r["wait"]}
            )
        events.append(
            {
                **common,
                "ts": r["begin"],
                "dur": r["end"] - r["begin"],
                "name": r["name"],
                "cat": "instruction",
                "args": r,
            }
        )
        free[r["engine"]] = r["end"]
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": trace.header}


def _parquet_write(trace: Trace, path: Path) -> None:
    pa, pq = _pyarrow(path)
    columns: dict[str, Any] = {n: trace.rows[n] for n in ROW.names or () if n != "places"}
    for slot in range(OPERANDS):
        for part in PLACE.names or ():
            columns[f"operand{slot}_{part}"] = trace.rows["places"][:, slot][part]
    table = pa.table({n: np.ascontiguousarray(c) for n, c in columns.items()})
    pq.write_table(table.replace_schema_metadata({"gpsimd": json.dumps(trace.header)}), path)


def _parquet_read(path: Path) -> Trace:
    _, pq = _pyarrow(path)
    table = pq.read_table(path)
    header = json.loads(table.schema.metadata[b"gpsimd"])
    rows = np.zeros(table.num_rows, ROW)
    for name in table.column_names:
        column = table[name].to_numpy()
        if name.startswith("operand"):
            slot, _, part = name.removeprefix("operand").partition("_")
            rows["places"][:, int(slot)][part] = column
        else:
            rows[name] = column
    return Trace(header=header, rows=rows)


def _pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadInput(f"{path}: Parquet needs pyarrow; install gpsimd-core[parquet]") from None
    return pyarrow, pyarrow.parquet
