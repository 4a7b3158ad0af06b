"""The 65 ALU operators: what each computes, on which kind of operand, and how sure that is.

The values themselves are lanes: `isa/lanes/alu.py` (fp32) and `isa/lanes/alu_integer.py` (raw bits, integers).

Sources: Tensor-Tensor Elementwise Arith + the ALU-OP Table; The ALU-Op Datapath + Dtype Matrix; settled readings
16 to 21 (docs/decisions.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import field, frozen
from attrs.validators import in_

from gpsimd_core.errors import BadValue, Unsupported
from gpsimd_core.isa.enums import AluOp
from gpsimd_core.isa.formats import Format, format_of, format_row
from gpsimd_core.isa.lane import compiled
from gpsimd_core.isa.lanes.alu import NAN_POLICIES, alu_fp32_row
from gpsimd_core.isa.lanes.alu_integer import alu_bitvec_row, alu_int_row
from gpsimd_core.isa.lanes.convert import narrow_row, widen_row
from gpsimd_core.isa.lanes.rounding import MODES

__all__ = ["OPERATORS", "Operator", "evaluate", "identity_code", "operator_of"]

KINDS = ("both", "arith", "bitvec", "int", "argument")
"""both: fp32 and raw bits; arith: fp32; bitvec: raw bits; int: wrapping integers; argument: reduce-only index."""


@frozen(kw_only=True)
class Operator:
    """One ALU operator. `a` is the first operand, `b` the second."""

    op: AluOp
    kind: str = field(validator=in_(KINDS))
    formula: str
    unary: bool = False
    identity: str | None = None
    """What a fold may start from without changing its result: "zero", "minus_zero", "one", "ones", "lowest", "highest",
    of the fold's format; None where there is no such element."""
    confidence: str = field(default="HIGH", validator=in_(("HIGH", "MED", "LOW", "PROPOSED")))
    source: str = "The ALU-Op Datapath + Dtype Matrix"
    missing: str = ""
    """Why it cannot be executed, if so."""

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.op.name

    @property
    def code(self) -> int:
        """The operator's byte."""
        return int(self.op)


_PAIRS = "Tensor-Tensor 64-bit Path"
_LIBRARY = "settled reading 20 (docs/decisions.md)"
_POWER = "settled readings 20 and 21 (docs/decisions.md)"


