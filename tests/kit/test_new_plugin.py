"""`gpsimd new-plugin` writes a distribution that works as it stands, and refuses what it cannot write."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gpsimd_core as gp
from gpsimd_core.cli import main

ROOT = Path(__file__).parents[2]
FILES = [
    "README.md", "gpsimd_widget/__init__.py", "gpsimd_widget/instruction.py", "gpsimd_widget/layout.py",
    "gpsimd_widget/py.typed", "pyproject.toml", "tests/test_conformance.py", "tests/test_double.py", "tests/vectors.toml",
    "tox.ini",
]  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_it_writes_every_file_and_leaves_no_placeholder(here, capsys):
    assert main(["new-plugin", "widget"]) == 0
    assert files(here / "widget") == sorted(FILES)
    assert "cd widget && pip install" in capsys.readouterr().out
    for path in (here / "widget").rglob("*"):
        if path.is_file():
            text = path.read_text("utf-8").replace("`@lane`", "")
            assert "@NAME" not in text
            assert "@OPCODE" not in text
            assert "@CLASS" not in text


def test_tox_passes_where_packages_come_from(here):
    main(["new-plugin", "widget"])
    tox = (here / "widget" / "tox.ini").read_text("utf-8")
    assert "PIP_FIND_LINKS" in tox
    assert "PIP_INDEX_URL" in tox
    assert "PIP_FIND_LINKS" in (here / "widget" / "README.md").read_text("utf-8")


def test_json(here, capsys):
    assert main(["new-plugin", "my_widget", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["folder"] == "my_widget"
    assert "class MyWidget:" in (here / "my_widget" / "gpsimd_my_widget" / "__init__.py").read_text("utf-8")


def test_its_opcode_is_free(here):
    main(["new-plugin", "widget"])
    text = (here / "widget" / "gpsimd_widget" / "instruction.py").read_text("utf-8")
    opcode = int(text.partition("opcodes=(")[2].partition(",)")[0], 16)
    assert all(opcode not in gp.load(name).opcodes for name in gp.generations())


@pytest.mark.parametrize("name", ["Widget", "my-widget", "9lives", "a b", "class", "../up", "core", ""])
def test_bad_names(here, name, capsys):
    assert main(["new-plugin", "--", name]) == 2
    assert "a plugin cannot be called" in capsys.readouterr().err
    assert list(here.iterdir()) == []


@pytest.mark.skipif(not gp.generations(), reason="no generation is installed")
def test_the_name_of_a_generation(here, capsys):
    name = gp.generations()[0]
    assert main(["new-plugin", name]) == 2
    assert f"gpsimd-{name} exists" in capsys.readouterr().err


def test_an_existing_folder_is_left_alone(here, capsys):
    (here / "widget").mkdir()
    (here / "widget" / "mine.txt").write_text("mine")
    assert main(["new-plugin", "widget"]) == 2
    assert "exists; nothing was written" in capsys.readouterr().err
    assert files(here / "widget") == ["mine.txt"]


@pytest.mark.parametrize("opcode", ["300", "x", "-1"])
def test_bad_opcodes(here, opcode, capsys):
    assert main(["new-plugin", "widget", f"--opcode={opcode}"]) == 2
    assert "it is a byte" in capsys.readouterr().err


@pytest.mark.skipif(not gp.generations(), reason="no generation is installed")
def test_a_taken_opcode(here, capsys):
    assert main(["new-plugin", "widget", "--opcode", "0xEA"]) == 2
    assert "0xEA is select_reduce on" in capsys.readouterr().err
    assert list(here.iterdir()) == []


@pytest.mark.slow
def test_tox_of_a_new_plugin_is_green_from_built_wheels(here):
    """As its README says: PIP_FIND_LINKS names the folder of wheels; the rest comes from the index that pip knows."""
    wheels = here / "wheels"
    for folder in (ROOT, *sorted((ROOT / "plugins").iterdir())):
        source = here / "source" / folder.name
        shutil.copytree(
            folder, source, ignore=shutil.ignore_patterns(".git", "*.egg-info", "build", "site", ".tox", "dist")
        )
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(wheels), str(source)]
        subprocess.run(build, check=True, capture_output=True)
    assert main(["new-plugin", "widget"]) == 0
    subprocess.run([sys.executable, "-m", "venv", str(here / "venv")], check=True)
    python = here / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "tox>=4.23"], check=True)
    env = os.environ | {"PIP_FIND_LINKS": str(wheels)}
    done = subprocess.run(
        [python, "-m", "tox", "run"], cwd=here / "widget", env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("passed") >= 4
