"""Plan rows of the elementwise families: one function an opcode, from a planned step to the integers of a row."""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.enums import AccumCmd, AluOp, TensScalarRevOps
from gpsimd_core.isa.kernels.combine import BITS, HUB, INTEGER, band_of, extends
from gpsimd_core.isa.kernels.elementwise import EXPONENTIAL, INLINE, MEMORY, NOTHING, PRELOADED, TENSOR
from gpsimd_core.isa.kernels.pattern import BLOCK, block
from gpsimd_core.isa.kernels.walk import piece, streams
from gpsimd_core.isa.lanes.alu import NAN_POLICIES
from gpsimd_core.isa.lanestate import ACCUMULATOR, PRELOAD_COUNT

__all__ = [
    "IDENTITIES",
    "exponential_row",
    "scalar_bitvec_row",
    "scalar_cumulative_row",
    "scalar_reduce_row",
    "scalar_row",
    "scalar_tensor_bitvec_row",
    "scalar_tensor_row",
    "scalars_loaded",
    "slices_bitvec_row",
    "slices_row",
    "tensor_bitvec_row",
    "tensor_row",
    "transpose_scalar_row",
]

IDENTITIES = {
    AluOp.ADD: 0x00000000,
    AluOp.SUBTRACT: 0x00000000,
    AluOp.MULT: 0x3F800000,
    AluOp.MAX: 0xFF800000,
    AluOp.MIN: 0x7F800000,
}
"""What ZERO_ACCUMULATE starts from, as fp32 bits."""

NO_BLOCK = (0,) * BLOCK
Given = tuple[int, int, tuple[int, ...]]
"""Where an operand comes from, its inline bits, its block."""


