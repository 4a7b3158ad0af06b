"""MODIFY_POOL_CONFIG: load or unload a library of the pool cores. Opcode 0x95."""

from __future__ import annotations

from gpsimd_core.isa.enums import ModifyPoolOp
from gpsimd_core.isa.layout import U8, U32, U64, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence

__all__ = ["ModifyPoolConfig"]


class ModifyPoolConfig(Bundle):
    """Names a library in memory and the slot it goes to."""

    title = "MODIFY_POOL_CONFIG"
    evidence = Evidence(confidence="MED/OBSERVED", source="ISA Validator Architecture and Entry Tree")
    notes = ("Bytes 14 and 15 are reserved by elimination (MED).",)
    modify_op = ModifyPoolOp.at(12, doc="load or unload")
    core_mask = U8.at(13, doc="one bit for each core concerned")
    gap14 = zeros.at(14, 2)
    soc_addr = U64.at(16, doc="address of the library")
    library_index = U32.at(24, doc="slot of the library")
    library_size = U32.at(28, doc="size of the library in bytes, at most 64 KiB")
    reserved1 = zeros.at(32, 32)
