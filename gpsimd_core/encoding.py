"""One record from names, numbers and tensors: what is left out takes the one value that its rules allow, else zero."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gpsimd_core.errors import BadValue
from gpsimd_core.isa.dtypes import BY_CODE, code_of
from gpsimd_core.isa.enums import Dtype, ImmSrc
from gpsimd_core.isa.layout import RECORD_BYTES, Columns, Field, RecordLayout
from gpsimd_core.memory import flat_address
from gpsimd_core.tensors import BadField, Bits, Tensor, dtype_text

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["base_record", "derived", "encode", "immediate_bits", "layout_of", "pattern"]


def layout_of(machine: Machine, opcode: int, fields: Mapping[str, Any]) -> RecordLayout:
    """The layout of a record with these fields: that of its opcode, or what its sub-opcode selects."""
    layout = machine.layouts[opcode]
    if layout.otherwise is None:
        return layout
    leaf, value, other = layout.otherwise
    trial = base_record(machine, opcode, layout)
    if leaf in fields:
        layout.write(trial, leaf, fields[leaf])
    return layout if layout.number(trial, leaf) == value else other


def base_record(machine: Machine, opcode: int, layout: RecordLayout) -> np.ndarray[Any, Any]:
    """A record in which every field has the one number that its rules allow, else zero: uint8, shape (64,)."""
    return _template(machine, opcode, layout)[0].copy()


def derived(machine: Machine, opcode: int, columns: Columns) -> dict[str, np.ndarray[Any, Any]]:
    """What rules force by other fields of a record: leaf to one number a record, 0 where the leaf cannot hold it."""
    found = {}
    for name, value in _template(machine, opcode, columns.layout)[1]:
        low, high = columns.layout.leaves[name].limits()
        numbers = value(columns)
        found[name] = np.where((numbers >= low) & (numbers <= high), numbers, 0)
    return found


def _template(machine: Machine, opcode: int, layout: RecordLayout) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """Of one opcode: the record of all forced numbers, and (leaf, function) of those that other fields decide."""
    cache = machine.facts.templates
    key = opcode if layout is machine.layouts[opcode] else ~opcode
    found = cache.get(key)
    if found is None:
        record, functions = np.zeros(RECORD_BYTES, np.uint8), []
        record[0] = opcode
        for bound in machine.books[machine.opcodes[opcode].name].rules:
            for name, value in bound.rule.default:
                if name not in layout.leaves:
                    continue
                if callable(value):
                    functions.append((name, value))
                else:
                    layout.store(record, name, value)
        found = cache[key] = record, functions
    return found


def encode(machine: Machine, name: str, /, **fields: Any) -> bytes:
    """One record.

    Args:
        machine: the generation.
        name: instruction name or alias.
        fields: field name to number, enum member or its name; patterns as `Tensor` or as a dict of `addr`, `step`
            and `num`; immediates as float (a value of their dtype), int (of an integer dtype), `Bits`, or a `Tensor`
            that holds one element a partition; addresses as number or `Tensor`; single leaves by their dotted name
            (`src0.num_elem[1]`). What is left out takes the one value its rules allow, else zero; dtypes and
            num_active_channels follow from the tensors, element counts from the patterns.

    Returns:
        64 bytes. Nothing is judged beyond what a field can hold: see `validate`.

    Raises:
        UsageError: unknown instruction.
        BadField: unknown field, a value that the field cannot hold, tensors that do not fit.
    """
    opcode = machine.opcode_of(name)
    layout = layout_of(machine, opcode, fields)
    record = base_record(machine, opcode, layout)
    implied = _from_tensors(machine, opcode, layout, fields)
    plain = {k: v for k, v in fields.items() if not isinstance(v, Tensor)}
    late = []
    for key, value in {**implied, **plain}.items():
        f = layout.by_name.get(key)
        if f is not None and f.kind in ("imm", "f32"):
            late.append((f, value))  # its bits depend on the dtype and source, which any field may give
            continue
        try:
            _write(layout, record, key, f, value)
        except BadValue as e:
            raise BadField(str(e), key) from None
    for f, value in late:
        try:
            layout.write(record, f.name, immediate_bits(machine, layout, record, f, value))
        except BadValue as e:
            raise BadField(str(e), f.name) from None
    for name, numbers in derived(machine, opcode, Columns(layout, record[None])).items():
        if name not in fields:
            layout.store(record, name, int(numbers[0]))
    return record.tobytes()


def _write(layout: RecordLayout, record: np.ndarray[Any, Any], key: str, f: Field | None, value: Any) -> None:
    leaf, _, index = key.partition("[")
    if f is None and leaf in layout.leaves and "." in leaf:
        if index:
            value = _with_element(layout, record, leaf, index.rstrip("]"), value)
        layout.store(record, leaf, value)
        return
    if f is not None and f.kind in ("tensor", "data") and isinstance(value, Mapping):
        value = _padded(f, value)
    if f is not None and f.code is Dtype and not isinstance(value, (int, np.integer)):
        named = code_of(dtype_text(value))
        value = value if named is None else named
    layout.write(record, key, value)


def _with_element(layout: RecordLayout, record: np.ndarray[Any, Any], leaf: str, index: str, value: Any) -> list[Any]:
    found = layout.leaves[leaf]
    if not index.isdigit() or int(index) >= found.count or not found.is_array:
        raise BadValue(f"{leaf} has elements 0 to {found.count - 1}, not {index!r}")
    numbers = [int(n) for n in record.view(layout.numpy)[0][leaf]]
    numbers[int(index)] = value
    return numbers


def _from_tensors(machine: Machine, opcode: int, layout: RecordLayout, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What the tensors among `fields` say: patterns and addresses, dtypes, where immediates come from, channels."""
    implied: dict[str, Any] = {}
    rows: dict[str, int] = {}
    instruction = machine.instructions.get(machine.opcodes[opcode].name)
    spans = {o.at: o.channels for o in (*instruction.reads, *instruction.writes)} if instruction else {}
    for name, value in fields.items():
        if not isinstance(value, Tensor):
            continue
        f = layout.by_name.get(name)
        try:
            if f is None or f.kind not in ("tensor", "imm", "addr"):
                takers = ", ".join(f.name for f in layout.fields if f.kind in ("tensor", "imm", "addr"))
                raise BadValue(f"{name} takes no tensor; these fields of {layout.name} do: {takers or 'none'}")
            if f.kind == "tensor":
                implied[name] = pattern(machine, f, value)
            else:
                address = flat_address(machine.generation.geometry, value.region, value.partition, value.offset)
                implied[name] = Bits(address)
                if f.source and layout.leaves[f.source].code is not None:
                    implied[f.source] = "POINTER_IMMEDIATE"
            if f.dtype:
                given = implied.setdefault(f.dtype, value.code)
                if given != value.code:
                    raise BadValue(f"{name} is {value.dtype}, but {f.dtype} is already {BY_CODE[given].name}")
        except BadValue as e:
            raise BadField(str(e), name) from None
        if f.kind == "tensor" and spans.get(name) is None:
            rows[name] = value.shape[0]
    if rows and "num_active_channels" in layout.by_name:
        if len(set(rows.values())) > 1 and "num_active_channels" not in fields:
            told = ", ".join(f"{name} has {n}" for name, n in rows.items())
            raise BadField(f"tensors of one instruction have the same number of partitions: {told}", list(rows)[-1])
        implied["num_active_channels"] = next(iter(rows.values()))
    return implied


