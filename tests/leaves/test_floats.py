"""Floating leaves against SoftFloat, exact arithmetic, and the table of NaN rules."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import softfloatpy as sf

import gpsimd_core as gp
from gpsimd_core.isa.leaves.operands import pack_word
from gpsimd_core.vectors.making import boundary_patterns

MODES = {
    "RNE": sf.RoundingMode.NEAR_EVEN,
    "RTZ": sf.RoundingMode.MIN_MAG,
    "RPI": sf.RoundingMode.MAX,
    "RMI": sf.RoundingMode.MIN,
}
JUDGE_FLAGS = {
    "inexact": sf.ExceptionFlag.INEXACT,
    "underflow": sf.ExceptionFlag.UNDERFLOW,
    "overflow": sf.ExceptionFlag.OVERFLOW,
    "invalid": sf.ExceptionFlag.INVALID,
}
FORM = {16: "nxf16", 32: "n_2xf32"}
FLOAT = {16: np.float16, 32: np.float32}
each_width = pytest.mark.parametrize("width", [16, 32])
each_mode = pytest.mark.parametrize("mode", MODES)


def is_nan(x, width):
    return (x & ((1 << (width - 1)) - 1)) > (0x7C00 if width == 16 else 0x7F800000)


def judged(call, operands, width, mode):
    """SoftFloat's result bits and flags, tininess after rounding."""
    kind = sf.Float16 if width == 16 else sf.Float32
    sf.set_tininess_mode(sf.TininessMode.AFTER_ROUNDING)
    sf.set_rounding_mode(MODES[mode])
    sf.set_exception_flags(0)
    result = call(*(kind.from_bytes(int(x).to_bytes(width // 8, "big")) for x in operands))
    raised = sf.get_exception_flags()
    return int.from_bytes(result.to_bytes(), "big"), {
        name: int(bool(raised & flag)) for name, flag in JUDGE_FLAGS.items()
    }


def hard(bits, width, arity, count):
    """Boundary patterns in all pairs, then patterns of near exponents, so that ties and cancellation are common."""
    edges = boundary_patterns(width, floating=True)
    pairs = list(itertools.islice(itertools.product(edges, edges), 0, None, 7))
    rows = [(*pair, *([edges[(k * 5) % len(edges)]] * (arity - 2))) for k, pair in enumerate(pairs)]
    fraction = 10 if width == 16 else 23
    exponents = bits.integers(1, 30 if width == 16 else 254, (count, 1)) + bits.integers(-2, 3, (count, arity))
    sparse = bits.integers(0, 1 << fraction, (count, arity)) & bits.integers(0, 1 << fraction, (count, arity))
    near = (np.clip(exponents, 0, 30 if width == 16 else 254) << fraction) | sparse
    near |= bits.integers(0, 2, (count, arity)) << (width - 1)
    return np.concatenate([np.array(rows), near])


def agree(found, flags, expected, raised, width):
    assert is_nan(found, width) if is_nan(expected, width) else found == expected
    assert {name: int(flag) for name, flag in flags.items()} == {name: raised[name] for name in flags}


@each_width
@each_mode
@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_sums_and_products_with_flags(name, mode, width, bits, compiled):
    leaf = gp.leaf(f"{name}_1_1_1_{width}f_{width}f_{width}f_2".replace("mul_", "mul_1_"), compiled=compiled)
    judge = getattr(sf, f"f{width}_{name}")
    operands = hard(bits, width, 2, 20_000 if compiled else 300)
    values, flags = leaf(operands[:, 0], operands[:, 1], mode=mode, flags=True)
    for k, row in enumerate(operands):
        expected, raised = judged(judge, row, width, mode)
        agree(int(values[k]), {name: flag[k] for name, flag in flags.items()}, expected, raised, width)


@each_width
@each_mode
@pytest.mark.parametrize("name", ["madd", "mula", "msub", "muls"])
def test_fused_forms_with_flags(name, mode, width, bits, compiled):
    leaf = gp.leaf(f"{name}_1_1_1_1_{width}f_{width}f_{width}f_{width}f_2", compiled=compiled)
    judge, sign = getattr(sf, f"f{width}_mul_add"), 1 << (width - 1)
    operands = hard(bits, width, 3, 20_000 if compiled else 100)
    operands = operands if compiled else operands[::3]
    values, flags = leaf(*operands.T, mode=mode, flags=True)
    for k, (a, b, c) in enumerate(operands.tolist()):
        turned = b if name in ("madd", "mula") or is_nan(b, width) else b ^ sign
        expected, raised = judged(judge, (turned, c, a), width, mode)
        agree(int(values[k]), {name: flag[k] for name, flag in flags.items()}, expected, raised, width)


@each_width
def test_newton_forms_force_nearest_even(width, bits):
    a, b, c = hard(bits, width, 3, 60).T
    for name, plain in (("maddn", "madd"), ("msubn", "msub")):
        nearest = gp.leaf(f"{plain}_1_1_1_1_{width}f_{width}f_{width}f_{width}f_2")(a, b, c, mode="RNE")
        assert np.array_equal(gp.leaf(f"{name}_{width}f")(a, b, c), nearest)


@each_width
@each_mode
def test_mulsone_is_one_minus_the_product(width, mode, bits):
    a, b = hard(bits, width, 2, 60).T
    one = 0x3C00 if width == 16 else 0x3F800000
    short = f"mulsone_1_1_1_1_{width}f_{width}f_{width}f_2"
    found, flags = gp.leaf(short)(a, b, mode=mode, flags=True)
    msub = gp.leaf(f"msub_1_1_1_1_{width}f_{width}f_{width}f_{width}f_2")
    expected, raised = msub(np.full_like(a, one), a, b, mode=mode, flags=True)
    assert np.array_equal(found, expected)
    assert all(np.array_equal(flags[name], raised[name]) for name in flags)


@each_mode
def test_narrowing_with_flags(mode, bits, compiled):
    narrow = gp.leaf("cvtf16_1_1_1_1_16f_32f_2", compiled=compiled)
    halves = np.arange(0, 1 << 15, 37, np.uint16).view(np.float16).astype(np.float32).view(np.uint32).astype(np.int64)
    inputs = np.concatenate([halves + step for step in (0, 1, 0xFFF, 0x1000, 0x1001, 0x1800)])
    inputs = np.concatenate([inputs, inputs | 0x80000000, boundary_patterns(32, floating=True)])
    inputs = inputs if compiled else inputs[::5]
    values, flags = narrow(inputs, mode=mode, flags=True)
    for k, x in enumerate(inputs.tolist()):
        sf.set_rounding_mode(MODES[mode])
        sf.set_tininess_mode(sf.TininessMode.AFTER_ROUNDING)
        sf.set_exception_flags(0)
        expected = int.from_bytes(sf.f32_to_f16(sf.Float32.from_bytes(x.to_bytes(4, "big"))).to_bytes(), "big")
        raised = sf.get_exception_flags()
        found = int(values[k])
        assert found == (0x7E00 if is_nan(expected, 16) else expected), hex(x)  # a NaN is the canonical one
        assert {n: int(f[k]) for n, f in flags.items()} == {n: int(bool(raised & f)) for n, f in JUDGE_FLAGS.items()}


def test_widening_every_half(compiled):
    codes = np.arange(1 << 16, dtype=np.uint16)
    value, flags = gp.leaf("cvtf32_1_32f_16f", compiled=compiled)(codes, flags=True)
    nan = (codes & 0x7FFF) > 0x7C00
    signalling = nan & ((codes & 0x0200) == 0)
    exact = codes[~nan].view(np.float16).astype(np.float32).view(np.uint32)
    assert np.array_equal(value[~nan], exact)
    wide = codes[nan].astype(np.uint32)
    kept = ((wide & 0x8000) << 16) | 0x7F800000 | 0x00400000 | ((wide & 0x3FF) << 13)
    assert np.array_equal(value[nan], kept)
    assert np.array_equal(flags["invalid"], signalling)


# Integral values


def integral(x, name):
    """The integral value of exact numbers; halves of firound go away from zero."""
    rounds = {
        "ficeil": np.ceil,
        "fifloor": np.floor,
        "fitrunc": np.trunc,
        "RNE": np.rint,
        "RTZ": np.trunc,
        "RPI": np.ceil,
        "RMI": np.floor,
    }
    if name == "firound":
        return np.copysign(np.floor(np.abs(x) + 0.5), x)
    return np.copysign(rounds[name](x), x)


@pytest.mark.parametrize("name", ["ficeil", "fifloor", "fitrunc", "firound"])
def test_every_half_through_every_fixed_round(name, compiled):
    codes = np.arange(1 << 16, dtype=np.uint16)
    value, flags = gp.leaf(f"{name}_1_16f_16f", compiled=compiled)(codes, flags=True)
    nan = (codes & 0x7FFF) > 0x7C00
    expected = integral(codes[~nan].view(np.float16).astype(np.float64), name).astype(np.float16)
    assert np.array_equal(value[~nan], expected.view(np.uint16))
    assert np.array_equal(value[nan], codes[nan] | 0x0200)  # quieted in place
    assert np.array_equal(flags["invalid"], nan & ((codes & 0x0200) == 0))


@each_mode
def test_every_half_through_the_dynamic_round(mode, compiled):
    codes = np.arange(0, 1 << 16, 1 if compiled else 3, dtype=np.uint16)
    value, flags = gp.leaf("firint_1_1_16f_16f_2", compiled=compiled)(codes, mode=mode, flags=True)
    nan = (codes & 0x7FFF) > 0x7C00
    expected = integral(codes[~nan].view(np.float16).astype(np.float64), mode).astype(np.float16)
    assert np.array_equal(value[~nan], expected.view(np.uint16))
    assert np.array_equal(value[nan], codes[nan] | 0x0200)
    assert np.array_equal(flags["inexact"][~nan], expected != codes[~nan].view(np.float16))


@pytest.mark.parametrize("name", ["ficeil", "fifloor", "fitrunc", "firound"])
def test_fp32_integral_rounds(name, bits, compiled):
    halves = np.arange(-70, 71) / 4
    powers = np.ldexp(1.5, np.arange(-149, 128))
    numbers = np.concatenate(
        [halves, powers, -powers, np.nextafter(np.float32(0.5), [0, 1]), [0.0, -0.0, np.inf, -np.inf]]
    )
    x = numbers.astype(np.float32)
    found = gp.leaf(f"{name}_1_32f_32f", compiled=compiled)(x)
    expected = integral(x.astype(np.float64), name).astype(np.float32)
    assert np.array_equal(found.view(np.uint32), expected.view(np.uint32))


# Integers


def number_of(code, width):
    return Fraction(float(np.array(code, f"u{width // 8}").view(FLOAT[width])))


@each_mode
@pytest.mark.parametrize(
    ("name", "width", "source", "is_signed"),
    [
        ("float_1_32f_32_32_2", 32, 32, True),
        ("ufloat_1_32f_32_32_2", 32, 32, False),
        ("float16_1_16f_16_32_2", 16, 16, True),
        ("ufloat16_1_1_16f_16_32_2", 16, 16, False),
    ],
)
def test_integers_into_floats(name, width, source, is_signed, mode, bits, compiled):
    fraction = 11 if width == 16 else 24
    top = 1 << (source - 1)
    values = [0, 1, top - 1, top, top + 1, 2 * top - 1, *bits.integers(0, 2 * top, 60).tolist()]
    values += [(1 << k) + d for k in range(fraction - 1, source - 1) for d in (-1, 1, (1 << k) // 3)]
    leaf = gp.leaf(name, compiled=compiled)
    for x in values:
        exact = Fraction(x - 2 * top if is_signed and x >= top else x)
        for scale in (0, 1, 5, leaf.leaf.args[1].bits ** 2 // 2):
            value, flags = leaf(x, scale, mode=mode, flags=True)
            expected, overflows = exactly_rounded(exact / (1 << scale), fraction, mode, 65504 if width == 16 else None)
            found = number_of(value, width) if np.isfinite(value.view(FLOAT[width])) else None
            assert found == expected, (x, scale)
            assert flags["inexact"] == (expected is None or expected != exact / (1 << scale))
            if "overflow" in flags:
                assert flags["overflow"] == overflows


def exactly_rounded(x, digits, mode, largest):
    """x to `digits` significant bits (no subnormal here), None for infinity, and whether it overflowed."""
    if x == 0:
        return x, False
    scale = digits - (abs(x.numerator).bit_length() - x.denominator.bit_length())
    scale -= abs(x) * Fraction(2) ** scale >= 2**digits
    unit = Fraction(2) ** -scale
    up = {"RNE": round, "RTZ": math.trunc, "RPI": math.ceil, "RMI": math.floor}[mode]
    value = up(x / unit) * unit
    if largest is not None and abs(value) > largest:
        stays = mode == "RTZ" or mode == ("RMI" if x > 0 else "RPI")
        return (Fraction(largest) * (1 if x > 0 else -1), True) if stays else (None, True)
    return value, False


@pytest.mark.parametrize(
    ("name", "width", "is_signed"),
    [
        ("trunc_1_1_32_32f_32", 32, True),
        ("utrunc_1_1_32u_32f_32", 32, False),
        ("trunc16", 16, True),
        ("utrunc16", 16, False),
    ],
)
def test_floats_into_integers(name, width, is_signed, bits, compiled):
    leaf = gp.leaf(name, compiled=compiled)
    top = 1 << (width - 1)
    greatest = top - 1 if is_signed else 2 * top - 1
    codes = [*boundary_patterns(width, floating=True), *hard(bits, width, 2, 60)[:, 0].tolist()]
    powers = FLOAT[width](2.0) ** np.arange(0, 16 if width == 16 else 34)
    near = np.concatenate([powers, -powers, powers * FLOAT[width](1.5), powers - FLOAT[width](0.5)]).astype(
        FLOAT[width]
    )
    codes += near.view(f"u{width // 8}").tolist()
    for code in codes:
        for scale in (0, 1, width // 2 - 1):
            value, flags = leaf(code, scale, flags=True)
            found = (int(value), int(flags["inexact"]), int(flags["overflow"]))
            number = np.array(code, f"u{width // 8}").view(FLOAT[width])
            if np.isnan(number):
                assert found == (greatest, 0, 1)
                continue
            if np.isinf(number):
                assert found == (top if number < 0 else greatest, 0, 1)
                continue
            exact = number_of(code, width) * (1 << scale)
            whole = math.trunc(exact)
            if whole > greatest:
                assert found == (greatest, 0, 1)
            elif whole < -top:
                assert found == (top, 0, 1)
            else:
                flagged = not is_signed and whole < 0
                assert found == (whole % (2 * top), int(whole != exact and not flagged), int(flagged))


# Comparisons, extrema, classes


def relation(a, b, width):
    x, y = (np.array(code, f"u{width // 8}").view(FLOAT[width]) for code in (a, b))
    return "unordered" if np.isnan(x) or np.isnan(y) else "less" if x < y else "greater" if x > y else "equal"


COMPARES = {  # name: relations that are true, and which NaN raises Invalid
    "oeq": ({"equal"}, "signalling"),
    "olt": ({"less"}, "any"),
    "ole": ({"less", "equal"}, "any"),
    "ueq": ({"equal", "unordered"}, "signalling"),
    "ult": ({"less", "unordered"}, "signalling"),
    "ule": ({"less", "equal", "unordered"}, "signalling"),
    "un": ({"unordered"}, "signalling"),
    "uneq": ({"less", "greater", "unordered"}, "signalling"),
    "uleq": ({"less", "equal", "unordered"}, "any"),
    "ultq": ({"less", "unordered"}, "any"),
}


def signalling(x, width):
    return is_nan(x, width) and not x >> (9 if width == 16 else 22) & 1


@each_width
@pytest.mark.parametrize("name", COMPARES)
def test_comparisons_of_every_class_of_number(name, width, compiled):
    true_for, raising = COMPARES[name]
    edges = boundary_patterns(width, floating=True)
    field = width // 8
    leaf = gp.leaf(f"{name}_1_{field}_{width}f_{width}f", compiled=compiled)
    a, b = np.array(list(itertools.product(edges, edges))).T
    pred, flags = leaf(a, b, flags=True)
    gated = None
    if name not in ("uneq", "uleq", "ultq"):
        one_bit = gp.leaf(f"{name}_1_1_{width}f_{width}f", compiled=compiled)(a, b)
        assert np.array_equal(one_bit, pred & 1)
        gated = gp.leaf(f"{name}_1_{field}_{width}f_{width}f_{field}f_t", compiled=compiled)
        assert np.array_equal(gated(a, b, 1), pred)
        dead, silent = gated(a, b, (1 << field) - 2, flags=True)  # the lowest bit of the field decides
        assert not dead.any()
        assert not silent["invalid"].any()
    for x, y, found, invalid in zip(a.tolist(), b.tolist(), pred.tolist(), flags["invalid"].tolist(), strict=True):
        assert found == ((1 << field) - 1 if relation(x, y, width) in true_for else 0)
        loud = signalling(x, width) or signalling(y, width)
        assert invalid == (loud or (raising == "any" and relation(x, y, width) == "unordered"))


@each_width
def test_extrema_of_every_class_of_number(width, compiled):
    edges = boundary_patterns(width, floating=True)
    a, b = np.array(list(itertools.product(edges, edges))).T
    for name, better in (("min", "less"), ("max", "greater")):
        plain, raised = gp.leaf(f"{name}_1_{width}f_{width}f_{width}f", compiled=compiled)(a, b, flags=True)
        number, loud = gp.leaf(f"{name}num_1_{width}f_{width}f_{width}f", compiled=compiled)(a, b, flags=True)
        for k, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            related = relation(x, y, width)
            assert plain[k] == (x if related == better else y)  # ties, zeros and NaN: the second, as it is
            assert raised["invalid"][k] == (related == "unordered")
            if related == "unordered":
                expected = y if is_nan(x, width) else x
            elif related == "equal" and x != y:  # zeros: -0 below +0
                expected = max(x, y) if name == "min" else min(x, y)
            else:
                expected = x if related == better else y
            assert number[k] == expected
            assert loud["invalid"][k] == (signalling(x, width) or signalling(y, width))


@each_width
def test_classes_are_disjoint_and_complete(width, compiled):
    codes = np.arange(1 << 16) if width == 16 else np.array(boundary_patterns(32, floating=True))
    found = gp.leaf(f"clsfy_{width}f_{width}f", compiled=compiled)(codes)
    numbers = codes.astype(f"u{width // 8}").view(FLOAT[width])
    magnitude = np.abs(numbers)
    tiny = np.finfo(FLOAT[width]).tiny
    loud = np.array([signalling(int(code), width) for code in codes])
    expected = (codes >> (width - 1)).astype(np.uint8)
    for bit, truth in (
        (1, magnitude == 0),
        (2, (magnitude > 0) & (magnitude < tiny)),
        (3, np.isfinite(numbers) & (magnitude >= tiny)),
        (4, np.isinf(numbers)),
        (5, np.isnan(numbers)),
        (6, loud),
        (7, np.isfinite(numbers)),
    ):
        expected |= truth.astype(np.uint8) << bit
    assert np.array_equal(found, expected)


@each_width
def test_sign_moves_and_exponent_sums(width, compiled):
    edges = np.array(boundary_patterns(width, floating=True))
    sign = 1 << (width - 1)
    assert np.array_equal(gp.leaf(f"neg_{width}f_{width}f", compiled=compiled)(edges), edges ^ sign)
    assert np.array_equal(gp.leaf(f"abs_{width}f_{width}f", compiled=compiled)(edges), edges & ~sign)
    fraction, field, bias = (10, 31, 15) if width == 16 else (23, 255, 127)
    a, b = np.array(list(itertools.product(edges, edges))).T
    exponent = ((a >> fraction) + (b >> fraction) - bias) & field
    expected = ((a ^ b) & sign) | (exponent << fraction) | (a & ((1 << fraction) - 1))
    assert np.array_equal(gp.leaf(f"addexp_{width}f_{width}f_{width}f", compiled=compiled)(a, b), expected)


# Folds


def order_key(x, width):
    """A number that orders the patterns as their values, -0 below +0."""
    sign = 1 << (width - 1)
    return -1 - (x ^ sign) if x & sign else x


def folded(v, keep, width, largest):
    """(best, winners, invalid) of the kept lanes that are numbers."""
    alive = [x for x, kept in zip(v, keep, strict=True) if kept and not is_nan(x, width)]
    choose = max if largest else min
    best = choose(alive, key=lambda x: order_key(x, width), default=0x7E00 if width == 16 else 0x7FC00000)
    winners = [bool(kept and alive and x == best) for x, kept in zip(v, keep, strict=True)]
    return best, winners, any(kept and signalling(x, width) for x, kept in zip(v, keep, strict=True))


@each_width
@pytest.mark.parametrize("largest", [True, False])
def test_number_folds(width, largest, bits, compiled):
    lanes, name, form = 512 // width, "max" if largest else "min", FORM[width]
    edges = boundary_patterns(width, floating=True)
    pools = (edges, [x for x in edges if not is_nan(x, width)], [x for x in edges if is_nan(x, width)], [0, edges[1]])
    for pool in pools * 8:
        v = bits.choice(pool, lanes).tolist()
        keep = bits.integers(0, 2, lanes).astype(bool)
        every, none = np.ones(lanes, bool), np.zeros(lanes, bool)
        best, winners, invalid = folded(v, every, width, largest)
        value, flags = gp.leaf(f"r{name}num_{form}", compiled=compiled)(v, flags=True)
        assert (int(value), bool(flags["invalid"])) == (best, invalid)
        (found, value), flags = gp.leaf(f"rb{name}num_{form}", compiled=compiled)(v, flags=True)
        assert (int(value), bool(flags["invalid"])) == (best, invalid)
        assert found == pack_word(winners)
        for mask in (keep, none):
            best, winners, invalid = folded(v, mask, width, largest)
            (found, value), flags = gp.leaf(f"rb{name}num_{form}_t", compiled=compiled)(v, mask, flags=True)
            assert (int(value), bool(flags["invalid"])) == (best, invalid)
            assert found == pack_word(winners)


# NaN: which operand wins, what becomes of its payload, when Invalid is raised

NAN_RULES = [  # leaf, operands with their kinds, index of the operand that wins, how it comes back
    ("add", "first NaN operand", [0, 1]),
    ("sub", "first NaN operand", [0, 1]),
    ("mul", "second NaN operand", [1, 0]),
    ("madd", "addend, third, second", [0, 2, 1]),
    ("msub", "addend, third, second", [0, 2, 1]),
]


@each_width
@pytest.mark.parametrize(("name", "order", "priority"), NAN_RULES)
def test_nan_priority_and_payload(name, order, priority, width):
    arity, one = len(priority), 0x3C00 if width == 16 else 0x3F800000
    quiet_bit = 1 << (9 if width == 16 else 22)
    infinity, sign = (0x7C00, 0x8000) if width == 16 else (0x7F800000, 0x80000000)
    kinds = {
        "number": lambda k: one,
        "quiet": lambda k: infinity | quiet_bit | (0x11 * (k + 1)),
        "signalling": lambda k: sign | infinity | (0x101 + k),
    }
    long = {"add": "1_1_1", "sub": "1_1_1", "mul": "1_1_1_1"}.get(name, "1_1_1_1")
    leaf = gp.leaf(f"{name}_{long}_{'_'.join([f'{width}f'] * (arity + 1))}_2")
    for chosen in itertools.product(kinds, repeat=arity):
        operands = [kinds[kind](k) for k, kind in enumerate(chosen)]
        winner = next((k for k in priority if chosen[k] != "number"), None)
        if winner is None:
            continue
        value, flags = leaf(*operands, flags=True)
        assert value == operands[winner] | quiet_bit  # sign and payload stay
        assert flags["invalid"] == ("signalling" in chosen)
        assert not any(flag for flag_name, flag in flags.items() if flag_name != "invalid")


@each_width
@each_mode
def test_made_nan_is_the_positive_canonical_one(width, mode):
    infinity, sign = (0x7C00, 0x8000) if width == 16 else (0x7F800000, 0x80000000)
    canonical = 0x7E00 if width == 16 else 0x7FC00000
    f = f"{width}f"
    for name, operands in (
        (f"add_1_1_1_{f}_{f}_{f}_2", (infinity, infinity | sign)),
        (f"sub_1_1_1_{f}_{f}_{f}_2", (infinity | sign, infinity | sign)),
        (f"mul_1_1_1_1_{f}_{f}_{f}_2", (0, infinity | sign)),
        (f"madd_1_1_1_1_{f}_{f}_{f}_{f}_2", (infinity, infinity | sign, canonical - infinity)),
        (f"madd_1_1_1_1_{f}_{f}_{f}_{f}_2", (0, sign, infinity)),
    ):
        value, flags = gp.leaf(name)(*operands, mode=mode, flags=True)
        assert (int(value), int(flags["invalid"])) == (canonical, 1)
