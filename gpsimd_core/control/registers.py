"""The special and user registers of both variants: numbers, names, access, widths, reset values, fields.

q7: ISA Batches 27, 28 and 29, The XEA3 Interrupt / Exception Architecture, The Floating-Point Sub-ISA. Registers
whose width no source publishes are flat 32 bits (PROPOSED) and say so in `width_published`.
classic: what qemu-system-xtensa 7.2 prints, allows and keeps for the cores dc233c and de233_fpu.
"""

from __future__ import annotations

from functools import cache

from attrs import frozen

from gpsimd_core.control.groups.register import COPROCESSOR, GUARDED, RSR, RUR
from gpsimd_core.errors import BadValue


@frozen(kw_only=True)
class Register:
    """One special or user register.

    Args:
        number, name: as in the instruction word and in assembly.
        forms: the letters R, W and X that exist (RSR, WSR, XSR; RUR and WUR for a user register).
        mask: the implemented bits; a write keeps these, a read zero-extends them.
        reset: value after reset.
        privileged: needs ring 0, or a handler.
        coprocessor: needs CPENABLE bit 0.
        width_published: False where the 32 bits are ours.
        user: a user register, not a special one.
    """

    number: int
    name: str
    forms: str = "RWX"
    mask: int = 0xFFFFFFFF
    reset: int = 0
    privileged: bool = True
    coprocessor: bool = False
    width_published: bool = True
    user: bool = False

    @property
    def rights(self) -> int:
        """Allowed forms and conditions as the interpreter reads them: one bit for each form, and the conditions."""
        first = RUR if self.user else RSR
        forms = sum(1 << (first + "RWX".index(letter)) for letter in self.forms)
        return forms | GUARDED * self.privileged | COPROCESSOR * self.coprocessor


def _open(number: int, name: str, mask: int = 0xFFFFFFFF, published: bool = True) -> Register:
    return Register(number=number, name=name, mask=mask, privileged=False, width_published=published)


def _kept(number: int, name: str, mask: int = 0xFFFFFFFF, forms: str = "RWX", reset: int = 0) -> Register:
    return Register(number=number, name=name, mask=mask, forms=forms, reset=reset)


def _flat(number: int, name: str, forms: str = "RWX", reset: int = 0) -> Register:
    return Register(number=number, name=name, forms=forms, reset=reset, width_published=False)


_Q7 = (
    _open(0x00, "lbeg"),
    _open(0x01, "lend"),
    _open(0x02, "lcount"),
    _open(0x03, "sar", 0x3F),
    _open(0x04, "br", 0xFFFF),
    _open(0x28, "prefctl", published=False),
    _kept(0x48, "wb", 0x1FFFF, reset=0x200),
    _flat(0x59, "mmid", "W"),
    _flat(0x5A, "mpuenb"),
    _flat(0x5C, "mpucfg", "RW", reset=16),
    _flat(0x5F, "eraccess"),
    _flat(0x61, "memctl"),
    _flat(0x62, "cacheadrdis"),
    _flat(0x63, "atomctl"),
    _kept(0x68, "ddr"),
    _flat(0x69, "iram0cfg"),
    _flat(0x6A, "dram0cfg"),
    _flat(0x72, "ieextern"),
    _flat(0x74, "ievec"),
    _kept(0x80, "ibreaka0"),
    _kept(0x81, "ibreaka1"),
    _kept(0x90, "dbreaka0"),
    _kept(0x91, "dbreaka1"),
    _flat(0xA0, "dbreakc0"),
    _flat(0xA1, "dbreakc1"),
    _kept(0xB0, "configid0", forms="RW", reset=0xC4019686),
    _kept(0xB1, "epc"),
    _flat(0xC0, "ibreakc0"),
    _flat(0xC1, "ibreakc1"),
    _kept(0xD0, "configid1", forms="R", reset=0x2908E4E3),
    _kept(0xE0, "cpenable", 0x7F),
    _kept(0xE5, "ms", 0x3F),
    _kept(0xE6, "ps", 0x7000FC),
    _kept(0xE7, "vecbase", 0xFFFFFFC0),
    _kept(0xE8, "exccause", 0x1FFFFF),
    _kept(0xEA, "ccount"),
    _kept(0xEB, "prid", forms="R"),
    _flat(0xEC, "isb"),
    _kept(0xEE, "excvaddr"),
    _kept(0xF0, "ccompare0"),
    _kept(0xF1, "ccompare1"),
    _kept(0xF2, "ccompare2"),
    _kept(0xF4, "misc0"),
    _kept(0xF5, "misc1"),
    _kept(0xF8, "isl", 0xFFFFFFF8),
    _kept(0xF9, "ksl", 0xFFFFFFF8),
)

