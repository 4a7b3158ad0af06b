"""`gpsimd run` and `gpsimd diff` with the options that look on."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from host_programs import PAIR, PREPARE, UPDATE, WAIT

from gpsimd_core.tracefile import read

Run = Callable[..., Any]


@pytest.fixture
def gpsimd(command_line: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """`gpsimd("run", "p.tpb")` in a folder with x.npy and the two-engine programs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GPSIMD_GEN", raising=False)
    np.save("x.npy", np.arange(16, dtype=np.float32).reshape(4, 4))
    Path("good.tpb").write_text(PAIR.format(update=UPDATE, wait=WAIT))
    Path("race.tpb").write_text(PAIR.format(update=UPDATE, wait=""))
    Path("dead.tpb").write_text(PAIR.format(update="", wait=WAIT))
    return command_line


COMMON = ("-i", "x=x.npy")
OUT = (*COMMON, "-o", "out")


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_check(gpsimd: Run) -> None:
    assert gpsimd("run", "good.tpb", *OUT, "--check").code == 0
    done = gpsimd("run", "race.tpb", *OUT, "--check")
    assert done.code == 1
    assert "notice: pool instruction 0: race, write after read: dve instruction 0" in done.out
    assert Path("out/z.npy").exists()
    assert gpsimd("run", "race.tpb", *OUT).code == 0
    found = [json.loads(line) for line in gpsimd("run", "race.tpb", *OUT, "--check", "--json").out.splitlines()]
    (notice,) = [o for o in found if o["kind"] == "notice"]
    assert (notice["about"], notice["stream"], notice["index"]) == ("race", "pool", 0)


def test_a_deadlock(gpsimd: Run) -> None:
    done = gpsimd("run", "dead.tpb", *OUT)
    assert done.code == 5
    assert done.err.splitlines() == [
        "gpsimd: deadlock: no engine can step",
        "  dve instruction 0, tensor_tensor_arith_op, waits with SEM_GE_IMM for semaphore 4 >= 1; it is 0",
        "    no instruction of any stream updates semaphore 4",
        "  pool stopped at its end, after 1 instructions",
        "nothing was written",
    ]
    assert not Path("out").exists()


def test_what_the_check_found_before_a_fault_is_told(gpsimd: Run) -> None:
    Path("p.tpb").write_text(PREPARE + "copy src=@y, dst=@z\nnop wait_mode=EVT_SET")
    done = gpsimd("run", "p.tpb", *OUT, "--check")
    assert done.code == 5
    assert "notice: instruction 0: copy reads bytes nobody wrote: src" in done.err


def test_a_schedule(gpsimd: Run) -> None:
    for seed in (0, 1, 2):
        assert gpsimd("run", "good.tpb", *OUT, "--schedule", seed).code == 0
    assert gpsimd("run", "good.tpb", *OUT, "--schedule", "x").code == 2


def test_many_schedules(gpsimd: Run) -> None:
    done = gpsimd("run", "good.tpb", *OUT, "--schedules", 20)
    assert (done.code, done.err) == (0, "20 schedules, and all end alike\n")
    assert (np.load("out/z.npy") == 2 * np.load("x.npy")).all()


def test_many_schedules_of_a_race(gpsimd: Run) -> None:
    done = gpsimd("run", "race.tpb", *OUT, "--schedules", 20)
    assert done.code == 1
    assert "the end depends on the schedule" in one_line(done.out)
    assert "of 20 schedules, first seed" in one_line(done.out)
    assert not Path("out").exists()
    done = gpsimd("run", "dead.tpb", *OUT, "--schedules", 3)
    assert done.code == 5
    assert "deadlock: no engine can step" in done.err


@pytest.mark.parametrize(
    "option", [("--schedule", 1), ("--trace", "t"), ("--watch", "z[0,0]"), ("--break", 0), ("--max-instructions", 9)]
)
def test_many_schedules_go_with_no_other_look(gpsimd: Run, option: Any) -> None:
    done = gpsimd("run", "good.tpb", *OUT, "--schedules", 3, *option)
    assert done.code == 2
    assert "--schedules goes with none of" in done.err


def test_max_instructions(gpsimd: Run) -> None:
    assert gpsimd("run", "good.tpb", *OUT, "--max-instructions", 2).code == 0
    done = gpsimd("run", "good.tpb", *OUT, "--max-instructions", 1)
    assert done.code == 5
    assert "dve instruction 0, tensor_tensor_arith_op: more than 1 instructions (--max-instructions)" in done.err


