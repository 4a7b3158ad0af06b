"""One version everywhere, a public surface that changes only announced, and distributions that install by themselves."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

import gpsimd_core as gp

ROOT = Path(__file__).parents[2]
FIVE = [ROOT, *sorted(p.parent for p in ROOT.glob("plugins/*/pyproject.toml"))]


@pytest.fixture(scope="module")
def script() -> dict:
    return runpy.run_path(str(ROOT / "scripts" / "set_version.py"))


def test_one_version_stands_everywhere(script: dict) -> None:
    found = script["found"]()
    versions = {v for place, v in found.items() if not place.endswith("requires")}
    assert versions == {gp.__version__}
    assert {v for place, v in found.items() if place.endswith("requires")} == {script["requirement"](gp.__version__)}


def test_the_changelog_names_the_version() -> None:
    heads = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert heads[0].rstrip(",") == gp.__version__


def test_the_script_writes_every_place(script: dict, tmp_path: Path) -> None:
    names = ["pyproject.toml", "gpsimd_core/__init__.py", *(str(p.relative_to(ROOT)) for p in script["requirements"]())]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "scripts").mkdir()
    copy = shutil.copy(ROOT / "scripts" / "set_version.py", tmp_path / "scripts")
    done = subprocess.run([sys.executable, copy, "3.7.1"], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 2 * len(names) - 2
    for name in names:
        text = (tmp_path / name).read_text("utf-8")
        assert '"3.7.1"' in text
        assert "gpsimd-core>=3.7.1,<3.8" in text or name in names[:2]
    for wrong in ("3.7", "new", "3.7.1.dev0"):
        assert subprocess.run([sys.executable, copy, wrong], capture_output=True, check=False).returncode == 2


@pytest.mark.parametrize("folder", FIVE, ids=lambda p: p.name)
def test_what_a_distribution_needs_is_there(folder: Path) -> None:
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    package = project["name"].replace("-", "_")
    assert (folder / package / "py.typed").is_file()
    assert (folder / "LICENSE").read_text("utf-8") == (ROOT / "LICENSE").read_text("utf-8")
    assert (project["license"], project["license-files"]) == ("Apache-2.0", ["LICENSE"])
    assert (folder / project["readme"]).is_file()


@pytest.mark.filterwarnings("default")
def test_the_public_surface_changes_only_announced() -> None:
    """Run scripts/public_surface.py where a change is meant, and say in the changelog what changed."""
    made = runpy.run_path(str(ROOT / "scripts" / "public_surface.py"))["text"]()
    kept = (ROOT / "tests" / "docs" / "public-surface.txt").read_text("utf-8")
    assert made.splitlines() == kept.splitlines()


@pytest.mark.slow
def test_the_distributions_install_from_a_folder_alone(tmp_path: Path) -> None:
    """Wheels and sdists of all five; then, without index and source tree, the README's main job on what was installed."""
    dist = tmp_path / "dist"
    for folder in FIVE:
        source = tmp_path / "source" / folder.name
        ignored = shutil.ignore_patterns(".git", "*.egg-info", "build", "site", ".tox", "dist", ".venv")
        shutil.copytree(folder, source, ignore=ignored)
        subprocess.run(
            [sys.executable, "-m", "build", "--outdir", str(dist), str(source)], check=True, capture_output=True
        )
    shutil.rmtree(tmp_path / "source")
    assert len(list(dist.glob("gpsimd_*.whl"))) == len(list(dist.glob("gpsimd_*.tar.gz"))) == 5

    names = [f"gpsimd-{name}" for name in ("core", "sunda", "cayman", "mariana", "maverick")]
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "download", "-q", "--find-links", str(dist), "--dest", str(dist), *names], check=True)
    venv.create(tmp_path / "venv", with_pip=True)
    bin = tmp_path / "venv" / "bin"
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "PYTHON", "GPSIMD_", "NUMBA_"))}

    def run(*words: str) -> str:
        command = [str(bin / words[0]), *words[1:]]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    run("pip", "install", "--no-index", "--find-links", str(dist), *names)
    assert "site-packages" in run("python", "-c", "import gpsimd_core; print(gpsimd_core.__file__)")
    run("gpsimd", "example", "demo")
    line = next(line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if "gpsimd run demo/" in line)
    run(*line.partition("&& gpsimd run")[2].join(("gpsimd run", "")).split())
    assert {p.name for p in (tmp_path / "demo" / "out").iterdir()} >= {"kept.npy", "best.npy"}
    for name in ("sunda", "cayman", "mariana", "mariana_plus", "maverick"):
        assert "select_reduce (0xEA)" in run("gpsimd", "--gen", name, "explain", "0xEA")
    run("gpsimd", "new-plugin", "widget")

    venv.create(tmp_path / "from_source", with_pip=True)
    pip = [str(tmp_path / "from_source" / "bin" / "python"), "-m", "pip", "install", "-q", "--find-links", str(dist)]
    subprocess.run(
        [*pip, "--no-deps", "--no-binary", "gpsimd-core,gpsimd-cayman", "gpsimd-core", "gpsimd-cayman"], check=True
    )
