"""Write gpsimd_core/testing/library.toml: one worked example, or two, of each library instruction that the format can state.

The results are those of this implementation at the time of writing, so that a change shows: golden bits, origin `derived`,
`checked = false`. What judges them independently stands in tests/. Run it when an instruction is added, and read the diff.
"""

from __future__ import annotations

import functools
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

import gpsimd_core as gp
from gpsimd_core.cli.status import status
from gpsimd_core.isa.formats import format_of
from gpsimd_core.testing.library import WITHOUT_VECTORS
from gpsimd_core.testing.running import window

TARGET = Path(__file__).parents[1] / "gpsimd_core" / "testing" / "library.toml"
CHANNELS = 2
FLOATS = [1.5, -2.0, 0.25, 3.0, -0.0, 7.5, -1.25, 100.0]
HEAD = """\
# Worked examples of the library's instructions, which the conformance suite of every generation runs. The format is that of
# instruction-examples.toml. Written by scripts/make_library_vectors.py from this implementation: they hold its bits.

schema = 2
"""

Tensor = tuple[str, int]
"""(dtype, elements a channel)."""
F8, ONE = ("fp32", 8), ("fp32", 1)
I8, W8 = ("int16", 8), ("int32", 8)
B8: Tensor = ("bf16", 8)
FOLD = {"op": "ADD", "op_dim": "X"}
GENERATED = {"src_data_pattern.base": 5, "channel_multiplier": 100} | {
    f"src_data_pattern.{part}[{i}]": n for part, row in (("num_elem", (8, 1, 1, 1)), ("step_elem", (3, 1, 1, 1)))
    for i, n in enumerate(row)
}  # fmt: skip
CONST = {"imm0": 2.0, "imm1": -0.5}
CACHE = {"op0": "MULT", "op1": "ADD", "accumulator_cmd": "ZERO_ACCUMULATE", "imm0": 2.0}


def unary(src: Tensor, dst: Tensor | None = None, **fields: Any) -> dict[str, Any]:
    return {"fields": fields, "inputs": {"src": src}, "dst": dst or src}


def binary(src0: Tensor, src1: Tensor, dst: Tensor | None = None, **fields: Any) -> dict[str, Any]:
    return {"fields": fields, "inputs": {"src0": src0, "src1": src1}, "dst": dst or src1}


def made(dst: Tensor, **fields: Any) -> dict[str, Any]:
    return {"fields": fields, "inputs": {}, "dst": dst}


SCALAR_FP32 = {"imm0": 3.0}
RECIPES: dict[str, list[list[tuple[str, dict[str, Any]]] | dict[str, Any]]] = {
    "activate": [unary(F8, bias_src_n="INSTRUCTION_IMMEDIATE", bias_dtype="FP32", scale_value=2.0, bias=0.5)],
    "activate2": [unary(F8, op0="MULT", op1="ADD", reduce_op="ADD", imm_dtype="FP32", imm0=2.0, imm1=0.5)],
    "activation_read_accumulator": [[
        ("activate", unary(
            F8, bias_src_n="INSTRUCTION_IMMEDIATE", bias_dtype="FP32", scale_value=1.0, accumulator_cmd="ZERO_ACCUMULATE",
        )),
        ("activation_read_accumulator", made(ONE, dst_element_count=1)),
    ]],
    "cast": [unary(F8, I8), unary(F8, B8)],
    "copy": [unary(F8)],
    "reciprocal": [unary(F8)],
    "cast_predicated": [binary(("uint8", 8), F8, op="BYPASS")],
    "copy_predicated": [binary(("uint8", 8), F8, op="BYPASS")],
    "select_reduce": [binary(
        ("uint8", 8), F8, op0="BYPASS", op1="MAX", imm0_src="INSTRUCTION_IMMEDIATE", imm0=0.0,
        accumulator_cmd="ZERO_ACCUMULATE",
    )],
    "cross_lane_reduce_arith": [unary(F8, reduce_axis="PARTITIONS", reduce_op="ADD")],
    "cross_lane_reduce_bitvec": [unary(I8, reduce_axis="PARTITIONS", reduce_op="BITWISE_OR")],
    "dve_read_accumulator": [[
        ("select_reduce", binary(
            ("uint8", 8), F8, op0="BYPASS", op1="MAX", imm0_src="INSTRUCTION_IMMEDIATE", imm0=0.0,
            accumulator_cmd="ZERO_ACCUMULATE",
        )),
        ("dve_read_accumulator", made(ONE, dst_element_count=1)),
    ]],
    "iota": [made(W8, **GENERATED)],
    "max8": [unary(("fp32", 12), F8)],
    "max_pool_select": [unary(F8, ("uint16", 1), pool_func="NONE", pool_dim="X", pool_scale=1.0)],
    "memset": [made(F8, dst_element_count=8, set_value="3f800000"), made(("uint8", 8), dst_element_count=8)],
    "pool": [unary(F8, ONE, pool_func="MAX", pool_dim="X", pool_scale=1.0)],
    "range_select": [unary(
        F8, comp_op0="IS_GE", comp_op1="IS_LT", reduce_op="MAX", fill_val="ff7fffff", bound0=1.0, bound1=6.0,
    )],
    "scalar_tensor_tensor_arith": [binary(F8, F8, op0="ADD", op1="MULT", **SCALAR_FP32)],
    "scalar_tensor_tensor_bitvec": [binary(W8, W8, op0="BITWISE_AND", op1="BITWISE_OR", imm0_dtype="INT32", imm0=12)],
    "tensor_cumulative_arith_op": [unary(F8, **FOLD)],
    "tensor_cumulative_bitvec_op": [unary(("uint16", 8), op="BITWISE_OR", op_dim="X")],
    "tensor_reduce_add_bf16": [unary(B8, ("bf16", 1), **FOLD)],
    "tensor_reduce_max_bf16": [unary(B8, ("bf16", 1), op="MAX", op_dim="X")],
    "tensor_reduce_arith_op": [unary(F8, ONE, **FOLD), unary(W8, ("int32", 1), op="ADD_INT", op_dim="X")],
    "tensor_reduce_bitvec_op": [unary(("uint16", 8), ("uint16", 1), op="BITWISE_AND", op_dim="X")],
    "tensor_scalar_arith_op": [unary(F8, op0="MULT", op1="ADD", **CONST)],
    "tensor_scalar_bitvec_op": [unary(I8, op0="BITWISE_AND", op1="BITWISE_OR", imm0=12, imm1=1)],
    "tensor_scalar_cache_cumulative": [unary(F8, **CACHE)],
    "tensor_scalar_cache_reduce": [unary(F8, **CACHE)],
    "tensor_tensor_add_bf16": [binary(B8, B8, op="ADD")],
    "tensor_tensor_mult_bf16": [binary(B8, B8, op="MULT")],
    "tensor_tensor_sub_bf16": [binary(B8, B8, op="SUBTRACT")],
    "tensor_tensor_arith_op": [binary(F8, F8, op="ADD"), binary(W8, W8, op="MULT_INT")],
    "tensor_tensor_bitvec_op": [binary(I8, I8, op="BITWISE_XOR")],
    "tensor_tensor_scan_arith": [binary(F8, F8, op0="MULT", op1="ADD", imm0=1.0)],
}  # fmt: skip


