"""A family of leaves as one row: names by pattern, operand types by `$k`, a lane for every root."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import field, frozen

from gpsimd_core.isa.leaves.model import Guard, Leaf
from gpsimd_core.isa.leaves.names import LaneFormat, LeafName, Slot, braces, slot

__all__ = ["Family", "Known"]

Body = tuple[Any, ...]
"""A lane, then its constants: numbers, `$k`, or `bits`, `lanes`, `field` of the lane format."""


@frozen(kw_only=True)
class Known:
    """For which operands a family has published values, before its names are filled in."""

    lane: Callable[..., Any]
    args: str
    constants: tuple[int | str, ...] = ()
    missing: str


@frozen(kw_only=True)
class Family:
    """Leaves that share one rule."""

    names: str
    """Patterns with braces, separated by blanks."""
    family: str
    args: str
    """`name:type` in the library's order, separated by blanks."""
    results: str
    rule: str
    confidence: str
    pages: str
    per: str = ""
    """The `$k` that is one lane, where the name spells no lane format."""
    lane: str = ""
    """The lane format, where neither the name nor one of its widths says it."""
    short: str = ""
    """What is appended to root and lane format, or, beginning with `=`, the whole short name with {root} filled in."""
    args_of: Mapping[str, str] = field(factory=dict)
    results_of: Mapping[str, str] = field(factory=dict)
    bodies: Mapping[str, Body] = field(factory=dict)
    """Root = lane and constants."""
    known: Known | None = None
    domain: tuple[tuple[str, int, int], ...] = ()
    unpublished: str = ""
    note: str = ""
    missing: str = ""

    def leaves(self) -> Iterator[Leaf]:
        """Every leaf of the family, in the order of its patterns."""
        for pattern in self.names.split():
            for name in braces(pattern):
                yield self._leaf(LeafName.parse(name))

    def _leaf(self, name: LeafName) -> Leaf:
        form = name.format
        if form is None and self.per:
            form = name.element_format(self.per)
        elif form is None and self.lane:
            form = LeafName.parse(f"x_{self.lane}").format
        root = self._root(name)
        element, *constants = self.bodies[root] if self.bodies else (None,)
        return Leaf(
            name=name.name,
            short=self._short(name, root, form),
            family=self.family,
            format=form,
            args=self._slots(self.args_of.get(name.name, self.args), name, form),
            results=self._slots(self.results_of.get(name.name, self.results), name, form),
            rule=self.rule,
            confidence=self.confidence,
            pages=tuple(self.pages.split()),
            note=self.note,
            missing=self.missing,
            unpublished=tuple(self.unpublished.split()),
            element=element,
            constants=_resolved(constants, name, form),
            guard=None
            if self.known is None
            else Guard(
                lane=self.known.lane,
                args=tuple(self.known.args.split()),
                constants=_resolved(self.known.constants, name, form),
                missing=self.known.missing,
            ),
            domain=self.domain,
        )

    def _root(self, name: LeafName) -> str:
        """The longest root of ours that the name begins with; some end in what looks like a width."""
        found = [root for root in self.bodies if name.name == root or name.name.startswith(f"{root}_")]
        return max(found, key=len, default=name.root)

    def _short(self, name: LeafName, root: str, form: LaneFormat | None) -> str:
        if self.short.startswith("="):
            return self.short[1:].format(root=root, name=name.name)
        parts = [root, *([form.name] if form else []), *([self.short] if self.short else [])]
        return "_".join(parts + (["t"] if name.predicated else []))

    def _slots(self, texts: str, name: LeafName, form: LaneFormat | None) -> tuple[Slot, ...]:
        found = (slot(text, name, form) for text in texts.split())
        return tuple(one for one in found if one is not None)


def _resolved(constants: Any, name: LeafName, form: LaneFormat | None) -> tuple[int, ...]:
    return tuple(constant if isinstance(constant, int) else _number(constant, name, form) for constant in constants)


def _number(token: str, name: LeafName, form: LaneFormat | None) -> int:
    if token.startswith("$"):
        width = name.width(token)
    elif form is None:
        width = None
    else:
        width = {"bits": form.bits, "lanes": form.lanes, "field": form.predicate_bits}[token]
    if width is None:
        raise ValueError(f"{name.name}: no value for {token}")
    return width
