"""Worked examples of whole instructions: read strictly, then executed on a NeuronCore of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from gpsimd_core.errors import (
    BadInput,
    BadValue,
    Fault,
    NotExecutable,
    PluginTrouble,
    Unsupported,
    UsageError,
    Violated,
)
from gpsimd_core.isa.formats import Format
from gpsimd_core.vectors import values
from gpsimd_core.vectors.report import FAILED, NOT_RUN, PASSED, UNSUPPORTED, Difference, Outcome
from gpsimd_core.vectors.strict import Place, choice, table

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["Example", "Step", "TensorData", "read_examples", "run_example"]

MachineLoader = Callable[[str, Mapping[str, Any]], "Machine"]
"""(profile, policies) -> Machine."""

ALIGN = 64
"""Bytes between the starts of two tensors are a multiple of this."""

SOURCES, RESULTS = ("src0", "src1", "src", "pred", "imm0", "imm1"), ("dst", "accumulator")


@frozen(kw_only=True, eq=False)
class TensorData:
    """A tensor with its contents: codes of shape (channels, elements)."""

    dtype: Format
    codes: NDArray[Any]


@frozen(kw_only=True, eq=False)
class Step:
    """One instruction of an example."""

    opcode: int
    fields: dict[str, Any]
    inputs: dict[str, TensorData]
    before: dict[str, TensorData]
    expected: dict[str, TensorData]


@frozen(kw_only=True, eq=False)
class Example:
    """Instructions in order on one NeuronCore."""

    id: str
    group: str
    profile: str
    policies: dict[str, str | int]
    origin: str
    steps: tuple[Step, ...]
    place: Place


def read_examples(examples: list[Any], file: str) -> Iterator[Example]:
    """Every `[[example]]`.

    Raises:
        BadInput: anything that the format does not allow. Field names and enum members are held against the layout of
            the opcode when the example is run, because only a machine knows it.
    """
    seen = set()
    required = {"id": str, "group": str, "origin": str, "checked": bool, "source": str, "step": list}
    optional = {"profile": str, "policies": dict, "chosen": str, "note": str}
    for number, raw in enumerate(examples, 1):
        place = Place(file, f"example {raw.get('id', number) if isinstance(raw, dict) else number}")
        table(raw, place, required, optional)
        if raw["id"] in seen:
            raise place.wrong("the id is used twice")
        seen.add(raw["id"])
        choice(raw["origin"], place, "origin", ("vendor", "derived"))
        if not raw["step"]:
            raise place.wrong("there is no step")
        yield Example(
            id=raw["id"],
            group=raw["group"],
            profile=choice(raw.get("profile", "reference"), place, "profile", ("reference", "nki")),
            policies=values.policies(raw.get("policies", {}), place),
            origin=raw["origin"],
            steps=tuple(_step(step, place.at(f"step {k}")) for k, step in enumerate(raw["step"], 1)),
            place=place,
        )


def _step(raw: Any, place: Place) -> Step:
    table(raw, place, {"opcode": int, "fields": dict, "inputs": dict}, {"before": dict, "expected": dict})
    if not 0 <= raw["opcode"] < 256:
        raise place.wrong(f"opcode is {raw['opcode']}; it is a byte")
    for name, value in raw["fields"].items():
        if type(value) not in (int, float, str):
            raise place.wrong(f"field {name} is {value!r}; it must be a number, a member's name or eight hex digits")
    step = Step(
        opcode=raw["opcode"],
        fields=raw["fields"],
        inputs=_tensors(raw["inputs"], SOURCES, place.at("inputs")),
        before=_tensors(raw.get("before", {}), RESULTS, place.at("before")),
        expected=_tensors(raw.get("expected", {}), RESULTS, place.at("expected")),
    )
    if len({len(tensor.codes) for tensor in step.inputs.values()}) > 1:
        raise place.at("inputs").wrong("all tensors of a step have the same number of channels")
    before, after = step.before.get("dst"), step.expected.get("dst")
    if before and after and (before.dtype, before.codes.shape) != (after.dtype, after.codes.shape):
        raise place.wrong("dst has another dtype or shape before than expected")
    for where, tensors in (("before", step.before), ("expected", step.expected)):
        lanes = tensors.get("accumulator")
        if lanes and (lanes.dtype.name, lanes.codes.shape[1]) != ("fp32", 1):
            raise place.at(where).wrong("an accumulator is one fp32 value a channel")
    return step


def _tensors(raw: dict[str, Any], allowed: tuple[str, ...], place: Place) -> dict[str, TensorData]:
    found = {}
    for name, tensor in raw.items():
        choice(name, place, "operand", allowed)
        here = place.at(name)
        table(tensor, here, {"dtype": str, "rows": list}, {})
        form = values.dtype(tensor["dtype"], here, "dtype")
        rows: list[list[int]] = []
        for item in tensor["rows"]:
            table(item, here, {"n": int, "row": type(item.get("row")) if isinstance(item, dict) else list}, {})
            if item["n"] < 1:
                raise here.wrong(f"n is {item['n']}; it counts channels")
            rows += [_row(item["row"], form, here)] * item["n"]
        if not 1 <= len(rows) <= 128 or len({len(row) for row in rows}) != 1:
            raise here.wrong("a tensor has 1 to 128 channels, all of the same number of elements")
        found[name] = TensorData(dtype=form, codes=np.array(rows, form.code_dtype))
    return found


def _row(raw: Any, form: Format, place: Place) -> list[int]:
    if isinstance(raw, list):
        if not raw:
            raise place.wrong("a row is empty")
        return [values.code(value, form, place, "row") for value in raw]
    keys = ("start", "step", "n") if isinstance(raw, dict) and "start" in raw else ("rep", "n")
    if not isinstance(raw, dict) or set(raw) != set(keys):
        raise place.wrong(f"row is {raw!r}; expected a list, rep and n, or start, step and n")
    if type(raw["n"]) is not int or raw["n"] < 1:
        raise place.wrong(f"n is {raw['n']!r}; it counts elements")
    if "rep" in raw:
        return [values.code(raw["rep"], form, place, "rep")] * raw["n"]
    start, step = raw["start"], raw["step"]
    if type(start) is not type(step) or type(start) not in (int, float):
        raise place.wrong("start and step are numbers of one kind")
    return [values.code(start + k * step, form, place, "row") for k in range(raw["n"])]


def run_example(example: Example, machine_loader: MachineLoader, compiled: bool) -> Outcome:
    """Execute an example on a fresh NeuronCore, with plain functions and, with `compiled`, with compiled ones too.

    Raises:
        BadInput: a field, member or operand that the opcode's layout does not have.
    """
    status, reason = PASSED, ""
    differences: list[Difference] = []
    try:
        machine = machine_loader(example.profile, example.policies)
        names = [machine.opcodes[machine.opcode_of(step.opcode)].name for step in example.steps]
        bare = [name for name in names if name not in machine.instructions]
        if bare:
            raise PluginTrouble(f"{bare[0]} has no kernel on {machine.generation.name}")
        for fast in (False, True) if compiled else (False,):
            how = ("compiled" if fast else "uncompiled") if compiled else ""
            differences += _execute(example, machine, fast, how)
    except (Unsupported, NotExecutable) as error:
        status, reason, differences = UNSUPPORTED, str(error), []
    except PluginTrouble as error:
        status, reason, differences = NOT_RUN, str(error), []
    except (BadValue, UsageError) as error:
        raise BadInput(f"{', '.join(example.place.parts)}: {error}") from None
    except Violated as error:
        status, differences = FAILED, [Difference(name="validation", expected="no violation", found=str(error))]
    except Fault as error:
        status, differences = FAILED, [Difference(name="execution", expected="no fault", found=str(error))]
    return Outcome(
        group=example.group,
        row=1,
        evidence=example.origin,
        status=FAILED if differences else status,
        what=example.id,
        reason=reason,
        differences=tuple(differences),
    )


def _execute(example: Example, machine: Machine, fast: bool, how: str) -> Iterator[Difference]:
    from gpsimd_core.neuroncore import NeuronCore

    core = NeuronCore(machine, compiled=fast)
    offset = 0
    for number, step in enumerate(example.steps, 1):
        result = _result(machine, step, example.place.at(f"step {number}"))
        placed = step.inputs | ({"dst": result} if result else {})
        places: dict[str, int] = {}
        for name, tensor in placed.items():
            places[name] = offset
            offset += -(-tensor.codes.shape[1] * tensor.codes.itemsize // ALIGN) * ALIGN
        for name, tensor in step.inputs.items():
            core.sbuf.write(_bytes(tensor), offset=places[name])
        if "dst" in step.before:
            core.sbuf.write(_bytes(step.before["dst"]), offset=places["dst"])
        if "accumulator" in step.before:
            lanes = step.before["accumulator"].codes[:, 0].astype(np.uint32)
            core.accumulators.store("dve", 0, lanes.view(np.float32))
        core.run(_record(machine, step, placed, places))
        if "dst" in step.expected:
            wanted = step.expected["dst"]
            stored = core.sbuf.read(offset=places["dst"], shape=_bytes(wanted).shape, dtype="uint8")
            yield from _differences(f"step {number} dst", wanted, stored.view(wanted.codes.dtype), how)
        if "accumulator" in step.expected:
            wanted = step.expected["accumulator"]
            held = core.accumulators["dve"][: len(wanted.codes), None].view(np.uint32)
            yield from _differences(f"step {number} accumulator", wanted, held, how)


def _result(machine: Machine, step: Step, place: Place) -> TensorData | None:
    """The destination: what is expected or was there before, else as the last source; none where the layout has none."""
    known = step.before.get("dst") or step.expected.get("dst")
    if "dst" not in machine.layouts[machine.opcode_of(step.opcode)].by_name:
        if known is not None:
            raise place.wrong("this opcode has no dst")
        return None
    sources = [tensor for name, tensor in step.inputs.items() if not name.startswith("imm")]
    if known is None and not sources:
        raise place.wrong("neither dst nor a source tells the shape of the destination")
    return known or sources[-1]


def _bytes(tensor: TensorData) -> NDArray[np.uint8]:
    return np.ascontiguousarray(tensor.codes).view(np.uint8).reshape(len(tensor.codes), -1)


def _record(machine: Machine, step: Step, placed: Mapping[str, TensorData], places: Mapping[str, int]) -> bytes:
    from gpsimd_core.program import Bits, Tensor

    fields: dict[str, Any] = {}
    layout = machine.layouts[machine.opcode_of(step.opcode)]
    for name, value in step.fields.items():
        is_bits = isinstance(value, str) and len(value) == 8 and all(c in "0123456789abcdef" for c in value)
        fields[name] = Bits(int(value, 16)) if is_bits else value
        field = layout.by_name.get(name)
        if field is not None and field.kind == "imm" and field.dtype and (is_bits or isinstance(value, float)):
            fields.setdefault(field.dtype, "FP32")
    for name, tensor in placed.items():
        if name.startswith("imm"):
            fields[name] = places[name]
            field = layout.by_name.get(name)
            if field is not None and field.dtype:
                fields.setdefault(field.dtype, tensor.dtype.name)
        else:
            fields[name] = Tensor(offset=places[name], dtype=tensor.dtype.name, shape=tensor.codes.shape)
    return machine.encode(f"{step.opcode:#04x}", **fields)


def _differences(name: str, wanted: TensorData, found: NDArray[Any], how: str) -> Iterator[Difference]:
    wrong = np.argwhere(wanted.codes != found)
    for channel, element in wrong[:4]:
        yield Difference(
            name=f"{name}[{channel},{element}]",
            expected=values.shown_code(int(wanted.codes[channel, element]), wanted.dtype),
            found=values.shown_code(int(found[channel, element]), wanted.dtype),
            how=how,
        )
    if len(wrong) > 4:
        yield Difference(name=name, expected="", found=f"{len(wrong) - 4} more elements differ", how=how)
