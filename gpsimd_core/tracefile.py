"""Traces in files: the binary spool, JSON lines, Parquet, and a timeline for Perfetto or chrome://tracing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpsimd_core.errors import BadInput
from gpsimd_core.isa.enums import UpdateMode, WaitMode
from gpsimd_core.trace import MAGIC, OPERANDS, PLACE, REGIONS, ROLES, ROW, Trace

__all__ = ["check_form", "export", "read", "timeline"]

ROLE_OF = {name: i for i, name in enumerate(ROLES)}
REGION_OF = {name: i for i, name in enumerate(REGIONS)}


def check_form(path: Path) -> None:
    """Refuse a file name whose form cannot be written here.

    Raises:
        BadInput: `.parquet` without pyarrow.
    """
    if path.suffix == ".parquet":
        _pyarrow(path)


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
    for name in ("since", "begin", "end", "index"):
        rows[name] = [r[name] for r in records]
    engines = {name: i for i, name in enumerate(header["engines"])}
    rows["engine"] = [engines[r["engine"]] for r in records]
    rows["opcode"] = [int(r["opcode"], 16) for r in records]
    for part, code in (("wait", WaitMode), ("update", UpdateMode)):
        for i, r in enumerate(records):
            if r[part]:
                row = rows[i]
                row[f"{part}_mode"], row[f"{part}_idx"] = code[r[part]["mode"]], r[part]["index"]
                row[f"{part}_value"] = r[part]["value"]
    empty = (0,) * len(PLACE.names or ())
    rows["places"] = [[_packed(p) for p in r["operands"]] + [empty] * (OPERANDS - len(r["operands"])) for r in records]
    for part in ("accumulator_hash", "output_hash") if header["hashes"] else ():
        rows[part] = [int(r[part], 16) for r in records]
    return Trace(header=header, rows=rows)


def _packed(p: Mapping[str, Any]) -> tuple[int, ...]:
    return ROLE_OF[p["role"]], REGION_OF[p["region"]], p["partition"], p["channels"], p["low"], p["high"]


def timeline(trace: Trace) -> dict[str, Any]:
    """A trace in the Trace Event Format: a track an engine, a slice an instruction, a slice for each time an engine was
    held back, by an unmet wait or by an engine that holds a memory.

    A turn is a microsecond.
    """
    engines = trace.header["engines"]
    common: dict[str, Any] = {"ph": "M", "ts": 0, "pid": 1}
    events = [{**common, "tid": 0, "name": "process_name", "args": {"name": trace.header["generation"]}}]
    events += [
        {**common, "tid": tid, "name": "thread_name", "args": {"name": name}} for tid, name in enumerate(engines)
    ]
    for r in trace.records():
        slot = {"ph": "X", "pid": 1, "tid": engines.index(r["engine"])}
        if r["since"] < r["begin"]:
            name = f"wait {r['wait']['mode']} {r['wait']['index']}" if r["wait"] else "held off a shared memory"
            held = {"ts": r["since"], "dur": r["begin"] - r["since"], "name": name, "cat": "wait"}
            events.append({**slot, **held, "args": {"step": r["step"], "wait": r["wait"]}})
        run = {"ts": r["begin"], "dur": r["end"] - r["begin"], "name": r["name"], "cat": "instruction"}
        events.append({**slot, **run, "args": r})
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
