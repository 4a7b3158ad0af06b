"""`gpsimd validate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

GOOD = "select_reduce src0={addr=0, num=[8]}, src1={addr=0x400, num=[8]}, dst={addr=0x400, num=[8]}, src0_dtype=uint8, src1_dtype=fp32, out_dtype=fp32, num_active_channels=128"


def test_one_line_of_success(gpsimd: Callable[..., Any], gen: str) -> None:
    Path("p.tpb").write_text(f"{GOOD}\n{GOOD}\n")
    told = gpsimd("validate", "p.tpb", "--gen", gen)
    assert (told.code, told.out, told.err) == (0, f"p.tpb: 2 instructions on {gen}, every rule holds\n", "")


def test_violations_with_what_was_found_and_what_is_allowed(gpsimd: Callable[..., Any], gen: str) -> None:
    bad = GOOD.replace("src0_dtype=uint8", "src0_dtype=fp16").replace("=128", "=0") + ", accumulator_cmd=ZERO"
    Path("p.tpb").write_text(f"{GOOD}\n{bad}\n")
    told = gpsimd("validate", "p.tpb", "--gen", gen)
    assert told.code == 1
    lines = told.out.splitlines()
    assert lines[0] == f"instruction 1 (byte 0x40), select_reduce on {gen}: 3 violations"
    assert lines[1] == (
        "  dtype_in[src0_dtype]: byte 40 low nibble is FP16 (0x7); allowed: INT8 UINT8 INT16 UINT16 INT32 UINT32"
    )
    assert lines[2] == "  check_active_channels: byte 42 is 0; allowed: 1 to 128"
    assert lines[3] == (
        "  field_in[accumulator_cmd]: byte 44 is ZERO (0x1); allowed: IDLE (0) ACCUMULATE (2) ZERO_ACCUMULATE (3)"
    )
    assert "  not checked: start_addr_active_channels[src0] (needs check_active_channels)" in lines
    assert lines[-1].startswith(f"p.tpb: 2 instructions on {gen}, 3 violations, ")


def test_warnings_pass_and_strict_makes_them_violations(gpsimd: Callable[..., Any], gen: str) -> None:
    Path("p.tpb").write_text(GOOD.replace("out_dtype=fp32", "out_dtype=fp32r"))
    told = gpsimd("validate", "p.tpb", "--gen", gen)
    assert told.code == 0
    assert "  warning: out_dtype_differs: " in told.out
    assert told.out.splitlines()[-1] == f"p.tpb: 1 instruction on {gen}, every rule holds, 1 warning"
    assert gpsimd("validate", "p.tpb", "--gen", gen, "--strict").code == 1


def test_opaque_records_are_not_checked_in_full(gpsimd: Callable[..., Any], load: Any, gen: str) -> None:
    from gpsimd_core.isa.layouts.common import Opaque

    machine = load(gen)
    opcode = next(o for o, e in machine.opcodes.items() if machine.layouts[o].cls is Opaque and e.kind == "real")
    Path("p.bin").write_bytes(machine.encode(f"0x{opcode:02X}"))
    told = gpsimd("validate", "p.bin", "--gen", gen)
    assert told.code == 0
    assert "not checked: everything beyond header and events (no source grounds the layout of this opcode)" in told.out
    assert told.out.splitlines()[-1].endswith("every rule holds, 1 not checked")


def test_json(gpsimd: Callable[..., Any], gen: str) -> None:
    Path("p.tpb").write_text(GOOD.replace("=128", "=0"))
    objects = gpsimd("validate", "p.tpb", "--gen", gen, "--json").objects
    assert objects[0] == {
        "kind": "violation", "index": 0, "byte": 42, "name": "select_reduce", "field": "num_active_channels",
        "rule": "check_active_channels", "number": 13, "found": "byte 42 is 0", "allowed": "1 to 128", "generation": gen,
    }  # fmt: skip
    assert objects[-1]["kind"] == "report"
    assert (objects[-1]["ok"], objects[-1]["violations"]) == (False, 1)
    assert {o["kind"] for o in objects[1:-1]} == {"not checked"}


def test_an_engine_that_does_not_take_it(gpsimd: Callable[..., Any], gen: str) -> None:
    Path("p.tpb").write_text(f".stream pool\n{GOOD}\n")
    told = gpsimd("validate", "p.tpb", "--gen", gen)
    assert told.code == 1
    assert "instruction_engine_check: it stands in the pool stream; allowed: engines dve" in told.out
