"""copy (0x46), cast (0x47), reciprocal (0x48), memset (0x49), the lane map (0x69) and shuffle (0x6A), transpose (0x6B),
move (0xA7), iota (0x7E): against references that go one element at a time."""

from __future__ import annotations

from typing import Any

import fp32_model as fp32
import numpy as np
import pytest
from family_model import GENERATIONS, OUT, PLAIN, Case, Load, Maker, Model, Twin, affine
from records import FP32, SIZE
from value_model import INTEGERS

import gpsimd_core as gp

POLICIES: list[dict[str, Any]] = [{}, {"fp_to_int": "wrap", "fp8_overflow": "ieee", "fp8_exp4": "ocp"}]


def unary(maker: Maker, name: str) -> Case:
    """A random 0x46, 0x47 or 0x48."""
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype = rng.choice(PLAIN)
    out = dtype if name == "copy" or rng.random() < 0.3 else rng.choice(OUT)
    src = maker.operand(channels, dtype, maker.split(count, 4))
    dst = maker.target(channels, out, maker.split(count, 4))
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": out, "op_dim": rng.choice([0, 2]),
        "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
    }  # fmt: skip

    def value(model: Model, code: int) -> int:
        if name != "reciprocal" and dtype == out:
            return code
        bits = model.widen(code, dtype)
        return model.narrow(fp32.divide(0x3F800000, bits) if name == "reciprocal" else bits, out)

    def effect(model: Model) -> None:
        model.write(dst, [[value(model, code) for code in row] for row in model.read(src, channels)])

    return Case(name, fields, effect, [src])