def codes(dtype: str, channels: int, elements: int, turn: int) -> np.ndarray[Any, Any]:
    """Small values of a dtype that differ from operand to operand, as codes."""
    form = format_of(dtype)
    n = np.arange(channels * elements).reshape(channels, elements) + 3 * turn
    if form.is_integer:
        return (n * 5 % 13 * (n % 3 != 0)).astype(form.code_dtype)
    values = np.array(FLOATS, np.float32)[n % len(FLOATS)]
    found = gp.convert(values, dtype)
    return found.view(form.code_dtype)


def wide(recipe: dict[str, Any]) -> dict[str, Any]:
    return recipe | {"channels": 32}


T8, T32 = ("uint8", 32), ("uint8", 1)
PTR = {"inputs": {"src": F8, "imm0": ONE, "imm1": ONE}, "dst": F8}
RECIPES |= {
    "activate_quantize": [
        unary(F8, ("uint8", 8), quant_scale_value=1.0, dequant_scale_value=1.0, bias_dtype="FP32", bias_addr=0),
    ],
    "exponential": [unary(F8, op0="BYPASS", op1="BYPASS", accumulator_cmd="ZERO_ACCUMULATE")],
    "nonzero_with_count": [unary(F8, ("int32", 9))],
    "sort": [unary(
        ("fp32", 64), ("fp32", 128), comparison="IS_LT",
        **{"dst.num_elem[0]": 2, "dst.num_elem[1]": 64, "dst.step_elem[1]": 2},
    )],
    "stream_transpose": [wide(unary(T8))],
    "tensor_dequantize": [unary(("uint32", 6), ("uint32", 12), dequant_fmt=1)],
    "tensor_scalar_ptr_arith_op": [PTR | {"fields": {"op0": "MULT", "op1": "ADD"}}],
    "tensor_scalar_ptr_bitvec_op": [
        {"inputs": {"src": I8, "imm0": ("int16", 1)}, "dst": I8, "fields": {"op0": "BITWISE_AND", "op1": "BYPASS"}},
    ],
    "tensor_scalar_select": [
        {
            "inputs": {"src0": F8}, "dst": F8,
            "fields": {"dtype": "FP32", "pred_imm_dtype": "INT32", "src1_imm": 3.0, "pred_imm": 1},
        },
    ],
    "transpose_tensor_reduce_arith_op": [wide(unary(T8, T32, **FOLD))],
    "transpose_tensor_reduce_bitvec_op": [wide(unary(T8, T32, op="BITWISE_XOR", op_dim="X"))],
    "transpose_tensor_scalar_arith_op": [wide(unary(T8, op0="ADD", op1="BYPASS", imm0=1.0))],
}  # fmt: skip


