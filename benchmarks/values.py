"""How fast values are: conversions against memcpy, fused multiply-add against a prepared softfloat call.

Every figure is a ratio taken inside one process on one thread, best of several tries; random bit patterns throughout.
Run `python benchmarks/values.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import softfloatpy
from timing import Row, together

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


def conversions(size: int, required: float | None) -> Iterator[Row]:
    """fp32 to every timed format at one size, as a share of memcpy's elements per second."""
    repeats = max(1, (1 << 22) // size)
    bits = np.random.default_rng(0).integers(0, 1 << 32, size, dtype=np.uint32)
    # Some distances between source and target make either many times slower: the best of a few counts.
    room = np.zeros(size + 4096, np.uint32)
    starts = (0, 16, 528, 1040, 2064)

    def copy_to(target: np.ndarray) -> Callable[[], None]:
        return lambda: repeated(lambda: np.copyto(target, bits), repeats)

    for name, mode, wanted in CONVERSIONS:
        fmt = FORMATS[name]
        loop = compiled(bind(narrow_float_loop, ROW=format_row(fmt, rounding_mode=MODES[mode])))

        def narrow_to(out: np.ndarray, loop: Callable[..., None] = loop) -> Callable[[], None]:
            return lambda: repeated(lambda: loop(bits, out), repeats)

        loop(bits, room.view(fmt.code_dtype)[:size])
        timed = [
            together(copy_to(room[start:][:size]), narrow_to(room[start:].view(fmt.code_dtype)[:size]), 6)
            for start in starts
        ]
        ratio = min(copied for copied, _ in timed) / min(narrowed for _, narrowed in timed)
        label = f"fp32 to {name} {mode}, 2^{size.bit_length() - 1}"
        yield Row(label, ratio, wanted if required is None else required, False, "of memcpy")


def repeated(work: Callable[[], object], times: int) -> None:
    """A call so short that one timing of it says little."""
    for _ in range(times):
        work()


def fused() -> Iterator[Row]:
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
        called, mine = together(call, lambda: loop(a, b, c, out, 0, MODES[mode]), 6)  # noqa: B023
        yield Row(
            f"fp32 fused multiply-add {mode}, 2^24", called / few / (mine / LARGE), 30.0, False, "x a softfloat call"
        )


def rows() -> Iterator[Row]:
    """Every figure."""
    yield from conversions(LARGE, None)
    yield from conversions(SMALL, 0.30)
    yield from fused()


if __name__ == "__main__":
    for name, ratio, required, _, unit in rows():
        print(f"{name:40} {ratio:8.2f} {unit:20} required {required:.2f}{'' if ratio >= required else '   MISSED'}")
