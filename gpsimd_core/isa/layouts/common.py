"""The twelve bytes that every record shares: header and events."""

from __future__ import annotations

from gpsimd_core.isa.enums import DebugCmd, UpdateMode, WaitMode
from gpsimd_core.isa.layout import U8, U32, Layout, ungrounded
from gpsimd_core.values import Evidence

__all__ = ["Bundle", "Opaque"]


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