# Traces --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t", "t.jsonl", "t.json", "t.parquet"])
@pytest.mark.parametrize("hashes", [False, True])
def test_traces(gpsimd: Run, name: str, hashes: bool) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    done = gpsimd("run", "good.tpb", *OUT, "--trace", name, *(["--trace-hashes"] if hashes else []))
    assert done.code == 0, done.err
    trace = read(Path(name))
    assert [r["engine"] for r in trace.records()] == ["pool", "dve"]
    assert trace.header["hashes"] == hashes
    assert (trace.header["program"], trace.header["schedule"]) == ("good.tpb", "round_robin")
    assert sorted(os.listdir()) == sorted(["dead.tpb", "good.tpb", "out", "race.tpb", name, "x.npy"])


def test_a_trace_of_what_ran_before_a_fault(gpsimd: Run) -> None:
    assert gpsimd("run", "dead.tpb", *OUT, "--trace", "t.jsonl").code == 5
    assert [r["name"] for r in read(Path("t.jsonl")).records()] == ["copy"]


def test_traces_that_cannot_be_written(gpsimd: Run) -> None:
    done = gpsimd("run", "good.tpb", *OUT, "--trace", "nowhere/t.json")
    assert done.code == 2
    assert "--trace nowhere/t.json: cannot write there: no such file or directory" in done.err
    done = gpsimd("run", "good.tpb", *OUT, "--trace-hashes")
    assert done.code == 2
    assert "--trace-hashes goes with --trace FILE" in done.err


# Watching and stopping ---------------------------------------------------------------------------------------------------


def test_watch(gpsimd: Run) -> None:
    done = gpsimd("run", "good.tpb", *OUT, "--watch", "z[0,3]", "--watch", "y[0,0]")
    assert done.code == 0
    assert done.out.splitlines()[:2] == [
        "y[0,0]: 0xa5a5a5a5 (-2.87351825e-16) -> 0x00000000 (0) by pool instruction 0: copy src=@x, dst=@y, "
        "update_mode=SEM_INC_COMPLETE, update_idx=4",
        "z[0,3]: 0xa5a5a5a5 (-2.87351825e-16) -> 0x40c00000 (6) by dve instruction 0: tensor_tensor_arith_op op=ADD, "
        "src0=@y, src1=@x, dst=@z, wait_mode=SEM_GE_IMM, wait_idx=4, semaphore_value=1",
    ]
    assert gpsimd("run", "good.tpb", *OUT, "--watch", "w[0,3]").code == 2
    first = json.loads(gpsimd("run", "good.tpb", *OUT, "--watch", "z[0,3]", "--json").out.splitlines()[0])
    assert (first["kind"], first["element"], first["engine"], first["index"]) == ("watch", "z[0,3]", "dve", 0)


def test_break(gpsimd: Run) -> None:
    done = gpsimd("run", "good.tpb", *OUT, "--break", "dve:0")
    assert done.code == 0
    assert done.err == "stopped before the end; nothing was written\n"
    assert one_line(done.out).startswith("next dve instruction 0: tensor_tensor_arith_op op=ADD")
    assert "semaphores 4 = 1" in one_line(done.out)
    assert not Path("out").exists()
    found = json.loads(gpsimd("run", "good.tpb", *OUT, "--break", 0, "--json").out)
    assert (found["kind"], found["engine"], found["index"], found["semaphores"]) == ("break", "pool", 0, "all zero")
    assert gpsimd("run", "good.tpb", *OUT, "--break", "dve:").code == 2


def test_a_break_that_is_never_reached(gpsimd: Run) -> None:
    done = gpsimd("run", "good.tpb", *OUT, "--break", 7)
    assert done.code == 0
    assert "the program ended before it came to --break 7" in done.err
    assert Path("out/z.npy").exists()


