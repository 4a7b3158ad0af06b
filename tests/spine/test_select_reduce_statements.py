"""The page that specifies select_reduce, statement by statement, on every generation that has the instruction.

Source: "CopyPredicatedReduce — SelectReduce (opcode 0xea): the predicated-copy-with-reduce twin of CastPredicated".
Numbers in names are the page's sections. Values are in test_select_reduce_golden.py, rules in
test_select_reduce_rules.py; here each statement stands under its own name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import records
from records import FP32, FP32R, INT32, UINT8, UINT32

import gpsimd_core as gp
from gpsimd_core.values import BlobSite

PLAIN = {2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15}


def layout(machine: gp.Machine) -> Any:
    return machine.layouts[0xEA]


def legal(machine: gp.Machine, **fields: int) -> bool:
    return bool(machine.validate(records.select_reduce(machine.generation.name, **fields)).ok)


def accepted(machine: gp.Machine, given: dict[Any, dict[str, int]]) -> set[Any]:
    """The keys of those field settings whose records break no rule."""
    program = b"".join(records.select_reduce(machine.generation.name, **fields) for fields in given.values())
    broken = {v.index for v in machine.validate(program).violations}
    return {key for i, key in enumerate(given) if i not in broken}


def legal_codes(machine: gp.Machine, field: str, codes: int = 256, **fields: int) -> set[int]:
    """The codes of one field that break no rule."""
    return accepted(machine, {code: fields | {field: code} for code in range(codes)})


def members(machine: gp.Machine, struct: str) -> set[int]:
    return {opcode for opcode, found in machine.layouts.items() if found.name == struct}


# 1, 2: name, opcode, binding -------------------------------------------------------------------------------------------


def test_2_opcode_0xea_is_select_reduce_and_maintained(machine: gp.Machine) -> None:
    encoding = machine.opcodes[0xEA]
    assert (encoding.name, encoding.flag, encoding.kind, encoding.not_executable) == (
        "select_reduce",
        "maintained",
        "real",
        None,
    )


def test_2_1_the_device_name_and_the_isa_name_are_one_instruction(machine: gp.Machine) -> None:
    names = ("select_reduce", "SelectReduce", "CopyPredicatedReduce")
    assert {machine.opcode_of(name) for name in names} == {0xEA}


def test_1_no_opcode_is_called_copy_predicated_reduce(machine: gp.Machine) -> None:
    """Three opcodes are predicated copies; none of their names ends in reduce."""
    copies = {
        o: e.name for o, e in machine.opcodes.items() if "copy_predicated" in e.name or "cast_predicated" in e.name
    }
    assert copies == {0x72: "copy_predicated", 0x99: "cast_predicated", 0xE8: "copy_predicated_scalar"}


def test_2_2_the_struct_has_four_opcodes(machine: gp.Machine) -> None:
    assert members(machine, "S2S2D2Stt") == {0x9D, 0x9E, 0xE5, 0xEA}


def test_2_2_the_structs_of_the_predicated_copies_are_disjoint(machine: gp.Machine) -> None:
    mine, siblings, scalar = (members(machine, n) for n in ("S2S2D2Stt", "S3S3D3Tt", "S3d3CpPredScalar"))
    assert {0x72, 0x99} <= siblings
    assert not mine & siblings
    assert scalar <= {0xE8}
    assert 0xEA not in siblings | scalar


def test_3_the_siblings_struct_has_one_operator_and_no_accumulator(machine: gp.Machine) -> None:
    names = set(machine.layouts[0x99].by_name)
    assert "op" in names
    assert not {n for n in names if "accumulator" in n or "reduce" in n or n in ("op0", "op1")}
    assert {"op0", "op1", "accumulator_cmd", "reverse_operands", "imm0"} <= set(layout(machine).by_name)


def test_1_no_field_of_it_is_a_reduce_op(machine: gp.Machine) -> None:
    """The partition fold 0x7C has a configurable REDUCE_OP; here the operator is an ALU_OP, fixed by rule."""
    codes = {f.code.__name__ for f in layout(machine).fields if f.code}
    assert "ReduceOp" not in codes
    assert layout(machine).by_name["op1"].code.__name__ == "AluOp"
    assert "ReduceOp" in {f.code.__name__ for f in machine.layouts[0x7C].fields if f.code}


# 4: dispatch -----------------------------------------------------------------------------------------------------------


def test_4_dve_takes_it_and_pool_does_not(machine: gp.Machine) -> None:
    assert machine.engines_of("select_reduce") == ("dve",)
    record = machine.decode(records.select_reduce(machine.generation.name))
    assert machine.validate(record.on("dve")).ok
    (violation,) = machine.validate(record.on("pool")).violations
    assert (violation.rule, violation.allowed) == ("instruction_engine_check", "engines dve")


def self_names(machine: gp.Machine) -> dict[str, list[tuple[BlobSite, int]]]:
    found: dict[str, list[tuple[BlobSite, int]]] = {}
    for site in machine.hooks.blobs(machine.generation):
        if isinstance(site, BlobSite):
            for name in site.self_names:
                found.setdefault(name.text, []).append((site, name.offset))
    return found


@pytest.mark.parametrize(("gen", "offset"), [
    ("cayman", 0x18E16A), ("mariana", 0x42844A), ("mariana_plus", 0x6F016A), ("maverick", 0x8B0552),
])  # fmt: skip
def test_4_the_dve_debug_blob_names_it(load: Callable[..., gp.Machine], gen: str, offset: int) -> None:
    """One self-name on each of four generations, inside the DVE DEBUG DRAM image: the multiplicity of a DVE instruction."""
    (site, at), *others = self_names(load(gen))["CopyPredicatedReduce"]
    assert not others
    assert at == offset
    assert site.offset <= at < site.end
    assert (site.engine, site.core, site.build, site.region) == ("dve", "NX", "DEBUG", "DRAM")


def test_4_no_blob_says_select_reduce_and_sunda_says_nothing(machine: gp.Machine) -> None:
    names = self_names(machine)
    assert "SelectReduce" not in names
    assert ("CopyPredicatedReduce" in names) == (machine.generation.name != "sunda")


@pytest.mark.parametrize("neighbour", [
    "MatchReplace", "TensorScalarSelect", "CopyPredicatedScalar", "CopyPredicated", "CastPredicated", "TensorTensorScan",
    "RangeSelect", "DveReadAccumulator", "DveReadIndices", "FindIndex8",
])  # fmt: skip
def test_4_its_neighbours_stand_in_the_same_blob(load: Callable[..., gp.Machine], neighbour: str) -> None:
    names = self_names(load("cayman"))
    here = {site.symbol for site, _ in names["CopyPredicatedReduce"]}
    placed = {site.symbol for site, _ in names.get(neighbour, [])}
    unplaced = {
        s.symbol for s in load("cayman").hooks.blobs(load("cayman").generation)
        if isinstance(s, BlobSite) and neighbour in s.unplaced
    }  # fmt: skip
    assert here <= placed | unplaced


# 5: layout -------------------------------------------------------------------------------------------------------------


def test_5_offsets(machine: gp.Machine) -> None:
    offsets = {f.name: f.offset for f in layout(machine).fields}
    assert offsets["opcode"] == 0
    assert offsets["wait_mode"] == 4
    assert [offsets[n] for n in (
        "src0", "src1", "op0", "op1", "reverse_operands", "imm0_src", "src0_dtype", "src1_dtype", "out_dtype",
        "num_active_channels", "imm0_dtype", "accumulator_cmd", "reserved", "dst", "imm0",
    )] == [12, 24, 36, 37, 38, 39, 40, 40, 41, 42, 43, 44, 45, 48, 60]  # fmt: skip
    assert layout(machine).numpy.itemsize == 64


def test_5_the_predicate_is_the_low_source_and_its_dtype_the_low_nibble(machine: gp.Machine) -> None:
    fields = machine.decode(records.select_reduce(machine.generation.name, src0_dtype=UINT8, src1_dtype=FP32))[0].fields
    assert (int(fields["src0_dtype"]), int(fields["src1_dtype"])) == (UINT8, FP32)
    instruction = machine.instructions["select_reduce"]
    assert [(o.at, o.predicate) for o in instruction.reads] == [("src0", True), ("src1", False)]


# 6, 9: rules and dtypes ------------------------------------------------------------------------------------------------


def test_6_it_has_twenty_rules_everywhere(machine: gp.Machine) -> None:
    rules = [b.rule for b in machine.books["select_reduce"].rules if not b.warning]
    assert {r.number for r in rules if r.number} == set(range(1, 21))


def test_6_1_the_predicate_is_one_of_six_integers(machine: gp.Machine) -> None:
    assert legal_codes(machine, "src0_dtype", 16) == {2, 3, 4, 5, 8, 9}


def test_9_the_data_is_any_datapath_dtype_but_a_32_bit_integer(machine: gp.Machine) -> None:
    assert legal_codes(machine, "src1_dtype", 16) == PLAIN - {INT32, UINT32}


def test_7_4_only_the_output_may_be_fp32r(machine: gp.Machine) -> None:
    extra = {17} if machine.generation.name == "maverick" else set()
    assert legal_codes(machine, "out_dtype") == PLAIN | {FP32R} | extra
    assert not legal(machine, src1_dtype=FP32R)
    assert not legal(machine, imm0_src=2, imm0_dtype=FP32R)


def test_6_an_inline_imm0_is_fp32(machine: gp.Machine) -> None:
    assert legal_codes(machine, "imm0_dtype") == {FP32}


def test_6_2_the_operator_pair_is_bypass_and_max(machine: gp.Machine) -> None:
    pairs = {(a, b): {"op0": a, "op1": b} for a in range(256) for b in (0, 4, 8)}
    assert accepted(machine, pairs) == {(0, 8)}
    assert legal_codes(machine, "op1") == {8}


def test_6_3_its_own_accumulator_gate(machine: gp.Machine) -> None:
    """IDLE, ACCUMULATE and ZERO_ACCUMULATE, whatever the dtypes; the general gate of the struct is another rule."""
    assert legal_codes(machine, "accumulator_cmd") == {0, 2, 3}
    for command in (0, 2, 3):
        assert legal(machine, accumulator_cmd=command, src1_dtype=UINT8, out_dtype=UINT8)


def test_6_4_reverse_is_none_or_first(machine: gp.Machine) -> None:
    assert legal_codes(machine, "reverse_operands") == {0, 1}


def test_6_reserved_bytes_are_zero(machine: gp.Machine) -> None:
    for byte in ("reserved45", "reserved46", "reserved47"):
        assert legal_codes(machine, byte) == {0}


def test_6_one_predicate_and_one_destination_slot_for_each_data_element(machine: gp.Machine) -> None:
    assert legal(machine, src0__num0=24, src0__num1=1)
    for operand in ("src0", "src1", "dst"):
        assert not legal(machine, **{f"{operand}__num0": 5})


# 7, 8, 10: behaviour ---------------------------------------------------------------------------------------------------

NAN, MINUS_INF, KEPT = 0x7FC00000, 0xFF800000, 0xA5A5A5A5


def run(machine: gp.Machine, mask: list[int], codes: list[int], **fields: int) -> tuple[list[int], gp.NeuronCore]:
    """One channel of fp32 data; the destination's codes and the core."""
    core = gp.NeuronCore(machine)
    n = len(mask)
    core.sbuf.write(np.array([mask], np.uint8), 0, 0x100)
    core.sbuf.write(np.array([codes], np.uint32), 0, 0x1000)
    shape = {f"{o}__{p}": v for o in ("src0", "src1", "dst") for p, v in (("num0", n), ("num1", 1))}
    gen = machine.generation.name
    core.run(records.select_reduce(gen, num_active_channels=1, dst__addr=0x2000, **(shape | fields)))
    return core.sbuf.read(0, 0x2000, shape=(1, n), dtype="uint32")[0].tolist(), core


