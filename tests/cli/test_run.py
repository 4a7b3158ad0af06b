"""`gpsimd run`: tensors in, tensors out."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

Run = Callable[..., Any]

PROGRAM = """\
.tensor mask sbuf 0 0x0000 uint8 64x8 in
.tensor x    sbuf 0 0x0400 {data} 64x8 in
.tensor y    sbuf 0 0x0800 {data} 64x8 out
.tensor best sbuf 0 0x0c00 {best} 64x1 out
select_reduce src0=@mask, src1=@x, dst=@y, imm0=-1.5, accumulator_cmd={command}
dve_read_accumulator dst=@best
"""


def write(data: str = "fp32", best: str = "fp32", command: str = "ZERO_ACCUMULATE", head: str = "") -> None:
    Path("p.tpb").write_text(head + PROGRAM.format(data=data, best=best, command=command))


@pytest.fixture
def tensors(gpsimd: Run) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(3)
    mask = rng.integers(0, 2, (64, 8)).astype(np.uint8)
    x = rng.standard_normal((64, 8)).astype(np.float32)
    np.save("mask.npy", mask)
    np.save("x.npy", x)
    return mask, x


def largest(mask: np.ndarray[Any, Any], x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.where(mask != 0, x, -np.inf).max(axis=1, keepdims=True).astype(np.float32)


def test_inputs_by_name_and_outputs_by_name(gpsimd: Run, tensors: Any, gen: str) -> None:
    mask, x = tensors
    write()
    done = gpsimd("run", "p.tpb", "-i", "mask=mask.npy", "-i", "x=x.npy", "-o", "out/deep", "--gen", gen)
    assert done.code == 0, done.err
    y = np.load("out/deep/y.npy")
    assert y.dtype == np.float32
    assert (y[mask == 1] == x[mask == 1]).all()
    assert (y.view(np.uint32)[mask == 0] == 0xA5A5A5A5).all(), "memory is poisoned at the start"
    assert (np.load("out/deep/best.npy") == largest(mask, x)).all()
    assert sorted(os.listdir("out/deep")) == ["best.npy", "y.npy"]


def test_the_summary(gpsimd: Run, tensors: Any, some_gen: str) -> None:
    write()
    done = gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen, "--policy", "select_reduce=select")
    lines = done.out.splitlines()
    assert lines[0] == "program       p.tpb: 2 instructions"
    assert lines[1].startswith(f"generation    {some_gen} (NC-v")
    assert lines[2] == "profile       reference"
    assert lines[3] == "policies      select_reduce=select"
    assert lines[4].startswith("time ")
    assert lines[5].startswith("accumulators  64 of 128 lanes of dve")
    assert [line.split()[:3] for line in lines[8:10]] == [["y", "64x8", "fp32"], ["best", "64x1", "fp32"]]
    y = np.load("out/y.npy")
    assert f"{y.min():.6g}" in lines[8]
    assert f"{y.max():.6g}" in lines[8]
    assert lines[8].endswith("out/y.npy")
    assert "\x1b" not in done.out
    assert not any(c in done.out for c in "─│┌")


def test_profile_and_policy_change_the_result(gpsimd: Run, tensors: Any, some_gen: str) -> None:
    mask, x = tensors
    write()
    for options in (["--policy", "select_reduce=select"], ["--profile", "nki"]):
        assert gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen, *options).code == 0
        assert (np.load("out/y.npy") == np.where(mask != 0, x, np.float32(-1.5))).all()


def test_json(gpsimd: Run, tensors: Any, some_gen: str) -> None:
    write(best="bf16")
    objects = gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen, "--json").objects
    assert [o["kind"] for o in objects] == ["run", "output", "output"]
    assert objects[0]["generation"] == some_gen
    assert objects[0]["instructions"] == 2
    assert objects[0]["accumulators"]["dve"] == 64
    assert objects[1]["shape"] == [64, 8]
    assert (objects[2]["dtype"], objects[2]["stored"], objects[2]["file"]) == ("bf16", "uint16", "out/best.npy")


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [("bf16", ml_dtypes.bfloat16), ("fp8_e5m2", ml_dtypes.float8_e5m2), ("fp8_e3m4", ml_dtypes.float8_e3m4)],
)
def test_dtypes_that_npy_cannot_name(gpsimd: Run, tensors: Any, some_gen: str, dtype: str, kind: Any) -> None:
    mask, x = tensors
    narrow = x.astype(kind)
    codes = narrow.view(f"uint{8 * narrow.dtype.itemsize}")
    write(data=dtype)
    results = []
    for stored in (narrow, codes):
        np.save("x.npy", stored)
        done = gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen)
        assert done.code == 0, done.err
        assert f"{dtype} as {codes.dtype}" in done.out
        assert "dtypes that .npy cannot name are stored as their codes" in done.out
        results.append(np.load("out/y.npy"))
    assert results[0].dtype == codes.dtype
    assert (results[0] == results[1]).all()
    assert (results[0][mask == 1] == codes[mask == 1]).all()
    np.save("x.npy", results[0])
    assert gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen).code == 0, "an output is an input again"


def test_arrays_in_other_orders(gpsimd: Run, tensors: Any, some_gen: str) -> None:
    mask, x = tensors
    write()
    for stored in (np.asfortranarray(x), x.astype(">f4")):
        np.save("x.npy", stored)
        assert gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen).code == 0
        assert (np.load("out/best.npy") == largest(mask, x)).all()


def test_bytes_with_a_manifest(gpsimd: Run, tensors: Any, some_gen: str) -> None:
    mask, x = tensors
    write()
    assert gpsimd("asm", "p.tpb", "-o", "p.bin", "--write-manifest", "p.toml", "--gen", some_gen).code == 0
    done = gpsimd("--manifest", "p.toml", "run", "p.bin", "-i", ".", "-o", "out", "--gen", some_gen)
    assert done.code == 0, done.err
    assert (np.load("out/best.npy") == largest(mask, x)).all()
    bare = gpsimd("run", "p.bin", "--gen", some_gen)
    assert bare.code == 0
    assert "the program names no tensors" in bare.out


def test_registers(gpsimd: Run, tensors: Any, some_gen: str) -> None:
    mask, x = tensors
    write()
    text = Path("p.tpb").read_text().replace("src1=@x", "src1={addr=r7, num=[8]}, src1_dtype=fp32") + ".reg r7 = @x\n"
    Path("p.tpb").write_text(text)
    assert gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen).code == 0
    assert (np.load("out/best.npy") == largest(mask, x)).all()


def test_the_generation_of_the_text_and_who_beats_it(
    gpsimd: Run, tensors: Any, gen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(head=f".gen {gen}\n")
    monkeypatch.setenv("GPSIMD_GEN", "nowhere")
    done = gpsimd("run", "p.tpb", "-i", ".", "-o", "out")
    assert f"generation    {gen} " in done.out
    beaten = gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", "nowhere")
    assert beaten.code == 2
    assert f"note: the program says .gen {gen}; --gen nowhere beats it" in beaten.err


def test_warnings_and_notices_are_told(gpsimd: Run, tensors: Any, some_gen: str) -> None:
    write(command="ACCUMULATE")
    text = Path("p.tpb").read_text().replace("dst=@y,", "dst=@y, out_dtype=FP32R,")
    Path("p.tpb").write_text(text)
    done = gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen)
    flat = " ".join(done.out.split())
    assert done.code == 0
    assert "warning: instruction 0, select_reduce: out_dtype_differs" in flat
    assert "notice: instruction 0: select_reduce used an accumulator lane that holds no value" in flat
    kinds = [o["kind"] for o in gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen, "--json").objects]
    assert kinds == ["run", "output", "output", "warning", "notice", "notice"], (
        "the read-back finds the lane undefined too"
    )
    strict = gpsimd("run", "p.tpb", "-i", ".", "-o", "strict", "--gen", some_gen, "--strict")
    assert strict.code == 1
    assert "out_dtype_differs" in strict.err
    assert not Path("strict").exists()


def test_a_faulting_run_leaves_old_outputs_alone(gpsimd: Run, tensors: Any, some_gen: str) -> None:
    write()
    assert gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen).code == 0
    before = {p.name: p.read_bytes() for p in Path("out").iterdir()}
    Path("p.tpb").write_text(
        Path("p.tpb").read_text() + "dve_read_accumulator dst={addr=r1, num=[1]}, dtype=FP32, num_active_channels=64\n"
    )
    done = gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen)
    assert done.code == 5
    assert (
        f"instruction 2 (byte 0x80), dve_read_accumulator on {some_gen}: dst: register r1 was never written" in done.err
    )
    assert {p.name: p.read_bytes() for p in Path("out").iterdir()} == before


def test_limits(gpsimd: Run, tensors: Any, some_gen: str) -> None:
    write()
    args = ("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen)
    assert gpsimd(*args, "--max-instructions", "1").code == 5
    few = gpsimd(*args, "--max-elements", "7")
    assert few.code == 5
    assert "8 elements a channel; the limit is 7 (--max-elements)" in few.err
    assert not Path("out").exists()
    assert gpsimd(*args, "--max-elements", "8", "--max-instructions", "2").code == 0


def test_compiled_and_plain_give_the_same(
    gpsimd: Run, tensors: Any, some_gen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of the two is chosen; that they agree bit for bit is tested where the kernels are."""
    write()
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    args = ("run", "p.tpb", "-i", ".", "-o", "out", "--gen", some_gen)
    assert "kernels as plain Python" in gpsimd(*args).out
    assert "kernels compiled" in gpsimd(*args, "--compiled").out
    Path("large.tpb").write_text(
        "select_reduce src0={addr=0, num=[1025]}, src1={addr=0x1000, num=[1025]}, dst={addr=0x4000, num=[1025]}, "
        "src0_dtype=uint8, src1_dtype=fp32, out_dtype=fp32, num_active_channels=128\n"
    )
    assert "kernels compiled" in gpsimd("run", "large.tpb", "--gen", some_gen).out


def test_psum_of_maverick_is_reachable_for_tensors(gpsimd: Run, tensors: Any) -> None:
    import gpsimd_core as gp

    if "maverick" not in gp.generations():
        pytest.skip("maverick is not installed")
    write(head=".tensor p psum 0 0 fp32 128x4 inout\n")
    np.save("p.npy", np.arange(512, dtype=np.float32).reshape(128, 4))
    assert gpsimd("run", "p.tpb", "-i", ".", "-o", "out", "--gen", "maverick").code == 0
    assert (np.load("out/p.npy") == np.load("p.npy")).all()
