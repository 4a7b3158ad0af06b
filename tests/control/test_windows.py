"""Register windows of q7: frames of eight, overflow and underflow, ENTRY, RETW, MOVSP, ROTW, stack limits."""

from __future__ import annotations

import control_qemu
import pytest
from control_help import SMALL, execute, small_core
from control_programs import DATA, DATA_WORDS, Writer, for_q7

from gpsimd_core.control import ControlCore, Memory, Trap, assemble
from gpsimd_core.errors import BadValue

STACK = 0x8000

RECURSION = """
        movi a10, DEPTH
        call8 sum
        halt 0
        .align 4
sum:                            ; a2 = n, gives n + ... + 1; a4 to a7 must survive the call
        entry a1, 64
        movi a4, 444
        addi a5, a2, 55
        movi a6, 666
        addi a7, a2, 77
        beqz a2, zero
        addi a10, a2, -1
        call8 sum
        add a3, a2, a10
        movi a8, 444
        bne a4, a8, bad
        addi a8, a2, 55
        bne a5, a8, bad
        movi a8, 666
        bne a6, a8, bad
        addi a8, a2, 77
        bne a7, a8, bad
        mov a2, a3
        retw
zero:
        movi a2, 0
        retw.n
bad:
        ill
"""


def recursion(depth: int, **options: object) -> ControlCore:
    core = small_core(**options)  # type: ignore[arg-type]
    core.load(assemble(RECURSION.replace("DEPTH", str(depth))))
    core.start(stack=STACK)
    return core


@pytest.mark.parametrize("depth", [0, 1, 5, 6, 7, 8, 9, 20, 60])
def test_recursion_spills_and_fills(depth: int) -> None:
    core = recursion(depth)
    assert core.run(20000, fast=False).reason == "halt"
    assert core.a[10] == depth * (depth + 1) // 2
    assert core.spills == core.fills == max(0, depth - 6)
    assert (core.live, core.fields("wb")["C"]) == (1, 0)
    assert core.a[1] == STACK


def test_spill_stop_names_the_trap() -> None:
    core = recursion(20, spill="stop")
    with pytest.raises(Trap) as trap:
        core.run(20000, fast=False)
    assert trap.value.name == "WindowOverflow8"
    assert trap.value.text.startswith("addi a10")
    assert core.spills == 0
    assert core.live == 0xFF


def test_vectors_do_not_change_that() -> None:
    core = recursion(20, spill="stop", vectors=True)
    with pytest.raises(Trap, match="WindowOverflow8"):
        core.run(20000, fast=False)


def test_with_32_registers_there_are_four_frames() -> None:
    core = recursion(20, registers=32)
    assert core.run(20000, fast=False).reason == "halt"
    assert (core.a[10], core.spills) == (210, 18)


def test_register_counts_that_are_none() -> None:
    with pytest.raises(BadValue, match="48 address registers: allowed are 32 and 64"):
        small_core(registers=48)


class TestCall:
    def test_call8_writes_the_tagged_return_address(self) -> None:
        core = small_core()
        core.load(assemble("call8 f\n.align 4\nf: nop", base=0x40000000 & 0xFFFC), 0)
        core.pc = 0
        core.run(1, fast=False)
        assert (core.a[8], core.pc, core.fields("wb")["C"]) == (0x80000003, 4, 0)

    def test_callx8_reads_its_target_before_it_writes_a8(self) -> None:
        core = small_core()
        core.load(assemble("callx8 a8"))
        core.pc, core.a[8] = 0, 0x200
        core.run(1, fast=False)
        assert (core.a[8], core.pc) == (0x80000003, 0x200)

    def test_call0_and_ret(self) -> None:
        core = execute("call0 f\nmovi a3, 1\nj out\n.align 4\nf: movi a2, 7\nret\nout:")
        assert (core.a[0], core.a[2], core.a[3]) == (0x103, 7, 1)

    def test_a_call_is_a_reference_to_a8(self) -> None:
        core = small_core(spill="stop")
        core.state[core_live()] = 0b11
        with pytest.raises(Trap, match="WindowOverflow8"):
            execute("call8 0x200", core=core)

    @pytest.mark.parametrize("word", [0x000015, 0x0000D0, 0x0000F0, 0x0003D0], ids=["call4", "callx4", "callx12", "x"])
    def test_other_calls_are_illegal(self, word: int) -> None:
        core = small_core()
        core.memory.write(0x100, word.to_bytes(3, "little"))
        core.pc = 0x100
        with pytest.raises(Trap, match="IllegalInstruction"):
            core.run(1, fast=False)

    def test_the_call12_space_is_break1(self) -> None:
        core = small_core()
        core.memory.write(0x100, bytes.fromhex("f50300"))
        core.pc = 0x100
        with pytest.raises(Trap) as trap:
            core.run(1, fast=False)
        assert (trap.value.name, trap.value.text) == ("Break", "break1 3")