def lane(core: gp.NeuronCore) -> int:
    return int(core.accumulators["dve"].view(np.uint32)[0])


def test_7_2_only_true_lanes_contribute_to_the_maximum(machine: gp.Machine) -> None:
    _, core = run(machine, [1, 0, 1], [0x3F800000, 0x7F800000, 0x40000000])
    assert lane(core) == 0x40000000


def test_7_2_the_maximum_suppresses_nan(machine: gp.Machine) -> None:
    _, core = run(machine, [1, 1, 1], [NAN, 0xC0000000, 0xFFFFFFFF])
    assert lane(core) == 0xC0000000


def test_7_3_zero_accumulate_and_idle_start_at_minus_infinity(machine: gp.Machine) -> None:
    for command in (0, 3):
        assert lane(run(machine, [0, 0], [0x3F800000, 0], accumulator_cmd=command)[1]) == MINUS_INF


def test_7_3_an_integer_starts_at_its_lowest_value(machine: gp.Machine) -> None:
    _, core = run(machine, [0], [0], src1_dtype=2, out_dtype=2)
    assert lane(core) == 0xC3000000


def test_7_3_accumulate_continues(machine: gp.Machine) -> None:
    _, core = run(machine, [1], [0x40400000])
    gen = machine.generation.name
    one = {f"{o}__num{d}": 1 for o in ("src0", "src1", "dst") for d in (0, 1)}
    core.sbuf.write(np.array([[0x3F800000]], np.uint32), 0, 0x1000)
    core.run(records.select_reduce(gen, num_active_channels=1, dst__addr=0x2000, accumulator_cmd=2, **one))
    assert lane(core) == 0x40400000


