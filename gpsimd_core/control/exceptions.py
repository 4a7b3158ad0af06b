"""Exceptions: the roster, the cause numbers of both variants, and how each variant enters its handlers.

An exception travels through the lanes as its number: roster position plus one, so that 0 means that an instruction
completed. Numbers above the roster are stops of the interpreter, not exceptions of the core.

Sources: libfiss-base Surface + Exception Model (the 61 names), The XEA3 Interrupt / Exception Architecture, and for
`classic` what qemu-system-xtensa does. Cause numbers without a published value are 0x100 + roster position (PROPOSED).
"""

from __future__ import annotations

from gpsimd_core.control.layout import (
    ADDRESS,
    CLASSIC,
    CODE,
    DEBUGCAUSE,
    DEPC,
    DOUBLE,
    EPC,
    EXCCAUSE,
    EXCVADDR,
    MASK,
    MS,
    NEW_BASE,
    PC,
    PS,
    VECBASE,
    VECTORED,
    WB,
    Words,
)
from gpsimd_core.isa.lane import lane

ROSTER = (
    *("IllegalInstruction", "InstructionFetchError", "InstFetchProhibited", "InstFetchUndefinedAttr"),
    *("InstTLBMultiHit", "InstInvalidTCM", "InstCrossMem", "InstUnspecifiedError", "InstAxiSlvError"),
    *("InstAxiDecError", "L1SHitL1VMiss", "Privileged", "ExternalRegisterPrivilege", "SemFetchError"),
    *("SemFetchProhibited", "SemFetchUndefinedAttr", "SemTLBMultiHit"),
    *("LoadStoreError", "LoadStoreAlignment", "LoadStoreProhibited", "LoadStoreUndefinedAttr"),
    *("LoadStoreTLBMultiHit", "LoadStoreBusError", "LoadStoreAXISlvError", "LoadStoreAXIDecError"),
    *("LoadStoreSGAccError", "LoadStoreSlaveAtomicError", "LoadStoreFlixMemory"),
    *("LoadStoreLargeDowngradeBlockPFetch", "UnSupportedMemAndOp", "ExclusiveError", "L32ETailchain"),
    "Tailchain",
    *("StackLimitViolation", "KSLStackLimitViolation", "ISLStackLimitViolation"),
    *(f"Coprocessor{n}" for n in range(7)),
    *("IntegerDivideByZero", "Imprecise", "ImpreciseSGFPVec"),
    *("WindowOverflow8", "WindowUnderflow8", "WindowInstCall0"),
    *("Break", "BreakN", "IBreak", "DBreak", "SingleStep", "MaybeOCDBreak", "OCDInterrupt", "Halt", "HaltStay"),
    "WaitiFallThru",
    *("Interrupt1", "Syscall"),
)
CLASSIC_NAMES = (
    *("Alloca", "Double", "WindowOverflow4", "WindowUnderflow4", "WindowOverflow12", "WindowUnderflow12"),
    "StoreProhibited",
)
NAMES = ROSTER + CLASSIC_NAMES


def number(name: str) -> int:
    """The number by which the lanes know an exception."""
    return NAMES.index(name) + 1


ILLEGAL_INSTRUCTION = number("IllegalInstruction")
FETCH_ERROR = number("InstructionFetchError")
FETCH_PROHIBITED = number("InstFetchProhibited")
PRIVILEGED = number("Privileged")
EXTERNAL_REGISTER_PRIVILEGE = number("ExternalRegisterPrivilege")
LOAD_STORE_ERROR = number("LoadStoreError")
LOAD_STORE_ALIGNMENT = number("LoadStoreAlignment")
LOAD_STORE_PROHIBITED = number("LoadStoreProhibited")
STORE_PROHIBITED = number("StoreProhibited")
KSL_VIOLATION = number("KSLStackLimitViolation")
ISL_VIOLATION = number("ISLStackLimitViolation")
COPROCESSOR0 = number("Coprocessor0")
DIVIDE_BY_ZERO = number("IntegerDivideByZero")
OVERFLOW4 = number("WindowOverflow4")
OVERFLOW8 = number("WindowOverflow8")
OVERFLOW12 = number("WindowOverflow12")
UNDERFLOW4 = number("WindowUnderflow4")
UNDERFLOW8 = number("WindowUnderflow8")
UNDERFLOW12 = number("WindowUnderflow12")
INST_CALL0 = number("WindowInstCall0")
ALLOCA = number("Alloca")
BREAK = number("Break")
BREAK_N = number("BreakN")
SYSCALL = number("Syscall")

# Stops of the interpreter.
HALT = 200
UNSUPPORTED = 201
ASK_BUS = 202
EXIT = 203
FIRST_STOP = HALT

_PUBLISHED = {"IllegalInstruction": 0, "Syscall": 1, "IntegerDivideByZero": 6, "LoadStoreAlignment": 9} | {
    f"Coprocessor{n}": 32 + n for n in range(7)
}
# XEA2 numbers: 0, 1, 5, 6, 9, 32 seen on QEMU, the others are public base-architecture knowledge.
_CLASSIC_CAUSES = _PUBLISHED | {
    "InstructionFetchError": 2,
    "LoadStoreError": 3,
    "Alloca": 5,
    "Privileged": 8,
    "InstFetchProhibited": 20,
    "LoadStoreProhibited": 28,
    "StoreProhibited": 29,
}

