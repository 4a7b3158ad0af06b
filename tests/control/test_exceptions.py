"""Exceptions: names, causes, precision, handlers in the program and in Python, reports."""

from __future__ import annotations

import pytest
from control_help import execute, small_core

from gpsimd_core.control import ControlCore, Memory, Region, Trap, assemble
from gpsimd_core.control.exceptions import NAMES, ROSTER, cause
from gpsimd_core.control.table import ROWS
from gpsimd_core.errors import Fault, Unsupported

HANDLER = """
        .org 0x400
        rsr.epc a5
        rsr.exccause a6
        rsr.excvaddr a7
        rsr.ms a4
        addi a5, a5, 3
        wsr.epc a5
        rfdo 0
"""


def run_at(core: ControlCore, text: str, steps: int = 1) -> None:
    core.load(assemble(text, core.variant, 0x100))
    core.pc = 0x100
    core.run(steps, fast=False)


def test_61_names_in_eight_classes() -> None:
    assert len(ROSTER) == len(set(ROSTER)) == 61
    places = {0: "IllegalInstruction", 16: "SemTLBMultiHit", 17: "LoadStoreError", 32: "Tailchain"}
    places |= {33: "StackLimitViolation", 36: "Coprocessor0", 42: "Coprocessor6", 43: "IntegerDivideByZero"}
    places |= {46: "WindowOverflow8", 48: "WindowInstCall0", 49: "Break", 58: "WaitiFallThru"}
    places |= {59: "Interrupt1", 60: "Syscall"}
    assert {place: ROSTER[place] for place in places} == places


@pytest.mark.parametrize(
    ("name", "number"),
    [("IllegalInstruction", 0), ("Syscall", 1), ("IntegerDivideByZero", 6), ("LoadStoreAlignment", 9)]
    + [(f"Coprocessor{n}", 32 + n) for n in range(7)],
)
def test_published_causes(name: str, number: int) -> None:
    assert cause(name, "q7") == cause(name, "classic") == number


class TestRecommended:
    """Cause numbers without a published value: 0x100 and the place in the roster, counted from 0."""

    def test_causes(self) -> None:
        published = {"IllegalInstruction", "Syscall", "IntegerDivideByZero", "LoadStoreAlignment"}
        published |= {f"Coprocessor{n}" for n in range(7)}
        for place, name in enumerate(ROSTER):
            if name not in published:
                assert cause(name, "q7") == 0x100 + place
        assert cause("WindowOverflow8", "q7") == 0x12E

    def test_numbers_are_unique(self) -> None:
        assert len({cause(name, "q7") for name in ROSTER}) == 61


def test_classic_has_its_own_names() -> None:
    assert set(NAMES) - set(ROSTER) >= {"Alloca", "Double", "WindowOverflow4", "WindowUnderflow12"}
    assert cause("Alloca", "classic") == 5


FAULTS = [
    ("ill", "IllegalInstruction", {}),
    ("ill.n", "IllegalInstruction", {}),
    (".byte 0xff, 0xff, 0xff", "IllegalInstruction", {}),
    ("syscall", "Syscall", {}),
    ("break 1, 2", "Break", {}),
    ("break.n 3", "BreakN", {}),
    ("break1 3", "Break", {}),
    ("quou a2, a3, a4", "IntegerDivideByZero", {}),
    ("l32i a2, a3, 0", "LoadStoreAlignment", {3: 0x401}),
    ("l32i a2, a3, 0", "LoadStoreError", {3: 0x20000}),
    ("s8i a2, a3, 0", "LoadStoreError", {3: 0xFFFFFFFF}),
    ("jx a3", None, {3: 0x20000}),
]


@pytest.mark.parametrize(("text", "name", "ars"), FAULTS)
def test_without_vectors_an_exception_stops_with_a_report(text: str, name: str | None, ars: dict[int, int]) -> None:
    core = small_core()
    for number, value in ars.items():
        core.a[number] = value
    registers = core.state[:64].copy()
    with pytest.raises(Trap) as trap:
        run_at(core, text, steps=2)
    stopped = trap.value
    assert isinstance(stopped, Fault)
    assert stopped.exit_code == 5
    assert stopped.name == (name or "InstructionFetchError")
    assert stopped.pc == core.pc == core.sr["epc"] == (0x100 if name else 0x20000)
    assert core.sr["exccause"] == stopped.cause
    assert core.fields("ms")["DISPST"] == 0
    assert (core.state[:64] == registers).all()
    if stopped.address is not None:
        assert core.sr["excvaddr"] == stopped.address


