"""The pytest plugin in a process of its own: fixtures by `--gen`, and conformance in one line."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import gpsimd_core as gp

TESTS = """
def test_core(machine, core):
    assert core.machine is machine

def test_name(machine, generation):
    assert machine.generation.name == generation
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)

    def of(*words):
        env = {k: v for k, v in os.environ.items() if not k.startswith("GPSIMD_GEN")}
        env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the entry point is named once, installed or not
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "gpsimd_core.testing.plugin",
            "-p",
            "no:cacheprovider",
            "-v",
            *words,
        ]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    return of


needs_one = pytest.mark.skipif(not gp.generations(), reason="no generation is installed")


@needs_one
def test_every_generation(run):
    done = run("--gen", "all")
    assert done.returncode == 0, done.stdout
    for name in gp.generations():
        assert f"test_it.py::test_core[{name}] PASSED" in done.stdout


@needs_one
def test_the_option_may_be_given_again(run):
    names = gp.generations()[:2]
    done = run(*(word for name in names for word in ("--gen", name)))
    assert done.stdout.count("PASSED") == 2 * len(names)


@needs_one
def test_one_without_the_option(run):
    assert run().stdout.count("PASSED") == 2


def test_an_unknown_generation(run):
    done = run("--gen", "nowhere")
    assert done.returncode != 0
    assert "--gen nowhere: not installed" in done.stdout + done.stderr
