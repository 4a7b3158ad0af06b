"""Operands by an index list, on mariana and later: against a reference, and every slot that offers the form against the same
instruction on elements laid out beforehand."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from family_model import Load
from records import SIZE, UINT8, sbuf

import gpsimd_core as gp

WITH_LISTS = ("mariana", "mariana_plus", "maverick")
LIST, DATA, RESULT, LAID, OLD = 0x1000, 0x2000, 0x4000, 0x6000, 0x8000
REACH = 300
"""Elements that an index may name."""


def listed(rng: random.Random, channels: int, count: int, *, distinct: bool = False) -> list[list[int]]:
    """Indices for each 16 channels."""
    groups = -(-channels // 16)
    if distinct:
        return [rng.sample(range(REACH), count) for _ in range(groups)]
    return [[rng.randrange(REACH) for _ in range(count)] for _ in range(groups)]


def write_list(core: gp.NeuronCore, rows: list[list[int]], partition: int, offset: int) -> None:
    """Number i of a group stands on its partition i mod 16, as 16-bit element i // 16."""
    for group, row in enumerate(rows):
        for i, number in enumerate(row):
            place = partition + 16 * group + i % 16
            core.sbuf.write(np.array([[number]], np.uint16), place, offset + 2 * (i // 16))


def indirect(
    gen: str, partition: int, data: int, count: int, *, list_at: int = LIST, list_on: int | None = None
) -> Any:
    """The field of an operand by an index list."""
    on = partition if list_on is None else list_on
    return {"index": 0x20000000 | sbuf(gen, on, list_at), "data": sbuf(gen, partition, data), "count": count}


def dense(gen: str, partition: int, offset: int, count: int, dims: int) -> Any:
    return {"addr": sbuf(gen, partition, offset), "step": (1, *(0,) * (dims - 1)), "num": (count, *(1,) * (dims - 1))}


@pytest.mark.parametrize("gen", WITH_LISTS)
@pytest.mark.parametrize("dtype", ["uint8", "bf16", "fp32"])
def test_copies_gather_and_scatter(load: Load, gen: str, dtype: str) -> None:
    """Element k of channel c is number indices[c // 16][k] from the data address on; a place named twice keeps the last."""
    machine, rng = load(gen), random.Random(f"{gen}-{dtype}")
    code, size = (
        machine.encode("copy", in_dtype=dtype, out_dtype=dtype)[32],
        SIZE[{"uint8": 3, "bf16": 6, "fp32": 10}[dtype]],
    )
    core = gp.NeuronCore(machine)
    for channels, partition, list_on in [(128, 0, 0), (40, 64, 0), (5, 96, 32), (17, 32, 96)]:
        count = rng.choice([1, 15, 16, 17, 50])
        for scatters in (False, True):
            data = np.frombuffer(rng.randbytes(128 * REACH * size), f"u{size}").reshape(128, REACH)
            old = np.frombuffer(rng.randbytes(128 * REACH * size), f"u{size}").reshape(128, REACH)
            core.sbuf.write(data, 0, DATA)
            core.sbuf.write(old, 0, RESULT)
            rows = listed(rng, channels, count)
            write_list(core, rows, list_on, LIST)
            src = dense(gen, partition, DATA, count, 4)
            dst = dense(gen, partition, RESULT, count, 4)
            if scatters:
                dst = indirect(gen, partition, RESULT, count, list_on=list_on)
            else:
                src = indirect(gen, partition, DATA, count, list_on=list_on)
            core.run(
                machine.encode("copy", src=src, dst=dst, in_dtype=code, out_dtype=code, num_active_channels=channels)
            )
            wanted = old.copy()
            for c in range(channels):
                for k, number in enumerate(rows[c // 16]):
                    if scatters:
                        wanted[partition + c, number] = data[partition + c, k]
                    else:
                        wanted[partition + c, k] = data[partition + c, number]
            found = core.sbuf.read(0, RESULT, shape=wanted.shape, dtype=f"uint{8 * size}")
            assert (found == wanted).all()


SLOTS: list[tuple[str, int, dict[str, Any], tuple[str, ...]]] = [
    ("copy", 4, {"in_dtype": 10, "out_dtype": 10}, ("src", "dst")),
    ("cast", 4, {"in_dtype": 10, "out_dtype": 6}, ("src", "dst")),
    ("reciprocal", 4, {"in_dtype": 7, "out_dtype": 10}, ("src", "dst")),
    ("stream_transpose", 4, {"in_dtype": 10, "out_dtype": 10}, ("src", "dst")),
    ("tensor_reduce_arith_op", 4, {"in_dtype": 10, "out_dtype": 10, "op": "ADD", "op_dim": "X"}, ("src",)),
    ("tensor_cumulative_arith_op", 4, {"in_dtype": 6, "out_dtype": 10, "op": "ADD", "op_dim": "X"}, ("src", "dst")),
    ("tensor_scalar_arith_op", 3, {"in_dtype": 10, "out_dtype": 7, "op0": "MULT", "op1": "ADD", "imm0": 3.0, "imm1": 1.0}, ("src",)),
    ("copy_predicated_scalar", 3, {"pred_dtype": 3, "in_dtype": 10, "out_dtype": 10, "src0_imm": 7.5}, ("pred", "dst")),
    ("tensor_dequantize", 3, {"dequant_fmt": 1}, ("src", "dst")),
]  # fmt: skip


def width(fields: dict[str, Any], name: str) -> int:
    """Bytes of an element of an operand."""
    leaf = {"pred": "pred_dtype", "src": "in_dtype", "dst": "out_dtype"}[name]
    return SIZE[fields.get(leaf, 9)]


@pytest.mark.parametrize("gen", WITH_LISTS)
@pytest.mark.parametrize(("name", "dims", "fields", "slots"), SLOTS, ids=[s[0] for s in SLOTS])
def test_every_slot_is_the_same_instruction_on_elements_laid_out(
    load: Load, gen: str, name: str, dims: int, fields: dict[str, Any], slots: tuple[str, ...]
) -> None:
    machine, rng = load(gen), random.Random(f"{gen}-{name}")
    if machine.instructions[name].kernel is None:
        pytest.skip(f"{name} does not execute yet")
    operands = ("pred", "dst") if name == "copy_predicated_scalar" else ("src", "dst")
    cores = [gp.NeuronCore(machine), gp.NeuronCore(machine)]
    for slot in slots:
        for _ in range(3):
            channels, count = rng.choice([32, 64, 128]), rng.choice([32, 64])
            out = 1 if name == "tensor_reduce_arith_op" else 2 * count if name == "tensor_dequantize" else count
            counts = {operands[0]: count, operands[1]: out}
            listed_rows = listed(rng, channels, counts[slot], distinct=True)
            content = np.frombuffer(rng.randbytes(128 * 0x2000), np.uint8).reshape(128, -1) & 0x7B
            content[:, ::3] = 0
            for core in cores:
                core.sbuf.write(content, 0, DATA)
                core.sbuf.write(content, 0, RESULT)
                core.sbuf.write(content, 0, LAID)
            write_list(cores[0], listed_rows, 0, LIST)
            size = width(fields, slot)
            plain = {o: dense(gen, 0, DATA if o != "dst" else RESULT, counts[o], dims) for o in operands}
            base = DATA if slot != "dst" else RESULT
            by_list = plain | {slot: indirect(gen, 0, base, counts[slot])}
            laid = plain | {slot: dense(gen, 0, LAID, counts[slot], dims)}
            whole = cores[1].sbuf.read(0, base, shape=(128, REACH), dtype=f"uint{8 * size}")
            gathered = np.array([whole[c, listed_rows[c // 16]] for c in range(channels)])
            cores[1].sbuf.write(gathered, 0, LAID)
            for core, places in zip(cores, (by_list, laid), strict=True):
                core.run(machine.encode(name, num_active_channels=channels, **fields, **places))
            if slot == "dst":
                scattered = cores[1].sbuf.read(0, LAID, shape=gathered.shape, dtype=f"uint{8 * size}")
                for c in range(channels):
                    whole[c, listed_rows[c // 16]] = scattered[c]
                wanted = whole
            else:
                wanted = cores[1].sbuf.read(0, RESULT, shape=(128, REACH), dtype=f"uint{8 * width(fields, 'dst')}")
            found = cores[0].sbuf.read(0, RESULT, shape=wanted.shape, dtype=wanted.dtype)
            assert (found == wanted).all(), (slot, channels, count)


def small(machine: gp.Machine, **changes: Any) -> bytes:
    """A copy of 17 elements of two channels by an index list at partition 0."""
    gen = machine.generation.name
    fields = {"src": indirect(gen, 0, DATA, 17), "dst": dense(gen, 0, RESULT, 17, 4), "num_active_channels": 2}
    return machine.encode("copy", in_dtype=10, out_dtype=10, **(fields | changes))


def test_an_index_that_leaves_the_partition_is_a_fault_and_writes_nothing(load: Load) -> None:
    machine = load("mariana")
    core = gp.NeuronCore(machine)
    write_list(core, [[0] * 16 + [65535]], 0, LIST)
    with pytest.raises(
        gp.Fault, match=r"src: index 65535 \(number 16 of the list of channels 0 to 1\) leaves the partition's"
    ):
        core.run(small(machine))
    assert (core.sbuf.read(0, RESULT, shape=(2, 68), dtype="uint8") == 0xA5).all()


def test_the_list_is_read_when_the_instruction_runs(load: Load) -> None:
    """One program, run again after the list has changed, and with a list that an earlier instruction writes."""
    machine = load("mariana")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.arange(600, dtype=np.float32).reshape(2, 300), 0, DATA)
    program = machine.decode(small(machine))
    for first in (0, 7):
        write_list(core, [list(range(first, first + 17))], 0, LIST)
        core.run(program)
        assert core.sbuf.read(0, RESULT, shape=(2, 17), dtype="fp32")[0].tolist() == list(range(first, first + 17))
    gen = machine.generation.name
    fill = machine.encode(
        "memset", dst={"addr": sbuf(gen, 0, LIST), "step": (1, 2, 2, 2), "num": (2, 1, 1, 1)}, dtype="uint16", set_value=5,
        dst_element_count=2, num_active_channels=16,
    )  # fmt: skip
    core.run(bytes(fill) + bytes(small(machine)))
    assert core.sbuf.read(0, RESULT, shape=(2, 17), dtype="fp32").tolist() == [[5] * 17, [305] * 17]


def test_a_list_whose_address_a_register_holds_is_not_guessed(load: Load) -> None:
    machine = load("mariana")
    core = gp.NeuronCore(machine)
    core.registers[3] = LIST
    record = small(machine, src={"index": 0xA0000003, "data": DATA, "count": 17})
    assert machine.validate(record).ok
    with pytest.raises(gp.Unsupported, match="src by an index list whose address a register holds"):
        core.run(record)


@pytest.mark.parametrize("gen", ["sunda", "cayman"])
def test_earlier_generations_refuse_the_form(load: Load, gen: str) -> None:
    machine = load(gen)
    record = bytearray(machine.encode("copy", src=dense(gen, 0, DATA, 17, 4), dst=dense(gen, 0, RESULT, 17, 4),
                                      in_dtype=10, out_dtype=10, num_active_channels=2))  # fmt: skip
    record[15] |= 0x20
    assert "tensor_valid[src]" in {v.rule for v in machine.validate(bytes(record)).violations}


def test_a_slot_without_the_form_refuses_it(load: Load) -> None:
    machine = load("mariana")
    fields = {"src0_dtype": UINT8, "src1_dtype": 10, "out_dtype": 10, "num_active_channels": 2}
    record = bytearray(machine.encode("copy_predicated", **fields))
    record[19] |= 0x20
    assert "tensor_valid[src0]" in {v.rule for v in machine.validate(bytes(record)).violations}


def test_a_check_sees_the_elements_and_the_list(load: Load) -> None:
    """Nobody wrote element 9; with all of them written, and the list, nothing is reported."""
    machine = load("mariana")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.zeros((16, 2), np.uint16), 0, LIST)
    write_list(core, [[*range(17)]], 0, LIST)
    core.sbuf.write(np.zeros((2, 9), np.float32), 0, DATA)
    core.sbuf.write(np.zeros((2, 10), np.float32), 0, DATA + 40)
    stray = [n.text for n in core.run(small(machine), check=True).notices if "nobody wrote" in n.text]
    assert len(stray) == 1
    assert f"first at byte {DATA + 36}" in stray[0]
    core.sbuf.write(np.zeros((2, 1), np.float32), 0, DATA + 36)
    assert not [n for n in core.run(small(machine), check=True).notices if "nobody wrote" in n.text]
