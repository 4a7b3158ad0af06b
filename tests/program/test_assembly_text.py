"""What the text may say, what it means, and where a mistake is found."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.assembly import declared_generation
from gpsimd_core.isa.layout import U16, Bits, Code, ungrounded
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence, Instruction

HEAD = """\
.tensor mask sbuf 0 0x0000 uint8 128x64 in
.tensor x    sbuf 0 0x2000 fp32  128x64 in
.tensor y    sbuf 0 0x8000 fp32  128x64 out
.tensor s    sbuf 0 0x9000 fp32  128x1  in
"""


def one(machine: gp.Machine, text: str) -> dict[str, Any]:
    """The fields of the last record of a text."""
    return machine.assemble(HEAD + text)[-1].fields


def test_a_name_brings_address_dtype_and_shape(machine: gp.Machine) -> None:
    fields = one(machine, "select_reduce src0=@mask, src1=@x, dst=@y")
    same = machine.encode(
        "select_reduce", src0=gp.Tensor(offset=0, dtype="uint8", shape=(128, 64)),
        src1=gp.Tensor(offset=0x2000, dtype="fp32", shape=(128, 64)),
        dst=gp.Tensor(offset=0x8000, dtype="fp32", shape=(128, 64)),
    )  # fmt: skip
    assert fields == machine.decode(same)[0].fields
    assert fields["src1"] == {"addr": 0x2000, "step": (1, 1), "num": (64, 1)}
    assert (fields["src0_dtype"].name, fields["out_dtype"].name, fields["num_active_channels"]) == (
        "UINT8",
        "FP32",
        128,
    )


def test_what_is_left_out_is_encodes_default(machine: gp.Machine) -> None:
    assert bytes(machine.assemble("select_reduce")) == machine.encode("select_reduce")


def test_a_count_that_the_rules_derive_is_left_out_and_another_is_printed(machine: gp.Machine) -> None:
    short = "memset set_value=0x7fc00000, dst=@y"
    program = machine.assemble(HEAD + short)
    assert program[-1].fields["dst_element_count"] == 64
    assert machine.validate(program).ok
    assert short in machine.disassemble(program)
    other = machine.assemble(HEAD + short + ", dst_element_count=0")
    assert other[-1].fields["dst_element_count"] == 0
    assert "dst_element_count=0" in machine.disassemble(other)
    assert bytes(machine.assemble(machine.disassemble(other))) == bytes(other)
    beyond = machine.encode("memset", dst={"addr": 0, "num": [0xFFFF] * 4, "step": [0] * 4}, dtype="fp32")
    assert machine.decode(beyond)[0].fields["dst_element_count"] == 0  # no u32 holds the product


def test_names_are_read_in_any_case_and_numbers_in_two_bases(any_machine: gp.Machine) -> None:
    texts = [
        "select_reduce op1=MAX, accumulator_cmd=ZERO_ACCUMULATE, wait_idx=16, src0_dtype=UINT8",
        "SELECTREDUCE OP1=max, accumulator_cmd=zero_accumulate, wait_idx=0x10, src0_dtype=uint8",
        "CopyPredicatedReduce op1=8 , accumulator_cmd = 3,wait_idx=16, src0_dtype=0x3 ; in words",
        "\t0xea op1=0x8, accumulator_cmd=0x3, wait_idx=16, src0_dtype=3",
    ]
    assert len({bytes(any_machine.assemble(text)) for text in texts}) == 1


def test_dtypes_have_two_names(any_machine: gp.Machine) -> None:
    a = any_machine.assemble("select_reduce src1_dtype=bf16, out_dtype=fp8_e5m2")
    b = any_machine.assemble("select_reduce src1_dtype=BFLOAT16, out_dtype=FP8_EXP5")
    assert bytes(a) == bytes(b)


def test_addresses(any_machine: gp.Machine) -> None:
    fields = one(
        any_machine,
        "select_reduce src0={addr=@mask+64, step=[1, 0], num=[32, 2]}, src1={addr=r3, num=[4, 8]}, dst={addr=@y+0x10, num=[5]}",
    )
    assert fields["src0"] == {"addr": 64, "step": (1, 0), "num": (32, 2)}
    assert fields["src1"] == {"addr": 0x80000003, "step": (1, 4), "num": (4, 8)}
    assert fields["dst"] == {"addr": 0x8010, "step": (1, 1), "num": (5, 1)}


def test_immediates_from_memory_and_registers(any_machine: gp.Machine) -> None:
    fields = one(any_machine, "select_reduce src0=@mask, imm0=@s")
    assert (fields["imm0"], fields["imm0_src"].name, fields["imm0_dtype"].name) == (0x9000, "POINTER_IMMEDIATE", "FP32")
    fields = one(any_machine, "select_reduce src0=@mask, imm0=@s+64")
    assert (fields["imm0"], fields["imm0_src"].name) == (0x9040, "POINTER_IMMEDIATE")
    fields = one(any_machine, "select_reduce src0=@mask, imm0=r5")
    assert (fields["imm0"], fields["imm0_src"].name) == (5, "REG_PTR_IMMEDIATE")


def test_single_leaves_by_dotted_name(any_machine: gp.Machine) -> None:
    fields = one(
        any_machine, "select_reduce src0=@mask, src0.num_elem[1]=3, src1.start_addr=0x40, src1.step_elem=[2, -1]"
    )
    assert fields["src0"]["num"] == (64, 3)
    assert fields["src1"] == {"addr": 0x40, "step": (2, -1), "num": (0, 0)}


def test_byte_arrays_are_hex_or_lists(any_machine: gp.Machine) -> None:
    a = any_machine.assemble("select_reduce reserved=0x010002")
    b = any_machine.assemble("select_reduce reserved=[1, 0, 2]")
    assert bytes(a) == bytes(b)
    assert a.raw[0, 45:48].tolist() == [1, 0, 2]


def test_tensors_may_be_declared_below_their_use(any_machine: gp.Machine) -> None:
    text = "dve_read_accumulator dst=@late\n.tensor late sbuf 0 0x40 fp32 128x1 out\n"
    assert any_machine.assemble(text)[0].fields["dst"]["addr"] == 0x40


def test_streams_registers_and_tensors_survive_both_ways(any_machine: gp.Machine) -> None:
    text = HEAD + (
        ".reg r3 = 0x2000\n.reg R63 = @x+4\nselect_reduce\n.stream dve\nselect_reduce src0=@mask, src1=@x, dst=@y\n"
        "dve_read_accumulator dst=@s\n.stream none\nselect_reduce op0=3\n"
    )
    program = any_machine.assemble(text)
    assert program.streams == (None, "dve", "dve", None)
    assert program.registers == {3: 0x2000, 63: 0x2004}
    printed = any_machine.disassemble(program)
    again = any_machine.assemble(printed)
    assert (bytes(again), again.streams, again.registers) == (bytes(program), program.streams, program.registers)
    assert again.tensors == program.tensors
    assert "select_reduce src0=@mask, src1=@x, dst=@y" in printed


def test_a_tensor_of_another_dtype_is_not_named_where_the_record_differs(any_machine: gp.Machine) -> None:
    program = any_machine.assemble(
        HEAD + "select_reduce src0=@mask, src1=@x, dst=@y, src1_dtype=UINT8, num_active_channels=64"
    )
    printed = any_machine.disassemble(program)
    assert "src1={addr=@x, step=[1], num=[64]}" in printed
    assert bytes(any_machine.assemble(printed)) == bytes(program)


def test_gen_in_the_text(any_machine: gp.Machine) -> None:
    assert declared_generation("; .gen sunda\n  .GEN Maverick ; why\n") == "maverick"
    assert declared_generation("select_reduce\n") is None
    assert len(any_machine.assemble(".gen somewhere_else\nselect_reduce\n")) == 1


def test_numpy_dtypes_name_tensors() -> None:
    import ml_dtypes

    for given, name in ((np.float32, "fp32"), (np.dtype("uint8"), "uint8"), (ml_dtypes.bfloat16, "bf16"),
                        (ml_dtypes.float8_e4m3fn, "fp8_e4m3fn"), (ml_dtypes.float8_e4m3, "fp8_e4m3")):  # fmt: skip
        assert gp.Tensor(dtype=given, shape=(1, 1)).dtype == name
    with pytest.raises(gp.BadValue, match="no tensor dtype is complex64"):
        gp.Tensor(dtype=np.complex64, shape=(1, 1))


MISTAKES = [
    ("frob x=1", 1, "has no instruction 'frob'"),
    ("  select_reduc src0=1", 3, "did you mean select_reduce"),
    ("0xFF0", 1, "does not declare opcode 0xFF0"),
    ("select_reduce src0=@nope", 20, "no tensor is called 'nope'; declared: mask, x, y, s"),
    ("select_reduce src0=@mas", 20, "did you mean mask"),
    ("select_reduce scr0=@mask", 15, "has no field 'scr0'; did you mean src0"),
    ("select_reduce src0.nums=[1]", 15, "has no field 'src0.nums'"),
    ("select_reduce op0=ADDD", 19, "AluOp has no member 'ADDD'; did you mean ADD"),
    ("select_reduce op0=300", 19, "op0 (byte 36) is 300; it holds 0 to 255"),
    ("select_reduce op0=-1", 19, "op0 (byte 36) is -1; it holds 0 to 255"),
    ("select_reduce src0_dtype=fp99", 26, "Dtype has no member 'fp99'"),
    ("select_reduce src0_dtype=0x11", 26, "it holds 0 to 15"),
    ("select_reduce src0={addr=0, num=[1, 2, 3]}", 20, "src0.num has 3 numbers; the slot has 2 dimensions"),
    ("select_reduce src0={addr=0, num=[70000]}", 20, "it holds 0 to 65535"),
    ("select_reduce src0={addr=0, foo=3}", 20, "src0 has no part 'foo'; allowed: addr, step, num"),
    ("select_reduce src0={addr=0, addr=1}", 29, "src0 has two parts addr"),
    ("select_reduce src0={addr=0, num=[1.5]}", 34, "a whole number is needed in the list of src0.num"),
    ("select_reduce src0={addr=0", 27, "',' is needed between the parts of src0, not the end of the line"),
    ("select_reduce src0=@mask+4", 20, "src0 takes @name, or {addr=..., step=[...], num=[...]} with 2 dimensions"),
    ("select_reduce src0=5", 20, "src0 takes @name"),
    ("select_reduce src0={addr=r64}", 26, "there is no register r64; there are r0 to r63"),
    ("select_reduce op0", 18, "'=' is needed after op0, not the end of the line"),
    ("select_reduce op0=", 19, "a value is needed for op0, not the end of the line"),
    ("select_reduce op0=1 op1=2", 21, "',' is needed between fields, not 'op1'"),
    ("select_reduce op0=1,", 21, "a field name is needed, not the end of the line"),
    ("select_reduce op0=1, op0=2", 22, "op0 is given twice"),
    ("select_reduce op0=$", 19, "cannot read '$'"),
    ("select_reduce op0=1.5", 19, "op0 takes a whole number"),
    ("select_reduce imm0=3", 20, "imm0 is 3, but its dtype is FP32: write 3.0 for the value"),
    ("select_reduce imm0=1.5, imm0_dtype=INT32", 20, "a whole number is needed"),
    ("select_reduce imm0=MAX", 20, "imm0 takes a number, @name or a register"),
    ("select_reduce reserved=[1, 2]", 24, "reserved takes 3 numbers, not 2"),
    ("select_reduce reserved=0x0102", 24, "reserved has 4 hex digits; it takes 6, two a byte"),
    ("select_reduce src0.num_elem[2]=1", 32, "src0.num_elem has elements 0 to 1, not '2'"),
    ("select_reduce opcode=3", 15, "the mnemonic gives the opcode"),
    (
        "select_reduce src0=@mask, src1=@s, dst=@half",
        40,
        "tensors of one instruction have the same number of partitions",
    ),
    ("12 op0=1", 1, "an instruction, its opcode or a directive is needed, not '12'"),
    (".foo bar", 1, "no directive is called '.foo'; there are .gen, .tensor, .reg, .stream, .raw"),
    (".gen", 1, ".gen takes the name of a generation"),
    (".stream gpu", 9, "has no engine 'gpu'; there are"),
    (".raw ea10", 6, ".raw has 4 hex digits; a record has 128, two a byte"),
    (".raw eaxy", 6, "'eaxy' is not hexadecimal"),
    (".reg r64 = 1", 6, "'r64' is no address register; there are r0 to r63"),
    (".reg r3", 1, ".reg takes a register and its value: .reg r3 = 0x2000"),
    (".reg r3 = 0x100000000", 11, "a register holds 0 to 0xffffffff"),
    (".reg r3 = many", 11, "'many' is no whole number"),
    (".tensor q sbuf 0", 1, "7 words, not 3"),
    (".tensor q sbuf 0 0 fp32 128x4 in now", 34, "7 words, not 8"),
    (".tensor 1q sbuf 0 0 fp32 128x4 in", 9, "'1q' is no tensor name"),
    (".tensor x sbuf 0 0 fp32 128x4 in", 9, "tensor x is declared twice"),
    (".tensor q dram 0 0 fp32 128x4 in", 11, "no region is called 'dram'; there are sbuf and psum"),
    (".tensor q sbuf zero 0 fp32 128x4 in", 16, "'zero' is no whole number"),
    (".tensor q sbuf 1 0 fp32 128x4 in", 16, "q: partitions 1 to 128 are outside 0 to 127"),
    (".tensor q sbuf 0 0x7fffffff fp32 128x4 in", 18, "are outside a partition of"),
    (".tensor q sbuf 0 0 fp99 128x4 in", 20, "no tensor dtype is called 'fp99'"),
    (".tensor q sbuf 0 0 int4 128x4 in", 20, "no tensor dtype is called 'int4'"),
    (".tensor q sbuf 0 0 fp32 128*4 in", 25, "'128*4' is no shape; a shape reads 128x4096"),
    (".tensor q sbuf 0 0 fp32 0x4 in", 25, "is no shape"),
    (".tensor q sbuf 0 0 fp32 128x4 input", 31, "no direction is called 'input'; there are in, out, inout, temp"),
]


@pytest.mark.parametrize(("line", "column", "told"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_found_where_it_is(any_machine: gp.Machine, line: str, column: int, told: str) -> None:
    text = HEAD + ".tensor half sbuf 0 0xa000 fp32 64x64 out\n; a comment\n\n" + line + "\nselect_reduce\n"
    with pytest.raises(gp.BadInput) as caught:
        any_machine.assemble(text, "p.tpb")
    message = str(caught.value)
    assert message.startswith(f"p.tpb:8:{column}: ")
    assert told in message
    assert "\n" not in message


def test_every_mistake_is_told_at_once_and_no_end_of_them_is(any_machine: gp.Machine) -> None:
    with pytest.raises(gp.BadInput) as caught:
        any_machine.assemble("frob\nselect_reduce\nfrob\n" + "frob\n" * 30)
    lines = str(caught.value).splitlines()
    assert [line.partition(": ")[0] for line in lines[:2]] == ["<text>:1:1", "<text>:3:1"]
    assert len(lines) == 21
    assert lines[-1] == "... and 12 more mistakes"


@pytest.mark.parametrize("text", ["", "; nothing\n", ".gen cayman\n.reg r1 = 2\n"])
def test_a_text_without_instructions_is_no_program(any_machine: gp.Machine, text: str) -> None:
    with pytest.raises(gp.BadInput, match=re.escape("p.tpb has no instructions")):
        any_machine.assemble(text, "p.tpb")


def test_two_generations_in_one_text(any_machine: gp.Machine) -> None:
    with pytest.raises(gp.BadInput, match=re.escape("<text>:2:6: .gen sunda, but the text said .gen cayman before")):
        any_machine.assemble(".gen cayman\n.gen sunda\nselect_reduce\n")


def test_psum_of_maverick_has_no_address(load: Any) -> None:
    text = ".tensor p psum 0 0 fp32 128x4 out\nselect_reduce dst=@p\n"
    with pytest.raises(gp.BadInput, match=r"<text>:2:19: psum has no addresses on this generation"):
        load("maverick").assemble(text)
    assert load("cayman").assemble(text)[0].fields["dst"]["addr"] == 0x2000000


class Mode(Code):
    """Members that a stranger may choose: mixed case, and names that look like something else."""

    Slow = 0
    Fast = 1
    R3 = 2
    INF = 3


class Strange(Bundle):
    """A stranger's layout."""

    title = "STRANGE"
    Mode = Mode.at(12)
    bitField = Bits.at(13, parts={"Left": (0, 4), "right": (4, 4)}, type="PAIR")  # noqa: N815
    wide = U16.at(14, 3)
    body = ungrounded.at(20, 44)


def test_a_strangers_names_round_trip(any_machine: gp.Machine) -> None:
    free = next(b for b in range(256) if b not in any_machine.opcodes)
    evidence = Evidence(confidence="none", source="me")
    strange = Instruction(name="strange", layout=Strange, opcodes=(free,), engine="dve", evidence=evidence)

    class Plugin:
        GPSIMD_API = 1

        @gp.hookimpl
        def gpsimd_execute(self, gen: Any) -> list[Instruction]:
            return [strange]

    machine = gp.load(any_machine.generation.name, plugins=[Plugin()])
    rng = np.random.default_rng(5)
    raw = rng.integers(0, 256, (64, 64)).astype(np.uint8)
    raw[:, 0] = free
    raw[:, 12] = rng.integers(0, 6, 64)
    text = machine.disassemble(raw)
    assert bytes(machine.assemble(text)) == raw.tobytes()
    for word in ("Mode=Fast", "Mode=R3", "Mode=INF", "bitField={Left=", "wide=["):
        assert word in text
    lower = machine.assemble("STRANGE mode=fast, BITFIELD={left=3, RIGHT=1}")[0].fields
    assert (lower["Mode"], lower["bitField"]) == (Mode.Fast, {"Left": 3, "right": 1})
