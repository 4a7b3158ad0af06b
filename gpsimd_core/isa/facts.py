"""What a rule may look up: the sets, geometry and policies of one machine, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.values import Generation, Geometry

__all__ = ["Facts"]


@frozen(kw_only=True, eq=False)
class Facts:
    """The frozen facts that rules and plans of one machine stand on."""

    generation: Generation
    sets: Mapping[str, frozenset[IntEnum]]
    policies: Mapping[str, str | int]
    templates: dict[int, Any] = field(factory=dict, init=False, repr=False)
    """Opcode to the record in which nothing is given, filled as it is asked for."""
    _tables: dict[str, np.ndarray[Any, Any]] = field(factory=dict, init=False, repr=False)

    @property
    def geometry(self) -> Geometry:
        """Memory geometry of the generation."""
        return self.generation.geometry

    def table(self, name: str) -> np.ndarray[Any, Any]:
        """Membership of the set `name` by code: bool, shape (256,)."""
        table = self._tables.get(name)
        if table is None:
            table = np.zeros(256, bool)
            table[[int(m) for m in self.sets[name]]] = True
            self._tables[name] = table
        return table

    def has(self, name: str, codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Which of these codes are members of the set `name`: bool, the shape of `codes`."""
        return np.take(self.table(name), codes, mode="clip")  # codes are bytes; taking so is three times faster

    def listed(self, name: str) -> str:
        """The members of the set `name` in code order, for messages."""
        return " ".join(m.name for m in sorted(self.sets[name])) or "nothing"
