"""Program files: by suffix, by content, by plugin, and with a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

import gpsimd_core as gp
from gpsimd_core.manifest import load_program, manifest_text, read_manifest, read_source

TEXT = ".tensor a sbuf 0 0x40 uint8 128x8 in\n.reg r1 = 4\nselect_reduce src0=@a\nselect_reduce op0=3\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_suffix_wins_then_content(any_machine: gp.Machine) -> None:
    raw = bytes(any_machine.assemble(TEXT))
    for name in ("p.tpb", "p.TPB", "p.txt", "p"):
        Path(name).write_text(TEXT)
        assert bytes(load_program(any_machine, name)) == raw
    for name in ("p.bin", "p.dat", "q"):
        Path(name).write_bytes(raw)
        assert bytes(load_program(any_machine, Path(name))) == raw
    Path("text.bin").write_text("x" * 64)
    assert bytes(load_program(any_machine, "text.bin")) == b"x" * 64, "a .bin is records, whatever it looks like"
    Path("raw.tpb").write_bytes(raw)
    with pytest.raises(gp.BadInput, match=r"raw\.tpb is no UTF-8 text"):
        load_program(any_machine, "raw.tpb")


def test_a_plugin_reads_forms_that_the_core_does_not_know(any_machine: gp.Machine) -> None:
    seen = []

    def load(data: bytes, name: str, machine: gp.Machine) -> Any:
        seen.append(name)
        return machine.assemble("select_reduce") if data.startswith(b"NEFF") else None

    machine = attrs.evolve(any_machine, hooks=attrs.evolve(any_machine.hooks, load_program=load))
    Path("a.neff").write_bytes(b"NEFF\x00\x01")
    assert bytes(load_program(machine, "a.neff")) == machine.encode("select_reduce")
    Path("p.tpb").write_text(TEXT)
    Path("p.bin").write_bytes(bytes(64))
    for name in ("p.tpb", "p.bin"):
        load_program(machine, name)
    assert seen == ["a.neff"], "its own forms are the core's"
    Path("b.neff").write_bytes(b"\x00other")
    with pytest.raises(gp.BadInput, match=r"b\.neff is 6 bytes, not a multiple of 64"):
        load_program(machine, "b.neff")


def test_a_plugin_that_fails_on_a_file_is_plugin_trouble(any_machine: gp.Machine) -> None:
    def load(data: bytes, name: str, machine: gp.Machine) -> Any:
        raise KeyError("section")

    machine = attrs.evolve(any_machine, hooks=attrs.evolve(any_machine.hooks, load_program=load))
    Path("a.neff").write_bytes(b"NEFF")
    with pytest.raises(gp.GpsimdError, match=r"a plugin failed to read a\.neff: KeyError: 'section'") as caught:
        load_program(machine, "a.neff")
    assert caught.value.exit_code == 4


def test_a_manifest_and_back(machine: gp.Machine) -> None:
    program = machine.assemble(TEXT)
    Path("p.bin").write_bytes(bytes(program))
    Path("p.toml").write_text(manifest_text(program))
    again = load_program(machine, "p.bin", "p.toml")
    assert (bytes(again), again.tensors, again.registers) == (bytes(program), program.tensors, program.registers)
    assert read_manifest("p.toml").generation == machine.generation.name


def test_a_manifest_by_hand(any_machine: gp.Machine) -> None:
    Path("p.bin").write_bytes(any_machine.encode("select_reduce"))
    Path("p.toml").write_text(
        '[registers]\nR5 = 7\n[[tensor]]\nname = "b"\ndtype = "bf16"\nshape = "32x4"\ndirection = "out"\npartition = 96\n'
    )
    program = load_program(any_machine, "p.bin", "p.toml")
    t = program.tensors["b"]
    assert (t.tensor.region, t.tensor.partition, t.tensor.offset, t.tensor.shape) == ("sbuf", 96, 0, (32, 4))
    assert program.registers == {5: 7}


def test_streams_of_several_files(any_machine: gp.Machine) -> None:
    Path("d.bin").write_bytes(any_machine.encode("select_reduce") * 2)
    Path("p.tpb").write_text("dve_read_accumulator\n")
    Path("s.toml").write_text('[stream]\nDVE = "d.bin"\npool = "p.tpb"\n')
    for name in ("d.bin", "p.tpb"):
        program = load_program(any_machine, name, "s.toml")
        assert program.streams == ("dve", "dve", "pool")
        assert [r.name for r in program] == ["select_reduce", "select_reduce", "dve_read_accumulator"]
    assert {e: len(p) for e, p in program.split().items()} == {"dve": 2, "pool": 1}
    text = manifest_text(program, {"dve": "d.bin", "pool": "p.tpb"})
    Path("again.toml").write_text(text)
    assert read_manifest("again.toml").streams == {"dve": "d.bin", "pool": "p.tpb"}


BAD = [
    ("[[tensor]\n", "is no TOML"),
    ("colour = 1\n", "the manifest has no key 'colour'; there are gen, tensor, registers, stream"),
    ("tensor = 1\n", "tensors are tables"),
    ("registers = 1\n", "registers is a table"),
    ("[registers]\nr64 = 1\n", "'r64' is no address register"),
    ("[registers]\nr6 = -1\n", "r6 is -1; a register holds 0 to 0xffffffff"),
    ("[registers]\nr6 = true\n", "r6 is True"),
    ("[stream]\ndve = 3\n", "[stream] takes engine = file"),
    ('[[tensor]]\nname = "q"\n', "tensor q lacks dtype, shape, direction"),
    ('[[tensor]]\nname = "q"\ndtype = "fp32"\nshape = [0]\ndirection = "in"\n', "tensor q has shape [0]"),
    ('[[tensor]]\nname = "q"\ndtype = "fp32"\nshape = "a"\ndirection = "in"\n', "tensor q has shape 'a'"),
    ('[[tensor]]\nname = "q"\ndtype = "fp32"\nshape = [1]\ndirection = "in"\noffset = "4"\n', "tensor q has offset '4'"),
    ('[[tensor]]\nname = "q"\ndtype = "fp33"\nshape = [1]\ndirection = "in"\n', "no tensor dtype is called 'fp33'"),
    ('[[tensor]]\nname = "q"\ndtype = "fp32"\nshape = [129]\ndirection = "in"\n', "partitions 0 to 128 are outside 0 to 127"),
    ('[[tensor]]\nname = "../a"\ndtype = "fp32"\nshape = [1]\ndirection = "out"\n', "'../a' is no tensor name"),
    ('[[tensor]]\nname = "a"\ndtype = "fp32"\nshape = [1]\ndirection = "in"\n', "tensor a is declared twice"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), BAD, ids=[told for _, told in BAD])
def test_bad_manifests(any_machine: gp.Machine, text: str, told: str) -> None:
    Path("p.tpb").write_text(TEXT)
    Path("m.toml").write_text(text)
    with pytest.raises(gp.BadInput) as caught:
        load_program(any_machine, "p.tpb", "m.toml")
    assert str(caught.value).startswith("m.toml")
    assert told in str(caught.value)


def test_a_source_tells_its_generation() -> None:
    Path("p.tpb").write_text(".gen maverick\nselect_reduce\n")
    assert read_source("p.tpb").generation == "maverick"
    Path("p.bin").write_bytes(bytes(64))
    assert read_source("p.bin").generation is None
