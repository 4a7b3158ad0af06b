"""Rows that state a wrong result fail, with the bits on both sides; nothing else about the file changes."""

from __future__ import annotations

import pytest

import gpsimd_core as gp
from gpsimd_core.errors import PluginTrouble
from gpsimd_core.vectors import builtin_files


def difference(report):
    (outcome,) = report.failed
    return outcome, outcome.differences


def test_a_wrong_number(leaves):
    leaves["group"][0]["rows"][0]["o"] = ["7fff"]
    report = gp.check_vectors(leaves)
    outcome, (found,) = difference(report)
    assert not report.ok
    assert (outcome.group, outcome.row, outcome.evidence) == ("add", 1, "driven")
    assert outcome.what == "add_16_16_16(a=7fff, b=0001)"
    assert (found.name, found.expected, found.found) == ("r", "7fff", "8000")
    assert len(report.passed) == 2


def test_a_wrong_number_fails_both_twins(leaves):
    leaves["group"] = leaves["group"][:1]
    leaves["group"][0]["rows"][1]["o"] = ["0000"]
    _, found = difference(gp.check_vectors(leaves, compiled=True))
    assert [(one.how, one.found) for one in found] == [("uncompiled", "ffff"), ("compiled", "ffff")]


def group(**changes):
    base = {"id": "g", "pages": ["B01"], "evidence": "rule", "model_checked": False}
    return {"schema": 2, "pages": {"B01": "ISA Batch 01"}, "group": [base | changes]}


