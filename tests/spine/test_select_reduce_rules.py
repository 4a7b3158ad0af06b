"""Each rule of select_reduce (0xEA) and dve_read_accumulator (0x9B), both ways, on every generation.

First by hand: a record that just passes, and the same record with one thing changed, which breaks that rule and no
other. Then in bulk: every value of every field of up to 16 bits, every bit and boundary of every 32-bit field, and
random mixtures of boundary values, against the independent judge `support/rule_model.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import records
import rule_model
from records import BF16, FP16, FP32, FP32R, INT8, INT16, INT32, PSUM, UINT32, psum, sbuf

import gpsimd_core as gp

REGISTER, SHAPE, INDIRECT = 0x80000000, 0x40000000, 0x20000000
HAS_PSUM = ("sunda", "cayman", "mariana", "mariana_plus")
EVERY = (*HAS_PSUM, "maverick")

# One rule part a row: published number, name, generations, what makes the legal record a boundary case that passes, and
# what breaks that rule alone. A value may be a function of the generation, where geometry or enumeration decides.
Given = dict[str, Any]
SELECT_REDUCE: list[tuple[int, str, tuple[str, ...], Given, Given]] = [
    (1, "header[length]", EVERY, {"inst_word_len": 16}, {"inst_word_len": 17}),
    (1, "is_valid_enum[wait_mode]", EVERY, {"wait_mode": 0x05}, {"wait_mode": 0x08}),
    (1, "is_valid_enum[wait_mode]", EVERY, {"wait_mode": 0x85}, {"wait_mode": 0xFF}),
    (1, "is_valid_enum[update_mode]", EVERY, {"update_mode": 0x99}, {"update_mode": 0xFF}),
    (2, "is_valid_dtype[src0_dtype]", EVERY, {"src0_dtype": INT8}, {"src0_dtype": FP32R}),
    (2, "is_valid_dtype[src0_dtype]", EVERY, {"src0_dtype": UINT32}, {"src0_dtype": 1}),  # uint64
    (3, "is_valid_dtype[src1_dtype]", EVERY, {"src1_dtype": INT16}, {"src1_dtype": FP32R}),
    (3, "is_valid_dtype[src1_dtype]", EVERY, {"src1_dtype": 15}, {"src1_dtype": 0}),
    (4, "is_valid_dtype[imm0_dtype]", EVERY, {"imm0_src": 2, "imm0_dtype": BF16}, {"imm0_src": 2, "imm0_dtype": FP32R}),
    (4, "is_valid_dtype[imm0_dtype]", EVERY, {}, {"imm0_dtype": 12}),  # int64
    (5, "is_valid_dtype[out_dtype]", EVERY, {"out_dtype": FP32R}, {"out_dtype": 12}),
    (5, "is_valid_dtype[out_dtype]", ("maverick",), {"out_dtype": 17}, {"out_dtype": 16}),
    (5, "is_valid_dtype[out_dtype]", HAS_PSUM, {"out_dtype": 15}, {"out_dtype": 17}),
    (6, "dtype_in[src0_dtype]", EVERY, {"src0_dtype": INT32}, {"src0_dtype": FP16}),
    (6, "dtype_not_in[src1_dtype]", EVERY, {"src1_dtype": FP32}, {"src1_dtype": INT32}),
    (6, "dtype_not_in[src1_dtype]", EVERY, {"src1_dtype": 5}, {"src1_dtype": UINT32}),
    (7, "s2s2d2_stt_imm0_dtype", EVERY, {"imm0_src": 1, "imm0_dtype": FP16}, {"imm0_dtype": FP16}),
    (8, "is_valid_enum[op0]", EVERY, {}, {"op0": 0x1F}),
    (8, "is_valid_enum[op1]", EVERY, {}, {"op1": lambda g: {"sunda": 0xC7, "cayman": 0x20, "maverick": 0x25}.get(g, 0x24)}),
    (9, "field_is[op0]", EVERY, {}, {"op0": 4}),
    (9, "field_is[op1]", EVERY, {}, {"op1": 9}),
    (10, "has_valid_immediates[imm0]", EVERY, {"imm0_src": 2, "imm0": 63}, {"imm0_src": 2, "imm0": 64}),
    (10, "has_valid_immediates[imm0]", EVERY, {"imm0_src": 0}, {"imm0_src": 3}),
    (10, "has_valid_immediates[imm0]", EVERY, {"imm0_src": 1, "imm0": 4}, {"imm0_src": 1, "imm0": 2}),  # alignment
    (10, "has_valid_immediates[imm0]", EVERY, {"imm0_src": 1, "imm0": 4}, {"imm0_src": 1, "imm0": REGISTER | 4}),
    (10, "has_valid_immediates[imm0]", EVERY,
     {"imm0_src": 1, "imm0": lambda g: sbuf(g, 64)}, {"imm0_src": 1, "imm0": lambda g: sbuf(g, 32)}),
    (11, "start_addr_active_channels[src0]", EVERY,
     {"num_active_channels": 32, "src0__addr": lambda g: sbuf(g, 0)}, {"num_active_channels": 32, "src0__addr": lambda g: sbuf(g, 1)}),
    (11, "start_addr_active_channels[src1]", EVERY,
     {"num_active_channels": 33}, {"num_active_channels": 33, "src1__addr": lambda g: sbuf(g, 32)}),
    (11, "start_addr_active_channels[dst]", EVERY,
     {"num_active_channels": 32, "dst__addr": lambda g: sbuf(g, 96)}, {"num_active_channels": 33, "dst__addr": lambda g: sbuf(g, 96)}),
    (11, "start_addr_active_channels[dst]", EVERY,
     {"num_active_channels": 128, "dst__addr": 0}, {"num_active_channels": 128, "dst__addr": lambda g: sbuf(g, 64)}),
    (12, "tensor_valid[src0]", EVERY, {"src0__num0": 24, "src0__num1": 1}, {"src0__num0": 24, "src0__num1": 0}),
    (12, "tensor_valid[src0]", EVERY, {"src0__addr": REGISTER | 63}, {"src0__addr": REGISTER | 64}),
    (12, "tensor_valid[src0]", EVERY, {"src0__addr": REGISTER}, {"src0__addr": REGISTER | 0x100}),
    (12, "tensor_valid[src0]", ("sunda",), {"src0__addr": REGISTER}, {"src0__addr": REGISTER | 0x1000000}),
    (12, "tensor_valid[src0]", EVERY, {"src0__addr": 4}, {"src0__addr": INDIRECT | 4}),
    (12, "tensor_valid[src1]", EVERY, {"src1__addr": 8}, {"src1__addr": 6}),  # fp32 elements
    (12, "tensor_valid[src1]", ("sunda", "cayman", "maverick"),
     {"src1__addr": lambda g: records.SBUF_ACTIVE[g] - 4}, {"src1__addr": lambda g: records.SBUF_ACTIVE[g]}),
    (12, "tensor_valid[dst]", EVERY, {"dst__addr": REGISTER | 5}, {"dst__addr": REGISTER | INDIRECT | 5}),
    (12, "tensor_valid[dst]", HAS_PSUM,
     {"dst__addr": psum(64), "out_dtype": FP32R}, {"dst__addr": psum(64), "out_dtype": BF16}),
    (12, "tensor_valid[dst]", HAS_PSUM, {"dst__addr": psum(64, 0x3FFC)}, {"dst__addr": psum(64, 0x4000)}),
    (13, "check_active_channels", EVERY, {"num_active_channels": 1}, {"num_active_channels": 0}),
    (13, "check_active_channels", EVERY,
     {"num_active_channels": 128, "dst__addr": 0}, {"num_active_channels": 129, "dst__addr": 0}),
    (14, "same_element_count[src0,src1]", EVERY, {"src1__num0": 4, "src1__num1": 6}, {"src1__num0": 5}),
    (14, "same_element_count[src0,src1]", EVERY, {"src1__addr": SHAPE | 4, "src1__num0": 5}, {"src1__num0": 5}),
    (15, "same_element_count[src0,dst]", EVERY, {"dst__num0": 24, "dst__num1": 1}, {"dst__num1": 5}),
    (16, "tt_valid_partitions[src0,src1]", EVERY,
     {"num_active_channels": 32, "src0__addr": lambda g: sbuf(g, 32), "src1__addr": lambda g: sbuf(g, 32)},
     {"num_active_channels": 32, "src0__addr": lambda g: sbuf(g, 32), "src1__addr": lambda g: sbuf(g, 64)}),
    (16, "tt_valid_partitions[src0,src1]", HAS_PSUM, {"src0__addr": psum(0), "src1__addr": 0}, {"src0__addr": psum(0), "src1__addr": psum(64)}),
    (17, "field_in[accumulator_cmd]", EVERY, {"accumulator_cmd": 2}, {"accumulator_cmd": 1}),
    (17, "field_in[accumulator_cmd]", EVERY, {"accumulator_cmd": 0}, {"accumulator_cmd": 4}),
    (18, "is_valid_enum[reverse_operands]", EVERY, {"reverse_operands": 0}, {"reverse_operands": 4}),
    (19, "reserved_zero", EVERY, {}, {"reserved45": 1}),
    (19, "reserved_zero", EVERY, {}, {"reserved47": 128}),
    (20, "field_in[reverse_operands]", EVERY, {"reverse_operands": 1}, {"reverse_operands": 2}),
    (20, "field_in[reverse_operands]", EVERY, {"reverse_operands": 0}, {"reverse_operands": 3}),
]  # fmt: skip

READ_ACCUMULATOR: list[tuple[int, str, tuple[str, ...], Given, Given]] = [
    (1, "header[length]", EVERY, {"inst_word_len": 16}, {"inst_word_len": 15}),
    (1, "is_valid_enum[update_mode]", EVERY, {"update_mode": 0x13}, {"update_mode": 0x16}),
    (2, "dtype_in[dtype]", EVERY, {"dtype": FP32R}, {"dtype": INT32}),
    (2, "dtype_in[dtype]", EVERY, {"dtype": 13}, {"dtype": 17}),
    (3, "check_active_channels", EVERY, {"num_active_channels": 128, "dst__addr": 0}, {"num_active_channels": 129, "dst__addr": 0}),
    (3, "check_active_channels", EVERY, {"num_active_channels": 1}, {"num_active_channels": 0}),
    (4, "start_addr_active_channels[dst]", EVERY,
     {"num_active_channels": 32, "dst__addr": lambda g: sbuf(g, 96)}, {"num_active_channels": 32, "dst__addr": lambda g: sbuf(g, 95)}),
    (5, "tensor_valid[dst]", EVERY, {"dst__addr": 4}, {"dst__addr": 2}),
    (5, "tensor_valid[dst]", HAS_PSUM, {"dst__addr": PSUM}, {"dst__addr": PSUM, "dtype": FP16}),
    (6, "one_element[dst]", EVERY, {"dst__num0": 1}, {"dst__num0": 2}),
    (6, "one_element[dst]", EVERY, {"dst__addr": SHAPE | 4, "dst__num0": 2}, {"dst__num0": 2}),
    (7, "field_is[dst_element_count]", EVERY, {}, {"dst_element_count": 0x101}),
    (8, "field_in[negated]", EVERY, {"negated": 1}, {"negated": 2}),
    (9, "reserved_zero", EVERY, {}, {"reserved12": 1}),
    (9, "reserved_zero", EVERY, {}, {"reserved63": 255}),
    (9, "reserved_zero", EVERY, {}, {"reserved43": 2}),
]  # fmt: skip


def cases(rows: list[tuple[int, str, tuple[str, ...], Given, Given]]) -> list[Any]:
    """One parameter for each rule part and generation."""
    return [
        pytest.param(gen, number, name, passes, breaks, id=f"{gen}-{number}-{name}-{n}")
        for n, (number, name, gens, passes, breaks) in enumerate(rows)
        for gen in gens
    ]


def build(make: Callable[..., bytes], gen: str, given: Given) -> bytes:
    return make(gen, **{k: v(gen) if callable(v) else v for k, v in given.items()})


def judge_pair(
    machine: gp.Machine, make: Callable[..., bytes], number: int, name: str, passes: Given, breaks: Given
) -> None:
    gen = machine.generation.name
    good = machine.validate(build(make, gen, passes))
    assert (good.ok, good.violations, good.not_checked) == (True, (), ()), str(good)
    bad = machine.validate(build(make, gen, breaks))
    assert [(v.number, v.rule) for v in bad.violations] == [(number, name)]
    assert not bad.ok


@pytest.mark.parametrize(("gen", "number", "name", "passes", "breaks"), cases(SELECT_REDUCE))
def test_each_rule_of_0xea_alone(
    load: Callable[..., gp.Machine], gen: str, number: int, name: str, passes: Given, breaks: Given
) -> None:
    judge_pair(load(gen), records.select_reduce, number, name, passes, breaks)


@pytest.mark.parametrize(("gen", "number", "name", "passes", "breaks"), cases(READ_ACCUMULATOR))
def test_each_rule_of_0x9b_alone(
    load: Callable[..., gp.Machine], gen: str, number: int, name: str, passes: Given, breaks: Given
) -> None:
    judge_pair(load(gen), records.read_accumulator, number, name, passes, breaks)


@pytest.mark.parametrize(("opcode", "rows", "total"), [(0xEA, SELECT_REDUCE, 20), (0x9B, READ_ACCUMULATOR, 9)])
def test_every_rule_has_its_pair(machine: gp.Machine, opcode: int, rows: Any, total: int) -> None:
    """No published rule is left out above, and the machine has no rule part that the table does not know."""
    mine = {(number, name) for number, name, gens, _, _ in rows if machine.generation.name in gens}
    assert {number for number, _ in mine} == set(range(1, total + 1))
    rules = [b.rule for b in machine.books[machine.opcodes[opcode].name].rules if not b.warning]
    untested = {(r.number, r.name) for r in rules} - mine
    assert untested <= {(1, "header[opcode]"), (1, "is_valid_enum[wait_mode]")}  # other opcodes: test_program.py


# In bulk, against the independent judge -----------------------------------------------------------------------------


def assert_same_verdicts(machine: gp.Machine, raw: np.ndarray[Any, Any]) -> None:
    """Every rule, on every record: broken, held or not judged, as the model says."""
    opcode = int(raw[0, 0])
    model = rule_model.MODELS[opcode](machine.generation.name, raw)
    report = machine.validate(raw)
    told = {rule: (broken, skipped) for _, rule, broken, skipped in report.by_rule()}
    assert set(told) <= set(model.rows)
    nothing = np.array([], np.int64)
    for name, row in model.rows.items():
        broken, skipped = told.get(name, (nothing, nothing))
        for found, verdict, word in ((broken, rule_model.BROKEN, "breaks"), (skipped, rule_model.SKIPPED, "skips")):
            wanted = np.flatnonzero(row == verdict)
            if not np.array_equal(np.sort(found), wanted):
                odd = np.setxor1d(found, wanted)[0]
                pytest.fail(f"{name}: only one of model and machine {word} on {raw[odd].tobytes().hex()}")
    judged = [row for name, row in model.rows.items() if name not in model.warnings]
    assert report.ok == all((row == rule_model.PASSES).all() for row in judged)


def mutated(record: bytes, fields: dict[str, tuple[int, str]], name: str, values: Any) -> np.ndarray[Any, Any]:
    """The record once for each value of one field: uint8, (values, 64)."""
    at, code = fields[name]
    given = np.asarray(values, np.int64)
    raw = np.tile(np.frombuffer(record, np.uint8), (len(given), 1))
    if code in ("lo", "hi"):
        keep, shift = (0xF0, 0) if code == "lo" else (0x0F, 4)
        raw[:, at] = raw[:, at] & keep | (given << shift).astype(np.uint8)
    else:
        for n in range({"B": 1, "h": 2, "H": 2, "I": 4}[code]):
            raw[:, at + n] = given >> 8 * n & 0xFF
    return raw


def address_words(gen: str) -> Iterator[int]:
    """Region, partition, alignment and marker boundaries of an address word, and register numbers around 64."""
    edges = [0, records.SBUF_ACTIVE[gen], records.SBUF_STRIDE[gen], records.SBUF_WINDOW[gen], 0x1FFFFFFF]
    edges += [PSUM, PSUM + records.PSUM_ACTIVE, PSUM + records.PSUM_STRIDE, PSUM + 0x400000]
    edges += [sbuf(gen, p) for p in (1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127)]
    edges += [psum(p) for p in (1, 31, 32, 33, 64, 96, 127)]
    near = {max(edge + delta, 0) & 0x1FFFFFFF for edge in edges for delta in (-4, -2, -1, 0, 1, 2, 4)}
    registers = {0, 5, 63, 64, 65, 128, 255, 256, 0x10000, 0xFF0000, 0xFFFFFF}
    for marker in range(8):
        yield from ((marker << 29) | a for a in sorted(near | registers))
    yield from (b << 24 | r for b in range(128, 256) for r in (0, 63, 64))


def bases(gen: str) -> list[tuple[dict[str, tuple[int, str]], bytes]]:
    """Legal records of different forms, and some that break a rule, so that `needs` are walked."""
    ea: list[Given] = [
        {}, {"imm0_src": 1, "imm0": 8, "imm0_dtype": BF16}, {"imm0_src": 2, "imm0": 7},
        {"src0__addr": REGISTER | 3, "dst__addr": REGISTER | 4}, {"src1__addr": SHAPE | 8, "dst__addr": SHAPE | 12},
        {"num_active_channels": 17, "src0_dtype": UINT32, "src1_dtype": 14, "out_dtype": FP32R},
        {"num_active_channels": 0, "out_dtype": 0, "reverse_operands": 9},
    ]  # fmt: skip
    rb: list[Given] = [{}, {"dst__addr": REGISTER | 3}, {"num_active_channels": 32, "dtype": FP16}, {"dtype": 8}]
    if gen in HAS_PSUM:
        ea.append({"src0__addr": psum(0), "dst__addr": psum(64), "imm0_src": 1, "imm0": psum(0)})
        ea.append({"src1__addr": psum(0), "num_active_channels": 32})
        rb.append({"dst__addr": psum(0)})
    pairs = [(records.SELECT_REDUCE, build(records.select_reduce, gen, g)) for g in ea]
    return pairs + [(records.READ_ACCUMULATOR, build(records.read_accumulator, gen, g)) for g in rb]


def test_every_value_of_every_narrow_field(machine: gp.Machine) -> None:
    """All 256 values of a byte, all 16 of a nibble, for every form of record."""
    for fields, base in bases(machine.generation.name):
        blocks = [
            mutated(base, fields, name, range(16 if code in ("lo", "hi") else 256))
            for name, (_, code) in fields.items()
            if code in ("B", "lo", "hi") and name != "opcode"
        ]
        assert_same_verdicts(machine, np.concatenate(blocks))


@pytest.mark.parametrize("opcode", [0xEA, 0x9B])
def test_every_value_of_every_16_bit_field(machine: gp.Machine, opcode: int) -> None:
    """All 65,536 steps and counts of every pattern."""
    gen = machine.generation.name
    fields = records.SELECT_REDUCE if opcode == 0xEA else records.READ_ACCUMULATOR
    base = records.select_reduce(gen) if opcode == 0xEA else records.read_accumulator(gen)
    wide = [name for name, (_, code) in fields.items() if code in ("h", "H")]
    assert len(wide) == (12 if opcode == 0xEA else 2)
    for name in wide:
        assert_same_verdicts(machine, mutated(base, fields, name, range(1 << 16)))


def test_every_bit_and_boundary_of_every_32_bit_field(machine: gp.Machine) -> None:
    gen = machine.generation.name
    boundaries = list(address_words(gen))
    for fields, base in bases(gen):
        for name, (at, code) in fields.items():
            if code == "I":
                now = int.from_bytes(base[at : at + 4], "little")
                flipped = [now ^ 1 << bit for bit in range(32)]
                assert_same_verdicts(machine, mutated(base, fields, name, flipped + boundaries))


@pytest.mark.parametrize("opcode", [0xEA, 0x9B])
def test_mixtures_of_boundary_values(machine: gp.Machine, opcode: int) -> None:
    """20,000 records in which a few fields at once hold boundary or arbitrary values."""
    gen = machine.generation.name
    rng = np.random.default_rng(20 + opcode)
    words = np.array(list(address_words(gen)))
    narrow = np.array([0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 13, 16, 17, 32, 33, 64, 65, 96, 128, 129, 255])
    blocks = []
    for fields, base in bases(gen):
        if base[0] != opcode:
            continue
        raw = np.tile(np.frombuffer(base, np.uint8), (20_000 // (9 if opcode == 0xEA else 4), 1))
        for name, (_, code) in fields.items():
            if name in ("opcode", "inst_word_len"):
                continue
            chosen = np.flatnonzero(rng.random(len(raw)) < 0.12)
            pool = words if code == "I" else narrow & 15 if code in ("lo", "hi") else narrow
            changed = mutated(base, fields, name, rng.choice(pool, len(chosen)))
            at = fields[name][0]
            for n in range({"I": 4, "h": 2, "H": 2}.get(code, 1)):
                mask = {"lo": 0x0F, "hi": 0xF0}.get(code, 0xFF)
                raw[chosen, at + n] = raw[chosen, at + n] & ~np.uint8(mask) | changed[:, at + n] & mask
        blocks.append(raw)
    assert_same_verdicts(machine, np.concatenate(blocks))


def test_strict_turns_warnings_into_violations(load: Callable[..., gp.Machine], machine: gp.Machine) -> None:
    gen = machine.generation.name
    record = records.select_reduce(gen, src0_dtype=INT32, out_dtype=FP16, wait_mode=0x05, update_mode=0x95)
    mild = machine.validate(record)
    assert mild.ok
    names = ["event_value_kinds", "out_dtype_differs", "wide_predicate"]
    assert sorted(w.rule for w in mild.warnings) == names
    strict = load(gen, policies={"strict": "on"}).validate(record)
    assert not strict.ok
    assert sorted(v.rule for v in strict.violations) == names
    assert strict.warnings == ()


def test_violations_come_in_the_order_of_the_header(machine: gp.Machine) -> None:
    gen = machine.generation.name
    broken: Given = {"src0_dtype": FP16, "op1": 9, "src1__num0": 5, "accumulator_cmd": 1, "reserved46": 3}
    report = machine.validate(records.select_reduce(gen) + records.select_reduce(gen, **broken))
    assert [v.number for v in report.violations] == [6, 9, 14, 17, 19]
    assert {v.index for v in report.violations} == {1}
    assert [v.byte for v in report.violations] == [64 + at for at in (40, 37, 20, 44, 45)]


def test_a_violation_says_what_where_found_and_allowed(load: Callable[..., gp.Machine]) -> None:
    machine = load("cayman")
    record = records.select_reduce("cayman", src0_dtype=FP16, accumulator_cmd=1)
    text = str(machine.validate(records.select_reduce("cayman") * 12 + record))
    assert "instruction 12 (byte 0x300), select_reduce on cayman: 2 violations" in text
    assert (
        "dtype_in[src0_dtype]: byte 40 low nibble is FP16 (0x7); allowed: INT8 UINT8 INT16 UINT16 INT32 UINT32" in text
    )
    assert (
        "field_in[accumulator_cmd]: byte 44 is ZERO (0x1); allowed: IDLE (0) ACCUMULATE (2) ZERO_ACCUMULATE (3)" in text
    )


def test_what_was_not_checked_is_told_apart(load: Callable[..., gp.Machine]) -> None:
    machine = load("cayman")
    report = machine.validate(records.select_reduce("cayman", src0_dtype=FP32R))
    assert [v.rule for v in report.violations] == ["is_valid_dtype[src0_dtype]"]
    skipped = {n.rule: n.why for n in report.not_checked}
    assert skipped["dtype_in[src0_dtype]"] == "needs is_valid_dtype[src0_dtype]"
    assert skipped["same_element_count[src0,dst]"] == "needs tensor_valid[src0], tensor_valid[dst]"
    assert set(skipped) == {
        "dtype_in[src0_dtype]", "tensor_valid[src0]", "same_element_count[src0,src1]", "same_element_count[src0,dst]",
    }  # fmt: skip


def test_rules_of_an_undecided_byte_are_none(machine: gp.Machine) -> None:
    """Debug bytes are never checked, nor maverick's instruction flags."""
    gen = machine.generation.name
    for fields in ({"debug_cmd": 255}, {"byte3": 255}, {"byte3": 1}, {"wait_idx": 255, "update_idx": 255}):
        assert machine.validate(records.select_reduce(gen, **fields)).ok


def test_psum_rules_by_generation(load: Callable[..., gp.Machine]) -> None:
    """Maverick names no PSUM: 0x2000000 is SBUF partition 32 there, and a 2-byte destination is welcome."""
    record = {"dst__addr": PSUM, "num_active_channels": 32, "out_dtype": BF16, "src1_dtype": BF16}
    assert load("maverick").validate(records.select_reduce("maverick", **record)).ok
    for gen in HAS_PSUM:
        broken = load(gen).validate(records.select_reduce(gen, **record)).violations
        assert [v.rule for v in broken] == ["tensor_valid[dst]"]