def pattern(machine: Machine, f: Field, tensor: Tensor) -> dict[str, Any]:
    """The pattern of a tensor in a slot of `f.dims` dimensions.

    Raises:
        BadValue: it needs more dimensions than the slot has, or a count or step beyond what they hold.
    """
    address = flat_address(machine.generation.geometry, tensor.region, tensor.partition, tensor.offset)
    shape = tensor.shape[1:] or (1,)
    steps = tensor.step or tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    if len(steps) != len(shape):
        raise BadValue(f"step has {len(steps)} numbers for {len(shape)} axes after the first")
    dims = [(n, s) for n, s in zip(reversed(shape), reversed(steps), strict=True)]
    while len(dims) > f.dims:
        merged = _merge_once(dims)
        if merged is None:
            raise BadValue(
                f"{f.name} has {f.dims} dimensions; shape {tensor.shape} with steps {steps} needs {len(dims)}"
            )
        dims = merged
    dims = [part for n, s in dims for part in _split(f.name, n, s)]
    if len(dims) > f.dims:
        raise BadValue(
            f"{f.name} has {f.dims} dimensions; shape {tensor.shape} needs {len(dims)} (an axis over 65535 takes two)"
        )
    return _padded(f, {"addr": address, "step": [s for _, s in dims], "num": [n for n, _ in dims]})


