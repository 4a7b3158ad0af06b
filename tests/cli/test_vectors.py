"""`gpsimd vectors`: what a user sees, and the exit codes."""

from __future__ import annotations

import json
import tomllib

import pytest

from gpsimd_core.cli import main

GOOD = """schema = 2
[pages]
B01 = "ISA Batch 01"
[[group]]
id = "add"
leaf = "add_16_16_16"
family = "int-alu"
inputs = ["a:16", "b:16"]
outputs = ["r:16"]
pages = ["B01"]
evidence = "driven"
model_checked = true
rows = [{ i = ["0001", "0002"], o = ["0003"] }]
"""
UNSUPPORTED = """
[[group]]
id = "packm"
leaf = "packm_16_48"
family = "pack"
inputs = ["acc:48"]
outputs = ["r:16"]
pages = ["B01"]
evidence = "rule"
model_checked = false
rows = [{ i = ["000000000000"], o = ["0000"] }]
"""


@pytest.fixture
def vectors(capsys):
    def run(*args):
        code = main(["vectors", *args])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "v.toml"
        path.write_text(text, "utf-8")
        return str(path)

    return write


def test_rows_that_pass(file, vectors):
    path = file(GOOD + UNSUPPORTED)
    code, out, err = vectors("check", path)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"{'add':28} {'driven':20} 1 passed",
        f"{'packm':28} {'rule':20} 1 unsupported",
        "unsupported: packm row 1 [rule] packm_16_48(acc=000000000000)",
        "    the bit position of the middle and of the high slice, and the name of packh",
        f"{path}: 1 passed, 0 failed, 1 unsupported, 0 not run",
    ]


def test_a_row_that_fails_is_exit_1_with_both_bits(file, vectors):
    code, out, err = vectors("check", file(GOOD.replace('"0003"', '"0004"')))
    assert (code, err) == (1, "")
    assert "failed: add row 1 [driven] add_16_16_16(a=0001, b=0002)\n    r: expected 0004, found 0003\n" in out


def test_both_twins(file, vectors):
    path = file(GOOD.replace('"0003"', '"0004"'))
    code, out, _ = vectors("check", path, "--compiled")
    assert code == 1
    assert "found 0003 (uncompiled)" in out
    assert "found 0003 (compiled)" in out
    assert out.endswith("1 failed, 0 unsupported, 0 not run, every row plain and compiled\n")


def test_json_lines(file, vectors):
    path = file(GOOD.replace('"0003"', '"0004"'))
    code, out, _ = vectors("check", path, "--json")
    summary, group, row = (json.loads(line) for line in out.splitlines())
    assert code == 1
    assert (summary["failed"], summary["passed"], summary["not_run"], summary["ok"]) == (1, 0, 0, False)
    assert group == {
        "kind": "group",
        "group": "add",
        "evidence": "driven",
        "passed": 0,
        "failed": 1,
        "unsupported": 0,
        "not run": 0,
    }
    assert row["differences"] == [{"name": "r", "expected": "0004", "found": "0003", "how": ""}]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("iss-vectors", "903 passed, 0 failed, 11 unsupported, 126 not run"),
        ("alu-vectors", "121 passed, 0 failed, 0 unsupported, 0 not run"),
    ],
)
def test_the_projects_own_files_go_by_their_names(name, rows, vectors):
    code, out, _ = vectors("check", name)
    assert code == 0
    assert out.splitlines()[-1].endswith(rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("rows", "row"), "group add: unknown key 'row'"),
        (GOOD.replace('"a:16"', '"a:word"'), "unknown type 'word'"),
        (GOOD.replace('["0001"', '["001"'), "group add, row 1: column a is '001'; 16 bits take exactly 4"),
        (GOOD.replace("schema = 2", "schema = 3"), "schema is 3; allowed: 2"),
        ("schema = 2\n[[group", "not TOML"),
    ],
)
def test_a_file_that_breaks_the_format_is_exit_3(text, message, file, vectors):
    code, out, err = vectors("check", file(text))
    assert (code, out) == (3, "")
    assert message in err
    assert "Traceback" not in err


def test_no_such_file(vectors):
    code, _, err = vectors("check", "absent.toml")
    assert code == 3
    assert "absent.toml: No such file or directory" in err


def test_no_file_named(vectors):
    assert vectors("check")[0] == 2


def test_a_made_file_passes(tmp_path, vectors):
    path = str(tmp_path / "made.toml")
    code, out, err = vectors("make", "madd_nxf16", "-o", path, "--count", "20", "--seed", "5")
    assert (code, out) == (0, "")
    assert err.endswith("20 rows of madd_1_1_1_1_16f_16f_16f_16f_2\n")
    code, out, _ = vectors("check", path)
    assert code == 0
    assert out.splitlines()[-1].endswith("20 passed, 0 failed, 0 unsupported, 0 not run")


def test_one_row_of_given_operands_on_standard_output(vectors):
    code, out, err = vectors("make", "radd_nx16", "rep:-1", "-o", "-")
    assert (code, err) == (0, "")
    (group,) = tomllib.loads(out)["group"]
    assert group["rows"] == [{"i": [{"rep": "ffff"}], "o": ["ffffffe0"]}]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("make", "add_nx61", "-o", "-"), 2, "did you mean add_nx16"),
        (("make", "add_nx16", "1", "-o", "-"), 2, "b is missing"),
        (("make", "add_nx16", "1", "2", "--count", "3", "-o", "-"), 2, "--count and --seed are for generated operands"),
        (("make", "add_nx16", "--count", "0", "-o", "-"), 2, "count is 0"),
        (("make", "packh", "-o", "-"), 5, "leaf packh is not supported"),
        (("make", "add_nx16", "-o", "/nowhere/x.toml"), 3, "/nowhere/x.toml: No such file"),
        (("make", "add_nx16"), 2, "'-o'"),
    ],
)
def test_bad_input(args, code, message, vectors):
    found, out, err = vectors(*args)
    assert (found, out) == (code, "")
    assert message in err
