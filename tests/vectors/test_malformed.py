"""Whatever the format does not name makes the file unreadable: exit 3, with the place, and nothing is run."""

from __future__ import annotations

import pytest

import gpsimd_core as gp


def refused(content, message):
    with pytest.raises(gp.BadInput, match=message) as caught:
        gp.check_vectors(content)
    assert caught.value.exit_code == 3


# Files


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema = 2\n[pages\n", r"broken.toml: not TOML: .*line 2"),
        ("", r"broken.toml: schema is None; allowed: 2"),
        ("schema = 1\n", r"schema is 1; allowed: 2"),
        ('schema = "2"\n', r"schema is '2'; allowed: 2"),
        ("schema = 2\n", r"no \[\[group\]\], \[\[encoding\]\], \[\[vector\]\] or \[\[example\]\]"),
        ("schema = 2\npages = {}\ngroup = 3\n", r"group is 3; it must be a list"),
        ("schema = 2\n[[group]]\nid = 'x'\n", r"key 'pages' is missing"),
        ("schema = 2\nextra = 1\nvector = []\n", r"unknown key 'extra'; allowed: schema, vector"),
    ],
)
def test_files(tmp_path, text, message):
    path = tmp_path / "broken.toml"
    path.write_text(text, "utf-8")
    refused(path, message)


def test_no_file_and_no_text(tmp_path):
    refused(tmp_path / "absent.toml", r"absent.toml: No such file")
    path = tmp_path / "binary.toml"
    path.write_bytes(b"schema = 2 \xff")
    refused(path, r"not UTF-8 text \(byte 11\)")
    refused(tmp_path, r"Is a directory")


def test_a_path_as_text_is_fine(tmp_path):
    path = tmp_path / "empty.toml"
    path.write_text("schema = 2\nvector = []\n", "utf-8")
    assert gp.check_vectors(str(path)).outcomes == ()


# Leaf groups: one change each to a file that passes


def test_the_file_that_the_changes_start_from_passes(leaves, vectors):
    assert gp.check_vectors(leaves).ok
    assert gp.check_vectors(vectors).ok


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, r"group add: unknown key 'colour'"),
        ({"pages": None}, r"group add: key 'pages' is missing"),
        ({"rows": 3}, r"rows is 3; it must be a list"),
        ({"model_checked": "yes"}, r"model_checked is 'yes'; it must be true or false"),
        ({"model_checked": 1}, r"model_checked is 1; it must be true or false"),
        ({"kind": "loop"}, r"kind is 'loop'; allowed: call, lane, steps, merge, repeat, probe"),
        ({"evidence": "guessed"}, r"evidence is 'guessed'; allowed: driven"),
        ({"pages": ["B99"]}, r"pages is 'B99'; allowed: B01, B08"),
        ({"pages": [1]}, r"pages holds 1; it must be text"),
        ({"family": "mac"}, r"row 1: family is 'mac'; add_16_16_16 belongs to int-alu"),
        ({"leaf": "{op}_16_16_17"}, r"row 1: there is no leaf 'add_16_16_17'"),
        ({"leaf": "add_16_16_16"}, r"leaf 'add_16_16_16' and the name columns \(op\) differ"),
        ({"leaf": "{oq}_16_16_16"}, r"and the name columns \(op\) differ"),
        ({"leaf": "{op}_nx16"}, r"leaf 'add_nx16' is written with its full name, 'add_16_16_16'"),
        ({"inputs": ["op:name", "a:16", "b"]}, r"column 'b': expected name:type"),
        ({"inputs": ["op:name", "a:16", "b:17"]}, r"column b:17: the argument of add_16_16_16 is b:16"),
        ({"inputs": ["op:name", "a:16", "b:word"]}, r"column 'b:word': unknown type 'word'"),
        ({"inputs": ["op:name", "a:16", "b:0x16"]}, r"unknown type '0x16'"),
        ({"inputs": ["op:name", "a:16", "b:list16"]}, r"unknown type 'list16'"),
        ({"inputs": ["op:name", "a:16", "b:f24"]}, r"f16 and f32 are the floating types"),
        ({"inputs": ["op:name", "a:16", "b:bool"]}, r"bool is for outputs only"),
        ({"inputs": ["op:name", "a:16", "c:16"]}, r"column c:16: no argument of add_16_16_16; it has a, b"),
        ({"inputs": ["op:name", "b:16", "a:16"]}, r"inputs are b, a; add_16_16_16 takes a, b in this order"),
        ({"inputs": ["op:name", "a:16", "a:16"]}, r"two columns of one name: op, a, a"),
        ({"outputs": ["q:16"]}, r"column q:16: no result of add_16_16_16; it has r"),
        ({"outputs": ["r:32"]}, r"column r:32: the result of add_16_16_16 is r:16"),
        ({"outputs": ["r:name"]}, r"name is for inputs only"),
        ({"outputs": ["r:lanes"]}, r"column r:lanes: the result of add_16_16_16 is r:16"),
        ({"unpinned": ["q"]}, r"unpinned names 'q', which is no output"),
        ({"bind": {"a": 1}}, r"argument a is given twice"),
        ({"bind": {"q": 1}}, r"bind names 'q', which is no single value that add_16_16_16 takes"),
        ({"fixed": {"b": {"rep": "0001"}}}, r"fixed names 'b', which is no vector that add_16_16_16 takes"),
        ({"kind": "merge"}, r"kind merge needs old and keep as last columns"),
        ({"kind": "repeat"}, r"kind repeat needs count as last columns"),
        ({"kind": "steps"}, r"kind steps folds one list column; add_16_16_16 is no such step"),
    ],
)
def test_heads_of_groups(change, message, leaves):
    group = leaves["group"][0] | change
    leaves["group"][0] = {key: value for key, value in group.items() if value is not None}
    refused(leaves, message)


