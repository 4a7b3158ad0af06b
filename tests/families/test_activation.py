"""activate (0x21), activate_quantize (0x22), activate2 (0x25), activation_read_accumulator (0x24), and the functions of the
table against a 90-digit reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fp32_model as fp32
import gmpy2
import numpy as np
import pytest
from family_model import GENERATIONS, OUT, PLAIN, Case, Load, Maker, Model, Twin
from records import BF16, FP16, FP32, FP32R, INT32, UINT8
from value_cases import specials
from value_model import is_nan32, larger

import gpsimd_core as gp
from gpsimd_core.errors import PluginTrouble
from gpsimd_core.isa.activations import ACTIVATIONS
from gpsimd_core.isa.kernels.activation import each
from gpsimd_core.isa.lane import bind, compiled, lane
from gpsimd_core.isa.lanes.words import u32
from gpsimd_core.values import Activation, Evidence

NUMBERS = {a.name: a.number for a in ACTIVATIONS}
POLICIES: list[dict[str, Any]] = [{}, {"reduce_nan": "propagate", "fp8_overflow": "ieee"}, {"reduce_nan": "select"}]
ONE = 0x3F800000

# The functions that a reference can compute exactly.
EXACT: dict[str, Callable[[int, int], int]] = {
    "identity": lambda x, p: fp32.canonical(x),
    "relu": lambda x, p: fp32.CANONICAL if is_nan32(x) else 0 if x >> 31 else x,
    "leaky_relu": lambda x, p: fp32.multiply(x, p) if x > 0x80000000 else fp32.canonical(x),
    "abs": lambda x, p: fp32.canonical(x & 0x7FFFFFFF),
    "sign": lambda x, p: fp32.CANONICAL if is_nan32(x) else x if x & 0x7FFFFFFF == 0 else x & 0x80000000 | ONE,
    "square": lambda x, p: fp32.multiply(x, x),
    "reciprocal": lambda x, p: fp32.divide(ONE, x),
}


def activate(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype, out = rng.choice([d for d in PLAIN if d < 16]), rng.choice(OUT)
    src = maker.operand(channels, dtype, maker.split(count, 3))
    dst = maker.target(channels, out, maker.split(count, 3))
    scale, seed = maker.scalar(channels, FP32), maker.scalar(channels, FP32)
    bias = maker.scalar(channels, rng.choice([BF16, FP16, FP32]))
    name = rng.choice([n for n in EXACT if n != "leaky_relu"])
    command = rng.choice([0, 1, 2, 3, 4])
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": out, "bias_dtype": bias.dtype,
        "activation_func": NUMBERS[name], "accumulator_cmd": command, "src": maker.pattern(src, channels),
        "dst": maker.pattern(dst, channels), **scale.fields(maker.gen, "scale_value", "scale_src"),
        **bias.fields(maker.gen, "bias", "bias_src_n", inverted=True), **seed.fields(maker.gen, "imm", "imm_src"),
    }  # fmt: skip

    def effect(model: Model) -> None:
        rows = model.hub(src, channels)
        given = [
            (scale.code(model, c), model.widen(bias.code(model, c), bias.dtype), seed.code(model, c))
            for c in range(channels)
        ]
        written = []
        for c, (factor, addend, loaded) in enumerate(given):
            lane_of = dst.partition + c
            values = [EXACT[name](fp32.add(fp32.multiply(x, factor), addend), 0) for x in rows[c]]
            if command:
                state = {1: 0, 3: 0, 4: loaded}.get(command)
                state = model.accumulated(lane_of) if state is None else state
                for value in values if command != 1 else []:
                    state = fp32.add(value, state)
                model.lanes[lane_of] = (fp32.canonical(state), command != 2 or model.lanes[lane_of][1])
            written.append([model.narrow(v, out) for v in values])
        model.write(dst, written)

    sources = [src, *(s.place for s in (scale, bias, seed) if s.place)]
    return Case("activate", fields, effect, sources, engine="act")


def activate_quantize(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    src = maker.operand(channels, rng.choice([FP32, INT32]), maker.split(count, 3))
    dst = maker.target(channels, UINT8, maker.split(count, 3))
    bias = maker.scalar(channels, rng.choice([BF16, FP16, FP32]))
    while bias.place is None or bias.register is not None:
        bias = maker.scalar(channels, bias.dtype)
    numbers = [rng.choice([code for code in specials(FP32, maker.policies) if code & 0x7FFFFFFF]) for _ in range(3)]
    name = rng.choice([n for n in EXACT if n != "leaky_relu"])
    fields = {
        "num_active_channels": channels, "in_dtype": src.dtype, "out_dtype": UINT8, "bias_dtype": bias.dtype,
        "activation_func": NUMBERS[name], "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
        "bias_addr": bias.place.address(maker.gen), "dequant_scale_value": gp.Bits(numbers[0]),
        "quant_scale_value": gp.Bits(numbers[1]), "quant_zero_value": gp.Bits(numbers[2]),
    }  # fmt: skip

    def effect(model: Model) -> None:
        rows = model.hub(src, channels)
        given = [model.widen(bias.code(model, c), bias.dtype) for c in range(channels)]
        written = []
        for row, addend in zip(rows, given, strict=True):
            inner = [EXACT[name](fp32.add(fp32.multiply(x, numbers[0]), addend), 0) for x in row]
            written.append([model.narrow(fp32.add(fp32.multiply(v, numbers[1]), numbers[2]), UINT8) for v in inner])
        model.write(dst, written)

    return Case("activate_quantize", fields, effect, [src, bias.place], engine="act")


PAIRS = [("MULT", "ADD"), ("MULT", "SUBTRACT"), ("MULT", "BYPASS"), ("ADD", "BYPASS"), ("SUBTRACT", "BYPASS"), ("BYPASS", "BYPASS")]  # fmt: skip
APPLY: dict[str, Callable[[int, int], int]] = {
    "MULT": fp32.multiply, "ADD": fp32.add, "SUBTRACT": fp32.subtract, "BYPASS": lambda a, b: fp32.canonical(a),
}  # fmt: skip


def activate2(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype, out = rng.choice(PLAIN), rng.choice(OUT)
    src = maker.operand(channels, dtype, maker.split(count, 2))
    dst = maker.target(channels, out, maker.split(count, 2))
    imm_dtype = rng.choice(PLAIN)
    scalars = [maker.scalar(channels, imm_dtype) for _ in range(3)]
    ops, name = rng.choice(PAIRS), rng.choice(list(EXACT))
    reverse, command = rng.randrange(4), rng.randrange(4)
    fold = rng.choice(["ADD", "MAX", "MIN", "MULT", "SUBTRACT", "ABS_MAX"])
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": out, "imm_dtype": imm_dtype, "op0": ops[0],
        "op1": ops[1], "activation_func": NUMBERS[name], "reduce_cmd": command, "reduce_op": fold,
        "reverse_operands": reverse, "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
    }  # fmt: skip
    for scalar, field in zip(scalars, ("imm0", "imm1", "relu_param"), strict=True):
        fields |= scalar.fields(maker.gen, field, f"{field}_src")

    def folded(new: int, state: int, policy: str) -> int:
        if fold in APPLY:
            return APPLY[fold](new, state)
        if fold == "MIN":
            return fp32.canonical(fp32.canonical(larger(new ^ 0x80000000, state ^ 0x80000000, policy)) ^ 0x80000000)
        mask = 0x7FFFFFFF if fold == "ABS_MAX" else 0xFFFFFFFF
        return fp32.canonical(larger(new & mask, state & mask, policy))

    def effect(model: Model) -> None:
        rows = model.hub(src, channels)
        given = [[model.widen(s.code(model, c), imm_dtype) for s in scalars] for c in range(channels)]
        start = {"ADD": 0, "SUBTRACT": 0, "MULT": ONE, "MAX": 0xFF800000, "MIN": 0x7F800000, "ABS_MAX": 0}[fold]
        written = []
        for c, (first, second, slope) in enumerate(given):
            values = []
            for x in rows[c]:
                x = APPLY[ops[0]](*((first, x) if reverse in (1, 3) else (x, first)))
                x = APPLY[ops[1]](*((second, x) if reverse in (2, 3) else (x, second)))
                values.append(EXACT[name](x, slope))
            lane_of = dst.partition + c
            if command:
                state = model.accumulated(lane_of) if command == 2 else start
                for value in values if command != 1 else []:
                    state = folded(value, state, model.policies.reduce_nan)
                model.lanes[lane_of] = (state, command != 2 or model.lanes[lane_of][1])
            written.append([model.narrow(v, out) for v in values])
        model.write(dst, written)

    sources = [src, *(s.place for s in scalars if s.place)]
    return Case("activate2", fields, effect, sources, engine="dve" if maker.gen == "maverick" else "act")


def read_back(maker: Maker) -> Case:
    rng = maker.rng
    channels, dtype = maker.channels(), rng.choice([FP16, BF16, FP32, FP32R])
    dst = maker.target(channels, dtype, (1,))
    fields = {"num_active_channels": channels, "dtype": dtype, "dst": dst.pattern(maker.gen), "dst_element_count": 1}

    def effect(model: Model) -> None:
        bits = [model.accumulated(dst.partition + c) for c in range(channels)]
        model.write(dst, [[b if dtype == FP32 else model.narrow(b, dtype)] for b in bits])

    return Case("activation_read_accumulator", fields, effect, engine="act")


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_activations(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """At least 200 cases of each form over all parameters; the accumulators go on from case to case."""
    twin = Twin(load(gen, policies=policies))
    makes: list[Callable[[Maker], Case]] = [] if gen == "maverick" else [activate, activate_quantize, read_back]
    if gen not in ("sunda", "cayman"):
        makes.append(activate2)
    for make in makes:
        for n in range(23 if make is activate2 else 17):
            maker = twin.maker(f"{make.__name__}-{n}", 1000 if n == 0 else 120)
            twin.run(maker, make(maker))


# The functions of the table ------------------------------------------------------------------------------------------


def _softplus(x: Any) -> Any:
    return gmpy2.log1p(gmpy2.exp(x)) if x < 0 else x + gmpy2.log1p(gmpy2.exp(-x))


def _gelu_tanh(x: Any) -> Any:
    inner = gmpy2.sqrt(2 / gmpy2.const_pi()) * (x + gmpy2.mpfr("0.044715") * x**3)
    return x / (1 + gmpy2.exp(-2 * inner))


REFERENCE: dict[str, Callable[[Any], Any]] = {
    "identity": lambda x: x,
    "relu": lambda x: max(x, gmpy2.mpfr(0)),
    "abs": abs,
    "sign": lambda x: gmpy2.mpfr((x > 0) - (x < 0)),
    "square": lambda x: x * x,
    "sqrt": gmpy2.sqrt,
    "rsqrt": lambda x: 1 / gmpy2.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "exp": gmpy2.exp,
    "log": gmpy2.log,
    "tanh": gmpy2.tanh,
    "sigmoid": lambda x: 1 / (1 + gmpy2.exp(-x)),
    "silu": lambda x: x / (1 + gmpy2.exp(-x)),
    "gelu": lambda x: x * gmpy2.erfc(-x / gmpy2.sqrt(gmpy2.mpfr(2))) / 2,
    "gelu_tanh": _gelu_tanh,
    "softplus": _softplus,
    "mish": lambda x: x * gmpy2.tanh(_softplus(x)),
    "erf": gmpy2.erf,
    "sin": gmpy2.sin,
    "cos": gmpy2.cos,
    "arctan": gmpy2.atan,
}
POSITIVE = {"sqrt", "rsqrt", "log"}


def samples(count: int) -> Any:
    """Finite fp32 bits: any pattern, numbers near 1, numbers near 12, and the edges of the format."""
    rng = np.random.default_rng(20)
    edges = np.array(
        [1, 2, 0x7FFFFF, 0x800000, 0x3F7FFFFF, ONE, 0x3F800001, 0x40490FDB, 0x42B17218, 0x7F7FFFFF], np.uint32
    )
    parts = [
        rng.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32),
        *(rng.normal(0, width, count).astype(np.float32).view(np.uint32) for width in (1, 12)),
        edges, edges | np.uint32(0x80000000),
    ]  # fmt: skip
    bits = np.concatenate(parts)
    return bits[(bits & 0x7FFFFFFF) < 0x7F800000]


def error_in_ulp(found: float, exact: Any) -> float:
    """Distance in units of the last place of the exact value in fp32; beyond the largest number, of the largest."""
    limit = gmpy2.mpfr(2) ** 128
    if not np.isfinite(found):
        return 0.0 if abs(exact) >= limit - gmpy2.mpfr(2) ** 103 and (found > 0) == (exact > 0) else float("inf")
    exponent = -126 if exact == 0 else max(int(gmpy2.get_exp(exact)) - 1, -126)
    return float(abs(gmpy2.mpfr(found) - exact) / gmpy2.mpfr(2) ** (exponent - 23))


@pytest.mark.parametrize("function", [a for a in ACTIVATIONS if not a.parameter], ids=lambda a: a.name)
def test_every_function_keeps_its_stated_bound(function: Activation) -> None:
    bits = samples(500)
    found = np.empty_like(bits)
    compiled(bind(each, value=function.function))(bits, found)
    slow = np.empty_like(bits[::7])
    bind(each, value=function.function)(bits[::7], slow)
    assert (slow == found[::7]).all()
    worst = 0.0
    with gmpy2.context(precision=300, emax=10**8, emin=-(10**8)):
        for b, f in zip(bits.view(np.float32).tolist(), found.view(np.float32).tolist(), strict=True):
            if (function.name in POSITIVE and b <= 0) or (function.name == "reciprocal" and b == 0):
                continue
            worst = max(worst, error_in_ulp(f, REFERENCE[function.name](gmpy2.mpfr(b))))
    assert worst <= function.ulp, worst


INF, MINUS_INF, NAN = 0x7F800000, 0xFF800000, fp32.CANONICAL
SPECIAL = [  # name: at +0, -0, +infinity, -infinity
    ("identity", 0, 0x80000000, INF, MINUS_INF), ("relu", 0, 0, INF, 0), ("abs", 0, 0, INF, INF),
    ("sign", 0, 0x80000000, ONE, 0xBF800000), ("square", 0, 0, INF, INF), ("sqrt", 0, 0x80000000, INF, NAN),
    ("rsqrt", INF, None, 0, NAN), ("reciprocal", INF, MINUS_INF, 0, 0x80000000), ("exp", ONE, ONE, INF, 0),
    ("log", MINUS_INF, MINUS_INF, INF, NAN), ("tanh", 0, 0x80000000, ONE, 0xBF800000),
    ("sigmoid", 0x3F000000, 0x3F000000, ONE, 0), ("silu", 0, 0x80000000, INF, 0x80000000),
    ("gelu", 0, 0x80000000, INF, 0x80000000), ("gelu_tanh", 0, 0x80000000, INF, 0x80000000),
    ("softplus", 0x3F317218, 0x3F317218, INF, 0), ("mish", 0, 0x80000000, INF, 0x80000000),
    ("erf", 0, 0x80000000, ONE, 0xBF800000), ("sin", 0, 0x80000000, NAN, NAN), ("cos", ONE, ONE, NAN, NAN),
    ("arctan", 0, 0x80000000, 0x3FC90FDB, 0xBFC90FDB),
]  # fmt: skip


@pytest.mark.parametrize(("name", "zero", "minus_zero", "infinite", "minus_infinite"), SPECIAL)
def test_special_numbers(name: str, zero: int, minus_zero: int | None, infinite: int, minus_infinite: int) -> None:
    function = ACTIVATIONS[NUMBERS[name]].function
    assert (function(0), function(INF), function(MINUS_INF)) == (zero, infinite, minus_infinite)
    assert minus_zero is None or function(0x80000000) == minus_zero
    assert [function(bits) for bits in (NAN, 0xFFC12345, 0x7F800001)] == [NAN] * 3


def test_the_special_numbers_of_every_function_are_listed() -> None:
    assert {row[0] for row in SPECIAL} == {a.name for a in ACTIVATIONS if not a.parameter}


# Numbers, hook, engines ----------------------------------------------------------------------------------------------


ACT = {"scale_value": 1.0, "bias_dtype": FP32, "bias_src_n": 1}
"""Fields of an activate that leaves its operand as it is."""
ACT2 = {"imm_dtype": FP32}


def tensor(offset: int, values: int = 4, dtype: str = "fp32") -> gp.Tensor:
    return gp.Tensor("sbuf", partition=0, offset=offset, dtype=dtype, shape=(1, values))


@lane
def halved(a: int) -> int:
    """The exponent one lower: good enough for normal numbers."""
    return u32(a - u32(0x00800000))


HALF = Activation(
    number=200, name="halved", function=halved, formula="x / 2", ulp=0, evidence=Evidence(confidence="PROPOSED", source="a test"),
)  # fmt: skip


class Plugin:
    """Brings rows of the activation table."""

    GPSIMD_API = 1

    def __init__(self, *rows: Activation) -> None:
        self.rows = rows

    @gp.hookimpl
    def gpsimd_activations(self, gen: Any) -> Any:
        return self.rows


def test_gpsimd_activations_adds_a_function(any_machine: gp.Machine) -> None:
    machine = gp.load(any_machine.generation.name, plugins=[Plugin(HALF)])
    name = "activate" if "activate" in machine.names and not machine.opcodes[0x21].not_executable else "activate2"
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.float32([[1, 2, 3, 5]]), 0, 0)
    more = ACT if name == "activate" else ACT2
    record = machine.encode(name, src=tensor(0), dst=tensor(64), activation_func=200, **more)
    core.run(record)
    assert core.sbuf.read(0, 64, shape=(1, 4), dtype="fp32").tolist() == [[0.5, 1, 1.5, 2.5]]
    assert machine.owners["activation", "200"] != machine.owners["activation", "9"] == "gpsimd-core"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"number": 9}, "activation 9: .* says halved, .* says exp|activation 9: .* says exp, .* says halved"),
        ({"name": "exp"}, "activation exp: gpsimd-core gives it number 9, .* number 200"),
    ],
)
def test_two_rows_for_one_number_or_name_are_a_clash(
    any_machine: gp.Machine, changes: dict[str, Any], says: str
) -> None:
    from attrs import evolve

    with pytest.raises(PluginTrouble, match=says):
        gp.load(any_machine.generation.name, plugins=[Plugin(evolve(HALF, **changes))])


def test_a_row_may_replace_one_of_the_core(any_machine: gp.Machine) -> None:
    from attrs import evolve

    own = evolve(HALF, number=9, name="exp", overrides="gpsimd-core:exp")
    machine = gp.load(any_machine.generation.name, plugins=[Plugin(own)])
    assert machine.activations[9].function is halved


def test_what_the_table_or_the_record_lacks_is_named(load: Load) -> None:
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    with pytest.raises(gp.Unsupported, match="what function 99 is"):
        core.run(machine.encode("activate", src=tensor(0), dst=tensor(64), activation_func=99, **ACT))
    with pytest.raises(gp.Unsupported, match="where the slope of leaky_relu stands in this record"):
        core.run(
            machine.encode("activate", src=tensor(0), dst=tensor(64), activation_func=NUMBERS["leaky_relu"], **ACT)
        )


@pytest.mark.parametrize(
    ("op", "command", "says"),
    [
        ("BITWISE_AND", 2, "what a fold of fp32 values with BITWISE_AND gives"),
        ("ADD_INT", 3, "what a fold of fp32 values with ADD_INT gives"),
        ("BYPASS", 3, "what the accumulator is reset to for BYPASS"),
        ("IS_GT", 1, "what the accumulator is reset to for IS_GT"),
    ],
)
def test_folds_without_a_grounded_value_are_named(load: Load, op: str, command: int, says: str) -> None:
    machine = load("mariana")
    record = machine.encode("activate2", src=tensor(0), dst=tensor(64), reduce_cmd=command, reduce_op=op, **ACT2)
    with pytest.raises(gp.Unsupported, match=says):
        gp.NeuronCore(machine).run(record)


def test_maverick_runs_the_second_form_on_dve_and_has_no_act_forms(load: Load) -> None:
    """The accumulator that it folds into is the one that dve_read_accumulator reads."""
    machine = load("maverick")
    core = gp.NeuronCore(machine)
    assert machine.engines_of("activate2") == ("dve",)
    core.sbuf.write(np.float32([[1, 2, 3, 5]]), 0, 0)
    fold = machine.encode("activate2", src=tensor(0), dst=tensor(64), reduce_cmd=3, reduce_op="ADD", **ACT2)
    core.run(bytes(fold) + bytes(machine.encode("dve_read_accumulator", dst=tensor(128, 1))))
    assert core.sbuf.read(0, 128, shape=(1, 1), dtype="fp32").tolist() == [[11]]
    for name, fields in {
        "activate": {"src": tensor(0), "dst": tensor(64), **ACT},
        "activate_quantize": {
            "src": tensor(0), "dst": tensor(64, dtype="uint8"), "quant_scale_value": 1.0, "dequant_scale_value": 1.0,
            "bias_dtype": FP32,
        },
        "activation_read_accumulator": {"dst": tensor(64, 1)},
    }.items():  # fmt: skip
        record = machine.encode(name, **fields)
        assert machine.validate(record).ok
        with pytest.raises(gp.NotExecutable, match="not executable"):
            core.run(record)


def test_elsewhere_the_second_form_is_of_act_from_mariana_on(load: Load) -> None:
    assert load("mariana").engines_of("activate2") == ("act",)
    for gen in ("sunda", "cayman"):
        machine = load(gen)
        assert (
            "activate2" not in machine.names
            or machine.opcodes[0x25].not_executable
            or not machine.engines_of("activate2")
        )


def test_act_and_dve_have_accumulators_of_their_own(load: Load) -> None:
    machine = load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.float32([[1, 2, 3, 5]]), 0, 0)
    core.run(machine.encode("activate", src=tensor(0), dst=tensor(64), accumulator_cmd=3, **ACT))
    assert core.accumulators["act"][0] == 11
    assert not core.accumulators.defined("dve").any()
    result = core.run(machine.encode("dve_read_accumulator", dst=tensor(128, 1)))
    assert len(result.notices) == 1


def test_using_an_undefined_accumulator_is_a_notice_and_strictly_a_fault(load: Load) -> None:
    fields = {"src": tensor(0), "dst": tensor(64), "accumulator_cmd": 2, **ACT}
    core = gp.NeuronCore(load("cayman"))
    result = core.run(core.machine.encode("activate", **fields))
    assert "holds no value" in result.notices[0].text
    assert core.accumulators["act"].view(np.uint32)[0] == NAN
    strict = gp.NeuronCore(load("cayman", policies={"strict": "on"}))
    with pytest.raises(gp.Fault, match="lane 0, which holds no value"):
        strict.run(strict.machine.encode("activate", **fields))