def test_7_3_dve_read_accumulator_reads_it_back(machine: gp.Machine) -> None:
    assert machine.engines_of("dve_read_accumulator") == ("dve",)
    _, core = run(machine, [1], [0x40400000])
    core.run(records.read_accumulator(machine.generation.name, dst__addr=0x40, num_active_channels=1))
    assert core.sbuf.read(0, 0x40, shape=(1, 1), dtype="uint32")[0, 0] == 0x40400000


def test_8_false_lanes_merge(machine: gp.Machine) -> None:
    """They keep their bytes: no constant, no zero, and imm0 does not show."""
    written, _ = run(machine, [0, 1, 0], [1, 2, 3], imm0=0x3F800000)
    assert written == [KEPT, 2, KEPT]


def test_8_the_copy_preserves_bits(machine: gp.Machine) -> None:
    codes = [0x7F812345, 0xFFFFFFFF, 0x80000000, 0x00000001]
    assert run(machine, [1] * 4, codes)[0] == codes


def test_7_4_the_destination_has_every_element(machine: gp.Machine) -> None:
    written, _ = run(machine, [1] * 6, [5, 4, 3, 2, 1, 6])
    assert written == [5, 4, 3, 2, 1, 6]


# What lost -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("topic", "loser", "policy"), [
    ("false lanes", "imm0", "select_reduce"),
    ("IDLE", "undefined", "idle_accumulator"),
    ("NaN in the maximum", "NaN wins", "reduce_nan"),
    ("where the accumulator lives", "PSUM", None),
    ("reverse_operands = FIRST", "swaps the pairing", None),
    ("seed of the maximum", "out_dtype", None),
    ("output count", "fewer outputs", None),
    ("name and struct", "S3S3D3_TT", None),
    ("name and struct", "REDUCE_OP", None),
    ("name and struct", "POOL", None),
])  # fmt: skip
def test_evidence_names_each_losing_reading(machine: gp.Machine, topic: str, loser: str, policy: str | None) -> None:
    """With the reason why it lost, and the policy that still reaches it where there is one."""
    readings = [r for r in machine.instructions["select_reduce"].evidence.readings if r.topic == topic]
    (reading,) = readings
    assert any(loser in text for text in reading.beaten)
    assert reading.chosen
    assert reading.why
    assert reading.policy == policy
    assert policy is None or policy in machine.policies


def test_confidence_is_the_page_s(machine: gp.Machine) -> None:
    evidence = machine.instructions["select_reduce"].evidence
    assert evidence.confidence == "HIGH/OBSERVED"
    assert "MED" in evidence.note
    assert evidence.source == "CopyPredicatedReduce — SelectReduce (0xea)"