def test_a_bound_argument_has_no_column(leaves):
    leaves["group"] = [leaves["group"][0]]
    leaves["group"][0] |= {
        "inputs": ["op:name", "a:16"],
        "bind": {"b": 1},
        "rows": [{"i": ["add", "0002"], "o": ["0003"]}],
    }
    assert gp.check_vectors(leaves).ok
    leaves["group"][0]["bind"] = {"b": 1 << 16}
    refused(leaves, r"bind: b is 65536; it must be an integer of 16 bits")
    leaves["group"][0]["bind"] = {"b": "0001"}
    refused(leaves, r"bind: b is '0001'; it must be an integer of 16 bits")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"i": ["add", "7fff", "0001"]}, r"row 1: key 'o' is missing"),
        ({"i": ["add", "7fff", "0001"], "o": ["8000"], "x": 1}, r"row 1: unknown key 'x'; allowed: i, o, f, s"),
        ({"i": ["add", "7fff"], "o": ["8000"]}, r"row 1: i has 2 items; 3 columns are named"),
        ({"i": ["add", "7fff", "0001"], "o": []}, r"row 1: o has 0 items; 1 columns are named"),
        ({"i": ["add", "7fff", "1"], "o": ["8000"]}, r"b is '1'; 16 bits take exactly 4 lower-case hex digits"),
        ({"i": ["add", "7FFF", "0001"], "o": ["8000"]}, r"a is '7FFF'; 16 bits take exactly 4 lower-case"),
        ({"i": ["add", "0x7f", "0001"], "o": ["8000"]}, r"a is '0x7f'; 16 bits take exactly 4 lower-case"),
        ({"i": ["add", 7, "0001"], "o": ["8000"]}, r"a is 7; it must be text of 4 hex digits"),
        ({"i": [1, "7fff", "0001"], "o": ["8000"]}, r"column op is 1; it must be text"),
        ({"i": ["mad", "7fff", "0001"], "o": ["8000"]}, r"there is no leaf 'mad_16_16_16'"),
        ({"i": ["add", "7fff", "0001"], "o": ["8000"], "s": "B01+B99"}, r"s is 'B99'; allowed: B01, B08"),
        ({"i": ["add", "7fff", "0001"], "o": ["8000"], "f": {"inexact": 1}}, r"f names 'inexact', which is no flag"),
        ("add", r"row 1: expected a table, found 'add'"),
    ],
)
def test_rows(row, message, leaves):
    leaves["group"][0]["rows"][0] = row
    refused(leaves, message)


