"""Random 0xEA and 0x9B instructions as plain values, legal by construction, and their 64 bytes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import records
from records import (
    BF16,
    E3M4,
    E4M3,
    E5M2,
    FP16,
    FP32,
    FP32R,
    INT8,
    INT16,
    INT32,
    PSUM_ACTIVE,
    SBUF_ACTIVE,
    SIZE,
    UINT8,
    UINT16,
    UINT32,
)
from value_model import FLOATS, Operand, Policies

WINDOW = 1024
"""Bytes of each partition that a case may touch, at the start or at the end of the partition."""

PREDICATES = (INT8, UINT8, INT16, UINT16, INT32, UINT32)
DATA = (INT8, UINT8, INT16, UINT16, BF16, FP16, FP32, E3M4, E4M3, E5M2)
OUT = (*DATA, INT32, UINT32, FP32R)
READ_BACK = (BF16, FP16, FP32, FP32R, E3M4, E4M3, E5M2)


@dataclass
class SelectReduce:
    """One 0xEA."""

    index: int
    channels: int
    src0: Operand
    src1: Operand
    dst: Operand
    imm: Operand | int
    command: int
    reverse: int
    registers: dict[str, int]
    """Operand, or `imm`, to the address register that holds its address."""


@dataclass
class ReadAccumulator:
    """One 0x9B."""

    index: int
    channels: int
    dst: Operand
    negated: int


Case = SelectReduce | ReadAccumulator


def address(gen: str, o: Operand) -> int:
    """Flat address of an operand."""
    return records.psum(o.partition, o.offset) if o.region == "psum" else records.sbuf(gen, o.partition, o.offset)


def pack(gen: str, case: Case) -> bytes:
    """The record."""
    if isinstance(case, ReadAccumulator):
        return records.read_accumulator(
            gen, dtype=case.dst.dtype, negated=case.negated, num_active_channels=case.channels,
            dst__addr=address(gen, case.dst),
        )  # fmt: skip
    fields: dict[str, Any] = {}
    for name in ("src0", "src1", "dst"):
        o = getattr(case, name)
        register = case.registers.get(name)
        fields[f"{name}__addr"] = address(gen, o) if register is None else 0x80000000 | register
        for d in (0, 1):
            fields[f"{name}__step{d}"], fields[f"{name}__num{d}"] = o.step[d], o.num[d]
    if isinstance(case.imm, Operand):
        register = case.registers.get("imm")
        fields |= {"imm0_src": 1 if register is None else 2, "imm0_dtype": case.imm.dtype}
        fields["imm0"] = address(gen, case.imm) if register is None else register
    else:
        fields["imm0"] = case.imm
    return records.select_reduce(
        gen, src0_dtype=case.src0.dtype, src1_dtype=case.src1.dtype, out_dtype=case.dst.dtype,
        num_active_channels=case.channels, accumulator_cmd=case.command, reverse_operands=case.reverse, **fields,
    )  # fmt: skip


def register_values(gen: str, case: Case) -> dict[int, int]:
    """Address registers that a case names, and what they hold."""
    if isinstance(case, ReadAccumulator):
        return {}
    return {number: address(gen, getattr(case, name)) for name, number in case.registers.items()}  # type: ignore[arg-type]


def specials(dtype: int, policies: Policies) -> list[int]:
    """Codes worth meeting: zeros, subnormals, extremes, infinities, quiet and signalling NaN of both signs, ties."""
    bits = 8 * SIZE[dtype]
    if dtype in (INT8, UINT8, INT16, UINT16, INT32, UINT32):
        return [0, 1, 1 << (bits - 1), (1 << (bits - 1)) - 1, (1 << bits) - 1]
    fmt = FLOATS["fp32"] if dtype == FP32R else policies.float_of(dtype)
    top = (1 << (bits - 1)) - 1
    found = [0, 1, fmt.nan, top, fmt.largest, fmt.largest - 1, 1 << fmt.mantissa, (1 << fmt.mantissa) - 1]
    found += [fmt.infinity, fmt.infinity + 1] if fmt.infinity is not None else []
    if dtype == FP32:  # ties and overflows of the narrower formats
        found += [0x3F808000, 0x3F818000, 0x3F801000, 0x477FF000, 0x43780000, 0x43E80000, 0x41780000, 0x47700000]
        found += [0x33800000, 0x33000000, 0x7F7FFFFF, 0x4F000000, 0x4F800000, 0x42FF0000, 0x3F000000, 0x437F8000]
    return found + [code | 1 << (bits - 1) for code in found]


class Maker:
    """Draws programs for one generation and set of policies."""

    def __init__(self, gen: str, policies: Policies, seed: str, elements: int = 4096) -> None:
        self.gen, self.policies, self.elements = gen, policies, elements
        self.rng = random.Random(seed)
        self.first = {
            "sbuf": self.rng.choice([0, SBUF_ACTIVE[gen] - WINDOW]),
            "psum": self.rng.choice([0, PSUM_ACTIVE - WINDOW]),
        }

    def program(self) -> list[Case]:
        """One to four instructions."""
        make = [self.select_reduce, self.select_reduce, self.select_reduce, self.read_accumulator]
        return [self.rng.choice(make)(index) for index in range(self.rng.choice([1, 2, 3, 4]))]

    def region(self) -> str:
        return "psum" if self.gen != "maverick" and self.rng.random() < 0.3 else "sbuf"

    def start(self, channels: int) -> int:
        """A legal start partition."""
        return self.rng.choice([0] if channels > 64 else [0, 64] if channels > 32 else [0, 32, 64, 96])

    def channels(self) -> int:
        return self.rng.choice([1, 2, 3, 5, 16, 31, 32, 33, 48, 64, 65, 127, 128])

    def pattern(self, count: int, size: int, *, spread: bool) -> tuple[tuple[int, int], tuple[int, int]]:
        """Counts with this product, and steps that keep inside a window."""
        rng = self.rng
        inner = rng.choice([d for d in range(1, count + 1) if count % d == 0])
        num = (inner, count // inner)
        if not spread or rng.random() < 0.3:
            return num, (1, inner)
        room = WINDOW // size
        steps = (0, 0)
        for _ in range(20):
            steps = (
                rng.choice([-7, -2, -1, 0, 1, 1, 2, 3, 50]),
                rng.choice([-40, -inner, -1, 0, 1, inner, inner + 1, 64]),
            )
            if sum((n - 1) * abs(s) for n, s in zip(num, steps, strict=True)) < room:
                return num, steps
        return num, (0, 0)

    def place(self, o: Operand) -> Operand:
        """Give an operand an aligned offset so that all of it lies in the window."""
        o.offset = 0
        low, high = o.reach()
        first = self.first[o.region]
        slots = (WINDOW - (high - low)) // o.size
        o.offset = first - low + o.size * self.rng.randint(0, slots)
        return o

    def operand(self, count: int, dtype: int, region: str, partition: int, *, flat: bool) -> Operand:
        num, step = self.pattern(count, SIZE[dtype], spread=not flat)
        return self.place(Operand(region, partition, 0, dtype, num, step))

    def select_reduce(self, index: int) -> SelectReduce:
        rng = self.rng
        channels = self.channels()
        widest = min(WINDOW // 4, max(1, (self.elements - 1) // channels))
        count = min(widest, rng.choice([1, 2, 4, 6, 7, 12, 24, 30, 60, 128]))
        data = rng.choice(DATA)
        flat = rng.random() < 0.4  # the form that most programs have, for which a kernel may have a path of its own
        out = data if flat or rng.random() < 0.4 else rng.choice(OUT)
        regions = rng.choice([("sbuf", "sbuf"), (self.region(), "sbuf"), ("sbuf", self.region())])
        start = self.start(channels)
        starts = (start, start) if regions == ("sbuf", "sbuf") else (self.start(channels), self.start(channels))
        src0 = self.operand(count, rng.choice(PREDICATES), regions[0], starts[0], flat=flat)
        src1 = self.operand(count, data, regions[1], starts[1], flat=flat)
        region = self.region() if SIZE[out] == 4 else "sbuf"
        dst = self.operand(count, out, region, self.start(channels), flat=flat)
        if rng.random() < 0.2:  # in place, or half a step beside it
            beside = rng.choice([src0, src1])
            if SIZE[out] == 4 or beside.region == "sbuf":
                dst = Operand(beside.region, beside.partition, 0, out, beside.num, beside.step)
                dst.offset = beside.offset - beside.offset % SIZE[out]
                if not self.inside(dst):
                    self.place(dst)
        imm: Operand | int = rng.choice([rng.getrandbits(32), *specials(FP32, self.policies)])
        if rng.random() < 0.5:
            imm = self.place(Operand(self.region(), self.start(channels), 0, rng.choice((*DATA, INT32, UINT32))))
        case = SelectReduce(index, channels, src0, src1, dst, imm, rng.choice([0, 2, 3]), rng.choice([0, 1]), {})
        self.name_registers(case)
        return case

    def inside(self, o: Operand) -> bool:
        low, high = o.reach()
        return self.first[o.region] <= low and high <= self.first[o.region] + WINDOW

    def name_registers(self, case: SelectReduce) -> None:
        """Take some addresses from registers, which waives the start partition."""
        for name in ("src0", "src1", "dst", "imm"):
            o = getattr(case, name)
            if isinstance(o, Operand) and self.rng.random() < 0.15:
                case.registers[name] = len(case.registers) + 8 * case.index
                o.partition = self.rng.randint(0, 128 - case.channels)

    def read_accumulator(self, index: int) -> ReadAccumulator:
        channels, dtype = self.channels(), self.rng.choice(READ_BACK)
        region = self.region() if SIZE[dtype] == 4 else "sbuf"
        dst = self.place(Operand(region, self.start(channels), 0, dtype))
        return ReadAccumulator(index, channels, dst, self.rng.choice([0, 1]))

    def contents(self, program: list[Case]) -> dict[str, tuple[int, list[bytearray]]]:
        """Windows of random bytes in which sources hold special codes and predicates are zero every other time."""
        rng = self.rng
        windows = {
            r: (first, [bytearray(rng.randbytes(WINDOW)) for _ in range(128)]) for r, first in self.first.items()
        }
        for case in program:
            if isinstance(case, ReadAccumulator):
                continue
            sources = [case.src1, case.src0, *([case.imm] if isinstance(case.imm, Operand) else [])]
            for o in sources:
                codes = specials(o.dtype, self.policies)
                first, rows = windows[o.region]
                offsets = o.offsets()
                for c in range(case.channels):
                    for at in offsets:
                        if rng.random() < 0.5:
                            code = 0 if o is case.src0 else rng.choice(codes)
                            rows[o.partition + c][at - first : at - first + o.size] = code.to_bytes(o.size, "little")
        return windows
