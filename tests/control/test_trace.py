"""The trace: one readable line a step, with what changed."""

from __future__ import annotations

import pytest
from control_help import small_core

from gpsimd_core.control import Stop, Trap, assemble
from gpsimd_core.control.trace import traced

LABELS = {0x100: "start", 0x109: "again"}


def lines(text: str, steps: int = 50, **options: object) -> list[str]:
    core = small_core(**options)  # type: ignore[arg-type]
    core.load(assemble(text, base=0x100))
    core.start(0x100, 0x4000)
    return [str(line) for line in traced(core, steps, LABELS)]


def test_registers_memory_loops_and_jumps() -> None:
    text = "movi a2, 2\nmovi a3, 0x200\nloop a2, end\ns32i a2, a3, 0\nend: wsr.sar a2\nj out\nill\nout: halt 1"
    assert lines(text) == [
        "start:",
        "     0  00000100  movi a2, 2                    a2 00000000 -> 00000002",
        "     1  00000103  movi a3, 512                  a3 00000000 -> 00000200",
        "     2  00000106  loop a2, 0x0000010c           lbeg 00000000 -> 00000109  lend 00000000 -> 0000010c  "
        "lcount 00000000 -> 00000001",
        "again:",
        "     3  00000109  s32i a2, a3, 0                lcount 00000001 -> 00000000  [00000200] = 00000002  "
        "loop back to again",
        "again:",
        "     4  00000109  s32i a2, a3, 0                [00000200] = 00000002",
        "     5  0000010c  wsr.sar a2                    sar 00000000 -> 00000002",
        "     6  0000010f  j 0x00000115                  go to 00000115",
        "     7  00000115  halt 1",
        "halt 1 at 0x00000115 after 8 steps",
    ]


def test_fields_are_shown_by_name() -> None:
    (line,) = [line for line in lines("movi a2, 12\nwsr.ps a2\nhalt 0") if "wsr" in line]
    assert line.endswith("ps.DI 0 -> 1 ps.DIEXC 0 -> 1")


def test_windows_are_shown_in_the_new_frame() -> None:
    shown = lines("call8 f\n.align 4\nf: entry a1, 32\nhalt 0")
    assert shown[1].endswith("a8 00000000 -> 80000103  go to 00000104")
    assert shown[2].endswith("a1 00000000 -> 00003fe0  wb.C 0 -> 1")


def test_an_exception_ends_the_trace_with_its_report() -> None:
    core = small_core()
    core.load(assemble("nop\nill"))
    core.pc = 0
    steps = traced(core, 10)
    assert next(steps) == "     0  00000000  nop"
    with pytest.raises(Trap, match="IllegalInstruction"):
        next(steps)


def test_the_limit_ends_the_trace() -> None:
    core = small_core()
    core.load(assemble("here: j here"))
    core.pc = 0
    *_, last = traced(core, 5)
    assert isinstance(last, Stop)
    assert (last.reason, last.steps) == ("limit", 5)


def test_a_dispatch_shows_the_handler() -> None:
    core = small_core(vectors=True)
    core.sr["vecbase"] = 0x400
    core.load(assemble("syscall"))
    core.pc = 0
    line = next(iter(traced(core, 1)))
    assert "exccause.CAUSE 0 -> 1" in str(line)
    assert str(line).endswith("Syscall, go to 00000400")


def test_the_bus_is_traced_too() -> None:
    shown = lines("movi a3, 7\nwer a3, a4\nrer a5, a4\nhalt 0")
    assert shown[2].endswith("wer a3, a4")
    assert shown[3].endswith("a5 00000000 -> 00000007")
