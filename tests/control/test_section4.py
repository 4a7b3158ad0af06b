"""The control section of "Formal Semantics II", statement by statement.

A test is named after its statement. Where another source or QEMU corrects the page, the test holds the corrected
reading and its docstring says what the page had.
"""

from __future__ import annotations

import pytest
from control_help import Program, execute, small_core

from gpsimd_core.control import Bus, ControlCore, Trap
from gpsimd_core.control import registers as roster


def step(core: ControlCore, text: str) -> ControlCore:
    """Execute the first instruction of `text` at 0x100."""
    core.pc = Program(text, core).base
    core.run(1, fast=False)
    return core


class TestRegisterFile:
    def test_64_entries_of_32_bits(self) -> None:
        core = small_core()
        assert len(core.ar) == 64
        core.ar[63] = 0xFFFFFFFF
        assert core.ar[63] == 0xFFFFFFFF

    def test_a_window_of_16_rotates_over_them(self) -> None:
        core = small_core()
        core.ar[8] = 7
        assert step(core, "rotw 1").a[0] == 7


class TestAccessForms:
    def test_118_operations_over_42_registers(self) -> None:
        """Corrected: 130 operations over 46 registers; 42 is the count of a subset (Batches 27 and 29)."""
        forms = [letter for register in roster.special("q7").values() for letter in register.forms]
        assert (len(roster.special("q7")), len(forms)) == (46, 130)

    def test_rsr_zero_extends(self) -> None:
        core = small_core()
        core.sr["sar"] = 0x3F
        assert execute("rsr.sar a3", core=core, ars={3: 0xFFFFFFFF}).a[3] == 0x3F

    def test_wsr_keeps_the_slice(self) -> None:
        assert execute("wsr.sar a3", ars={3: 0xFFFFFFD5}).sr["sar"] == 0x15

    def test_xsr_is_an_atomic_exchange(self) -> None:
        core = small_core()
        core.sr["sar"] = 0x15
        execute("xsr.sar a3", core=core, ars={3: 0x6A})
        assert (core.a[3], core.sr["sar"]) == (0x15, 0x2A)

    def test_writing_4b46_to_sar_sets_xtsync(self) -> None:
        """Corrected: every write of SAR synchronises in the timing model, none has an effect on values."""
        core = small_core()
        before = core.state.copy()
        execute("wsr.sar a3", core=core, ars={3: 0x4B46})
        changed = {int(k) for k in (core.state[64:576] != before[64:576]).nonzero()[0]}
        assert changed == {3}
        assert core.sr["sar"] == 0x4B46 & 0x3F

    def test_ps_decomposes_into_its_fields(self) -> None:
        core = execute("wsr.ps a3", ars={3: 1 << 22 | 2 << 20 | 5 << 5 | 0 << 4 | 1 << 3 | 0 << 2 | 0x3})
        assert core.fields("ps") == {"ENTRYNR": 1, "SS": 2, "STACK": 5, "RING": 0, "DI": 1, "DIEXC": 0}

    @pytest.mark.parametrize(("ring", "dispatch", "traps"), [(0, 0, False), (1, 0, True), (1, 1, False), (0, 1, False)])
    def test_writing_ps_is_privileged(self, ring: int, dispatch: int, traps: bool) -> None:
        core = small_core()
        core.set_field("ps", "RING", ring)
        core.set_field("ms", "DISPST", dispatch)
        if traps:
            with pytest.raises(Trap, match="Privileged"):
                step(core, "wsr.ps a3")
        else:
            step(core, "wsr.ps a3")

    @pytest.mark.parametrize("name", ["ps", "ms", "exccause"])
    def test_structured_registers_have_fields(self, name: str) -> None:
        """Corrected: DBREAKC and IBREAKC too are said to split, but no source publishes their fields: flat."""
        assert small_core().fields(name)
        assert small_core().fields("dbreakc0") == {}

    @pytest.mark.parametrize("name", ["lbeg", "lend", "lcount", "ccount"])
    def test_flat_registers_take_the_whole_word(self, name: str) -> None:
        assert execute(f"wsr.{name} a3", ars={3: 0x89ABCDEF}).sr[name] == 0x89ABCDEF

    def test_br_is_the_sixteen_booleans(self) -> None:
        assert execute("wsr.br a3", ars={3: 0x89ABCDEF}).sr["br"] == 0xCDEF

    @pytest.mark.parametrize(
        ("name", "forms"),
        [("prid", "R"), ("configid1", "R"), ("mmid", "W"), ("configid0", "RW"), ("mpucfg", "RW")],
    )
    def test_asymmetric_forms(self, name: str, forms: str) -> None:
        assert roster.find("sr", name, "q7").forms == forms


