"""From fields to places: addresses from words and registers, patterns to extents, immediates to bits or pointers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from attrs import frozen

from gpsimd_core.errors import Fault, Unsupported
from gpsimd_core.isa.addresses import REGISTERS
from gpsimd_core.isa.dtypes import SIZES, name_of
from gpsimd_core.isa.enums import Dtype, ImmSrc
from gpsimd_core.isa.layout import Field, RecordLayout
from gpsimd_core.machine import Machine
from gpsimd_core.memory import Memory
from gpsimd_core.placement import Immediate, Placed
from gpsimd_core.program import Record
from gpsimd_core.values import Operand

__all__ = ["Resolver", "registers_named"]


@frozen(kw_only=False)
class Resolver:
    """Resolves the operands of one record; every refusal is a Fault that names operand and reason."""

    machine: Machine
    memory: Memory
    layout: RecordLayout
    record: Record
    registers: Callable[[int, str], int]
    limit: int

    def operand(self, o: Operand, channels: int) -> Placed:
        value = self.layout.read(self.record.raw)[o.at]
        code = self.layout.number(self.record.raw, o.dtype)
        self._readable(o, code)
        if "index" in value:
            raise Unsupported(f"{o.at} by an index list", "index lists are not modelled for this instruction")
        word = value["addr"]
        if word & 0x60000000 == 0x40000000:
            raise Unsupported(f"{o.at} with counts from shape registers", "no source grounds the shape registers")
        span = channels if o.channels is None else o.channels
        if word & 0xA0000000 == 0x80000000:
            address = self._register(word & 0xFF, o.at, code, span, write=any(w is o for w in self._writes()))
        else:
            address = word & 0x1FFFFFFF
        return self._place(o.name, o.at, address, code, tuple(value["num"]), tuple(value["step"]), span)

    def _writes(self) -> Iterable[Operand]:
        return self.machine.instructions[self.record.name].writes

    def _readable(self, o: Operand, code: int) -> None:
        fmt = self.machine.formats.get(code)
        if fmt is None or not fmt.readable:
            why = fmt.missing if fmt is not None and fmt.missing else "the format has no published values"
            raise Unsupported(f"{o.at} of dtype {name_of(code)}", why, where=o.at)

    def _register(self, number: int, at: str, code: int, channels: int, *, write: bool) -> int:
        address = self.registers(number, at)
        where = f"{at}: register r{number} holds 0x{address:x}"
        found = self.memory.locate(address)
        if found is None:
            raise Fault(f"{where}, which is outside SBUF and PSUM on {self.machine.generation.name}", where=at)
        region, partition, _ = found
        size = int(SIZES[code])
        if size == 0 or address % size:
            raise Fault(f"{where}, which is not aligned to {size} bytes ({name_of(code)})", where=at)
        if partition + channels > 128:
            raise Fault(
                f"{where}, partition {partition}: with {channels} channels it runs past partition 127", where=at
            )
        if write and region.name == "psum" and size != 4:
            raise Fault(f"{where} in PSUM, where writes are 4 bytes wide; {name_of(code)} has {size}", where=at)
        return address

    def immediate(self, f: Field, channels: int) -> Immediate:
        bits = self.layout.number(self.record.raw, f.name)
        if f.source is not None:
            source = self.layout.codes(f.source, self.record.raw)
        else:
            source = int(ImmSrc.POINTER_IMMEDIATE if f.type == "PARTITION_OFFSET" else ImmSrc.INSTRUCTION_IMMEDIATE)
        if source == ImmSrc.INSTRUCTION_IMMEDIATE:
            return Immediate(source=source, bits=bits)
        code = self.layout.number(self.record.raw, f.dtype) if f.dtype else int(Dtype.FP32)
        if source == ImmSrc.REG_PTR_IMMEDIATE:
            address = self._register(bits & 0xFF, f.name, code, channels, write=False)
        else:
            address = bits
        if not self.machine.formats[code].readable:
            raise Unsupported(f"{f.name} of dtype {name_of(code)}", self.machine.formats[code].missing, where=f.name)
        return Immediate(
            source=source, bits=bits, placed=self._place(f.name, f.name, address, code, (1,), (1,), channels)
        )

    def _place(
        self, name: str, at: str, address: int, code: int, num: tuple[int, ...], step: tuple[int, ...], channels: int
    ) -> Placed:
        found = self.memory.locate(address)
        if found is None:
            raise Fault(f"{at}: address 0x{address:x} is outside SBUF and PSUM", where=at)
        region, partition, offset = found
        size = int(SIZES[code])
        elements = 1
        for n in num:
            elements *= n
        if elements > self.limit:
            raise Fault(f"{at} has {elements} elements a channel; the limit is {self.limit} (--max-elements)", where=at)
        reach = [(n - 1) * s * size for n, s in zip(num, step, strict=True)]
        low = offset + sum(r for r in reach if r < 0)
        high = offset + sum(r for r in reach if r > 0) + size
        if low < 0 or high > region.active:
            raise Fault(
                f"{at} touches bytes {low} to {high - 1} of its partitions; "
                f"a {region.name.upper()} partition of {self.machine.generation.name} has bytes 0 to {region.active - 1}",
                where=at,
            )
        if partition + channels > 128:
            raise Fault(f"{at}: {channels} channels from partition {partition} run past partition 127", where=at)
        return Placed(
            operand=name, at=at, region=region.name, partition=partition, offset=offset,
            base=region.start + partition * region.pitch + offset, pitch=region.pitch, size=size, code=code,
            num=num, step=step, channels=channels, elements=elements, low=low, high=high,
        )  # fmt: skip


def registers_named(layout: RecordLayout, record: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """The address registers that a record's operands and immediates read."""
    named = []
    row = record.view(layout.numpy)[0]
    for f in layout.fields:
        if f.kind == "tensor" and int(row[f"{f.name}.start_addr"]) & 0xA0000000 == 0x80000000:
            named.append(int(row[f"{f.name}.start_addr"]) & 0xFF)
        if f.kind == "imm" and f.source and layout.codes(f.source, record) == ImmSrc.REG_PTR_IMMEDIATE:
            named.append(int(row[f.name]) & 0xFF)
    return tuple(n for n in named if n < REGISTERS)
