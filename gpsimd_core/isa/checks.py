"""Rule builders: the helper predicates of the headers, as values that instructions list.

A builder returns a `Rule` whose `check(columns, facts)` judges all records of a stream at once. `rules(evidence, ...)`
numbers them as the header does. What several rules derive from the same bytes (the reading of an address word) is
computed once per stream and kept with the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve

from gpsimd_core.isa.addresses import (
    REGISTERS,
    Addresses,
    addresses,
    aligned,
    counts,
    every,
    legal_start,
    one_of,
)
from gpsimd_core.isa.enums import Dtype, ImmSrc, ImmSrcN, UpdateMode, WaitMode
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.layout import Code, Columns
from gpsimd_core.values import Evidence, Rule

__all__ = [
    "COMMON_RULES",
    "POINTER_TEXT",
    "REGISTERS",
    "Addresses",
    "active_channels",
    "addresses",
    "aligned",
    "counts",
    "dtype_in",
    "dtype_not_in",
    "dtype_valid",
    "field_in",
    "field_is",
    "immediate",
    "in_partitions",
    "legal_start",
    "member_of",
    "plain_pointer",
    "reserved_zero",
    "rule",
    "rules",
    "same_count",
    "start_partition",
    "tensor_valid",
]

Bools = Any
"""A bool array of shape (records,)."""
Check = Callable[[Columns, Facts], Bools]

HEADER = Evidence(confidence="HIGH/OBSERVED", source="The 64-Byte Instruction Record Format")
_UNSET = Evidence(confidence="none", source="none")


def rule(
    id: str,
    part: str,
    fields: tuple[str, ...],
    check: Check,
    allowed: str | Callable[[Facts], str],
    *,
    needs: tuple[str, ...] = (),
    sets: tuple[str, ...] = (),
    default: dict[str, int | Callable[[Columns], Any]] | None = None,
    warning: bool = False,
    open: str = "",
    evidence: Evidence = _UNSET,
) -> Rule:
    """A rule not yet numbered; see `gpsimd_core.values.Rule` for the arguments."""
    return Rule(
        id=id, part=part, fields=fields, check=check, allowed=allowed, needs=needs, sets=sets,
        default=tuple((default or {}).items()), warning=warning, open=open, evidence=evidence,
    )  # fmt: skip


def rules(evidence: Evidence, *rows: tuple[int, Rule]) -> tuple[Rule, ...]:
    """The rules of a family as the header numbers them; those without evidence of their own share `evidence`."""
    return tuple(
        evolve(r, number=number, evidence=evidence if r.evidence is _UNSET else r.evidence) for number, r in rows
    )


# Enumerations, dtypes and plain fields ------------------------------------------------------------------------


def member_of(field: str, code: type[Code], **more: Any) -> Rule:
    """The field is a member of its enumeration on this generation."""
    name = code.set_name()
    return rule(
        "is_valid_enum", field, (field,),
        lambda c, f: f.has(name, c[field]), lambda f: f.listed(name), sets=(name,), **more,
    )  # fmt: skip


def field_in(field: str, *members: int, **more: Any) -> Rule:
    """The field is one of these numbers; the first of a single one is the writer's default."""
    allowed = " ".join(f"{m.name} ({int(m)})" if isinstance(m, Code) else _plain_number(m) for m in members)
    default: dict[str, int | Callable[[Columns], Any]] | None = {field: int(members[0])} if len(members) == 1 else None
    return rule(
        "field_in" if len(members) > 1 else "field_is", field, (field,),
        lambda c, f: one_of(c[field], members), allowed, default=default, **more,
    )  # fmt: skip


def _plain_number(number: int) -> str:
    return str(number) if abs(number) < 1 << 16 else f"0x{number:08x}"


def field_is(field: str, member: int, **more: Any) -> Rule:
    """The field is this number, which is also what a writer puts there."""
    return field_in(field, member, **more)


