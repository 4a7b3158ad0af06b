"""Every rule of every instruction is the only violation of some record, one field away from a legal one.

Each legal record is changed in one place at a time: every byte field to every number, wider fields to boundaries, and
the counts of a pattern among themselves. What cannot be broken alone on a generation is listed here with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from legal_records import EVERY, instructions, legal, record

import gpsimd_core as gp
from gpsimd_core.isa.layout import Columns, Leaf, RecordLayout

VERSION = "the opcode exists on no generation that is too old"
NIBBLE = "all 16 numbers of the nibble are dtypes"
NO_WIDE = "no 64-bit operand passes the dtype gate"
NO_PSUM = "no address is PSUM here"
ALL_TAKEN = "the sets around it leave nothing over here"
NEVER_ALONE: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {
    ("*", "core_version"): (EVERY, VERSION),
    ("extended_inst", "is_valid_enum[src0_dtype]"): (EVERY, NIBBLE),
    ("extended_inst", "is_valid_enum[src1_dtype]"): (EVERY, NIBBLE),
    ("tensor_scalar_addr", "is_valid_enum[imm0_dtype]"): (EVERY, NIBBLE),
    ("tensor_scalar_addr", "is_valid_enum[imm1_dtype]"): (EVERY, NIBBLE),
    ("tensor_scalar_addr", "is_valid_enum[in_dtype]"): (EVERY, NIBBLE),
    ("tensor_scalar_addr", "is_valid_enum[out_dtype]"): (EVERY, NIBBLE),
    **{
        (name, "dtype_in[in_dtype]"): (EVERY[:4], ALL_TAKEN)
        for name in ("exponential", "tensor_scalar_cache_reduce", "tensor_scalar_cache_cumulative")
    },
    **{
        (name, "integer_dtypes"): (EVERY[:4], ALL_TAKEN)
        for name in ("tensor_scalar_arith_op", "tensor_scalar_ptr_arith_op", "transpose_tensor_scalar_arith_op")
    },
    **{
        ("tensor_scalar_affine_select", f"affine_in_sbuf[{name}]"): (("sunda",), "PSUM is allowed")
        for name in ("src", "dst")
    },
    ("tensor_tensor_arith_op", "integer_signedness"): (("sunda",), ALL_TAKEN),
    ("tensor_reduce_arith_op", "argument_dtype[out_dtype]"): (("sunda",), ALL_TAKEN),
    ("transpose_tensor_reduce_arith_op", "argument_dtype[out_dtype]"): (("sunda",), ALL_TAKEN),
    **{
        ("tensor_tensor_arith_op", f"no_64bit[{name}]"): (("sunda",), NO_WIDE)
        for name in ("src0_dtype", "src1_dtype", "out_dtype")
    },
    **{("tensor_tensor_bitvec_op", f"wide_in_sbuf[{name}]"): (("sunda",), NO_WIDE) for name in ("src0", "src1")},
}
IN_SBUF = ("affine_in_sbuf", "integer_in_sbuf", "pow_in_sbuf", "wide_in_sbuf")

WORDS = [
    0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 63, 64, 0x40, 0x101, 0x102, 0x104, 0x3F800000, 0xFF7FFFFF, 0x4B800000,
    0x4B800001, 0x7FC00000, 0x80000001, 0x80000040, 0x80000100, 0x20000100, 0xA0000001, 0xA0000040, 0x40000100, 0x1FFFFFFF,
]  # fmt: skip
HALVES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 24, 25, 33, 64, 65, 128, 129, 4096, 4097, 16385, 65535]


def numbers(leaf: Leaf, machine: gp.Machine) -> list[int]:
    """What one number of a leaf is changed to."""
    g = machine.generation.geometry
    if leaf.bits:
        return list(range(1 << leaf.bits))
    if leaf.format == "u1":
        return list(range(256)) if leaf.count <= 8 else [0, 1, 64, 255]
    if leaf.format == "<u4":
        near = [
            g.sbuf_stride * 32 + 0x100,
            g.sbuf_stride + 0x100,
            g.sbuf_active,
            g.psum_base,
            g.psum_base + g.psum_active,
        ]
        return [*WORDS, *near]
    return HALVES if leaf.format == "<u2" else [0, 1, 2]


def changed(machine: gp.Machine, layout: RecordLayout, base: np.ndarray) -> Iterator[np.ndarray]:
    """Blocks of the record with one number changed, or with the counts of one pattern rotated: uint8, (n, 64)."""
    for leaf in layout.leaves.values():
        if leaf.name in (
            "opcode",
            "debug_cmd",
            "debug_hint",
            "inst_flags",
            "wait_idx",
            "update_idx",
            "semaphore_value",
        ):
            continue
        given = np.array(numbers(leaf, machine), np.int64).astype(leaf.format)
        for i in range(leaf.count):
            block = np.repeat(base[None], len(given), axis=0)
            column = block.view(layout.numpy)[:, 0][leaf.name]
            if leaf.is_array:
                column[:, i] = given
            elif leaf.bits:
                column[:] = column & ~np.array((1 << leaf.bits) - 1 << leaf.shift, leaf.format) | given << leaf.shift
            else:
                column[:] = given
            yield block
        if leaf.name.endswith(".num_elem"):
            block = np.repeat(base[None], leaf.count, axis=0)
            column = block.view(layout.numpy)[:, 0][leaf.name]
            column[:] = [np.roll(column[0], turn) for turn in range(leaf.count)]
            yield block


def judged(machine: gp.Machine, name: str, layout: RecordLayout, raw: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names of the rules that violate, and which records break each: bool, (rules, records). Needs are followed here."""
    book = machine.books[name]
    columns = Columns(layout, raw)
    good = [np.broadcast_to(b.rule.check(columns, machine.facts), (len(raw),)) for b in book.rules]
    checked = [np.ones(len(raw), bool) for _ in book.rules]
    for i in book.order:
        for n in book.rules[i].needs:
            checked[i] &= checked[n] & good[n]
    kept = [i for i, b in enumerate(book.rules) if not b.warning]
    return [book.rules[i].rule.name for i in kept], np.array([checked[i] & ~good[i] for i in kept])


