"""The shipped example, judged by plain Python integers that share no code with the project."""

from __future__ import annotations

import ast
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIGN, INFINITY, SEED = 0x80000000, 0x7F800000, 0xFF800000


def read_npy(path: Path) -> tuple[tuple[int, ...], list[int]]:
    """Shape and codes of a little-endian .npy file of one- or four-byte elements, by hand."""
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    (length,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + length].decode())
    assert not header["fortran_order"]
    letter = {"|u1": "B", "<f4": "I"}[header["descr"]]
    body = data[10 + length :]
    return header["shape"], list(struct.unpack(f"<{len(body) // struct.calcsize(letter)}{letter}", body))


def larger(a: int, b: int) -> int:
    """The larger of two fp32 codes, neither a NaN: -0 below +0."""

    def key(code: int) -> int:
        return -(code & ~SIGN) - 1 if code & SIGN else code

    return a if key(a) > key(b) else b


def test_the_example_gives_what_integers_give(gpsimd: Callable[..., Any], example: str, gen: str) -> None:
    done = gpsimd("--gen", gen, "run", f"{example}/program.tpb", "-i", example, "-o", "out")
    assert done.code == 0, done.err
    shape, mask = read_npy(Path(example, "mask.npy"))
    _, scores = read_npy(Path(example, "scores.npy"))
    _, before = read_npy(Path(example, "kept.npy"))
    assert shape == (128, 128)
    kept = [s if m else b for m, s, b in zip(mask, scores, before, strict=True)]
    best = []
    for row in range(128):
        largest = SEED
        for k in range(row * 128, row * 128 + 128):
            if mask[k] and scores[k] & ~SIGN <= INFINITY:  # a NaN lies above infinity
                largest = larger(largest, scores[k])
        best.append(largest)
    assert read_npy(Path("out/kept.npy")) == ((128, 128), kept)
    assert read_npy(Path("out/best.npy")) == ((128, 1), best)
    assert len(set(best)) > 100
    assert best[125] == SEED, "a padded query keeps nothing"


def test_the_tensors_hold_a_nan_and_an_infinity_that_must_not_win(gpsimd: Callable[..., Any], example: str) -> None:
    _, mask = read_npy(Path(example, "mask.npy"))
    _, scores = read_npy(Path(example, "scores.npy"))
    nan = [k for k, s in enumerate(scores) if s & ~SIGN > INFINITY]
    infinite = [k for k, s in enumerate(scores) if s & ~SIGN == INFINITY]
    assert [mask[k] for k in nan] == [1]
    assert [mask[k] for k in infinite] == [0]


def test_the_example_is_small_and_tells_how_to_run_it(gpsimd: Callable[..., Any], some_gen: str) -> None:
    assert (
        "  gpsimd run some/where/program.tpb -i some/where -o some/where/out\n" in gpsimd("example", "some/where").out
    )
    told = gpsimd("example", "some/where", "--gen", some_gen)
    assert told.code == 0
    files = sorted(p.name for p in Path("some/where").iterdir())
    assert files == ["kept.npy", "mask.npy", "program.tpb", "scores.npy"]
    assert sum(p.stat().st_size for p in Path("some/where").iterdir()) < 200_000
    words = told.out.splitlines()[-1].split()
    assert words[:3] == ["gpsimd", "--gen", some_gen]
    assert gpsimd(*words[1:]).code == 0
    assert Path("some/where/out/best.npy").exists()


def test_the_example_is_valid_and_round_trips(gpsimd: Callable[..., Any], example: str, gen: str) -> None:
    told = gpsimd("validate", f"{example}/program.tpb", "--gen", gen)
    assert (told.code, told.out) == (0, f"ex/program.tpb: 5 instructions on {gen}, every rule holds\n")
    assert gpsimd("asm", f"{example}/program.tpb", "--gen", gen, "-o", "a.bin").code == 0
    Path("again.tpb").write_text(gpsimd("decode", "a.bin", "--gen", gen).out)
    assert gpsimd("asm", "again.tpb", "-o", "b.bin").code == 0
    assert Path("a.bin").read_bytes() == Path("b.bin").read_bytes()


def test_a_folder_that_cannot_be_made(gpsimd: Callable[..., Any]) -> None:
    Path("file").write_text("")
    told = gpsimd("example", "file/folder")
    assert told.code == 2
    assert "cannot make file/folder: not a directory" in told.err


def test_the_programs_beside_the_example(gpsimd: Callable[..., Any], gen: str) -> None:
    programs = sorted((Path(__file__).parents[2] / "examples/programs").glob("*.tpb"))
    assert len(programs) >= 3
    for program in programs:
        told = gpsimd("validate", program, "--gen", gen)
        assert told.code == 0, told.out
