"""One step, and many: the interpreter that the compiled and the plain twin share."""

from __future__ import annotations

from gpsimd_core.control.exceptions import (
    DIVIDE_BY_ZERO,
    FETCH_ERROR,
    FETCH_PROHIBITED,
    FIRST_STOP,
    ILLEGAL_INSTRUCTION,
    PRIVILEGED,
    UNSUPPORTED,
    enter,
    user,
)
from gpsimd_core.control.groups.access import load, store
from gpsimd_core.control.groups.arithmetic import arithmetic
from gpsimd_core.control.groups.boolean import combine
from gpsimd_core.control.groups.flow import go, jump, loop, loop_back, taken
from gpsimd_core.control.groups.multiply import divides, multiply
from gpsimd_core.control.groups.register import RUR, bus, register
from gpsimd_core.control.groups.shift import SSR, shift
from gpsimd_core.control.groups.system import trap
from gpsimd_core.control.groups.window import references, window
from gpsimd_core.control.groups.window_classic import references_classic, window_classic
from gpsimd_core.control.layout import (
    ADDRESS,
    ALWAYS_THERE,
    AR,
    AR_MASK,
    BR,
    CLASSIC,
    CODE,
    EXECUTE,
    HALFWORD_BYTES,
    MASK,
    NEXT,
    PC,
    SAR,
    SEQUENTIAL,
    STEPS,
    STORES,
    WORD,
    Bytes,
    Words,
)
from gpsimd_core.control.memory import NOWHERE, byte, locate
from gpsimd_core.control.state import boolean, window_base
from gpsimd_core.control.table import (
    CAUSES_AT,
    DESTINATION,
    FIRST,
    GROUP,
    LABEL,
    SECOND,
    SPECIAL_AT,
    TOUCHES,
    UNDEFINED,
    USER_AT,
    A,
    B,
    find_row,
)
from gpsimd_core.control.table import CODE as ROW_CODE
from gpsimd_core.control.table import PRIVILEGED as ROW_PRIVILEGED
from gpsimd_core.control.words import (
    ARITHMETIC,
    BOOLEAN,
    BRANCH,
    BUS,
    JUMP,
    LOAD,
    LOOP,
    MISSING,
    MULTIPLY,
    ORDER,
    REGISTER,
    SHIFT,
    STORE,
    WINDOW,
    immediate,
    length,
)
from gpsimd_core.isa.lane import lane


@lane
def fetch(m: Words, memory: Bytes) -> int:
    """Read the instruction at m[PC] into m[WORD] and set m[NEXT]. Returns 0, or the number of an exception."""
    pc = m[PC]
    m[ADDRESS] = pc
    at = locate(m, pc, HALFWORD_BYTES, EXECUTE)
    size = 2
    if at >= 0:
        m[WORD] = byte(memory, at) | (byte(memory, at + 1) << 8)
        if length(m[WORD]) == 3:
            size = 3
            at = locate(m, pc, HALFWORD_BYTES + 1, EXECUTE)
            if at >= 0:
                m[WORD] |= byte(memory, at + 2) << 16
    if at < 0:
        return FETCH_ERROR if at == NOWHERE else FETCH_PROHIBITED
    m[NEXT] = (pc + size) & MASK
    m[SEQUENTIAL] = 1
    return 0


@lane
def step(m: Words, memory: Bytes, table: Words) -> int:
    """Execute the instruction at m[PC], or find out why it cannot be.

    Args:
        m: the state, int64, see layout.py.
        memory: the bytes of all regions, uint8.
        table: the variant's table, int64, see table.py.

    Returns:
        0 with everything done and m[PC] moved on; or the number of an exception or stop, with nothing done but a
        window spill or fill that came first.
    """
    m[STORES] = 0
    code = fetch(m, memory)
    if code:
        return code
    word = m[WORD]
    row = find_row(table, word)
    if row == UNDEFINED:
        return ILLEGAL_INSTRUCTION
    if table[row + ROW_PRIVILEGED] and user(m):
        return PRIVILEGED
    first = (word >> table[row + FIRST]) & 15
    second = (word >> table[row + SECOND]) & 15
    written = (word >> table[row + DESTINATION]) & 15
    highest = max(first, second, written, table[row + TOUCHES])
    if highest > m[ALWAYS_THERE]:
        if m[CLASSIC]:
            code = references_classic(m, highest)
        else:
            code = references(m, memory, highest)
        if code:
            return code
    code = execute(m, memory, table, row, first, second, written)
    if code:
        return code
    loop_back(m)
    m[PC] = m[NEXT]
    return 0


