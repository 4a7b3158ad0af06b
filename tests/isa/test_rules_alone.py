"""Every rule of every instruction is the only violation of some record, one field away from a legal one.

What cannot be broken alone on a generation stands with its reason in the library's own table.
"""

from __future__ import annotations

import pytest
from legal_records import EVERY, instructions

import gpsimd_core as gp
from gpsimd_core.testing.library import never_alone, records
from gpsimd_core.testing.mutations import rules_alone


def check(machine: gp.Machine) -> None:
    missing, stray = [], []
    excused = never_alone(machine)
    for name in instructions(machine):
        alone = rules_alone(machine, name, records(machine, name))
        for bound in machine.books[name].rules:
            rule = bound.rule.name
            if bound.warning or bound.rule.open or rule == "header[opcode]":
                continue
            expected = (name, rule) not in excused and ("*", rule) not in excused
            if expected != (rule in alone):
                (missing if expected else stray).append(f"{name}: {rule}")
    assert missing == []
    assert stray == [], "listed as never alone, and yet found"


@pytest.mark.parametrize("gen", EVERY)
def test_each_rule_is_the_only_violation_of_some_record(load, gen):
    check(load(gen))
