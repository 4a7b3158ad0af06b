"""A planned instruction: plain data, and the window to the machine that an array kernel looks through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.kernels.rows import narrow_rows, widen_rows
from gpsimd_core.isa.layout import RecordLayout
from gpsimd_core.placement import Immediate, Placed, read_operand
from gpsimd_core.values import Activation, Engine, Instruction

__all__ = ["MAX_ELEMENTS", "NEXT_RECORD", "Step"]

MAX_ELEMENTS = 1 << 24
"""Most elements of a channel; a limit of ours that keeps a stray count from filling the machine."""
NEXT_RECORD = (128, 129)
"""Register numbers that read as the address of the next record: its low and its high word."""


@frozen(kw_only=True, eq=False)
class Step:
    """A planned instruction: plain data, good to execute any number of times.

    For array kernels it is also the window to the machine: `read`, `mask`, `imm`, `accumulator`, `policy`.
    """

    name: str
    instruction: Instruction
    engine: Engine
    record: bytes
    layout: RecordLayout
    channels: int
    operands: Mapping[str, Placed]
    immediates: Mapping[str, Immediate]
    policies: Mapping[str, str | int]
    formats: Mapping[int, Any]
    hazard: bool
    """Sources overlap a destination elsewhere than at the same index: they are kept from before the instruction."""
    activations: Mapping[int, Activation] = field(factory=dict)
    """The table of activation functions, by number."""
    elements_limit: int = MAX_ELEMENTS
    row: tuple[int, ...] | None = field(default=None, init=False)
    index: int = field(default=-1, init=False)
    core: Any = field(default=None, init=False)
    registers: Any = field(default=None, init=False)

    def number(self, leaf: str) -> int:
        """The number of a scalar field."""
        return self.layout.number(np.frombuffer(self.record, np.uint8), leaf)

    @property
    def sources(self) -> list[Placed]:
        """What it reads: operands, immediates behind a pointer, index lists."""
        read = [self.operands[o.name] for o in self.instruction.reads]
        read += [i.placed for i in self.immediates.values() if i.placed is not None]
        return read + [p.index_list for p in self.operands.values() if p.index_list is not None]

    @property
    def written(self) -> list[Placed]:
        """What it writes."""
        return [self.operands[o.name] for o in self.instruction.writes]

    @property
    def places(self) -> list[Placed]:
        """Everything that it touches."""
        return self.sources + self.written

    @property
    def fusible(self) -> bool:
        """Whether it may run in one go with its neighbours of the same kernel."""
        return not (self.hazard or self.by_index) and self.instruction.ready is None

    @property
    def by_index(self) -> bool:
        """Whether an index list names the elements of some operand."""
        return any(p.index_list is not None for p in self.operands.values())

    @property
    def accumulates_undefined(self) -> bool:
        """Whether the instruction takes what is in the accumulator."""
        return self.instruction.accumulator == "read" or self.accumulates

    @property
    def accumulates(self) -> bool:
        """Whether it goes on from what is in the accumulator."""
        use = self.instruction.accumulator
        return use not in (None, "read") and self.number(use or "") == 2

    def number_or(self, leaf: str, default: int) -> int:
        """The number of a scalar field, or `default` where the layout has none of that name."""
        return self.number(leaf) if leaf in self.layout.leaves else default

    # What an array kernel and `ready` may ask, while the step runs ------------------------------------------------------

    def read(self, operand: str) -> np.ndarray[Any, Any]:
        """An operand's elements in stream order: (channels, elements), of the dtype's numpy type; read-only."""
        return read_operand(self.core.memory, self.operands[operand], self.formats)

    def hub(self, operand: str) -> np.ndarray[Any, Any]:
        """An operand's elements as fp32 bits: uint32, (channels, elements)."""
        return self.widened(self.operands[operand])

    def widened(self, p: Placed) -> np.ndarray[Any, Any]:
        """The elements of a placed operand as fp32 bits: uint32, (channels, elements)."""
        return self.widened_codes(read_operand(self.core.memory, p, self.formats).view(f"u{p.size}"), p.code)

    def widened_codes(self, codes: np.ndarray[Any, Any], code: int) -> np.ndarray[Any, Any]:
        """Codes of a dtype as fp32 bits: uint32, of the same shape (channels, elements)."""
        # a copy even where none is needed: read-only arrays are a type of their own, for which all is compiled once more
        words = np.array(codes, np.uint32, order="C")
        out = np.empty(words.shape, np.uint32)
        self.core.compiled(widen_rows)(words, self.core.machine.format_table[code], out)
        return out

    def narrowed(self, operand: str, hub: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """fp32 bits as an operand's dtype.

        Args:
            operand: an output.
            hub: uint32, (channels, elements).

        Returns:
            (channels, elements) of the dtype's numpy type.
        """
        p = self.operands[operand]
        out = np.empty(hub.shape, np.uint32)
        self.core.compiled(narrow_rows)(np.ascontiguousarray(hub), self.core.machine.format_table[p.code], out)
        return out.astype(f"u{p.size}", copy=False).view(self.formats[p.code].dtype)

    def imm_hub(self, name: str) -> np.ndarray[Any, Any]:
        """An immediate as fp32 bits, one a channel: uint32, (channels, 1); inline ones are fp32 bits already."""
        given = self.immediates[name]
        if given.placed is not None:
            return self.widened(given.placed)
        return np.full((self.channels, 1), given.bits, np.uint32)

    def state(self, column: int, first: int, width: int = 1) -> np.ndarray[Any, Any]:
        """Per-lane state of the step's channels: uint32, (channels, width), columns of `isa/lanestate.py`."""
        found: np.ndarray[Any, Any] = self.core.lanes[first : first + self.channels, column : column + width]
        return found

    def register(self, number: int) -> int:
        """The 32 bits of a register of the step's stream; 128 and 129 are the low and the high word of the address of
        the next record, a program starting at address 0.

        Raises:
            Fault: it was never written.
        """
        if number in NEXT_RECORD:
            return ((self.index + 1) * 64) >> 32 * NEXT_RECORD.index(number) & 0xFFFFFFFF
        return int(self.registers[number])

    @property
    def mask(self) -> np.ndarray[Any, Any]:
        """Where the predicate operand is non-zero: bool, (channels, elements)."""
        name = next(o.name for o in self.instruction.reads if o.predicate)
        return np.asarray(self.read(name) != 0)

    def imm(self, name: str) -> np.ndarray[Any, Any]:
        """An immediate as one number a channel: (channels, 1), of its dtype's numpy type; float32 where its field holds one,
        else uint32, where it has no dtype."""
        given = self.immediates[name]
        if given.placed is not None:
            return read_operand(self.core.memory, given.placed, self.formats)
        f = self.layout.by_name[name]
        code = self.number(f.dtype) if f.dtype else int(Dtype.FP32 if f.kind == "f32" else Dtype.UINT32)
        fmt = self.formats.get(code)
        bits = np.full((self.channels, 1), given.bits, np.uint32)
        if fmt is None or fmt.nbytes == 4:
            return bits.view(fmt.dtype if fmt else np.uint32)
        return bits.astype(fmt.code_dtype).view(fmt.dtype)

    @property
    def accumulator(self) -> np.ndarray[Any, Any]:
        """The engine's accumulator of each channel: float32, (channels,)."""
        first = self.operands[self.instruction.writes[0].name].partition
        values: np.ndarray[Any, Any] = self.core.accumulators[self.engine.accumulators]
        return values[first : first + self.channels]

    @property
    def accumulator_defined(self) -> np.ndarray[Any, Any]:
        """Whether the engine's accumulator holds a value: bool, (channels,)."""
        first = self.operands[self.instruction.writes[0].name].partition
        defined: np.ndarray[Any, Any] = self.core.accumulators.defined(self.engine.accumulators)
        return defined[first : first + self.channels]

    def policy(self, name: str) -> str | int:
        """The value of a policy."""
        return self.policies[name]
