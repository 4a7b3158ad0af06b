"""Decoding streams and encoding records through the API: what comes out, and what is said when it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import records
from records import sbuf

import gpsimd_core as gp
from gpsimd_core.errors import BadInput, BadValue, UsageError

PLACE = gp.Tensor(dtype="fp32", shape=(4, 8))
MASK = gp.Tensor(dtype="uint8", shape=(4, 8), offset=0x1000)


def fields(machine: gp.Machine, name: str, **given: Any) -> dict[str, Any]:
    return machine.decode(machine.encode(name, **given))[0].fields


# Decoding --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8),
                                  lambda b: np.frombuffer(b, np.uint8).reshape(-1, 64)])  # fmt: skip
def test_streams_come_as_bytes_or_arrays(machine: gp.Machine, form: Callable[[bytes], Any]) -> None:
    data = records.select_reduce(machine.generation.name) + records.read_accumulator(machine.generation.name)
    program = machine.decode(form(data))
    assert (len(program), bytes(program)) == (2, data)
    assert [r.name for r in program] == ["select_reduce", "dve_read_accumulator"]
    assert [(r.index, r.opcode) for r in program] == [(0, 0xEA), (1, 0x9B)]
    assert bytes(program[-1]) == data[64:]
    with pytest.raises(IndexError):
        program[2]


def test_a_decoded_stream_does_not_follow_its_array(any_machine: gp.Machine) -> None:
    array = np.frombuffer(records.select_reduce("cayman"), np.uint8).copy()
    program = any_machine.decode(array)
    array[:] = 0
    assert program[0].name == "select_reduce"


@pytest.mark.parametrize(("size", "message"), [
    (0, "is empty; a program is records of 64 bytes"), (1, "is 1 bytes, not a multiple of 64: 0 whole records and 1 bytes"),
    (63, "0 whole records and 63 bytes"), (130, "2 whole records and 2 bytes"),
])  # fmt: skip
def test_truncated_streams(any_machine: gp.Machine, size: int, message: str) -> None:
    for data in (bytes(size), np.zeros(size, np.uint8)):
        with pytest.raises(BadInput, match=message):
            any_machine.decode(data)


def test_a_stream_of_words_is_not_guessed_at(any_machine: gp.Machine) -> None:
    with pytest.raises(BadValue, match="bytes or a uint8 array, not uint32"):
        any_machine.decode(np.zeros((1, 16), np.uint32))


def test_unknown_opcodes_decode_round_trip_and_are_violations(machine: gp.Machine) -> None:
    unknown = next(o for o in range(256) if o not in machine.opcodes)
    data = bytes([unknown, *range(1, 64)])
    program = machine.decode(records.select_reduce(machine.generation.name) + data)
    assert (program[1].name, program[1].opaque, bytes(program[1])) == ("unknown", True, data)
    (violation,) = machine.validate(program).violations
    assert (violation.index, violation.rule, violation.number) == (1, "header[opcode]", 1)
    assert violation.found == f"byte 0 is 0x{unknown:02X}"
    assert violation.allowed == f"one of the {len(machine.opcodes)} opcodes of {machine.generation.name}"


def test_the_invalid_opcode_is_refused_by_the_header_rule(machine: gp.Machine) -> None:
    assert "header[opcode]" in [v.rule for v in machine.validate(bytes([0xFF, 16]) + bytes(62)).violations]


def test_a_program_of_another_machine_is_read_anew(load: Callable[..., gp.Machine]) -> None:
    """Bytes mean what the machine at hand says: 0x25 exists from mariana on, byte 3 has flags on maverick only."""
    cayman, maverick = load("cayman"), load("maverick")
    data = bytes([0x25, 16]) + bytes(62) + records.select_reduce("cayman", byte3=1)
    program = cayman.decode(data)
    assert program[0].name == "unknown"
    again = maverick.decode(program)
    assert (again[0].name, again.machine) == ("activate2", maverick)
    assert str(maverick.validate(program)) == str(maverick.validate(data))
    with pytest.raises(gp.Fault, match="inst_flags"):
        gp.NeuronCore(maverick).run(cayman.decode(records.select_reduce("maverick", byte3=1)))


def test_fields_by_name(machine: gp.Machine) -> None:
    gen = machine.generation.name
    f = machine.decode(records.select_reduce(gen, imm0=0x3F800000, op1=8, accumulator_cmd=2))[0].fields
    assert f["src1"] == {"addr": sbuf(gen, 0, 0x1000), "step": (1, 6), "num": (6, 4)}
    assert (f["op1"].name, f["accumulator_cmd"].name, f["out_dtype"].name) == ("MAX", "ACCUMULATE", "FP32")
    assert (f["imm0"], f["num_active_channels"], f["inst_word_len"]) == (0x3F800000, 64, 16)


def test_unknown_numbers_survive(machine: gp.Machine) -> None:
    data = records.select_reduce(machine.generation.name, op0=0xAB, out_dtype=0x77, accumulator_cmd=99, reserved46=7)
    program = machine.decode(data)
    f = program[0].fields
    assert (f["op0"], f["out_dtype"], f["accumulator_cmd"]) == (0xAB, 0x77, 99)
    assert bytes(program) == data


# Encoding --------------------------------------------------------------------------------------------------------------


def test_omitted_fields_take_the_one_legal_value_else_zero(machine: gp.Machine) -> None:
    record = machine.encode("select_reduce", src0=MASK, src1=PLACE, dst=PLACE)
    f = machine.decode(record)[0].fields
    assert (int(f["op0"]), int(f["op1"]), int(f["imm0_dtype"]), f["inst_word_len"]) == (0, 8, 10, 16)
    assert (int(f["accumulator_cmd"]), int(f["reverse_operands"]), f["imm0"], f["num_active_channels"]) == (0, 0, 0, 4)
    assert machine.validate(record).ok


def test_dtypes_and_channels_follow_from_tensors(machine: gp.Machine) -> None:
    f = fields(machine, "select_reduce", src0=MASK, src1=PLACE, dst=gp.Tensor(dtype="fp32r", shape=(4, 8)))
    assert (f["src0_dtype"].name, f["src1_dtype"].name, f["out_dtype"].name) == ("UINT8", "FP32", "FP32R")


def test_names_aliases_and_numbers(machine: gp.Machine) -> None:
    one = machine.encode("select_reduce", src0=MASK, src1=PLACE, dst=PLACE)
    for name in ("SelectReduce", "CopyPredicatedReduce", "SELECT_REDUCE", "0xea", "234"):
        assert machine.encode(name, src0=MASK, src1=PLACE, dst=PLACE) == one


def test_enum_members_by_number_name_and_member(machine: gp.Machine) -> None:
    from gpsimd_core.isa.enums import AccumCmd

    wanted = fields(machine, "select_reduce", accumulator_cmd=3)["accumulator_cmd"]
    for given in ("ZERO_ACCUMULATE", "zero_accumulate", AccumCmd.ZERO_ACCUMULATE, np.uint8(3)):
        assert fields(machine, "select_reduce", accumulator_cmd=given)["accumulator_cmd"] == wanted


def walk(pattern: Any) -> np.ndarray[Any, Any]:
    """Element offsets of a pattern in stream order."""
    (n0, n1), (s0, s1) = pattern["num"], pattern["step"]
    return (np.arange(n1)[:, None] * s1 + np.arange(n0) * s0).ravel()


@pytest.mark.parametrize(("shape", "step"), [
    ((4, 8), None), ((4, 3, 8), None), ((4, 8), (2,)), ((4, 3, 8), (100, -1)), ((4, 3, 8), (0, 1)), ((4, 3, 8), (1, 0)),
    ((4, 2, 3, 8), None), ((4, 1, 3, 1, 8), None), ((4, 2, 3, 8), (24, 8, 1)), ((4, 2, 3, 8), (0, 0, 5)), ((4,), None),
    ((1, 65535), None), ((1, 65536), None), ((1, 70000), None), ((1, 131070), None), ((1, 98304), (0,)), ((1, 65536), (-1,)),
])  # fmt: skip
def test_the_last_axis_of_a_shape_is_x(machine: gp.Machine, shape: Any, step: Any) -> None:
    """Stream order is C order; axes that continue each other merge, and an axis over 65,535 is split."""
    pattern = fields(machine, "select_reduce", src1=gp.Tensor(dtype="uint8", shape=shape, step=step))["src1"]
    inner = shape[1:] or (1,)
    steps = step or tuple(int(np.prod(inner[i + 1 :])) for i in range(len(inner)))
    grids = np.meshgrid(*(np.arange(n) * s for n, s in zip(inner, steps, strict=True)), indexing="ij")
    assert np.array_equal(walk(pattern), np.sum(grids, axis=0).ravel())
    assert max(pattern["num"]) <= 65535


def test_plain_shapes_keep_their_axes(machine: gp.Machine) -> None:
    assert fields(machine, "select_reduce", src1=gp.Tensor(dtype="uint8", shape=(4, 3, 8)))["src1"] == {
        "addr": 0, "step": (1, 8), "num": (8, 3),
    }  # fmt: skip


@pytest.mark.parametrize(("tensor", "message"), [
    (gp.Tensor(dtype="uint8", shape=(1, 65537)), "an axis of 65537 does not fit a count of 65535 and has no factor"),
    (gp.Tensor(dtype="uint8", shape=(1, 3, 65536)), "needs 3"),
    (gp.Tensor(dtype="uint8", shape=(1, 2, 3, 8), step=(7, 99, 1)), r"src1 has 2 dimensions; .* needs 3"),
    (gp.Tensor(dtype="uint8", shape=(1, 2, 8), step=(1,)), "step has 1 numbers for 2 axes"),
    (gp.Tensor(dtype="uint8", shape=(1, 8), step=(40000,)), "is 40000; it holds -32768 to 32767"),
    (gp.Tensor(dtype="uint8", shape=(1, 8), partition=128), "partition 128 is outside 0 to 127"),
    (gp.Tensor(dtype="uint8", shape=(1, 8), offset=1 << 20), "outside a partition"),
    (gp.Tensor("dram", dtype="uint8", shape=(1, 8)), "no region is called 'dram'"),
    (gp.Tensor(dtype="float99", shape=(1, 8)), "no tensor dtype is called 'float99'"),
    (gp.Tensor(dtype="int4", shape=(1, 8)), "no tensor dtype is called 'int4'"),
])  # fmt: skip
def test_tensors_that_fit_no_pattern(any_machine: gp.Machine, tensor: gp.Tensor, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        any_machine.encode("select_reduce", src1=tensor)


def test_numpy_and_ml_dtypes_name_tensors(any_machine: gp.Machine) -> None:
    for dtype, code in ((np.float32, 10), (np.dtype("int16"), 4), (ml_dtypes.bfloat16, 6), (ml_dtypes.float8_e5m2, 15)):
        assert (
            int(fields(any_machine, "select_reduce", src1=gp.Tensor(dtype=dtype, shape=(1, 4)))["src1_dtype"]) == code
        )
    with pytest.raises(BadValue, match="no tensor dtype is float64"):
        gp.Tensor(dtype=np.float64, shape=(1, 4))


def test_tensors_of_one_instruction_agree(any_machine: gp.Machine) -> None:
    with pytest.raises(BadValue, match="the same number of partitions: src0 has 4, src1 has 5"):
        any_machine.encode("select_reduce", src0=MASK, src1=gp.Tensor(dtype="fp32", shape=(5, 8)))
    with pytest.raises(BadValue, match="op0 takes no tensor; these fields of S2S2D2Stt do: src0, src1, dst, imm0"):
        any_machine.encode("select_reduce", op0=PLACE)


def test_psum_tensors(machine: gp.Machine) -> None:
    tensor = gp.Tensor("psum", dtype="fp32", shape=(4, 8), partition=32, offset=16)
    if machine.generation.name == "maverick":
        with pytest.raises(BadValue, match="psum has no addresses on this generation"):
            machine.encode("select_reduce", dst=tensor)
    else:
        assert fields(machine, "select_reduce", dst=tensor)["dst"]["addr"] == 0x2000000 + 32 * 0x8000 + 16


def test_patterns_by_hand_and_register_addresses(machine: gp.Machine) -> None:
    by_hand = {"addr": gp.register(5), "step": [0, 7], "num": [3, 2]}
    assert fields(machine, "select_reduce", src0=by_hand)["src0"] == {"addr": 0x80000005, "step": (0, 7), "num": (3, 2)}
    assert fields(machine, "select_reduce", src0={"addr": 64, "num": [3]})["src0"] == {
        "addr": 64,
        "step": (1, 1),
        "num": (3, 1),
    }
    for number in (-1, 64):
        with pytest.raises(BadValue, match="is outside 0 to 63"):
            gp.register(number)


@pytest.mark.parametrize(("given", "bits"), [
    (1.0, 0x3F800000), (-0.0, 0x80000000), (float("inf"), 0x7F800000), (1e39, 0x7F800000), (0, 0),
    (gp.Bits(0x7FC00001), 0x7FC00001), (np.float32(1.5), 0x3FC00000),
])  # fmt: skip
def test_immediates(any_machine: gp.Machine, given: Any, bits: int) -> None:
    assert fields(any_machine, "select_reduce", imm0=given)["imm0"] == bits


def test_immediates_from_memory_and_register(any_machine: gp.Machine) -> None:
    f = fields(any_machine, "select_reduce", imm0=0x100, imm0_src="POINTER_IMMEDIATE", imm0_dtype="BFLOAT16")
    assert (f["imm0"], int(f["imm0_src"])) == (0x100, 1)
    f = fields(any_machine, "select_reduce", imm0=7, imm0_src=2)
    assert (f["imm0"], int(f["imm0_src"])) == (7, 2)


@pytest.mark.parametrize(("given", "message"), [
    ({"imm0": 5}, r"imm0 is 5, but its dtype is FP32: write 5.0 for the value"),
    ({"imm0": 1.0, "imm0_src": 1}, "it comes from memory: an address is needed"),
    ({"imm0": 1.5, "imm0_dtype": "INT32"}, "its dtype is INT32: a whole number is needed"),
    ({"imm0": 1 << 32, "imm0_dtype": "INT32"}, "it holds 32 bits"),
    ({"imm0": "one"}, "imm0 takes a number, not 'one'"),
    ({"accumulator_cmd": "ADD"}, "AccumCmd has no member 'ADD'; it has IDLE, ZERO"),
    ({"accumulator_cmd": 256}, r"accumulator_cmd \(byte 44\) is 256; it holds 0 to 255"),
    ({"src0_dtype": 16}, r"src0_dtype \(byte 40 low nibble\) is 16; it holds 0 to 15"),
    ({"num_active_channels": -1}, "is -1; it holds 0 to 255"),
    ({"source0": 1}, "S2S2D2Stt has no field 'source0'"),
    ({"src0": {"adr": 1}}, "src0 has no part 'adr'; allowed: addr, step, num"),
    ({"src0": {"num": [1, 2, 3]}}, "src0.num has 3 numbers; the slot has 2 dimensions"),
    ({"src0": 5}, "src0 takes parts such as"),
    ({"reserved": [0, 0]}, "reserved takes 3 numbers, not 2"),
])  # fmt: skip
def test_values_that_a_field_cannot_hold(any_machine: gp.Machine, given: Any, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        any_machine.encode("select_reduce", **given)


def test_encode_and_decode_are_inverse_on_fields(machine: gp.Machine) -> None:
    """Every field of a record, given back one by one, makes the same record."""
    rng = np.random.default_rng(7)
    for make in (records.select_reduce, records.read_accumulator):
        base = np.frombuffer(make(machine.generation.name), np.uint8)
        for _ in range(50):
            raw = base.copy()
            at = rng.integers(1, 64, 12)
            raw[at] = rng.integers(0, 256, 12)
            record = machine.decode(raw)[0]
            given = dict(record.fields)
            del given["opcode"]
            given = {k: gp.Bits(v) if k == "imm0" else v for k, v in given.items()}
            assert machine.encode(record.name, **given) == raw.tobytes()


@pytest.mark.parametrize(("name", "message"), [
    ("select_reduse", "has no instruction 'select_reduse'; did you mean select_reduce"), ("0xF8", "does not declare opcode 0xF8"),
    (0x1FF, "does not declare opcode 0x1FF"),
])  # fmt: skip
def test_unknown_instructions(load: Callable[..., gp.Machine], name: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load("cayman").opcode_of(name)


def test_engines_by_name_or_number(machine: gp.Machine) -> None:
    assert machine.engines_of("CopyPredicatedReduce") == machine.engines_of("0xEA") == ("dve",)
    for name in {e.name for e in machine.opcodes.values()}:
        assert machine.engines_of(name) or machine.bindings[name].reason