def _rows() -> tuple[Operator, ...]:
    def row(name: str, kind: str, formula: str, identity: str | None = None, **more: Any) -> Operator:
        return Operator(op=AluOp[name], kind=kind, formula=formula, identity=identity, **more)

    once: dict[str, Any] = {"unary": True}
    return (
        row("BYPASS", "both", "a", **once),
        row("BITWISE_NOT", "bitvec", "not a", **once),
        row("ARITH_SHIFT_LEFT", "bitvec", "a << b; 0 for b >= width"),
        row("ARITH_SHIFT_RIGHT", "bitvec", "a >> b, sign filled; all sign bits for b >= width"),
        row("ADD", "arith", "a + b", "minus_zero"),
        row("SUBTRACT", "arith", "a - b"),
        row("MULT", "arith", "a * b", "one"),
        row("DIVIDE", "arith", "a / b, correctly rounded", confidence="MED", source=_LIBRARY),
        row("MAX", "arith", "larger of a and b, policy reduce_nan", "lowest"),
        row("MIN", "arith", "smaller of a and b, policy reduce_nan", "highest"),
        row("BITWISE_AND", "bitvec", "a and b", "ones"),
        row("BITWISE_OR", "bitvec", "a or b", "zero"),
        row("BITWISE_XOR", "bitvec", "a xor b", "zero"),
        row("LOGICAL_AND", "arith", "1 if a != 0 and b != 0 else 0"),
        row("LOGICAL_OR", "arith", "1 if a != 0 or b != 0 else 0"),
        row("LOGICAL_XOR", "arith", "1 if exactly one of a, b is not 0 else 0"),
        row("LOGICAL_SHIFT_LEFT", "bitvec", "a << b; 0 for b >= width"),
        row("LOGICAL_SHIFT_RIGHT", "bitvec", "a >> b, zero filled; 0 for b >= width"),
        row("IS_EQ", "arith", "1 if a == b else 0"),
        row("IS_GT", "arith", "1 if a > b else 0"),
        row("IS_GE", "arith", "1 if a >= b else 0"),
        row("IS_LE", "arith", "1 if a <= b else 0"),
        row("IS_LT", "arith", "1 if a < b else 0"),
        row("ABSOLUTE_DIFF", "arith", "|a - b|"),
        row("IS_NE", "arith", "1 if a != b else 0"),
        row("ABSOLUTE_VALUE", "arith", "|a|", **once),
        row("POW", "arith", "a ^ b within 1 ulp", confidence="MED", source=_POWER),
        row("MOD", "int", "remainder of a / b, as MOD_INT or MOD_UINT by signedness", confidence="MED"),
        row(
            "CRC32",
            "bitvec",
            "CRC step of a with b",
            confidence="LOW",
            missing="polynomial, bit order, initial value and final XOR of CRC32 are not published",
        ),
        row("RSQRT", "arith", "1 / sqrt(a), correctly rounded", confidence="MED", source=_LIBRARY, **once),
        row("ABS_MAX", "arith", "larger of |a| and |b|, policy reduce_nan", "zero"),
        row("ABS_MIN", "arith", "smaller of |a| and |b|, policy reduce_nan", "highest"),
        row("RE_LU", "arith", "larger of a and +0, policy reduce_nan", **once),
        row("SQUARE", "arith", "a * a", **once),
        row("SYMMETRIC_CLAMP", "arith", "copysign(max(|a|, |b|), a)", confidence="LOW", source=_LIBRARY),
        row("ADD_INT", "int", "(a + b) mod 2^width", "zero", source=_PAIRS),
        row("MULT_INT", "int", "(a * b) mod 2^width", "one", source=_PAIRS),
        row("SUBTRACT_INT", "int", "(a - b) mod 2^width", source=_PAIRS),
        row("DIVIDE_INT", "int", "a / b toward zero; all ones for b = 0", confidence="MED", source=_LIBRARY),
        row("MOD_INT", "int", "a - trunc(a / b) * b; a for b = 0", confidence="MED", source=_LIBRARY),
        row("IS_EQUAL_INT", "int", "1 if a == b else 0", source=_PAIRS),
        row("IS_NE_INT", "int", "1 if a != b else 0", source=_PAIRS),
        row("ABS_MAX_INT", "int", "larger of |a| and |b|, unsigned", "zero", confidence="PROPOSED", source=_LIBRARY),
        row("ABS_MIN_INT", "int", "smaller of |a| and |b|, unsigned", confidence="PROPOSED", source=_LIBRARY),
        row("ABS_DIFF_INT", "int", "|a - b| mod 2^width", confidence="PROPOSED", source=_LIBRARY),
        row("ABS_VALUE_INT", "int", "|a|; the lowest number is itself", source=_PAIRS, **once),
        row("MAX_INT", "int", "larger, signed", "lowest", source=_PAIRS),
        row("MIN_INT", "int", "smaller, signed", "highest", source=_PAIRS),
        row("IS_GT_INT", "int", "1 if a > b else 0, signed", source=_PAIRS),
        row("IS_GE_INT", "int", "1 if a >= b else 0, signed", source=_PAIRS),
        row("IS_LE_INT", "int", "1 if a <= b else 0, signed", source=_PAIRS),
        row("IS_LT_INT", "int", "1 if a < b else 0, signed", source=_PAIRS),
        row("MAX_UINT", "int", "larger, unsigned", "zero", source=_PAIRS),
        row("MIN_UINT", "int", "smaller, unsigned", "ones", source=_PAIRS),
        row("IS_GT_UINT", "int", "1 if a > b else 0, unsigned", source=_PAIRS),
        row("IS_GE_UINT", "int", "1 if a >= b else 0, unsigned", source=_PAIRS),
        row("IS_LE_UINT", "int", "1 if a <= b else 0, unsigned", source=_PAIRS),
        row("IS_LT_UINT", "int", "1 if a < b else 0, unsigned", source=_PAIRS),
        row("MULT_UINT", "int", "(a * b) mod 2^width", "one", source=_PAIRS),
        row("DIVIDE_UINT", "int", "floor(a / b); all ones for b = 0", confidence="MED", source=_LIBRARY),
        row("MOD_UINT", "int", "a mod b; a for b = 0", confidence="MED", source=_LIBRARY),
        row("ARGMAX_INT", "argument", "index of the first largest, signed", confidence="MED", **once),
        row("ARGMIN_INT", "argument", "index of the first smallest, signed", confidence="MED", **once),
        row("ARGMAX_UINT", "argument", "index of the first largest, unsigned", confidence="MED", **once),
        row("ARGMIN_UINT", "argument", "index of the first smallest, unsigned", confidence="MED", **once),
    )


OPERATORS: Mapping[AluOp, Operator] = {row.op: row for row in _rows()}
"""Every operator by code."""


def operator_of(what: int | str) -> Operator:
    """The operator of a code or name.

    Raises:
        BadValue: there is none.
    """
    try:
        op = AluOp[what.upper()] if isinstance(what, str) else AluOp(what)
    except (KeyError, ValueError):
        raise BadValue(f"no ALU operator {what!r}; there are {', '.join(op.name for op in AluOp)}") from None
    return OPERATORS[op]


