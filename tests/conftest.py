"""What all tests share: machines of the installed generations, free of whatever third-party plugins are installed."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

import gpsimd_core as gp
from gpsimd_core.cli import main

GENERATIONS = ("sunda", "cayman", "mariana", "mariana_plus", "maverick")


@pytest.fixture(scope="session", autouse=True)
def no_third_parties() -> Iterator[None]:
    """Machines are built without third-party plugins, unless a test names them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPSIMD_PLUGINS", "")
        yield


@pytest.fixture(scope="session")
def load() -> Callable[..., gp.Machine]:
    """`load(gen, profile=..., policies=...)`: a machine, built once for each set of arguments; skips where `gen` is missing."""
    built: dict[Any, gp.Machine] = {}

    def find(gen: str, profile: str = "reference", policies: Mapping[str, object] | None = None) -> gp.Machine:
        if gen not in gp.generations():
            pytest.skip(f"{gen} is not installed")
        key = (gen, profile, tuple(sorted((policies or {}).items())))
        if key not in built:
            built[key] = gp.load(gen, profile, policies, plugins=())
        return built[key]

    return find


@pytest.fixture(params=GENERATIONS)
def machine(request: pytest.FixtureRequest, load: Callable[..., gp.Machine]) -> gp.Machine:
    """The machine of every generation in turn, with the reference profile."""
    return load(request.param)


@pytest.fixture
def any_machine(load: Callable[..., gp.Machine]) -> gp.Machine:
    """A machine of one installed generation, for what all of them share."""
    installed = [g for g in ("cayman", *GENERATIONS) if g in gp.generations()]
    if not installed:
        pytest.skip("no generation is installed")
    return load(installed[0])


@frozen
class Outcome:
    """What a call of the command line ended with and printed."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Standard output as JSON objects, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def command_line(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """`command_line("run", "p.tpb")`: the whole command line in this process; never a traceback."""

    def call(*args: object) -> Outcome:
        capsys.readouterr()
        code = main([str(a) for a in args])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Outcome(code, out, err)

    return call


def write_distribution(
    folder: Path, name: str, entry_points: Mapping[str, Mapping[str, str]], modules: Mapping[str, str] | None = None
) -> Path:
    """A distribution without an installer: metadata with entry points, and modules beside it.

    Args:
        folder: goes on `sys.path` or PYTHONPATH, whatever else lies in it.
        name: of the distribution, version 1.0.
        entry_points: group to name to target.
        modules: module name to its text.

    Returns:
        The folder.
    """
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    rows = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in row.items()) for group, row in entry_points.items()]
    (info / "entry_points.txt").write_text("\n".join(rows))
    for module, text in (modules or {}).items():
        (folder / f"{module}.py").write_text(text)
    return folder


@pytest.fixture
def throwaway(tmp_path: Path) -> Callable[..., Path]:
    """`throwaway(name, entry_points, modules)`: a distribution in a folder that only PYTHONPATH makes installed."""

    def write(
        name: str, entry_points: Mapping[str, Mapping[str, str]], modules: Mapping[str, str] | None = None
    ) -> Path:
        return write_distribution(tmp_path / "pythonpath", name, entry_points, modules)

    return write


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """`distribution(name, entry_points, modules)`: a throw-away distribution that this process sees as installed."""
    before = set(sys.modules)
    folder = tmp_path / "site"

    def add(name: str, entry_points: Mapping[str, Mapping[str, str]], modules: Mapping[str, str] | None = None) -> Path:
        write_distribution(folder, name, entry_points, modules)
        monkeypatch.syspath_prepend(folder)
        importlib.invalidate_caches()
        for module in modules or ():
            assert module not in before, f"{module} would shadow a module of this process"
        return folder

    yield add
    for module in set(sys.modules) - before:
        if str(getattr(sys.modules[module], "__file__", "") or "").startswith(str(folder)):
            del sys.modules[module]
