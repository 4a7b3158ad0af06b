"""Bad input: a clear message, the right exit code, nothing written, no traceback."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

GOOD = """\
.tensor mask sbuf 0 0x0000 uint8 64x8 in
.tensor x    sbuf 0 0x0400 fp32  64x8 in
.tensor y    sbuf 0 0x0800 fp32  64x8 out
select_reduce src0=@mask, src1=@x, dst=@y, accumulator_cmd=ZERO_ACCUMULATE
"""
READ_BACK = "dve_read_accumulator dtype=FP32, num_active_channels=64, "
RUN = "run good.tpb -i mask=mask.npy -i x=x.npy -o out"


@pytest.fixture
def files(gpsimd: Callable[..., Any]) -> None:
    """Good and bad files in the working folder."""
    np.save("mask.npy", np.ones((64, 8), np.uint8))
    np.save("x.npy", np.zeros((64, 8), np.float32))
    np.save("flat.npy", np.zeros(512, np.float32))
    np.save("turned.npy", np.zeros((8, 64), np.float32))
    np.save("double.npy", np.zeros((64, 8), np.float64))
    np.save("bits.npy", np.zeros((64, 8), np.uint32))
    np.save("bool.npy", np.zeros((64, 8), bool))
    np.save("object.npy", np.array([{}], object), allow_pickle=True)
    np.savez("many.npz", a=np.zeros(3))
    whole = Path("x.npy").read_bytes()
    Path("cut.npy").write_bytes(whole[:-100])
    Path("head.npy").write_bytes(whole[:40])
    Path("text.npy").write_text("0.5 0.25\n")
    Path("nothing").write_bytes(b"")
    Path("folder").mkdir()
    Path("odd.bin").write_bytes(bytes(100))
    Path("good.tpb").write_text(GOOD)
    Path("latin.tpb").write_bytes(b"; caf\xe9\n")
    Path("bad.tpb").write_text(GOOD + "\nselect_reduce src0=@mask, op0=FROB\nselect_reduce src0=@mask op0=1\n")
    Path("past.tpb").write_text(GOOD.replace("dst=@y", "dst={addr=@y, step=[32767], num=[8]}, out_dtype=fp32"))
    Path("register.tpb").write_text(GOOD + READ_BACK + "dst={addr=r9, num=[1]}\n")
    Path("waits.tpb").write_text(
        GOOD + READ_BACK + "dst={addr=@y, num=[1]}, wait_mode=SEM_EQ_IMM, wait_idx=5, semaphore_value=3\n"
    )
    Path("event.tpb").write_text(GOOD + READ_BACK + "dst={addr=@y, num=[1]}, wait_mode=EVT_SET, wait_idx=7\n")
    Path("wrong.tpb").write_text(GOOD.replace("accumulator_cmd=ZERO_ACCUMULATE", "accumulator_cmd=ZERO, op1=MIN"))
    Path("halt.tpb").write_text(".raw " + "00" * 64)
    Path("not.toml").write_text("[[tensor]\n")
    Path("keys.toml").write_text('[[tensor]]\nname = "q"\ncolour = "red"\n')
    Path("lacks.toml").write_text('[[tensor]]\nname = "q"\n')
    Path("register.toml").write_text("[registers]\nr64 = 0\n")
    Path("stream.toml").write_text('[stream]\ndve = "other.bin"\n')
    Path("engine.toml").write_text('[stream]\ngpu = "good.tpb"\n')


BAD = [
    # command, exit code, what the message says
    ("run absent.tpb -o out", 3, "cannot read absent.tpb: no such file or directory"),
    ("validate absent.bin", 3, "cannot read absent.bin: no such file or directory"),
    ("decode folder", 3, "cannot read folder: is a directory"),
    ("validate nothing", 3, "nothing is empty; a program is records of 64 bytes, or assembly text"),
    ("run nothing -o out", 3, "nothing is empty"),
    ("decode odd.bin", 3, "odd.bin is 100 bytes, not a multiple of 64: 1 whole records and 36 bytes"),
    ("run odd.bin -o out", 3, "odd.bin is 100 bytes, not a multiple of 64"),
    ("asm latin.tpb -o out", 3, "latin.tpb is no UTF-8 text: byte 5 is 0xe9"),
    ("asm odd.bin -o out", 3, "odd.bin is no assembly text"),
    ("validate halt.tpb", 1, "header[opcode]: byte 0 is 0x00; allowed: one of the"),
    ("run halt.tpb", 1, "header[opcode]: byte 0 is 0x00; allowed: one of the"),
    ("--gen frob run good.tpb -o out", 2, "no generation is called 'frob'; installed: "),
    ("ops --gen frob", 2, "no generation is called 'frob'; installed: "),
    ("gens frob", 2, "no generation is called 'frob'; installed: "),
    ("asm bad.tpb -o out", 3, "bad.tpb:6:31: op0: AluOp has no member 'FROB'"),
    ("run bad.tpb -i . -o out", 3, "bad.tpb:7:26: ',' is needed between fields, not 'op0'"),
    ("run good.tpb -i x=x.npy -o out", 2, "missing input tensor: give each with -i NAME=FILE.npy\n  mask  64x8 uint8"),
    ("run good.tpb -o out", 2, "missing input tensors: give each with -i NAME=FILE.npy\n  mask  64x8 uint8\n  x  64x8 fp32"),
    ("run good.tpb -i mask=mask.npy -i x=x.npy", 2, "the program has outputs (y): give a folder with -o DIR"),
    (f"{RUN} -i y=x.npy", 2, "-i y: the program has no such input, a tensor of direction out; its inputs are mask, x"),
    (f"{RUN} -i maks=x.npy", 2, "-i maks: the program has no such input; its inputs are mask, x; did you mean mask?"),
    (f"{RUN} -i x=bits.npy", 2, "input x is given twice: x.npy and bits.npy"),
    (f"{RUN} -i absent", 2, "-i takes NAME=FILE.npy or a folder, not 'absent'"),
    ("run good.tpb -i mask=mask.npy -i x=flat.npy -o out", 3, "input x (flat.npy): the shape is 512; the program declares 64x8"),
    ("run good.tpb -i mask=mask.npy -i x=turned.npy -o out", 3, "the shape is 8x64; the program declares 64x8"),
    ("run good.tpb -i mask=mask.npy -i x=double.npy -o out", 3, "input x (double.npy): the dtype is float64; the program declares fp32"),
    ("run good.tpb -i mask=mask.npy -i x=bits.npy -o out", 3, "the dtype is uint32; the program declares fp32 (float32)"),
    ("run good.tpb -i mask=bool.npy -i x=x.npy -o out", 3, "the dtype is bool; the program declares uint8 (uint8); store booleans as uint8"),
    ("run good.tpb -i mask=mask.npy -i x=absent.npy -o out", 3, "input x (absent.npy): cannot read it: no such file"),
    ("run good.tpb -i mask=mask.npy -i x=folder -o out", 3, "input x (folder): cannot read it: is a directory"),
    ("run good.tpb -i mask=mask.npy -i x=text.npy -o out", 3, "input x (text.npy): no readable .npy array"),
    ("run good.tpb -i mask=mask.npy -i x=nothing -o out", 3, "input x (nothing): no readable .npy array"),
    ("run good.tpb -i mask=mask.npy -i x=cut.npy -o out", 3, "input x (cut.npy): no readable .npy array"),
    ("run good.tpb -i mask=mask.npy -i x=head.npy -o out", 3, "input x (head.npy): no readable .npy array"),
    ("run good.tpb -i mask=mask.npy -i x=many.npz -o out", 3, "input x (many.npz): no readable .npy array"),
    ("run good.tpb -i mask=mask.npy -i x=object.npy -o out", 3, "input x (object.npy): no readable .npy array"),
    ("run good.tpb -i mask=mask.npy -i x=x.npy -o good.tpb", 2, "-o good.tpb: good.tpb is no folder"),
    ("run good.tpb -i mask=mask.npy -i x=x.npy -o good.tpb/out", 2, "-o good.tpb/out: good.tpb is no folder"),
    ("asm good.tpb -o absent/out.bin", 2, "cannot write absent/out.bin: no such file or directory"),
    ("asm good.tpb -o folder", 2, "cannot write folder: is a folder"),
    ("run past.tpb -i mask=mask.npy -i x=x.npy -o out", 5, "instruction 0 (byte 0x0), select_reduce on "),
    ("run past.tpb -i mask=mask.npy -i x=x.npy -o out", 5, "dst touches bytes 2048 to 919527 of its partitions; a"),
    ("run register.tpb -i mask=mask.npy -i x=x.npy -o out", 5, "dst: register r9 was never written; nothing was written"),
    ("run waits.tpb -i mask=mask.npy -i x=x.npy -o out", 5, "would wait for ever: it wants semaphore 5 == 3, which is 0"),
    ("run wrong.tpb -i mask=mask.npy -i x=x.npy -o out", 1, "field_in[accumulator_cmd]: byte 44 is ZERO (0x1); allowed: IDLE (0) ACCUMULATE (2)"),
    ("run wrong.tpb -i mask=mask.npy -i x=x.npy -o out", 1, "field_is[op1]: byte 37 is MIN (0x9); allowed: MAX (8)"),
    ("run wrong.tpb -i mask=mask.npy -i x=x.npy -o out", 1, "nothing was executed, nothing written"),
    ("run good.tpb --manifest absent.toml -o out", 3, "cannot read absent.toml: no such file"),
    ("run good.tpb --manifest not.toml -o out", 3, "not.toml is no TOML: "),
    ("run good.tpb --manifest keys.toml -o out", 3, "keys.toml: tensor q has no key 'colour'; there are name, region"),
    ("run good.tpb --manifest lacks.toml -o out", 3, "lacks.toml: tensor q lacks dtype, shape, direction"),
    ("run good.tpb --manifest register.toml -o out", 3, "'r64' is no address register; there are r0 to r63"),
    ("run good.tpb --manifest stream.toml -o out", 3, "stream.toml: [stream] lists other.bin, and not good.tpb"),
    ("run good.tpb --manifest engine.toml -o out", 3, "engine.toml: [stream] names engine 'gpu'; "),
    ("explain frob", 2, "has no instruction 'frob'"),
    ("explain 0x1EA", 2, "does not declare opcode 0x1EA"),
    ("ops --policy select_reduce", 2, "--policy takes KEY=VALUE, not 'select_reduce'"),
    ("ops --policy select_reduce=both", 2, "policy select_reduce is 'both'; allowed: merge, select"),
    ("ops --policy colour=red", 2, "no policy is called 'colour'; there are "),
    ("ops --profile mine", 2, "no profile is called 'mine'; there are "),
    ("ops --no-plugin mine", 2, "no plugin is called 'mine'; installed: "),
    ("run", 2, "Missing argument 'FILE'"),
    ("run good.tpb --frob", 2, "No such option"),
    ("run good.tpb --max-elements 0 -o out", 2, "0 is not in the range x>=1"),
    ("frob", 2, "no verb is called 'frob'; there are gens, ops"),
    ("exampel", 2, "no verb is called 'exampel'; did you mean example?"),
]  # fmt: skip


def tree() -> set[tuple[str, int]]:
    return {(str(p), p.stat().st_mtime_ns) for p in Path().rglob("*")}


@pytest.mark.parametrize(("command", "code", "told"), BAD, ids=[f"{b[0]} [{i}]" for i, b in enumerate(BAD)])
def test_bad_input(gpsimd: Callable[..., Any], files: None, some_gen: str, command: str, code: int, told: str) -> None:
    words = command.split()
    if "--gen" not in words:
        words += ["--gen", some_gen] if words[0] not in ("frob", "exampel", "gens") else []
    before = tree()
    done = gpsimd(*words)
    assert done.code == code, done.out + done.err
    assert told in (done.out if words[0] == "validate" and code == 1 else done.err)
    assert tree() == before, "something was written"


def test_an_event_that_never_comes(gpsimd: Callable[..., Any], files: None, gen: str) -> None:
    done = gpsimd("run", "event.tpb", "-i", "mask=mask.npy", "-i", "x=x.npy", "-o", "out", "--gen", gen)
    assert done.code == 5
    assert "would wait for ever: it wants event 7 set, which is 0, and nothing else runs" in done.err
    assert not Path("out").exists()


def test_an_output_whose_place_is_taken(gpsimd: Callable[..., Any], files: None, some_gen: str) -> None:
    """A folder stands where the second output goes: the first is not written either."""
    Path("good.tpb").write_text(GOOD + ".tensor z sbuf 0 0x0800 fp32 64x8 out\n")
    Path("out/z.npy").mkdir(parents=True)
    done = gpsimd("run", "good.tpb", "-i", ".", "-o", "out", "--gen", some_gen)
    assert done.code == 2
    assert "-o out: cannot write: z.npy is a folder" in done.err
    assert os.listdir("out") == ["z.npy"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_without_the_right_to_write(gpsimd: Callable[..., Any], files: None, some_gen: str) -> None:
    Path("folder").chmod(0o555)
    for out in ("folder", "folder/below"):
        done = gpsimd("run", "good.tpb", "-i", ".", "-o", out, "--gen", some_gen)
        assert done.code == 2
        assert f"-o {out}: folder is not writable" in done.err


def test_a_disk_that_fails_half_way(
    gpsimd: Callable[..., Any], files: None, some_gen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second output cannot be written: the first does not stay either."""
    text = GOOD + ".tensor z sbuf 0 0x0800 fp32 64x8 out\n"
    Path("good.tpb").write_text(text)
    real = np.lib.format.write_array
    calls = []

    def write(*args: Any, **more: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(*args, **more)

    monkeypatch.setattr(np.lib.format, "write_array", write)
    done = gpsimd("run", "good.tpb", "-i", ".", "-o", "out/deep", "--gen", some_gen)
    assert done.code == 2
    assert "-o out/deep: cannot write: no space left on device" in done.err
    assert not Path("out").exists()
