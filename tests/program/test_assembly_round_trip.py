"""Text and bytes are inverse: for valid records, for arbitrary bytes, for every layout of every generation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.isa.layouts.common import Opaque

Bytes = np.ndarray[Any, Any]

RECORDS = 900
"""Of two kinds and five generations."""
VALID = 250
"""Of records that break no rule, on each generation: 10,250 in all."""


def same_bytes(machine: gp.Machine, raw: Bytes) -> str:
    text = machine.disassemble(raw)
    again = machine.assemble(text)
    wrong = np.flatnonzero((again.raw != raw).any(axis=1))
    assert wrong.size == 0, f"record {wrong[0]}: {raw[wrong[0]].tobytes().hex()}\n{text.splitlines()[2 + wrong[0]]}"
    assert machine.disassemble(again) == text
    return text


def test_arbitrary_bytes(machine: gp.Machine) -> None:
    rng = np.random.default_rng(7)
    raw = rng.integers(0, 256, (RECORDS, 64)).astype(np.uint8)
    opcodes = np.array(list(machine.opcodes), np.uint8)
    raw[len(opcodes) :, 0] = rng.choice(opcodes, RECORDS - len(opcodes))
    raw[: len(opcodes), 0] = opcodes
    raw[-40:, 0] = rng.integers(0, 256, 40)
    same_bytes(machine, raw)


def test_defaults_with_a_few_other_bytes(machine: gp.Machine) -> None:
    rng = np.random.default_rng(8)
    defaults = np.array([np.frombuffer(machine.encode(f"0x{o:02X}"), np.uint8) for o in machine.opcodes])
    raw = defaults[rng.integers(0, len(defaults), RECORDS)].copy()
    for _ in range(4):
        raw[np.arange(RECORDS), rng.integers(1, 64, RECORDS)] = rng.choice(
            [0, 1, 2, 10, 0x20, 0x40, 0x80, 0xFF], RECORDS
        )
    same_bytes(machine, raw)


def test_valid_records(machine: gp.Machine) -> None:
    """Records that break no rule, with and without names for their places."""
    rng = np.random.default_rng(9)
    lines, pairs = [], []
    for i in range(24):
        x, y, rows = int(rng.integers(1, 60)), int(rng.integers(1, 9)), int(rng.integers(1, 33))
        partition = int(rng.choice([0, 32, 64, 96]))
        data = str(rng.choice(["fp32", "bf16", "fp16", "int8", "uint16", "fp8_e5m2"]))
        lines.append(f".tensor m{i} sbuf {partition} 0x{4 * int(rng.integers(0, 512)):x} uint8 {rows}x{y}x{x} temp")
        lines.append(f".tensor d{i} sbuf {partition} 0x{64 * (64 + i):x} {data} {rows}x{y}x{x} temp")
        pairs.append((f"m{i}", f"d{i}", x, y, data))
    for i in range(VALID):
        mask, data, x, y, dtype = pairs[i % len(pairs)]
        command = rng.choice(["IDLE", "ACCUMULATE", "ZERO_ACCUMULATE"])
        lines.append(
            f"select_reduce src0=@{mask}, src1=@{data}, dst={{addr=@{data}, step=[{y}, 1], num=[{x}, {y}]}}, "
            f"out_dtype={dtype}, accumulator_cmd={command}, imm0={float(rng.standard_normal())}, "
            f"reverse_operands={rng.choice(['NONE', 'FIRST'])}, wait_idx={rng.integers(0, 256)}"
        )
    program = machine.assemble("\n".join(lines))
    assert machine.validate(program).ok
    assert "@m5," in machine.disassemble(program)
    assert bytes(machine.assemble(machine.disassemble(program))) == bytes(program)
    same_bytes(machine, program.raw)


def test_every_opcode_prints_its_default_as_its_name(machine: gp.Machine) -> None:
    for opcode, encoding in machine.opcodes.items():
        text = machine.disassemble(machine.encode(f"0x{opcode:02X}")).splitlines()[-1]
        if machine.layouts[opcode].cls is Opaque:
            assert text.startswith(".raw ")
            assert text.endswith(f"; {encoding.name}")
        else:
            assert text == encoding.name


def test_every_fp32_immediate_comes_back(any_machine: gp.Machine) -> None:
    rng = np.random.default_rng(10)
    exponents = np.arange(512, dtype=np.uint32) << 23
    bits = np.concatenate([rng.integers(0, 1 << 32, 600, np.uint32), exponents, exponents - 1, exponents + 1])
    raw = np.tile(np.frombuffer(any_machine.encode("select_reduce"), np.uint8), (len(bits), 1))
    raw[:, 60:64] = bits.view(np.uint8).reshape(-1, 4)
    same_bytes(any_machine, raw)


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        (0x3F800000, "imm0=1.0"), (0x3DCCCCCD, "imm0=0.1"), (0x80000000, "imm0=-0.0"), (0x7F800000, "imm0=inf"),
        (0xFF800000, "imm0=-inf"), (0x00000001, "imm0=1e-45"), (0x7F7FFFFF, "imm0=3.4028235e+38"),
        (0x7FC00000, "imm0=0x7fc00000"), (0xFFC00001, "imm0=0xffc00001"),
    ],
)  # fmt: skip
def test_floats_print_short_and_nan_as_bits(any_machine: gp.Machine, bits: int, text: str) -> None:
    record = any_machine.encode("select_reduce", imm0=gp.Bits(bits))
    assert any_machine.disassemble(record).splitlines()[-1] == f"select_reduce {text}"


@pytest.mark.parametrize(
    ("dtype", "text"), [("INT16", "imm0=-0x1"), ("INT32", "imm0=-1"), ("FP16", "imm0=0x3c00"), ("UINT8", "imm0=77")]
)
def test_immediates_of_other_dtypes(any_machine: gp.Machine, dtype: str, text: str) -> None:
    program = any_machine.assemble(f"select_reduce imm0_dtype={dtype}, {text}".replace("-0x1", "-1"))
    again = any_machine.assemble(any_machine.disassemble(program))
    assert bytes(again) == bytes(program)


def test_unknown_opcodes_are_raw_lines(any_machine: gp.Machine) -> None:
    free = next(b for b in range(256) if b not in any_machine.opcodes)
    record = bytes([free, 16, *range(62)])
    line = any_machine.disassemble(record).splitlines()[-1]
    assert line == f".raw {record.hex()}  ; 0x{free:02X} is no opcode of {any_machine.generation.name}"
    assert bytes(any_machine.assemble(line)) == record


def test_the_sub_opcode_selects_the_layout(load: Any) -> None:
    machine = load("cayman")
    plain = machine.assemble("0xF0 extended_opcode=TENSOR_TENSOR_ARITH, op=ADD, src0={addr=0x40, num=[3]}")
    other = machine.assemble(f"0xF0 extended_opcode=COPY, ungrounded13=0x{'ab' * 51}")
    assert plain[0].layout.name == "ExtendedTta"
    assert other[0].layout.name == "ExtendedOther"
    for program in (plain, other):
        assert bytes(machine.assemble(machine.disassemble(program))) == bytes(program)


@pytest.mark.parametrize("gen", ["mariana", "maverick"])
def test_indirect_patterns(load: Any, gen: str) -> None:
    machine = load(gen)
    name = next(
        e.name for o, e in machine.opcodes.items() for f in machine.layouts[o].fields if f.kind == "tensor" and f.union
    )
    f = next(f for f in machine.layouts[machine.opcode_of(name)].fields if f.kind == "tensor" and f.union)
    for index, word in (("@list", 0x20000040), ("r3", 0xA0000003), ("0x60000040", 0x60000040)):
        text = f".tensor list sbuf 0 0x40 uint32 1x8 in\n{name} {f.name}={{index={index}, data=0x100, count=8}}"
        program = machine.assemble(text)
        assert int(program.raw[0, f.offset : f.offset + 4].view("<u4")[0]) == word
        assert f"index={index}, data=0x100, count=8" in machine.disassemble(program)
    with pytest.raises(gp.BadInput, match=r"0x40 without bit 29, the mark of an index list: write 0x20000040"):
        machine.assemble(f"{name} {f.name}={{index=0x40, data=0x100, count=8}}")