class TestBus:
    def test_rer_sends_the_address_and_takes_the_answer(self) -> None:
        bus = Bus(read=lambda address: address ^ 0xFFFFFFFF)
        core = execute("rer a3, a4", core=small_core(bus=bus), ars={4: 0x122000})
        assert core.a[3] == 0x122000 ^ 0xFFFFFFFF

    def test_wer_sends_address_and_value(self) -> None:
        core = execute("wer a3, a4", ars={3: 0x1000, 4: 0x122000})
        assert core.bus.values == {0x122000: 0x1000}

    def test_a_denial_raises_a_privilege_exception(self) -> None:
        """Corrected: the page has a second name, InternalPrivilegeException, which no roster knows."""
        core = small_core()
        core.set_field("ps", "RING", 1)
        with pytest.raises(Trap, match="ExternalRegisterPrivilege"):
            step(core, "rer a3, a4")

    def test_the_bus_is_neither_registers_nor_memory(self) -> None:
        core = execute("wer a3, a4", ars={3: 0x55, 4: 0x03})
        assert core.sr["sar"] == 0
        assert core.memory.read(0, 4) == bytes(4)


class TestLoop:
    def test_loop_seeds_lcount_with_the_count(self) -> None:
        """Corrected: the count minus one (Batch 28, QEMU)."""
        assert step(looping(), "loop a2, end\nnop\nend:").sr["lcount"] == 4

    def test_loop_seeds_lbeg_with_the_next_address(self) -> None:
        assert step(looping(), "loop a2, end\nnop\nend:").sr["lbeg"] == 0x103

    def test_loop_seeds_lend_with_pc_plus_the_label(self) -> None:
        """Corrected: PC + 4 + offset (Batch 28, the assembler, QEMU)."""
        core = looping()
        core.memory.write(0x100, (0x108276).to_bytes(3, "little"))
        core.pc = 0x100
        core.run(1, fast=False)
        assert core.sr["lend"] == 0x100 + 4 + 0x10

    def test_loop_does_not_branch(self) -> None:
        assert step(looping(), "loop a2, end\nnop\nend:").pc == 0x103

    @pytest.mark.parametrize(("count", "skips"), [(0, True), (1, False), (-1, False)])
    def test_loopnez_skips_on_zero(self, count: int, skips: bool) -> None:
        core = looping(count)
        assert (step(core, "loopnez a2, end\nnop\nend:").pc == core.sr["lend"]) is skips

    @pytest.mark.parametrize(("count", "skips"), [(0, True), (1, False), (-1, True)])
    def test_loopgtz_skips_on_zero_and_below(self, count: int, skips: bool) -> None:
        core = looping(count)
        assert (step(core, "loopgtz a2, end\nnop\nend:").pc == core.sr["lend"]) is skips

    def test_at_lend_with_a_count_the_core_goes_back(self) -> None:
        """Corrected: only after an instruction that completed sequentially, not whenever PC equals LEND (QEMU)."""
        assert execute("loop a2, end\naddi a3, a3, 1\nend:", ars={2: 4, 3: 0}).a[3] == 4
        jumped = execute("loop a2, end\naddi a3, a3, 1\nj end\nend:", ars={2: 4, 3: 0})
        assert (jumped.a[3], jumped.sr["lcount"]) == (1, 3)

    def test_without_a_count_execution_falls_through(self) -> None:
        core = execute("loop a2, end\naddi a3, a3, 1\nend:\naddi a4, a4, 1", ars={2: 1, 3: 0, 4: 0})
        assert (core.a[3], core.a[4], core.sr["lcount"]) == (1, 1, 0)

    def test_the_loop_registers_are_special_registers_0_to_2(self) -> None:
        assert [roster.find("sr", name, "q7").number for name in ("lbeg", "lend", "lcount")] == [0, 1, 2]


