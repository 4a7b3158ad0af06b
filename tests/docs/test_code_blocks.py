"""What README and documentation show works: Python runs, `gpsimd` commands end with 0, TOML reads, vectors pass."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

import gpsimd_core as gp
from gpsimd_core.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(len(gp.generations()) < 5, reason="examples use all generations"),
]


def blocks(path: Path, *kinds: str) -> list[str]:
    return [text for kind, text in FENCE.findall(path.read_text("utf-8")) if kind in kinds]


def having(*kinds: str) -> list[object]:
    return [pytest.param(path, id=path.name) for path in PAGES if blocks(path, *kinds)]


def commands(path: Path) -> list[list[str]]:
    """Words after `gpsimd` of every command that a page shows; what installs or changes folders is left out."""
    found = []
    for text in blocks(path, "sh"):
        for line in text.splitlines():
            for part in line.partition(" #")[0].split("&&"):
                words = shlex.split(part)
                if words[:1] == ["gpsimd"]:
                    found.append(words[1:])
    return found


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("path", having("python"))
def test_python(path: Path) -> None:
    """A page's blocks run in order, as a reader would paste them."""
    names: dict[str, object] = {"__name__": "page"}
    for number, text in enumerate(blocks(path, "python"), 1):
        exec(compile(text, f"{path.name} block {number}", "exec"), names)


@pytest.mark.parametrize("path", [p for p in PAGES if commands(p)], ids=lambda p: p.name)
def test_commands(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in commands(path):
        assert main(words) == 0, f"gpsimd {shlex.join(words)}: {capsys.readouterr().err}"


@pytest.mark.parametrize("path", having("toml"))
def test_toml(path: Path) -> None:
    for text in blocks(path, "toml"):
        content = tomllib.loads(text)
        if "example" in content:
            report = gp.check_vectors(content)
            assert report.ok
            assert len(report.passed) == len(content["example"])


def test_programs_of_the_quick_start(tmp_path: Path) -> None:
    (text,) = [t for t in blocks(ROOT / "docs" / "quickstart.md", "text") if "select_reduce" in t]
    program = gp.load("cayman", plugins=()).assemble(text)
    assert program.machine.validate(program).ok


def test_nothing_is_left_untested() -> None:
    """Every kind of block is one that a test runs, or plain text."""
    kinds = {kind for path in PAGES for kind, _ in FENCE.findall(path.read_text("utf-8"))}
    assert kinds <= {"python", "sh", "toml", "text"}