def test_the_prompt_on_a_terminal(gpsimd: Run, tmp_path: Path) -> None:
    """step, an element, one that is none, continue."""
    words = [sys.executable, "-c", "import sys; from gpsimd_core.cli import main; sys.exit(main(sys.argv[1:]))",
             "run", "good.tpb", *OUT, "--break", "0"]  # fmt: skip
    parent, child = pty.openpty()
    process = subprocess.Popen(words, stdin=child, stdout=child, stderr=child, cwd=tmp_path, close_fds=True)
    os.close(child)
    os.write(parent, b"x[0,1]\nx[9,9]\n\ncontinue\n")
    said = b""
    while True:
        try:
            more = os.read(parent, 65536)
        except OSError:
            break
        if not more:
            break
        said += more
    os.close(parent)
    text = said.decode()
    assert process.wait() == 0, text
    assert "x[0,1] = 0x3f800000 (1)" in text
    assert "x[9,9] is outside x, which has 4 rows of 4 elements" in text
    assert text.count("step, continue, quit, or name[p,i]") == 4
    assert one_line(text).count("next pool instruction 0: copy") == 1
    assert one_line(text).count("next dve instruction 0: tensor_tensor_arith_op") == 1
    assert (np.load(tmp_path / "out/z.npy") == 2 * np.arange(16).reshape(4, 4)).all()


# gpsimd diff -----------------------------------------------------------------------------------------------------------


def test_diff_of_generations(gpsimd: Run) -> None:
    done = gpsimd("diff", "good.tpb", *COMMON, "--gens", "cayman,sunda,maverick")
    assert (done.code, done.out.splitlines()) == (
        0, ["cayman and sunda agree on 2 instructions", "cayman and maverick agree on 2 instructions"],
    )  # fmt: skip


def test_diff_of_the_fp8_flavours(gpsimd: Run) -> None:
    example = Path(__file__).parents[2] / "examples/programs/fp8_flavours.tpb"
    np.save("x.npy", np.linspace(1, 500, 2048, dtype=np.float32).reshape(32, 64))
    done = gpsimd("diff", example, *COMMON, "--gens", "cayman,maverick")
    assert done.code == 1
    assert "    cayman    fp8_e4m3 0x78 inf\n    maverick  fp8_e4m3fn 0x79 288\n" in done.out
    lines = [
        json.loads(x) for x in gpsimd("diff", example, *COMMON, "--gens", "cayman,maverick", "--json").out.splitlines()
    ]
    assert [x["kind"] for x in lines] == ["difference", "diff"]
    assert (lines[0]["partition"], lines[0]["element"], lines[0]["bits"]) == (17, 24, ["0x78", "0x79"])
    assert (lines[1]["equal"], lines[1]["differences"]) == (False, 1)


def test_diff_of_profiles_and_policies(gpsimd: Run) -> None:
    assert gpsimd("diff", "good.tpb", *COMMON, "--profiles", "reference,nki").code == 0
    text = PREPARE.replace("z sbuf 0 0x200 fp32", "z sbuf 0 0x200 int32") + "cast src=@x, dst=@z"
    Path("cast.tpb").write_text(text)
    np.save("x.npy", np.full((4, 4), 1.75, np.float32))
    done = gpsimd("diff", "cast.tpb", *COMMON, "--vary", "fp_to_int=rne_saturate,rtz_saturate")
    assert done.code == 1
    assert "fp_to_int=rne_saturate  int32 0x00000002 2" in done.out
    assert "1 ulp of int32 apart\n    16 elements differ, at most 1 apart" in done.out
    assert gpsimd("diff", "cast.tpb", *COMMON, "--vary", "fp_to_int=rne_saturate,rtz_saturate", "--ulps", 1).code == 0


def test_diff_with_a_trace(gpsimd: Run) -> None:
    gpsimd("run", "good.tpb", *OUT, "--trace", "t.jsonl", "--trace-hashes")
    done = gpsimd("diff", "good.tpb", *COMMON, "--trace", "t.jsonl")
    assert (done.code, done.out) == (0, "now and trace agree on 2 instructions\n")
    np.save("x.npy", np.zeros((4, 4), np.float32))
    done = gpsimd("diff", "good.tpb", *COMMON, "--trace", "t.jsonl")
    assert done.code == 1
    assert done.out.startswith("pool instruction 0: copy src=@x, dst=@y")
    assert "the hash of its outputs" in done.out
    assert gpsimd("diff", "good.tpb", *COMMON, "--trace", "t.jsonl", "--all").out.count("the hash of its outputs") == 2
    assert (
        "recorded on generation cayman, this is sunda"
        in gpsimd("diff", "good.tpb", *COMMON, "--trace", "t.jsonl", "--gen", "sunda").err
    )
    gpsimd("run", "good.tpb", *OUT, "--trace", "plain.jsonl")
    assert gpsimd("diff", "good.tpb", *COMMON, "--trace", "plain.jsonl").code == 2
    assert gpsimd("diff", "good.tpb", *COMMON, "--trace", "good.tpb").code == 3


