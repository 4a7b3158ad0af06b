"""What users of the public tools run into: refused with words that help, or legal and remarked on by a lint.

The cases are data, `data/misuse.toml`. Each starts from a legal record, which draws no lint of its own there.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from family_model import Load

import gpsimd_core as gp
from gpsimd_core.lints import LINTS, Finding, lint
from gpsimd_core.testing.library import legal, record

DATA = tomllib.loads((Path(__file__).parent / "data" / "misuse.toml").read_text())["misuse"]


def cases(kind: str) -> list[Any]:
    """The cases of one kind, with what their diagnostic says."""
    found = []
    for row in DATA:
        for case in row.get(kind, ()):
            told = " ".join(f"{k}={v}" for k, v in case.get("change", {}).items())
            name = case.get("name") or f"0x{case['opcode']:02X}"
            found.append(pytest.param(case, row["says"], id=f"{row['code'].split(',')[0]}-{name}-{told}"[:90]))
    return found


def value(machine: gp.Machine, name: str, field: str, given: Any) -> Any:
    """A change as a record field: a member's number, a contiguous pattern, or the number itself."""
    layout = machine.layouts[machine.opcode_of(name)]
    if isinstance(given, str):
        return int(layout.leaves[field].code[given])
    if isinstance(given, list):
        num = tuple(given[1:])
        return {"addr": given[0], "step": tuple(math.prod(num[:d]) for d in range(len(num))), "num": num}
    return given


def packed(machine: gp.Machine, name: str, case: dict[str, Any], change: dict[str, Any]) -> bytes:
    fields = legal(name, machine.generation.name)[case.get("record", 0)]
    fields = fields | {k: value(machine, name, k, v) for k, v in change.items()}
    if name == "memset":
        fields["dst_element_count"] = math.prod(fields["dst"]["num"])
    raw = record(machine, name, fields)
    if "indices" in case:  # the pattern's bytes as those of an index list: data address and number of indices
        layout = machine.layouts[machine.opcode_of(name)]
        data = fields["src"]["addr"] & 0x1FFFFFFF
        layout.write(raw, "src", {"index": fields["src"]["addr"], "data": data, "count": case["indices"]})
    return raw.tobytes()


def program_of(load: Load, case: dict[str, Any], change: dict[str, Any]) -> tuple[gp.Machine, gp.Program]:
    machine = load(case.get("generation", "cayman"), policies=case.get("policies"))
    if "opcode" in case:
        return machine, machine.decode(bytes([case["opcode"], 16]) + bytes(62))
    before = packed(machine, case["after"], {}, {}) if "after" in case else b""
    program = machine.decode(before + packed(machine, case["name"], case, change))
    return machine, program.on(case["stream"]) if "stream" in case else program


@pytest.mark.parametrize(("case", "says"), cases("refused"))
def test_misuse_is_refused_by_one_rule_that_says_what_to_change(load: Load, case: dict[str, Any], says: str) -> None:
    machine, program = program_of(load, case, case.get("change", {}))
    found = machine.validate(program).violations
    assert [v.rule for v in found] == [case["rule"]], says
    assert found[0].found
    assert found[0].allowed
    if case.get("change") and "instruction_engine_check" not in case["rule"]:
        concerned = {
            field.partition(".")[0] for field in machine.books[case["name"]].rules[rule_at(machine, case)].rule.fields
        }
        assert concerned & set(case["change"]), f"{case['rule']} reads {concerned}"
    with pytest.raises(gp.Violated):
        gp.NeuronCore(machine).run(program)


def rule_at(machine: gp.Machine, case: dict[str, Any]) -> int:
    return [b.rule.name for b in machine.books[case["name"]].rules].index(case["rule"])


@pytest.mark.parametrize("case", [c.values[0] for c in cases("refused") if "name" in c.values[0]], ids=str)
def test_without_the_change_it_is_legal(load: Load, case: dict[str, Any]) -> None:
    machine, program = program_of(load, case | {"stream": None} if "stream" in case else case, {})
    assert machine.validate(program).ok


