"""`gpsimd plugins`, and what a third party's plugin or verb does to the command line."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import pytest

import gpsimd_core as gp
from gpsimd_core import cli, host

Install = Callable[..., None]
REAL_LOAD = host.load

GOOD = "from gpsimd_core import hookimpl\nclass plugin:\n    GPSIMD_API = 1\n"
VERB = "import click\n@click.command(help='Says hello.')\n@click.pass_obj\ndef command(session):\n    click.echo('hello ' + session.generation())\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """`install("gpsimd.plugins", name, source)`: a distribution called `name` with one entry point to that source."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(host, "entry_points", metadata.entry_points)
    monkeypatch.setattr(cli, "entry_points", lambda group: metadata.entry_points(group=group))
    monkeypatch.setattr(host, "load", REAL_LOAD)

    def add(group: str, name: str, source: str, attribute: str = "plugin") -> None:
        module = f"thirdparty_{name}"
        (site / f"{module}.py").write_text(source)
        info = site / f"thirdparty_{name}-1.4.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: thirdparty-{name}\nVersion: 1.4\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}:{attribute}\n")
        monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.setenv("GPSIMD_PLUGINS", name if group == "gpsimd.plugins" else "")
        importlib.invalidate_caches()

    return add


def test_generations_are_listed_and_load(gpsimd: Callable[..., Any], gen: str) -> None:
    told = gpsimd("plugins")
    assert told.code == 0
    row = next(line.split() for line in told.out.splitlines() if line.split()[1:2] == [gen])
    assert row[0] == "generation"
    assert row[-1] == "loads"
    objects = {o["name"]: o for o in gpsimd("plugins", "--json").objects}
    assert objects[gen]["state"] == "loads"
    assert objects[gen]["target"].startswith("gpsimd_")


@pytest.mark.parametrize(
    ("source", "state"),
    [
        (GOOD, "loads"),
        ("raise RuntimeError('no luck')\n", "failed: RuntimeError: no luck"),
        (GOOD.replace("= 1", "= 2"), "it states GPSIMD_API = 2, this core has 1"),
        (GOOD.replace("    GPSIMD_API = 1\n", "    pass\n"), "it does not state GPSIMD_API = 1"),
        (GOOD + "    @hookimpl\n    def gpsimd_decod(self, gen): return ()\n", "it implements gpsimd_decod, which is no hook; did you mean gpsimd_decode"),
    ],
    ids=["good", "import", "other api", "no api", "misspelt hook"],
)  # fmt: skip
def test_a_plugin_and_its_state(
    gpsimd: Callable[..., Any], install: Install, some_gen: str, source: str, state: str
) -> None:
    install("gpsimd.plugins", "mine", source)
    told = gpsimd("plugins", "--gen", some_gen)
    assert told.code == 0
    row = next(line for line in told.out.splitlines() if line.split()[:2] == ["plugin", "mine"])
    assert state in row
    other = gpsimd("gens", some_gen)
    assert other.code == 0, "the command goes on"
    assert (state in other.err) == (state != "loads")
    assert ("warning: plugin mine (thirdparty-mine 1.4) is not used" in other.err) == (state != "loads")
    quiet = gpsimd("gens", some_gen, "--no-plugin", "mine")
    assert (quiet.code, quiet.err) == (0, "")
    assert "left out by --no-plugin" in gpsimd("plugins", "--gen", some_gen, "--no-plugin", "mine").out


def test_a_clash_is_exit_4_and_tells_the_cure(gpsimd: Callable[..., Any], install: Install, some_gen: str) -> None:
    source = (
        "from gpsimd_core import hookimpl\nfrom gpsimd_core.values import Encoding, Evidence\n"
        "class Plugin:\n    GPSIMD_API = 1\n    @hookimpl\n    def gpsimd_decode(self, gen):\n"
        "        return [Encoding(opcode=0xEA, name='fused_pick', evidence=Evidence(confidence='none', source='me'))]\n"
        "plugin = Plugin()\n"
    )
    install("gpsimd.plugins", "mine", source)
    told = gpsimd("plugins", "--gen", some_gen)
    assert told.code == 4
    assert "opcode 0xEA" in told.err
    assert "keep one with --no-plugin mine" in told.err
    assert "plugin " in told.out, "the list comes first"
    for args in (("ops",), ("gens", some_gen), ("validate", "x.tpb")):
        Path("x.tpb").write_text("select_reduce\n")
        assert gpsimd(*args, "--gen", some_gen).code == 4
    assert gpsimd("ops", "--gen", some_gen, "--no-plugin", "mine").code == 0


def test_a_verb_of_a_plugin(gpsimd: Callable[..., Any], install: Install, some_gen: str) -> None:
    install("gpsimd.commands", "hello", VERB, "command")
    assert re.search(r"\n  hello +from thirdparty-hello\n", gpsimd("--help").out)
    assert gpsimd("--gen", some_gen, "hello").out == f"hello {some_gen}\n"
    assert gpsimd("hello", "--gen", some_gen).out == f"hello {some_gen}\n", "the common options work after it too"
    assert "Says hello." in gpsimd("hello", "--help").out
    row = next(line for line in gpsimd("plugins").out.splitlines() if line.split()[:2] == ["verb", "hello"])
    assert row.endswith("loads")


@pytest.mark.parametrize(
    ("source", "why"), [("1/0\n", "ZeroDivisionError: division by zero"), ("command = 3\n", "is no click command")]
)
def test_a_broken_verb(gpsimd: Callable[..., Any], install: Install, source: str, why: str) -> None:
    install("gpsimd.commands", "hello", source, "command")
    assert "hello" in gpsimd("--help").out, "help imports no plugin, so it cannot know"
    told = gpsimd("hello")
    assert told.code == 4
    assert "verb hello of thirdparty-hello 1.4 does not load" in told.err
    assert why in told.err
    listed = gpsimd("plugins")
    assert listed.code == 0
    assert "warning: verb hello does not load" in listed.err
    assert why in listed.out


def test_a_verb_of_ours_cannot_be_taken(gpsimd: Callable[..., Any], install: Install, some_gen: str) -> None:
    install("gpsimd.commands", "ops", VERB, "command")
    assert gpsimd("ops", "--gen", some_gen).code == 0
    assert "hello" not in gpsimd("ops", "--gen", some_gen).out


def test_a_verb_keeps_its_own_option_and_hears_the_one_before_it(gpsimd: Callable[..., Any], install: Install) -> None:
    source = (
        "import click\n@click.command()\n@click.option('--gen', help='Its own.')\n@click.option('--json', 'j', is_flag=True)\n"
        "def command(gen, j):\n    click.echo(f'{gen} {j}')\n"
    )
    install("gpsimd.commands", "hello", source, "command")
    assert gpsimd("hello", "--gen", "a").out == "a False\n"
    assert gpsimd("--gen", "b", "--json", "hello").out == "b True\n"
    assert gpsimd("--gen", "b", "hello", "--gen", "c").out == "c False\n"
    assert gpsimd("hello").out == "None False\n"


def test_without_any_generation(gpsimd: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "load", REAL_LOAD)
    monkeypatch.setattr(host, "entry_points", lambda **wanted: [])
    assert gpsimd("gens").code == 4
    told = gpsimd("ops")
    assert told.code == 2
    assert "installed: none: install a generation plugin, for example gpsimd-cayman" in told.err
    assert gpsimd("plugins").code == 0


def test_installed_generations_are_not_imported_by_listing_them() -> None:
    assert isinstance(gp.generations(), tuple)
    assert isinstance(cli.cli, click.Group)
