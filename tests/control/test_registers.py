"""Special and user registers: access forms, widths, reset values, fields, privilege, the external bus."""

from __future__ import annotations

import pytest
from control_help import execute, small_core

from gpsimd_core.control import Access, Bus, ControlCore, Trap, assemble_word
from gpsimd_core.control import registers as roster
from gpsimd_core.control.registers import Register
from gpsimd_core.errors import BadValue

Q7 = list(roster.special("q7").values())
CLASSIC = list(roster.special("classic").values())
FORMS = {"R": ("rsr", 0x030000), "W": ("wsr", 0x130000), "X": ("xsr", 0x610000)}
NO_PRIVILEGE = {"lbeg", "lend", "lcount", "sar", "br", "prefctl"}

# (number, name, forms, width mask, reset) as published; a mask of None has no published width.
PUBLISHED = [
    (0x00, "lbeg", "RWX", 0xFFFFFFFF, 0),
    (0x01, "lend", "RWX", 0xFFFFFFFF, 0),
    (0x02, "lcount", "RWX", 0xFFFFFFFF, 0),
    (0x03, "sar", "RWX", 0x3F, 0),
    (0x04, "br", "RWX", 0xFFFF, 0),
    (0x28, "prefctl", "RWX", None, 0),
    (0x48, "wb", "RWX", 0x1FFFF, 0x200),
    (0x59, "mmid", "W", None, 0),
    (0x5A, "mpuenb", "RWX", None, 0),
    (0x5C, "mpucfg", "RW", None, 16),
    (0x5F, "eraccess", "RWX", None, 0),
    (0x61, "memctl", "RWX", None, 0),
    (0x62, "cacheadrdis", "RWX", None, 0),
    (0x63, "atomctl", "RWX", None, 0),
    (0x68, "ddr", "RWX", 0xFFFFFFFF, 0),
    (0x69, "iram0cfg", "RWX", None, 0),
    (0x6A, "dram0cfg", "RWX", None, 0),
    (0x72, "ieextern", "RWX", None, 0),
    (0x74, "ievec", "RWX", None, 0),
    (0x80, "ibreaka0", "RWX", 0xFFFFFFFF, 0),
    (0x81, "ibreaka1", "RWX", 0xFFFFFFFF, 0),
    (0x90, "dbreaka0", "RWX", 0xFFFFFFFF, 0),
    (0x91, "dbreaka1", "RWX", 0xFFFFFFFF, 0),
    (0xA0, "dbreakc0", "RWX", None, 0),
    (0xA1, "dbreakc1", "RWX", None, 0),
    (0xB0, "configid0", "RW", 0xFFFFFFFF, 0xC4019686),
    (0xB1, "epc", "RWX", 0xFFFFFFFF, 0),
    (0xC0, "ibreakc0", "RWX", None, 0),
    (0xC1, "ibreakc1", "RWX", None, 0),
    (0xD0, "configid1", "R", 0xFFFFFFFF, 0x2908E4E3),
    (0xE0, "cpenable", "RWX", 0x7F, 0),
    (0xE5, "ms", "RWX", 0x3F, 0),
    (0xE6, "ps", "RWX", 0x7000FC, 0),
    (0xE7, "vecbase", "RWX", 0xFFFFFFC0, 0),
    (0xE8, "exccause", "RWX", 0x1FFFFF, 0),
    (0xEA, "ccount", "RWX", 0xFFFFFFFF, 0),
    (0xEB, "prid", "R", 0xFFFFFFFF, 0),
    (0xEC, "isb", "RWX", None, 0),
    (0xEE, "excvaddr", "RWX", 0xFFFFFFFF, 0),
    (0xF0, "ccompare0", "RWX", 0xFFFFFFFF, 0),
    (0xF1, "ccompare1", "RWX", 0xFFFFFFFF, 0),
    (0xF2, "ccompare2", "RWX", 0xFFFFFFFF, 0),
    (0xF4, "misc0", "RWX", 0xFFFFFFFF, 0),
    (0xF5, "misc1", "RWX", 0xFFFFFFFF, 0),
    (0xF8, "isl", "RWX", 0xFFFFFFF8, 0),
    (0xF9, "ksl", "RWX", 0xFFFFFFF8, 0),
]
WITH_WIDTH = [row for row in PUBLISHED if row[3] is not None]
WITHOUT_WIDTH = [row for row in PUBLISHED if row[3] is None]
named = {"ids": lambda row: row[1]}


def run_word(core: ControlCore, word: int) -> None:
    """Execute one 24-bit word at 0x100, whatever the assembler thinks of it."""
    core.memory.write(0x100, word.to_bytes(3, "little"))
    core.pc = 0x100
    core.run(1, fast=False)


