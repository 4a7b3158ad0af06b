"""The project's own golden files."""

from __future__ import annotations

import subprocess
import sys
import time
import tomllib

import pytest

import gpsimd_core as gp
from gpsimd_core.isa.leaves import PAGES, find
from gpsimd_core.vectors import builtin_files

FILES = builtin_files()


def test_there_are_three():
    assert set(FILES) == {"iss-vectors", "alu-vectors", "instruction-examples"}


def test_leaf_rows_all_pass_in_seconds():
    start = time.perf_counter()
    report = gp.check_vectors(FILES["iss-vectors"])
    assert time.perf_counter() - start < 10  # uncompiled, and a generous clock
    assert report.ok
    evidence = {name: counts["passed"] + counts["unsupported"] for name, counts in report.by_evidence().items()}
    assert evidence == {
        "driven": 895,
        "recommended": 12,
        "rule": 4,
        "disassembly": 2,
        "carried": 1,
        "assembler round trip": 0,
    }
    assert {outcome.reason for outcome in report.not_run} == {"control"}
    assert len(report.not_run) == 126


def test_what_is_unsupported_is_little_and_stands_in_families_without_a_rule():
    report = gp.check_vectors(FILES["iss-vectors"])
    driven = [outcome for outcome in report.outcomes if outcome.evidence == "driven"]
    assert len(report.unsupported) == 11
    assert len(report.unsupported) <= 0.05 * len(driven)
    for outcome in report.unsupported:
        assert not find(outcome.what.split("(")[0]).grounded
        assert outcome.reason


def test_engine_rows_all_pass():
    report = gp.check_vectors(FILES["alu-vectors"])
    assert report.ok
    assert (len(report.passed), len(report.unsupported)) == (121, 0)
    assert {name: counts["passed"] for name, counts in report.by_evidence().items()} == {
        "oracle": 3,
        "page": 15,
        "derived": 101,
        "vendor": 2,
    }


def test_every_example_of_an_instruction_passes(load):
    report = gp.check_vectors(
        FILES["instruction-examples"],
        machine_loader=lambda profile, policies: load("cayman", profile, dict(policies)),
    )
    assert (len(report.passed), len(report.outcomes)) == (22, 22)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FILES))
def test_the_compiled_functions_agree_on_every_row(name):
    plain, both = gp.check_vectors(FILES[name]), gp.check_vectors(FILES[name], compiled=True)
    assert both.ok
    assert [outcome.status for outcome in both.outcomes] == [outcome.status for outcome in plain.outcomes]


def test_the_compiled_functions_agree_on_some_rows():
    content = tomllib.loads(FILES["iss-vectors"].read_text("utf-8"))
    wanted = ("add_16", "radd_nx16", "sel_nx16", "rbmax_nx16")
    content["group"] = [group for group in content["group"] if group["id"] in wanted]
    report = gp.check_vectors(content, compiled=True)
    assert report.ok
    assert report.compiled
    assert {outcome.group for outcome in report.passed} == set(wanted)


def test_page_titles_are_those_of_the_catalogue():
    pages = tomllib.loads(FILES["iss-vectors"].read_text("utf-8"))["pages"]
    assert {tag: title for tag, title in pages.items() if tag in PAGES and PAGES[tag] != title} == {}


def test_checking_needs_no_compiler():
    code = (
        "import sys, gpsimd_core as gp\n"
        "from gpsimd_core.vectors import builtin_files\n"
        "assert gp.check_vectors(builtin_files()['iss-vectors']).ok\n"
        "assert gp.check_vectors(builtin_files()['alu-vectors']).ok\n"
        "print([name for name in ('numba', 'pluggy') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
