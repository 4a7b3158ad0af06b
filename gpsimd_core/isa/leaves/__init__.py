"""The value leaves of the Vision-Q7 vector core, by name.

`leaf("radd_nx16")` is a function over bit patterns; `catalogue()` lists every leaf of the library that a source names,
those without a published value included.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from gpsimd_core.errors import BadValue, Unsupported
from gpsimd_core.isa.leaves import accumulators, control, floats, fused, integers, predicates, registers, seeds
from gpsimd_core.isa.leaves.model import Leaf, LeafFunction
from gpsimd_core.isa.leaves.pages import PAGES
from gpsimd_core.isa.leaves.scan import prefix_scan

__all__ = ["PAGES", "Leaf", "LeafFunction", "catalogue", "find", "leaf", "prefix_scan"]

LIBRARY_PREFIX = "module__xdref_"
"""What the original library puts before every name."""


@cache
def catalogue() -> Mapping[str, Leaf]:
    """Every leaf by its full name, family by family."""
    modules = (predicates, integers, accumulators, registers, floats, fused, seeds, control)
    leaves = [leaf for module in modules for family in module.FAMILIES for leaf in family.leaves()]
    return MappingProxyType({leaf.name: leaf for leaf in leaves})


@cache
def _shorts() -> Mapping[str, Leaf]:
    return {leaf.short: leaf for leaf in catalogue().values()}


def find(name: str) -> Leaf:
    """The record of a leaf, by its full or short name.

    Raises:
        BadValue: no leaf is called so; the message has the closest names.
    """
    plain = name.strip().lower().removeprefix(LIBRARY_PREFIX)
    found = catalogue().get(plain) or _shorts().get(plain)
    if found is None:
        close = difflib.get_close_matches(plain, [*_shorts(), *catalogue()], n=4, cutoff=0.6)
        hint = f"; did you mean {' or '.join(dict.fromkeys(close))}?" if close else ""
        raise BadValue(f"there is no leaf {name!r}{hint}")
    return found


def leaf(name: str, *, compiled: bool | None = None) -> LeafFunction:
    """A leaf as a function over bit patterns.

    Args:
        name: full name, as `radd_nx16_32_512`, or short name, as `radd_nx16`. By its short name a leaf of single lanes
            takes whole registers: arrays whose last axis is the lane format's, or one value for all lanes.
        compiled: True for compiled loops, False for plain Python without numba, None to compile for large batches only.

    Raises:
        BadValue: no leaf is called so.
        Unsupported: the leaf is known and no source gives its value.
    """
    found = find(name)
    if found.missing:
        raise Unsupported(f"leaf {found.name}", found.missing)
    return LeafFunction(found, compiled=compiled, whole=name.strip().lower() not in catalogue())
