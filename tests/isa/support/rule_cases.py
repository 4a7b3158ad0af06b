"""What a row of a rule table is, and how it is judged: one record that just passes, one that breaks a rule alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from attrs import frozen
from legal_records import EVERY, Fields, legal, record

import gpsimd_core as gp

PSUMS = EVERY[:4]
SINCE_MARIANA = EVERY[2:]
PSUM, REGISTER, INDIRECT = 0x2000000, 0x80000000, 0x20000000
STRIDE = {"maverick": 0x100000}
ACTIVE = {"sunda": 0x30000, "cayman": 0x38000, "mariana": 0x40000, "mariana_plus": 0x40000, "maverick": 0x80000}


def sbuf(partition: int, offset: int = 0) -> Any:
    """A flat SBUF address, by generation."""
    return lambda gen: partition * STRIDE.get(gen, 0x40000) + offset


def psum(partition: int, offset: int = 0) -> int:
    """A flat PSUM address."""
    return PSUM + partition * 0x8000 + offset


@frozen
class Row:
    """A rule of an instruction, both ways."""

    name: str
    number: int
    rule: str
    passes: Fields
    breaks: Fields
    gens: tuple[str, ...] = EVERY
    start: int = 0
    """Which legal record both start from."""


def rows(name: str, *given: tuple[Any, ...]) -> list[Row]:
    """Rows of one instruction: (number, rule, passes, breaks[, generations[, which legal record]])."""
    return [Row(name, *row) for row in given]


def parameters(table: Iterable[Row]) -> list[Any]:
    """One parameter for each instruction and generation: its rows. mariana_plus has the tables of mariana."""
    by_name: dict[str, list[Row]] = {}
    for row in table:
        by_name.setdefault(row.name, []).append(row)
    return [
        pytest.param(gen, mine, id=f"{gen}-{name}")
        for name, given in by_name.items()
        for gen in EVERY
        if gen != "mariana_plus" and (mine := [row for row in given if gen in row.gens])
    ]


def judge(machine: gp.Machine, row: Row) -> None:
    """The passing record has no violation; the breaking one has that of the row and, in PSUM, that no engine takes it."""
    gen = machine.generation.name
    base = legal(row.name, gen)[row.start]
    good, bad = (
        record(machine, row.name, base, {k: v(gen) if callable(v) else v for k, v in change.items()}).tobytes()
        for change in (row.passes, row.breaks)
    )
    report = machine.validate(good)
    assert report.ok, f"{row} passes, yet: {report}"
    found = [(v.number, v.rule) for v in machine.validate(bad).violations if v.rule != "instruction_engine_check"]
    assert found == [(row.number, row.rule)], f"{row} breaks one rule"