def memset(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    dtype = rng.choice(OUT)
    dst = maker.target(channels, dtype, maker.split(maker.count(channels), 4))
    value = rng.getrandbits(8 * SIZE[dtype])
    fields = {
        "num_active_channels": channels, "dtype": dtype, "dst": maker.pattern(dst, channels), "set_value": value,
        "dst_element_count": dst.count,
    }  # fmt: skip
    return Case("memset", fields, lambda model: model.write(dst, [[value] * dst.count] * channels))


def iota(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    dtype = rng.choice(OUT)
    num = maker.split(maker.count(channels), 4)
    dst = maker.target(channels, dtype, maker.split(int(np.prod(num)), 4))
    base, multiplier = (rng.choice([0, 1, -5, rng.randint(-(1 << 31), (1 << 31) - 1)]) for _ in range(2))
    steps = tuple(rng.choice([0, 1, -1, rng.randint(-32768, 32767)]) for _ in num)
    fields = {
        "num_active_channels": channels, "out_dtype": dtype, "dst": maker.pattern(dst, channels),
        "src_data_pattern": {"base": base, "step": steps, "num": num}, "channel_multiplier": multiplier,
    }  # fmt: skip
    return Case(
        "iota", fields, lambda model: model.write(dst, generated(model, dtype, base, steps, num, multiplier, channels))
    )


def generated(model: Model, dtype: int, base: int, steps: Any, num: Any, multiplier: int, channels: int) -> Any:
    for row in affine(base, steps, num, multiplier, channels):
        if dtype in INTEGERS:
            yield [value & ((1 << INTEGERS[dtype][0]) - 1) for value in row]
        else:
            yield [model.narrow(fp32.rounded(fp32.Fraction(value)), dtype) for value in row]


def transpose(maker: Maker) -> Case:
    rng = maker.rng
    channels = rng.choice([32, 64, 96, 128])
    dtype = rng.choice(PLAIN)
    count = 32 * rng.choice([1, 1, 2, 3])
    src = maker.operand(channels, dtype, maker.split(count, 4))
    dst = maker.target(channels, dtype, maker.split(count, 4))
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": dtype, "op_dim": rng.choice([0, 2, 3, 4, 5]),
        "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
    }  # fmt: skip

    def effect(model: Model) -> None:
        rows = model.read(src, channels)
        out = [[0] * count for _ in range(channels)]
        for q in range(0, channels, 32):
            for t in range(count // 32):
                for p in range(32):
                    for e in range(32):
                        out[q + p][32 * t + e] = rows[q + e][32 * t + p]
        model.write(dst, out)

    return Case("stream_transpose", fields, effect, [src])


def shuffle(maker: Maker, lane_map: list[int]) -> Case:
    rng = maker.rng
    channels = rng.choice([32, 64, 96, 128])
    dtype = rng.choice(PLAIN)
    count = maker.count(channels)
    src = maker.operand(channels, dtype, maker.split(count, 4))
    dst = maker.target(channels, dtype, maker.split(count, 4))
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": dtype, "op_dim": 2,
        "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
    }  # fmt: skip

    def effect(model: Model) -> None:
        rows = model.read(src, channels)
        for c in range(channels):
            source = lane_map[c % 32]
            if source != 255:
                for at, code in zip(dst.offsets(), rows[c - c % 32 + source], strict=True):
                    model.store(dst, c, at, code)

    return Case("stream_shuffle", fields, effect, [src])


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_moves(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """240 cases of copy, cast and reciprocal together, 200 of memset and of iota."""
    twin = Twin(load(gen, policies=policies))
    for n in range(20):
        for name in ("copy", "cast", "reciprocal") if n < 8 else ():
            maker = twin.maker(f"{name}-{n}", 1000 if n == 0 else 150)
            twin.run(maker, unary(maker, name))
        for make in (memset, iota):
            maker = twin.maker(f"{make.__name__}-{n}", 1000 if n == 0 else 60)
            twin.run(maker, make(maker))


@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_permutations(load: Load, gen: str) -> None:
    """Transposes, and shuffles under random maps."""
    twin = Twin(load(gen))
    for n in range(20):
        maker = twin.maker(f"transpose-{n}")
        twin.run(maker, transpose(maker))
    for n in range(20):
        maker = twin.maker(f"shuffle-{n}", 600)
        lane_map = [maker.rng.choice([*range(32), 255]) for _ in range(32)]
        twin.core.run(twin.machine.encode("load_mask_select", immediate=lane_map))
        twin.run(maker, shuffle(maker, lane_map))


def tensor(offset: int, dtype: str, values: int, channels: int = 32) -> gp.Tensor:
    return gp.Tensor("sbuf", partition=0, offset=offset, dtype=dtype, shape=(channels, values))


def test_a_shuffle_without_a_map_and_one_with_a_value_beyond_the_quadrant_are_faults(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    record = machine.encode("stream_shuffle", src=tensor(0, "fp32", 2), dst=tensor(64, "fp32", 2))
    with pytest.raises(gp.Fault, match="no lane map was loaded"):
        core.run(record)
    core.run(machine.encode("load_mask_select", immediate=[*range(31), 32]))
    with pytest.raises(gp.Fault, match="sends lane 31 to 32; allowed are 0 to 31, and 255"):
        core.run(record)


def test_transposes_without_a_grounded_value_say_what_is_missing(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    with pytest.raises(gp.Unsupported, match="what mask_enable = 1 masks"):
        core.run(
            machine.encode("stream_transpose", src=tensor(0, "fp32", 32), dst=tensor(256, "fp32", 32), mask_enable=1)
        )
    with pytest.raises(gp.Unsupported, match="destination smaller than the source"):
        core.run(machine.encode("stream_transpose", src=tensor(0, "fp32", 64), dst=tensor(512, "fp32", 32)))


def test_a_faulting_shuffle_flips_no_event(any_machine: gp.Machine) -> None:
    """Its wait is met and would clear event 3."""
    core = gp.NeuronCore(any_machine)
    core.events[3] = 1
    record = any_machine.encode(
        "stream_shuffle",
        src=tensor(0, "fp32", 2),
        dst=tensor(64, "fp32", 2),
        wait_mode="EVT_SET_THEN_CLEAR",
        wait_idx=3,
    )
    with pytest.raises(gp.Fault):
        core.run(record)
    assert core.events[3] == 1


# move (0xA7) ---------------------------------------------------------------------------------------------------------


def test_move_between_registers_and_of_immediates(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    core.registers[5], core.registers[6] = 0xDEADBEEF, 7
    core.run(
        machine.encode("move", num_mov=2, dtype=FP32, src_registers=[5, 6] + [0] * 6, dst_registers=[10, 63] + [0] * 6)
    )
    assert (core.registers[10], core.registers[63]) == (0xDEADBEEF, 7)
    words = [0xFFFFFFFF, 1, 2, 3, 4, 5, 6, 0x80000000]
    core.run(machine.encode("move", num_mov=8, dtype=FP32, move_source=1, dst_registers=range(20, 28), immediate=words))
    assert [core.registers[n] for n in range(20, 28)] == words


def test_registers_128_and_129_read_as_the_address_of_the_next_record(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    nop = machine.encode("nop")
    move = machine.encode(
        "move", num_mov=2, dtype=FP32, src_registers=[128, 129] + [0] * 6, dst_registers=[1, 2] + [0] * 6
    )
    core.run(bytes(nop) + bytes(move) + bytes(nop))
    assert (core.registers[1], core.registers[2]) == (2 * 64, 0)


def test_writing_128_does_nothing_and_an_unwritten_source_is_a_fault(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    core.run(
        machine.encode("move", num_mov=1, dtype=FP32, move_source=1, dst_registers=[128] + [0] * 7, immediate=[9] * 8)
    )
    assert not core.registers.defined.any()
    with pytest.raises(gp.Fault, match="register r4 was never written"):
        core.run(
            machine.encode("move", num_mov=1, dtype=FP32, src_registers=[4] + [0] * 7, dst_registers=[8] + [0] * 7)
        )


def test_a_moved_register_addresses_a_later_operand(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.float32([[1, 2]]), 0, 0)
    move = machine.encode(
        "move", num_mov=1, dtype=FP32, move_source=1, dst_registers=[9] + [0] * 7, immediate=[512] * 8
    )
    copy = machine.encode(
        "copy", src=tensor(0, "fp32", 2, 1), dst={"addr": 0x80000009, "step": (1, 2, 2, 2), "num": (2, 1, 1, 1)},
        in_dtype=FP32, out_dtype=FP32, num_active_channels=1,
    )  # fmt: skip
    core.run(bytes(move) + bytes(copy))
    assert core.sbuf.read(0, 512, shape=(1, 2), dtype="fp32").tolist() == [[1, 2]]


# Control --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["engine_nop", "drain", "instruction_flush", "nop", "notify", "activation_table_load"])
def test_what_only_carries_events_does(machine: gp.Machine, name: str) -> None:
    core = gp.NeuronCore(machine)
    before = core.memory.data.copy()
    core.semaphores[4] = 2
    record = machine.encode(
        name, wait_mode="SEM_EQ_IMM", wait_idx=4, semaphore_value=2, update_mode="SEM_INC_COMPLETE", update_idx=9
    )
    core.run(record)
    assert core.semaphores[9] == 1
    assert (core.memory.data == before).all()


def test_halt_ends_its_stream(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    one = machine.encode("notify", update_mode="SEM_INC_COMPLETE", update_idx=1)
    two = machine.encode("notify", update_mode="SEM_INC_COMPLETE", update_idx=2)
    result = core.run(bytes(one) + bytes(machine.encode("halt")) + bytes(two))
    assert (result.instructions, core.semaphores[1], core.semaphores[2]) == (2, 1, 0)
