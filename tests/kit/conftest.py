"""The template's plugin, written and imported: what faults are planted in."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session")
def widget(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The plugin `widget`: its folder, its instruction, its layout module and its plugin class."""
    from gpsimd_core.cli.new_plugin import render

    folder: Path = tmp_path_factory.mktemp("kit") / "widget"
    render("widget", 0xF6, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        modules = [importlib.import_module(f"gpsimd_widget{name}") for name in ("", ".instruction", ".layout")]
        yield SimpleNamespace(
            folder=folder, plugin=modules[0].Widget, double=modules[1].DOUBLE, layout=modules[2],
            vectors=folder / "tests" / "vectors.toml",
        )  # fmt: skip
    for name in [m for m in sys.modules if m.startswith("gpsimd_widget")]:
        del sys.modules[name]
