"""Random legal operands, a memory of Python integers, and the comparison of one instruction with a reference.

No project kernel: a reference loads and stores one element at a time. Formats and rounding are those of `value_model`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import records
from records import BF16, E3M4, E4M3, E5M2, FP16, FP32, FP32R, INT8, INT16, INT32, SIZE, UINT8, UINT16, UINT32
from value_cases import specials
from value_model import INTEGERS, Policies, narrow, widen

import gpsimd_core as gp

__all__ = [
    "CANONICAL", "FLOATS", "GENERATIONS", "INTS", "OUT", "PLAIN", "Case", "Load", "Maker", "Model", "Operand", "Scalar",
    "Twin", "affine", "signed",
]  # fmt: skip

Load = Callable[..., gp.Machine]
"""The fixture `load`."""
GENERATIONS = ("sunda", "cayman", "mariana", "mariana_plus", "maverick")
WINDOW = 2048
"""Bytes of each partition that a case may touch, at the start or at the end of the partition."""
INTS = (INT8, UINT8, INT16, UINT16, INT32, UINT32)
FLOATS = (BF16, FP16, FP32, E3M4, E4M3, E5M2)
PLAIN = (*INTS, *FLOATS)
OUT = (*PLAIN, FP32R)
CANONICAL = 0x7FC00000


def signed(code: int, dtype: int) -> int:
    """The number of an integer code."""
    width, negative = INTEGERS[dtype]
    return code - (1 << width) if negative and code >> (width - 1) else code


@dataclass
class Operand:
    """A resolved pattern: region, first partition, byte offset, dtype, counts and steps (innermost first)."""

    region: str
    partition: int
    offset: int
    dtype: int
    num: tuple[int, ...] = (1,)
    step: tuple[int, ...] = (1,)

    @property
    def size(self) -> int:
        return SIZE[self.dtype]

    @property
    def count(self) -> int:
        return math.prod(self.num)

    def offsets(self) -> list[int]:
        """Byte offsets of the elements inside a partition, in stream order."""
        found = [self.offset]
        for n, s in zip(self.num, self.step, strict=True):
            found = [at + i * s * self.size for i in range(n) for at in found]
        return found

    def reach(self) -> tuple[int, int]:
        """First byte touched and the byte after the last."""
        found = [(n - 1) * s * self.size for n, s in zip(self.num, self.step, strict=True)]
        low, high = sum(r for r in found if r < 0), sum(r for r in found if r > 0)
        return self.offset + low, self.offset + high + self.size

    def pattern(self, gen: str) -> dict[str, Any]:
        """The field of a record."""
        return {"addr": self.address(gen), "step": self.step, "num": self.num}

    def address(self, gen: str) -> int:
        return (
            records.psum(self.partition, self.offset)
            if self.region == "psum"
            else records.sbuf(gen, self.partition, self.offset)
        )


@dataclass
class Scalar:
    """An immediate: inline bits, or one element a channel in memory, its address perhaps in a register."""

    dtype: int
    bits: int = 0
    place: Operand | None = None
    register: int | None = None

    def code(self, model: Model, channel: int) -> int:
        """The code that a channel sees."""
        if self.place is None:
            return self.bits & ((1 << 8 * SIZE[self.dtype]) - 1)
        return model.load(self.place, channel, self.place.offset)

    def fields(self, gen: str, name: str, source: str, *, inverted: bool = False) -> dict[str, Any]:
        """Value and source of the immediate as record fields; `inverted` for the enumeration that swaps 0 and 1."""
        if self.place is None:
            return {name: gp.Bits(self.bits), source: 1 if inverted else 0}
        if self.register is not None:
            return {name: gp.Bits(self.register), source: 2}
        return {name: gp.Bits(self.place.address(gen)), source: 0 if inverted else 1}


@dataclass
class Model:
    """Windows of memory, 128 partitions each; accumulators as (fp32 bits, defined); notices."""

    windows: dict[str, tuple[int, list[bytearray]]]
    policies: Policies
    lanes: list[tuple[int, bool]]
    registers: dict[int, int] = field(default_factory=dict)
    noticed: bool = False

    def load(self, o: Operand, channel: int, offset: int) -> int:
        first, rows = self.windows[o.region]
        at = offset - first
        return int.from_bytes(rows[o.partition + channel][at : at + o.size], "little")

    def store(self, o: Operand, channel: int, offset: int, code: int) -> None:
        first, rows = self.windows[o.region]
        at = offset - first
        rows[o.partition + channel][at : at + o.size] = code.to_bytes(o.size, "little")

    def read(self, o: Operand, channels: int) -> list[list[int]]:
        """Codes of every element: channel by channel, in stream order."""
        first, rows = self.windows[o.region]
        places, size = [at - first for at in o.offsets()], o.size
        return [
            [int.from_bytes(row[at : at + size], "little") for at in places]
            for row in rows[o.partition : o.partition + channels]
        ]

    def hub(self, o: Operand, channels: int) -> list[list[int]]:
        """As `read`, widened to fp32 bits."""
        return [[self.widen(code, o.dtype) for code in row] for row in self.read(o, channels)]

    def write(self, o: Operand, rows: Iterable[Iterable[int]]) -> None:
        """Store codes; the last write to a place wins."""
        places = o.offsets()
        for c, row in enumerate(rows):
            for at, code in zip(places, row, strict=True):
                self.store(o, c, at, code)

    def widen(self, code: int, dtype: int) -> int:
        return widen(code, dtype, self.policies)

    def narrow(self, bits: int, dtype: int) -> int:
        return narrow(bits, dtype, self.policies)

    def accumulated(self, lane: int) -> int:
        """The value of a lane; undefined ones give the canonical NaN and a notice."""
        bits, defined = self.lanes[lane]
        self.noticed |= not defined
        return bits if defined else CANONICAL


@dataclass
class Case:
    """One instruction: its record's fields, which operands hold what, and what it does."""

    name: str
    fields: dict[str, Any]
    effect: Callable[[Model], None]
    sources: list[Operand] = field(default_factory=list)
    registers: dict[int, int] = field(default_factory=dict)
    fill: dict[int, Callable[[random.Random], int]] = field(default_factory=dict)
    """Position of a source to what draws its codes, where the usual ones will not do."""
    engine: str = "dve"
    """Whose accumulators are compared."""


