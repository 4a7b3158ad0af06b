"""tensor_scalar_select (0x98), range_select (0xBC), tensor_scalar_affine_select (0x92), against references that go one
element at a time."""

from __future__ import annotations

from typing import Any

import fp32_model as fp32
import numpy as np
import pytest
from family_model import FLOATS, GENERATIONS, INTS, OUT, PLAIN, Case, Load, Maker, Model, Twin, affine
from records import FP32, FP32R, SIZE
from value_cases import specials
from value_model import larger

import gpsimd_core as gp
from gpsimd_core.isa.enums import AluOp

POLICIES: list[dict[str, Any]] = [
    {},
    {"reduce_nan": "propagate", "fp8_overflow": "saturate"},
    {"reduce_nan": "select", "fp8_exp4": "ocp"},
]
FILL = 0xFF7FFFFF
HOLDS = {
    AluOp.IS_EQ: lambda c: c == 0,
    AluOp.IS_GT: lambda c: c == 1,
    AluOp.IS_GE: lambda c: c in (0, 1),
    AluOp.IS_LE: lambda c: c in (0, -1),
    AluOp.IS_LT: lambda c: c == -1,
}


def tensor_scalar_select(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype = rng.choice(PLAIN)
    pred = rng.choice([d for d in INTS if SIZE[d] == SIZE[dtype]])
    src = maker.operand(channels, dtype, maker.split(count, 3))
    dst = maker.target(channels, dtype, maker.split(count, 3))
    scalar = maker.scalar(channels, dtype)
    chooses = maker.scalar(channels, pred, inline=rng.choice([0, 1]))
    reversed_pred = rng.choice([0, 1])
    fields = {
        "num_active_channels": channels, "dtype": dtype, "pred_imm_dtype": pred, "reversed_pred": reversed_pred,
        "src0": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
        **scalar.fields(maker.gen, "src1_imm", "src1_imm_src"), **chooses.fields(maker.gen, "pred_imm", "pred_imm_src"),
    }  # fmt: skip

    def effect(model: Model) -> None:
        rows = model.read(src, channels)
        given = [(chooses.code(model, c) != 0, scalar.code(model, c)) for c in range(channels)]
        for c, (holds, code) in enumerate(given):
            if holds == bool(reversed_pred):
                rows[c] = [code] * count
        model.write(dst, rows)

    sources = [src, *(s.place for s in (scalar, chooses) if s.place)]
    fill = {i: (lambda r: r.choice([0, 1, 255])) for i, o in enumerate(sources) if o is chooses.place}
    return Case("tensor_scalar_select", fields, effect, sources, fill=fill)


def range_select(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype = rng.choice(FLOATS)
    out = dtype if rng.random() < 0.4 else rng.choice((*FLOATS, FP32R))
    src = maker.operand(channels, dtype, maker.split(count, 2))
    dst = maker.target(channels, out, maker.split(count, 2))
    base = rng.choice([0.0, 3.0, 0.5, -7.25, 16777216.0 - count, 8388608.5, 1e-30, -1e30, float("-inf")])
    near = [base + k for k in (-1, 0, 1, count // 2, count - 1, count)] + [float("nan"), float("inf")]
    bounds = [maker.scalar(channels, FP32, inline=bits_of(rng.choice(near))) for _ in range(2)]
    ops = [rng.choice(list(HOLDS)) for _ in range(2)]
    command = rng.choice([0, 2, 3])
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": out, "base": gp.Bits(bits_of(base)),
        "fill_val": gp.Bits(FILL), "comp_op0": ops[0], "comp_op1": ops[1], "reduce_op": AluOp.MAX, "reduce_cmd": command,
        "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
    }  # fmt: skip
    for n, bound in enumerate(bounds):
        fields |= bound.fields(maker.gen, f"bound{n}", f"bound{n}_src")

    def effect(model: Model) -> None:
        codes = model.read(src, channels)
        given = [[bound.code(model, c) for bound in bounds] for c in range(channels)]
        written = []
        for c, row in enumerate(codes):
            lane = dst.partition + c
            state = 0xFF800000 if command != 2 else model.accumulated(lane)
            written.append([])
            for k, code in enumerate(row):
                key = fp32.add(bits_of(base), fp32.rounded(fp32.Fraction(k)))
                keeps = all(HOLDS[op](fp32.compare(key, bound)) for op, bound in zip(ops, given[c], strict=True))
                hub = model.widen(code, dtype) if keeps else FILL
                state = larger(hub, state, model.policies.reduce_nan)
                written[c].append(code if keeps and dtype == out else model.narrow(hub, out))
            if command:
                model.lanes[lane] = (state, command != 2 or model.lanes[lane][1])
        model.write(dst, written)

    sources = [src, *(b.place for b in bounds if b.place)]
    fill = {i: (lambda r: bits_of(r.choice(near))) for i in range(1, len(sources))}
    return Case("range_select", fields, effect, sources, fill=fill)


def bits_of(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def affine_select(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype, out = rng.choice([d for d in PLAIN if d < 16]), rng.choice(OUT)
    out = dtype if rng.random() < 0.3 else out
    psum = maker.gen == "sunda"
    num = maker.split(count, 4)
    src = maker.operand(channels, dtype, maker.split(count, 2), region=None if psum else "sbuf")
    dst = maker.target(channels, out, maker.split(count, 2), psum=psum)
    base, multiplier = (rng.choice([0, 0, 2, -3, rng.randint(-(1 << 31), (1 << 31) - 1)]) for _ in range(2))
    steps = tuple(rng.choice([0, 1, -1, 2, rng.randint(-32768, 32767)]) for _ in num)
    mode = rng.randrange(4)
    fill = rng.choice([rng.getrandbits(32), *specials(FP32, maker.policies)])
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": out, "fill_mode": mode, "fill_reg": 60,
        "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
        "mask_pattern": {"base": base, "step": steps, "num": num}, "channel_multiplier": multiplier,
    }  # fmt: skip
    passes = [lambda v: v > 0, lambda v: v >= 0, lambda v: v == 0, lambda v: v != 0][mode]

    def effect(model: Model) -> None:
        codes = model.read(src, channels)
        written = []
        for row, values in zip(codes, affine(base, steps, num, multiplier, channels), strict=True):
            written.append(
                [
                    model.narrow(fill, out)
                    if not passes(v)
                    else code
                    if dtype == out
                    else model.narrow(model.widen(code, dtype), out)
                    for code, v in zip(row, values, strict=True)
                ]
            )
        model.write(dst, written)

    return Case("tensor_scalar_affine_select", fields, effect, [src], registers={60: fill})


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_selects(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """At least 200 cases of each over all parameters."""
    twin = Twin(load(gen, policies=policies))
    makes = [tensor_scalar_select, affine_select, *([range_select] if gen != "sunda" else [])]
    for make in makes:
        for n in range(17 if make is range_select else 14):
            maker = twin.maker(f"{make.__name__}-{n}", 1000 if n == 0 else 120)
            twin.run(maker, make(maker))


def tensor(dtype: str, offset: int, channels: int = 1, values: int = 4, region: str = "sbuf") -> gp.Tensor:
    return gp.Tensor(region, partition=0, offset=offset, dtype=dtype, shape=(channels, values))


def test_range_select_compares_the_index_and_not_the_element(load: Load) -> None:
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.float32([[100, 0, -100, 7]]), 0, 0)
    record = machine.encode(
        "range_select", src=tensor("fp32", 0), dst=tensor("fp32", 64), base=10.0, fill_val=gp.Bits(FILL),
        comp_op0="IS_GE", bound0=11.0, comp_op1="IS_LT", bound1=13.0, reduce_cmd=3,
    )  # fmt: skip
    core.run(record)
    lowest = float(np.float32(-3.4028235e38))
    assert core.sbuf.read(0, 64, shape=(1, 4), dtype="fp32").tolist() == [[lowest, 0, -100, lowest]]
    assert core.accumulators["dve"][0] == 0


def test_the_fill_is_folded_before_it_is_narrowed(load: Load) -> None:
    """In fp16 the fill is written as -infinity; the accumulator holds the finite fp32 number."""
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.float16([[1, 2]]), 0, 0)
    core.run(
        machine.encode(
            "range_select", src=tensor("fp16", 0, values=2), dst=tensor("fp16", 64, values=2), base=0.0,
            fill_val=gp.Bits(FILL), comp_op0="IS_LT", bound0=-1.0, comp_op1="IS_LT", bound1=-1.0, reduce_cmd=3,
        )
    )  # fmt: skip
    assert core.sbuf.read(0, 64, shape=(1, 2), dtype="fp16").tolist() == [[float("-inf")] * 2]
    assert core.accumulators["dve"].view(np.uint32)[0] == FILL


def test_affine_select_reaches_psum_on_sunda_alone(machine: gp.Machine) -> None:
    """On maverick no address is PSUM."""
    if machine.generation.name == "maverick":
        pytest.skip("no address is PSUM on maverick")
    core = gp.NeuronCore(machine)
    core.psum.write(np.float32([[1, 2, 3, 4]]), 0, 0)
    core.registers[7] = bits_of(-1.0)
    record = machine.encode(
        "tensor_scalar_affine_select", src=tensor("fp32", 0, region="psum"), dst=tensor("fp32", 64, region="psum"),
        mask_pattern={"base": -2, "step": (1, 0, 0, 0), "num": (4, 1, 1, 1)}, fill_mode="GREATER_EQ", fill_reg=7,
    )  # fmt: skip
    if machine.generation.name != "sunda":
        with pytest.raises(gp.Violated, match="SBUF"):
            core.run(record)
        return
    core.run(record)
    assert core.psum.read(0, 64, shape=(1, 4), dtype="fp32").tolist() == [[-1, -1, 3, 4]]


def test_an_unwritten_fill_register_is_a_fault(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    record = machine.encode(
        "tensor_scalar_affine_select", src=tensor("fp32", 0), dst=tensor("fp32", 64),
        mask_pattern={"base": 0, "step": (1, 0, 0, 0), "num": (4, 1, 1, 1)}, fill_reg=11,
    )  # fmt: skip
    with pytest.raises(gp.Fault, match=r"r11 \(fill_reg\) was never written"):
        core.run(record)