@lane
def execute(m: Words, memory: Bytes, table: Words, row: int, first: int, second: int, written: int) -> int:
    """Carry out the instruction m[WORD] of `row`; returns as `step` does."""
    word = m[WORD]
    pc = m[PC]
    base = window_base(m)
    x = m[AR + ((base + first) & m[AR_MASK])]
    y = m[AR + ((base + second) & m[AR_MASK])]
    position = AR + ((base + written) & m[AR_MASK])
    group = table[row + GROUP]
    code = table[row + ROW_CODE]
    a = immediate(table, row + A, word, pc)

    if group == ARITHMETIC:
        value = arithmetic(code, x, y, a, boolean(m, a & 15))
        if value >= 0:
            m[position] = value
        return 0
    if group == LOAD:
        value = load(m, memory, code, x, y, a, immediate(table, row + LABEL, word, pc))
        if value < 0:
            return -value
        m[position] = value
        return 0
    if group == STORE:
        return store(m, memory, code, x, y, a, position)
    if group == BRANCH:
        if taken(code, x, y, a, boolean(m, a & 15)):
            go(m, immediate(table, row + LABEL, word, pc))
        return 0
    if group == SHIFT:
        value = shift(code, x, y, a, immediate(table, row + B, word, pc), m[SAR])
        if code >= SSR:
            position = SAR
        m[position] = value
        return 0
    if group == MULTIPLY:
        if y == 0 and divides(code):
            return DIVIDE_BY_ZERO
        m[position] = multiply(code, x, y)
        return 0
    return _execute_rarer(m, memory, table, row, first, position, x, a)


@lane
def _execute_rarer(m: Words, memory: Bytes, table: Words, row: int, first: int, position: int, x: int, a: int) -> int:
    group = table[row + GROUP]
    code = table[row + ROW_CODE]
    word = m[WORD]
    label = immediate(table, row + LABEL, word, m[PC])
    if group == JUMP:
        jump(m, code, x, label)
        return 0
    if group == LOOP:
        loop(m, code, x, label)
        return 0
    if group == WINDOW:
        if m[CLASSIC]:
            return window_classic(m, code, first, position, table[row + TOUCHES], x, a, label)
        return window(m, memory, code, first, position, x, a, label)
    if group == BOOLEAN:  # three booleans and no address register: the third one stands where labels do
        b = immediate(table, row + B, word, 0)
        bit = combine(code, m[BR], b, label)
        m[BR] = (m[BR] & ~(1 << a)) | (bit << a)
        return 0
    if group == REGISTER:
        rights = table[SPECIAL_AT] if code < RUR else table[USER_AT]
        return register(m, code, table[rights + 2 * a], table[rights + 2 * a + 1], a, x, position)
    if group == BUS:
        return bus(m, code, position)
    if group == ORDER:
        return 0
    if group == MISSING:
        return UNSUPPORTED
    return trap(m, code, a, position)


@lane
def run(m: Words, memory: Bytes, table: Words, steps: int) -> int:
    """Execute up to `steps` instructions.

    Returns:
        0 when all were executed; else the number of the exception or stop, which m[CODE] then holds too.
    """
    for _ in range(steps):
        code = step(m, memory, table)
        if code:
            if code < FIRST_STOP:
                code = enter(m, table[table[CAUSES_AT] :], code)
            if code:
                m[CODE] = code
                return code
        m[STEPS] += 1
    return 0
