"""From fields to places: addresses from words and registers, patterns to extents, immediates to bits or pointers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from attrs import evolve, frozen

from gpsimd_core.errors import Fault, Unsupported
from gpsimd_core.isa.addresses import REGISTERS
from gpsimd_core.isa.dtypes import SIZES, name_of
from gpsimd_core.isa.enums import Dtype, ImmSrc
from gpsimd_core.isa.layout import Field, RecordLayout
from gpsimd_core.machine import Machine
from gpsimd_core.memory import Memory
from gpsimd_core.placement import GROUP, Immediate, Placed, read_codes
from gpsimd_core.program import Record
from gpsimd_core.values import Operand

__all__ = ["Resolver", "by_index", "registers_named"]


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
            return self._by_index(o, value, code, channels if o.channels is None else o.channels)
        word = value["addr"]
        if word & 0x60000000 == 0x40000000:
            raise Unsupported(f"{o.at} with counts from shape registers", "no source grounds the shape registers")
        span = channels if o.channels is None else o.channels
        if word & 0xA0000000 == 0x80000000:
            address = self._register(word & 0xFF, o.at, code, span, write=any(w is o for w in self._writes()))
        else:
            address = word & 0x1FFFFFFF
        return self._place(o.name, o.at, address, code, tuple(value["num"]), tuple(value["step"]), span)

    def _by_index(self, o: Operand, value: Mapping[str, Any], code: int, channels: int) -> Placed:
        """An operand whose elements an index list names.

        The list holds unsigned 16-bit element numbers, counted from the data address along the partition. Each 16
        channels have a list of their own, on 16 partitions: number i stands on partition i mod 16 of them, as element
        i // 16.
        """
        if value["index"] >> 31:
            raise Unsupported(
                f"{o.at} by an index list whose address a register holds", "no source says how", where=o.at
            )
        count, size = value["count"], int(SIZES[code])
        groups = -(-channels // GROUP)
        listed = self._place(
            f"{o.name}_index", f"{o.at}.index", value["index"] & 0x1FFFFFFF, int(Dtype.UINT16), (-(-count // GROUP),), (1,),
            groups * GROUP,
        )  # fmt: skip
        rows = read_codes(self.memory, listed).reshape(groups, GROUP, -1).transpose(0, 2, 1).reshape(groups, -1)
        numbers = rows[:, :count].astype(np.int64)
        first = self._place(o.name, o.at, value["data"], code, (1,), (1,), channels)
        beyond = np.argwhere(first.offset + (numbers + 1) * size > self.memory.region(first.region).active)
        if len(beyond):
            group, k = (int(n) for n in beyond[0])
            raise Fault(
                f"{o.at}: index {numbers[group, k]} (number {k} of the list of channels {GROUP * group} to "
                f"{min(GROUP * group + GROUP, channels) - 1}) leaves the partition's "
                f"{self.memory.region(first.region).active} bytes",
                where=o.at,
            )
        dims = self.layout.by_name[o.at].dims - 1
        return evolve(
            first, num=(count, *(1,) * dims), step=(1, *(count,) * dims), elements=count, index_list=listed,
            indices=tuple(tuple(row) for row in numbers.tolist()), low=first.offset + int(numbers.min()) * size,
            high=first.offset + (int(numbers.max()) + 1) * size,
        )  # fmt: skip

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


def by_index(layout: RecordLayout, record: np.ndarray[Any, Any]) -> bool:
    """Whether an index list names the elements of some operand."""
    row = record.view(layout.numpy)[0]
    return any(f.union and int(row[f"{f.name}.start_addr"]) >> 29 & 1 for f in layout.fields)


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
