"""A leaf as a record and as a callable: operands in, results out, whatever computes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from gpsimd_core.errors import BadValue, Unsupported
from gpsimd_core.isa.lanes.rounding import DEVICE_AWAY, MODES
from gpsimd_core.isa.leaves.loops import evaluate
from gpsimd_core.isa.leaves.names import LaneFormat, Slot
from gpsimd_core.isa.leaves.operands import carrier, dress, patterns

__all__ = ["Guard", "Leaf", "LeafFunction", "mode_code"]

FAST_FROM = 4096
"""Evaluations from which a call without a wish is worth the compiled loop."""

Array = NDArray[Any]


@frozen(kw_only=True)
class Guard:
    """The operands for which a leaf has a published value."""

    lane: Callable[..., Any]
    """Takes the operands named in `args`, then `constants`; true where the value is known."""
    args: tuple[str, ...]
    constants: tuple[int, ...]
    missing: str


@frozen(kw_only=True)
class Leaf:
    """One value of the vector core's library: what it is called, what it takes and gives, and who says so."""

    name: str
    short: str
    family: str
    format: LaneFormat | None
    """Lane format of the operation that the leaf belongs to; None where lanes mean nothing to it."""
    args: tuple[Slot, ...]
    results: tuple[Slot, ...]
    rule: str
    confidence: str
    pages: tuple[str, ...]
    note: str = ""
    missing: str = ""
    """The fact without which the leaf has no value; empty where it has one."""
    unpublished: tuple[str, ...] = ()
    """Results that exist in the library and whose value no source gives."""
    element: Callable[..., Any] | None = None
    constants: tuple[int, ...] = ()
    guard: Guard | None = None
    domain: tuple[tuple[str, int, int], ...] = ()
    """Arguments that are limited to a part of what their width holds: name, least, greatest."""

    @property
    def grounded(self) -> bool:
        return not self.missing

    @property
    def takes_mode(self) -> bool:
        """Whether the leaf has a rounding-mode argument."""
        return any(slot.name == "mode" and slot.bits == 3 for slot in self.args)

    @property
    def flags(self) -> tuple[str, ...]:
        """The status flags that the leaf reports."""
        return tuple(slot.name for slot in self.results if slot.is_flag)

    @property
    def values(self) -> tuple[Slot, ...]:
        """The results that are no flags and have a value, in the library's order."""
        return tuple(slot for slot in self.results if not slot.is_flag and slot.name not in self.unpublished)

    @property
    def signature(self) -> str:
        """As in `radd_nx16(v: 32x16) -> r: 32`."""
        args = ", ".join(f"{slot.name}: {slot.type}" for slot in self.args)
        results = ", ".join(f"{slot.name}: {slot.type}" for slot in self.results)
        return f"{self.short}({args}) -> {results}"

    def argument(self, name: str) -> Slot:
        """The argument of that name.

        Raises:
            BadValue: the leaf has none.
        """
        for slot in self.args:
            if slot.name == name:
                return slot
        raise BadValue(f"{self.name} has no argument {name}; it takes {', '.join(s.name for s in self.args)}")

    def compute(self, operands: Mapping[str, ArrayLike], *, fast: bool | None = None) -> dict[str, Array]:
        """Evaluate the leaf on a batch.

        Args:
            operands: argument name = bit patterns, shape batch + row; batches broadcast. A left-out `mode` is 0.
            fast: compiled loop or plain one; None takes the compiled one where the batch is large.

        Returns:
            Result name = bit patterns in the smallest unsigned dtype that holds them, flags included, results without a
            published value left out.

        Raises:
            BadValue: an operand is missing, unknown, of the wrong shape, or does not fit its width.
            Unsupported: no source gives the value.
        """
        if self.missing or self.element is None:
            raise Unsupported(f"leaf {self.name}", self.missing)
        unknown = [name for name in operands if name not in {slot.name for slot in self.args}]
        if unknown:
            self.argument(unknown[0])
        given = {"mode": 0, **operands} if self.takes_mode else operands
        arrays = []
        for slot in self.args:
            if slot.name not in given:
                raise BadValue(f"{self.name} takes {', '.join(s.name for s in self.args)}; {slot.name} is missing")
            array = patterns(slot, given[slot.name], self.format, f"{self.name}: {slot.name}")
            self._check_domain(slot, array)
            arrays.append(array)
        rows = [slot.row for slot in self.args]
        batches = [array.shape[: array.ndim - len(row)] for array, row in zip(arrays, rows, strict=True)]
        try:
            batch = np.broadcast_shapes(*batches)
        except ValueError:
            named = ", ".join(f"{s.name} {b}" for s, b in zip(self.args, batches, strict=True))
            raise BadValue(f"{self.name}: shapes do not broadcast: {named}") from None
        count = math.prod(batch)
        columns = [
            np.broadcast_to(array, batch + row).reshape((count, *row)) for array, row in zip(arrays, rows, strict=True)
        ]
        if fast is None:
            fast = count * max(1, *(math.prod(row) for row in rows)) >= FAST_FROM
        self._check_guard(columns, fast)
        wanted = [slot for slot in self.results if slot.name not in self.unpublished]
        register = wanted[0].lanes if len(wanted) == 1 and not wanted[0].flat else 0
        width = sum(max(1, slot.words) for slot in wanted)
        found = evaluate(self.element, columns, self.constants, width, register, fast)
        if register:
            return {wanted[0].name: _narrowed(found, wanted[0].bits).reshape((*batch, register))}
        results, at = {}, 0
        for slot in wanted:
            if slot.words:
                words = _narrowed(found[at : at + slot.words].T, 32)
                results[slot.name] = np.ascontiguousarray(words).reshape((*batch, slot.words))
            else:
                results[slot.name] = _narrowed(found[at], slot.bits).reshape(batch)
            at += max(1, slot.words)
        return results

    def _check_domain(self, slot: Slot, array: Array) -> None:
        for name, least, greatest in self.domain:
            if name == slot.name and array.size and not (least <= array.min() and array.max() <= greatest):
                raise BadValue(f"{self.name}: {name} is {array.max()}; allowed: {least} to {greatest}")

    def _check_guard(self, columns: Sequence[Array], fast: bool) -> None:
        if self.guard is None or not len(columns[0]):
            return
        named = dict(zip((slot.name for slot in self.args), columns, strict=True))
        operands = [named[name] for name in self.guard.args]
        known = evaluate(self.guard.lane, operands, self.guard.constants, 1, 0, fast)[0]
        if not known.all():
            first = int(np.argmin(known))
            shown = ", ".join(f"{name} = {int(named[name][first]):#x}" for name in self.guard.args)
            raise Unsupported(f"leaf {self.name} of {shown}", self.guard.missing)