WRONG = {
    "flag": (
        group(
            leaf="add_1_1_1_16f_16f_16f_2",
            family="fp-arith",
            inputs=["a:f16", "b:f16", "mode:3"],
            outputs=["r:f16"],
            rows=[{"i": ["7c00", "fc00", "0"], "o": ["7e00"], "f": {"invalid": 0}}],
        ),
        ("invalid", "0", "1"),
    ),
    "bool": (
        group(
            leaf="olt_1_4_32f_32f",
            family="compare",
            inputs=["a:f32", "b:f32"],
            outputs=["pred:bool"],
            rows=[{"i": ["3f800000", "40000000"], "o": [False]}],
        ),
        ("pred", "false", "true"),
    ),
    "lanes": (
        group(
            leaf="rbmax_nx16_64_512_512",
            family="reduce",
            inputs=["v:32x16"],
            outputs=["winners:lanes"],
            rows=[{"i": [{"at": {"3": "0007"}, "fill": "0000"}], "o": [{"lanes": [3, 4]}]}],
        ),
        ("winners", "lanes 3 4", "lanes 3"),
    ),
    "vector": (
        group(
            leaf="rep_n_2x32_512_512_32",
            family="lane-move",
            inputs=["v:16x32", "k:32"],
            outputs=["r:16x32"],
            rows=[
                {
                    "i": [{"start": "00000000", "step": "00000001"}, "00000003"],
                    "o": [{"rep": "00000004"}],
                }
            ],
        ),
        ("r", "00000004 x 16", "00000003 x 16"),
    ),
    "bytes": (
        group(
            leaf="not_512_512",
            family="int-alu",
            inputs=["a:bytes"],
            outputs=["r:bytes"],
            rows=[{"i": [{"list": ["f0"]}], "o": [{"list": ["0f", "00"]}]}],
        ),
        ("r", "0f 00", "0f ff"),
    ),
    "lane": (
        group(
            kind="lane",
            leaf="shfl_nx16_512_512_512",
            family="select",
            inputs=["ctrl:16"],
            outputs=["r:16"],
            fixed={"a": {"start": "0100", "step": "0001"}},
            rows=[{"i": ["0021"], "o": ["0121"]}],
        ),
        ("r", "0121", "0101"),
    ),
    "steps": (
        group(
            kind="steps",
            leaf="rbmax_16",
            family="reduce",
            inputs=["v:list16"],
            outputs=["r:16", "winners:lanes"],
            rows=[{"i": [{"list": ["0003", "0009", "0009"]}], "o": ["0009", {"lanes": [1]}]}],
        ),
        ("winners", "lanes 1", "lanes 1 2"),
    ),
    "merge": (
        group(
            kind="merge",
            leaf="add_16_16_16",
            family="int-alu",
            inputs=["a:2x16", "b:2x16", "old:2x16", "keep:lanes"],
            outputs=["r:2x16"],
            rows=[
                {
                    "i": [{"rep": "0001"}, {"rep": "0001"}, {"rep": "00aa"}, {"lanes": [0]}],
                    "o": [{"list": ["0002", "0002"]}],
                }
            ],
        ),
        ("r", "0002 0002", "0002 00aa"),
    ),
    "repeat": (
        group(
            kind="repeat",
            leaf="mula_24_24_8_8",
            family="mac",
            inputs=["acc:24", "a:8", "b:8", "count:32"],
            outputs=["r:24"],
            rows=[{"i": ["000000", "02", "03", "00000004"], "o": ["000006"]}],
        ),
        ("r", "000006", "000018"),
    ),
    "wide": (
        group(
            leaf="mula_96_96_32_32",
            family="mac",
            inputs=["acc:96", "a:32", "b:32"],
            outputs=["r:96"],
            rows=[{"i": ["0" * 24, "ffffffff", "00000001"], "o": ["0" * 24]}],
        ),
        ("r", "0" * 24, "f" * 24),
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_result_of_every_kind_of_column_and_row(kind):
    content, expected = WRONG[kind]
    _, (found,) = difference(gp.check_vectors(content))
    assert (found.name, found.expected, found.found) == expected


def test_what_is_unpinned_or_not_named_is_not_compared():
    content, _ = WRONG["steps"]
    content["group"][0]["unpinned"] = ["winners"]
    assert gp.check_vectors(content).ok


def test_a_predicate_field_with_some_bits_set_is_neither_true_nor_false():
    content = group(
        leaf="andb_64_64_64",
        family="predicate",
        inputs=["a:64", "b:64"],
        outputs=["r:bool"],
        rows=[{"i": ["f" * 16, "0" * 15 + "1"], "o": [True]}],
    )
    _, (found,) = difference(gp.check_vectors(content))
    assert found.found == "field 0x1, neither all nor none"


@pytest.mark.parametrize(
    ("change", "expected", "found"),
    [
        ({"expected": ["3f81"]}, "3f81", "3f82"),
        ({"mode": "RTZ"}, "3f82", "3f81"),
        ({"op": "ADD", "inputs": ["3f800000", "3f800000"], "expected": ["3f80"]}, "3f80", "4000"),
    ],
)
def test_wrong_engine_rows(change, expected, found, vectors):
    vectors["vector"][0] |= change
    outcome, (one,) = difference(gp.check_vectors(vectors))
    assert (one.expected, one.found) == (expected, found)
    assert outcome.evidence == "derived"


def test_a_wrong_leaf_row_among_engine_rows(vectors):
    row = vectors["vector"][0]
    for key in ("from", "to"):
        del row[key]
    row |= {"op": "add_1_1_1_16f_16f_16f_2", "mode": "RPI", "inputs": ["6400", "3800"], "expected": ["6400"]}
    row["flags"] = {"inexact": 1}
    _, (one,) = difference(gp.check_vectors(vectors))
    assert (one.name, one.expected, one.found) == ("r", "6400", "6401")


def test_a_wrong_instruction(examples, load):
    rows = examples["example"][0]["step"][0]["expected"]["dst"]["rows"]
    rows[0]["row"] = ["3f800000", "00000000"]
    report = gp.check_vectors(
        examples, machine_loader=lambda profile, policies: load("cayman", profile, dict(policies))
    )
    _, found = difference(report)
    assert [(one.name, one.expected, one.found) for one in found] == [
        ("step 1 dst[0,1]", "00000000", "ff7fffff"),
        ("step 1 dst[1,1]", "00000000", "ff7fffff"),
    ]


def test_a_right_instruction_passes_and_needs_its_policy(examples, load):
    def loader(profile, policies):
        return load("cayman", profile, dict(policies))

    assert gp.check_vectors(examples, machine_loader=loader).ok
    examples["example"][0]["policies"] = {"select_reduce": "merge"}
    assert not gp.check_vectors(examples, machine_loader=loader).ok


def test_without_a_generation_instructions_are_not_run(examples):
    def nothing(profile, policies):
        raise PluginTrouble("none")

    report = gp.check_vectors(examples, machine_loader=nothing)
    assert [(outcome.status, outcome.reason) for outcome in report.outcomes] == [("not run", "none")]


def test_an_unpublished_flag_is_unsupported_and_not_failed():
    content = group(
        leaf="recip0_1_1_16f_16f",
        family="seed",
        inputs=["a:f16"],
        outputs=["flag0:1", "r:f16"],
        rows=[{"i": ["3c00"], "o": ["1", "3bf8"]}],
    )
    (outcome,) = gp.check_vectors(content).unsupported
    assert outcome.reason == "the meaning of flag0 was not published"
    content["group"][0]["unpinned"] = ["flag0"]
    assert gp.check_vectors(content).ok


def test_operands_without_a_value_are_unsupported():
    content = group(
        leaf="sqrt0_16f_16f",
        family="seed",
        inputs=["a:f16"],
        outputs=["r:f16"],
        rows=[{"i": ["0000"], "o": ["0000"]}],
    )
    (outcome,) = gp.check_vectors(content).unsupported
    assert outcome.reason == "only positive finite numbers have published values"


def test_a_report_as_plain_data(leaves):
    leaves["group"][0]["rows"][0]["o"] = ["7fff"]
    summary, *rest = gp.check_vectors(leaves).lines()
    assert (summary["passed"], summary["failed"], summary["ok"]) == (2, 1, False)
    assert summary["evidence"]["rule"] == {"passed": 1, "failed": 0, "unsupported": 0, "not run": 0}
    assert [line["kind"] for line in rest] == ["group", "group", "row"]
    assert list(rest[-1]["differences"]) == [{"name": "r", "expected": "7fff", "found": "8000", "how": ""}]


def test_the_files_themselves_fail_when_a_digit_is_changed(tmp_path):
    text = builtin_files()["iss-vectors"].read_text("utf-8")
    path = tmp_path / "changed.toml"
    path.write_text(text.replace('o = ["000fffe0"]', 'o = ["000fffe1"]'), "utf-8")
    report = gp.check_vectors(path)
    assert [(outcome.group, outcome.row) for outcome in report.failed] == [("radd_nx16", 2)]


def test_a_step_that_breaks_a_rule_fails_with_the_rule(examples, load):
    examples["example"][0]["step"][0]["fields"]["op1"] = "ADD"
    report = gp.check_vectors(
        examples, machine_loader=lambda profile, policies: load("cayman", profile, dict(policies))
    )
    _, (found,) = difference(report)
    assert (found.name, found.expected) == ("validation", "no violation")
    assert "op1" in found.found