FLAGGED = {
    "leaf": "add_1_1_1_16f_16f_16f_2",
    "family": "fp-arith",
    "inputs": ["a:f16", "b:f16", "mode:3"],
    "outputs": ["r:f16"],
}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"i": ["3c00", "3c00", "8"], "o": ["4000"]}, r"mode is '8', which does not fit 3 bits"),
        ({"i": ["3c00", "3c00", "0"], "o": ["4000"], "f": {"invalid": 2}}, r"f: invalid is 2; allowed: 0, 1"),
        ({"i": ["3c00", "3c00", "0"], "o": ["4000"], "f": {"invalid": True}}, r"f: invalid is True; allowed: 0, 1"),
        ({"i": ["3c00", "3c00", "0"], "o": ["4000"], "f": {"underflow": 0}}, r"f names 'underflow'"),
    ],
)
def test_flags_and_widths(row, message, leaves):
    leaves["group"][0] |= FLAGGED | {"rows": [row]}
    refused(leaves, message)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("0001", r"column v is '0001'; expected rep, list, list \+ fill, start \+ step, or at \+ fill"),
        ({"rep": "1"}, r"16 bits take exactly 4"),
        ({"rep": "0001", "fill": "0000"}, r"expected rep, list"),
        ({"list": ["0001"]}, r"the list has 1 items; 32 are needed"),
        ({"list": ["0001"] * 33}, r"the list has 33 items; 32 are needed"),
        ({"list": ["0001"] * 32, "fill": "0000"}, r"with fill fewer than 32 are needed"),
        ({"list": "0001"}, r"list is '0001'; it must be a list"),
        ({"start": "0001", "step": 1}, r"step is 1; it must be text"),
        ({"at": {"32": "0001"}, "fill": "0000"}, r"lane '32'; lanes are the decimal numbers 0 to 31"),
        ({"at": {"0x1": "0001"}, "fill": "0000"}, r"lane '0x1'"),
        ({"at": {"01": "0001"}, "fill": "0000"}, r"lane '01'"),
        ({"at": {"1": "0001"}}, r"expected rep, list"),
    ],
)
def test_vector_operands(cell, message, leaves):
    leaves["group"][1]["rows"][0]["i"][0] = cell
    refused(leaves, message)


@pytest.mark.parametrize(
    "cell",
    [
        {"lanes": [5, 0]},
        {"lanes": [0, 0]},
        {"lanes": [32]},
        {"lanes": [-1]},
        {"lanes": ["0"]},
        {"lanes": [True]},
        {"lanes": "none"},
        {"lanes": [0], "fill": 1},
        [0, 5],
    ],
)
def test_sets_of_lanes(cell, leaves):
    leaves["group"][1]["rows"][0]["i"][1] = cell
    refused(leaves, r"group fold, row 1: column keep is")


def test_a_set_of_lanes_needs_a_lane_count(leaves):
    leaves["group"][1] |= {
        "leaf": "randbn_64_64",
        "family": "predicate",
        "inputs": ["vb:lanes"],
        "outputs": ["r:1"],
        "rows": [{"i": [{"lanes": [0]}], "o": ["0"]}],
    }
    refused(leaves, r"neither a vector column nor the leaf says how many lanes there are")


def test_an_id_is_used_once(leaves):
    leaves["group"][1]["id"] = "add"
    refused(leaves, r"group add: the id is used twice")


def test_an_operand_outside_what_the_leaf_takes(leaves):
    leaves["group"][0] |= {
        "leaf": "ar_clamps",
        "family": "control",
        "inputs": ["a:32", "imm:5"],
        "outputs": ["r:32"],
        "rows": [{"i": ["00000000", "03"], "o": ["00000000"]}],
    }
    refused(leaves, r"group add, row 1: ar_clamps: imm is 3; allowed: 7 to 22")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"text": "add a1, a2, a3", "word": "80012"}], r"24 bits take exactly 6"),
        ([{"text": "ill.n", "word": "F06D"}], r"16 bits take exactly 4 lower-case"),
        ([{"text": "ill.n"}], r"key 'word' is missing"),
        ([{"text": 1, "word": "f06d"}], r"text is 1; it must be text"),
    ],
)
def test_encodings(rows, message, leaves):
    leaves["encoding"] = [{"id": "e", "pages": ["B01"], "evidence": "assembler round trip", "rows": rows}]
    refused(leaves, message)