# Classic handlers, as offsets from VECBASE.
DEBUG_VECTOR = 0x280
KERNEL_VECTOR = 0x300
USER_VECTOR = 0x340
DOUBLE_VECTOR = 0x3C0
DEBUG_LEVEL = 6

# Fields of PS that classic exceptions touch.
EXCM = 1 << 4
USER_MODE = 1 << 5
OWB_SHIFT = 8
OWB = 15 << OWB_SHIFT


def cause(name: str, variant: str) -> int:
    """The number that EXCCAUSE takes.

    Args:
        name: one of `NAMES`.
        variant: "q7" or "classic".

    Returns:
        The published number, else 0x100 + roster position (PROPOSED).
    """
    known = _CLASSIC_CAUSES if variant == "classic" else _PUBLISHED
    return known.get(name, 0x100 + NAMES.index(name))


def causes(variant: str) -> list[int]:
    """Cause numbers by exception number; entry 0 stands for no exception."""
    return [0] + [cause(name, variant) for name in NAMES]


@lane
def in_handler(m: Words) -> bool:
    """Whether a handler runs: an exception is then double, loops do not loop back, the ring does not matter."""
    if m[CLASSIC]:
        return (m[PS] & EXCM) != 0
    return (m[MS] & 31) != 0


@lane
def user(m: Words) -> bool:
    """Whether the core runs without privilege: outside any handler and not in ring 0."""
    if m[CLASSIC]:
        return (m[PS] & EXCM) == 0 and (m[PS] & 0xC0) != 0
    return (m[MS] & 31) == 0 and (m[PS] & 0x10) != 0


@lane
def about_an_address(code: int) -> bool:
    """Whether EXCVADDR takes an address for this exception."""
    return code in (FETCH_ERROR, FETCH_PROHIBITED, STORE_PROHIBITED) or (
        code >= LOAD_STORE_ERROR and code <= ISL_VIOLATION
    )


@lane
def enter(m: Words, causes: Words, code: int) -> int:
    """Take an exception that the instruction at m[PC] raised, before it changed anything.

    Args:
        m: the state.
        causes: cause numbers by exception number, int64.
        code: the exception number.

    Returns:
        0 when the program's handler goes on, else `code`: the interpreter stops there, with the exception registers
        set and m[PC] at the instruction.
    """
    m[CODE] = code
    m[DOUBLE] = 1 if in_handler(m) else 0
    if m[CLASSIC]:
        return _enter_classic(m, causes, code)
    if m[DOUBLE]:
        return code
    m[EPC] = m[PC]
    m[EXCCAUSE] = causes[code]
    if about_an_address(code):
        m[EXCVADDR] = m[ADDRESS]
    if m[VECTORED] == 0 or code in (OVERFLOW8, UNDERFLOW8):  # no return from a window trap is grounded
        return code
    m[MS] = 1
    m[PC] = m[VECBASE]
    return 0


@lane
def _enter_classic(m: Words, causes: Words, code: int) -> int:
    window = window_vector(code)
    debug = code in (BREAK, BREAK_N)
    if debug:
        m[EPC + DEBUG_LEVEL - 1] = m[PC]
        m[DEBUGCAUSE] = 8 if code == BREAK else 16
    elif m[DOUBLE]:
        m[DEPC] = m[PC]
    else:
        m[EPC] = m[PC]
    if window < 0 and not debug:
        m[EXCCAUSE] = causes[code]
    if about_an_address(code):
        m[EXCVADDR] = m[ADDRESS]
    if m[VECTORED] == 0:
        return code

    if window >= 0:
        m[PS] = (m[PS] & ~OWB) | ((m[WB] << OWB_SHIFT) & OWB)
        m[WB] = m[NEW_BASE]
        vector = window
    elif debug:
        m[DEPC + DEBUG_LEVEL] = m[PS]  # EPS6
        m[PS] = (m[PS] & ~15) | DEBUG_LEVEL
        vector = DEBUG_VECTOR
    elif m[DOUBLE]:
        vector = DOUBLE_VECTOR
    elif m[PS] & USER_MODE:
        vector = USER_VECTOR
    else:
        vector = KERNEL_VECTOR
    m[PS] |= EXCM
    m[PC] = (m[VECBASE] + vector) & MASK
    return 0


@lane
def window_vector(code: int) -> int:
    """Offset of a window exception's handler on classic, -1 for any other exception."""
    if code == OVERFLOW4:
        return 0
    if code == UNDERFLOW4:
        return 0x40
    if code == OVERFLOW8:
        return 0x80
    if code == UNDERFLOW8:
        return 0xC0
    if code == OVERFLOW12:
        return 0x100
    if code == UNDERFLOW12:
        return 0x140
    return -1