def core_live() -> int:
    from gpsimd_core.control.layout import LIVE

    return LIVE


class TestReference:
    @pytest.mark.parametrize(
        "text", ["mov a8, a2", "mov a2, a15", "add a2, a3, a9", "s32i a8, a1, 0", "beqz a12, 0x200"]
    )
    def test_registers_of_a_live_frame_are_spilled_first(self, text: str) -> None:
        core = live_neighbour()
        step(core, text)
        assert core.spills == 1
        assert core.live == 0b01
        assert core.memory.read(0x4000 - 16, 4) == (0x1000).to_bytes(4, "little")

    @pytest.mark.parametrize("text", ["mov a7, a0", "add a2, a3, a4", "movi a6, 1", "nop"])
    def test_the_lower_half_is_always_there(self, text: str) -> None:
        core = live_neighbour()
        execute(text, core=core)
        assert core.spills == 0

    def test_a_spill_that_cannot_be_stored_changes_nothing(self) -> None:
        core = live_neighbour()
        core.ar[17] = SMALL + 0x100  # the save area lies outside memory
        before = core.state[:64].copy()
        with pytest.raises(Trap) as trap:
            execute("mov a8, a2", core=core)
        assert (trap.value.name, trap.value.address) == ("LoadStoreError", SMALL + 0xF0)
        assert (core.state[:64] == before).all()
        assert core.live == 0b11

    def test_a_misaligned_save_area(self) -> None:
        core = live_neighbour()
        core.ar[17] = 0x4002
        with pytest.raises(Trap, match="LoadStoreAlignment"):
            execute("mov a8, a2", core=core)


def live_neighbour() -> ControlCore:
    """Frame 1 is live: a0 to a7 of it hold 1000 and so on, its a9 is 4000, its caller's frame ends at 5000."""
    core = small_core()
    core.state[core_live()] = 0b11
    for number in range(8):
        core.ar[8 + number] = 0x1000 + number
    core.ar[9] = 0x3000
    core.ar[17] = 0x4000
    core.memory.write(0x3000 - 12, (0x5000).to_bytes(4, "little"))
    return core


def step(core: ControlCore, text: str) -> None:
    core.load(assemble(text, base=0x100))
    core.pc = 0x100
    core.run(1, fast=False)


def test_spill_layout_is_that_of_the_classic_handlers() -> None:
    core = live_neighbour()
    step(core, "mov a8, a2")
    low = [core.memory.word(0x4000 - 16 + 4 * k) for k in range(4)]
    high = [core.memory.word(0x5000 - 32 + 4 * k) for k in range(4)]
    assert low == [0x1000, 0x3000, 0x1002, 0x1003]
    assert high == [0x1004, 0x1005, 0x1006, 0x1007]


def test_fill_layout_is_that_of_the_classic_handlers() -> None:
    core = live_neighbour()
    step(core, "mov a8, a2")
    for number in range(8):
        core.ar[8 + number] = 0
    core.sr["wb"] = 0x200 | 2
    core.state[core_live()] = 0b100
    core.a[0], core.a[1] = 0x80000200, 0x4000
    step(core, "retw")
    assert [core.a[number] for number in range(8)] == [0x1000, 0x3000, *range(0x1002, 0x1008)]
    assert (core.fills, core.live, core.pc) == (1, 0b10, 0x200)


