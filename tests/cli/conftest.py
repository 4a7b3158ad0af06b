"""The command line in process: `gpsimd(...)` gives exit code and what was printed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gpsimd_core as gp
from gpsimd_core import cli, host

Run = Callable[..., Any]


@pytest.fixture(scope="module", autouse=True)
def distributions_are_read_once() -> Iterator[None]:
    """Looking through every installed distribution takes longer than most tests here."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (host, cli):
            patch.setattr(module, "entry_points", functools.cache(module.entry_points))
        yield


@pytest.fixture(scope="session")
def loaded() -> Callable[..., gp.Machine]:
    """`gp.load`, each machine built once: machines are frozen, and hundreds of calls ask for the same few."""
    built: dict[str, gp.Machine] = {}

    def load(name: str, *args: Any, **more: Any) -> gp.Machine:
        key = repr((name, args, more))
        if key not in built:
            built[key] = real(name, *args, **more)
        return built[key]

    real = host.load
    return load


@pytest.fixture
def gpsimd(
    command_line: Run,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    loaded: Callable[..., gp.Machine],
) -> Run:
    """`gpsimd("run", "p.tpb")` in an empty folder; never a traceback."""
    monkeypatch.setattr(host, "load", loaded)
    for name in ("GPSIMD_GEN", "GPSIMD_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return command_line


@pytest.fixture(params=["sunda", "cayman", "mariana", "mariana_plus", "maverick"])
def gen(request: pytest.FixtureRequest) -> str:
    """Every generation name in turn; skips where it is not installed."""
    if request.param not in gp.generations():
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


@pytest.fixture
def some_gen() -> str:
    """The default generation, or another where it is not installed."""
    names = gp.generations()
    if not names:
        pytest.skip("no generation is installed")
    return "cayman" if "cayman" in names else names[0]


@pytest.fixture
def example(gpsimd: Run) -> str:
    """The shipped example in the folder `ex`."""
    assert gpsimd("example", "ex").code == 0
    return "ex"