def dtype_in(field: str, set_name: str, **more: Any) -> Rule:
    """The dtype field is a member of a named set."""
    return rule(
        "dtype_in", field, (field,),
        lambda c, f: f.has(set_name, c[field]), lambda f: f.listed(set_name), sets=(set_name,), **more,
    )  # fmt: skip


def dtype_not_in(field: str, set_name: str, **more: Any) -> Rule:
    """The dtype field is no member of a named set."""
    return rule(
        "dtype_not_in", field, (field,),
        lambda c, f: ~f.has(set_name, c[field]), lambda f: f"anything but {f.listed(set_name)}",
        sets=(set_name,), **more,
    )  # fmt: skip


def dtype_valid(field: str, *, fp32r: bool = False, **more: Any) -> Rule:
    """The plain dtype gate: a member, no 64-bit integer, FP32R only where the operand allows it."""
    name = "plain_with_fp32r" if fp32r else "plain"
    return rule(
        "is_valid_dtype", field, (field,),
        lambda c, f: f.has(name, c[field]), lambda f: f.listed(name), sets=(name,), **more,
    )  # fmt: skip


def reserved_zero(*fields: str, **more: Any) -> Rule:
    """Every byte of the reserved fields is zero."""

    def check(c: Columns, f: Facts) -> Bools:
        ok = np.ones(len(c), bool)
        for name in fields:
            column = c[name]
            ok &= (column == 0) if column.ndim == 1 else every(column == 0)
        return ok

    return rule("reserved_zero", "", fields, check, "zero in every reserved byte", **more)


def active_channels(field: str = "num_active_channels", *, limit: int = 128, **more: Any) -> Rule:
    """1 to `limit` partitions."""
    return rule(
        "check_active_channels", "", (field,),
        lambda c, f: (c[field] >= 1) & (c[field] <= limit), f"1 to {limit}", **more,
    )  # fmt: skip


# Operands ---------------------------------------------------------------------------------------------------------


START_TEXT = "partition 0 for more than 64 channels; 0 or 64 for 33 to 64; 0, 32, 64 or 96 for at most 32"


def start_partition(operand: str, *, channels: str | int = "num_active_channels", **more: Any) -> Rule:
    """start_addr_active_channels: the start partition suits the channel count. Waived for a register address."""

    def check(c: Columns, f: Facts) -> Bools:
        a = addresses(c, f, operand)
        n = c[channels] if isinstance(channels, str) else channels
        return ~a.plain | ((a.sbuf | a.psum) & legal_start(a.partition, n))

    fields = (f"{operand}.start_addr",) + ((channels,) if isinstance(channels, str) else ())
    return rule("start_addr_active_channels", operand, fields, check, START_TEXT, **more)


INDIRECT_TEXT = (
    "an index list (its address, or the register that holds it), one index or more, and a data address alike"
)
FOUR_BYTES = (Dtype.INT32, Dtype.UINT32, Dtype.FP32, Dtype.FP32R)