# Engine-level rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": 1}, r"vector 1 \(group narrow, row 1\): unknown key 'colour'"),
        ({"source": None}, r"key 'source' is missing"),
        ({"op": "CONVERT"}, r"op is 'CONVERT', which is neither convert nor an ALU operator nor a leaf"),
        ({"op": "add_nx16"}, r"neither convert nor an ALU operator nor a leaf"),
        ({"op": "add_16_16_16"}, r"from does not belong to a leaf"),
        ({"from": "fp64"}, r"from is 'fp64'; allowed: int4"),
        ({"to": None}, r"key 'to' is missing; convert needs it"),
        ({"mode": "RN"}, r"mode is 'RN'; allowed: RNE, RTZ, RPI, RMI, RNA"),
        ({"policies": {"rounding": "up"}}, r"policies is 'rounding'; allowed:"),
        ({"policies": {"fp_to_int": "up"}}, r"policy fp_to_int is 'up'; allowed:"),
        ({"level": "chip"}, r"level is 'chip'; allowed: engine, format, ivp"),
        ({"origin": "driven"}, r"origin is 'driven'; allowed: oracle, page, vendor, derived"),
        ({"checked": "yes"}, r"checked is 'yes'; it must be true or false"),
        ({"inputs": ["3f818000", "3f818000"]}, r"convert takes 1 operands, found 2"),
        ({"inputs": ["3f8180"]}, r"32 bits take exactly 8"),
        ({"inputs": [1]}, r"inputs is 1, which is no value of fp32"),
        ({"inputs": [1e60]}, r"which fp32 does not reach"),
        ({"expected": [1.0]}, r"expected is 1.0, which is no value of bf16"),
        ({"expected": ["3f82", "3f82"]}, r"expected has 2 values; it holds one"),
        ({"to": "int8", "expected": [128]}, r"expected is 128; int8 holds -128 to 127"),
        ({"flags": {"inexact": 1}}, r"flags belong to leaves"),
        ({"op": "ADD", "inputs": ["3f800000"]}, r"ADD takes 2 operands, found 1"),
        (
            {"op": "ADD_INT", "inputs": ["00000000"] * 2},
            r"group narrow, row 1: ADD_INT takes 32-bit and 64-bit integers",
        ),
    ],
)
def test_engine_rows(change, message, vectors):
    row = vectors["vector"][0] | change
    vectors["vector"][0] = {key: value for key, value in row.items() if value is not None}
    refused(vectors, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": ["3c00"]}, r"takes 2 operands, found 1"),
        ({"mode": "RNA"}, r"mode of a leaf is 'RNA'; allowed: RNE, RTZ, RPI, RMI"),
        ({"flags": {"underflow": 1}}, r"flags is 'underflow'; allowed: inexact, overflow, invalid"),
        ({"flags": {"inexact": 3}}, r"flags: inexact is 3; allowed: 0, 1"),
        ({"op": "radd_nx16_32_512"}, r"is no leaf of single values with one result"),
        ({"op": "min_1_16f_16f_16f", "mode": "RTZ"}, r"takes no mode"),
    ],
)
def test_leaf_rows_among_engine_rows(change, message, vectors):
    row = {key: value for key, value in vectors["vector"][0].items() if key not in ("from", "to")}
    row |= {"op": "add_1_1_1_16f_16f_16f_2", "inputs": ["3c00", "3c00"], "expected": ["4000"]}
    vectors["vector"] = [row]
    assert gp.check_vectors(vectors).ok
    vectors["vector"] = [row | change]
    refused(vectors, message)


# Instructions