def test_the_roster_is_the_published_one() -> None:
    assert [(r.number, r.name, r.forms) for r in Q7] == [row[:3] for row in PUBLISHED]
    assert len(Q7) == 46


def test_130_operations() -> None:
    counts = {letter: sum(letter in register.forms for register in Q7) for letter in "RWX"}
    assert counts == {"R": 45, "W": 44, "X": 41}
    assert sum(counts.values()) == 130


def test_17_registers_have_no_published_width() -> None:
    assert len(WITHOUT_WIDTH) == 17
    assert [r.name for r in Q7 if not r.width_published] == [row[1] for row in WITHOUT_WIDTH]


@pytest.mark.parametrize("row", PUBLISHED, **named)
def test_read_gives_the_reset_value(row: tuple[int, str, str, int | None, int]) -> None:
    number, name, forms, _, reset = row
    core = small_core()
    assert core.sr[name] == reset
    if "R" in forms:
        core.a[3] = 0xDEADBEEF
        run_word(core, 0x030030 | number << 8)
        assert core.a[3] == reset


def _width(row: tuple[int, str, str, int | None, int], mask: int) -> None:
    number, name, forms, _, _ = row
    core = small_core()
    if "W" in forms:
        core.a[3] = 0xFFFFFFFF
        core.sr[name] = 0
        wb = name == "wb"
        run_word(core, 0x130030 | number << 8)
        assert core.sr[name] == mask
        if "R" in forms and not wb:
            core.set_field("ms", "DISPST", 1)  # what PS.RING now says must not matter
            core.a[4] = 0
            run_word(core, 0x030040 | number << 8)
            assert core.a[4] == (mask if name != "ms" else 1 | mask & ~0x1F)


@pytest.mark.parametrize("row", WITH_WIDTH, **named)
def test_write_keeps_the_published_bits(row: tuple[int, str, str, int, int]) -> None:
    _width(row, row[3])


class TestRecommended:
    """What no source publishes: these registers are flat 32 bits in the model."""

    @pytest.mark.parametrize("row", WITHOUT_WIDTH, **named)
    def test_write_keeps_32_bits(self, row: tuple[int, str, str, None, int]) -> None:
        _width(row, 0xFFFFFFFF)

    def test_fcr_is_zero_after_reset(self) -> None:
        assert small_core().ur["fcr"] == 0


@pytest.mark.parametrize("row", [row for row in PUBLISHED if "X" in row[2]], **named)
def test_exchange_reads_old_and_writes_new(row: tuple[int, str, str, int | None, int]) -> None:
    number, name, _, mask, _ = row
    kept = 0xFFFFFFFF if mask is None else mask
    core = small_core()
    before = 0x5A5A5A58 & kept if name not in ("wb", "ms", "ps") else 0
    core.sr[name] = before
    core.a[3] = 0xA5A5A5A5 if name not in ("wb", "ps") else 0
    written = core.a[3]
    run_word(core, 0x610030 | number << 8)
    assert core.a[3] == before
    assert core.sr[name] == written & kept


@pytest.mark.parametrize(
    ("letter", "name"), [(letter, row[1]) for row in PUBLISHED for letter in "RWX" if letter not in row[2]]
)
def test_missing_form_is_illegal(letter: str, name: str) -> None:
    mnemonic, base = FORMS[letter]
    number = roster.find("sr", name, "q7").number
    with pytest.raises(Trap, match="IllegalInstruction"):
        run_word(small_core(), base | number << 8 | 0x30)
    with pytest.raises(BadValue, match=f"{name} has no {mnemonic.upper()} on q7"):
        assemble_word(f"{mnemonic}.{name} a3")


def test_eight_forms_are_missing() -> None:
    assert sum(3 - len(row[2]) for row in PUBLISHED) == 8


@pytest.mark.parametrize("base", [base for _, base in FORMS.values()])
def test_unlisted_numbers_are_illegal(base: int) -> None:
    known = {row[0] for row in PUBLISHED}
    for number in set(range(256)) - known:
        with pytest.raises(Trap, match="IllegalInstruction"):
            run_word(small_core(), base | number << 8 | 0x30)


@pytest.mark.parametrize("row", PUBLISHED, **named)
def test_privilege_faults_from_the_user_ring(row: tuple[int, str, str, int | None, int]) -> None:
    number, name, forms, _, _ = row
    for letter in forms:
        core = small_core()
        core.set_field("ps", "RING", 1)
        before = core.state.copy()
        word = FORMS[letter][1] | number << 8 | 0x30
        if name in NO_PRIVILEGE:
            run_word(core, word)
            continue
        with pytest.raises(Trap) as trap:
            run_word(core, word)
        assert (trap.value.name, trap.value.pc) == ("Privileged", 0x100)
        assert (core.state[:64] == before[:64]).all()
        core.set_field("ms", "DISPST", 1)  # inside a handler the ring does not matter
        run_word(core, word)


