"""What all tests share: machines of the installed generations, free of whatever third-party plugins are installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

import gpsimd_core as gp

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