def tensor_valid(
    operand: str,
    dtype: str,
    *,
    write: bool = False,
    psum: bool = True,
    sbuf: bool = True,
    mem_pattern: bool = False,
    **more: Any,
) -> Rule:
    """tensorNd_valid, or memNd_valid for a slot that offers the indirect form where the generation has it.

    A plain pattern has a well-formed address word, counts of at least 1, and a start address that fits the dtype. A
    register address waives all but the form of the word; a shape form waives the counts. A PSUM write needs a 4-byte
    dtype. An indirect pattern has an index list in memory (or named by a register), at least one index, and a data
    address without marker bits that fits as a plain one does. The dtype of the index list is MED.
    """

    def start(c: Columns, f: Facts, a: Addresses, codes: np.ndarray[Any, Any], writes: bool) -> Bools:
        region = np.zeros(len(c), bool)
        if sbuf:
            region |= a.sbuf & (a.offset < f.geometry.sbuf_active)
        if psum:
            width = one_of(codes, FOUR_BYTES) if writes else True
            region |= a.psum & (a.offset < f.geometry.psum_active) & width
        return aligned(a.address, codes) & region

    def plain(c: Columns, f: Facts) -> Bools:
        a = addresses(c, f, operand)
        filled = every(c[f"{operand}.num_elem"] > 0)
        fits = a.register | start(c, f, a, c[dtype], write)
        return ~a.indirect & (~a.register | a.register_ok) & (a.shape | filled) & fits

    def by_index(c: Columns, f: Facts) -> Bools:
        a = addresses(c, f, operand, "index_addr")
        word = c[f"{operand}.index_addr"]
        named = (word >> 31) & 1 == 1
        listed = np.where(
            named, word & 0xFFFFFF < REGISTERS, start(c, f, a, np.full(len(c), Dtype.UINT32), writes=False)
        )
        data = addresses(c, f, operand, "data_addr")
        fits = (c[f"{operand}.data_addr"] >> 29 == 0) & start(c, f, data, c[dtype], write)
        return a.indirect & listed & (c[f"{operand}.num_indices"] > 0) & fits

    def check(c: Columns, f: Facts) -> Bools:
        return plain(c, f) | by_index(c, f) if offers(f) else plain(c, f)

    def offers(f: Facts) -> bool:
        return mem_pattern and "mem_pattern" in f.generation.features

    where = " or ".join([*(["SBUF"] if sbuf else []), *(["PSUM"] if psum else [])])
    allowed = f"an address in the active part of {where}, aligned to the dtype, every count at least 1"
    if psum and write:
        allowed += "; PSUM only with a 4-byte dtype"
    steps = (f"{operand}.step_elem",) if mem_pattern else ()
    fields = (f"{operand}.start_addr", *steps, f"{operand}.num_elem", dtype)
    return rule(
        "tensor_valid", operand, fields, check,
        lambda f: f"{allowed}; or {INDIRECT_TEXT}" if offers(f) else allowed, **more,
    )  # fmt: skip


def same_count(one: str, two: str, **more: Any) -> Rule:
    """Equal element counts (products); waived where either takes its counts from shape registers."""

    def check(c: Columns, f: Facts) -> Bools:
        waived = addresses(c, f, one).shape | addresses(c, f, two).shape
        return waived | (counts(c, one) == counts(c, two))

    fields = (f"{one}.num_elem", f"{two}.num_elem")
    return rule("same_element_count", f"{one},{two}", fields, check, "equal products of the counts", **more)


def in_partitions(one: str, two: str, **more: Any) -> Rule:
    """tt_valid_partitions: two SBUF operands share a quadrant, two PSUM operands are refused."""

    def check(c: Columns, f: Facts) -> Bools:
        a, b = addresses(c, f, one), addresses(c, f, two)
        quadrant = a.partition // 32 == b.partition // 32
        return ~a.plain | ~b.plain | (a.sbuf & b.psum) | (a.psum & b.sbuf) | (a.sbuf & b.sbuf & quadrant)

    return rule(
        "tt_valid_partitions", f"{one},{two}", (f"{one}.start_addr", f"{two}.start_addr"), check,
        "both in one 32-partition quadrant of SBUF, or one in SBUF and one in PSUM", **more,
    )  # fmt: skip


# Immediates -------------------------------------------------------------------------------------------------------


def plain_pointer(
    c: Columns, f: Facts, name: str, codes: np.ndarray[Any, Any], channels: str = "num_active_channels"
) -> Bools:
    """Where an immediate's word is a plain address that suits the channel count and is aligned to its dtype."""
    a = addresses(c, f, name, "")
    inside = (c[name] >> 29 == 0) & (a.sbuf | a.psum)
    return inside & legal_start(a.partition, c[channels]) & aligned(a.address, codes)


POINTER_TEXT = f"a plain address aligned to its dtype, at {START_TEXT}"


