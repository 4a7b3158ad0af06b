"""tensor_scalar_cache_reduce (0x9A), tensor_scalar_cache_cumulative (0xE6) and exponential (0x30): references that go
one element at a time, and the exponential against MPFR.

Titles: TensorScalarCacheReduce — 0x9a; Tensor-Scalar + Tensor-Scalar-PTR; settled readings 19, 21, 22
and 24 (docs/decisions.md).
"""

from __future__ import annotations

import math
from typing import Any

import fp32_model as fp32
import gmpy2
import numpy as np
import pytest
from alu_model import alu32, arith, fold_into
from family_model import FLOATS, GENERATIONS, OUT, Case, Load, Maker, Model, Scalar, Twin
from records import FP32, INT8, INT16, UINT8, UINT16
from value_cases import specials

import gpsimd_core as gp

LATE = ("mariana", "mariana_plus", "maverick")
POLICIES: list[dict[str, Any]] = [
    {},
    {"reduce_nan": "propagate", "fp_to_int": "rtz_saturate"},
    {"reduce_nan": "select", "fp8_overflow": "saturate"},
]
IN = (*FLOATS, INT8, UINT8, INT16, UINT16)
COMBINE = ("ADD", "SUBTRACT", "MULT", "MAX", "MIN")
ACCUMULATE, ZERO_ACCUMULATE, LOAD_ACCUMULATE = 2, 3, 4


def scalar32(maker: Maker, channels: int) -> Scalar:
    bits = maker.rng.choice([maker.rng.getrandbits(32), *specials(FP32, maker.policies)])
    return maker.scalar(channels, FP32, inline=bits)


def folding(maker: Maker, *, running: bool) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    src = maker.operand(channels, rng.choice(IN), maker.split(count, 3))
    dst = maker.target(channels, rng.choice(OUT), maker.split(count, 3))
    op0, op1, command = rng.choice(arith(maker.gen)), rng.choice(COMBINE), rng.choice([2, 3, 4])
    scalar, seed = scalar32(maker, channels), scalar32(maker, channels)
    fields = {
        "num_active_channels": channels, "in_dtype": src.dtype, "out_dtype": dst.dtype, "op0": op0, "op1": op1,
        "accumulator_cmd": command, "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
        **scalar.fields(maker.gen, "imm0", "imm0_src"),
    }  # fmt: skip
    if command == LOAD_ACCUMULATE:
        fields |= seed.fields(maker.gen, "imm1", "imm1_src")

    def effect(model: Model) -> None:
        rows = model.hub(src, channels)
        given = [(scalar.code(model, c), seed.code(model, c)) for c in range(channels)]
        found = []
        for c, row in enumerate(rows):
            fresh = [alu32(op0, x, given[c][0], model.policies.reduce_nan) for x in row]
            states = fold_into(model, dst.partition + c, command, op1, fresh, given[c][1])
            found.append([model.narrow(bits, dst.dtype) for bits in (states if running else fresh)])
        model.write(dst, found)

    places = [s.place for s in ([scalar, seed] if command == LOAD_ACCUMULATE else [scalar]) if s.place]
    return Case(f"tensor_scalar_cache_{'cumulative' if running else 'reduce'}", fields, effect, [src, *places])


def reducing(maker: Maker) -> Case:
    return folding(maker, running=False)


