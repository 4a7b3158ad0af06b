"""Programs: streams of 64-byte records, decoded as columns."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from gpsimd_core.encoding import encode
from gpsimd_core.errors import BadInput, BadValue
from gpsimd_core.isa.layout import RECORD_BYTES, Columns, RecordLayout
from gpsimd_core.isa.layouts.common import Opaque
from gpsimd_core.tensors import Bits, NamedTensor, Tensor, register
from gpsimd_core.values import Encoding

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine
    from gpsimd_core.report import Report

__all__ = ["Bits", "Group", "NamedTensor", "Program", "Record", "Report", "Tensor", "decode", "encode", "register"]


@frozen(kw_only=True, eq=False)
class Group:
    """The records of one opcode and layout."""

    encoding: Encoding | None
    """None for a byte that is no opcode of the generation."""
    layout: RecordLayout
    indices: np.ndarray[Any, Any]
    columns: Columns


@frozen(kw_only=True, eq=False)
class Record:
    """One record of a program."""

    index: int
    name: str
    """Instruction name, or `unknown`."""
    opcode: int
    layout: RecordLayout
    raw: np.ndarray[Any, Any]

    @property
    def opaque(self) -> bool:
        """Whether only header and events are grounded."""
        return self.layout.cls is Opaque

    @property
    def fields(self) -> dict[str, Any]:
        """Field name to value; see `RecordLayout.read`."""
        return self.layout.read(self.raw)

    def __bytes__(self) -> bytes:
        return self.raw.tobytes()


class Program:
    """A stream of records, with the tensors and registers it was written for.

    Args:
        machine: for which it was decoded.
        raw: uint8, shape (records, 64).
        tensors: named tensors, if known.
        registers: address registers to set before a run.
        streams: per record the engine whose stream it stands in, or None where it names none.
        name: of the file, for messages.
    """

    def __init__(
        self,
        machine: Machine,
        raw: np.ndarray[Any, Any],
        *,
        tensors: tuple[NamedTensor, ...] = (),
        registers: Mapping[int, int] | None = None,
        streams: tuple[str | None, ...] | None = None,
        name: str = "<program>",
    ) -> None:
        self.machine = machine
        self.raw = np.ascontiguousarray(raw)
        self.raw.flags.writeable = False
        self.tensors = {t.name: t for t in tensors}
        self.registers = dict(registers or {})
        self.streams = streams
        self.name = name
        self.prepared: dict[Any, Any] = {}
        """What a host derived from the records once and may use again."""

    def __len__(self) -> int:
        return len(self.raw)

    def __bytes__(self) -> bytes:
        return self.raw.tobytes()

    def __iter__(self) -> Iterator[Record]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> Record:
        index = range(len(self))[index]
        row = self.raw[index]
        opcode = int(row[0])
        encoding = self.machine.opcodes.get(opcode)
        layout = _select(self.machine.layouts.get(opcode) or _opaque(), row[None])[0][1]
        return Record(index=index, name=encoding.name if encoding else "unknown", opcode=opcode, layout=layout, raw=row)

    @functools.cached_property
    def groups(self) -> tuple[Group, ...]:
        """The records by opcode and layout, each group as columns."""
        opcodes = np.ascontiguousarray(self.raw[:, 0])
        present = np.flatnonzero(np.bincount(opcodes, minlength=256)).tolist()
        order = np.arange(len(self)) if len(present) == 1 else np.argsort(opcodes, kind="stable")
        raw = self.raw if len(present) == 1 else self.raw[order]
        ends = np.cumsum(np.bincount(opcodes, minlength=256))
        found = []
        for opcode in present:
            mine = slice(ends[opcode - 1] if opcode else 0, ends[opcode])
            encoding = self.machine.opcodes.get(opcode)
            layout = self.machine.layouts.get(opcode) or _opaque()
            for rows, chosen in _select(layout, raw[mine]):
                whole = len(rows) == mine.stop - mine.start
                columns = Columns(chosen, raw[mine] if whole else raw[mine][rows])
                found.append(Group(encoding=encoding, layout=chosen, indices=order[mine][rows], columns=columns))
        return tuple(found)

    def on(self, engine: str) -> Program:
        """The same records as the stream of one engine; the same Program for the same engine."""
        key = ("on", engine)
        if key not in self.prepared:
            self.prepared[key] = Program(
                self.machine, self.raw, tensors=tuple(self.tensors.values()), registers=self.registers,
                streams=(engine,) * len(self), name=self.name,
            )  # fmt: skip
        found: Program = self.prepared[key]
        return found

    def read_for(self, machine: Machine) -> Program:
        """The same records as another machine reads them; the same Program for the same machine."""
        if machine is self.machine:
            return self
        key = ("for", machine)
        if key not in self.prepared:
            self.prepared[key] = Program(
                machine, self.raw, tensors=tuple(self.tensors.values()), registers=self.registers, streams=self.streams,
                name=self.name,
            )  # fmt: skip
        found: Program = self.prepared[key]
        return found

    def split(self) -> dict[str, Program]:
        """One program for each engine that its records name; the same ones each time."""
        if "split" not in self.prepared:
            self.prepared["split"] = self._split()
        found: dict[str, Program] = self.prepared["split"]
        return found

    def _split(self) -> dict[str, Program]:
        engines = dict.fromkeys(s for s in self.streams or () if s)
        parts = {}
        for engine in engines:
            rows = [i for i, s in enumerate(self.streams or ()) if s == engine]
            parts[engine] = Program(
                self.machine, self.raw[rows], tensors=tuple(self.tensors.values()), registers=self.registers,
                streams=(engine,) * len(rows), name=self.name,
            )  # fmt: skip
        return parts


def _opaque() -> RecordLayout:
    return Opaque.variant(frozenset())


def _select(layout: RecordLayout, raw: np.ndarray[Any, Any]) -> list[tuple[np.ndarray[Any, Any], RecordLayout]]:
    everything = np.arange(len(raw))
    if layout.otherwise is None:
        return [(everything, layout)]
    leaf, value, other = layout.otherwise
    mine = raw[:, layout.leaves[leaf].offset] == value
    return [(rows, chosen) for rows, chosen in ((everything[mine], layout), (everything[~mine], other)) if len(rows)]


def decode(machine: Machine, data: Any, name: str = "<program>") -> Program:
    """View bytes as a stream of records. Nothing is judged: unknown opcodes and numbers survive.

    Args:
        machine: the generation to read them for.
        data: bytes, or a uint8 array of shape (n, 64) or (n * 64,).
        name: of the file, for messages.

    Raises:
        BadInput: empty, or not a multiple of 64 bytes.
    """
    if isinstance(data, Program):
        return data.read_for(machine)
    if isinstance(data, (bytes, bytearray, memoryview)):
        raw = np.frombuffer(bytes(data), np.uint8)
    else:
        raw = np.asarray(data)
        if raw.dtype != np.uint8:
            raise BadValue(f"a program is bytes or a uint8 array, not {raw.dtype}")
        raw = raw.reshape(-1).copy()
    if raw.size == 0:
        raise BadInput(f"{name} is empty; a program is records of {RECORD_BYTES} bytes")
    if raw.size % RECORD_BYTES:
        whole, rest = divmod(raw.size, RECORD_BYTES)
        raise BadInput(
            f"{name} is {raw.size} bytes, not a multiple of {RECORD_BYTES}: {whole} whole records and {rest} bytes"
        )
    return Program(machine, raw.reshape(-1, RECORD_BYTES), name=name)
