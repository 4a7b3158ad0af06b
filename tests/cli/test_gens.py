"""`gpsimd gens`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gpsimd_core as gp

COUNTS = {  # NC version, opcodes, dtypes, operators, SBUF KiB
    "sunda": (2, 145, 16, 33, 192),
    "cayman": (3, 150, 16, 60, 224),
    "mariana": (4, 159, 24, 64, 256),
    "mariana_plus": (4, 159, 24, 64, 256),
    "maverick": (5, 165, 30, 65, 512),
}


def test_the_table(gpsimd: Callable[..., Any], gen: str) -> None:
    told = gpsimd("gens")
    assert told.code == 0
    row = next(line.split() for line in told.out.splitlines() if line.split()[:1] == [gen])
    version, opcodes, dtypes, operators, sbuf = COUNTS[gen]
    assert row[1] == str(version)
    assert row[-3:] == [str(opcodes), str(dtypes), str(operators)]
    assert f"{sbuf} KiB" in " ".join(row)


def test_what_is_special(gpsimd: Callable[..., Any]) -> None:
    if len(gp.generations()) < 5:
        pytest.skip("all generations are compared")
    parts = {p.split(":")[0]: p for p in gpsimd("gens").out.split("\n\n")}
    assert "the bf16 forms" in parts["sunda"]
    assert "inst_flags" in parts["maverick"]
    assert "a rebuild for the same silicon" in " ".join(parts["mariana_plus"].split())
    assert "matmul" not in parts["mariana_plus"], "mariana says what both share"


def test_one_in_detail(gpsimd: Callable[..., Any], gen: str) -> None:
    by_name, by_option = gpsimd("gens", gen), gpsimd("--gen", gen, "gens")
    assert by_name.out == by_option.out
    version, opcodes, dtypes, operators, _ = COUNTS[gen]
    assert by_name.out.splitlines()[0].startswith(f"{gen}: NC-v{version}")
    assert f"{opcodes} opcodes, {dtypes} dtypes, {operators} ALU operators" in by_name.out
    for part in ("What it is like", "Engines", "Policies (profile reference)", "select_reduce = merge"):
        assert part in by_name.out


def test_json(gpsimd: Callable[..., Any], gen: str) -> None:
    rows = {o["name"]: o for o in gpsimd("gens", "--json").objects}
    assert set(rows) == set(gp.generations())
    version, opcodes, dtypes, operators, sbuf = COUNTS[gen]
    row = rows[gen]
    assert (row["nc_version"], row["opcodes"], row["dtypes"], row["operators"]) == (version, opcodes, dtypes, operators)
    assert row["geometry"]["sbuf_active"] == sbuf * 1024
    assert [row] == gpsimd("gens", gen, "--json").objects
