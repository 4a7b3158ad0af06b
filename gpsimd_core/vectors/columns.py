"""Columns of leaf groups: their types, their values as patterns, and how a result is held against one."""

from __future__ import annotations

import re
from typing import Any

from attrs import frozen

from gpsimd_core.isa.leaves.names import Slot
from gpsimd_core.vectors.strict import Place, digits, table

__all__ = ["Column", "Lanes", "shown"]

_TYPE = re.compile(r"(?:(?P<lanes>[1-9]\d*)x)?(?P<floating>f?)(?P<bits>[1-9]\d*)$")


@frozen
class Lanes:
    """A set of lanes, as a predicate word holds it."""

    members: frozenset[int]
    count: int

    @property
    def word(self) -> int:
        """Every bit set in the field of each lane of the set."""
        width = 64 // self.count
        return sum(((1 << width) - 1) << (lane * width) for lane in self.members)

    @classmethod
    def of(cls, word: int, count: int) -> Lanes:
        """The lanes whose field has its lowest bit set."""
        return cls(frozenset(lane for lane in range(count) if word >> (lane * (64 // count)) & 1), count)


@frozen(kw_only=True)
class Column:
    """One column: `a:16`, `v:32x16`, `keep:lanes`, `op:name`.

    `kind` is number, vector, list, bool, lanes, name or bytes.
    """

    name: str
    kind: str
    bits: int = 0
    lanes: int = 0
    floating: bool = False

    @classmethod
    def parse(cls, text: Any, place: Place, *, steps: bool, output: bool) -> Column:
        """A column out of its text, split at the last colon.

        Raises:
            BadInput: an unknown type, or one that does not belong there.
        """
        if not isinstance(text, str) or not text.rpartition(":")[0]:
            raise place.wrong(f"column {text!r}: expected name:type")
        name, _, kind = text.rpartition(":")
        if kind in ("bool", "lanes", "name", "bytes"):
            if (kind == "bool" and not output) or (kind == "name" and output):
                raise place.wrong(f"column {text!r}: {kind} is for {'inputs' if output else 'outputs'} only")
            return cls(name=name, kind=kind)
        listed = steps and not output and kind.startswith("list")
        found = _TYPE.match(kind.removeprefix("list") if listed else kind)
        if found is None or (listed and found["lanes"]):
            raise place.wrong(f"column {text!r}: unknown type {kind!r}")
        bits, lanes, floating = int(found["bits"]), int(found["lanes"] or 0), bool(found["floating"])
        if floating and bits not in (16, 32):
            raise place.wrong(f"column {text!r}: f16 and f32 are the floating types")
        kind = "list" if listed else "vector" if lanes else "number"
        return cls(name=name, kind=kind, bits=bits, lanes=lanes, floating=floating)

    @classmethod
    def for_slot(cls, slot: Slot) -> Column:
        """The column that carries an argument or result of a leaf."""
        bits, lanes = (512, 0) if slot.flat else (slot.bits, slot.lanes)
        return cls(name=slot.name, kind="vector" if lanes else "number", bits=bits, lanes=lanes, floating=slot.floating)

    @property
    def text(self) -> str:
        """As in a file."""
        element = f"{'f' if self.floating else ''}{self.bits}"
        kinds = {"number": element, "vector": f"{self.lanes}x{element}", "list": f"list{element}"}
        return f"{self.name}:{kinds.get(self.kind, self.kind)}"

    def fits(self, slot: Slot, *, lane_by_lane: bool = False) -> bool:
        """Whether the column can carry that argument or result; `lane_by_lane` for single lanes of either."""
        if self.kind == "bytes":
            return slot.flat
        if self.kind == "lanes":
            return slot.word
        if self.kind == "bool":
            return not slot.row and not slot.flat
        if lane_by_lane and self.bits == slot.bits and not slot.flat and (self.lanes == 0 or slot.lanes == 0):
            return True
        if slot.flat:
            return self.bits * max(1, self.lanes) == 512
        return self.bits == slot.bits and self.lanes == slot.lanes

    def value(self, item: Any, place: Place, lane_count: int | None) -> Any:
        """A cell as patterns: an integer, a list of integers, a `Lanes`, a bool or a text.

        Raises:
            BadInput: the cell is no value of this type.
        """
        what = f"column {self.name}"
        if self.kind == "number":
            return digits(item, self.bits, place, what)
        if self.kind == "vector":
            return _vector(item, self.bits, self.lanes, place, what)
        if self.kind == "list":
            items = table(item, place.at(what), {"list": list}, {})["list"]
            if not items:
                raise place.wrong(f"{what}: the list is empty")
            return [digits(one, self.bits, place, what) for one in items]
        if self.kind == "bytes":
            items = table(item, place.at(what), {"list": list}, {})["list"]
            if not 1 <= len(items) <= 64:
                raise place.wrong(f"{what}: {len(items)} bytes; a register has 64")
            return [digits(one, 8, place, what) for one in items]
        if self.kind == "lanes":
            return _lanes(item, lane_count, place, what)
        wanted = bool if self.kind == "bool" else str
        if not isinstance(item, wanted):
            raise place.wrong(f"{what} is {item!r}; it must be {'true or false' if wanted is bool else 'text'}")
        return item


_FORMS: tuple[dict[str, type], ...] = (
    {"rep": str},
    {"list": list},
    {"list": list, "fill": str},
    {"start": str, "step": str},
    {"at": dict, "fill": str},
)


def _vector(item: Any, bits: int, lanes: int, place: Place, what: str) -> list[int]:
    form = next((form for form in _FORMS if isinstance(item, dict) and set(form) == set(item)), None)
    if form is None:
        raise place.wrong(f"{what} is {item!r}; expected rep, list, list + fill, start + step, or at + fill")
    table(item, place.at(what), form, {})
    if "rep" in item:
        return [digits(item["rep"], bits, place, what)] * lanes
    if "start" in item:
        start, step = digits(item["start"], bits, place, what), digits(item["step"], bits, place, what)
        return [(start + lane * step) % (1 << bits) for lane in range(lanes)]
    fill = digits(item["fill"], bits, place, what) if "fill" in item else None
    if "at" in item:
        values = [fill or 0] * lanes
        for key, value in item["at"].items():
            if not (key.isascii() and key.isdigit() and str(int(key)) == key and int(key) < lanes):
                raise place.wrong(f"{what}: lane {key!r}; lanes are the decimal numbers 0 to {lanes - 1}")
            values[int(key)] = digits(value, bits, place, what)
        return values
    listed = [digits(one, bits, place, what) for one in item["list"]]
    if fill is None and len(listed) != lanes:
        raise place.wrong(f"{what}: the list has {len(listed)} items; {lanes} are needed")
    if fill is not None and not len(listed) < lanes:
        raise place.wrong(f"{what}: the list has {len(listed)} items; with fill fewer than {lanes} are needed")
    return listed + [fill or 0] * (lanes - len(listed))


def _lanes(item: Any, count: int | None, place: Place, what: str) -> Lanes:
    if count is None:
        raise place.wrong(f"{what}: neither a vector column nor the leaf says how many lanes there are")
    if not isinstance(item, dict) or set(item) != {"lanes"}:
        raise place.wrong(f"{what} is {item!r}; expected lanes = [..]")
    members = item["lanes"]
    if members == "all":
        return Lanes(frozenset(range(count)), count)
    known = isinstance(members, list) and all(type(lane) is int and 0 <= lane < count for lane in members)
    if not known or members != sorted(set(members)):
        raise place.wrong(f'{what} is {item!r}; expected lanes = "all" or ascending integers below {count}')
    return Lanes(frozenset(members), count)


def shown(column: Column, value: Any) -> str:
    """A value of a column as a reader of a report wants it."""
    if isinstance(value, Lanes):
        members = "all" if len(value.members) == value.count else " ".join(map(str, sorted(value.members)))
        return f"lanes {members or 'none'}"
    if isinstance(value, (bool, str)):
        return str(value).lower() if isinstance(value, bool) else value
    width = -(-(8 if column.kind == "bytes" else column.bits) // 4)
    if isinstance(value, list):
        texts = [f"{one:0{width}x}" for one in value]
        if len(texts) > 4 and len(set(texts)) == 1:
            return f"{texts[0]} x {len(texts)}"
        return " ".join(texts)
    return f"{value:0{width}x}"
