"""Records of 0xEA and 0x9B packed by hand, from byte offsets written down here: no project code.

Offsets are those of S2S2D2_STT and D1_RD as "CopyPredicatedReduce — SelectReduce (0xea)" and "DVE State Read-Back" give
them.
"""

from __future__ import annotations

import struct
from typing import Any

# (offset, struct code) of every field of a record; a nibble is (offset, "lo" | "hi").
HEADER = {
    "opcode": (0, "B"), "inst_word_len": (1, "B"), "debug_cmd": (2, "B"), "byte3": (3, "B"),
    "wait_mode": (4, "B"), "wait_idx": (5, "B"), "update_mode": (6, "B"), "update_idx": (7, "B"),
    "semaphore_value": (8, "I"),
}  # fmt: skip
SELECT_REDUCE = HEADER | {
    "src0.addr": (12, "I"), "src0.step0": (16, "h"), "src0.step1": (18, "h"), "src0.num0": (20, "H"), "src0.num1": (22, "H"),
    "src1.addr": (24, "I"), "src1.step0": (28, "h"), "src1.step1": (30, "h"), "src1.num0": (32, "H"), "src1.num1": (34, "H"),
    "op0": (36, "B"), "op1": (37, "B"), "reverse_operands": (38, "B"), "imm0_src": (39, "B"),
    "src0_dtype": (40, "lo"), "src1_dtype": (40, "hi"), "out_dtype": (41, "B"), "num_active_channels": (42, "B"),
    "imm0_dtype": (43, "B"), "accumulator_cmd": (44, "B"), "reserved45": (45, "B"), "reserved46": (46, "B"),
    "reserved47": (47, "B"),
    "dst.addr": (48, "I"), "dst.step0": (52, "h"), "dst.step1": (54, "h"), "dst.num0": (56, "H"), "dst.num1": (58, "H"),
    "imm0": (60, "I"),
}  # fmt: skip
READ_ACCUMULATOR = (
    HEADER
    | {f"reserved{n}": (n, "B") for n in (*range(12, 28), *range(35, 44), *range(52, 64))}
    | {
        "dst_element_count": (28, "I"), "dtype": (32, "B"), "negated": (33, "B"), "num_active_channels": (34, "B"),
        "dst.addr": (44, "I"), "dst.step0": (48, "h"), "dst.num0": (50, "H"),
    }
)  # fmt: skip

INT8, UINT8, INT16, UINT16, BF16, FP16, INT32, UINT32, FP32, FP32R = 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
E3M4, E4M3, E5M2, E2M5 = 13, 14, 15, 17
SIZE = {
    INT8: 1, UINT8: 1, INT16: 2, UINT16: 2, BF16: 2, FP16: 2, INT32: 4, UINT32: 4, FP32: 4, FP32R: 4,
    E3M4: 1, E4M3: 1, E5M2: 1, E2M5: 1,
}  # fmt: skip

PSUM = 0x2000000
SBUF_STRIDE = {"sunda": 0x40000, "cayman": 0x40000, "mariana": 0x40000, "mariana_plus": 0x40000, "maverick": 0x100000}
SBUF_ACTIVE = {"sunda": 0x30000, "cayman": 0x38000, "mariana": 0x40000, "mariana_plus": 0x40000, "maverick": 0x80000}
SBUF_WINDOW = {
    "sunda": 0x2000000,
    "cayman": 0x2000000,
    "mariana": 0x2000000,
    "mariana_plus": 0x2000000,
    "maverick": 0x8000000,
}
PSUM_STRIDE, PSUM_ACTIVE = 0x8000, 0x4000
PSUM_WINDOW = {"sunda": 0x400000, "cayman": 0x400000, "mariana": 0x400000, "mariana_plus": 0x400000, "maverick": 0}


def sbuf(gen: str, partition: int, offset: int = 0) -> int:
    """Flat SBUF address."""
    return partition * SBUF_STRIDE[gen] + offset


def psum(partition: int, offset: int = 0) -> int:
    """Flat PSUM address, on generations that have one."""
    return PSUM + partition * PSUM_STRIDE + offset


def put(record: bytearray, fields: dict[str, tuple[int, str]], name: str, value: int) -> None:
    """Store a number in one field."""
    at, code = fields[name]
    if code == "lo":
        record[at] = record[at] & 0xF0 | value
    elif code == "hi":
        record[at] = record[at] & 0x0F | value << 4
    else:
        struct.pack_into(f"<{code}", record, at, value)


def select_reduce(gen: str, **given: Any) -> bytes:
    """A legal record: 64 channels of 4 by 6 elements, uint8 predicate, fp32 data and destination; `a__b` means `a.b`."""
    values = {
        "opcode": 0xEA, "inst_word_len": 16,
        "src0.addr": sbuf(gen, 0, 0x100), "src0.step0": 1, "src0.step1": 6, "src0.num0": 6, "src0.num1": 4,
        "src1.addr": sbuf(gen, 0, 0x1000), "src1.step0": 1, "src1.step1": 6, "src1.num0": 6, "src1.num1": 4,
        "dst.addr": sbuf(gen, 64, 0x2000), "dst.step0": 1, "dst.step1": 6, "dst.num0": 6, "dst.num1": 4,
        "op1": 8, "src0_dtype": UINT8, "src1_dtype": FP32, "out_dtype": FP32, "imm0_dtype": FP32,
        "num_active_channels": 64, "accumulator_cmd": 3,
    }  # fmt: skip
    return _pack(SELECT_REDUCE, values, given)


def read_accumulator(gen: str, **given: Any) -> bytes:
    """A legal record: 64 channels into fp32."""
    values = {
        "opcode": 0x9B, "inst_word_len": 16, "dst_element_count": 1, "dtype": FP32, "num_active_channels": 64,
        "dst.addr": sbuf(gen, 64, 0x3000), "dst.step0": 1, "dst.num0": 1,
    }  # fmt: skip
    return _pack(READ_ACCUMULATOR, values, given)


def _pack(fields: dict[str, tuple[int, str]], values: dict[str, int], given: dict[str, Any]) -> bytes:
    record = bytearray(64)
    for name, value in (values | {k.replace("__", "."): v for k, v in given.items()}).items():
        put(record, fields, name, value)
    return bytes(record)