class TestEntry:
    def enter(self, text: str = "entry a1, 64", **fields: int) -> ControlCore:
        core = small_core()
        for field, value in fields.items():
            core.set_field("wb" if field in ("C", "S") else "ps", field, value)
        core.a[1], core.a[3] = 0x4000, 0x5000
        step(core, text)
        return core

    def test_the_new_stack_pointer_is_in_the_same_numbered_register(self) -> None:
        core = self.enter("entry a3, 32")
        assert core.fields("wb")["C"] == 1
        assert (core.a[3], core.ar[8 + 3], core.ar[3]) == (0x5000 - 32, 0x5000 - 32, 0x5000)
        assert core.ar[8] == 0  # a0 holds the return address, not the stack pointer

    def test_entrynr_keeps_the_window_and_is_cleared(self) -> None:
        core = self.enter(ENTRYNR=1)
        assert (core.fields("wb")["C"], core.a[1], core.live) == (0, 0x4000 - 64, 1)
        assert core.fields("ps")["ENTRYNR"] == 0

    def test_no_window_state_is_window_inst_call0(self) -> None:
        with pytest.raises(Trap, match="WindowInstCall0"):
            self.enter(S=0)

    def test_registers_above_a3_are_illegal(self) -> None:
        with pytest.raises(Trap, match="IllegalInstruction"):
            self.enter("entry a4, 64")

    def test_the_window_wraps(self) -> None:
        core = small_core()
        core.sr["wb"] = 0x207
        core.state[core_live()] = 0x80
        core.a[1] = 0x4000
        step(core, "entry a1, 16")
        assert (core.fields("wb")["C"], core.live, core.ar[1]) == (0, 0x81, 0x3FF0)

    def test_entry_into_a_live_frame_spills_it(self) -> None:
        core = live_neighbour()
        step(core, "entry a1, 64")
        assert (core.spills, core.live, core.fields("wb")["C"]) == (1, 0b11, 1)

    def test_other_fields_of_wb_only_store(self) -> None:
        core = small_core()
        core.sr["wb"] = 0x1FFFF & ~0x600 | 0x200
        core.state[core_live()] = 0x80
        step(core, "entry a1, 16")
        assert core.fields("wb") == {"C": 0, "N": 7, "P": 7, "S": 1, "T": 7, "M": 7}


class TestReturn:
    @pytest.mark.parametrize("tag", [0, 1, 3])
    def test_the_tag_must_be_two(self, tag: int) -> None:
        core = small_core()
        core.a[0] = tag << 30 | 0x200
        with pytest.raises(Trap, match="IllegalInstruction"):
            step(core, "retw")

    def test_the_caller_in_registers(self) -> None:
        core = small_core()
        core.sr["wb"] = 0x203
        core.state[core_live()] = 0b1100
        core.a[0] = 0x80000200
        step(core, "retw.n")
        assert (core.pc, core.fields("wb")["C"], core.live) == (0x200, 2, 0b0100)

    def test_underflow_stops_by_name(self) -> None:
        core = small_core(spill="stop")
        core.a[0] = 0x80000200
        before = core.state[:320].copy()
        with pytest.raises(Trap, match="WindowUnderflow8"):
            step(core, "retw")
        after = core.state[:320]
        changed = {int(k) for k in (before != after).nonzero()[0]}
        assert changed == {64 + 0xB1, 64 + 0xE8}  # EPC and EXCCAUSE alone

    def test_a_fill_that_cannot_be_read_changes_nothing(self) -> None:
        core = small_core()
        core.a[0], core.a[1] = 0x80000200, SMALL + 0x100
        with pytest.raises(Trap, match="LoadStoreError"):
            step(core, "retw")
        assert (core.live, core.fields("wb")["C"], core.fills) == (1, 0, 0)


