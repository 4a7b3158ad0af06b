"""`gpsimd control`: run, asm, dis."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gpsimd_core.cli import cli
from gpsimd_core.control import Trap, assemble
from gpsimd_core.errors import BadInput, UsageError


def control(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(cli, ["control", *arguments], input=stdin)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "p.s"
    path.write_text("movi a2, 5\naddi a3, a2, 1\nhalt 3\n")
    return path


def test_run_prints_why_it_stopped_and_the_registers(program: Path) -> None:
    result = control("run", str(program))
    assert result.exit_code == 0
    first, second, *_ = result.stdout.splitlines()
    assert first == "halt 3 at 0x00000006 after 3 steps"
    assert second == "a0  00000000  a1  00ffffe0  a2  00000005  a3  00000006"


def test_json(program: Path) -> None:
    facts = json.loads(control("run", str(program), "--json").stdout)
    assert facts["stop"] == "halt"
    assert facts["registers"]["a3"] == 6
    assert (facts["steps"], facts["pc"], facts["variant"]) == (3, 6, "q7")


@pytest.mark.parametrize(
    "content",
    [bytes.fromhex("22a005 32c201 305200"), b"05a022 01c232\n005230\n", b"movi a2, 5\naddi a3, a2, 1\nhalt 3"],
    ids=["machine code", "hex words", "assembly"],
)
def test_run_takes_code_words_or_assembly(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(content)
    assert control("run", str(path)).stdout == control("run", "-", stdin=content).stdout
    assert "a3  00000006" in control("run", str(path)).stdout


def test_raw_forces_machine_code(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(b"oooooo")
    assert "word 6f6f6f" in str(control("run", str(path), "--raw").exception)


def test_trace(program: Path) -> None:
    lines = control("run", str(program), "--trace").stdout.splitlines()
    assert lines[1] == "     1  00000003  addi a3, a2, 1                a3 00000000 -> 00000006"
    assert lines[3].startswith("halt 3")


def test_registers_and_start(program: Path) -> None:
    result = control("run", str(program), "--ar", "a2=0x10", "--ar", "5=-1", "--pc", "3")
    assert "a3  00000011" in result.stdout
    assert "a5  ffffffff" in result.stdout


def test_load_puts_other_files_into_memory(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes.fromhex("00efbeadde"))
    (tmp_path / "p.s").write_text("movi a2, 0x400\nl32i a3, a2, 4\nhalt 0")
    result = control("run", str(tmp_path / "p.s"), "--load", f"{tmp_path / 'data'}@0x403")
    assert "a3  deadbeef" in result.stdout


def test_the_step_limit_is_exit_1(tmp_path: Path) -> None:
    path = tmp_path / "p.s"
    path.write_text("here: j here")
    result = control("run", str(path), "--max-steps", "100")
    assert result.exit_code == 1
    assert result.stdout.startswith("step limit at 0x00000000 after 100 steps")
    assert "step limit of 100 reached at 0x00000000; raise it with --max-steps" in result.stderr


def test_a_fault_is_an_error_with_exit_5(tmp_path: Path) -> None:
    path = tmp_path / "p.s"
    path.write_text("movi a3, 5\nl32i a2, a3, 0")
    error = control("run", str(path)).exception
    assert isinstance(error, Trap)
    assert error.exit_code == 5
    assert "LoadStoreAlignment" in str(error)


@pytest.mark.parametrize("option", [["--vectors", "0x400"], ["--vectors=0x400"]])
def test_vectors_take_an_address(option: list[str], tmp_path: Path) -> None:
    path = tmp_path / "p.s"
    path.write_text("syscall\n.org 0x400\nhalt 7")
    assert control("run", *option, str(path)).stdout.startswith("halt 7")


def test_vectors_alone(tmp_path: Path) -> None:
    path = tmp_path / "p.s"
    path.write_text("movi a2, 0x40\nwsr.vecbase a2\nsyscall\n.org 0x40\nhalt 7")
    assert control("run", "--vectors", str(path)).stdout.startswith("halt 7")
    assert control("run", str(path), "--vectors").stdout.startswith("halt 7")
    assert isinstance(control("run", str(path)).exception, Trap)


def test_spill_stop(tmp_path: Path) -> None:
    path = tmp_path / "p.s"
    path.write_text("call8 f\n.align 4\nf: entry a1, 32\ncall8 f")
    error = control("run", str(path), "--spill", "stop").exception
    assert isinstance(error, Trap)
    assert error.name == "WindowOverflow8"


def test_variants(tmp_path: Path) -> None:
    path = tmp_path / "p.s"
    path.write_text("movi a2, 1\nmovi a3, 4\nsimcall")
    result = control("run", str(path), "--variant", "classic")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, "exit 4 at 0x00000006 after 3 steps")
    error = control("run", str(path)).exception
    assert isinstance(error, BadInput)
    assert "it exists on classic" in str(error)


def test_asm_and_dis_are_inverse(program: Path, tmp_path: Path) -> None:
    code = tmp_path / "code"
    assert control("asm", str(program), "-o", str(code)).exit_code == 0
    assert code.read_bytes() == assemble(program.read_text()).flat()
    listing = control("dis", str(code)).stdout
    assert listing == control("asm", str(program)).stdout
    assert listing.splitlines()[0] == "        movi a2, 5                      ; 00000000  05a022"
    again = tmp_path / "again.s"
    again.write_text(listing)
    control("asm", str(again), "-o", str(tmp_path / "code2"))
    assert (tmp_path / "code2").read_bytes() == code.read_bytes()


@pytest.mark.parametrize(
    ("words", "variant", "texts"),
    [
        (["03eb30", "f01d"], "q7", ["rsr.prid a3", "retw.n"]),
        (["0x0003F5"], "q7", ["break1 3"]),
        (["0003f5"], "classic", ["call12 0x00000040"]),
        (["ffffff"], "q7", [".byte 0xff, 0xff, 0xff"]),
    ],
)
def test_dis_words(words: list[str], variant: str, texts: list[str]) -> None:
    lines = control("dis", "--words", *words, "--variant", variant).stdout.splitlines()
    assert [line.split(";")[0].strip() for line in lines] == texts


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (["run", "nothing.s"], BadInput, "nothing.s: No such file or directory"),
        (["dis", "--words", "03eb3"], BadInput, "expected a word of 4 or 6 hex digits, found '03eb3'"),
        (["dis"], UsageError, "give a file, or --words"),
        (["run", "-", "--load", "x"], UsageError, "expected FILE@ADDR"),
        (["run", "-", "--ar", "a16=1"], UsageError, "expected a0=VALUE to a15=VALUE"),
        (["run", "-", "--pc", "here"], UsageError, "--pc: expected a number, found 'here'"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], kind: type[Exception], message: str) -> None:
    error = control(*arguments, stdin=b"halt 0").exception
    assert isinstance(error, kind)
    assert message in str(error)


def test_help_names_the_verbs() -> None:
    text = control("--help").stdout
    assert all(verb in text for verb in ("run", "asm", "dis"))
    assert "--max-steps" in control("run", "--help").stdout
