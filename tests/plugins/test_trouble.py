"""What a user sees when a plugin is in trouble: message and exit code, through the command line in a fresh process.

The distributions are throw-away folders on PYTHONPATH, metadata and a module each. A third-party plugin that does not
load is a warning, and the command goes on with its own exit code; plugins that contradict each other end with exit 4.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gpsimd_core as gp

OK, NO, USAGE, TROUBLE = 0, 1, 2, 4

GOOD = """
from gpsimd_core.hookspecs import hookimpl
from gpsimd_core.isa.layout import ungrounded
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Encoding, Evidence, Instruction

EVIDENCE = Evidence(confidence="PROPOSED", source="a test")

class Own(Bundle):
    title, evidence = "OWN", EVIDENCE
    body = ungrounded.at(12, 52)

def instruction(name="own_op", opcode=0xF6, **more):
    return Instruction(name=name, opcodes=(opcode,), engine="dve", layout=Own, evidence=EVIDENCE, **more)

class Plugin:
    GPSIMD_API = 1
    @hookimpl
    def gpsimd_execute(self, gen):
        return [instruction()]
"""


@pytest.fixture(scope="session")
def gen() -> str:
    names = [g for g in ("cayman", *gp.generations()) if g in gp.generations()]
    if not names:
        pytest.skip("no generation is installed")
    return names[0]


@pytest.fixture
def gpsimd(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`gpsimd(*words)`: the command line with the throw-away distributions, and with nothing else of third parties."""

    def run(*words: str, plugins: str | None = None) -> subprocess.CompletedProcess[str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith("GPSIMD_")}
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(tmp_path / "pythonpath"), env.get("PYTHONPATH")]))
        if plugins is not None:
            env["GPSIMD_PLUGINS"] = plugins
        code = "import sys; from gpsimd_core.cli import main; sys.exit(main())"
        return subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, env=env, check=False
        )

    return run


@pytest.fixture
def install(throwaway: Callable[..., Path]) -> Callable[..., None]:
    """`install(text, name)`: a distribution `dist-NAME` whose plugin is `Plugin()` of a module with this text."""

    def add(text: str, name: str = "trouble") -> None:
        module = f"throwaway_{name}"
        throwaway(
            f"dist-{name}", {"gpsimd.plugins": {name: f"{module}:plugin"}}, {module: text + "\nplugin = Plugin()\n"}
        )

    return add


def assert_no_traceback(done: subprocess.CompletedProcess[str]) -> None:
    assert "Traceback" not in done.stdout + done.stderr
    assert "internal error" not in done.stderr


def test_a_plugin_without_trouble(
    install: Callable[..., None], gpsimd: Callable[..., subprocess.CompletedProcess[str]], gen: str
) -> None:
    install(GOOD)
    done = gpsimd("--gen", gen, "ops", plugins="trouble")
    assert (done.returncode, done.stderr) == (OK, "")
    assert "own_op" in done.stdout