def reachable(machine: gp.Machine, name: str, rule: str) -> bool:
    gen = machine.generation.name
    if rule.startswith(IN_SBUF) and not machine.generation.geometry.psum_window:
        return False
    gens, _ = NEVER_ALONE.get((name, rule)) or NEVER_ALONE.get(("*", rule)) or ((), "")
    return gen not in gens


def check(machine: gp.Machine) -> None:
    missing, stray = [], []
    for name in instructions(machine):
        opcode = machine.opcode_of(name)
        alone: set[str] = set()
        for fields in legal(name, machine.generation.name):
            base = record(machine, name, fields)
            report = machine.validate(base.tobytes())
            assert report.ok, f"{name} on {machine.generation.name} is not legal: {report}"
            layout = machine.decode(base.tobytes())[0].layout
            rules, broken = judged(machine, name, layout, np.vstack([base[None], *changed(machine, layout, base)]))
            assert not broken[:, 0].any()
            single = broken.sum(axis=0) == 1
            alone |= {rule for rule, row in zip(rules, broken, strict=True) if (row & single).any()}
        for bound in machine.books[name].rules:
            rule = bound.rule.name
            if bound.warning or rule == "header[opcode]":
                continue
            if reachable(machine, name, rule) and rule not in alone:
                missing.append(f"{name} (0x{opcode:02X}): {rule}")
            if not reachable(machine, name, rule) and rule in alone:
                stray.append(f"{name} (0x{opcode:02X}): {rule}")
    assert missing == []
    assert stray == [], "listed as never alone, and yet found"


@pytest.mark.parametrize("gen", EVERY)
def test_each_rule_is_the_only_violation_of_some_record(load, gen):
    check(load(gen))
