"""`gpsimd decode`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import gpsimd_core as gp


def test_text_that_assembles_to_the_same_bytes(
    gpsimd: Callable[..., Any], load: Callable[..., gp.Machine], gen: str
) -> None:
    raw = np.random.default_rng(1).integers(0, 256, (40, 64)).astype(np.uint8)
    raw[:30, 0] = list(load(gen).opcodes)[-31:-1]
    Path("a.bin").write_bytes(raw.tobytes())
    told = gpsimd("decode", "a.bin", "--gen", gen)
    assert told.code == 0
    assert told.err == ""
    assert told.out.startswith(f".gen {gen}\n")
    Path("a.tpb").write_text(told.out)
    assert gpsimd("asm", "a.tpb", "-o", "b.bin").code == 0, "the text names the generation"
    assert Path("b.bin").read_bytes() == raw.tobytes()


def test_json(gpsimd: Callable[..., Any], load: Callable[..., gp.Machine], gen: str) -> None:
    machine = load(gen)
    record = machine.encode("select_reduce", accumulator_cmd=3, wait_idx=9) + bytes([0xFF, *range(63)])
    Path("a.bin").write_bytes(record)
    one, two = gpsimd("decode", "a.bin", "--gen", gen, "--json").objects
    assert (one["index"], one["byte"], one["opcode"], one["name"], one["layout"]) == (
        0,
        0,
        0xEA,
        "select_reduce",
        "S2S2D2Stt",
    )
    assert one["fields"]["accumulator_cmd"] == "ZERO_ACCUMULATE"
    assert one["fields"]["src0"] == {"addr": 0, "step": [0, 0], "num": [0, 0]}
    assert one["fields"]["wait_idx"] == 9
    assert (two["index"], two["byte"], two["hex"]) == (1, 64, record[64:].hex())


def test_a_manifest_names_the_places(gpsimd: Callable[..., Any], example: str, some_gen: str) -> None:
    args = ("--gen", some_gen)
    gpsimd("asm", f"{example}/program.tpb", "-o", "p.bin", "--write-manifest", "p.toml", *args)
    named = gpsimd("decode", "p.bin", "--manifest", "p.toml", *args).out
    assert named == gpsimd("decode", f"{example}/program.tpb", *args).out
    assert "dst=@best" in named
    assert "@" not in gpsimd("decode", "p.bin", *args).out


def test_standard_input(load: Callable[..., gp.Machine], some_gen: str) -> None:
    """Records and text through a pipe, told apart by content."""
    record = load(some_gen).encode("select_reduce")
    program = "import sys; from gpsimd_core.cli import main; sys.exit(main())"
    for data in (record, b"select_reduce\n"):
        command = [sys.executable, "-c", program, "decode", "-", "--gen", some_gen]
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode().splitlines()[-1] == "select_reduce"