TROUBLE_CASES = [
    pytest.param(
        GOOD.replace("[instruction()]", '[instruction("fused_pick", 0xEA)]'), TROUBLE,
        ["cannot build {gen}, ", "opcode 0xEA: gpsimd-{dist} ", "says select_reduce, dist-trouble 1.0 says fused_pick",
         "keep one with --no-plugin trouble, or set overrides=\"{gen}:select_reduce\" on the row that should win"],
        id="a clash",
    ),
    pytest.param(
        GOOD.replace("instruction()]", "instruction(overrides=\"*:old_name\")]"), TROUBLE,
        ["instruction own_op: dist-trouble 1.0 overrides '*:old_name', which nobody provides"],
        id="an override that matches nothing",
    ),
    pytest.param(
        GOOD.replace("GPSIMD_API = 1", "GPSIMD_API = 99"), OK,
        ["warning: plugin trouble (dist-trouble 1.0) is not used: it states GPSIMD_API = 99, this core has 1"],
        id="a wrong API number",
    ),
    pytest.param(
        GOOD.replace("    GPSIMD_API = 1\n", ""), OK,
        ["warning: plugin trouble (dist-trouble 1.0) is not used: it does not state GPSIMD_API = 1"],
        id="no API number",
    ),
    pytest.param(
        "import no_such_module_anywhere\nclass Plugin: ...\n", OK,
        ["warning: plugin trouble (dist-trouble 1.0) is not used: importing throwaway_trouble:plugin failed: "
         "ModuleNotFoundError: No module named 'no_such_module_anywhere'"],
        id="a failing import",
    ),
    pytest.param(
        GOOD.replace("def gpsimd_execute", "def gpsimd_exectue"), OK,
        ["warning: plugin trouble (dist-trouble 1.0) is not used: it implements gpsimd_exectue, which is no hook; "
         "did you mean gpsimd_execute"],
        id="a misspelt hook",
    ),
    pytest.param(
        GOOD.replace("def gpsimd_execute(self, gen)", "def gpsimd_execute(self, generation)"), OK,
        ["warning: plugin trouble (dist-trouble 1.0) is not used: ", "generation"],
        id="a hook with another argument",
    ),
    pytest.param(
        GOOD.replace("return [instruction()]", "raise OSError('disk on fire')"), TROUBLE,
        ["plugin trouble (dist-trouble 1.0): gpsimd_execute failed: OSError: disk on fire"],
        id="a hook that raises",
    ),
    pytest.param(
        GOOD.replace("return [instruction()]", "return ['own_op']"), TROUBLE,
        ["plugin trouble returned 'own_op' where Instruction values belong"],
        id="a hook that returns something else",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "messages"), TROUBLE_CASES)
def test_trouble(
    install: Callable[..., None], gpsimd: Callable[..., subprocess.CompletedProcess[str]], gen: str, text: str,
    code: int, messages: list[str],
) -> None:  # fmt: skip
    """On standard error, whole, without a traceback. What the command itself says is there unless the exit code is 4."""
    install(text)
    done = gpsimd("--gen", gen, "ops", plugins="trouble")
    dist = gen.removesuffix("_plus")
    for message in messages:
        assert message.format(gen=gen, dist=dist) in done.stderr
    assert done.returncode == code
    assert ("select_reduce" in done.stdout) == (code == OK)
    assert_no_traceback(done)


def test_a_wish_to_leave_it_out_is_heard(
    install: Callable[..., None], gpsimd: Callable[..., subprocess.CompletedProcess[str]], gen: str
) -> None:
    """The cure that the message of a clash names works, before and after the verb."""
    install(TROUBLE_CASES[0].values[0])  # type: ignore[arg-type]
    for words in (("--no-plugin", "trouble", "ops"), ("ops", "--no-plugin", "trouble")):
        done = gpsimd("--gen", gen, *words, plugins="trouble")
        assert (done.returncode, done.stderr) == (OK, "")
        assert "select_reduce" in done.stdout


def test_the_other_cure_works_too(
    install: Callable[..., None], gpsimd: Callable[..., subprocess.CompletedProcess[str]], gen: str
) -> None:
    """With `overrides`, the row wins: 0xEA is what the plugin says."""
    mine = f'[instruction("fused_pick", 0xEA, overrides="{gen}:select_reduce")]'
    install(GOOD.replace("[instruction()]", mine))
    done = gpsimd("--gen", gen, "ops", plugins="trouble")
    assert done.returncode == OK, done.stderr
    assert "fused_pick" in done.stdout
    assert "select_reduce" not in done.stdout


def test_a_warning_does_not_change_the_answer(
    install: Callable[..., None], gpsimd: Callable[..., subprocess.CompletedProcess[str]], gen: str, tmp_path: Path
) -> None:
    """validate answers no with exit 1, whether or not some plugin failed to load."""
    install("raise ValueError('half installed')\nclass Plugin: ...")
    bad = tmp_path / "bad.bin"
    bad.write_bytes(bytes([0xEA, 15]) + bytes(62))
    done = gpsimd("--gen", gen, "validate", str(bad), plugins="trouble")
    assert done.returncode == NO
    assert "is not used: importing throwaway_trouble:plugin failed: ValueError: half installed" in done.stderr
    assert_no_traceback(done)


