"""A difference between two runs, and the comparison of arrays of codes that finds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from gpsimd_core.elements import APART, bits_text, distances, value_text

if TYPE_CHECKING:
    from gpsimd_core.isa.formats import Format

__all__ = ["Comparison", "Difference", "elements", "plain"]

Codes = np.ndarray[Any, Any]


@frozen(kw_only=True)
class Difference:
    """Where two runs differ after an instruction: the first element of one operand or kind of state."""

    index: int | None = None
    """Position of the instruction in its stream; None where the difference belongs to no instruction."""
    engine: str = ""
    statement: str = ""
    """The instruction as text."""
    what: str
    """The operand by name and field, `accumulator of dve`, `semaphore` and so on."""
    partition: int | None = None
    element: int | None = None
    dtypes: tuple[str, str] | None = None
    bits: tuple[str, str] | None = None
    values: tuple[str, str]
    """What each side has, in words."""
    ulps: int | None = None
    """Distance in units of the last place; None where one is NaN, or the thing has no such distance."""
    count: int = 1
    """How many elements differ."""
    worst: int | None = None
    """The largest distance among them."""

    def told(self, sides: tuple[str, str]) -> str:
        """The difference in lines of text.

        Args:
            sides: what the two runs are called.
        """
        lines = [f"{self.engine} instruction {self.index}: {self.statement}"] if self.index is not None else []
        place = [f"partition {self.partition}"] if self.partition is not None else []
        place += [f"element {self.element}"] if self.element is not None else []
        lines.append(f"  {', '.join([self.what, *place])}")
        width = max(map(len, sides))
        dtypes = self.dtypes or ("", "")
        for side, dtype, bits, value in zip(sides, dtypes, self.bits or ("", ""), self.values, strict=True):
            lines.append(f"    {side:{width}}  {' '.join(x for x in (dtype, bits, value) if x)}")
        if self.bits is not None and self.partition is not None:
            lines.append(f"    {self._apart()}")
        if self.count > 1:
            worst = f", at most {self.worst} apart" if self.worst is not None else ""
            lines.append(f"    {self.count} elements differ{worst}")
        return "\n".join(lines)

    def _apart(self) -> str:
        assert self.dtypes is not None
        if self.ulps is None:
            return "one of them is NaN, so they are no number of ulps apart"
        if self.dtypes[0] != self.dtypes[1]:
            return f"{self.ulps} code{'s' if self.ulps != 1 else ''} apart; the formats differ"
        return f"{self.ulps} ulp{'s' if self.ulps != 1 else ''} of {self.dtypes[0]} apart"


@frozen(kw_only=True)
class Comparison:
    """The outcome of a comparison."""

    sides: tuple[str, str]
    instructions: int
    """How many were compared."""
    differences: tuple[Difference, ...]
    """The first one, or all that were asked for."""

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    def __str__(self) -> str:
        if self.equal:
            return f"{self.sides[0]} and {self.sides[1]} agree on {self.instructions} instructions"
        return "\n".join(d.told(self.sides) for d in self.differences)


def elements(
    what: str, x: Codes, y: Codes, formats: tuple[Format | None, Format | None], at: tuple[int, int], ulps: int
) -> Iterator[Difference]:
    """The difference between two arrays of codes, if there is one.

    Args:
        what: what they are.
        x, y: unsigned codes, (channels, elements).
        formats: of both.
        at: partition of channel 0, and bytes of an element.
        ulps: differences of so many units of the last place are none.
    """
    if x.shape != y.shape:
        shapes = (f"{x.shape[0]} x {x.shape[1]} elements", f"{y.shape[0]} x {y.shape[1]} elements")
        yield Difference(what=what, values=shapes)
        return
    differ = x != y
    if not differ.any():
        return
    first, second = formats
    same = first is not None and second is not None and first.name == second.name
    far = distances(x, y, first, first if same else second)
    if ulps:
        differ &= far > np.uint64(ulps)
        if not differ.any():
            return
    channel, k = (int(i) for i in np.unravel_index(int(np.argmax(differ)), differ.shape))
    partition, size = at
    known = far[differ & (far != APART)]
    pair = int(x[channel, k]), int(y[channel, k])
    yield Difference(
        what=what, partition=partition + channel, element=k,
        dtypes=(first.name if first else "", second.name if second else ""),
        bits=(bits_text(pair[0], size), bits_text(pair[1], size)),
        values=(value_text(pair[0], first), value_text(pair[1], second)),
        ulps=None if far[channel, k] == APART else int(far[channel, k]), count=int(differ.sum()),
        worst=int(known.max()) if len(known) else None,
    )  # fmt: skip


def plain(what: str, x: str, y: str) -> Difference:
    """A difference between two things that are no elements."""
    return Difference(what=what, values=(x, y))
