"""The guard of the two stacks (q7)."""

from __future__ import annotations

from gpsimd_core.control.exceptions import ISL_VIOLATION, KSL_VIOLATION
from gpsimd_core.control.layout import ADDRESS, ISL, KSL, PS, Words
from gpsimd_core.isa.lane import lane


@lane
def over_limit(m: Words, address: int) -> int:
    """The exception for an address below the limit of the stack in use, 0 when it may stand.

    PS.STACK 0 is the interrupt stack with its limit ISL, anything else KSL; a limit of 0 never trips (PROPOSED).
    """
    interrupt = (m[PS] & 0xE0) == 0
    limit = m[ISL] if interrupt else m[KSL]
    if limit == 0 or address >= limit:
        return 0
    m[ADDRESS] = address
    return ISL_VIOLATION if interrupt else KSL_VIOLATION
