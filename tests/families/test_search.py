"""max8 (0x6C), match_value_load (0x6D), find_index8 (0x6E), match_replace8 (0x6F), dve_read_indices (0xE9), sort (0x96),
nonzero_with_count (0xF2), pool (0x45), max_pool_select (0x58): against references that go one element at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

import fp32_model as fp32
import numpy as np
import pytest
from family_model import GENERATIONS, INTS, OUT, PLAIN, Case, Load, Maker, Model, Operand, Twin, signed
from records import BF16, FP16, FP32, INT32, SIZE, UINT8, UINT16, UINT32
from value_cases import specials
from value_model import is_nan32, larger

import gpsimd_core as gp

POLICIES: list[dict[str, Any]] = [{}, {"reduce_nan": "propagate"}, {"reduce_nan": "select", "fp_to_int": "wrap"}]
MATCHED = (FP16, BF16, UINT8, UINT16, UINT32, FP32, INT32)


def few(dtype: int, policies: Any) -> Callable[[Any], int]:
    """Draws from few codes, so that equals are common."""
    codes = specials(dtype, policies)
    small = [code & ((1 << 8 * SIZE[dtype]) - 1) for code in (*codes, 0, 1, 2, 3)]
    return lambda r: r.choice(small)


# Pooling --------------------------------------------------------------------------------------------------------------


def pool(maker: Maker, name: str) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype = rng.choice(PLAIN)
    out = rng.choice([UINT8, UINT16, UINT32]) if name == "max_pool_select" else rng.choice(OUT)
    num = maker.split(count, 4)
    dims = rng.choice([0, 1, 2, 3, 4])
    window = int(np.prod(num[:dims]))
    on_pool = name == "max_pool_select"  # which reaches no PSUM
    src = maker.operand(channels, dtype, num, region="sbuf" if on_pool else None)
    dst = maker.target(channels, out, maker.split(count // window, 4), psum=not on_pool)
    average = name == "pool" and rng.random() < 0.5
    scale = rng.choice(specials(FP32, maker.policies)) if average else 0x3F800000
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": out, "pool_dim": dims + 1 if dims else 0,
        "pool_func": 0 if name == "max_pool_select" else 2 if average else 1, "pool_scale": gp.Bits(scale),
        "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
    }  # fmt: skip

    def value(model: Model, found: list[int]) -> int:
        policy = model.policies.reduce_nan
        if name == "max_pool_select":
            best = 0
            for k in range(1, window):
                best = k if beats(found[k], found[best], policy) else best
            return best
        state = fp32.canonical(found[0])
        for bits in found[1:]:
            state = fp32.add(bits, state) if average else fp32.canonical(larger(bits, state, policy))
        return model.narrow(fp32.multiply(state, scale) if average else state, out)

    def effect(model: Model) -> None:
        rows = model.hub(src, channels)
        model.write(dst, [[value(model, row[k : k + window]) for k in range(0, count, window)] for row in rows])

    return Case(name, fields, effect, [src], fill={0: few(dtype, maker.policies)})


def beats(new: int, best: int, policy: str) -> bool:
    """Whether a later element takes the place of the best so far."""
    if policy == "propagate" and (is_nan32(best) or is_nan32(new)):
        return not is_nan32(best)
    if policy == "select":
        return fp32.compare(new, best) == 1
    if is_nan32(new) or is_nan32(best):
        return is_nan32(best) and not is_nan32(new)
    return fp32.key(new) > fp32.key(best)


# The eight largest, and loaded values ------------------------------------------------------------------------------------


def eight(maker: Maker, channels: int, dtype: int) -> Operand:
    """A destination of eight elements."""
    return maker.target(channels, dtype, maker.rng.choice([(8, 1), (2, 4), (4, 2), (1, 8)]))


def max8(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = rng.choice([8, 9, 12, 16, 24, 40])
    dtype, out = rng.choice(PLAIN), rng.choice(OUT)
    src = maker.operand(channels, dtype, maker.split(count, 4))
    dst = eight(maker, channels, out)
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": out, "src": maker.pattern(src, channels),
        "dst": maker.pattern(dst, channels),
    }  # fmt: skip

    def effect(model: Model) -> None:
        policy = model.policies.reduce_nan

        def rank(bits: int) -> int:
            if is_nan32(bits):
                return 1 << 40 if policy == "propagate" else -(1 << 40)
            return 0 if policy == "select" and bits & 0x7FFFFFFF == 0 else fp32.key(bits)

        for c, row in enumerate(model.hub(src, channels)):
            left = list(row)
            for at in dst.offsets():
                best = max(range(len(left)), key=lambda k: (rank(left[k]), -k))
                model.store(dst, c, at, model.narrow(fp32.canonical(left.pop(best)), out))

    return Case("max8", fields, effect, [src], fill={0: few(dtype, maker.policies)})


class Loaded:
    """What a match_value_load kept, lane by lane: (dtype, code)."""

    def __init__(self) -> None:
        self.lanes: dict[int, list[tuple[int, int]]] = {}

    def equal(self, model: Model, one: tuple[int, int], code: int, dtype: int) -> bool:
        if one[0] in INTS and dtype in INTS:
            return signed(one[1], one[0]) == signed(code, dtype)
        return fp32.compare(model.widen(one[1], one[0]), model.widen(code, dtype)) == 0

    def positions(self, model: Model, lane: int, row: list[int], dtype: int) -> list[int | None]:
        """For each loaded value the position it takes."""
        found: list[int | None] = []
        values = self.lanes[lane]
        for k, value in enumerate(values):
            places = [p for p, code in enumerate(row) if self.equal(model, value, code, dtype)]
            earlier = sum(self.equal(model, value, v[1], v[0]) for v in values[:k])
            found.append(places[earlier] if earlier < len(places) else None)
        return found


def load_values(maker: Maker, loaded: Loaded, partition: int, dtype: int) -> Case:
    """A match_value_load for all lanes that 32 channels from a partition need."""
    src = maker.operand(32, dtype, maker.rng.choice([(8, 1), (2, 4), (1, 8)]), partition=partition)
    fields = {"num_active_channels": 32, "dtype": dtype, "src": src.pattern(maker.gen)}

    def effect(model: Model) -> None:
        for c, row in enumerate(model.read(src, 32)):
            loaded.lanes[src.partition + c] = [(dtype, code) for code in row]

    return Case("match_value_load", fields, effect, [src], fill={0: few(dtype, maker.policies)})


def find_index8(maker: Maker, loaded: Loaded, partition: int) -> Case:
    rng = maker.rng
    channels = rng.choice([1, 7, 32])
    count = maker.count(channels, most=60)
    dtype, out = rng.choice(PLAIN), rng.choice([UINT16, UINT32])
    src = maker.operand(channels, dtype, maker.split(count, 4))
    dst = eight(maker, channels, out)
    dst.partition = partition
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": out, "src": maker.pattern(src, channels),
        "dst": dst.pattern(maker.gen),
    }  # fmt: skip
    absent = (1 << 8 * SIZE[out]) - 1

    def effect(model: Model) -> None:
        rows = model.read(src, channels)
        found = [loaded.positions(model, partition + c, row, dtype) for c, row in enumerate(rows)]
        model.write(dst, [[absent if p is None else p for p in row] for row in found])

    return Case("find_index8", fields, effect, [src], fill={0: few(dtype, maker.policies)})


def match_replace8(maker: Maker, loaded: Loaded, partition: int, latched: dict[int, list[int | None]]) -> Case:
    rng = maker.rng
    channels = 32
    count = maker.count(channels, most=60)
    dtype = rng.choice(MATCHED)
    out = dtype if rng.random() < 0.5 else rng.choice(MATCHED)
    src = maker.operand(channels, dtype, maker.split(count, 4))
    dst = maker.target(channels, out, maker.split(count, 4))
    dst.partition = partition
    value = rng.choice(specials(FP32, maker.policies))
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": out, "immediate": gp.Bits(value),
        "src": maker.pattern(src, channels), "dst": dst.pattern(maker.gen),
    }  # fmt: skip

    def effect(model: Model) -> None:
        rows = model.read(src, channels)
        written = []
        for c, row in enumerate(rows):
            found = latched[partition + c] = loaded.positions(model, partition + c, row, dtype)
            new = [code if dtype == out else model.narrow(model.widen(code, dtype), out) for code in row]
            for p in found:
                if p is not None:
                    new[p] = model.narrow(value, out)
            written.append(new)
        model.write(dst, written)

    return Case("match_replace8", fields, effect, [src], fill={0: few(dtype, maker.policies)})


def read_indices(maker: Maker, partition: int, latched: dict[int, list[int | None]]) -> Case:
    rng = maker.rng
    channels, dtype = rng.choice([1, 9, 32]), rng.choice([UINT16, UINT32])
    dst = maker.target(channels, dtype, rng.choice([(8, 1, 1, 1), (2, 2, 2, 1), (1, 1, 4, 2)]))
    dst.partition = partition
    fields = {
        "num_active_channels": channels, "dtype": dtype, "dst": dst.pattern(maker.gen), "dst_element_count": 8,
    }  # fmt: skip
    absent = (1 << 8 * SIZE[dtype]) - 1

    def effect(model: Model) -> None:
        rows = [latched[partition + c] for c in range(channels)]
        model.write(dst, [[absent if p is None else p for p in row] for row in rows])

    return Case("dve_read_indices", fields, effect)


# Sorting and counting ----------------------------------------------------------------------------------------------------


def sort(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    dtype = rng.choice(PLAIN)
    count = rng.choice([n for n in (1, 2, 3, 8, 15, 40) if n * channels * SIZE[dtype] <= 8192])
    src = maker.operand(channels, dtype, (count,), region="sbuf")
    dst = maker.target(channels, dtype, (2, count), psum=False)
    offset = maker.scalar(channels, INT32, psum=False)
    down = rng.random() < 0.5
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": dtype,
        "comparison": "IS_GT" if down else "IS_LT", "stable": rng.choice([0, 1]),
        "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
        **offset.fields(maker.gen, "index_offset", "index_offset_src"),
    }  # fmt: skip

    def effect(model: Model) -> None:
        def before(a: tuple[int, int], b: tuple[int, int]) -> int:
            if dtype in INTS:
                x, y = signed(a[1], dtype), signed(b[1], dtype)
                found = (x > y) - (x < y)
            else:
                x, y = model.widen(a[1], dtype), model.widen(b[1], dtype)
                if is_nan32(x) or is_nan32(y):
                    return is_nan32(x) - is_nan32(y)
                found = fp32.compare(x, y) or 0
            return -found if down else found

        mask = (1 << 8 * SIZE[dtype]) - 1
        given = [offset.code(model, c) for c in range(channels)]
        written = []
        for c, row in enumerate(model.read(src, channels)):
            pairs = sorted(enumerate(row), key=cmp_to_key(before))
            written.append([code for k, key in pairs for code in (key, (k + given[c]) & mask)])
        model.write(dst, written)

    sources = [src, *([offset.place] if offset.place else [])]
    return Case("sort", fields, effect, sources, fill={0: few(dtype, maker.policies)})


def nonzero(maker: Maker) -> Case:
    rng = maker.rng
    channels = maker.channels()
    count = maker.count(channels)
    dtype = rng.choice([INT32, FP32])
    src = maker.operand(channels, dtype, maker.split(count, 3), region="sbuf")
    dst = maker.target(channels, INT32, maker.split(count + 1, 3), psum=False)
    offset, padding = maker.scalar(channels, INT32, psum=False), maker.scalar(channels, INT32, psum=False)
    fields = {
        "num_active_channels": channels, "in_dtype": dtype, "out_dtype": INT32, "src": maker.pattern(src, channels),
        "dst": maker.pattern(dst, channels), **offset.fields(maker.gen, "index_offset", "index_offset_src"),
        **padding.fields(maker.gen, "padding_val", "padding_val_src"),
    }  # fmt: skip

    def effect(model: Model) -> None:
        given = [(offset.code(model, c), padding.code(model, c)) for c in range(channels)]
        written = []
        for (first, pad), row in zip(given, model.read(src, channels), strict=True):
            if dtype == FP32:
                places = [k for k, code in enumerate(row) if code & 0x7FFFFFFF and not is_nan32(code)]
            else:
                places = [k for k, code in enumerate(row) if code]
            positions = [(k + first) & 0xFFFFFFFF for k in places]
            written.append(positions + [pad] * (count - len(places)) + [len(places)])
        model.write(dst, written)

    places = [src, *(s.place for s in (offset, padding) if s.place)]
    zeros = [0, 0, 0x80000000, 0x7FC00000, 0xFF800001, 1, 0x3F800000]
    return Case("nonzero_with_count", fields, effect, places, fill={0: lambda r: r.choice(zeros)})


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_windows_maxima_and_orders(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """At least 200 cases of each over all parameters; the two that pool count together."""
    twin = Twin(load(gen, policies=policies))
    makes: list[tuple[int, Callable[[Maker], Case]]] = [
        (8, lambda m: pool(m, "pool")), (8, lambda m: pool(m, "max_pool_select")), (14, max8), (14, sort),
    ]  # fmt: skip
    makes += [(17, nonzero)] if gen != "sunda" else []
    for i, (cases, make) in enumerate(makes):
        for n in range(cases):
            maker = twin.maker(f"{i}-{n}", 1000 if n == 0 else 120)
            twin.run(maker, make(maker))


@pytest.mark.parametrize("policies", POLICIES[:2])
@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_matches(load: Load, gen: str, policies: dict[str, Any]) -> None:
    """Loaded values of one dtype are looked for in data of another; positions are latched and read back."""
    twin = Twin(load(gen, policies=policies))
    loaded, latched = Loaded(), {}
    for n in range(20):
        maker = twin.maker(f"match-{n}")
        partition = maker.rng.choice([0, 32, 64, 96])
        twin.run(maker, load_values(maker, loaded, partition, maker.rng.choice(PLAIN)))
        maker = twin.maker(f"find-{n}", 300)
        twin.run(maker, find_index8(maker, loaded, partition))
        maker = twin.maker(f"replace-{n}", 300)
        twin.run(maker, match_replace8(maker, loaded, partition, latched))
        if gen != "sunda":
            maker = twin.maker(f"read-{n}")
            twin.run(maker, read_indices(maker, partition, latched))


def tensor(dtype: str, offset: int, values: int, channels: int = 1) -> gp.Tensor:
    return gp.Tensor("sbuf", partition=0, offset=offset, dtype=dtype, shape=(channels, values))


def test_equal_values_take_successive_positions(machine: gp.Machine) -> None:
    """Four loaded sevens find the three sevens one after the other; the fourth, and what is absent, is all ones."""
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.int32([[7, 3, 7, 7, 9, 7, 5, 5]]), 0, 0)
    core.sbuf.write(np.int32([[5, 7, 1, 7, 5, 7, 2, 2]]), 0, 64)
    core.run(machine.encode("match_value_load", src=tensor("int32", 0, 8)))
    core.run(machine.encode("find_index8", src=tensor("int32", 64, 8), dst=tensor("uint16", 128, 8)))
    none = 0xFFFF
    assert core.sbuf.read(0, 128, shape=(1, 8), dtype="uint16").tolist() == [[1, none, 3, 5, none, none, 0, 4]]


def test_integers_compare_exactly_and_mixed_kinds_as_fp32(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    core.sbuf.write(np.int32([[16777217, 16777216, 0, 0, 0, 0, 0, 0]]), 0, 0)
    core.run(machine.encode("match_value_load", src=tensor("int32", 0, 8)))
    core.sbuf.write(np.int32([[1, 16777216, 16777217, 1, 1, 1, 1, 1]]), 0, 64)
    core.run(machine.encode("find_index8", src=tensor("int32", 64, 8), dst=tensor("uint32", 128, 8)))
    assert core.sbuf.read(0, 128, shape=(1, 2), dtype="uint32").tolist() == [[2, 1]]
    core.sbuf.write(np.float32([[1, 16777216, 1, 16777216, 1, 1, 1, 1]]), 0, 64)
    core.run(machine.encode("find_index8", src=tensor("fp32", 64, 8), dst=tensor("uint32", 128, 8)))
    assert core.sbuf.read(0, 128, shape=(1, 2), dtype="uint32").tolist() == [[1, 3]]


def test_state_that_was_never_loaded_is_a_fault(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    with pytest.raises(gp.Fault, match=r"no match values were loaded .* for lane 0"):
        core.run(machine.encode("find_index8", src=tensor("fp32", 0, 8), dst=tensor("uint16", 64, 8)))
    core.run(machine.encode("match_value_load", src=tensor("fp32", 0, 8)))
    with pytest.raises(gp.Fault, match=r"no match values were loaded .* for lane 1"):
        core.run(machine.encode("match_replace8", src=tensor("fp32", 0, 8, 2), dst=tensor("fp32", 64, 8, 2)))
    if "dve_read_indices" in machine.names:
        with pytest.raises(gp.Fault, match=r"no positions were latched .* for lane 0"):
            core.run(machine.encode("dve_read_indices", dst=tensor("uint16", 64, 8), dst_element_count=8))


def test_sunda_has_no_read_back_of_indices(load: Load) -> None:
    """Later generations have it from core version 3 on."""
    assert "dve_read_indices" not in load("sunda").instructions
    assert all("dve_read_indices" in load(gen).instructions for gen in GENERATIONS[1:])


def test_a_position_that_its_dtype_cannot_hold_is_not_guessed(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    core.run(machine.encode("match_value_load", src=tensor("uint8", 0, 8)))
    src = {"addr": 0, "step": (0, 0, 0, 0), "num": (256, 256, 1, 1)}
    fields = {"src": src, "dst": tensor("uint16", 64, 8), "in_dtype": UINT8, "num_active_channels": 1}
    with pytest.raises(gp.Unsupported, match="what a position beyond 16 bits becomes"):
        core.run(machine.encode("find_index8", **fields))
    window = {"addr": 0, "step": (0, 0, 0, 0), "num": (257, 1, 1, 1)}
    fields = {
        "src": window,
        "dst": tensor("uint8", 64, 1),
        "in_dtype": UINT8,
        "num_active_channels": 1,
        "pool_dim": "X",
    }
    with pytest.raises(gp.Unsupported, match="what an index beyond 8 bits becomes; the window has 257 elements"):
        core.run(machine.encode("max_pool_select", **fields))
