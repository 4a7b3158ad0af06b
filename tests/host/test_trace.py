"""Traces: what a row says, every form that a file takes, and the Trace Event Format."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from host_programs import PREPARE, nop, pair, ready

import gpsimd_core as gp
from gpsimd_core.trace import OPERANDS, ROW, Trace, Tracer
from gpsimd_core.tracefile import export, read, timeline

Load = Callable[..., gp.Machine]
FORMS = ("trace", "jsonl", "json", "parquet")


@pytest.fixture(scope="module")
def cayman(load: Load) -> gp.Machine:
    return load("cayman")


def traced(core: gp.NeuronCore, program: Any, *, hashes: bool = False, **options: Any) -> Trace:
    tracer = Tracer(core, hashes=hashes)
    core.run(program, watchers=[tracer], **options)
    return tracer.trace()


def test_a_row_says_everything(cayman: gp.Machine) -> None:
    records = list(traced(ready(cayman), pair(cayman)).records())
    place = {"region": "sbuf", "partition": 0, "channels": 4}
    assert records == [
        {
            "step": 0, "index": 0, "engine": "pool", "name": "copy", "opcode": "0x46", "since": 0, "begin": 0, "end": 1,
            "wait": None, "update": {"mode": "SEM_INC_COMPLETE", "index": 4, "value": 0},
            "operands": [
                {"role": "read", **place, "low": 0, "high": 16}, {"role": "write", **place, "low": 256, "high": 272},
            ],
        },
        {
            "step": 1, "index": 0, "engine": "dve", "name": "tensor_tensor_arith_op", "opcode": "0x41", "since": 1,
            "begin": 2, "end": 3, "wait": {"mode": "SEM_GE_IMM", "index": 4, "value": 1}, "update": None,
            "operands": [
                {"role": "read", **place, "low": 256, "high": 272}, {"role": "read", **place, "low": 0, "high": 16},
                {"role": "write", **place, "low": 512, "high": 528},
            ],
        },
    ]  # fmt: skip


def test_register_forms_are_told_by_value(cayman: gp.Machine) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    core.registers[7] = 12
    core.semaphores[3] = 12
    found = next(traced(core, nop(0x85, 3, 0x99, 4, value=7)).records())
    assert found["wait"] == {"mode": "SEM_GE_REG", "index": 3, "value": 12}
    assert found["update"] == {"mode": "SEM_WR_REG_COMPLETE", "index": 4, "value": 12}


def test_merges_and_pointers_have_their_places(cayman: gp.Machine) -> None:
    text = (
        PREPARE
        + """
    .tensor m sbuf 0 0x300 uint8 4x4 in
    select_reduce src0=@m, src1=@x, dst=@z, imm0_src=POINTER_IMMEDIATE, imm0=0x400, accumulator_cmd=ZERO_ACCUMULATE
    """
    )
    core = ready(cayman, at_0x300=np.ones((4, 4), np.uint8))
    found = next(traced(core, cayman.assemble(text)).records())
    assert [(o["role"], o["low"], o["high"]) for o in found["operands"]] == [
        ("read", 0x300, 0x304), ("read", 0, 16), ("read", 0x400, 0x404), ("merge", 0x200, 0x210),
    ]  # fmt: skip


def test_no_instruction_has_more_places_than_a_row(machine: gp.Machine) -> None:
    for i in machine.instructions.values():
        assert len(i.reads) + len(i.writes) + len(i.immediates) <= OPERANDS, i.name


def test_hashes_tell_outputs_and_accumulators_apart(cayman: gp.Machine) -> None:
    program = pair(cayman)
    plain = traced(ready(cayman), program, hashes=True)
    same = traced(ready(cayman), program, hashes=True, schedule=9)
    other_core = ready(cayman)
    other_core.sbuf.write(np.full((1, 1), 99, np.float32), partition=3)
    other = traced(other_core, program, hashes=True)
    assert (plain.rows["output_hash"] == same.rows["output_hash"]).all()
    assert (plain.rows["output_hash"] != other.rows["output_hash"]).all()
    assert (plain.rows["accumulator_hash"] == other.rows["accumulator_hash"]).all()
    touched = ready(cayman)
    touched.accumulators["dve"] = 1.0
    assert (traced(touched, program, hashes=True).rows["accumulator_hash"] != plain.rows["accumulator_hash"]).all()


def test_a_fault_leaves_the_trace_of_what_ran(cayman: gp.Machine) -> None:
    core = gp.NeuronCore(cayman, compiled=False)
    tracer = Tracer(core)
    with pytest.raises(gp.Fault):
        core.run(
            {"act": nop(update=0x13) * 2, "dve": nop(update=0x03) + nop(update=0x04, update_index=9)}, watchers=[tracer]
        )
    rows = list(tracer.trace().records())
    assert [(r["engine"], r["index"], r["begin"], r["end"]) for r in rows] == [
        ("act", 0, 0, 2), ("dve", 0, 1, 3), ("act", 1, 4, 5),
    ]  # fmt: skip
    assert rows[0]["update"] is not None
    assert rows[2]["update"] is None  # started, never finished: its COMPLETE update did not fire


def test_one_stream_is_traced_fused_and_unfused_alike(cayman: gp.Machine) -> None:
    program = cayman.assemble(PREPARE + "copy src=@x, dst=@y\ncopy src=@y, dst=@z\nnop update_mode=SEM_INC_READ\nnop")
    fused, single = traced(ready(cayman), program), traced(ready(cayman), program, max_instructions=99)
    assert fused == single
    assert [r["begin"] for r in fused.records()] == [0, 2, 4, 6]
    assert [r["update"] is not None for r in fused.records()] == [False, False, True, False]


# Files ---------------------------------------------------------------------------------------------------------------


def form_of(form: str) -> str:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    return form


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("hashes", [False, True])
def test_every_form_reads_back_equal(cayman: gp.Machine, tmp_path: Path, form: str, hashes: bool) -> None:
    core = ready(cayman)
    core.registers[7] = 12
    streams = {"act": nop(0x83, 3, 0x97, 4, value=7), "dve": nop(update=0x05, update_index=4, value=12)}
    trace = traced(core, streams, hashes=hashes)
    path = tmp_path / f"t.{form_of(form)}"
    export(trace, path)
    assert read(path) == trace
    assert read(path).header == trace.header


def many(machine: gp.Machine, count: int) -> gp.Program:
    """A program of `count` instructions, a thousand different ones over and over."""
    record = "select_reduce src0={{addr={0}, num=[4]}}, src1={{addr={1}, num=[4]}}, dst={{addr={2}, num=[4]}}, " \
        "src0_dtype=uint8, src1_dtype=fp32, out_dtype=fp32, num_active_channels=32, accumulator_cmd=ZERO_ACCUMULATE"  # fmt: skip
    text = "\n".join(record.format(4 * i, 0x4000 + 16 * i, 0x14000 + 16 * i) for i in range(999))
    block = bytes(machine.assemble(text + "\nnop wait_mode=SEM_GE_IMM, update_mode=SEM_INC_COMPLETE, update_idx=9"))
    return machine.decode(block * (count // 1000))


@pytest.fixture(scope="module")
def long_trace(cayman: gp.Machine, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """100,000 instructions, spooled."""
    core = gp.NeuronCore(cayman)
    path = tmp_path_factory.mktemp("trace") / "spool"
    with path.open("wb") as spool:
        result = core.run(many(cayman, 100_000), watchers=[Tracer(core, spool)])
    assert result.instructions == 100_000
    return read(path)


@pytest.mark.parametrize("form", FORMS)
def test_a_hundred_thousand_instructions_in_every_form(long_trace: Trace, tmp_path: Path, form: str) -> None:
    assert len(long_trace) == 100_000
    assert long_trace.rows["index"].tolist() == list(range(100_000))
    path = tmp_path / f"long.{form_of(form)}"
    export(long_trace, path)
    assert read(path) == long_trace


@pytest.mark.parametrize("form", FORMS)
def test_damaged_files_are_refused(cayman: gp.Machine, tmp_path: Path, form: str) -> None:
    path = tmp_path / f"t.{form_of(form)}"
    export(traced(ready(cayman), pair(cayman)), path)
    whole = path.read_bytes()
    for damaged in (whole[:-7], whole[: len(whole) // 2], b"", b"nothing of the kind\n" * 9):
        path.write_bytes(damaged)
        with pytest.raises(gp.BadInput, match="no trace of ours, or a damaged one"):
            read(path)
    with pytest.raises(gp.BadInput, match="No such file"):
        read(tmp_path / "nowhere.jsonl")


def test_parquet_without_its_package(cayman: gp.Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(gp.BadInput, match=r"Parquet needs pyarrow; install gpsimd-core\[parquet\]"):
        export(traced(ready(cayman), pair(cayman)), tmp_path / "t.parquet")


def test_parquet_is_a_table_that_others_can_read(cayman: gp.Machine, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    export(traced(ready(cayman), pair(cayman)), tmp_path / "t.parquet")
    table = parquet.read_table(tmp_path / "t.parquet").to_pydict()
    assert table["index"] == [0, 0]
    assert table["begin"] == [0, 2]
    assert table["operand1_low"] == [256, 0]


# The Trace Event Format -------------------------------------------------------------------------------------------------


def hold_to_the_format(document: Any, trace: Trace) -> None:
    """Every event has what its phase needs, complete events of one track do not overlap, args carry the records."""
    assert set(document) <= {
        "traceEvents",
        "displayTimeUnit",
        "otherData",
        "systemTraceEvents",
        "stackFrames",
        "samples",
    }
    assert document["displayTimeUnit"] in ("ms", "ns")
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = {}
    named = {}
    records = []
    for e in document["traceEvents"]:
        assert e["ph"] in ("X", "M")
        for key in ("ts", "pid", "tid"):
            assert isinstance(e[key], int)
            assert e[key] >= 0
        assert isinstance(e["name"], str)
        assert e["name"]
        assert isinstance(e["args"], dict)
        if e["ph"] == "M":
            assert e["name"] in ("process_name", "thread_name")
            assert isinstance(e["args"]["name"], str)
            if e["name"] == "thread_name":
                named[e["tid"]] = e["args"]["name"]
            continue
        assert isinstance(e["dur"], int)
        assert e["dur"] > 0
        assert isinstance(e["cat"], str)
        tracks.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
        if e["cat"] == "instruction":
            records.append(e["args"])
            assert (e["ts"], e["dur"]) == (e["args"]["begin"], e["args"]["end"] - e["args"]["begin"])
            assert named[e["tid"]] == e["args"]["engine"]
    for spans in tracks.values():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert records == list(trace.records())
    fields = {"step", "index", "engine", "name", "opcode", "since", "begin", "end", "wait", "update", "operands"}
    more = {"accumulator_hash", "output_hash"} if trace.header["hashes"] else set()
    assert all(set(r) == fields | more for r in records)


@pytest.mark.parametrize("schedule", ["round_robin", *range(10)])
def test_a_timeline_keeps_to_the_format(cayman: gp.Machine, tmp_path: Path, schedule: Any) -> None:
    core = ready(cayman)
    streams = {
        "act": nop(update=0x13, update_index=1) * 3, "pool": nop(0x05, 1, 0x11, 5, value=2) + nop(),
        "dve": nop(0x07, 5) + nop(0x05, 1, value=3), "sp": nop() * 4,
    }  # fmt: skip
    trace = traced(core, streams, schedule=schedule, hashes=schedule == 3)
    export(trace, tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text())
    hold_to_the_format(document, trace)
    assert document == timeline(trace)


@pytest.mark.slow
def test_the_timeline_of_a_long_run(long_trace: Trace) -> None:
    hold_to_the_format(timeline(long_trace), long_trace)


def test_waits_are_visible(cayman: gp.Machine) -> None:
    events = timeline(traced(ready(cayman), pair(cayman)))["traceEvents"]
    waits = [e for e in events if e.get("cat") == "wait"]
    assert [(e["name"], e["ts"], e["dur"], e["args"]["wait"]["value"]) for e in waits] == [
        ("wait SEM_GE_IMM 4", 1, 1, 1)
    ]


def test_the_header_tells_the_machine(load: Load) -> None:
    machine = load("maverick", profile="nki", policies={"reduce_nan": "propagate"})
    header = traced(gp.NeuronCore(machine, compiled=False), nop()).header
    assert (header["generation"], header["profile"]) == ("maverick", "nki")
    assert header["policies"]["reduce_nan"] == "propagate"
    assert header["names"]["0xea"] == "select_reduce"
    assert header["engines"] == list(machine.engines)
    assert header["dispatch"]["kernels"]["0x7c"][0]["index"] == 1
    assert json.loads(json.dumps(header)) == header


def test_rows_are_as_wide_as_their_fields() -> None:
    """No padding: what is spooled is what the fields say."""
    assert ROW.itemsize == sum(ROW.fields[n][0].itemsize for n in ROW.names or ())  # type: ignore[index]
