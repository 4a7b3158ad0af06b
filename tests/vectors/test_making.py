"""Files of our own making read back and pass, with boundary patterns, and the same ones for the same seed."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.isa.leaves import catalogue
from gpsimd_core.vectors import to_toml
from gpsimd_core.vectors.making import boundary_patterns

GROUNDED = [one.short for one in catalogue().values() if one.grounded]


@pytest.mark.parametrize("short", GROUNDED[::9])
def test_round_trip_through_a_file(short, tmp_path):
    content = gp.make_vectors(short, count=12, seed=3)
    path = tmp_path / "made.toml"
    path.write_text(to_toml(content), "utf-8")
    assert tomllib.loads(path.read_text("utf-8")) == content
    report = gp.check_vectors(path)
    assert report.ok
    assert len(report.passed) == 12


@pytest.mark.slow
@pytest.mark.parametrize("short", GROUNDED)
def test_every_leaf_round_trips(short):
    report = gp.check_vectors(gp.make_vectors(short, count=5))
    assert report.ok
    assert len(report.passed) == 5


def test_a_seed_names_its_operands():
    one, again, other = (gp.make_vectors("add_nx16", count=9, seed=seed) for seed in (1, 1, 2))
    assert one == again != other


def test_boundary_patterns_come_first():
    rows = gp.make_vectors("max_nx16", count=81)["group"][0]["rows"]
    pairs = {tuple(row["i"]) for row in rows}
    edges = [f"{x:04x}" for x in boundary_patterns(16)]
    assert pairs == {(a, b) for a in edges for b in edges}


def test_boundary_patterns_hold_every_class_of_number():
    for width, dtype in ((16, np.float16), (32, np.float32)):
        numbers = np.array(boundary_patterns(width, floating=True)).astype(f"u{width // 8}").view(dtype)
        tiny = np.finfo(dtype).tiny
        assert {True, False} == set(np.signbit(numbers))
        for truth in (
            numbers == 0,
            (numbers > 0) & (numbers < tiny),
            numbers == tiny,
            numbers == np.finfo(dtype).max,
            np.isinf(numbers),
            np.isnan(numbers),
        ):
            assert truth.any()


def test_given_operands_by_order_and_by_name():
    content = gp.make_vectors("add_nxf16", [(0x3C00, 0x1000, 2), {"a": np.float16(1), "b": np.float16(2)}])
    assert content["group"][0]["rows"] == [
        {"i": ["3c00", "1000", "2"], "o": ["1", "0", "0", "3c01"]},
        {"i": ["3c00", "4000", "0"], "o": ["0", "0", "0", "4200"]},
    ]
    assert content["group"][0]["evidence"] == "rule"
    assert gp.check_vectors(content).ok


def test_registers_wide_values_and_predicates():
    keep = np.arange(32) < 2
    content = gp.make_vectors("radd_nx16_t", [(np.full(32, 7), keep)])
    assert content["group"][0]["rows"] == [{"i": [{"rep": "0007"}, "000000000000000f"], "o": ["0000000e"]}]
    content = gp.make_vectors("mula_n_2x32", [(-1, 2, 3)])
    assert content["group"][0]["rows"] == [{"i": ["f" * 24, "00000002", "00000003"], "o": [f"{5:024x}"]}]


def test_operands_without_a_value_are_left_out_of_generated_rows_and_refused_when_given():
    rows = gp.make_vectors("sqrt0_nxf16", count=20)["group"][0]["rows"]
    assert all(0 < int(row["i"][0], 16) < 0x7C00 for row in rows)
    with pytest.raises(gp.Unsupported, match="only positive finite"):
        gp.make_vectors("sqrt0_nxf16", [(0,)])


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: gp.make_vectors("packh"), gp.Unsupported, "bit position"),
        (lambda: gp.make_vectors("add_nx61"), gp.BadValue, "did you mean add_nx16"),
        (lambda: gp.make_vectors("add_nx16", count=0), gp.BadValue, "count is 0"),
        (lambda: gp.make_vectors("add_nx16", [(1,)]), gp.BadValue, "b is missing"),
        (lambda: gp.make_vectors("add_nx16", [(1, 2, 3)]), gp.BadValue, "takes 2 operands, got 3"),
        (lambda: gp.make_vectors("add_nx16", [(1, 1 << 16)]), gp.BadValue, "does not fit 16 bits"),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