def _narrowed(numbers: NDArray[np.int64], bits: int) -> Array:
    """The low bits in the smallest unsigned dtype that holds them."""
    kept = numbers.astype(carrier(bits))
    return kept if 8 * kept.itemsize == bits else kept & kept.dtype.type(2**bits - 1)


def mode_code(name: str) -> int:
    """A leaf's mode code by the name of the rounding mode.

    Raises:
        BadValue: a mode that leaves do not have.
    """
    names = {mode: code for mode, code in MODES.items() if code <= DEVICE_AWAY}
    if name not in names:
        raise BadValue(f"mode is {name!r}; allowed: {', '.join(names)}, or a code 0 to 7")
    return names[name]


class LeafFunction:
    """A leaf to call: `leaf("add_nxf16")(a, b, mode="RNE")`.

    Args:
        leaf: what to evaluate.
        compiled: True for the compiled loops, False for plain Python without numba, None to take the compiled ones for
            large batches.
        whole: operands are whole registers (the leaf was asked for by its short name): a list has as many lanes.
    """

    def __init__(self, leaf: Leaf, *, compiled: bool | None = None, whole: bool = False) -> None:
        self.leaf = leaf
        self.compiled = compiled
        self.whole = whole
        self.__name__ = leaf.short
        self.__doc__ = f"{leaf.signature}\n\n{leaf.rule}"

    def __repr__(self) -> str:
        return f"<leaf {self.leaf.signature}>"

    def __call__(self, *operands: ArrayLike, flags: bool = False, **named: ArrayLike) -> Any:
        """Evaluate on lanes of any count of vectors at once.

        Args:
            operands: in the order of `leaf.args`; each a bit pattern or an array of them, shape batch + row, where a row
                is the lanes of a register operand or the 32-bit words of a value beyond 64 bits. fp16 and fp32 arrays
                and arrays of the signed type of the operand's width are taken as what they are. A predicate word is a
                uint64, or booleans of shape batch + lanes.
            flags: give the status flags too.
            named: operands by name. `mode` is 0 to 7 or RNE, RTZ, RPI, RMI; left out it is RNE.

        Returns:
            The value, or a tuple of values in the library's order; with `flags`, (value, {flag: array}). Unsigned bit
            patterns, but fp16 or fp32 where such arrays came in, and signed integers where those came in.

        Raises:
            BadValue: an operand is missing, unknown, of the wrong shape, or does not fit its width.
            Unsupported: no source gives the value for these operands.
        """
        if len(operands) > len(self.leaf.args):
            raise BadValue(f"{self.leaf.name} takes {len(self.leaf.args)} operands, got {len(operands)}")
        given: dict[str, Any] = {slot.name: x for slot, x in zip(self.leaf.args, operands, strict=False)}
        twice = sorted(set(given) & set(named))
        if twice:
            raise BadValue(f"{self.leaf.name}: {twice[0]} is given twice")
        given |= named
        if isinstance(given.get("mode"), str) and self.leaf.takes_mode:
            given["mode"] = mode_code(given["mode"])
        self.check_lanes(given)
        results = self.leaf.compute(given, fast=self.compiled)
        kinds = {x.dtype for name, x in given.items() if name != "mode" and hasattr(x, "dtype")}
        values = tuple(dress(slot, results[slot.name], kinds) for slot in self.leaf.values)
        value = values[0] if len(values) == 1 else values
        return (value, {name: results[name][()] for name in self.leaf.flags}) if flags else value

    def check_lanes(self, given: Mapping[str, Any]) -> None:
        """Hold the operands of a leaf asked for by its short name against its lane format.

        Raises:
            BadValue: an operand of another lane count.
        """
        form = self.leaf.format
        if form is None or not self.whole or any(slot.lanes for slot in self.leaf.args):
            return
        for slot in self.leaf.args:
            shape = np.shape(given[slot.name]) if slot.name in given else ()
            if shape and not slot.row and shape[-1] not in (1, form.lanes):
                raise BadValue(
                    f"{self.leaf.short}: {slot.name} has {shape[-1]} lanes, {form.name} has {form.lanes}; "
                    f"{self.leaf.name} takes single lanes"
                )
