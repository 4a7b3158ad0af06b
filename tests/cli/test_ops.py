"""`gpsimd ops`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpsimd_core as gp


def test_every_opcode_once(gpsimd: Callable[..., Any], load: Callable[..., gp.Machine], gen: str) -> None:
    machine = load(gen)
    told = gpsimd("--gen", gen, "ops")
    assert told.code == 0
    rows = [line.split() for line in told.out.splitlines() if line.startswith("0x")]
    assert [(int(r[0], 16), r[1]) for r in rows] == [(o, e.name) for o, e in machine.opcodes.items()]
    assert f"{len(rows)} opcodes of {gen}" in told.out
    assert "executes" in next(line for line in told.out.splitlines() if line.startswith("0xEA"))


def test_statuses_come_with_a_reason(gpsimd: Callable[..., Any], gen: str) -> None:
    for o in gpsimd("ops", "--gen", gen, "--json").objects:
        assert o["status"] in ("executes", "validates", "decodes", "opaque", "not executable")
        assert (o["reason"] == "") == (o["status"] == "executes")
        assert o["status"] != "opaque" or o["layout"] == "-"
        assert o["engines"] or o["status"] == "not executable"


def test_words_narrow_the_list(gpsimd: Callable[..., Any], some_gen: str) -> None:
    told = gpsimd("ops", "select_reduce", "DVE", "--gen", some_gen)
    assert [line.split()[0] for line in told.out.splitlines() if line.startswith("0x")] == ["0xEA"]
    assert "1 opcodes" in told.out
    nothing = gpsimd("ops", "frobnicate", "--gen", some_gen)
    assert (nothing.code, nothing.out) == (1, "")
    assert "no opcode of" in nothing.err


def test_what_a_generation_refuses(gpsimd: Callable[..., Any], load: Callable[..., gp.Machine]) -> None:
    load("sunda")
    rows = {o["opcode"]: o for o in gpsimd("ops", "--gen", "sunda", "--json").objects}
    for opcode in (0x30, 0x77, 0x78, 0x7B, 0xF0):
        assert rows[opcode]["status"] == "not executable"
    assert rows[0xFF]["kind"] == "sentinel"