def steps(machine: gp.Machine, recipe: Any, name: str) -> list[dict[str, Any]]:
    """A recipe as the steps of an example, without what is expected."""
    found = []
    for turn, (called, one) in enumerate(recipe if isinstance(recipe, list) else [(name, recipe)]):
        channels = one.get("channels", CHANNELS)
        inputs = {
            operand: tensor(dtype, codes(dtype, channels, elements, turn + k))
            for k, (operand, (dtype, elements)) in enumerate(one["inputs"].items())
        }
        rows = machine.instructions[called].writes[0].channels or channels
        blank = np.zeros((rows, one["dst"][1]), np.uint8)
        old = codes(one["dst"][0], rows, one["dst"][1], 5) if channels == CHANNELS else blank
        before = tensor(one["dst"][0], old)
        opcode = machine.opcode_of(called)
        found.append({"opcode": opcode, "fields": one["fields"], "inputs": inputs, "before": {"dst": before}})
    return found


def tensor(dtype: str, numbers: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Codes as a tensor of the format, equal rows counted."""
    digits = -(-format_of(dtype).bits // 4)
    plain = dtype.startswith("uint")
    shown = [[int(n) if plain else f"{int(n):0{digits}x}" for n in row] for row in numbers]
    rows = [(len(list(same)), row) for row, same in itertools.groupby(shown)]
    short = [(n, {"rep": row[0], "n": len(row)} if len(row) > 2 and len({*row}) == 1 else row) for n, row in rows]
    return {"dtype": dtype, "rows": [{"n": n, "row": row} for n, row in short]}


def solved(machine: gp.Machine, given: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Steps with what they leave in dst, and in the accumulator where they fold into it."""
    found: list[dict[str, Any]] = []
    for step in given:
        trial = example(name, name, [*found, step])
        ran: list[tuple[gp.NeuronCore, Any]] = []

        def run(core: Any, program: Any, ran: list[Any] = ran) -> Any:
            result = machine.hooks.run(core, program)
            ran.append((core, result))
            return result

        watched = evolve(machine, hooks=evolve(machine.hooks, run=run))
        outcome = gp.check_vectors(
            {"schema": 2, "example": [trial]}, machine_loader=functools.partial(given_machine, watched)
        ).outcomes[0]
        if outcome.status != "passed":
            raise ValueError(f"{outcome.status}: {outcome.reason} {outcome.differences}")
        core, result = ran[-1]
        last = result.steps[0].step
        (out,) = last.written
        stored = window(core.memory.data, out).reshape(out.channels, out.elements)
        expected = {"dst": tensor(step["before"]["dst"]["dtype"], stored)}
        folds = last.instruction.accumulator not in (None, "read") and last.engine.accumulators == "dve"
        if folds and core.accumulators.defined("dve")[0]:
            lanes = core.accumulators["dve"][: last.channels, None].view(np.uint32)
            expected["accumulator"] = tensor("fp32", lanes)
        found.append(step | {"expected": expected})
    return found


def given_machine(machine: gp.Machine, profile: str, policies: Any) -> gp.Machine:
    return machine


def example(id: str, group: str, given: list[dict[str, Any]]) -> dict[str, Any]:
    source = "this project, by the semantics and sources that `gpsimd explain` shows"
    return {"id": id, "group": group, "origin": "derived", "checked": False, "source": source, "step": given}


def spelled(value: Any) -> str:
    """A value as TOML."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case list():
            return f"[{', '.join(map(spelled, value))}]"
        case dict():
            rows = ", ".join(f"{k if k.isidentifier() else spelled(k)} = {spelled(v)}" for k, v in value.items())
            return f"{{ {rows} }}" if rows else "{}"
        case _:
            return str(value)


def written(row: dict[str, Any]) -> str:
    lines = ["[[example]]", *(f"{k} = {spelled(v)}" for k, v in row.items() if k != "step")]
    for step in row["step"]:
        lines += ["", "[[example.step]]"]
        lines += [f"{k} = {hex(v) if k == 'opcode' else spelled(v)}" for k, v in step.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    blocks, missing = [], []
    done: set[str] = set()
    for generation in gp.generations():
        machine = gp.load(generation, plugins=())
        for opcode, encoding in machine.opcodes.items():
            name = encoding.name
            if name in done or name in WITHOUT_VECTORS or status(machine, opcode)[0] != "executes":
                continue
            done.add(name)
            for number, recipe in enumerate(RECIPES.get(name, []), 1):
                try:
                    solution = solved(machine, steps(machine, recipe, name), name)
                    blocks.append((opcode, written(example(f"{name}_{number}", name, solution))))
                except (gp.GpsimdError, ValueError) as e:
                    missing.append(f"{name} on {generation}: {e}")
            if not RECIPES.get(name):
                missing.append(f"{name} on {generation}: no recipe")
    print("\n".join(missing))
    TARGET.write_text(HEAD + "\n" + "\n".join(text for _, text in sorted(blocks)), "utf-8")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
