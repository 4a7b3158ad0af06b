"""What validation found: violations, warnings, and what was not checked, rendered only when somebody looks."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from gpsimd_core.isa.layout import Columns, Leaf, member
from gpsimd_core.machine import BoundRule, RuleBook

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine
    from gpsimd_core.program import Group

__all__ = ["NotChecked", "Outcome", "Report", "Violation"]


@frozen(kw_only=True)
class Violation:
    """A rule that a record breaks."""

    index: int
    """Position of the record in its program."""
    byte: int
    """Offset of the first field concerned, from the start of the program."""
    name: str
    """Instruction."""
    field: str
    rule: str
    number: int
    """Position of the published rule in its family's list."""
    found: str
    allowed: str
    generation: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.found}; allowed: {self.allowed}"


@frozen(kw_only=True)
class NotChecked:
    """A rule that could not be judged, and why."""

    index: int
    name: str
    rule: str
    why: str

    def __str__(self) -> str:
        return f"not checked: {self.rule} ({self.why})"


@frozen(kw_only=True, eq=False)
class Outcome:
    """One rule's verdict on the records of one group, as arrays."""

    group: Group
    book: RuleBook
    position: int
    good: Any
    """Where the rule holds: bool, (records,) or (1,), or True."""
    checked: Any
    """Where it could be judged, likewise."""

    @property
    def name(self) -> str:
        """Instruction."""
        return self.group.encoding.name if self.group.encoding else "unknown"

    @property
    def columns(self) -> Columns:
        """The records judged."""
        return self.group.columns

    @property
    def bound(self) -> BoundRule:
        """The rule."""
        return self.book.rules[self.position]

    @property
    def breaks(self) -> bool:
        """Whether some record breaks the rule."""
        return not self.bound.rule.open and bool(self._bad().any())

    @property
    def failed(self) -> np.ndarray[Any, Any]:
        """Rows of the group that break it."""
        return np.zeros(0, int) if self.bound.rule.open else np.flatnonzero(self._bad())

    @property
    def unchecked(self) -> np.ndarray[Any, Any]:
        """Rows of the group on which it was not judged."""
        if self.bound.rule.open:
            return np.flatnonzero(self._bad())
        return np.flatnonzero(~self._full(self.checked))

    @property
    def why(self) -> str:
        """Why it was not judged where it was not."""
        needs = (self.book.rules[n].rule.name for n in self.bound.needs)
        return self.bound.rule.open or f"needs {', '.join(needs)}"

    def _bad(self) -> np.ndarray[Any, Any]:
        bad: np.ndarray[Any, Any] = self._full(self.checked) & ~self._full(self.good)
        return bad

    def _full(self, flags: Any) -> np.ndarray[Any, Any]:
        return np.broadcast_to(np.asarray(flags, bool), (len(self.group.columns),))