class TestRotate:
    @pytest.mark.parametrize(("text", "now"), [("rotw 1", 3), ("rotw -3", 7), ("rotw -8", 2), ("rotw 7", 1)])
    def test_rotw_moves_modulo_eight(self, text: str, now: int) -> None:
        core = small_core()
        core.sr["wb"] = 0x202
        step(core, text)
        assert core.fields("wb")["C"] == now

    def test_the_window_shows_other_registers(self) -> None:
        core = small_core()
        core.ar[8] = 88
        step(core, "rotw 1")
        assert (core.a[0], core.ar[8]) == (88, 88)


class TestMovsp:
    def test_it_copies(self) -> None:
        core = small_core()
        core.state[core_live()] = 0b11
        core.sr["wb"] = 0x201
        core.a[3] = 0x3000
        step(core, "movsp a1, a3")
        assert core.a[1] == 0x3000

    def test_a_spilled_caller_is_window_underflow8(self) -> None:
        core = small_core(spill="stop")
        with pytest.raises(Trap, match="WindowUnderflow8"):
            step(core, "movsp a1, a3")

    def test_a_spilled_caller_is_filled_first(self) -> None:
        core = live_neighbour()
        step(core, "mov a8, a2")
        core.sr["wb"] = 0x202
        core.state[core_live()] = 0b100
        core.a[1], core.a[3] = 0x4000, 0x3800
        step(core, "movsp a1, a3")
        assert (core.fills, core.live, core.a[1], core.ar[8]) == (1, 0b110, 0x3800, 0x1000)


class TestStackLimits:
    """PS.STACK 0 is the interrupt stack with ISL, anything else KSL; a limit of 0 never trips."""

    @pytest.mark.parametrize(("stack", "name"), [(0, "ISLStackLimitViolation"), (1, "KSLStackLimitViolation")])
    @pytest.mark.parametrize("text", ["entry a1, 64", "movsp a1, a3", "s32stk a4, a1, 80"])
    def test_below_the_limit(self, text: str, stack: int, name: str) -> None:
        core = self.guarded(stack, 0x4000 - 32)
        before = core.state[:64].copy()
        with pytest.raises(Trap) as trap:
            step(core, text)
        assert trap.value.name == name
        assert trap.value.address == 0x4000 - (80 if text.startswith("s32stk") else 64)
        assert (core.state[:64] == before).all()
        assert core.fields("wb")["C"] == 0

    @pytest.mark.parametrize("text", ["entry a1, 64", "movsp a1, a3", "s32stk a4, a1, 80"])
    @pytest.mark.parametrize("limit", [0, 0x3F80])
    def test_above_the_limit_or_without_one(self, text: str, limit: int) -> None:
        step(self.guarded(0, limit), text)

    def test_the_other_stack_has_its_own_limit(self) -> None:
        core = self.guarded(1, 0)
        core.sr["isl"] = 0x8000
        step(core, "entry a1, 64")

    def guarded(self, stack: int, limit: int) -> ControlCore:
        core = small_core()
        core.state[core_live()] = 0x81
        core.set_field("ps", "STACK", stack)
        core.sr["ksl" if stack else "isl"] = limit
        core.a[1], core.a[3], core.a[4] = 0x4000, 0x4000 - 64, 0x1234
        return core

    def test_s32stk_stores_below_the_register(self) -> None:
        core = small_core()
        core.a[4], core.a[3] = 0x4000, 0xCAFE
        step(core, "s32stk a3, a4, 192")
        assert core.memory.word(0x4000 - 192) == 0xCAFE


def test_window_save_accesses() -> None:
    core = execute("s32e a3, a4, -64\ns32e a4, a4, -4\nl32e a5, a4, -64\nl32e a6, a4, -4", ars={3: 7, 4: 0x4000})
    assert (core.a[5], core.a[6]) == (7, 0x4000)


def test_frames_show_the_physical_registers() -> None:
    core = small_core()
    for count in range(8):
        core.sr["wb"] = 0x200 | count
        for number in range(16):
            core.ar[(8 * count + number) % 64] = 100 * count + number
            assert core.a[number] == 100 * count + number


