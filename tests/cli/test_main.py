"""Exit codes, common options, and what is never imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import gpsimd_core as gp
from gpsimd_core import cli, host
from gpsimd_core.cli import main

RUN = "import sys; from gpsimd_core.cli import main; code = main(sys.argv[1:]); "


def fresh(*args: object, then: str = "", **more: Any) -> subprocess.CompletedProcess[str]:
    """The command line in an interpreter of its own; `then` runs after it."""
    command = [sys.executable, "-c", RUN + then, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def test_help_imports_nothing_heavy_and_no_plugin() -> None:
    then = "print(sorted({m.partition('.')[0] for m in sys.modules}), file=sys.stderr)"
    done = fresh("--help", then=then)
    loaded = set(eval(done.stderr))
    assert not loaded & {"numpy", "numba", "rich", "pluggy", "attrs", "attr", "ml_dtypes", "pytest"}
    assert not {m for m in loaded if m.startswith("gpsimd_")} - {"gpsimd_core"}
    for verb in ("gens", "ops", "dtypes", "plugins", "explain", "decode", "asm", "validate", "run", "example"):
        assert f"\n  {verb} " in done.stdout


def test_listing_decoding_and_validating_never_import_numba(tmp_path: Path, some_gen: str) -> None:
    program = (
        "import sys\nfrom gpsimd_core.cli import main\n"
        f"for line in {COMMANDS!r}:\n    assert main(line.split()) == 0, line\n    assert 'numba' not in sys.modules, line\n"
    )
    env = {**os.environ, "GPSIMD_GEN": some_gen}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ex/out/best.npy").exists(), "nor does a small run"


COMMANDS = [
    "gens", "ops", "dtypes", "plugins", "explain 0xEA", "example ex", "asm ex/program.tpb -o p.bin",
    "decode p.bin", "validate p.bin", "run ex/program.tpb -i ex -o ex/out",
]  # fmt: skip


def test_the_console_script() -> None:
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="gpsimd")
    assert script.load() is main


def test_a_reader_that_stops_reading(some_gen: str) -> None:
    shell = f"{sys.executable} -c '{RUN}print(code, file=sys.stderr)' ops --gen {some_gen} | head -c 10"
    done = subprocess.run(shell, shell=True, capture_output=True, text=True, check=False)
    assert (done.stdout[:6], done.stderr.strip()) == ("opcode", "0")


def test_a_terminal_that_cannot_spell_every_title(some_gen: str) -> None:
    env = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = fresh("explain", "0xEA", "--gen", some_gen, env=env, encoding="latin-1", then="sys.exit(code)")
    assert done.returncode == 0, done.stderr
    assert "The Opcode ? Kernel ? Engine Matrix" in " ".join(done.stdout.split())


def test_help_of_every_verb(gpsimd: Callable[..., Any]) -> None:
    names = cli.cli.list_commands(click.Context(cli.cli))
    assert set(names) >= {"gens", "ops", "dtypes", "plugins", "explain", "decode", "asm", "validate", "run", "example"}
    for verb in names:
        told = gpsimd(verb, "--help")
        assert told.code == 0
        assert told.out.startswith("Usage: gpsimd ")
        assert gpsimd(verb, "-h").out == told.out


def test_a_verb_without_its_module_is_not_listed(gpsimd: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.VERBS, "not-yet", "Something planned.")
    assert "not-yet" not in gpsimd("--help").out
    assert gpsimd("not-yet").code == 2


def test_version_and_no_verb(gpsimd: Callable[..., Any]) -> None:
    assert gpsimd("--version").out == f"gpsimd {gp.__version__}\n"
    assert gpsimd().code == 2


def test_common_options_before_and_after(gpsimd: Callable[..., Any], gen: str) -> None:
    before = gpsimd("--gen", gen, "--profile", "nki", "--policy", "reduce_nan=propagate", "--strict", "--json", "gens")
    after = gpsimd("gens", "--json", "--strict", "--policy", "reduce_nan=propagate", "--profile", "nki", "--gen", gen)
    mixed = gpsimd("--gen", "nowhere", "--json", "--policy", "reduce_nan=select", "gens", "--gen", gen, "--profile", "nki",
                   "--strict", "--policy", "reduce_nan=propagate")  # fmt: skip
    assert before.out == after.out == mixed.out
    policies = json.loads(before.out)["policies"]
    assert (policies["reduce_nan"], policies["select_reduce"], policies["strict"]) == ("propagate", "select", "on")


def test_who_names_the_generation(gpsimd: Callable[..., Any], gen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPSIMD_GEN", gen)
    assert gpsimd("explain", "0xEA").out.startswith(f"select_reduce (0xEA) on {gen},")
    monkeypatch.setenv("GPSIMD_GEN", "nowhere")
    assert gpsimd("explain", "0xEA").code == 2
    assert gpsimd("explain", "0xEA", "--gen", gen).code == 0
    Path("p.tpb").write_text(f".gen {gen}\nselect_reduce\n")
    assert gpsimd("decode", "p.tpb").code == 0, "the text beats the environment"


def test_without_cayman_the_first_installed_generation_is_used(
    gpsimd: Callable[..., Any], gen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "generations", lambda: (gen, "zeta"))
    assert gpsimd("explain", "0x9B").out.startswith(f"dve_read_accumulator (0x9B) on {gen},")
    monkeypatch.setattr(host, "generations", lambda: ("aaa", "cayman"))
    assert host.default_generation() == "cayman"


def test_the_default_generation(gpsimd: Callable[..., Any]) -> None:
    if "cayman" not in gp.generations():
        pytest.skip("cayman is not installed")
    assert gpsimd("explain", "0xEA").out.startswith("select_reduce (0xEA) on cayman,")


@pytest.fixture
def defect(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb with a defect of ours."""

    @click.command("gens")
    def command() -> None:
        raise RuntimeError("this cannot happen")

    monkeypatch.setattr("gpsimd_core.cli.gens.command", command)


def test_a_defect_of_ours_asks_for_a_report(gpsimd: Callable[..., Any], defect: None) -> None:
    told = gpsimd("gens")
    assert (told.code, told.out) == (70, "")
    assert "internal error: RuntimeError: this cannot happen" in told.err
    assert "Please report it" in told.err


def test_the_traceback_is_for_those_who_ask(
    defect: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPSIMD_DEBUG", "1")
    assert main(["gens"]) == 70
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_interrupting(gpsimd: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command("gens")
    def command() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpsimd_core.cli.gens.command", command)
    told = gpsimd("gens")
    assert told.code == 130
    assert told.err.strip() == "gpsimd: stopped"


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_tables_fit_the_terminal(
    gpsimd: Callable[..., Any], some_gen: str, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """On a terminal nothing is wider than it, the drawing included."""
    import re

    from gpsimd_core.cli import show

    monkeypatch.setattr(show, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    for verb in (
        ["gens"],
        ["gens", some_gen],
        ["ops"],
        ["dtypes"],
        ["plugins"],
        ["explain", "0xEA"],
        ["explain", "0x9B"],
    ):
        told = gpsimd(*verb, "--gen", some_gen)
        lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in told.out.splitlines()]
        assert max(map(len, lines)) <= columns, verb
