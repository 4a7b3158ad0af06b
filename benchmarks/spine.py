"""Ratios of the spine: select_reduce on a tile, decode and validate in bulk, small instructions, start-up."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
from timing import Row, best, together

import gpsimd_core as gp


def rows() -> Iterator[Row]:
    """The rows of this module, measured now."""
    yield from tile()
    yield from bulk()
    yield from small()
    yield from start_up()


def tile() -> Iterator[Row]:
    """0xEA on a (128, 4096) fp32 tile under a random 50 % uint8 predicate."""
    machine = gp.load("cayman")
    core = gp.NeuronCore(machine)
    shape = (128, 4096)
    rng = np.random.default_rng(1)
    mask = rng.integers(0, 2, shape, dtype=np.uint8)
    data = rng.standard_normal(shape).astype(np.float32)
    core.sbuf.write(mask)
    core.sbuf.write(data, offset=0x2000)
    record = machine.encode(
        "select_reduce",
        src0=gp.Tensor(dtype="uint8", shape=shape),
        src1=gp.Tensor(offset=0x2000, dtype="fp32", shape=shape),
        dst=gp.Tensor(offset=0x8000, dtype="fp32", shape=shape),
        accumulator_cmd="ZERO_ACCUMULATE",
    )
    program = machine.decode(record)
    core.run(program)
    target, condition = np.empty_like(data), mask.astype(bool)

    def idiom() -> None:
        np.copyto(target, data, where=condition)
        np.fmax.reduce(data, axis=1, where=condition, initial=-np.inf)

    kernel, memcpy = together(lambda: core.run(program), lambda: np.copyto(target, data), 200)
    yield Row("select_reduce, (128, 4096) fp32, random 50 % uint8", kernel / memcpy, 2.0, True, "x memcpy")
    yield Row("the same against copyto(where) and fmax.reduce(where)", best(idiom, 5) / kernel, 60, False, "x faster")


FORMAT = struct.Struct("<4B4BI I2h2H I2h2H 9B3x I2h2H I")


def by_hand(data: bytes, count: int) -> int:
    """How many records satisfy the 20 rules of 0xEA, one at a time: unpack, then plain comparisons."""
    good = 0
    int_codes, plain = {2, 3, 4, 5, 8, 9}, {2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15}
    sizes = {2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 2, 8: 4, 9: 4, 10: 4, 11: 4, 13: 1, 14: 1, 15: 1}

    def region(address: int) -> str:
        return "sbuf" if address < 0x2000000 else "psum" if address < 0x2400000 else ""

    def tensor(word: int, n0: int, n1: int, code: int, write: bool) -> bool:
        if word >> 29:
            return word >> 31 == 1 and word & 0x20FFFF00 == 0 and word & 0xFF < 64
        where = region(word)
        if not n0 or not n1 or not where or word % sizes[code]:
            return False
        if where == "sbuf":
            return word % 0x40000 < 0x38000
        return (word - 0x2000000) % 0x8000 < 0x4000 and (not write or sizes[code] == 4)

    def start(word: int, channels: int) -> bool:
        if word >> 29:
            return True
        stride = 0x40000 if region(word) == "sbuf" else 0x8000
        partition = word % 0x2000000 // stride
        return partition % (128 if channels > 64 else 64 if channels > 32 else 32) == 0

    for i in range(count):
        r = FORMAT.unpack_from(data, 64 * i)
        opcode, length, _, _, wait, _, update, _, _ = r[:9]
        a0, _, _, n00, n01 = r[9:14]
        a1, _, _, n10, n11 = r[14:19]
        op0, op1, reverse, source, pair, out, channels, imm_dtype, command = r[19:28]
        ad, _, _, nd0, nd1 = r[28:33]
        lo, hi = pair & 15, pair >> 4
        good += bool(
            opcode == 0xEA
            and length == 16
            and wait < 0x86
            and update < 0x9A
            and lo in int_codes
            and hi in plain
            and hi not in (8, 9)
            and imm_dtype in plain
            and (out in plain or out == 11)
            and (source or imm_dtype == 10)
            and source < 3
            and op0 == 0
            and op1 == 8
            and 1 <= channels <= 128
            and start(a0, channels)
            and start(a1, channels)
            and start(ad, channels)
            and tensor(a0, n00, n01, lo, False)
            and tensor(a1, n10, n11, hi, False)
            and tensor(ad, nd0, nd1, out, True)
            and n00 * n01 == n10 * n11
            and n00 * n01 == nd0 * nd1
            and (region(a0) != region(a1) or a0 // 0x40000 // 32 == a1 // 0x40000 // 32)
            and command in (0, 2, 3)
            and reverse in (0, 1)
            and data[64 * i + 45 : 64 * i + 48] == b"\0\0\0"
        )
    return good


def bulk() -> Iterator[Row]:
    """Decode and validate a stream, against unpacking and comparing record by record."""
    machine = gp.load("cayman")
    count = 20_000
    raw = np.frombuffer(_distinct(machine, 1000) * (count // 1000), np.uint8).copy()
    data = raw.tobytes()

    def ours() -> None:
        report = machine.validate(machine.decode(data))
        assert report.ok

    assert by_hand(data, count) == count
    fast, slow = together(ours, lambda: by_hand(data, count), 5)
    yield Row("decode and validate 20,000 records of 0xEA", slow / fast, 12, False, "x faster than a Python loop")
    yield Row("the same, a record", fast / count * 1e6, None, True, "us")


def _distinct(machine: gp.Machine, count: int) -> bytes:
    shape = (128, 8)
    return b"".join(
        machine.encode(
            "select_reduce",
            src0=gp.Tensor(offset=8 * i, dtype="uint8", shape=shape),
            src1=gp.Tensor(offset=0x4000 + 32 * i, dtype="fp32", shape=shape),
            dst=gp.Tensor(offset=0x14000 + 32 * i, dtype="fp32", shape=shape),
            accumulator_cmd="ZERO_ACCUMULATE",
        )
        for i in range(count)
    )


def small() -> Iterator[Row]:
    """1,000 distinct instructions on (128, 8), warm, against numpy operations on views made ready."""
    machine = gp.load("cayman")
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.ones((128, 0x4000), np.uint8))
    core.sbuf.write(np.ones((128, 0x4000), np.float32), offset=0x4000)
    program = machine.decode(_distinct(machine, 1000))
    core.run(program)
    pitch = core.sbuf.pitch // 4
    words = core.memory.data[: 128 * core.sbuf.pitch].view(np.float32).reshape(128, pitch)
    views = [
        (words[:, 0x1000 + 8 * i : 0x1008 + 8 * i], words[:, 0x5000 + 8 * i : 0x5008 + 8 * i]) for i in range(1000)
    ]

    def floor() -> None:
        for a, b in views:
            np.maximum(a, b, out=b)

    ours, bare = together(lambda: core.run(program), floor, 20)
    yield Row("1,000 distinct (128, 8) instructions, warm", ours / bare, 1.5, True, "x a bare numpy op")
    yield Row("the same, an instruction", ours / 1000 * 1e6, None, True, "us")


def start_up() -> Iterator[Row]:
    """`gpsimd --help` against the bare interpreter."""

    def call(*words: str) -> None:
        subprocess.run([sys.executable, *words], check=True, capture_output=True)

    ours, bare = together(lambda: call("-m", "gpsimd_core.cli", "--help"), lambda: call("-c", "pass"), 15)
    yield Row("gpsimd --help", ours / bare, 8, True, "x the interpreter's start")