def immediate(
    name: str,
    source: str,
    dtype: str | int,
    *,
    code: type[ImmSrc] | type[ImmSrcN] = ImmSrc,
    channels: str = "num_active_channels",
    **more: Any,
) -> Rule:
    """has_valid_immediates: inline; or a plain pointer that suits the channels and the dtype; or a register number.

    Args:
        name, source: the leaves of the immediate and of where it comes from.
        dtype: leaf of its dtype, or the dtype itself where the layout has no leaf for it.
        code: enumeration of `source`.
        channels: leaf of the channel count.
    """

    def check(c: Columns, f: Facts) -> Bools:
        src = c[source]
        codes = c[dtype] if isinstance(dtype, str) else np.full(len(c), dtype)
        return (
            (src == code.INSTRUCTION_IMMEDIATE)
            | ((src == code.POINTER_IMMEDIATE) & plain_pointer(c, f, name, codes, channels))
            | ((src == code.REG_PTR_IMMEDIATE) & (c[name] < REGISTERS))
        )

    fields = (source, name, *((dtype,) if isinstance(dtype, str) else ()), channels)
    inline, pointer, register = code.INSTRUCTION_IMMEDIATE, code.POINTER_IMMEDIATE, code.REG_PTR_IMMEDIATE
    allowed = (
        f"{inline.name} ({inline}); {pointer.name} ({pointer}) with {POINTER_TEXT}; "
        f"{register.name} ({register}) with a register number below {REGISTERS}"
    )
    return rule("has_valid_immediates", name, fields, check, allowed, **more)


# What every record obeys --------------------------------------------------------------------------------------------

_WAIT_IMM = [m for m in WaitMode if 0x01 <= m <= 0x05]
_WAIT_REG = [m for m in WaitMode if m & 0x80]
_UPDATE_IMM = [m for m in UpdateMode if "_IMM_" in m.name]
_UPDATE_REG = [m for m in UpdateMode if "_REG_" in m.name]


def _one_kind(c: Columns, f: Facts) -> Bools:
    wait, update = c["wait_mode"], c["update_mode"]
    mixed = one_of(wait, _WAIT_IMM) & one_of(update, _UPDATE_REG)
    return ~(mixed | (one_of(wait, _WAIT_REG) & one_of(update, _UPDATE_IMM)))


def _length(c: Columns, f: Facts) -> Bools:
    return (c["inst_word_len"] == 16) | ((c["opcode"] == 0xE3) & (c["inst_word_len"] == 0x11))


def _kept(field: str, code: type[Code]) -> Rule:
    dropped = f"{code.set_name()}_dropped"
    return rule(
        "event_mode_kept", field, (field,),
        lambda c, f: ~f.has(dropped, c[field]), lambda f: f"anything but {f.listed(dropped)}, reported as dropped" if f.sets[dropped] else "any mode",
        sets=(dropped,), warning=True,
        evidence=Evidence(confidence="MED/OBSERVED", source="MAVERICK (NC-v5) Profile + Maximal-Observed Carve"),
    )  # fmt: skip


COMMON_RULES = rules(
    HEADER,
    (1, rule("header", "opcode", ("opcode",), lambda c, f: c["opcode"] != 0xFF, "an opcode of the generation, not INVALID")),
    (1, rule("header", "length", ("inst_word_len",), _length, "16", default={"inst_word_len": 16})),
    (1, member_of("wait_mode", WaitMode)),
    (1, member_of("update_mode", UpdateMode)),
    (1, rule(
        "event_value_kinds", "", ("wait_mode", "update_mode"), _one_kind,
        "wait and update use the one value in one kind, register or immediate", warning=True,
        evidence=Evidence(confidence="PROPOSED", source="this project", note="the body of the header's test is not given"),
    )),
    (1, _kept("wait_mode", WaitMode)),
    (1, _kept("update_mode", UpdateMode)),
)  # fmt: skip
"""Header and events: the first rule of every family, in parts."""
