"""move (0xA7): registers or immediates into registers; load_mask_select (0x69): the lane map of stream_shuffle."""

from __future__ import annotations

import numpy as np

from gpsimd_core.isa.checks import dtype_in, field_is, member_of, reserved_zero, rule, rules
from gpsimd_core.isa.enums import DataSrc
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.moves import load_map, move, registers_ready
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.ctrl_im import CtrlIm
from gpsimd_core.isa.layouts.ctrl_mv import CtrlMv
from gpsimd_core.isa.ops.generators import READABLE
from gpsimd_core.isa.ops.shared import Bools
from gpsimd_core.values import Evidence, Instruction

__all__ = ["LOAD_MASK_SELECT", "MOVE"]

MOVE_EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="Move (0xa7)",
    note="a tile index of 0, which the page demands of instruction flags, has no grounded bit position: not checked",
)
MASK_EVIDENCE = Evidence(confidence="HIGH/OBSERVED", source="POOL/ACT Compute Gap-Cluster")
MOVED = "num_mov_range"


def _used(c: Columns) -> Bools:
    return np.arange(8) < c["num_mov"][:, None]


def _read(c: Columns) -> Bools:
    return _used(c) & (c["move_source"] == DataSrc.REGISTER)[:, None]


def _idle_sources(c: Columns, f: Facts) -> Bools:
    return (_read(c) | (c["src_registers"] == 0)).all(axis=1)


def _readable(c: Columns, f: Facts) -> Bools:
    return (~_read(c) | np.isin(c["src_registers"], READABLE)).all(axis=1)


def _writable(c: Columns, f: Facts) -> Bools:
    return (~_used(c) | np.isin(c["dst_registers"], READABLE)).all(axis=1)


def _unique(c: Columns, f: Facts) -> Bools:
    used, dst = _used(c), c["dst_registers"].astype(np.int64)
    apart = np.sort(np.where(used, dst, -1 - np.arange(8)), axis=1)
    return (np.diff(apart, axis=1) != 0).all(axis=1)


def _disjoint(c: Columns, f: Facts) -> Bools:
    src = np.where(_read(c), c["src_registers"].astype(np.int64), -1)
    dst = np.where(_used(c), c["dst_registers"].astype(np.int64), -2)
    return ~(src[:, :, None] == dst[:, None, :]).any(axis=(1, 2))


MOVE = Instruction(
    name="move",
    aliases=("Move",),
    layout=CtrlMv,
    rules=rules(
        MOVE_EVIDENCE,
        (2, rule(
            MOVED, "", ("num_mov",), lambda c, f: (c["num_mov"] >= 1) & (c["num_mov"] <= 8), "1 to 8",
        )),
        (3, dtype_in("dtype", "move")),
        (4, rule(
            "unused_sources_zero", "", ("src_registers", "num_mov", "move_source"), _idle_sources,
            "zero in every slot that is not read", needs=(MOVED, "is_valid_enum[move_source]"),
        )),
        (4, rule(
            "register_readable", "src_registers", ("src_registers", "num_mov", "move_source"), _readable,
            "0 to 63, 128 or 129", needs=(MOVED, "is_valid_enum[move_source]"),
        )),
        (5, rule(
            "register_writable", "dst_registers", ("dst_registers", "num_mov"), _writable,
            "0 to 63; 128 and 129 are ignored", needs=(MOVED,),
        )),
        (5, rule("registers_unique", "", ("dst_registers", "num_mov"), _unique, "different registers", needs=(MOVED,))),
        (5, rule(
            "registers_disjoint", "", ("dst_registers", "src_registers", "num_mov", "move_source"), _disjoint,
            "registers that are not read", needs=(MOVED, "is_valid_enum[move_source]"),
        )),
        (6, member_of("move_source", DataSrc)),
        (7, reserved_zero("reserved0")),
    ),
    kernel=move,
    ready=registers_ready,
    semantics=(
        "For i below num_mov, dst_registers[i] takes the 32 bits of register src_registers[i] or of immediate[i]. Registers "
        "128 and 129 read as the low and high word of the address of the next record; writing them does nothing."
    ),
    evidence=MOVE_EVIDENCE,
)  # fmt: skip

LOAD_MASK_SELECT = Instruction(
    name="load_mask_select",
    aliases=("LoadMaskSelect",),
    layout=CtrlIm,
    rules=rules(
        MASK_EVIDENCE,
        (2, rule(
            "source_lanes", "", ("immediate",),
            lambda c, f: ((c["immediate"] < 64) | (c["immediate"] == 255)).all(axis=1), "0 to 63, or 255, in each byte",
        )),
        (3, field_is("imm_ptr_select", 0)),
        (4, field_is("param_ram_offset", 0)),
        (5, reserved_zero("reserved0")),
    ),
    kernel=load_map,
    semantics="Keeps the 32 bytes as the lane map of stream_shuffle.",
    evidence=MASK_EVIDENCE,
)  # fmt: skip