def test_the_report_tells_instruction_address_register_and_reason() -> None:
    with pytest.raises(Trap) as trap:
        execute("nop\nl32i a2, a3, 4", ars={2: 5, 3: 0x401})
    assert str(trap.value).splitlines() == [
        "LoadStoreAlignment (cause 0x9) at 0x00000103, step 1",
        "  instruction  l32i a2, a3, 4    word 012322",
        "  address      0x00000405",
        "  registers    a2 = 0x00000005  a3 = 0x00000401",
        "  reason       the address is not a multiple of the access's size",
    ]


class TestVectors:
    """With handlers: EPC, EXCCAUSE, EXCVADDR, MS, PC = VECBASE; `rfdo 0` returns."""

    def handled(self, text: str, ars: dict[int, int]) -> ControlCore:
        core = small_core(vectors=True)
        core.load(assemble(HANDLER))
        core.sr["vecbase"] = 0x400
        core.sr["ms"] = 0x20
        for number, value in ars.items():
            core.a[number] = value
        run_at(core, f"{text}\nmovi a15, 99")
        return core

    @pytest.mark.parametrize(("text", "name", "ars"), [fault for fault in FAULTS if fault[1] and ".n" not in fault[0]])
    def test_dispatch_and_return(self, text: str, name: str, ars: dict[int, int]) -> None:
        core = self.handled(text, ars)
        assert (core.pc, core.sr["epc"]) == (0x400, 0x100)
        assert core.sr["exccause"] == cause(name, "q7")
        assert core.fields("ms") == {"DISPST": 1, "DE": 0}
        core.run(7, fast=False)
        assert (core.pc, core.fields("ms")) == (0x103, {"DISPST": 0, "DE": 1})
        core.run(1, fast=False)
        assert (core.a[15], core.a[4], core.a[6]) == (99, 1, cause(name, "q7"))

    def test_the_address_reaches_the_handler(self) -> None:
        core = self.handled("l32i a2, a3, 0", {3: 0x401})
        assert core.sr["excvaddr"] == 0x401

    def test_a_fault_inside_a_handler_is_double(self) -> None:
        core = self.handled("syscall", {})
        core.memory.write(0x400, bytes(3))
        with pytest.raises(Trap) as trap:
            core.run(1, fast=False)
        assert trap.value.double
        assert str(trap.value).startswith("double exception, IllegalInstruction")
        assert core.sr["epc"] == 0x100  # the first one's

    def test_vecbase_keeps_bits_31_to_6(self) -> None:
        core = execute("wsr.vecbase a3", ars={3: 0xFFFFFFFF})
        assert core.sr["vecbase"] == 0xFFFFFFC0


class TestPythonHandlers:
    def test_a_handler_takes_the_exception(self) -> None:
        core = small_core()
        seen = []

        def serve(core: ControlCore, trap: Trap) -> None:
            seen.append((trap.name, trap.pc, core.a[2]))
            core.a[3] = 7
            core.pc = trap.pc + 3

        core.handlers["Syscall"] = serve
        execute("movi a2, 5\nsyscall\naddi a3, a3, 1", core=core)
        assert (seen, core.a[3]) == ([("Syscall", 0x103, 5)], 8)

    def test_a_handler_that_does_nothing_cannot_hang(self) -> None:
        core = small_core()
        core.handlers["IllegalInstruction"] = lambda core, trap: None
        core.pc = 0x100
        assert core.run(50, fast=False).reason == "limit"

    def test_other_exceptions_still_stop(self) -> None:
        core = small_core()
        core.handlers["Syscall"] = lambda core, trap: None
        with pytest.raises(Trap, match="IllegalInstruction"):
            execute("ill", core=core)


class TestRegions:
    def core(self, variant: str = "q7") -> ControlCore:
        regions = [Region(base=0, size=0x1000, rights="rx"), Region(base=0x8000, size=0x1000, rights="rw")]
        return ControlCore(variant, memory=Memory(regions))

    @pytest.mark.parametrize(
        ("text", "address", "name"),
        [
            ("s32i a2, a3, 0", 0x800, "LoadStoreProhibited"),
            ("l32i a2, a3, 0", 0x1000, "LoadStoreError"),
            ("l32i a2, a3, 0", 0x7FFC, "LoadStoreError"),
            ("jx a3", 0x8000, "InstFetchProhibited"),
            ("jx a3", 0x4000, "InstructionFetchError"),
        ],
    )
    def test_rights(self, text: str, address: int, name: str) -> None:
        core = self.core()
        core.a[3] = address
        with pytest.raises(Trap) as trap:
            run_at(core, text, steps=2)
        assert (trap.value.name, trap.value.address) == (name, address)

    def test_allowed_accesses(self) -> None:
        core = self.core()
        core.a[3], core.a[4] = 0x8FFC, 0xFFC
        run_at(core, "s32i a2, a3, 0\nl32i a2, a3, 0\nl32i a2, a4, 0", steps=3)

    def test_an_instruction_across_the_end_of_memory(self) -> None:
        core = self.core()
        core.memory.write(0xFFE, bytes([0x20, 0x20]))
        core.pc = 0xFFE
        with pytest.raises(Trap, match="InstructionFetchError"):
            core.run(1, fast=False)
        core.memory.write(0xFFE, bytes([0x3D, 0xF0]))  # nop.n fits
        core.run(1, fast=False)
        assert core.pc == 0x1000

    @pytest.mark.parametrize(("text", "cause_"), [("s32i a2, a3, 0", 29), ("l32i a2, a3, 0", 28)])
    def test_classic_numbers_loads_and_stores_apart(self, text: str, cause_: int) -> None:
        core = ControlCore("classic", memory=Memory([Region(base=0, size=0x1000, rights="x")]))
        with pytest.raises(Trap) as trap:
            run_at(core, text)
        assert trap.value.cause == cause_


