"""`gpsimd explain`: everything that is known about one instruction."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import gpsimd_core as gp

OFFSETS = {  # field: first byte, last byte
    "opcode": (0, 0), "wait_mode": (4, 4), "semaphore_value": (8, 11), "src0": (12, 23), "src1": (24, 35),
    "op0": (36, 36), "op1": (37, 37), "reverse_operands": (38, 38), "imm0_src": (39, 39), "out_dtype": (41, 41),
    "num_active_channels": (42, 42), "imm0_dtype": (43, 43), "accumulator_cmd": (44, 44), "reserved": (45, 47),
    "dst": (48, 59), "imm0": (60, 63),
}  # fmt: skip

LOSING = {  # topic of a disputed reading: what was not taken
    "false lanes": "select: dst takes imm0, and the maximum runs over the whole written row",
    "IDLE": "the accumulator is left undefined",
    "NaN in the maximum": "any NaN wins",
    "where the accumulator lives": "a PSUM accumulator",
    "reverse_operands = FIRST": "swaps the pairing of the copy and reduce operands",
    "seed of the maximum": "by out_dtype",
    "output count": "the instruction writes fewer outputs than inputs",
    "name and struct": "a member of the S3S3D3_TT copies",
}


def flat(text: str) -> str:
    return " ".join(text.split())


def test_names_and_numbers_say_the_same(gpsimd: Callable[..., Any], gen: str) -> None:
    outs = {gpsimd("explain", n, "--gen", gen).out for n in ("0xEA", "0xea", "234", "select_reduce", "SELECTREDUCE")}
    assert len(outs) == 1
    assert outs.pop().startswith(f"select_reduce (0xEA) on {gen}, NC-v")


def test_every_field_with_its_bytes(gpsimd: Callable[..., Any], gen: str) -> None:
    lines = gpsimd("explain", "0xEA", "--gen", gen).out.splitlines()
    for name, (first, last) in OFFSETS.items():
        place = str(first) if first == last else f"{first}..{last}"
        assert any(line.split()[:2] == [place, name] for line in lines), name
    assert any(line.split()[:3] == ["40", "low", "src0_dtype"] for line in lines)
    assert any(line.split()[:3] == ["40", "high", "src1_dtype"] for line in lines)
    assert any(line.split()[:3] == ["20..23", ".num_elem", "u16[2]"] for line in lines)


def test_the_drawing_is_to_scale(gpsimd: Callable[..., Any], some_gen: str) -> None:
    out = gpsimd("explain", "0xEA", "--gen", some_gen).out
    rows = re.findall(r"^ +(\d+) (\|.*\|)$", out, re.MULTILINE)
    assert [int(n) for n, _ in rows] == list(range(0, 64, 8))
    widths = {len(row) for _, row in rows}
    assert len(widths) == 1
    byte = (widths.pop() - 1) // 8
    bars = [i // byte for i, c in enumerate(rows[1][1]) if c == "|"]
    assert bars == [0, 4, 8], "semaphore_value has four bytes, src0 the next four"


def test_every_rule_with_number_needs_confidence_and_source(
    gpsimd: Callable[..., Any], load: Callable[..., gp.Machine], gen: str
) -> None:
    machine = load(gen)
    out = gpsimd("explain", "0xEA", "--gen", gen).out
    told = flat(out)
    book = machine.books["select_reduce"].rules
    assert f"Rules: {len(book)} checks" in told
    for bound in book:
        rule = bound.rule
        number = rule.number or "-"
        assert f" {number} {rule.name}: " in told, rule.name
        for need in rule.needs:
            assert need in told
        assert f"{rule.evidence.confidence} [" in told
        assert flat(rule.evidence.source) in told
    numbers = {int(n) for n in re.findall(r"^ +(\d+)  \w+[\[:\w]", out, re.MULTILINE)}
    assert set(range(1, 21)) <= numbers


def test_engines_blobs_and_semantics(gpsimd: Callable[..., Any], load: Callable[..., gp.Machine], gen: str) -> None:
    out = gpsimd("explain", "0xEA", "--gen", gen).out
    assert "accumulators of dve" in out
    assert "Per element k" in out
    from gpsimd_core.blobs import Catalogue

    machine = load(gen)
    places = Catalogue.of(machine.hooks.blobs(machine.generation)).names_of(0xEA)
    assert all(f"0x{p.offset:x}" in out and p.site.symbol in out for p in places)
    assert "CopyPredicatedReduce" in out


@pytest.mark.parametrize("topic", LOSING)
def test_losing_readings_are_named(gpsimd: Callable[..., Any], gen: str, topic: str) -> None:
    out = gpsimd("explain", "0xEA", "--gen", gen).out
    told = flat(out[out.index("Disputed readings") :])
    assert f"{topic} taken " in told
    assert f"not taken {LOSING[topic]}" in told
    assert "decides" in told


def test_policies_keep_losers_reachable(gpsimd: Callable[..., Any], some_gen: str) -> None:
    told = flat(gpsimd("explain", "0xEA", "--gen", some_gen).out)
    assert "--policy select_reduce=select (now select_reduce=merge)" in told
    assert "--policy reduce_nan=propagate or --policy reduce_nan=select (now reduce_nan=suppress)" in told
    other = flat(gpsimd("explain", "0xEA", "--gen", some_gen, "--profile", "nki").out)
    assert "--policy select_reduce=merge (now select_reduce=select)" in other


def test_opcodes_of_every_layout_can_be_explained(
    gpsimd: Callable[..., Any], load: Callable[..., gp.Machine], gen: str
) -> None:
    machine = load(gen)
    from gpsimd_core.cli.explain import describe

    for opcode, encoding in list(machine.opcodes.items())[::7]:
        record = describe(machine, opcode)
        assert record["name"] == encoding.name
        assert sum(f["size"] for f in record["fields"] if not f["bits"]) <= 64


def test_an_opaque_and_a_refused_opcode(gpsimd: Callable[..., Any], load: Callable[..., gp.Machine], gen: str) -> None:
    out = flat(gpsimd("explain", "0xFF", "--gen", gen).out)
    assert "status not executable: never a valid opcode" in out
    assert "No rules of its own are grounded." in out


def test_the_sub_opcode_shows_both_layouts(gpsimd: Callable[..., Any], load: Callable[..., gp.Machine]) -> None:
    load("cayman")
    out = flat(gpsimd("explain", "0xF0", "--gen", "cayman").out)
    assert "where extended_opcode is 2" in out
    assert "where extended_opcode is anything else" in out


def test_json(gpsimd: Callable[..., Any], gen: str) -> None:
    (o,) = gpsimd("explain", "SelectReduce", "--gen", gen, "--json").objects
    assert (o["opcode"], o["name"], o["engines"], o["status"]) == (0xEA, "select_reduce", ["dve"], "executes")
    assert {r["topic"] for r in o["readings"]} >= set(LOSING)
    rule = next(r for r in o["rules"] if r["name"] == "is_valid_enum[op0]")
    assert len(rule["allowed"].split()) > 30, "in full, where the text is abridged"
