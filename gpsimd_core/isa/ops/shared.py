"""Rule builders that several families share, beyond the helper predicates of `gpsimd_core.isa.checks`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from attrs import evolve, frozen

from gpsimd_core.isa.checks import (
    active_channels,
    addresses,
    counts,
    member_of,
    reserved_zero,
    rule,
    rules,
    start_partition,
    tensor_valid,
)
from gpsimd_core.isa.dtypes import SIZES
from gpsimd_core.isa.enums import AluOp, Dtype, ImmSrc, TensorSubdim
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.layout import Code, Columns, Layout
from gpsimd_core.values import Evidence, Reading, Rule

__all__ = [
    "BITVEC_DTYPES",
    "CHANNELS",
    "INDEX_LISTS",
    "SUBDIMS",
    "When",
    "arith_shift",
    "channels_multiple",
    "core_version",
    "count_in",
    "count_multiple",
    "dtype_valid_64",
    "generic",
    "in_sbuf",
    "inline_fp32",
    "operator_in",
    "operator_not_in",
    "placed",
    "reduced_count",
    "same_dtype",
    "same_width",
    "valid",
    "where",
]

Bools = Any
Rows = tuple[tuple[int, Rule], ...]

INDEX_LISTS = Reading(
    topic="operands by an index list",
    chosen=(
        "unsigned 16-bit element numbers from the data address on; a list for each 16 partitions, number i on partition "
        "i mod 16 of them as element i // 16"
    ),
    beaten=("byte offsets", "32-bit numbers", "one list for all partitions"),
    why="AWS Neuron NKI docs: NkiTensor.indirect and its tutorial; the header grounds the descriptor alone",
)
CHANNELS = "check_active_channels"
SUBDIMS = (TensorSubdim.X, TensorSubdim.XY, TensorSubdim.XYZ, TensorSubdim.XYZW)
BITVEC_DTYPES = (Dtype.UINT8, Dtype.UINT16, Dtype.INT32, Dtype.UINT32)
"""Dtypes of the bitvec reductions, scans and multi-scalar forms."""


def valid(*operands: str) -> tuple[str, ...]:
    """Names of the tensor rules of these operands, for `needs`."""
    return tuple(f"tensor_valid[{name}]" for name in operands)


# Conditions ---------------------------------------------------------------------------------------------------------


@frozen(kw_only=True, eq=False)
class When:
    """Records to which a rule applies at all."""

    fields: tuple[str, ...]
    test: Callable[[Columns, Facts], Bools]
    text: str
    """Continues `for`, in messages."""


def where(when: When, to: Rule, *, id: str | None = None) -> Rule:
    """A rule that only concerns some records; the others satisfy it, so it gives a writer no default."""
    said = to.allowed

    def allowed(f: Facts) -> str:
        return f"for {when.text}: {said if isinstance(said, str) else said(f)}"

    return evolve(
        to, id=id or to.id, fields=(*to.fields, *(name for name in when.fields if name not in to.fields)),
        check=lambda c, f: ~when.test(c, f) | to.check(c, f), allowed=allowed, default=(),
    )  # fmt: skip


# Dtypes and operators -------------------------------------------------------------------------------------------------


def dtype_valid_64(field: str, wide: str, *, fp32r: bool = False, **more: Any) -> Rule:
    """is_valid_dtype_64: the plain gate, and the 64-bit integers of the set `wide`."""
    plain = "plain_with_fp32r" if fp32r else "plain"
    return rule(
        "is_valid_dtype_64", field, (field,), lambda c, f: f.has(plain, c[field]) | f.has(wide, c[field]),
        lambda f: f"{f.listed(plain)} {f.listed(wide) if f.sets[wide] else ''}".rstrip(), sets=(plain, wide), **more,
    )  # fmt: skip


def same_dtype(one: str, two: str, **more: Any) -> Rule:
    """Two dtype fields hold the same code."""
    return rule("same_dtype", f"{one},{two}", (one, two), lambda c, f: c[one] == c[two], "the same dtype", **more)


def same_width(one: str, two: str, **more: Any) -> Rule:
    """Two dtypes have elements of one size."""
    return rule(
        "same_width", f"{one},{two}", (one, two), lambda c, f: SIZES[c[one]] == SIZES[c[two]],
        "dtypes of the same width", **more,
    )  # fmt: skip


def operator_in(field: str, *sets: str, also: tuple[AluOp, ...] = (), **more: Any) -> Rule:
    """The operator is a member of one of these sets, or one of `also`."""
    extra = np.array([int(op) for op in also], np.int64)

    def check(c: Columns, f: Facts) -> Bools:
        return reduce(operator.or_, (f.has(name, c[field]) for name in sets), np.isin(c[field], extra))

    def allowed(f: Facts) -> str:
        return " ".join(op.name for op in sorted({*(m for name in sets for m in f.sets[name]), *also}))

    return rule("operator_in", field, (field,), check, allowed, sets=sets, **more)


def operator_not_in(field: str, name: str, **more: Any) -> Rule:
    """The operator is no member of a set."""
    return rule(
        f"operator_not_{name}", field, (field,), lambda c, f: ~f.has(name, c[field]),
        lambda f: f"anything but {f.listed(name)}", sets=(name,), **more,
    )  # fmt: skip


def arith_shift(field: str, dtype: str, **more: Any) -> Rule:
    """An arithmetic right shift works on 4-byte elements only.

    The header shows it for tensor-scalar, the compiler demands it everywhere (EVRF022).
    """
    return rule(
        "arith_shift_width", field, (field, dtype),
        lambda c, f: (c[field] != AluOp.ARITH_SHIFT_RIGHT) | f.has("four_byte", c[dtype]),
        "for ARITH_SHIFT_RIGHT: a 4-byte dtype", sets=("four_byte",), **more,
    )  # fmt: skip


def inline_fp32(**more: Any) -> Rule:
    """s2s2d2_stt_imm0_dtype: an inline imm0 is FP32; what comes from memory may have another dtype."""

    def check(c: Columns, f: Facts) -> Bools:
        src = c["imm0_src"]
        from_memory = (src == ImmSrc.POINTER_IMMEDIATE) | (src == ImmSrc.REG_PTR_IMMEDIATE)
        return from_memory | (c["imm0_dtype"] == Dtype.FP32)

    return rule(
        "s2s2d2_stt_imm0_dtype", "", ("imm0_dtype", "imm0_src"), check, "FP32 for an inline imm0",
        default={"imm0_dtype": Dtype.FP32}, **more,
    )  # fmt: skip


# Operands ---------------------------------------------------------------------------------------------------------------


def placed(
    number: int,
    operand: str,
    dtype: str,
    *needs: str,
    write: bool = False,
    psum: bool = True,
    mem_pattern: bool = False,
    channels: str | int = "num_active_channels",
) -> Rows:
    """The start-address and the tensor rule of an operand, as rows of a family's list.

    Args:
        number: where the family's list has them.
        operand, dtype: the pattern and the leaf of its dtype.
        needs: rules on the dtype that the tensor rule stands on.
        write: whether the operand is written.
        psum: whether it may lie in PSUM.
        mem_pattern: whether the slot offers the indirect form.
        channels: leaf of the channel count, or the number of partitions.
    """
    counted = (CHANNELS,) if isinstance(channels, str) else ()
    return (
        (number, start_partition(operand, channels=channels, needs=counted)),
        (number, tensor_valid(operand, dtype, write=write, psum=psum, mem_pattern=mem_pattern, needs=needs)),
    )


def in_sbuf(operand: str, when: When, id: str, **more: Any) -> Rule:
    """The operand lies in SBUF; a register address passes."""

    def check(c: Columns, f: Facts) -> Bools:
        a = addresses(c, f, operand)
        return ~a.plain | ~a.psum

    return where(when, rule(id, operand, (f"{operand}.start_addr",), check, "an address in SBUF", **more))


def _count_rule(
    id: str, operand: str, holds: Callable[[np.ndarray[Any, Any]], Bools], allowed: str, **more: Any
) -> Rule:
    def check(c: Columns, f: Facts) -> Bools:
        return addresses(c, f, operand).shape | holds(counts(c, operand))

    return rule(id, operand, (f"{operand}.num_elem",), check, allowed, needs=valid(operand), **more)


def count_in(operand: str, low: int, high: int, **more: Any) -> Rule:
    """`low` to `high` elements a channel; waived where a shape register gives the count."""
    told = f"{low}" if low == high else f"{low} to {high}"
    return _count_rule("element_count", operand, lambda n: (n >= low) & (n <= high), f"{told} elements", **more)


def count_multiple(operand: str, factor: int, **more: Any) -> Rule:
    """A multiple of `factor` elements a channel; waived where a shape register gives the count."""
    return _count_rule("count_multiple", operand, lambda n: n % factor == 0, f"a multiple of {factor} elements", **more)


def channels_multiple(factor: int, **more: Any) -> Rule:
    """The channel count is a multiple of `factor`."""
    field = "num_active_channels"
    return rule(
        "channels_multiple", "", (field,), lambda c, f: c[field] % factor == 0, f"a multiple of {factor}",
        needs=(CHANNELS,), **more,
    )  # fmt: skip


def reduced_count(src: str, dst: str, dim: str, **more: Any) -> Rule:
    """dst has as many elements as src has in the dimensions that `dim` does not name.

    Waived where either takes its counts from shape registers or its elements from an index list. The header's exact
    predicate is not known: PROPOSED.
    """

    def check(c: Columns, f: Facts) -> Bools:
        kept = np.arange(4) >= np.maximum(c[dim].astype(np.int64) - 1, 0)[:, None]
        wanted = np.where(kept, c[f"{src}.num_elem"], 1).prod(axis=1, dtype=np.uint64)
        a, b = addresses(c, f, src), addresses(c, f, dst)
        return a.shape | b.shape | a.indirect | b.indirect | (counts(c, dst) == wanted)

    return rule(
        "reduced_element_count", f"{src},{dst}", (f"{dst}.num_elem", f"{src}.num_elem", dim), check,
        f"the product of the {src} counts that {dim} does not name", **more,
    )  # fmt: skip


# Gates and generic rules ---------------------------------------------------------------------------------------------------


def core_version(least: int, **more: Any) -> Rule:
    """The instruction exists from this core version on."""
    return rule(
        "core_version", "", ("opcode",), lambda c, f: np.full(len(c), f.generation.nc_version >= least),
        f"a generation of core version {least} or later", **more,
    )  # fmt: skip


def generic(layout: type[Layout], evidence: Evidence) -> tuple[Rule, ...]:
    """The rules of a family without rules of its own.

    Enumerations and dtypes by membership alone (INVALID is a dtype), 1 to 128 channels, reserved bytes zero. Bytes that
    no source grounds are not looked at. They stand down on records that a selector gives another layout.
    """
    rows: list[tuple[int, Rule]] = []
    for number, kind in ((2, Code), (3, Dtype)):
        for f in layout.fields:
            if f.offset >= 12 and f.code is not None and (f.code is Dtype) == (kind is Dtype):
                rows.append((number, member_of(f.name, f.code)))
    if any(f.name == "num_active_channels" for f in layout.fields):
        rows.append((4, active_channels()))
    zero = [f.name for f in layout.fields if f.kind == "zeros"]
    if zero:
        rows.append((5, reserved_zero(*zero)))
    made = rules(evidence, *rows)
    return tuple(_where_declared(r) for r in made) if layout.selector else made


def _where_declared(r: Rule) -> Rule:
    def check(c: Columns, f: Facts) -> Bools:
        declared = all(name in c.layout.leaves for name in r.fields)
        return r.check(c, f) if declared else np.ones(len(c), bool)

    return evolve(r, check=check)