UNSUPPORTED = [
    "iii a3, 16",
    "licw a4, a3",
    "lict a4, a3",
    "wptlb a4, a3",
    "pptlb a4, a3",
    "rbtb0 a4, a5",
    "rbtb1 a4, a5",
]
UNSUPPORTED += ["rbtb2 a4, a5", "wbtb1 a4, a5", "wbtb2 a4, a5", "setw 2", "spillw", "tossw", "exit"]


@pytest.mark.parametrize("text", UNSUPPORTED)
def test_words_that_are_known_but_do_not_run(text: str) -> None:
    core = small_core()
    before = core.state[:576].copy()
    with pytest.raises(Unsupported) as error:
        run_at(core, text)
    assert text in str(error.value)
    assert error.value.missing
    assert (core.state[:576] == before).all()


def test_no_other_word_of_q7_is_unsupported() -> None:
    assert {row.name for row in ROWS if row.missing and "q7" in row.variants} == {
        text.split()[0] for text in UNSUPPORTED
    }


def test_halt_stops_the_run() -> None:
    core = small_core()
    core.load(assemble("nop\nhalt 5\nill"))
    core.pc = 0
    stop = core.run(fast=False)
    assert (stop.reason, stop.code, stop.steps, stop.pc) == ("halt", 5, 2, 3)


def test_the_step_limit() -> None:
    core = small_core()
    core.load(assemble("here: j here"))
    core.pc = 0
    stop = core.run(1000, fast=False)
    assert (stop.reason, stop.steps, core.steps) == ("limit", 1000, 1000)


class TestClassic:
    def core(self, ps: int = 0) -> ControlCore:
        core = small_core("classic", vectors=True)
        core.sr["vecbase"] = 0x1000
        core.sr["ps"] = ps
        return core

    @pytest.mark.parametrize(
        ("ps", "vector", "register"),
        [(0, 0x1300, "epc1"), (1 << 5, 0x1340, "epc1"), (1 << 4, 0x13C0, "depc")],
        ids=["kernel", "user", "double"],
    )
    def test_vectors(self, ps: int, vector: int, register: str) -> None:
        core = self.core(ps)
        run_at(core, "syscall")
        assert (core.pc, core.sr[register], core.sr["exccause"]) == (vector, 0x100, 1)
        assert core.fields("ps")["EXCM"] == 1

    def test_break_goes_to_the_debug_level(self) -> None:
        core = self.core()
        run_at(core, "break 1, 2")
        assert (core.pc, core.sr["epc6"], core.sr["debugcause"], core.sr["eps6"]) == (0x1280, 0x100, 8, 0)
        assert core.fields("ps")["INTLEVEL"] == 6

    def test_a_core_at_the_debug_level_passes_over_breaks(self) -> None:
        core = self.core(ps=0x1F)
        run_at(core, "break 1, 2")
        assert core.pc == 0x103

    def test_simulator_exit(self) -> None:
        core = small_core("classic")
        core.a[2], core.a[3] = 1, 3
        core.load(assemble("simcall", "classic"))
        core.pc = 0
        stop = core.run(10, fast=False)
        assert (stop.reason, stop.code) == ("exit", 3)

    def test_other_simulator_calls(self) -> None:
        with pytest.raises(Unsupported, match="simcall"):
            run_at(small_core("classic"), "simcall")

    @pytest.mark.parametrize("text", ["waiti 0", "wdtlb a3, a4", "pdtlb a3, a4", "mac16 0x12345"])
    def test_options_that_are_not_modelled(self, text: str) -> None:
        with pytest.raises(Unsupported):
            run_at(small_core("classic"), text)
