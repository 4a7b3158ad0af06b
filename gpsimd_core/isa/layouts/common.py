"""The twelve bytes that every record shares: header and events."""

from __future__ import annotations

from gpsimd_core.isa.enums import DebugCmd, UpdateMode, WaitMode
from gpsimd_core.isa.layout import U8, U32, Layout, ungrounded
from gpsimd_core.values import Evidence

__all__ = ["BOUND_CHECK_REG", "EXT_COMPLETION_INFO", "Bundle", "Opaque"]

BOUND_CHECK_REG = {"bc_reg": (0, 6), "disable_oob_notif": (6, 1), "enabled": (7, 1)}
"""Register that holds an index bound, whether leaving the bound stays silent, and whether it is checked at all."""

EXT_COMPLETION_INFO = {
    "has_read": (0, 1), "unnamed1": (1, 1), "has_write": (2, 1), "num_active_ports": (3, 3), "unnamed6": (6, 2),
}  # fmt: skip
"""Memory accesses and ports of an extended instruction: n ports span 16 n partitions, 0 means all 128."""


class Bundle(Layout, abstract=True):
    """Header (bytes 0 to 3) and events (bytes 4 to 11). Source: The 64-Byte Instruction Record Format."""

    opcode = U8.at(0, doc="selects the operand layout and the handler")
    inst_word_len = U8.at(1, doc="record length in 32-bit words: 16")
    debug_cmd = DebugCmd.at(2, doc="profiling notification level; compilers emit 0")
    debug_hint = U8.at(
        3,
        doc="free debug byte, never checked",
        feature=(
            "inst_flags",
            "inst_flags",
            "instruction flags with a tile index; non-zero is Unsupported to execute",
        ),
    )
    wait_mode = WaitMode.at(4, doc="condition that must hold before the instruction starts")
    wait_idx = U8.at(5, doc="semaphore or event of the wait")
    update_mode = UpdateMode.at(6, doc="what happens to a semaphore or event, at operand read or at completion")
    update_idx = U8.at(7, doc="semaphore or event of the update")
    semaphore_value = U32.at(8, doc="one value shared by wait and update; a register number in REG modes")


class Opaque(Bundle):
    """A record of which only header and events are grounded."""

    title = "opaque record"
    evidence = Evidence(confidence="none", source="no source describes these bytes")
    body = ungrounded.at(12, 52)