def looping(count: int = 5) -> ControlCore:
    core = small_core()
    core.a[2] = count & 0xFFFFFFFF
    return core


class TestWindows:
    def entered(self, **fields: int) -> ControlCore:
        core = small_core()
        for field, value in fields.items():
            core.set_field("wb" if field == "S" else "ps", field, value)
        core.a[1] = 0x4000
        return step(core, "entry a1, 64")

    def test_entry_rotates_by_one(self) -> None:
        assert self.entered().fields("wb")["C"] == 1

    def test_entry_does_not_rotate_with_entrynr(self) -> None:
        assert self.entered(ENTRYNR=1).fields("wb")["C"] == 0

    def test_entry_lowers_the_stack_pointer_by_the_frame(self) -> None:
        """Corrected: into the same-numbered register of the new window; the page has a0, the return address (QEMU)."""
        core = self.entered()
        assert (core.a[1], core.a[0]) == (0x4000 - 64, 0)

    def test_entry_clears_entrynr(self) -> None:
        assert self.entered(ENTRYNR=1).fields("ps")["ENTRYNR"] == 0

    def test_entry_without_window_state_raises(self) -> None:
        with pytest.raises(Trap, match="WindowInstCall0"):
            self.entered(S=0)

    @pytest.mark.parametrize(("stack", "limit"), [(0, "isl"), (3, "ksl")])
    def test_entry_checks_the_stack_limit(self, stack: int, limit: str) -> None:
        """Corrected: not one name for both limits; the roster has one for each."""
        core = small_core()
        core.set_field("ps", "STACK", stack)
        core.sr[limit] = 0x4000
        core.a[1] = 0x4000
        with pytest.raises(Trap, match=f"{limit.upper()}StackLimitViolation"):
            step(core, "entry a1, 64")

    def test_retw_always_decrements(self) -> None:
        core = self.entered()
        core.a[0] = 0x80000200
        assert step(core, "retw").fields("wb")["C"] == 0

    def test_retw_raises_underflow(self) -> None:
        core = small_core(spill="stop")
        core.a[0] = 0x80000200
        with pytest.raises(Trap, match="WindowUnderflow8"):
            step(core, "retw")

    def test_retw_goes_to_the_rotated_return_address(self) -> None:
        core = self.entered()
        core.a[0] = 0x80000204
        assert step(core, "retw").pc == 0x204

    def test_wb_has_a_current_and_a_state_field(self) -> None:
        """Corrected: P is the pending base, not the previous one, and S has two state bits, not the window starts."""
        assert self.entered().fields("wb") == {"C": 1, "N": 0, "P": 0, "S": 1, "T": 0, "M": 0}

    def test_overflow_saves_and_underflow_restores_through_memory(self) -> None:
        text = "movi a10, 12\ncall8 f\nj out\n.align 4\nf: entry a1, 32\nbeqz a2, one\naddi a10, a2, -1\ncall8 f\n"
        text += "add a2, a2, a10\none: retw\nout:"
        core = small_core()
        execute(text, core=core)
        assert (core.a[10], core.spills, core.fills) == (78, 6, 6)


class TestFloatingControl:
    def test_fcr_and_fsr_are_user_registers(self) -> None:
        assert not {"fcr", "fsr"} & {register.name for register in roster.special("q7").values()}
        assert {"fcr", "fsr"} < {register.name for register in roster.user("q7").values()}

    def test_the_rounding_mode_is_fcr_1_to_0_and_starts_at_nearest_even(self) -> None:
        core = small_core()
        assert core.fields("fcr")["RM"] == 0
        execute("wur.fcr a3", core=core, ars={3: 0x7F})
        assert core.fields("fcr")["RM"] == 3
