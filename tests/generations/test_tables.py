"""Each generation's tables against the published facts, kept here as data."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
OPCODES = tomllib.loads((DATA / "opcodes.toml").read_text(encoding="utf-8"))
SETS = tomllib.loads((DATA / "sets.toml").read_text(encoding="utf-8"))
GENERATIONS = ("sunda", "cayman", "mariana", "mariana_plus", "maverick")
FLAGS = {"Y": "maintained", "n": "deprecated", ".": "unflagged"}

every_generation = pytest.mark.parametrize("name", GENERATIONS)


def header_of(name: str) -> str:
    """The generation whose header a generation has: mariana_plus has none of its own."""
    return "mariana" if name == "mariana_plus" else name


def published_flags(name: str) -> dict[int, tuple[str, str]]:
    """Opcode to (name, flag) for what a generation declares."""
    column = OPCODES["meta"]["generations"].index(header_of(name))
    rows = {int(value, 16): row.split() for value, row in OPCODES["opcode"].items()}
    return {value: (op, flags[column]) for value, (op, flags) in rows.items() if flags[column] != "-"}


def published_engines(name: str) -> dict[int, tuple[str, ...]]:
    """Opcode to engines, first owner first, less what is not executable."""
    gone = OPCODES["not_executable"][header_of(name)]
    sequencers = ("pe", "pool", "dve", "sp") if name == "maverick" else ("pe", "act", "pool", "dve", "sp")
    engines = {}
    for owners, opcodes in OPCODES["engines"][header_of(name)].items():
        row = sequencers if owners == "SEQ" else tuple(owners.lower().split())
        engines.update({opcode: () if opcode in gone else row for opcode in opcodes})
    return engines


def published_layouts(name: str) -> dict[int, str]:
    """Opcode to structure name, where a page grounds one on this generation."""
    gen = header_of(name)
    declared = published_flags(name)
    rows = {}
    for struct, opcodes in OPCODES["struct"].items():
        if gen in OPCODES["struct_generations"].get(struct, OPCODES["meta"]["generations"]):
            rows.update({opcode: struct for opcode in opcodes if opcode in declared})
    if gen == "sunda":
        rows.update({opcode: s for s, opcodes in OPCODES["struct_sunda"].items() for opcode in opcodes})
    return rows


def published_operators(name: str) -> dict[str, set[int]]:
    """Operator set name to wire codes."""
    gen, rows = header_of(name), SETS["alu_op"]
    here = set(rows["all"])
    for since, names in (("since_cayman", GENERATIONS[1:]), ("since_mariana", GENERATIONS[2:])):
        if name in names:
            here |= set(rows[since])
    if gen == "maverick":
        here |= set(rows["only_maverick"])
    sets = {key: set(codes) for key, codes in SETS["operators"].items()}
    if gen in ("mariana", "maverick"):
        for key, codes in SETS["operators_mariana"].items():
            sets[key] |= set(codes)
    sets["int_aluop_dve"] = set(SETS["operators_maverick"]["int_aluop_dve"]) if gen == "maverick" else set()
    return {"alu_op": here} | {key: codes & here for key, codes in sets.items()}


@every_generation
def test_names_and_flags_are_the_published_ones(name, tables):
    published = {v: (op.lower(), FLAGS[flag]) for v, (op, flag) in published_flags(name).items()}
    assert {v: (e.name, e.flag) for v, e in tables(name).encodings.items()} == published


@every_generation
def test_kinds_are_the_published_ones(name, tables):
    encodings = tables(name).encodings
    declared = set(encodings)
    for kind in ("pseudo", "sentinel"):
        assert {v for v, e in encodings.items() if e.kind == kind} == set(OPCODES["kind"][kind]) & declared


@every_generation
def test_layouts_are_the_grounded_ones(name, tables):
    layouts = {v: e.layout.title for v, e in tables(name).encodings.items() if e.layout}
    assert layouts == published_layouts(name)


@every_generation
def test_instructions_are_those_of_the_grounded_layouts(name, tables):
    """An instruction whose layout is not grounded on a generation would decode bytes that no source describes."""
    t = tables(name)
    grounded = {e.name: e.layout for e in t.encodings.values() if e.layout}
    assert {n: i.layout for n, i in t.instructions.items()} == grounded


@every_generation
def test_engines_are_the_published_ones_in_order(name, tables):
    t = tables(name)
    assert {v: t.engines_of(v) for v, e in t.encodings.items() if e.kind == "real"} == published_engines(name)


@every_generation
def test_every_opcode_has_one_binding_or_a_reason(name, tables):
    t = tables(name)
    assert set(t.bindings) == {e.name for e in t.encodings.values()}
    assert len({e.name for e in t.encodings.values()}) == len(t.encodings)
    for binding in t.bindings.values():
        assert set(binding.engines) <= set(t.engines)
        assert bool(binding.engines) != bool(binding.reason)


@every_generation
def test_what_is_not_executable_has_a_reason_and_no_engine(name, tables):
    t = tables(name)
    refused = {v for v, e in t.encodings.items() if e.not_executable}
    expected = OPCODES["not_executable"][header_of(name)] + OPCODES["kind"]["pseudo"] + OPCODES["kind"]["sentinel"]
    assert refused == set(expected) & set(t.encodings)
    assert all(not t.engines_of(v) for v in refused)


@every_generation
def test_dtype_sets_are_the_published_ones(name, tables):
    sets = tables(name).sets
    for key, codes in SETS["dtype"][header_of(name)].items():
        assert {int(m) for m in sets[key]} == set(codes), key


@every_generation
def test_operator_sets_are_the_published_ones(name, tables):
    sets = tables(name).sets
    for key, codes in published_operators(name).items():
        assert {int(m) for m in sets[key]} == codes, key


@every_generation
def test_every_generation_names_the_same_sets(name, tables):
    assert set(tables(name).sets) == set(tables("cayman").sets)


@every_generation
def test_every_row_says_where_it_comes_from(name, tables):
    t = tables(name)
    rows = [t.generation, *t.encodings.values(), *t.named.values(), *t.engines.values(), *t.bindings.values()]
    for row in rows:
        assert row.evidence.confidence
        assert row.evidence.source


COUNTS = [  # generation, opcodes, dtypes, operators, arithmetic operators, general arithmetic operators
    pytest.param("sunda", 145, 16, 33, 24, 17, id="sunda"),
    pytest.param("cayman", 150, 16, 60, 26, 17, id="cayman"),
    pytest.param("mariana", 159, 24, 64, 30, 21, id="mariana"),
    pytest.param("mariana_plus", 159, 24, 64, 30, 21, id="mariana_plus"),
    pytest.param("maverick", 165, 30, 65, 30, 21, id="maverick"),
]


@pytest.mark.parametrize(("name", "opcodes", "dtypes", "operators", "arith", "general"), COUNTS)
def test_counts(name, opcodes, dtypes, operators, arith, general, tables):
    t = tables(name)
    sets = ("dtype", "alu_op", "arith", "general_arith")
    assert (len(t.encodings), *(len(t.sets[s]) for s in sets)) == (opcodes, dtypes, operators, arith, general)


@pytest.mark.parametrize("step", OPCODES["steps"])
def test_steps_between_generations(step, tables):
    before, _, after = step.partition("_to_")
    old, new = set(tables(before).encodings), set(tables(after).encodings)
    assert (new - old, old - new) == (set(OPCODES["steps"][step]["added"]), set(OPCODES["steps"][step]["removed"]))


def test_no_opcode_changes_its_name_or_kind_between_generations(tables):
    seen = {}
    for name in GENERATIONS:
        for value, encoding in tables(name).encodings.items():
            assert seen.setdefault(value, (encoding.name, encoding.kind)) == (encoding.name, encoding.kind)
    assert len(seen) == 172


def test_a_binding_of_several_engines_has_the_grade_of_its_weakest(tables):
    evidence = tables("cayman").bindings["tensor_reduce_arith_op"].evidence
    assert evidence.confidence == "MED/INFERRED"
    assert evidence.note.startswith("dve HIGH/OBSERVED, pool MED/INFERRED; ")
    assert tables("cayman").bindings["copy"].evidence.note == ""


def test_a_lost_reading_of_the_plain_gate_stays_on_record(tables):
    for name, beaten in (("mariana", "FP4_EXP2"), ("maverick", "CPTC1 to CPTC7")):
        (reading,) = tables(name).named["plain"].evidence.readings
        assert beaten in reading.beaten[0]
