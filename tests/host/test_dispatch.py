"""Which queue takes what: wrong engines, opcodes without an engine, opcodes that nothing executes; POOL's eight cores."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from host_programs import nop

import gpsimd_core as gp
from gpsimd_core.cli import main
from gpsimd_core.dispatch import kernel_slots, overview, shares, split
from gpsimd_core.pipeline import execute, plan
from gpsimd_core.step import Step
from gpsimd_core.testing.library import records

Load = Callable[..., gp.Machine]

TABLE = tomllib.loads((Path(__file__).parent / "data" / "dispatch.toml").read_text())["taken"]
LETTERS = {"P": "pe", "A": "act", "O": "pool", "D": "dve", "S": "sp"}
COLUMN = {"sunda": 0, "cayman": 1, "mariana": 2, "mariana_plus": 2, "maverick": 3}


def cells(gen: str) -> Iterator[tuple[int, str]]:
    """Opcode and cell of a generation, as far as it declares it."""
    for opcode, row in TABLE.items():
        cell = row.split()[COLUMN[gen]]
        if cell != "-":
            yield int(opcode, 16), cell


def legal(machine: gp.Machine, opcode: int) -> list[bytes]:
    """Records of an opcode that no rule but the engine check refuses."""
    name = machine.opcodes[opcode].name
    given = [r for r in records(machine, name) if machine.validate(r).ok]
    return given or [bytes([opcode, 16]) + bytes(62)]


def engine_check(machine: gp.Machine, record: bytes, engine: str) -> list[str]:
    report = machine.validate(machine.decode(record).on(engine))
    return [v.allowed for v in report.violations if v.rule == "instruction_engine_check"]


def test_undeclared_cells_are_undeclared(machine: gp.Machine) -> None:
    declared = {o for o, _ in cells(machine.generation.name)}
    assert declared == {int(o, 16) for o in TABLE} & set(machine.opcodes)


def test_every_engine_takes_what_is_its_own_and_refuses_the_rest(machine: gp.Machine) -> None:
    """A refusal names the engines that take it, and nothing is executed."""
    core = gp.NeuronCore(machine, compiled=False)
    for opcode, cell in cells(machine.generation.name):
        if cell in ("none", "dead"):
            continue
        taken = {LETTERS[letter] for letter in cell}
        given = legal(machine, opcode)
        assert set(machine.engines_of(machine.opcodes[opcode].name)) == taken
        for engine in machine.engines:
            found = [engine_check(machine, record, engine) for record in given]
            if engine in taken:  # some forms of an opcode are one engine's alone
                assert [] in found, hex(opcode)
                continue
            for record, refusal in zip(given, found, strict=True):
                assert len(refusal) == 1, hex(opcode)
                takers = set(refusal[0].removeprefix("engines ").split())
                assert takers
                assert takers <= taken
                assert all(engine_check(machine, record, taker) == [] for taker in takers)
            with pytest.raises(gp.Violated, match="instruction_engine_check"):
                core.run({engine: nop(update=0x13) + given[0]})
            assert not core.semaphores.any()


def test_the_refusal_in_words(load: Load) -> None:
    cayman = load("cayman")
    record = legal(cayman, 0x46)[0]
    with pytest.raises(gp.Violated) as e:
        gp.NeuronCore(cayman, compiled=False).run({"sp": record})
    assert "instruction_engine_check: it stands in the sp stream; allowed: engines dve pool act" in str(e.value)


@pytest.mark.parametrize("kind", ["none", "dead"])
def test_what_no_engine_executes_faults_when_it_is_reached(machine: gp.Machine, kind: str) -> None:
    """On whatever queue, with the reason; what stands before it has run."""
    rows = [o for o, cell in cells(machine.generation.name) if cell == kind]
    assert rows
    for opcode in rows:
        name = machine.opcodes[opcode].name
        assert machine.engines_of(name) == ()
        reason = machine.bindings[name].reason
        assert reason
        record = legal(machine, opcode)[0]
        assert machine.validate(record).ok, hex(opcode)
        for given in (nop(update=0x13) + record, {"sp": nop(update=0x13) + record, "dve": nop()}):
            core = gp.NeuronCore(machine, compiled=False)
            with pytest.raises(gp.NotExecutable) as e:
                core.run(given)
            assert reason in str(e.value)
            assert e.value.index == 1
            assert core.semaphores[0] == 1


# POOL's eight cores ------------------------------------------------------------------------------------------------------


def test_a_core_owns_sixteen_partitions() -> None:
    whole = shares(0, 128)
    assert [(s.core, s.channel, s.channels, s.partition) for s in whole] == [(k, 16 * k, 16, 16 * k) for k in range(8)]
    assert [(s.core, s.channel, s.channels, s.partition) for s in shares(32, 40)] == [
        (2, 0, 16, 32),
        (3, 16, 16, 48),
        (4, 32, 8, 64),
    ]
    assert [(s.core, s.channels) for s in shares(96, 1)] == [(6, 1)]


def test_the_shares_are_a_partition_of_the_channels() -> None:
    for first in range(0, 128, 8):
        for channels in range(1, 129 - first):
            given = shares(first, channels)
            assert [c for s in given for c in range(s.channel, s.channel + s.channels)] == list(range(channels))
            assert all(s.partition == first + s.channel for s in given)
            assert all(s.core == p // 16 for s in given for p in range(s.partition, s.partition + s.channels))


SPLIT = [
    "tensor_tensor_arith_op src0=@a, src1=@b, dst=@c, op=MULT",
    "tensor_scalar_arith_op src=@a, dst=@c, op0=ADD, imm0=2.5, op1=MULT, imm1=3",
    "copy src=@a, dst=@c",
    "cast src=@a, dst=@d",
    "tensor_reduce_arith_op src=@f, dst=@e, op=ADD_INT, op_dim=X",
    "memset dst=@c, set_value=0x40e00000",
]


def piece(step: Step, channel: int, channels: int, *, keep: str = "") -> Step:
    """What one core does of a planned instruction; the operand `keep` stays where it is."""

    def moved(p: Any) -> Any:
        return attrs.evolve(p, partition=p.partition + channel, base=p.base + channel * p.pitch, channels=channels)

    part = attrs.evolve(
        step, channels=channels, operands={n: p if n == keep else moved(p) for n, p in step.operands.items()}
    )
    kernel = step.instruction.kernel
    if step.row is not None:
        object.__setattr__(part, "row", tuple(int(v) for v in kernel.row(part)))  # type: ignore[union-attr]
    return part


@pytest.mark.parametrize(("partition", "channels"), [(0, 128), (64, 60)])
def test_results_do_not_depend_on_the_split(machine: gp.Machine, partition: int, channels: int) -> None:
    """The pieces of the cores, in any order, leave what the whole instruction leaves."""
    text = f"""
    .tensor a sbuf {partition} 0x000 fp32 {channels}x6 in
    .tensor b sbuf {partition} 0x100 fp32 {channels}x6 in
    .tensor c sbuf {partition} 0x200 fp32 {channels}x6 out
    .tensor d sbuf {partition} 0x300 int16 {channels}x6 out
    .tensor e sbuf {partition} 0x400 int32 {channels}x1 out
    .tensor f sbuf {partition} 0x000 int32 {channels}x6 in
    .stream pool
    """
    program = machine.assemble("\n".join([text, *SPLIT]))
    cores = [gp.NeuronCore(machine, compiled=False) for _ in range(2)]
    rng = np.random.default_rng(3)
    for offset in (0, 0x100):
        data = (rng.standard_normal((channels, 6)) * 100).astype(np.float32)
        for core in cores:
            core.sbuf.write(data, partition, offset)
    cores[0].run(program)
    for index in range(len(program)):
        step = plan(machine, cores[1].memory, program[index], lambda number, operand: 0, "pool")
        given = split(step)
        assert sum(s.channels for s in given) == channels
        for i in rng.permutation(len(given)):
            execute(cores[1], [piece(step, given[i].channel, given[i].channels)], [index])
    assert (cores[0].memory.data == cores[1].memory.data).all()


KERNELS = {  # generation: image, index and address of 0x7C and 0x7D in it
    "cayman": [("EXTISA_0", 1, 0x010003F8, 2, 0x01000410), ("EXTISA_2", 0, 0x010003F8, 1, 0x01000410)],
    "mariana": [("EXTISA_0", 1, 0x010003F8, 2, 0x01000410)],
    "mariana_plus": [("EXTISA_0", 1, 0x010003F8, 2, 0x01000410)],
    "maverick": [("EXTISA_0", 1, 0x384, 2, 0x39C)],
    "sunda": [("EXTISA_0", 10, 0x01007D30, 11, None)],
}


def test_the_dispatch_of_0x7c_and_0x7d(machine: gp.Machine) -> None:
    """Kernel index and function address of the generation, by image."""
    arith = {s.image: s for s in kernel_slots(machine, 0x7C)}
    bitvec = {s.image: s for s in kernel_slots(machine, 0x7D)}
    for image, i, function, j, other in KERNELS[machine.generation.name]:
        assert (arith[image].index, arith[image].function) == (i, function)
        assert bitvec[image].index == j
        assert other is None or bitvec[image].function == other
        assert (arith[image].kernel, bitvec[image].kernel) == (
            "pool_cross_lane_reduce_arith",
            "pool_cross_lane_reduce_bitvec",
        )
    told = overview(machine)
    assert (told["cores"], told["partitions_per_core"]) == (8, 16)
    assert [k["index"] for k in told["kernels"]["0x7c"]] == [s.index for s in kernel_slots(machine, 0x7C)]


def test_an_opcode_without_a_kernel_has_no_slot(load: Load) -> None:
    assert kernel_slots(load("cayman"), 0xEA) == ()
    assert "0xea" not in overview(load("cayman"))["kernels"]


def test_explain_shows_the_dispatch(machine: gp.Machine, capsys: pytest.CaptureFixture[str]) -> None:
    gen = machine.generation.name
    assert main(["explain", "0x7d", "--gen", gen]) == 0
    out = capsys.readouterr().out
    slot = kernel_slots(machine, 0x7D)[0]
    assert "Dispatch to the vector cores of POOL" in out
    row = next(line.split() for line in out.splitlines() if line.startswith(slot.image))
    assert row[:4] == [slot.image, str(slot.index), f"0x{slot.function:08x}", "pool_cross_lane_reduce_bitvec"]
    assert "8 cores; each owns 16 partitions: core 0 has 0..15, core 7 has 112..127." in out
    assert main(["explain", "select_reduce", "--gen", gen]) == 0
    assert "vector cores of POOL" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("statement", "merge"),
    [
        ("cross_lane_reduce_arith op=ADD", np.add), ("cross_lane_reduce_arith op=MAX", np.maximum),
        ("cross_lane_reduce_bitvec op=BITWISE_XOR", np.bitwise_xor),
    ],
)  # fmt: skip
def test_a_fold_across_partitions_is_the_fold_of_what_the_cores_fold(
    machine: gp.Machine, statement: str, merge: Any
) -> None:
    """On whole numbers, where no order rounds: the cores' parts, merged, give the result of the instruction."""
    name, op = statement.split()
    text = f"""
    .tensor a sbuf 0 0x000 int32 128x6 in
    .tensor e sbuf 0 0x400 int32 1x6 out
    .stream pool
    {name} src=@a, dst=@e, reduce_{op}, reduce_axis=PARTITIONS, num_active_channels=128
    """
    program = machine.assemble(text)
    core = gp.NeuronCore(machine, compiled=False)
    core.sbuf.write(np.random.default_rng(5).integers(0, 1000, (128, 6), dtype=np.int32))
    core.run(program)
    whole = core.sbuf.read(0, 0x400, shape=(1, 6), dtype="int32")
    step = plan(machine, core.memory, program[0], lambda number, operand: 0, "pool")
    parts = []
    for share in split(step):
        execute(core, [piece(step, share.channel, share.channels, keep="out")], [0])
        parts.append(core.sbuf.read(0, 0x400, shape=(1, 6), dtype="int32"))
    assert len(parts) == 8
    assert merge.reduce(parts).tolist() == whole.tolist()