def _merge_once(dims: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
    for i in range(len(dims) - 1):
        (n, s), (m, t) = dims[i], dims[i + 1]
        if n == 1 or m == 1 or t == n * s:
            joined = (m, t) if n == 1 else (n, s) if m == 1 else (n * m, s)
            return [*dims[:i], joined, *dims[i + 2 :]]
    return None


def _split(name: str, n: int, s: int) -> list[tuple[int, int]]:
    if n <= 65535:
        return [(n, s)]
    largest = min(65535, 32767 // max(abs(s), 1))
    inner = next((a for a in range(largest, 1, -1) if n % a == 0 and n // a <= 65535), None)
    if inner is None:
        raise BadValue(f"{name}: an axis of {n} does not fit a count of 65535 and has no factor that does")
    return [(inner, s), (n // inner, inner * s)]


def _padded(f: Field, value: Mapping[str, Any]) -> dict[str, Any]:
    """A pattern with step 1 and count 1 in the dimensions that it leaves out."""
    full = dict(value)
    for part in ("step", "num"):
        if part in full:
            given = list(full[part])
            if len(given) > f.dims:
                raise BadValue(f"{f.name}.{part} has {len(given)} numbers; the slot has {f.dims} dimensions")
            full[part] = given + [1] * (f.dims - len(given))
    if "num" in full and "step" not in full:
        counts = list(value["num"])
        full["step"] = [math.prod(counts[:i]) for i in range(len(counts))] + [1] * (f.dims - len(counts))
    return full


def immediate_bits(machine: Machine, layout: RecordLayout, record: np.ndarray[Any, Any], f: Field, value: Any) -> int:
    """The 32 bits of an immediate: a value of its dtype when inline, an address or register number otherwise.

    Raises:
        BadValue: a whole number where a floating value is wanted, or the reverse; out of range.
    """
    if isinstance(value, Bits):
        return int(value)
    inline = not f.source or layout.codes(f.source, record) == ImmSrc.INSTRUCTION_IMMEDIATE
    code = Dtype.FP32 if f.kind == "f32" else layout.number(record, f.dtype) if f.dtype else None
    floating = code is not None and not (
        BY_CODE[member].name.startswith(("int", "uint")) if (member := _dtype(code)) else True
    )
    if isinstance(value, (float, np.floating)):
        if not inline:
            raise BadValue(f"{f.name} is {value!r}, but it comes from memory: an address is needed")
        if code is not None and not floating:
            raise BadValue(f"{f.name} is {value!r}, but its dtype is {_dtype_name(code)}: a whole number is needed")
        fmt = machine.formats.get(int(code)) if code is not None else None
        if fmt is None or fmt.name == "fp32":
            with np.errstate(over="ignore"):
                return int(np.float32(value).view(np.uint32))
        from gpsimd_core.isa.convert import convert

        with np.errstate(over="ignore"):
            bits = convert(np.array([value], np.float32), fmt.name)
        return int(bits.view(f"u{bits.itemsize}")[0])
    if isinstance(value, (int, np.integer)):
        number = int(value)
        if inline and floating and number:
            raise BadValue(
                f"{f.name} is {number}, but its dtype is {_dtype_name(int(code or 0))}: write {number}.0 for the value, "
                f"0x{number & 0xFFFFFFFF:x} or Bits(0x{number & 0xFFFFFFFF:x}) for the bits"
            )
        if not -(1 << 31) <= number < 1 << 32:
            raise BadValue(f"{f.name} is {number}; it holds 32 bits")
        return number & 0xFFFFFFFF
    raise BadValue(f"{f.name} takes a number, not {value!r}")


def _dtype(code: int) -> Dtype | None:
    return Dtype._value2member_map_.get(int(code))  # type: ignore[return-value]


def _dtype_name(code: int) -> str:
    found = _dtype(code)
    return found.name if found else f"0x{code:X}"
