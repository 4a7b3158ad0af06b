"""How fast values are: conversions against memcpy, fused multiply-add against a prepared softfloat call.

Every figure is a ratio taken inside one process on one thread, best of several tries; random bit patterns throughout.
Run `python benchmarks/values.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import softfloatpy

from gpsimd_core.isa.formats import FORMATS, format_row
from gpsimd_core.isa.lane import bind, compiled
from gpsimd_core.isa.lanes.convert import narrow_float_loop
from gpsimd_core.isa.lanes.fma import fused_row32
from gpsimd_core.isa.lanes.rounding import MODES

LARGE, SMALL = 1 << 24, 1 << 16
FIVE = ("RNE", "RTZ", "RPI", "RMI", "RNA")
CONVERSIONS = (
    *(("fp16", mode, 0.50) for mode in FIVE),
    ("bf16", "RNE", 0.60),
    ("fp8_e4m3", "RNE", 0.50),
    ("fp8_e5m2", "RNE", 0.50),
    ("fp8_e3m4", "RNE", 0.50),
)


def best(call: Callable[[], object], *, tries: int = 9, repeats: int = 1) -> float:
    """Seconds of one call, the best of several tries."""
    seconds = []
    for _ in range(tries):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        seconds.append((time.perf_counter() - start) / repeats)
    return min(seconds)


def copying(bits: np.ndarray, repeats: int) -> float:
    """Seconds of a plain copy. Some distances between source and target make it many times slower; the best counts."""
    room = np.zeros(bits.size + 4096, np.uint32)
    targets = [room[start : start + bits.size] for start in (0, 16, 528, 1040, 2064)]
    return min(best(lambda: np.copyto(target, bits), tries=4, repeats=repeats) for target in targets)  # noqa: B023


def conversions(size: int, required: float | None) -> Iterator[tuple[str, float, float, str]]:
    """fp32 to every timed format at one size, as a share of memcpy's elements per second."""
    repeats = max(1, (1 << 22) // size)
    bits = np.random.default_rng(0).integers(0, 1 << 32, size, dtype=np.uint32)
    for name, mode, wanted in CONVERSIONS:
        fmt = FORMATS[name]
        loop = compiled(bind(narrow_float_loop, ROW=format_row(fmt, rounding_mode=MODES[mode])))
        out = np.zeros(size, fmt.code_dtype)
        loop(bits, out)
        mine = best(lambda: loop(bits, out), repeats=repeats)  # noqa: B023
        memcpy = copying(bits, repeats)
        label = f"fp32 to {name} {mode}, 2^{size.bit_length() - 1}"
        yield label, memcpy / mine, wanted if required is None else required, "of memcpy"


def fused() -> Iterator[tuple[str, float, float, str]]:
    """Fused multiply-add against a softfloat call whose operands are ready."""
    modes = softfloatpy.RoundingMode
    theirs = dict(zip(FIVE, (modes.NEAR_EVEN, modes.MIN_MAG, modes.MAX, modes.MIN, modes.NEAR_MAX_MAG), strict=True))
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(0, 1 << 32, LARGE, dtype=np.uint32) for _ in range(3))
    out = np.zeros(LARGE, np.uint32)
    few = 20_000
    ready = [
        tuple(softfloatpy.Float32.from_bytes(int(x).to_bytes(4, "big")) for x in triple)
        for triple in zip(b[:few], c[:few], a[:few], strict=True)
    ]

    def call() -> None:
        for x, y, z in ready:
            softfloatpy.f32_mul_add(x, y, z)

    loop = compiled(fused_row32)
    for mode in FIVE:
        softfloatpy.set_rounding_mode(theirs[mode])
        loop(a[:8], b[:8], c[:8], out[:8], 0, MODES[mode])
        one = best(call, tries=5) / few
        mine = best(lambda: loop(a, b, c, out, 0, MODES[mode]), tries=5) / LARGE  # noqa: B023
        yield f"fp32 fused multiply-add {mode}, 2^24", one / mine, 30.0, "x a softfloat call"


def rows() -> Iterator[tuple[str, float, float, str]]:
    """(name, measured ratio, required ratio, unit) of every figure."""
    yield from conversions(LARGE, None)
    yield from conversions(SMALL, 0.30)
    yield from fused()


if __name__ == "__main__":
    for name, ratio, required, unit in rows():
        print(f"{name:40} {ratio:8.2f} {unit:20} required {required:.2f}{'' if ratio >= required else '   MISSED'}")