def _row(
    step: Any,
    x: str,
    band: int,
    first: tuple[int, bool, Given],
    second: tuple[int, bool, Given],
    *,
    slices: int = 1,
    transposes: bool = False,
    fold: tuple[int, ...] = (-1, 0, 0, 0, 0),
) -> tuple[int, ...]:
    source, out = step.operands[x], step.operands["out"]
    (op0, swap0, (from0, bits0, block0)), (op1, swap1, (from1, bits1, block1)) = first, second
    fmt = step.formats[source.code]
    signed = [band == INTEGER and extends(fmt, op) for op in (op0, op1)]
    whole = source.elements // slices
    length = piece(step, whole)
    if transposes and length < whole:
        length = max(length // 32 * 32, 32)
    hub = band == HUB
    other = next((step.operands[o.name] for o in step.instruction.reads if o.name != x), None)
    apart = not any(p.overlaps(out) for p in (source, other) if p is not None)
    columns = ACCUMULATOR.get(step.engine.accumulators, 0)
    direct = (
        hub and streams(source) and not transposes,
        hub and other is not None and streams(other),
        hub and apart and streams(out),
    )
    affine = (
        other is None
        and from0 != NOTHING
        and all(
            op in (AluOp.ADD, AluOp.SUBTRACT, AluOp.MULT) or (op == AluOp.BYPASS and not swap)
            for op, swap in ((op0, swap0), (op1, swap1))
        )
    )
    in_place = direct[0] and direct[2] and (other is None or direct[1]) and fold[0] < 0 and slices == 1
    return (
        band, step.channels, source.elements, length, slices, 8 * source.size, *signed,
        NAN_POLICIES[step.policies["reduce_nan"]], transposes,
        op0, swap0, from0, bits0, op1, swap1, from1, bits1,
        *fold, out.partition, columns, *direct, in_place, affine,
        *block(source), *block0, *block1, *block(out),
    )  # fmt: skip


NONE: Given = (NOTHING, 0, NO_BLOCK)


def _swaps(step: Any) -> tuple[bool, bool]:
    reverse = step.number("reverse_operands")
    both = reverse == TensScalarRevOps.BOTH
    return both or reverse == TensScalarRevOps.FIRST, both or reverse == TensScalarRevOps.SECOND


def _immediate(step: Any, name: str) -> Given:
    given = step.immediates[name]
    if given.placed is not None:
        return MEMORY, 0, block(given.placed)
    return INLINE, given.bits, NO_BLOCK


def _raw(step: Any, name: str, width: int) -> Given:
    """An immediate of an integer dtype of `width` bits: inline it uses the low bytes, in memory it is that wide."""
    origin, bits, where = _immediate(step, name)
    base, pitch, _, *rest = where
    return origin, bits & ((1 << width) - 1), (base, pitch, width // 8, *rest)


def _tensor(step: Any, name: str) -> Given:
    return TENSOR, 0, block(step.operands[name])


# Two tensors ------------------------------------------------------------------------------------------------------------


def tensor_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x41, 0x8A, 0x8B, 0x8F."""
    op = step.number("op")
    return _row(step, "left", band_of(op), (0, False, NONE), (op, False, _tensor(step, "right")))


def tensor_bitvec_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x51."""
    return _row(step, "left", BITS, (0, False, NONE), (step.number("op"), False, _tensor(step, "right")))


def scalar_tensor_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x9D."""
    swap0, swap1 = _swaps(step)
    command = step.number("accumulator_cmd")
    fold = (-1, 0, 0, 0, 0)
    if command != AccumCmd.IDLE:
        fold = (AluOp.ADD, 0, command == AccumCmd.ACCUMULATE, INLINE, IDENTITIES[AluOp.ADD])
    return _row(
        step, "data0", HUB, (step.number("op0"), swap0, _immediate(step, "imm0")),
        (step.number("op1"), swap1, _tensor(step, "data1")), fold=fold,
    )  # fmt: skip


def scalar_tensor_bitvec_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x9E."""
    swap0, swap1 = _swaps(step)
    width = 8 * step.operands["data0"].size
    return _row(
        step, "data0", BITS, (step.number("op0"), swap0, _raw(step, "imm0", width)),
        (step.number("op1"), swap1, _tensor(step, "data1")),
    )  # fmt: skip


# One tensor and scalars -------------------------------------------------------------------------------------------------


def scalar_row(step: Any, *, transposes: bool = False) -> tuple[int, ...]:
    """The plan row of 0x43 and 0x44; integer operators take their scalars as raw words."""
    op0, op1 = step.number("op0"), step.number("op1")
    swap0, swap1 = _swaps(step)
    second = _immediate(step, "imm1") if op1 != AluOp.BYPASS or swap1 else NONE
    return _row(
        step,
        "data",
        band_of(op0, op1),
        (op0, swap0, _immediate(step, "imm0")),
        (op1, swap1, second),
        transposes=transposes,
    )


def transpose_scalar_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x93."""
    return scalar_row(step, transposes=True)


def scalar_bitvec_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x53 and 0x54."""
    swap0, swap1 = _swaps(step)
    width = 8 * step.operands["data"].size
    return _row(
        step, "data", BITS, (step.number("op0"), swap0, _raw(step, "imm0", width)),
        (step.number("op1"), swap1, _raw(step, "imm1", width)),
    )  # fmt: skip


def _folded(step: Any, op: int, *, running: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The fold of a caching form: its columns, and the block of its seed where that lies in memory."""
    command = step.number("accumulator_cmd")
    if command == AccumCmd.LOAD_ACCUMULATE:
        origin, bits, where = _immediate(step, "imm1")
        return (op, running, 0, origin, bits), where
    return (op, running, command == AccumCmd.ACCUMULATE, INLINE, IDENTITIES[AluOp(op)]), NO_BLOCK


def scalar_reduce_row(step: Any, *, running: bool = False) -> tuple[int, ...]:
    """The plan row of 0x9A."""
    fold, where = _folded(step, step.number("op1"), running=running)
    return _row(
        step, "data", HUB, (step.number("op0"), False, _immediate(step, "imm0")),
        (AluOp.BYPASS, False, (NOTHING, 0, where)), fold=fold,
    )  # fmt: skip


def scalar_cumulative_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0xE6."""
    return scalar_reduce_row(step, running=True)


def exponential_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x30."""
    fold, where = _folded(step, AluOp.ADD, running=False)
    return _row(
        step, "data", HUB, (AluOp.SUBTRACT, False, _immediate(step, "imm0")),
        (EXPONENTIAL, False, (NOTHING, 0, where)), fold=fold,
    )  # fmt: skip


# Preloaded scalars ------------------------------------------------------------------------------------------------------


def _slices(step: Any, band: int) -> tuple[int, ...]:
    swap = step.number("reverse_operands") == TensScalarRevOps.BOTH
    scalars = (step.number("op"), swap, (PRELOADED, 0, NO_BLOCK))
    return _row(step, "data", band, scalars, (AluOp.BYPASS, False, NONE), slices=step.operands["data"].num[3])


def slices_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x4F."""
    return _slices(step, HUB)


def slices_bitvec_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x5F."""
    return _slices(step, BITS)


def scalars_loaded(step: Any) -> str | None:
    """What is missing when some lane holds fewer preloaded scalars than the source has outermost rows."""
    wanted, first = step.operands["data"].num[3], step.operands["out"].partition
    counts = step.state(PRELOAD_COUNT, first)[:, 0]
    short = (counts < wanted).nonzero()[0]
    if not len(short):
        return None
    return (
        f"lane {first + int(short[0])} holds {int(counts[short[0]])} preloaded scalars and {wanted} are needed; "
        "load them with 0x70 or 0x71"
    )
