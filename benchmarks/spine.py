"""Ratios of the spine: select_reduce on a tile, decode and validate in bulk, small instructions, start-up."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
from timing import Row, together

import gpsimd_core as gp


def rows() -> Iterator[Row]:
    """The rows of this module, measured now."""
    yield from tile()
    yield from bulk()
    yield from everything()
    yield from small()
    yield from start_up()


def tile() -> Iterator[Row]:
    """0xEA on a (128, 4096) fp32 tile under a random 50 % uint8 predicate, one of eight in a program, and alone."""
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
    program, eight = machine.decode(record), machine.decode(8 * record)
    core.run(program)
    core.run(eight)
    target, condition = np.empty_like(data), mask.astype(bool)

    def idiom() -> None:
        np.copyto(target, data, where=condition)
        np.fmax.reduce(data, axis=1, where=condition, initial=-np.inf)

    def copy() -> None:
        np.copyto(target, data)

    def copies() -> None:
        for _ in range(8):
            copy()

    runs, memcpy = together(lambda: core.run(eight), copies, 60)
    yield Row("select_reduce, (128, 4096) fp32, random 50 % uint8", runs / memcpy, 2.0, True, "x memcpy")
    runs, slow = together(lambda: core.run(eight), idiom, 8, in_a_row=5)
    yield Row("the same against copyto(where) and fmax.reduce(where)", 8 * slow / runs, 60, False, "x faster")
    alone, memcpy = together(lambda: core.run(program), copy, 200)
    yield Row("the same, a whole run of one instruction", alone / memcpy, None, True, "x memcpy")


FORMAT = struct.Struct("<4B4BI I2h2H I2h2H 9B3x I2h2H I")


INT_CODES, PLAIN = {2, 3, 4, 5, 8, 9}, {2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15}
SIZES = {2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 2, 8: 4, 9: 4, 10: 4, 11: 4, 13: 1, 14: 1, 15: 1}


def region(address: int) -> str:
    return "sbuf" if address < 0x2000000 else "psum" if address < 0x2400000 else ""


def tensor(word: int, n0: int, n1: int, code: int, write: bool) -> bool:
    if word >> 29:
        return word >> 31 == 1 and word & 0x20FFFF00 == 0 and word & 0xFF < 64
    where = region(word)
    if not n0 or not n1 or not where or word % SIZES[code]:
        return False
    if where == "sbuf":
        return word % 0x40000 < 0x38000
    return (word - 0x2000000) % 0x8000 < 0x4000 and (not write or SIZES[code] == 4)


def start(word: int, channels: int) -> bool:
    if word >> 29:
        return True
    stride = 0x40000 if region(word) == "sbuf" else 0x8000
    return word % 0x2000000 // stride % (128 if channels > 64 else 64 if channels > 32 else 32) == 0


# The 20 rules of 0xEA over the unpacked numbers: (what it stands on, test), each judged for itself.
BY_HAND = {
    "1": ((), lambda r: r[0] == 0xEA and r[1] == 16 and r[4] < 0x86 and r[6] < 0x9A),
    "2": ((), lambda r: r[23] & 15 in PLAIN),
    "3": ((), lambda r: r[23] >> 4 in PLAIN),
    "4": ((), lambda r: r[26] in PLAIN),
    "5": ((), lambda r: r[24] in PLAIN or r[24] == 11),
    "6a": (("2",), lambda r: r[23] & 15 in INT_CODES),
    "6b": (("3",), lambda r: r[23] >> 4 not in (8, 9)),
    "7": (("4",), lambda r: r[22] or r[26] == 10),
    "8a": ((), lambda r: r[19] < 0x1E),
    "8b": ((), lambda r: r[20] < 0x1E),
    "9a": (("8a",), lambda r: r[19] == 0),
    "9b": (("8b",), lambda r: r[20] == 8),
    "13": ((), lambda r: 1 <= r[25] <= 128),
    "10": (("4", "13"), lambda r: r[22] == 0 or (r[22] == 1 and r[33] >> 29 == 0) or (r[22] == 2 and r[33] < 64)),
    "11a": (("13",), lambda r: start(r[9], r[25])),
    "11b": (("13",), lambda r: start(r[14], r[25])),
    "11c": (("13",), lambda r: start(r[28], r[25])),
    "12a": (("2",), lambda r: tensor(r[9], r[12], r[13], r[23] & 15, False)),
    "12b": (("3",), lambda r: tensor(r[14], r[17], r[18], r[23] >> 4, False)),
    "12c": (("5",), lambda r: tensor(r[28], r[31], r[32], r[24], True)),
    "14": (("12a", "12b"), lambda r: r[12] * r[13] == r[17] * r[18]),
    "15": (("12a", "12c"), lambda r: r[12] * r[13] == r[31] * r[32]),
    "16": (("11a", "11b"), lambda r: region(r[9]) != region(r[14]) or r[9] // 0x40000 // 32 == r[14] // 0x40000 // 32),
    "17": ((), lambda r: r[27] in (0, 2, 3)),
    "18": ((), lambda r: r[21] < 4),
    "20": (("18",), lambda r: r[21] < 2),
}


def by_hand(data: bytes, count: int) -> int:
    """How many records break none of the 20 rules of 0xEA: unpack one, then judge rule after rule."""
    good = 0
    for i in range(count):
        r = FORMAT.unpack_from(data, 64 * i)
        held = {}
        for name, (needs, test) in BY_HAND.items():
            held[name] = all(held[n] for n in needs) and test(r)
        held["19"] = data[64 * i + 45 : 64 * i + 48] == b"\0\0\0"
        good += all(held.values())
    return good


def bulk() -> Iterator[Row]:
    """Decode and validate a stream, against unpacking and comparing record by record."""
    machine = gp.load("cayman")
    count = 20_000
    raw = np.frombuffer(distinct(machine, 1000) * (count // 1000), np.uint8).copy()
    data = raw.tobytes()

    def ours() -> None:
        report = machine.validate(machine.decode(data))
        assert report.ok

    assert by_hand(data, count) == count
    fast, slow = together(ours, lambda: by_hand(data, count), 5)
    yield Row("decode and validate 20,000 records of 0xEA", slow / fast, 12, False, "x faster than a Python loop")
    yield Row("the same, a record", fast / count * 1e6, None, True, "us")


def everything() -> Iterator[Row]:
    """100,000 random records over all layouts; the loop beside them is the one over the rules of 0xEA alone."""
    machine = gp.load("cayman")
    rng = np.random.default_rng(2)
    count = 100_000
    raw = rng.integers(0, 256, (count, 64), dtype=np.uint8)
    known = [op for op, e in machine.opcodes.items() if e.layout is not None]
    raw[:, 0] = rng.choice(np.array(known, np.uint8), count)
    raw[:, 1] = 16
    raw[:, 2:12] = 0
    data = raw.tobytes()
    sample = distinct(machine, 1000)

    def ours() -> None:
        machine.validate(machine.decode(data)).ok  # noqa: B018

    fast, slow = together(ours, lambda: by_hand(sample, 1000), 5)
    yield Row("decode and validate 100,000 random records of all layouts", fast / count * 1e6, 2.0, True, "us a record")
    yield Row("the same against a Python loop over 20 rules", slow / 1000 / (fast / count), 12, False, "x faster")


def distinct(machine: gp.Machine, count: int) -> bytes:
    """So many select_reduce records on (128, 8), each on elements of its own."""
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


def core_for_distinct(machine: gp.Machine) -> gp.NeuronCore:
    """A NeuronCore with ones in all that 1,000 of `distinct` read."""
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.ones((128, 0x4000), np.uint8))
    core.sbuf.write(np.ones((128, 0x4000), np.float32), offset=0x4000)
    return core


def small() -> Iterator[Row]:
    """1,000 distinct instructions on (128, 8), warm, against numpy operations on views made ready."""
    machine = gp.load("cayman")
    core = core_for_distinct(machine)
    program = machine.decode(distinct(machine, 1000))
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

    ours, bare = together(
        lambda: call("-c", "import sys; from gpsimd_core.cli import main; sys.argv[1:] = ['--help']; main()"),
        lambda: call("-c", "pass"),
        15,
    )
    yield Row("gpsimd --help", ours / bare, 8, True, "x the interpreter's start")
