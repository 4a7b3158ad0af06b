"""What lanes are made of: marks, primitives, bound names, and the freshness of what is cached on disk."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from gpsimd_core.isa.lane import _stamps, bind, compiled, inlined, is_lane, lane
from gpsimd_core.isa.lanes import words
from gpsimd_core.isa.lanes.words import bits32, bits64, f32, f64, u32

OFFSET = 3


@lane
def offset(x: int) -> int:
    return u32(x + OFFSET)


@inlined
def twice(x: int) -> int:
    return u32(step(step(x)))


step = offset


@pytest.mark.parametrize(
    ("cast", "value", "expected"),
    [
        (words.u8, 0x1FF, 0xFF),
        (words.u16, -1, 0xFFFF),
        (words.u32, -1, 0xFFFFFFFF),
        (words.u64, -1, 0xFFFFFFFFFFFFFFFF),
        (words.i32, 0xFFFFFFFF, -1),
        (words.i32, 0x7FFFFFFF, 0x7FFFFFFF),
        (words.i64, 1 << 63, -(1 << 63)),
        (words.u32, np.uint8(200), 200),
    ],
)
def test_plain_casts_cut_to_the_width(cast: Any, value: int, expected: int) -> None:
    assert cast(value) == expected
    assert type(cast(value)) is int


def test_plain_shifts_cut_to_the_width() -> None:
    assert words.shl32(0x80000001, 1) == 2
    assert words.shl64(1 << 63 | 1, 1) == 2


def test_bits_round_to_nearest_and_overflow_to_infinity() -> None:
    assert bits32(1.0 + 2.0**-24) == 0x3F800000
    assert bits32(1.0 + 2.0**-24 + 2.0**-40) == 0x3F800001
    assert bits32(1e300) == 0x7F800000
    assert bits32(-1e300) == 0xFF800000
    assert bits32(2.0**-150) == 0
    assert bits32(3 * 2.0**-150) == 2
    assert f32(0x3F800001) == 1 + 2.0**-23
    assert f64(bits64(0.1)) == 0.1
    assert bits64(1.0) == struct.unpack("<Q", struct.pack("<d", 1.0))[0]


def test_binding_replaces_a_name_and_nothing_else(run: Any) -> None:
    five = bind(offset, OFFSET=5)
    assert is_lane(five)
    assert int(run(five)(np.uint32(1))) == 6
    assert int(run(offset)(np.uint32(1))) == 4
    assert bind(offset, OFFSET=5) is five
    assert five.__qualname__ == "offset[OFFSET=5]"


def test_binding_a_lane(run: Any) -> None:
    again = bind(twice, step=bind(offset, OFFSET=10))
    assert int(run(again)(np.uint32(1))) == 21
    assert int(run(twice)(np.uint32(1))) == 7


def test_binding_what_is_not_read_is_refused() -> None:
    with pytest.raises(TypeError, match="NOTHING"):
        bind(offset, NOTHING=1)
    with pytest.raises(TypeError, match="not marked"):
        bind(lambda x: x, OFFSET=1)
    with pytest.raises(TypeError, match="not marked"):
        compiled(lambda x: x)


def test_a_cache_entry_depends_on_numbers_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _stamps(offset)
    monkeypatch.setitem(offset.__globals__, "OFFSET", 4)
    assert _stamps(offset) != before


def test_without_compilation_a_lane_is_its_own_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    fresh = bind(offset, OFFSET=7)
    assert compiled(fresh) is fresh
