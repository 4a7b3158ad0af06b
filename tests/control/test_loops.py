"""Zero-overhead loops: setting up, looping back, and everything that does not loop back."""

from __future__ import annotations

import pytest
from control_help import execute, small_core

LOOPS = ("loop", "loopnez", "loopgtz")
BODY = "addi a3, a3, 1\nend:\n"


@pytest.mark.parametrize("variant", ["q7", "classic"])
@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("count", [1, 2, 7])
def test_n_passes(name: str, count: int, variant: str) -> None:
    core = small_core(variant)
    if variant == "classic":
        core.sr["ps"] = 0
    execute(f"{name} a2, end\n{BODY}", core=core, ars={2: count, 3: 0})
    assert (core.a[3], core.sr["lcount"]) == (count, 0)


@pytest.mark.parametrize("name", LOOPS)
def test_the_registers_after_setting_up(name: str) -> None:
    core = small_core()
    core.memory.write(0x100, bytes.fromhex({"loop": "768210", "loopnez": "769210", "loopgtz": "76a210"}[name]))
    core.pc, core.a[2] = 0x100, 5
    core.run(1, fast=False)
    assert (core.sr["lcount"], core.sr["lbeg"], core.sr["lend"]) == (4, 0x103, 0x114)


@pytest.mark.parametrize(
    ("name", "count", "passes", "left"),
    [
        ("loopnez", 0, 0, 0xFFFFFFFF),
        ("loopgtz", 0, 0, 0xFFFFFFFF),
        ("loopgtz", -1, 0, 0xFFFFFFFE),
        ("loopgtz", -(1 << 31), 0, 0x7FFFFFFF),
    ],
)
def test_a_skipped_body(name: str, count: int, passes: int, left: int) -> None:
    core = execute(f"{name} a2, end\n{BODY}", ars={2: count, 3: 0})
    assert (core.a[3], core.sr["lcount"]) == (passes, left)


def test_loop_has_no_guard() -> None:
    """Count 0 is 2^32 passes."""
    core = small_core()
    with pytest.raises(AssertionError, match="still running"):
        execute(f"loop a2, end\n{BODY}", core=core, ars={2: 0, 3: 0}, limit=100)
    assert core.sr["lcount"] == 0xFFFFFFFF - 99 + 1 - 1


def test_loopnez_takes_a_negative_count_as_a_large_one() -> None:
    core = small_core()
    with pytest.raises(AssertionError, match="still running"):
        execute(f"loopnez a2, end\n{BODY}", core=core, ars={2: -1, 3: 0}, limit=10)
    assert core.a[3] == 9


def test_a_branch_out_leaves_the_count() -> None:
    core = execute("loop a2, end\naddi a3, a3, 1\nbeqi a3, 2, out\nnop\nend:\nmovi a4, 1\nout:", ars={2: 9, 3: 0})
    assert (core.a[3], core.a[4], core.sr["lcount"]) == (2, 0, 7)


@pytest.mark.parametrize("jump", ["beqi a3, 2, end", "j end"])
def test_a_jump_onto_the_end_does_not_loop_back(jump: str) -> None:
    core = execute(f"loop a2, end\naddi a3, a3, 1\n{jump}\nnop\nend:\nnop", ars={2: 3, 3: 1})
    assert (core.a[3], core.sr["lcount"]) == (2, 2)


def test_a_return_to_the_end_does_not_loop_back() -> None:
    text = "loop a2, end\naddi a3, a3, 1\ncall0 leaf\nend:\nj out\n.align 4\nleaf: ret\nout:"
    core = execute(text, ars={2: 3, 3: 0})
    assert (core.a[3], core.sr["lcount"]) == (1, 2)


def test_a_branch_not_taken_at_the_end_loops_back() -> None:
    core = execute("loop a2, end\naddi a3, a3, 1\nbeqi a3, 256, end\nend:\nnop", ars={2: 3, 3: 0})
    assert (core.a[3], core.sr["lcount"]) == (3, 0)


def test_the_last_instruction_taken_to_elsewhere_leaves_the_loop() -> None:
    core = execute("loop a2, end\naddi a3, a3, 1\nbeqi a3, 1, out\nend:\nmovi a4, 1\nout:", ars={2: 3, 3: 0})
    assert (core.a[3], core.a[4], core.sr["lcount"]) == (1, 0, 2)


def test_a_nested_loop_overwrites_the_registers() -> None:
    text = "loop a2, outer\naddi a3, a3, 1\nloop a4, inner\naddi a5, a5, 1\ninner:\naddi a6, a6, 1\nouter:"
    core = execute(text, ars={2: 5, 3: 0, 4: 3, 5: 0, 6: 0})
    assert (core.a[3], core.a[5], core.a[6]) == (1, 3, 1)


def test_registers_can_be_written() -> None:
    text = "movi a2, 0x112\nwsr.lend a2\nmovi a2, 0x10f\nwsr.lbeg a2\nmovi a2, 3\nwsr.lcount a2\naddi a3, a3, 1"
    core = execute(text, base=0x100 - 3, ars={3: 0})
    assert (core.a[3], core.sr["lcount"]) == (4, 0)


@pytest.mark.parametrize("variant", ["q7", "classic"])
def test_no_loop_back_inside_a_handler(variant: str) -> None:
    core = small_core(variant)
    core.set_field(*(("ms", "DISPST", 1) if variant == "q7" else ("ps", "EXCM", 1)))
    execute(f"loop a2, end\n{BODY}", core=core, ars={2: 3, 3: 0})
    assert (core.a[3], core.sr["lcount"]) == (1, 2)


def test_a_density_instruction_may_end_the_body() -> None:
    assert execute("loop a2, end\naddi.n a3, a3, 1\nend:", ars={2: 4, 3: 0}).a[3] == 4


def test_an_empty_body_does_not_assemble() -> None:
    from gpsimd_core.control import assemble
    from gpsimd_core.errors import BadInput

    with pytest.raises(BadInput, match="allowed: 0x4 to 0x103"):
        assemble("loop a2, end\nend:")
