"""Every scalar lane of the numeric core gives the same compiled as plain."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gpsimd_core.isa.enums import AluOp
from gpsimd_core.isa.formats import FORMATS, format_row
from gpsimd_core.isa.lane import compiled, is_lane
from gpsimd_core.isa.lanes import alu, alu_integer, fma, hub, mx, rounding, transcend
from gpsimd_core.isa.lanes.rounding import MODES

MODULES = (rounding, hub, fma, alu, alu_integer, transcend, mx)
ARRAYS = {"out", "hub"}
EDGES = (0, 1, 2, 0x7F, 0x80, 0x7C00, 0x7C01, 0xFE00, 0x007FFFFF, 0x00800000, 0x3F800000, 0x4B800000, 0x7F7FFFFF)
EDGES += (0x7F800000, 0x7F800001, 0x7FC00000, 0x80000000, 0xBF800000, 0xFF800000, 0xFFC00001, 0xFFFFFFFF)

Lane = tuple[str, Any, bool]


def lanes() -> Iterator[Lane]:
    """(name, lane, whether its words have 64 bits) of every scalar lane, bound ones included; rows have tests apart."""
    for module in MODULES:
        for name, value in vars(module).items():
            if (
                is_lane(value)
                and value.__module__ == module.__name__
                and not ARRAYS & {*inspect.signature(value).parameters}
            ):
                is_wide = name.endswith("64") or name in ("alu_int", "alu_bitvec", "argument_wins")
                yield f"{module.__name__.rpartition('.')[2]}.{name}", value, is_wide


def arguments(name: str, function: Any, is_wide: bool, rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    """One set of arguments: for the plain function, for the compiled one."""
    word = np.uint64 if is_wide else np.uint32
    width = 64 if is_wide else 32
    mode = int(rng.choice(sorted(MODES.values())))
    fmt = FORMATS[
        str(rng.choice(["fp16", "bf16", "fp32r", "fp8_e4m3fn", "fp8_e5m2", "fp4_e2m1", "int8", "uint32", "e8m0"]))
    ]
    row = format_row(fmt, rounding_mode=mode)
    plain: list[Any] = []
    built: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        key, note = parameter.name, parameter.annotation
        if key == "row":
            plain.append(row)
            built.append(np.array(row))
        elif key in ("target", "reader"):
            float_row = format_row(FORMATS["fp16"], rounding_mode=mode)
            if key == "reader":
                numbers = hub.reader_of(float_row)
            elif is_wide:
                numbers = rounding.ieee_target64(5, 10, mode)
            else:
                numbers = hub.target_of(float_row)
            plain.append(numbers)
            built.append(tuple(word(value) for value in numbers))
        elif note == "float":
            value = float(rng.choice([rng.normal(0, 1), rng.normal(0, 1e9), rng.random(), 0.0]))
            value = {"erfc64": min(abs(value), 11.0), "log1p64": abs(value)}.get(name.rpartition(".")[2], value)
            if name.endswith("log64"):
                value = abs(value) + 1e-30
            if name.endswith(("exp64", "expm1_64", "exp_parts64")):
                value = math.remainder(value, 600.0)
            if name.endswith(("atanh_series64", "erf_series64")):
                value = math.remainder(value, 0.3)
            if key == "limit":
                value = 20.0
            plain.append(value)
            built.append(value)
        else:
            value = integer(key, width, mode, rng)
            plain.append(value)
            small = key in ("mode", "op", "width", "signed", "wrap", "nan_policy", "negate", "rule", "emax")
            small |= key in ("exponent_bits", "mantissa_bits", "index", "seed", "key") or (
                key == "bits" and "limit_of" in name
            )
            built.append(value if small else word(value))
    return plain, built


def integer(key: str, width: int, mode: int, rng: np.random.Generator) -> int:
    small = {
        "mode": mode,
        "op": int(rng.choice(list(AluOp))),
        "signed": int(rng.integers(0, 2)),
        "wrap": int(rng.integers(0, 2)),
        "sign": int(rng.integers(0, 2)),
        "odd": int(rng.integers(0, 2)),
        "negate": int(rng.integers(0, 2)),
        "nan_policy": int(rng.integers(0, 3)),
        "rule": int(rng.integers(0, 2)),
        "emax": 8,
        "exponent_bits": 5,
        "mantissa_bits": 10,
        "width": width,
        "count": int(rng.integers(0, width)),
        "scale": int(rng.integers(0, 255)),
        "index": int(rng.integers(0, 99)),
        "key": int(rng.integers(-(2**31), 2**31)),
    }
    if key in small:
        return small[key]
    value = int(rng.choice(EDGES)) if rng.random() < 0.3 else int(rng.integers(0, 1 << 32))
    return value << (width - 32) if rng.random() < 0.5 else value


@pytest.mark.parametrize(("name", "function", "is_wide"), [pytest.param(*row, id=row[0]) for row in lanes()])
def test_compiled_equals_plain(name: str, function: Any, is_wide: bool) -> None:
    twin = compiled(function)
    rng = np.random.default_rng(len(name))
    for _ in range(60):
        plain, built = arguments(name, function, is_wide, rng)
        mine, theirs = function(*plain), twin(*built)
        mine = mine if isinstance(mine, tuple) else (mine,)
        theirs = theirs if isinstance(theirs, tuple) else (theirs,)
        for one, other in zip(mine, theirs, strict=True):
            if isinstance(one, float):
                assert np.float64(one).tobytes() == np.float64(other).tobytes(), (plain, one, other)
            else:
                bits = 64 if is_wide else 32
                assert int(one) % (1 << bits) == int(other) % (1 << bits), (plain, one, other)