@pytest.mark.parametrize(
    "text",
    [
        "rotw 1",
        "setw 1",
        "l32e a3, a4, -4",
        "s32e a3, a4, -4",
        "rfdo 0",
        "iii a3, 0",
        "lict a3, a4",
        "licw a3, a4",
        "lddr32.p a3",
        "sddr32.p a3",
        "wptlb a3, a4",
        "pptlb a3, a4",
        "rbtb1 a3, a4",
        "wbtb2 a3, a4",
    ],
)
def test_privileged_instructions(text: str) -> None:
    core = small_core()
    core.set_field("ps", "RING", 1)
    with pytest.raises(Trap, match="Privileged"):
        run_word(core, assemble_word(text))


@pytest.mark.parametrize("text", ["rur.threadptr a3", "wur.fcr a3", "nsa a3, a4", "sext a3, a4, 7", "clamps a3, a4, 7"])
def test_free_instructions(text: str) -> None:
    core = small_core()
    core.set_field("ps", "RING", 1)
    run_word(core, assemble_word(text))


def test_ps_splits_into_its_fields() -> None:
    core = execute("wsr.ps a3", ars={3: 0xFFFFFFFF & ~0x10})
    assert core.fields("ps") == {"ENTRYNR": 1, "SS": 3, "STACK": 7, "RING": 0, "DI": 1, "DIEXC": 1}
    assert core.sr["ps"] == 0x7000EC


def test_ms_splits_into_its_fields() -> None:
    core = execute("wsr.ms a3", ars={3: 0x3F})
    assert core.fields("ms") == {"DISPST": 31, "DE": 1}


def test_window_base_splits_into_its_fields() -> None:
    core = execute("wsr.wb a3", ars={3: 5 << 14 | 4 << 11 | 1 << 9 | 3 << 6 | 2 << 3 | 1})
    assert core.fields("wb") == {"C": 1, "N": 2, "P": 3, "S": 1, "T": 4, "M": 5}


def test_exccause_splits_into_its_fields() -> None:
    core = execute("wsr.exccause a3", ars={3: 0x1F0009})
    assert core.fields("exccause") == {"CAUSE": 9, "EXTRA": 31}


def test_a_field_that_is_none_is_refused() -> None:
    core = small_core()
    with pytest.raises(BadValue, match="ps has no field WOE on q7"):
        core.set_field("ps", "WOE", 1)
    with pytest.raises(BadValue, match=r"ps.RING is 1 bits wide; 2 does not fit"):
        core.set_field("ps", "RING", 2)


def test_sar_has_six_bits_and_no_side_effect() -> None:
    core = execute("wsr.sar a3", ars={3: 0x4B46})
    assert core.sr["sar"] == 6
    assert core.fields("ps") == dict.fromkeys(core.fields("ps"), 0)


def test_user_registers_fcr_and_fsr_on_q7() -> None:
    core = execute("wur.fcr a3\nwur.fsr a3\nrur.fcr a4\nrur.fsr a5", ars={3: 0xFFFFFFFF})
    assert (core.a[4], core.a[5]) == (0x7F, 0x1F)
    assert core.flags == {"Invalid", "DivZero", "Overflow", "Underflow", "Inexact"}


def test_user_registers_on_classic_need_the_coprocessor() -> None:
    core = small_core("classic")
    with pytest.raises(Trap) as trap:
        execute("wur.fcr a3", core=core)
    assert (trap.value.name, trap.value.cause) == ("Coprocessor0", 32)
    core.sr["cpenable"] = 1
    execute("wur.fcr a3\nwur.fsr a3\nrur.fcr a4\nrur.fsr a5", core=core, ars={3: 0xFFFFFFFF})
    assert (core.a[4], core.a[5]) == (0x7F, 0xF80)


def test_flags_are_compared_by_name() -> None:
    for variant, bit in (("q7", 4), ("classic", 7)):
        core = small_core(variant)
        core.ur["fsr"] = 1 << bit
        assert core.flags == {"Inexact"}


def test_unknown_user_register_is_illegal() -> None:
    for number in set(range(256)) - {0xE7, 0xE8, 0xE9}:
        for word in (0xE33000 | number << 4, 0xF30030 | number << 8):
            with pytest.raises(Trap, match="IllegalInstruction"):
                run_word(small_core(), word)