def both(seed: int) -> tuple[ControlCore, ControlCore]:
    """A program with CALL8 alone, run to the end of its work on classic and on q7."""
    text = Writer(seed, booleans=True, common=True).program()
    classic = control_qemu.core(assemble(text, "classic", control_qemu.CODE).flat())
    image = assemble(for_q7(text), "q7", control_qemu.CODE)
    q7 = ControlCore("q7", memory=Memory(control_qemu.core(b"").memory.regions))
    q7.load(image)
    q7.pc = control_qemu.CODE
    for core in (classic, q7):
        for _ in range(5000):
            if core.pc == image.symbols["end_of_work"]:
                break
            core.run(1, fast=False)
        assert core.pc == image.symbols["end_of_work"]
    return classic, q7


@pytest.mark.parametrize("seed", range(30))
def test_values_agree_with_classic(seed: int) -> None:
    """Frames of eight, spilled by the core, leave what steps of four and handlers leave."""
    classic, q7 = both(seed)
    assert [classic.a[n] for n in range(16)] == [q7.a[n] for n in range(16)]
    for name in ("sar", "br", "lbeg", "lend", "lcount", "misc0", "misc1"):
        assert classic.sr[name] == q7.sr[name]
    assert classic.memory.read(DATA, 4 * DATA_WORDS) == q7.memory.read(DATA, 4 * DATA_WORDS)


def test_those_programs_spill() -> None:
    cores = [both(seed)[1] for seed in range(8)]
    assert sum(core.spills for core in cores) > 20
    assert all(core.spills == core.fills for core in cores)


class TestClassic:
    """Steps of four registers; the rest is QEMU's to judge."""

    def start(self) -> ControlCore:
        core = small_core("classic")
        core.sr["ps"] = 1 << 18
        core.sr["windowstart"] = 1
        return core

    @pytest.mark.parametrize(("call", "step_"), [("call4", 1), ("call8", 2), ("call12", 3)])
    def test_entry_advances_by_the_callers_increment(self, call: str, step_: int) -> None:
        core = self.start()
        core.a[4 * step_ + 1] = 0x4000
        core.load(assemble(f"{call} f\n.align 4\nf: entry a1, 32", "classic"))
        core.pc = 0
        core.run(1, fast=False)
        assert core.fields("ps")["CALLINC"] == step_
        assert core.a[4 * step_] == step_ << 30 | 3
        core.run(1, fast=False)
        assert core.sr["windowbase"] == step_
        assert core.sr["windowstart"] == 1 | 1 << step_
        assert core.ar[4 * step_ + 1] == (core.ar[1] - 32) & 0xFFFFFFFF

    def test_movsp_with_a_spilled_caller_is_alloca(self) -> None:
        core = self.start()
        with pytest.raises(Trap) as trap:
            step_classic(core, "movsp a1, a3")
        assert (trap.value.name, trap.value.cause) == ("Alloca", 5)

    @pytest.mark.parametrize(
        ("bits", "name"),
        [(0b0111, "WindowOverflow4"), (0b1011, "WindowOverflow8"), (0b0000011, "WindowOverflow12")],
    )
    def test_overflow_is_named_by_the_size_of_the_frame(self, bits: int, name: str) -> None:
        core = self.start()
        core.sr["windowstart"] = bits
        with pytest.raises(Trap, match=name):
            step_classic(core, "mov a4, a2")

    @pytest.mark.parametrize(("tag", "name"), [(1, "4"), (2, "8"), (3, "12")])
    def test_underflow_is_named_by_the_return_address(self, tag: int, name: str) -> None:
        core = self.start()
        core.a[0] = tag << 30 | 0x200
        with pytest.raises(Trap, match=f"WindowUnderflow{name}"):
            step_classic(core, "retw")


def step_classic(core: ControlCore, text: str) -> None:
    core.load(assemble(text, "classic", 0x100))
    core.pc = 0x100
    core.run(1, fast=False)
