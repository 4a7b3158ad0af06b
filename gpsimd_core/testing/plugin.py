"""The pytest plugin: fixtures `machine` and `core`, and the option `--gen`. It imports the core when a test asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine
    from gpsimd_core.neuroncore import NeuronCore

__all__ = ["core", "generation", "machine"]

FIXTURE = "generation"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--gen`."""
    parser.getgroup("gpsimd").addoption(
        "--gen", action="append", metavar="NAME", default=[],
        help="generation that the fixtures machine and core are of; may be given again; `all` for every installed one. "
        "Without it GPSIMD_GEN, else cayman, else the first installed",
    )  # fmt: skip


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests of `machine`, `core` or `generation` once for each generation asked for."""
    if FIXTURE not in metafunc.fixturenames or not _ours(metafunc):
        return
    from gpsimd_core.host import default_generation, generations

    there = generations()
    asked: list[str] = metafunc.config.getoption("--gen")
    if not asked:
        asked = [default_generation()] if there else []
    chosen = [name for given in asked for name in (there if given == "all" else (given,))]
    unknown = [name for name in chosen if name not in there]
    if unknown:
        raise pytest.UsageError(f"--gen {unknown[0]}: not installed; there are {', '.join(there) or 'none'}")
    metafunc.parametrize(FIXTURE, list(dict.fromkeys(chosen)), indirect=True)


def _ours(metafunc: pytest.Metafunc) -> bool:
    """Whether the fixture is the one below, and no mark parametrizes it."""
    marks = (mark for mark in metafunc.definition.iter_markers("parametrize") if mark.args)
    given = {name.strip() for mark in marks for name in _names(mark.args[0])}
    found = metafunc._arg2fixturedefs.get(FIXTURE, ())
    return FIXTURE not in given and bool(found) and found[-1].func is generation_name


def _names(given: object) -> list[str]:
    return given.split(",") if isinstance(given, str) else [str(name) for name in given]  # type: ignore[attr-defined]


def generation_name(request: pytest.FixtureRequest) -> str:
    """Name of the generation that the test runs on: of `--gen`, else the default."""
    name: str = request.param
    return name


generation = pytest.fixture(scope="session", name=FIXTURE)(generation_name)


@pytest.fixture(scope="session")
def machine(generation: str) -> Machine:
    """The machine of the generation, reference profile, with every installed third-party plugin."""
    from gpsimd_core.host import load

    return load(generation)


@pytest.fixture
def core(machine: Machine) -> NeuronCore:
    """A fresh NeuronCore of `machine`."""
    from gpsimd_core.neuroncore import NeuronCore

    return NeuronCore(machine)