class Report:
    """The outcome of validating a program.

    Args:
        machine: whose rules were checked.
        size: records in the program.
        rows: per group, the record index of each row, and the outcomes of its rules.
        extra: violations that are no rule's, such as an unknown opcode.
        extra_unchecked: what was not checked on records without a grounded layout.
        engines: int8, position of each record's engine among the machine's, -1 where none takes it.
    """

    def __init__(
        self,
        machine: Machine,
        size: int,
        rows: list[tuple[np.ndarray[Any, Any], list[Outcome]]],
        extra: list[Violation],
        extra_unchecked: list[NotChecked],
        engines: np.ndarray[Any, Any],
    ) -> None:
        self._machine, self.size, self._rows = machine, size, rows
        self._extra, self._extra_unchecked, self._engines = extra, extra_unchecked, engines

    @functools.cached_property
    def engines(self) -> list[str | None]:
        """The engine that each record would run on; None where none takes it."""
        names: list[str | None] = [*self._machine.engines, None]
        return [names[i] for i in self._engines.tolist()]

    @functools.cached_property
    def ok(self) -> bool:
        """Whether no record breaks a rule."""
        return not self._extra and not any(
            not o.bound.warning and o.breaks for _, outcomes in self._rows for o in outcomes
        )

    @functools.cached_property
    def violations(self) -> tuple[Violation, ...]:
        """Every broken rule, by record, in the header's order."""
        return self._sorted(self._broken(warning=False), self._extra)

    @functools.cached_property
    def warnings(self) -> tuple[Violation, ...]:
        """Rules that only warn."""
        return self._sorted(self._broken(warning=True), [])

    @functools.cached_property
    def not_checked(self) -> tuple[NotChecked, ...]:
        """Rules that stand on a broken one, and everything beyond header and events of opaque records."""
        found = [
            (int(at[row]), o.position, NotChecked(index=int(at[row]), name=o.name, rule=o.bound.rule.name, why=o.why))
            for at, outcomes in self._rows
            for o in outcomes
            for row in o.unchecked
        ]
        found += [(n.index, 10_000, n) for n in self._extra_unchecked]
        return tuple(n for _, _, n in sorted(found, key=lambda item: item[:2]))

    def _sorted(self, found: list[tuple[int, int, Violation]], more: list[Violation]) -> tuple[Violation, ...]:
        found = found + [(v.index, -1, v) for v in more]
        return tuple(v for _, _, v in sorted(found, key=lambda item: item[:2]))

    def _broken(self, *, warning: bool) -> list[tuple[int, int, Violation]]:
        return [
            (int(at[row]), o.position, self._violation(o, int(at[row]), int(row)))
            for at, outcomes in self._rows
            for o in outcomes
            if o.bound.warning == warning
            for row in o.failed
        ]

    def _violation(self, o: Outcome, index: int, row: int) -> Violation:
        rule = o.bound.rule
        leaves = [o.columns.layout.leaves[name] for name in rule.fields]
        texts = [_value(leaf, o.columns, row) for leaf in leaves]
        if len(leaves) == 1:
            found = f"{leaves[0].place()} is {texts[0]}"
        else:
            found = ", ".join(
                f"{leaf.name} ({leaf.place()}) is {text}" for leaf, text in zip(leaves, texts, strict=True)
            )
        allowed = rule.allowed if isinstance(rule.allowed, str) else rule.allowed(self._machine.facts)
        first = leaves[0].offset if leaves else 0
        return Violation(
            index=index, byte=index * 64 + first, name=o.name, field=leaves[0].name if leaves else "",
            rule=rule.name, number=rule.number, found=found, allowed=allowed,
            generation=self._machine.generation.name,
        )  # fmt: skip

    def by_rule(self) -> Iterator[tuple[str, str, np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        """What there is to say, a rule at a time and without text, for programs of any length.

        Yields:
            (instruction, rule, records that break it, records on which it was not judged); records as arrays of their
            positions in the program. Rules that only warn are among them, those that hold everywhere are not.
        """
        for at, outcomes in self._rows:
            for o in outcomes:
                yield o.name, o.bound.rule.name, at[o.failed], at[o.unchecked]
        for name, rule in dict.fromkeys((v.name, v.rule) for v in self._extra):
            broken = [v.index for v in self._extra if (v.name, v.rule) == (name, rule)]
            yield name, rule, np.array(sorted(broken)), np.array([], np.int64)

    def by_record(self) -> Iterator[tuple[int, list[Violation], list[Violation], list[NotChecked]]]:
        """(index, violations, warnings, not checked) of every record that has any."""
        table: dict[int, tuple[list[Violation], list[Violation], list[NotChecked]]] = {}
        for v in self.violations:
            table.setdefault(v.index, ([], [], []))[0].append(v)
        for w in self.warnings:
            table.setdefault(w.index, ([], [], []))[1].append(w)
        for n in self.not_checked:
            table.setdefault(n.index, ([], [], []))[2].append(n)
        for index in sorted(table):
            yield (index, *table[index])

    def __str__(self) -> str:
        lines = []
        for index, violations, warnings, unchecked in self.by_record():
            name = (violations + warnings + unchecked)[0].name
            kinds = [(len(violations), "violation"), (len(warnings), "warning")]
            told = ", ".join(f"{n} {kind}{'s' if n > 1 else ''}" for n, kind in kinds if n) or "not checked in full"
            lines.append(
                f"instruction {index} (byte 0x{index * 64:x}), {name} on {self._machine.generation.name}: {told}"
            )
            lines += [f"  {v}" for v in violations]
            lines += [f"  warning: {w}" for w in warnings]
            lines += [f"  {n}" for n in unchecked]
        return "\n".join(lines)


def _value(leaf: Leaf, columns: Columns, row: int) -> str:
    value = columns[leaf.name][row]
    if leaf.is_array:
        return " ".join(str(int(v)) for v in value)
    number = int(value)
    if leaf.code is not None:
        found = member(leaf.code, number)
        return f"{found.name} (0x{number:X})" if isinstance(found, leaf.code) else f"0x{number:X}"
    return f"0x{number:x}" if leaf.itemsize >= 4 else str(number)