_CLASSIC = (
    _open(0x00, "lbeg"),
    _open(0x01, "lend"),
    _open(0x02, "lcount"),
    _open(0x03, "sar", 0x3F),
    _open(0x04, "br", 0xFFFF),  # de233_fpu
    _open(0x05, "litbase", 0xFFFFF001),  # dc233c
    _open(0x0C, "scompare1"),
    _open(0x10, "acclo"),
    _open(0x11, "acchi"),
    *(_open(0x20 + n, f"m{n}") for n in range(4)),
    _kept(0x48, "windowbase", 0x7),
    _kept(0x49, "windowstart", 0xFF),
    _kept(0x53, "ptevaddr", 0xFFC00000),
    _kept(0x5A, "rasid", 0xFFFFFF00, reset=0x04030201),
    _kept(0x5B, "itlbcfg", 0x01130000),
    _kept(0x5C, "dtlbcfg", 0x01130000),
    _kept(0x5F, "eraccess", 0xFFFF),  # de233_fpu
    _kept(0x60, "ibreakenable", 0x3),
    _kept(0x61, "memctl", 0),  # de233_fpu: accepted, keeps nothing
    _kept(0x63, "atomctl", 0x3F, reset=0x28),
    _kept(0x68, "ddr"),
    _kept(0x80, "ibreaka0"),
    _kept(0x81, "ibreaka1"),
    _kept(0x90, "dbreaka0"),
    _kept(0x91, "dbreaka1"),
    _kept(0xA0, "dbreakc0"),
    _kept(0xA1, "dbreakc1"),
    _kept(0xB0, "configid0", forms="R", reset=0xC1039286),
    *(_kept(0xB0 + n, f"epc{n}") for n in range(1, 8)),
    _kept(0xC0, "depc"),
    *(_kept(0xC0 + n, f"eps{n}") for n in range(2, 8)),
    _kept(0xD0, "configid1", forms="R", reset=0x28C872E0),
    *(_kept(0xD0 + n, f"excsave{n}") for n in range(1, 8)),
    _kept(0xE0, "cpenable", 0xFF),
    _kept(0xE2, "interrupt", 0x880, forms="RW"),  # written as INTSET: sets the software interrupts
    _kept(0xE3, "intclear", 0x880, forms="W"),
    _kept(0xE4, "intenable"),
    _kept(0xE6, "ps", 0x70FFF, reset=0x1F),
    _kept(0xE7, "vecbase", reset=0x2000),
    _kept(0xE8, "exccause"),
    _kept(0xE9, "debugcause", forms="R"),
    _kept(0xEA, "ccount"),
    _kept(0xEB, "prid", forms="R"),
    _kept(0xEC, "icount"),
    _kept(0xED, "icountlevel", 0xF),
    _kept(0xEE, "excvaddr"),
    _kept(0xF0, "ccompare0"),
    _kept(0xF1, "ccompare1"),
    _kept(0xF2, "ccompare2"),
    _kept(0xF4, "misc0"),
    _kept(0xF5, "misc1"),
)
CLASSIC_ALIASES = {"intset": "interrupt"}


def _user(number: int, name: str, mask: int, coprocessor: bool = False) -> Register:
    return Register(
        number=number, name=name, forms="RW", mask=mask, privileged=False, coprocessor=coprocessor, user=True
    )