@pytest.mark.parametrize("register", CLASSIC, ids=lambda register: register.name)
def test_classic_registers(register: Register) -> None:
    """Masks and reset values as QEMU's cores showed them."""
    core = small_core("classic")
    assert core.sr[register.number] == register.reset
    if "W" in register.forms and register.name not in ("interrupt", "intclear"):
        core.a[3] = 0xFFFFFFFF
        run_word(core, 0x130030 | register.number << 8)
        assert core.sr[register.number] == register.reset & ~register.mask | register.mask


def test_classic_interrupt_bits_are_set_and_cleared_by_writing() -> None:
    core = execute(
        "wsr.intset a3\nrsr.interrupt a4\nwsr.intclear a5\nrsr.interrupt a6", "classic", ars={3: -1, 5: 0x80}
    )
    assert (core.a[4], core.a[6]) == (0x880, 0x800)


def test_no_form_on_one_variant_leaks_into_the_other() -> None:
    assert roster.find("sr", "ms", "q7").number == 0xE5
    for name, variant in (("ms", "classic"), ("isl", "classic"), ("windowstart", "q7"), ("epc1", "q7")):
        with pytest.raises(BadValue, match=f"{variant} has no special register {name}"):
            roster.find("sr", name, variant)


class TestBus:
    """RER and WER: an address space of its own behind a gate."""

    def test_write_then_read(self) -> None:
        core = execute("wer a3, a4\nrer a5, a4\nrer a6, a7", ars={3: 0x1000, 4: 0x122000, 7: 0x122004})
        assert (core.a[5], core.a[6]) == (0x1000, 0)

    def test_it_is_neither_memory_nor_a_register(self) -> None:
        core = execute("wer a3, a4", ars={3: 0xDEADBEEF, 4: 0x200})
        assert core.memory.word(0x200) == 0
        assert core.bus.values == {0x200: 0xDEADBEEF}

    def test_user_ring_is_denied_by_default(self) -> None:
        core = small_core()
        core.set_field("ps", "RING", 1)
        with pytest.raises(Trap) as trap:
            execute("rer a5, a4", core=core, ars={4: 0x122000, 5: 7})
        assert (trap.value.name, trap.value.address) == ("ExternalRegisterPrivilege", 0x122000)
        assert core.a[5] == 7

    def test_the_gate_can_be_replaced(self) -> None:
        seen: list[Access] = []

        def gate(access: Access) -> bool:
            seen.append(access)
            return not access.write

        core = small_core(bus=Bus(gate=gate))
        core.sr["eraccess"] = 0x11
        core.set_field("ps", "RING", 1)
        execute("rer a5, a4", core=core, ars={4: 0x122000})
        with pytest.raises(Trap, match="ExternalRegisterPrivilege"):
            execute("wer a5, a4", core=core)
        assert seen == [
            Access(address=0x122000, write=False, ring=1, eraccess=0x11),
            Access(address=0x122000, write=True, ring=1, eraccess=0x11),
        ]

    def test_a_device_can_stand_behind_it(self) -> None:
        log: list[tuple[int, int]] = []
        bus = Bus(read=lambda address: address + 1, write=lambda address, value: log.append((address, value)))
        core = execute("rer a5, a4\nwer a5, a4", core=small_core(bus=bus), ars={4: 0x122000})
        assert core.a[5] == 0x122001
        assert log == [(0x122000, 0x122001)]

    def test_ring_zero_passes_without_the_gate(self) -> None:
        core = small_core(bus=Bus(gate=lambda access: False))
        execute("rer a5, a4", core=core)

    def test_in_a_handler_the_ring_is_zero(self) -> None:
        core = small_core()
        core.set_field("ps", "RING", 1)
        core.set_field("ms", "DISPST", 1)
        execute("rer a5, a4", core=core)


class TestVectorFiles:
    """The vector side's register files are state that values are read from and written to."""

    def test_geometry(self) -> None:
        sizes = {name: (file.file.count, file.file.width) for name, file in small_core().files.items()}
        assert sizes == {
            "vec": (32, 512),
            "vbool": (16, 64),
            "valign": (4, 512),
            "wvec": (4, 1536),
            "b32_pr": (16, 64),
            "gvr": (8, 512),
            "fs": (8, 64),
        }

    def test_lane_zero_is_the_least_significant(self) -> None:
        vec = small_core().files["vec"]
        vec[3] = 0x0201
        assert vec.lanes(3, "2nx8")[:3].tolist() == [1, 2, 0]
        vec.lanes(3, "n_2x32")[15] = 0x80000000
        assert vec[3] == 1 << 511 | 0x0201

    def test_what_does_not_exist_is_refused(self) -> None:
        vec = small_core().files["vec"]
        for wrong in (lambda: vec[32], lambda: vec.lanes(0, "nx17"), lambda: vec.__setitem__(0, 1 << 512)):
            with pytest.raises(BadValue):
                wrong()