def identity_code(operator: Operator, fmt: Format) -> int | None:
    """The code in `fmt` of the element that a fold with `operator` may start from, or None."""
    if operator.identity is None:
        return None
    if operator.identity == "ones":
        return (1 << fmt.bits) - 1
    if operator.identity == "minus_zero":
        return fmt.sign_bit if not fmt.is_integer else 0
    if operator.identity == "lowest":
        return fmt.sign_bit if fmt.is_integer else (fmt.infinity or fmt.max_code) | fmt.sign_bit
    if operator.identity == "highest":
        return fmt.max_code if fmt.is_integer else fmt.infinity or fmt.max_code
    if operator.identity == "one":
        return 1 if fmt.is_integer else fmt.bias << (fmt.mantissa_bits + fmt.padding)
    return 0


def evaluate(
    what: int | str,
    *operands: Any,
    from_: Any,
    to: Any,
    rounding: str = "RNE",
    policies: Mapping[str, Any] | None = None,
    slow: bool = False,
) -> np.ndarray[Any, Any]:
    """One operator on arrays of codes, as an instruction computes it.

    Args:
        what: operator code or name.
        operands: codes of format `from_`, unsigned integers of any one shape (or broadcastable); one for a unary
            operator, else two.
        from_, to: formats of the operands and of the result. Raw-bit operators keep the format; an integer operator
            whose `to` is 64 bits wide takes 32-bit operands too and gives the exact result modulo 2^64.
        rounding: mode of the store.
        policies: `reduce_nan` and the value policies.
        slow: with the uncompiled functions.

    Returns:
        Codes of format `to`.

    Raises:
        BadValue: an unknown name, the wrong number of operands, formats that the operator does not take.
        Unsupported: no source says what the operator gives.
    """
    operator, source, target = operator_of(what), format_of(from_), format_of(to)
    if operator.missing:
        raise Unsupported(operator.name, operator.missing)
    if operator.kind == "argument":
        raise BadValue(f"{operator.name} is a reduction: it has no value on single elements")
    if len(operands) != (1 if operator.unary else 2):
        raise BadValue(f"{operator.name} takes {1 if operator.unary else 2} operands; found {len(operands)}")
    source.require("reading")
    target.require("writing")
    wide = np.uint64 if target.bits == 64 else np.uint32
    arrays = np.broadcast_arrays(*(np.asarray(codes, source.code_dtype) for codes in operands))
    flat = [array.flatten() for array in arrays]
    flat = flat if len(flat) == 2 else flat * 2
    out = np.empty(flat[0].size, target.code_dtype)
    run = _uncompiled if slow else compiled
    policies = policies or {}
    if operator.kind in ("both", "bitvec") and source.is_integer and source == target:
        run(alu_bitvec_row)(operator.code, *(codes.astype(wide) for codes in flat), out, source.bits)
    elif operator.kind == "int":
        if not (source.is_integer and target.is_integer and source.bits in (32, 64) and target.bits >= source.bits):
            raise BadValue(f"{operator.name} takes 32-bit and 64-bit integers; found {source.name} to {target.name}")
        extended = [_extended(codes, source, target) for codes in flat]
        run(alu_int_row)(operator.code, *extended, out, target.bits, int(source.signed))
    elif operator.kind == "bitvec":
        raise BadValue(f"{operator.name} keeps an integer format; found {source.name} to {target.name}")
    elif 64 in (source.bits, target.bits):
        raise BadValue(f"{operator.name} computes in fp32, which 64-bit integers do not enter")
    else:
        if policies.get("reduce_nan", "suppress") not in NAN_POLICIES:
            allowed = ", ".join(NAN_POLICIES)
            raise BadValue(f"policy reduce_nan is {policies['reduce_nan']!r}; allowed: {allowed}")
        if rounding not in MODES:
            raise BadValue(f"no rounding mode {rounding!r}; allowed: {', '.join(MODES)}")
        hub = [np.empty(out.size, np.uint32) for _ in flat]
        for codes, bits in zip(flat, hub, strict=True):
            run(widen_row)(codes, np.array(format_row(source, policies=policies)), bits)
        run(alu_fp32_row)(operator.code, *hub, hub[0], NAN_POLICIES[policies.get("reduce_nan", "suppress")])
        mode = None if rounding == "RNE" else MODES[rounding]  # policy stochastic_rounding replaces nearest even
        row = np.array(format_row(target, policies=policies, rounding_mode=mode))
        run(narrow_row)(hub[0], row, out, 0)
    return out.reshape(arrays[0].shape)


def _uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _extended(codes: np.ndarray[Any, Any], source: Format, target: Format) -> np.ndarray[Any, Any]:
    if source.bits == target.bits or not source.signed:
        return codes.astype(target.code_dtype)
    return codes.view(np.int32).astype(np.int64).view(np.uint64)