class Maker:
    """Draws operands for one generation and set of policies."""

    def __init__(self, gen: str, policies: Policies, seed: str, elements: int = 600) -> None:
        self.gen, self.policies, self.elements = gen, policies, elements
        self.rng = random.Random(seed)
        self.first = {
            "sbuf": self.rng.choice([0, records.SBUF_ACTIVE[gen] - WINDOW]),
            "psum": self.rng.choice([0, records.PSUM_ACTIVE - WINDOW]),
        }
        self.registers: dict[int, int] = {}

    def channels(self) -> int:
        return self.rng.choice([1, 2, 3, 5, 16, 31, 32, 33, 48, 64, 65, 127, 128])

    def start(self, channels: int) -> int:
        """A legal start partition."""
        return self.rng.choice([0] if channels > 64 else [0, 64] if channels > 32 else [0, 32, 64, 96])

    def region(self) -> str:
        return "psum" if self.gen != "maverick" and self.rng.random() < 0.3 else "sbuf"

    def count(self, channels: int, *, most: int = 128) -> int:
        """Elements a channel."""
        widest = max(1, min(most, self.elements // channels))
        return self.rng.choice([n for n in (1, 2, 3, 4, 6, 8, 12, 15, 24, 30, 36, 60, 64, 128) if n <= widest])

    def split(self, count: int, dims: int) -> tuple[int, ...]:
        """Counts with this product."""
        num: list[int] = []
        for _ in range(dims - 1):
            inner = self.rng.choice([d for d in range(1, count + 1) if count % d == 0])
            num.append(inner)
            count //= inner
        return (*num, count)

    def steps(self, num: tuple[int, ...], size: int, window: int = WINDOW) -> tuple[int, ...]:
        """Steps that keep inside a window: contiguous, zero, negative, large."""
        rng = self.rng
        flat = [math.prod(num[:d]) for d in range(len(num))]
        if rng.random() < 0.4:
            return tuple(flat)
        for _ in range(30):
            steps = tuple(rng.choice([f, f, -f, 0, 1, -1, 2, f + 1, -3, 17, rng.randint(-400, 400)]) for f in flat)
            if sum((n - 1) * abs(s) for n, s in zip(num, steps, strict=True)) < window // size:
                return steps
        return tuple(flat)

    def place(self, o: Operand) -> Operand:
        """Give an operand an aligned offset so that all of it lies in the window."""
        o.offset = 0
        low, high = o.reach()
        slots = (WINDOW - (high - low)) // o.size
        o.offset = self.first[o.region] - low + o.size * self.rng.randint(0, slots)
        return o

    def operand(
        self, channels: int, dtype: int, num: tuple[int, ...], *, region: str | None = None, partition: int | None = None,
        flat: bool = False,
    ) -> Operand:  # fmt: skip
        """An operand with these counts."""
        steps = self.steps(num, SIZE[dtype])
        if flat:
            steps = tuple(math.prod(num[:d]) for d in range(len(num)))
        place = self.start(channels) if partition is None else partition
        return self.place(Operand(self.region() if region is None else region, place, 0, dtype, num, steps))

    def target(self, channels: int, dtype: int, num: tuple[int, ...], *, psum: bool = True) -> Operand:
        """A destination: in PSUM only where elements have four bytes."""
        region = self.region() if SIZE[dtype] == 4 and psum else "sbuf"
        return self.operand(channels, dtype, num, region=region)

    def pattern(self, o: Operand, channels: int) -> dict[str, Any]:
        """The field of an operand's pattern, its address taken from a register now and then, at any partition."""
        field = o.pattern(self.gen)
        if self.rng.random() < 0.15:
            o.partition = self.rng.randint(0, 128 - channels)
            field["addr"] = 0x80000000 | self.named(o)
        return field

    def named(self, o: Operand) -> int:
        """A fresh register that holds the operand's address."""
        number = len(self.registers)
        self.registers[number] = o.address(self.gen)
        return number

    def scalar(self, channels: int, dtype: int, *, psum: bool = True, inline: int | None = None) -> Scalar:
        """An immediate of any source; `inline` gives the bits of an inline one."""
        kind = self.rng.choice(["inline", "pointer", "register"])
        if kind == "inline":
            bits = self.rng.choice([self.rng.getrandbits(32), *specials(dtype, self.policies)])
            return Scalar(dtype, (bits if inline is None else inline) & ((1 << 8 * SIZE[dtype]) - 1))
        region = self.region() if psum else "sbuf"
        place = self.place(Operand(region, self.start(channels), 0, dtype))
        return Scalar(dtype, place=place, register=self.named(place) if kind == "register" else None)

    def windows(self, case: Case) -> dict[str, tuple[int, list[bytearray]]]:
        """Random bytes in which sources hold special codes every other time."""
        rng = self.rng
        windows = {}
        for region, first in self.first.items():
            data = np.random.default_rng(rng.getrandbits(63)).bytes(128 * WINDOW)
            windows[region] = (first, [bytearray(data[i * WINDOW : (i + 1) * WINDOW]) for i in range(128)])
        for position, o in enumerate(case.sources):
            codes = specials(o.dtype, self.policies)
            draw = case.fill.get(position)
            first, rows = windows[o.region]
            places, size = [at - first for at in o.offsets()], o.size
            for row in rows[o.partition : o.partition + case.fields.get("num_active_channels", 1)]:
                for at in places:
                    if draw is not None or rng.random() < 0.5:
                        code = draw(rng) if draw is not None else rng.choice(codes)
                        row[at : at + size] = code.to_bytes(size, "little")
        return windows


class Twin:
    """A NeuronCore and the model side by side."""

    def __init__(self, machine: gp.Machine, *, compiled: bool = True) -> None:
        self.machine, self.gen = machine, machine.generation.name
        self.core = gp.NeuronCore(machine, compiled=compiled)
        self.policies = Policies(**{name: machine.policies[name] for name in Policies.__annotations__})
        self.lanes = {engine: [(0, False)] * 128 for engine in self.core.accumulators}
        self.windows: dict[str, tuple[int, list[bytearray]]] = {}

    def maker(self, seed: str, elements: int = 600) -> Maker:
        """A source of operands."""
        return Maker(self.gen, self.policies, f"{seed}-{self.gen}", elements)

    def run(self, maker: Maker, case: Case) -> Model:
        """Run one instruction on both from fresh memory, and compare every byte, the accumulators and the notices."""
        core = self.core
        windows = maker.windows(case)
        for region, (first, rows) in windows.items():
            core.memory.region(region).write(as_array(rows), 0, first)
        for number, value in (maker.registers | case.registers).items():
            core.registers[number] = value
        model = Model(windows, self.policies, self.lanes.get(case.engine, []), maker.registers | case.registers)
        result = core.run(self.machine.encode(case.name, **case.fields))
        case.effect(model)
        for region, (first, rows) in windows.items():
            found = core.memory.region(region).read(0, first, shape=(128, WINDOW), dtype="uint8")
            if found.tobytes() == b"".join(rows):
                continue
            partition, byte = np.argwhere(found != as_array(rows))[0]
            raise AssertionError(
                f"{region} partition {partition} byte {first + byte}: found {found[partition, byte]}, "
                f"wanted {rows[partition][byte]} after {case}"
            )
        if case.engine in self.lanes:
            defined = core.accumulators.defined(case.engine).tolist()
            assert defined == [d for _, d in model.lanes], case
            bits = core.accumulators[case.engine].view(np.uint32).tolist()
            assert [b for b, d in zip(bits, defined, strict=True) if d] == [b for b, d in model.lanes if d], case
        assert bool(result.notices) == model.noticed, case
        return model


def as_array(rows: list[bytearray]) -> np.ndarray[Any, Any]:
    """The rows of a window: uint8, shape (128, WINDOW)."""
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)


def affine(base: int, steps: Any, num: Any, multiplier: int, channels: int) -> list[list[int]]:
    """The affine expression modulo 2^32, signed."""
    rows = []
    for c in range(channels):
        row = []
        for i in np.ndindex(*reversed(num)):
            total = base + c * multiplier + sum(int(k) * s for k, s in zip(reversed(i), steps, strict=True))
            row.append((total + (1 << 31)) % (1 << 32) - (1 << 31))
        rows.append(row)
    return rows