def cumulating(maker: Maker) -> Case:
    return folding(maker, running=True)


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_cases(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """At least 200 cases of each over all parameters."""
    twin = Twin(load(gen, policies=policies))
    for n in range(14):
        for make in (reducing, cumulating):
            maker = twin.maker(f"{make.__name__}-{n}", 500 if n == 0 else 70)
            twin.run(maker, make(maker))


def test_the_uncompiled_kernels_agree(load: Load) -> None:
    twin = Twin(load("cayman"), compiled=False)
    for n in range(6):
        for make in (reducing, cumulating):
            maker = twin.maker(f"slow-{make.__name__}-{n}", 40)
            twin.run(maker, make(maker))


# Named facts ----------------------------------------------------------------------------------------------------------------


def once(load: Load, name: str, x: Any, out: str = "fp32", gen: str = "cayman", core: Any = None, **fields: Any) -> Any:
    machine = load(gen)
    core = core or gp.NeuronCore(machine)
    core.sbuf.write(x, 0, 0)
    fields.setdefault("accumulator_cmd", ZERO_ACCUMULATE)
    record = machine.encode(
        name,
        src=gp.Tensor(dtype=x.dtype, shape=x.shape),
        dst=gp.Tensor(offset=8192, dtype=out, shape=x.shape),
        **fields,
    )
    core.run(record)
    return core.sbuf.read(0, 8192, shape=x.shape, dtype=out), core


def test_the_reduce_form_writes_every_op0_result(load: Load) -> None:
    found, core = once(load, "tensor_scalar_cache_reduce", np.float32([[1, 2, 3]]), op0="ADD", imm0=1.0, op1="MULT")
    assert found.tolist() == [[2, 3, 4]]
    assert core.accumulators["dve"][0] == 24


def test_subtract_takes_the_new_value_first(load: Load) -> None:
    """0, then 1 - 0, 10 - 1, 100 - 9; the other order would give -1, -11, -111."""
    for name, wanted in (("reduce", [1, 10, 100]), ("cumulative", [1, 9, 91])):
        x = np.float32([[1, 10, 100]])
        found, core = once(load, f"tensor_scalar_cache_{name}", x, op0="ADD", imm0=0.0, op1="SUBTRACT")
        assert found.tolist() == [wanted]
        assert core.accumulators["dve"][0] == 91


@pytest.mark.parametrize(
    ("op", "seed"), [("ADD", 0), ("SUBTRACT", 0), ("MULT", 1), ("MAX", -math.inf), ("MIN", math.inf)]
)
def test_a_cleared_accumulator_holds_the_identity_of_op1(load: Load, op: str, seed: float) -> None:
    """All NaN leaves an extreme at its seed; the others show it by what they make of 5."""
    x = np.float32([[5.0]])
    found, core = once(load, "tensor_scalar_cache_cumulative", x, op0="ADD", imm0=0.0, op1=op)
    assert found.tolist() == [[5]]
    if op in ("MAX", "MIN"):
        nan = np.float32([[np.nan, np.nan]])
        _, core = once(load, "tensor_scalar_cache_reduce", nan, op0="ADD", imm0=0.0, op1=op)
        assert core.accumulators["dve"][0] == seed


def test_the_running_value_stays_fp32(load: Load) -> None:
    x = np.float32([[256, 1, 1, 1, 1]])
    found, core = once(load, "tensor_scalar_cache_cumulative", x, "bf16", op0="ADD", imm0=0.0, op1="ADD")
    assert found.astype(float).tolist() == [[256, 256, 258, 260, 260]]  # 256 to 260, each narrowed where it is stored
    assert core.accumulators["dve"][0] == 260


def test_a_running_fold_goes_on_where_the_last_one_stopped(load: Load) -> None:
    x = np.float32([[1, 2]])
    fields: dict[str, Any] = {"op0": "ADD", "imm0": 0.0, "op1": "ADD"}
    _, core = once(load, "tensor_scalar_cache_cumulative", x, accumulator_cmd=LOAD_ACCUMULATE, imm1=10.0, **fields)
    found, _ = once(load, "tensor_scalar_cache_cumulative", x, core=core, accumulator_cmd=ACCUMULATE, **fields)
    assert found.tolist() == [[14, 16]]


# The exponential ------------------------------------------------------------------------------------------------------------


def ulps(found: int, x: int) -> float:
    """How far fp32 bits lie from e^x to 50 digits, in units of the last place."""
    with gmpy2.context(gmpy2.get_context(), precision=200, emin=-10000, emax=10000):
        exact = gmpy2.exp(gmpy2.mpfr(float(np.uint32(x).view(np.float32))))
        number = float(np.uint32(found).view(np.float32))
        if not math.isfinite(number):
            return 0.0 if exact >= gmpy2.mpfr(2) ** 128 * (1 - gmpy2.mpfr(2) ** -25) else math.inf
        unit = gmpy2.mpfr(2) ** (max(math.frexp(number or 2.0**-149)[1] - 24, -149))
        return float(abs(gmpy2.mpfr(number) - exact) / unit)


@pytest.mark.parametrize("gen", LATE)
def test_the_exponential_is_within_one_ulp_and_adds_up(load: Load, gen: str) -> None:
    """200 cases over all generations: e^(src - imm0), the difference rounded first; sums of the fp32 results."""
    machine = load(gen)
    rng, core = np.random.default_rng(11), gp.NeuronCore(machine)
    for _ in range(70):
        channels, count = int(rng.integers(1, 6)), int(rng.integers(1, 12))
        x = (rng.standard_normal((channels, count)) * 10.0 ** rng.integers(-3, 3)).astype(np.float32)
        x.view(np.uint32)[0, 0] = rng.choice(
            [0, 0x80000000, 0x7F800000, 0xFF800000, 0x7F800001, 0x42B17218, 0xC2CFF1B5]
        )
        imm = np.float32(rng.choice([0.0, 1.5, -40.25, float(x[-1, -1])]))
        imm = np.float32(0) if np.isnan(imm) else imm
        command = int(rng.choice([2, 3, 4]))
        core.sbuf.write(x, 0, 0)
        core.accumulators["dve"] = np.full(128, 2.5, np.float32)
        fields = {"imm1": 0.75} if command == LOAD_ACCUMULATE else {}
        record = machine.encode(
            "exponential", src=gp.Tensor(dtype="fp32", shape=x.shape), dst=gp.Tensor(offset=4096, dtype="fp32", shape=x.shape),
            imm0=float(imm), accumulator_cmd=command, **fields,
        )  # fmt: skip
        core.run(record)
        found = core.sbuf.read(0, 4096, shape=x.shape, dtype="fp32").view(np.uint32)
        for c in range(channels):
            total = {2: 0x40200000, 3: 0, 4: 0x3F400000}[command]
            for bits, result in zip(x.view(np.uint32)[c].tolist(), found[c].tolist(), strict=True):
                difference = fp32.subtract(bits, int(imm.view(np.uint32)))
                total = fp32.add(result, total)
                if difference & 0x7FFFFFFF > 0x7F800000:
                    assert result == 0x7FC00000
                elif difference & 0x7FFFFFFF == 0x7F800000:
                    assert result == (0 if difference >> 31 else 0x7F800000)
                else:
                    assert ulps(result, difference) <= 1
            assert core.accumulators["dve"].view(np.uint32)[c] == total


def test_the_exponential_exists_from_mariana_on(machine: gp.Machine) -> None:
    """Earlier generations declare the opcode and no engine there runs it."""
    record = machine.encode(
        "exponential", src=gp.Tensor(dtype="fp32", shape=(1, 2)), dst=gp.Tensor(offset=64, dtype="fp32", shape=(1, 2)),
        accumulator_cmd=3,
    )  # fmt: skip
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.zeros((1, 2), np.float32), 0, 0)
    if machine.generation.name in LATE:
        core.run(record)
        assert core.sbuf.read(0, 64, shape=(1, 2), dtype="fp32").tolist() == [[1, 1]]
    else:
        with pytest.raises(gp.NotExecutable):
            core.run(record)


def test_the_exponential_narrows_its_results_and_not_what_it_adds(load: Load) -> None:
    x = np.full((1, 3), np.log(3.0), np.float32)
    found, core = once(load, "exponential", x, "bf16", gen="mariana")
    assert found.astype(float).tolist() == [[3, 3, 3]]
    one, _ = once(load, "exponential", x[:, :1], "fp32", gen="mariana")
    assert core.accumulators["dve"][0] == one[0, 0] + one[0, 0] + one[0, 0]