def test_diff_with_golden_tensors(gpsimd: Run) -> None:
    golden = 2 * np.arange(16, dtype=np.float32).reshape(4, 4)
    np.save("z.npy", golden)
    assert gpsimd("diff", "good.tpb", *COMMON, "--golden", "z=z.npy").code == 0
    golden.view(np.uint32)[1, 1] += 4
    np.save("z.npy", golden)
    done = gpsimd("diff", "good.tpb", *COMMON, "--golden", "z=z.npy")
    assert done.code == 1
    assert "z, partition 1, element 1" in done.out
    assert "4 ulps of fp32 apart" in done.out
    assert gpsimd("diff", "good.tpb", *COMMON, "--golden", "z=z.npy", "--ulps", 4).code == 0
    np.save("z.npy", golden[:2])
    done = gpsimd("diff", "good.tpb", *COMMON, "--golden", "z=z.npy")
    assert done.code == 3
    assert "golden z (z.npy): the shape is 2x4; the program declares 4x4" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "diff takes one of --gens, --profiles, --vary, --trace and --golden"),
        (("--gens", "a,b", "--profiles", "c,d"), "diff takes one of"),
        (("--gens", "cayman"), "two or more different names are needed"),
        (("--gens", "cayman,cayman"), "two or more different names are needed"),
        (("--vary", "fp_to_int"), "--vary takes KEY=V1,V2"),
        (("--vary", "fp_to_int=a,b"), "fp_to_int"),
        (("--gens", "cayman,gpu"), "gpu"),
        (("--golden", "w=x.npy"), "the program has x, y, z"),
        (("--golden", "z"), "--golden takes NAME=FILE.npy"),
    ],
)
def test_diff_used_wrongly(gpsimd: Run, words: tuple[str, ...], message: str) -> None:
    done = gpsimd("diff", "good.tpb", *COMMON, *words)
    assert done.code == 2
    assert message in done.err


def test_diff_of_a_program_that_one_side_refuses(gpsimd: Run) -> None:
    """64-bit integers came with cayman."""
    text = PREPARE.replace("fp32", "int64") + "tensor_tensor_arith_op src0=@x, src1=@x, dst=@z, op=ADD_INT"
    Path("p.tpb").write_text(text.replace("0x100", "0x400").replace("0x200", "0x800"))
    done = gpsimd("diff", "p.tpb", *COMMON, "--gens", "cayman,sunda")
    assert done.code == 1
    assert done.err.startswith("sunda refuses the program:\ninstruction 0 (byte 0x0), tensor_tensor_arith_op on sunda")


def test_diff_of_a_program_that_faults(gpsimd: Run) -> None:
    np.save("z.npy", np.zeros((4, 4), np.float32))
    done = gpsimd("diff", "dead.tpb", *COMMON, "--golden", "z=z.npy")
    assert done.code == 5
    assert "deadlock" in done.err
    assert gpsimd("diff", "dead.tpb", *COMMON, "--profiles", "reference,nki").code == 0


def test_events_on_maverick(gpsimd: Run) -> None:
    """The event modes are reported as dropped there: a warning, a violation under --strict; elsewhere they pass."""
    text = (
        PREPARE
        + ".stream pool\ncopy src=@x, dst=@y, update_mode=EVT_SET_COMPLETE\n.stream dve\ncopy src=@y, dst=@z, wait_mode=EVT_SET"
    )
    Path("p.tpb").write_text(text)
    for gen in ("sunda", "cayman", "mariana", "mariana_plus"):
        for strict in ((), ("--strict",)):
            done = gpsimd("run", "p.tpb", *OUT, "--gen", gen, *strict)
            assert done.code == 0
            assert "warning" not in done.out
    done = gpsimd("run", "p.tpb", *OUT, "--gen", "maverick")
    assert done.code == 0
    assert done.out.count("warning: ") == 2
    assert (np.load("out/z.npy") == np.load("x.npy")).all()
    done = gpsimd("run", "p.tpb", *OUT, "--gen", "maverick", "--strict")
    assert done.code == 1
    assert "EVT_SET_COMPLETE" in done.err or "EVT_SET" in done.err