_THREADPTR = _user(0xE7, "threadptr", 0xFFFFFFFF)
_USER = {
    "q7": (_THREADPTR, _user(0xE8, "fcr", 0x7F), _user(0xE9, "fsr", 0x1F)),
    "classic": (
        _THREADPTR,
        _user(0xE8, "fcr", 0x7F, coprocessor=True),
        _user(0xE9, "fsr", 0xF80, coprocessor=True),
    ),
}
_SPECIAL = {"q7": _Q7, "classic": _CLASSIC}

# Fields of structured registers: name, lowest bit, width.
FIELDS: dict[str, dict[str, dict[str, tuple[int, int]]]] = {
    "q7": {
        "ps": {"ENTRYNR": (22, 1), "SS": (20, 2), "STACK": (5, 3), "RING": (4, 1), "DI": (3, 1), "DIEXC": (2, 1)},
        "ms": {"DISPST": (0, 5), "DE": (5, 1)},
        "wb": {"C": (0, 3), "N": (3, 3), "P": (6, 3), "S": (9, 2), "T": (11, 3), "M": (14, 3)},
        "exccause": {"CAUSE": (0, 16), "EXTRA": (16, 5)},
        "fcr": {"RM": (0, 2), "V": (2, 1), "Z": (3, 1), "O": (4, 1), "U": (5, 1), "I": (6, 1)},
        "fsr": {"Invalid": (0, 1), "DivZero": (1, 1), "Overflow": (2, 1), "Underflow": (3, 1), "Inexact": (4, 1)},
    },
    "classic": {
        "ps": {
            "INTLEVEL": (0, 4),
            "EXCM": (4, 1),
            "UM": (5, 1),
            "RING": (6, 2),
            "OWB": (8, 4),
            "CALLINC": (16, 2),
            "WOE": (18, 1),
        },
        "fcr": {"RM": (0, 2), "V": (2, 1), "Z": (3, 1), "O": (4, 1), "U": (5, 1), "I": (6, 1)},
        "fsr": {"Inexact": (7, 1), "Underflow": (8, 1), "Overflow": (9, 1), "DivZero": (10, 1), "Invalid": (11, 1)},
    },
}

FLAGS = ("Invalid", "DivZero", "Overflow", "Underflow", "Inexact")


@cache
def special(variant: str) -> dict[int, Register]:
    """The special registers of a variant by number."""
    return {register.number: register for register in _SPECIAL[variant]}


@cache
def user(variant: str) -> dict[int, Register]:
    """The user registers of a variant by number."""
    return {register.number: register for register in _USER[variant]}


def find(kind: str, name: str | int, variant: str) -> Register:
    """A register by name or number.

    Args:
        kind: "sr" or "ur".
        name: as in assembly, upper or lower case, or the number.
        variant: "q7" or "classic".

    Raises:
        BadValue: the variant has no such register.
    """
    registers = special(variant) if kind == "sr" else user(variant)
    for register in registers.values():
        if isinstance(name, int):
            if register.number == name:
                return register
        elif register.name == CLASSIC_ALIASES.get(name.lower(), name.lower()):
            return register
    what = "special" if kind == "sr" else "user"
    shown = f"{name:#x}" if isinstance(name, int) else name
    raise BadValue(f"{variant} has no {what} register {shown}")


def fields(name: str, value: int, variant: str) -> dict[str, int]:
    """A structured register split into its fields; empty for a flat one."""
    layout = FIELDS[variant].get(name, {})
    return {field: (value >> low) & ((1 << width) - 1) for field, (low, width) in layout.items()}


def with_field(name: str, value: int, field: str, content: int, variant: str) -> int:
    """`value` with one field replaced.

    Raises:
        BadValue: no such field, or the content does not fit.
    """
    layout = FIELDS[variant].get(name, {})
    if field not in layout:
        raise BadValue(f"{name} has no field {field} on {variant}; it has: {' '.join(layout) or 'none'}")
    low, width = layout[field]
    if not 0 <= content < 1 << width:
        raise BadValue(f"{name}.{field} is {width} bits wide; {content} does not fit")
    return value & ~(((1 << width) - 1) << low) | content << low
