"""`gpsimd dtypes`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def test_the_table(gpsimd: Callable[..., Any], gen: str) -> None:
    told = gpsimd("dtypes", "--gen", gen)
    assert told.code == 0
    count = {"sunda": 16, "cayman": 16, "mariana": 24, "mariana_plus": 24, "maverick": 30}[gen]
    rows = [line.split() for line in told.out.splitlines() if line.startswith("0x")]
    assert len(rows) == count
    assert f"{count} dtypes of {gen}" in told.out
    row = next(r for r in rows if r[0] == "0x06")
    assert row[1:6] == ["BFLOAT16", "bf16", "16", "s1e8m7", "yes"]
    assert "plain" in row


def test_the_flavour_of_code_0xe(gpsimd: Callable[..., Any], gen: str) -> None:
    named = {o["code"]: o for o in gpsimd("dtypes", "--gen", gen, "--json").objects}
    assert named[0xE]["name"] == ("fp8_e4m3fn" if gen == "maverick" else "fp8_e4m3")
    other = gpsimd("dtypes", "--gen", gen, "--policy", "fp8_exp4=ocp", "--json").objects
    assert {o["code"]: o for o in other}[0xE]["format"] == "fp8_e4m3fn"


@pytest.mark.parametrize("code", [0x11, 0x14, 0x19])
def test_codes_without_values_say_what_is_missing(gpsimd: Callable[..., Any], load: Any, code: int) -> None:
    load("maverick")
    row = {o["code"]: o for o in gpsimd("dtypes", "--gen", "maverick", "--json").objects}[code]
    assert not row["readable"]
    assert "not published" in row["missing"]
