"""`gpsimd asm`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gpsimd_core as gp


def test_bytes(gpsimd: Callable[..., Any], load: Callable[..., gp.Machine], gen: str) -> None:
    Path("p.tpb").write_text("select_reduce op1=MAX ; the default\n.raw " + "ab" * 64 + "\n")
    told = gpsimd("asm", "p.tpb", "-o", "p.bin", "--gen", gen)
    assert (told.code, told.out, told.err) == (0, "", "p.bin: 2 records, 128 bytes\n")
    assert Path("p.bin").read_bytes() == load(gen).encode("select_reduce") + b"\xab" * 64
    assert sorted(os.listdir()) == ["p.bin", "p.tpb"]


def test_the_manifest_says_what_bytes_do_not(gpsimd: Callable[..., Any], some_gen: str) -> None:
    Path("p.tpb").write_text(
        ".tensor a sbuf 32 0x40 bf16 32x2x3 in\n.tensor b psum 0 0 fp32 1x1 temp\n.reg r3 = 0x2000\nselect_reduce\n"
    )
    assert gpsimd("asm", "p.tpb", "-o", "p.bin", "--write-manifest", "p.toml", "--gen", some_gen).code == 0
    said = tomllib.loads(Path("p.toml").read_text())
    assert said == {
        "gen": some_gen,
        "tensor": [
            {"name": "a", "region": "sbuf", "partition": 32, "offset": 0x40, "dtype": "bf16", "shape": [32, 2, 3], "direction": "in"},
            {"name": "b", "region": "psum", "partition": 0, "offset": 0, "dtype": "fp32", "shape": [1, 1], "direction": "temp"},
        ],
        "registers": {"r3": 0x2000},
    }  # fmt: skip
    assert f".gen {some_gen}\n" in gpsimd("decode", "p.bin", "--manifest", "p.toml").out


def test_streams_are_no_part_of_the_bytes(gpsimd: Callable[..., Any], some_gen: str) -> None:
    Path("p.tpb").write_text(".stream dve\nselect_reduce\n.stream pool\nselect_reduce\n")
    told = gpsimd("asm", "p.tpb", "-o", "p.bin", "--gen", some_gen)
    assert told.code == 0
    assert "the marks of .stream are not part of them" in told.err
