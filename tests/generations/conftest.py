"""The tables of each installed generation, as its plugin gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from importlib.metadata import entry_points
from typing import Any

import pytest
from attrs import frozen

from gpsimd_core.hookspecs import GROUP_GENERATIONS
from gpsimd_core.values import Encoding, Engine, EngineBinding, Generation, Instruction, NamedSet


@frozen(kw_only=True)
class Tables:
    """What one generation plugin returns from its hooks, by key."""

    generation: Generation
    encodings: Mapping[int, Encoding]
    sets: Mapping[str, frozenset[IntEnum]]
    named: Mapping[str, NamedSet]
    engines: Mapping[str, Engine]
    bindings: Mapping[str, EngineBinding]
    instructions: Mapping[str, Instruction]

    def engines_of(self, opcode: int) -> tuple[str, ...]:
        """The engines of an opcode, first owner first."""
        return self.bindings[self.encodings[opcode].name].engines


def _unique(rows: list[Any], key: Callable[[Any], Any]) -> dict[Any, Any]:
    table = {key(row): row for row in rows}
    assert len(table) == len(rows), "two rows claim one key"
    return table


@pytest.fixture(scope="session")
def tables() -> Callable[[str], Tables]:
    """`tables(name)`: the tables of a generation; skips where it is not installed."""

    def read(name: str) -> Tables:
        found = list(entry_points(group=GROUP_GENERATIONS, name=name))
        if not found:
            pytest.skip(f"{name} is not installed")
        plugin = found[0].load()
        gen = plugin.gpsimd_generation()
        rows = list(plugin.gpsimd_engines(gen))
        named = _unique(list(plugin.gpsimd_sets(gen)), lambda s: s.name)
        return Tables(
            generation=gen,
            encodings=_unique(list(plugin.gpsimd_decode(gen)), lambda e: e.opcode),
            named=named,
            sets={name: row.members for name, row in named.items()},
            engines=_unique([r for r in rows if isinstance(r, Engine)], lambda e: e.name),
            bindings=_unique([r for r in rows if isinstance(r, EngineBinding)], lambda b: b.instruction),
            instructions=_unique(list(plugin.gpsimd_execute(gen)), lambda i: i.name),
        )

    return read
