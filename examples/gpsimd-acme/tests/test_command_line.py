"""The opcode and the verb through the command line, beside each installed generation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gpsimd_acme", reason="gpsimd-acme is not installed")

import gpsimd_core as gp

if not gp.generations():
    pytest.skip("no generation is installed", allow_module_level=True)

TEXT = """
.tensor x sbuf 0 0x100 fp32 4x6 in
.tensor y sbuf 0 0x200 fp32 4x6 out
.tensor n sbuf 0 0x300 fp32 4x1 out
clamp_count src=@x, dst=@y, low=-1.0, high=2.5, accumulator_cmd=ZERO_ACCUMULATE
dve_read_accumulator dst=@n
"""


def gpsimd(*words: str, plugins: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does, with every installed plugin unless an allow list says otherwise."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GPSIMD_")}
    if plugins is not None:
        env["GPSIMD_PLUGINS"] = plugins
    code = "import sys; from gpsimd_core.cli import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, env=env, check=False)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.tpb"
    path.write_text(TEXT)
    np.save(tmp_path / "x.npy", np.array([[5.0, 0.0, -5.0, 2.5, 2.6, -1.0]] * 4, np.float32))
    return path


@pytest.mark.parametrize("gen", gp.generations())
def test_run(program: Path, gen: str) -> None:
    out = program.parent / "out"
    done = gpsimd("--gen", gen, "run", str(program), "-i", str(program.parent), "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert np.load(out / "y.npy")[0].tolist() == [2.5, 0.0, -1.0, 2.5, 2.5, -1.0]
    assert np.load(out / "n.npy")[:, 0].tolist() == [3.0] * 4


def test_decode_asm_and_validate(program: Path) -> None:
    binary = program.parent / "program.bin"
    assert gpsimd("asm", str(program), "-o", str(binary)).returncode == 0
    assert binary.read_bytes()[0] == 0xF5
    shown = gpsimd("decode", str(binary))
    assert "clamp_count" in shown.stdout
    again = program.parent / "again.tpb"
    again.write_text(shown.stdout)
    assert gpsimd("asm", str(again), "-o", str(program.parent / "again.bin")).returncode == 0
    assert (program.parent / "again.bin").read_bytes() == binary.read_bytes()
    assert gpsimd("validate", str(program)).returncode == 0
    broken = program.parent / "broken.tpb"
    broken.write_text(TEXT.replace("low=-1.0", "low=3.0"))
    done = gpsimd("validate", str(broken))
    assert done.returncode == 1
    assert "limits_in_order" in done.stdout + done.stderr


def test_explain_and_ops() -> None:
    explained = gpsimd("explain", "0xF5")
    assert explained.returncode == 0, explained.stderr
    for text in ("clamp_count", "limits_in_order", "Acme"):
        assert text in explained.stdout
    assert "clamp_count" in gpsimd("ops").stdout


def test_its_own_verb(program: Path) -> None:
    done = gpsimd("clamps", str(program))
    assert (done.returncode, done.stdout) == (0, "instruction 0: -1.0 to 2.5\n")
    told = gpsimd("clamps", str(program), "--json", "--gen", gp.generations()[-1])
    assert json.loads(told.stdout) == {"index": 0, "low": -1.0, "high": 2.5}
    assert "clamps" in gpsimd("--help").stdout


def test_plugins_lists_both_and_the_verb() -> None:
    done = gpsimd("plugins", "--json")
    rows = {r["name"]: r for r in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0, done.stderr
    assert (rows["acme"]["kind"], rows["acme_plain"]["kind"], rows["clamps"]["kind"]) == ("plugin", "plugin", "verb")
    assert all("error" not in rows[name]["state"] for name in ("acme", "acme_plain", "clamps"))
    assert rows["acme_plain"]["state"] == "loads; used where it is named"


def test_without_it_the_byte_is_unknown(program: Path) -> None:
    for how in (("--no-plugin", "acme"), ()):
        done = gpsimd(*how, "validate", str(program), plugins=None if how else "")
        assert done.returncode == 3
        assert "clamp_count" in done.stderr


def test_the_replaced_kernel_is_asked_for_by_name(tmp_path: Path) -> None:
    """GPSIMD_PLUGINS names it; without that the generation's own kernel runs."""
    text = """
.tensor m sbuf 0 0x0 uint8 2x4 in
.tensor x sbuf 0 0x100 fp32 2x4 in
.tensor y sbuf 0 0x200 fp32 2x4 out
select_reduce src0=@m, src1=@x, dst=@y, accumulator_cmd=IDLE
"""
    (tmp_path / "p.tpb").write_text(text)
    np.save(tmp_path / "m.npy", np.array([[1, 0, 1, 0]] * 2, np.uint8))
    np.save(tmp_path / "x.npy", np.arange(8, dtype=np.float32).reshape(2, 4))
    found = []
    for plugins in (None, "acme_plain"):
        out = tmp_path / f"out-{plugins}"
        done = gpsimd("run", str(tmp_path / "p.tpb"), "-i", str(tmp_path), "-o", str(out), plugins=plugins)
        assert done.returncode == 0, done.stderr
        found.append(np.load(out / "y.npy").tobytes())
    assert found[0] == found[1]