def test_an_unknown_plugin_name_is_usage(gpsimd: Callable[..., subprocess.CompletedProcess[str]], gen: str) -> None:
    done = gpsimd("--gen", gen, "--no-plugin", "nobody", "ops", plugins="")
    assert done.returncode == USAGE
    assert "no plugin is called 'nobody'; installed: " in done.stderr


def test_a_generation_that_does_not_load_is_exit_4(
    throwaway: Callable[..., Path], gpsimd: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    throwaway("gpsimd-sick", {"gpsimd.generations": {"sick": "throwaway_sick:plugin"}}, {"throwaway_sick": "1 / 0"})
    done = gpsimd("--gen", "sick", "ops", plugins="")
    assert done.returncode == TROUBLE
    assert (
        "generation sick (gpsimd-sick 1.0) does not load: importing throwaway_sick:plugin failed: ZeroDivisionError"
        in done.stderr
    )
    assert_no_traceback(done)


def test_a_sick_generation_does_not_disturb_the_others(
    throwaway: Callable[..., Path], gpsimd: Callable[..., subprocess.CompletedProcess[str]], gen: str
) -> None:
    throwaway("gpsimd-sick", {"gpsimd.generations": {"sick": "throwaway_sick:plugin"}}, {"throwaway_sick": "1 / 0"})
    done = gpsimd("--gen", gen, "ops", plugins="")
    assert (done.returncode, done.stderr) == (OK, "")


def test_an_unknown_generation_lists_the_installed_ones(
    gpsimd: Callable[..., subprocess.CompletedProcess[str]], gen: str
) -> None:
    done = gpsimd("--gen", "trn9", "ops", plugins="")
    assert done.returncode == USAGE
    assert "no generation is called 'trn9'; installed: " in done.stderr
    assert gen in done.stderr


def test_plugins_lists_every_trouble(
    install: Callable[..., None], gpsimd: Callable[..., subprocess.CompletedProcess[str]], gen: str
) -> None:
    install(GOOD, "fine")
    install("import no_such_module_anywhere\nclass Plugin: ...", "missing")
    install(GOOD.replace("GPSIMD_API = 1", "GPSIMD_API = 2"), "future")
    done = gpsimd("--gen", gen, "plugins", "--json", plugins="fine")
    assert done.returncode == OK, done.stderr
    import json

    rows = {r["name"]: r["state"] for r in map(json.loads, done.stdout.splitlines())}
    assert rows["fine"] == "loads"
    assert "No module named 'no_such_module_anywhere'" in rows["missing"]
    assert "GPSIMD_API = 2" in rows["future"]
    assert rows[gen] == "loads"


def test_a_verb_that_does_not_load(
    throwaway: Callable[..., Path], gpsimd: Callable[..., subprocess.CompletedProcess[str]], gen: str
) -> None:
    """Listing verbs imports none; calling one that does not load is exit 4 and names its distribution."""
    throwaway("dist-verb", {"gpsimd.commands": {"frobnicate": "throwaway_verb:command"}}, {"throwaway_verb": "1 / 0"})
    listed = gpsimd("--help", plugins="")
    assert listed.returncode == OK
    assert "frobnicate" in listed.stdout
    done = gpsimd("frobnicate", plugins="")
    assert done.returncode == TROUBLE
    assert (
        "verb frobnicate of dist-verb 1.0 does not load: importing throwaway_verb:command failed: ZeroDivisionError"
        in done.stderr
    )
    assert_no_traceback(done)


def test_a_kernel_that_fails_is_the_plugin_s_trouble(
    install: Callable[..., None], gpsimd: Callable[..., subprocess.CompletedProcess[str]], gen: str, tmp_path: Path
) -> None:
    """An exception in a stranger's kernel names the instruction and its plugin; it is no defect of gpsimd."""
    install(GOOD.replace("[instruction()]", "[instruction(kernel=lambda step: {}[7])]"))
    program = tmp_path / "p.bin"
    program.write_bytes(bytes([0xF6, 16]) + bytes(62))
    done = gpsimd("--gen", gen, "run", str(program), plugins="trouble")
    assert done.returncode == TROUBLE, done.stderr
    assert "kernel of own_op (plugin trouble) failed at instruction 0: KeyError: 7" in done.stderr
    assert_no_traceback(done)