@pytest.mark.parametrize(("case", "says"), cases("lint"))
def test_what_is_legal_and_loses_something_is_remarked_on(load: Load, case: dict[str, Any], says: str) -> None:
    machine, program = program_of(load, case, case["change"])
    rule = next(one for one in LINTS if one.name == case["lint"])
    assert machine.validate(program).ok != rule.refused, says
    found = [f for f in lint(machine, program) if f.lint == case["lint"]]
    assert [f.index for f in found] == [len(program) - 1], says
    assert found[0].reason
    assert found[0].cure
    assert found[0].name == case["name"]


def plain(load: Load, case: dict[str, Any]) -> tuple[Finding, ...]:
    bare = {k: v for k, v in case.items() if k in ("name", "generation", "after")}
    return lint(*program_of(load, bare, {}))


@pytest.mark.parametrize("case", [c.values[0] for c in cases("lint")], ids=str)
def test_the_record_that_it_started_from_draws_no_such_lint(load: Load, case: dict[str, Any]) -> None:
    if case["lint"] == "cumulative_operator":
        case = case | {
            "name": "tensor_scalar_cache_reduce"
        }  # the running form that the library starts from has op0 ADD
    assert case["lint"] not in {f.lint for f in plain(load, case)}


def test_every_lint_has_a_case_and_names_its_sources() -> None:
    assert {c.values[0]["lint"] for c in cases("lint")} == {one.name for one in LINTS}
    assert all(one.sources and one.reason and one.cure for one in LINTS)
    assert len({one.name for one in LINTS}) == len(LINTS)


def test_a_refused_record_draws_no_lint_but_those_that_speak_of_it(load: Load) -> None:
    machine = load("cayman")
    wide = packed(machine, "tensor_reduce_arith_op", {}, {"in_dtype": "INT32"})
    bad = packed(machine, "tensor_reduce_arith_op", {}, {"in_dtype": "INT32", "negated": 2})
    assert [f.index for f in lint(machine, bad + wide)] == [1]


def test_an_in_place_instruction_is_no_overlap(load: Load) -> None:
    machine = load("cayman")
    assert not lint(machine, packed(machine, "copy", {}, {"dst": [0x100, 8, 4, 2, 1]}))
    apart = packed(machine, "copy", {}, {"dst": [0x180, 8, 4, 2, 1], "num_active_channels": 32})
    assert {f.lint for f in lint(machine, apart)} == {"overlap"}
    assert not lint(machine, packed(machine, "copy", {}, {"dst": [0x200, 8, 4, 2, 1]}))


def test_the_lints_of_a_policy_go_with_it(load: Load) -> None:
    """imm0 is read under one policy, integers stay whole under the other."""
    select = load("cayman", policies={"select_reduce": "select"})
    assert not lint(select, packed(select, "select_reduce", {}, {"imm0": 0x3F800000}))
    widening = load("cayman", policies={"cross_lane_int": "widening"})
    assert not lint(widening, packed(widening, "cross_lane_reduce_arith", {}, {"in_dtype": "INT32"}))


def test_validate_lint_on_the_command_line(load: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lints are told when asked for, and leave the exit code alone."""
    from gpsimd_core.cli import main

    file = tmp_path / "p.bin"
    file.write_bytes(packed(load("cayman"), "tensor_reduce_arith_op", {}, {"in_dtype": "INT32"}))
    assert main(["validate", "--gen", "cayman", str(file)]) == 0
    assert "integers_through_fp32" not in capsys.readouterr().out
    assert main(["validate", "--gen", "cayman", "--lint", str(file)]) == 0
    told = "lint: instruction 0 (byte 0x0), tensor_reduce_arith_op: integers_through_fp32: 32-bit integers"
    assert told in capsys.readouterr().out
    assert main(["validate", "--gen", "cayman", "--json", "--lint", str(file)]) == 0
    assert '"lint": "integers_through_fp32"' in capsys.readouterr().out