ROW = {"dtype": "fp32", "rows": [{"n": 2, "row": [1.0]}]}
BYTES = {"dtype": "uint8", "rows": [{"n": 2, "row": [1, 0]}]}
TWO = {"dtype": "fp32", "rows": [{"n": 2, "row": [1.0, 2.0]}]}


def changed(examples, path, value):
    at = examples["example"][0]
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return examples


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["colour"], 1, r"example select: unknown key 'colour'"),
        (["source"], None, r"key 'source' is missing"),
        (["origin"], "driven", r"origin is 'driven'; allowed: vendor, derived"),
        (["profile"], "fast", r"profile is 'fast'; allowed: reference, nki"),
        (["policies"], {"select_reduce": "x"}, r"policy select_reduce is 'x'"),
        (["step"], [], r"there is no step"),
        (["step", 0, "opcode"], 256, r"step 1: opcode is 256; it is a byte"),
        (["step", 0, "opcode"], "ea", r"opcode is 'ea'; it must be an integer"),
        (["step", 0, "after"], {}, r"unknown key 'after'"),
        (["step", 0, "fields", "op0"], [1], r"field op0 is \[1\]"),
        (["step", 0, "inputs", "src9"], {"dtype": "fp32", "rows": []}, r"operand is 'src9'"),
        (["step", 0, "inputs", "src0", "dtype"], "bool", r"dtype is 'bool'; allowed: int4"),
        (["step", 0, "inputs", "src0", "rows"], [], r"1 to 128 channels"),
        (["step", 0, "inputs", "src0", "rows", 0, "n"], 0, r"n is 0; it counts channels"),
        (["step", 0, "inputs", "src0", "rows", 0, "n"], 129, r"1 to 128 channels"),
        (["step", 0, "inputs", "src0", "rows", 0, "row"], [], r"a row is empty"),
        (["step", 0, "inputs", "src0", "rows", 0, "row"], [256], r"row is 256; uint8 holds 0 to 255"),
        (["step", 0, "inputs", "src0", "rows", 0, "row"], [1.0], r"row is 1.0, which is no value of uint8"),
        (
            ["step", 0, "inputs", "src0", "rows", 0, "row"],
            {"rep": 1},
            r"expected a list, rep and n, or start, step and n",
        ),
        (["step", 0, "inputs", "src0", "rows", 0, "row"], {"rep": 1, "n": 0}, r"n is 0; it counts elements"),
        (["step", 0, "inputs", "src0", "rows", 0, "row"], {"start": 1, "step": 1.0, "n": 2}, r"numbers of one kind"),
        (["step", 0, "inputs", "src0", "rows", 0, "n"], 3, r"step 1, inputs: all tensors .* same number of channels"),
        (["step", 0, "before"], {"dst": BYTES}, r"step 1: dst has another dtype or shape before"),
        (["step", 0, "before"], {"dst": ROW}, r"step 1: dst has another dtype or shape before than expected"),
        (["step", 0, "before"], {"accumulator": BYTES}, r"before: an accumulator is one fp32 value"),
        (["step", 0, "expected"], {"accumulator": TWO}, r"expected: an accumulator is one fp32 value a channel"),
    ],
)
def test_examples(path, value, message, examples):
    refused(changed(examples, path, value), message)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["step", 0, "fields", "op9"], "ADD", r"example select: .*op9"),
        (["step", 0, "fields", "op0"], "PLUS", r"example select: .*PLUS"),
        (["step", 0, "opcode"], 0xFE, r"example select: .*0xFE"),
        (["step", 0], {"opcode": 0x9B, "fields": {}, "inputs": {}}, r"step 1: neither dst nor a source"),
        (["step", 0], {"opcode": 0x70, "fields": {}, "inputs": {"src": TWO}, "before": {"dst": TWO}}, r"has no dst"),
    ],
)
def test_what_only_a_machine_knows(path, value, message, examples, load):
    changed(examples, path, value)
    with pytest.raises(gp.BadInput, match=message):
        gp.check_vectors(examples, machine_loader=lambda profile, policies: load("cayman", profile, dict(policies)))


def test_an_example_is_named_once(examples):
    examples["example"].append(examples["example"][0])
    refused(examples, r"the id is used twice")
