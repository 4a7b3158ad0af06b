"""SBUF and PSUM: geometry, poison, bounds, dtypes, and flat addresses both ways, on every generation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.errors import BadValue
from gpsimd_core.memory import Memory

# Bytes: SBUF stride, active, window; PSUM stride, active, window. "On-Chip State-Buffer (SBUF) + PSUM Bank Model".
GEOMETRY = {
    "sunda": (0x40000, 0x30000, 0x2000000, 0x8000, 0x4000, 0x400000),
    "cayman": (0x40000, 0x38000, 0x2000000, 0x8000, 0x4000, 0x400000),
    "mariana": (0x40000, 0x40000, 0x2000000, 0x8000, 0x4000, 0x400000),
    "mariana_plus": (0x40000, 0x40000, 0x2000000, 0x8000, 0x4000, 0x400000),
    "maverick": (0x100000, 0x80000, 0x8000000, 0x8000, 0x4000, 0),
}
PSUM = 0x2000000


@pytest.fixture
def memory(machine: gp.Machine) -> Memory:
    return Memory(machine.generation.geometry, machine.formats)


def test_geometry_is_the_published_one(machine: gp.Machine, memory: Memory) -> None:
    s, p = memory.sbuf, memory.psum
    assert GEOMETRY[machine.generation.name] == (s.stride, s.active, s.window, p.stride, p.active, p.window)
    assert (s.base, p.base) == (0, PSUM)


def test_fresh_memory_is_poisoned(machine: gp.Machine, memory: Memory) -> None:
    for region in (memory.sbuf, memory.psum):
        assert (region.read(shape=(128, region.active), dtype="uint8") == 0xA5).all()
    zero = gp.load(machine.generation.name, policies={"initial_memory": "zero"}, plugins=())
    core = gp.NeuronCore(zero)
    assert not core.memory.data.any()


def test_registers_accumulators_and_semaphores_at_creation(machine: gp.Machine) -> None:
    core = gp.NeuronCore(machine)
    assert not core.registers.defined.any()
    for engine in core.accumulators:
        assert not core.accumulators.defined(engine).any()
        assert (core.accumulators[engine].view(np.uint32) == 0x7FC00000).all()
    assert (core.semaphores.shape, core.semaphores.dtype, core.events.shape) == ((256,), np.uint32, (256,))
    assert not core.semaphores.any()
    assert not core.events.any()


def test_accumulators_are_a_set_for_dve_and_one_for_act(machine: gp.Machine) -> None:
    expected = ["dve"] if machine.generation.name == "maverick" else ["act", "dve"]
    core = gp.NeuronCore(machine)
    assert sorted(core.accumulators) == expected
    core.accumulators["dve"] = np.arange(128, dtype=np.float32)
    if len(expected) == 2:
        assert not core.accumulators.defined("act").any()
    assert core.accumulators["dve"].tolist() == list(range(128))
    with pytest.raises(gp.GpsimdError, match="no accumulators belong to 'pe'"):
        core.accumulators["pe"]


# Reading and writing ---------------------------------------------------------------------------------------------------

DTYPES = {
    "int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16, "int32": np.int32, "uint32": np.uint32,
    "int64": np.int64, "uint64": np.uint64, "fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16,
    "fp8_e3m4": ml_dtypes.float8_e3m4, "fp8_e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_arrays_come_back_bit_for_bit(any_machine: gp.Machine, name: str) -> None:
    core = gp.NeuronCore(any_machine)
    rng = np.random.default_rng(1)
    kind = np.dtype(DTYPES[name])
    bits = rng.integers(0, 256, (5, 7 * kind.itemsize), np.uint8)
    array = bits.view(kind)
    core.sbuf.write(array, partition=60, offset=24)
    for dtype in (name, kind, name.upper()):
        found = core.sbuf.read(partition=60, offset=24, shape=(5, 7), dtype=dtype)
        assert found.dtype == kind
        assert found.view(np.uint8).tobytes() == bits.tobytes()


def test_what_lies_around_stays(any_machine: gp.Machine) -> None:
    core = gp.NeuronCore(any_machine)
    core.psum.write(np.zeros((2, 3), np.uint8), partition=126, offset=10)
    found = core.psum.read(shape=(128, 16), dtype="uint8")
    expected = np.full((128, 16), 0xA5, np.uint8)
    expected[126:, 10:13] = 0
    assert (found == expected).all()


def test_what_is_read_is_a_copy(any_machine: gp.Machine) -> None:
    core = gp.NeuronCore(any_machine)
    found = core.sbuf.read(shape=(1, 4), dtype="uint8")
    found[:] = 1
    assert (core.sbuf.read(shape=(1, 4), dtype="uint8") == 0xA5).all()


def test_foreign_byte_orders_and_layouts_are_stored_little_endian(any_machine: gp.Machine) -> None:
    core = gp.NeuronCore(any_machine)
    core.sbuf.write(np.array([[0x1234]], ">u2"))
    assert core.sbuf.read(shape=(1, 2), dtype="uint8").tolist() == [[0x34, 0x12]]
    wide = np.arange(24, dtype=np.uint16).reshape(4, 6)[:, ::2]
    core.sbuf.write(wide)
    assert (core.sbuf.read(shape=(4, 3), dtype="uint16") == wide).all()


def test_later_axes_lie_one_after_the_other(any_machine: gp.Machine) -> None:
    core = gp.NeuronCore(any_machine)
    cube = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    core.sbuf.write(cube)
    assert (core.sbuf.read(shape=(2, 3, 4), dtype="int16") == cube).all()
    assert (core.sbuf.read(shape=(2, 12), dtype="int16") == cube.reshape(2, 12)).all()


@pytest.mark.parametrize(("kind", "message"), [
    (np.float64, "holds no float64 elements"), (np.complex64, "holds no complex64"), (np.bool_, "store booleans as uint8"),
    ("U3", "holds no"), (ml_dtypes.float8_e4m3fnuz, "holds no float8_e4m3fnuz"), (ml_dtypes.int4, "holds no int4"),
])  # fmt: skip
def test_other_dtypes_are_refused(any_machine: gp.Machine, kind: Any, message: str) -> None:
    core = gp.NeuronCore(any_machine)
    array = np.zeros((1, 4), kind)
    with pytest.raises(BadValue, match=message):
        core.sbuf.write(array)
    assert (core.sbuf.read(shape=(1, 4), dtype="uint8") == 0xA5).all()


@pytest.mark.parametrize(("dtype", "message"), [
    ("float99", "no dtype is called 'float99'"), ("cptc1", "cptc1 has no values"), ("fp8_e2m5", "its format is not grounded"),
])  # fmt: skip
def test_unknown_and_ungrounded_dtype_names(any_machine: gp.Machine, dtype: str, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        gp.NeuronCore(any_machine).sbuf.read(shape=(1, 1), dtype=dtype)


def test_fp32r_is_four_bytes_of_fp32(any_machine: gp.Machine) -> None:
    core = gp.NeuronCore(any_machine)
    core.sbuf.write(np.array([[1.5]], np.float32))
    assert core.sbuf.read(shape=(1, 1), dtype="fp32r").tolist() == [[1.5]]


@pytest.mark.parametrize("flavour", ["ieee", "ocp"])
def test_code_0xe_is_one_flavour_and_the_other_is_an_error(
    load: Callable[..., gp.Machine], machine: gp.Machine, flavour: str
) -> None:
    gen = machine.generation.name
    core = gp.NeuronCore(load(gen, policies={"fp8_exp4": flavour}))
    names = {"ieee": ("fp8_e4m3", ml_dtypes.float8_e4m3), "ocp": ("fp8_e4m3fn", ml_dtypes.float8_e4m3fn)}
    name, kind = names.pop(flavour)
    ((other, foreign),) = names.values()
    core.sbuf.write(np.array([[1, 2]], kind))
    assert core.sbuf.read(shape=(1, 2), dtype=name).dtype == kind
    for attempt in (
        lambda: core.sbuf.write(np.array([[1, 2]], foreign)),
        lambda: core.sbuf.read(shape=(1, 2), dtype=other),
        lambda: core.sbuf.read(shape=(1, 2), dtype=foreign),
    ):
        with pytest.raises(BadValue, match=f"code 0xE is {name} on this machine"):
            attempt()
    default = {"maverick": "ocp"}.get(gen, "ieee")
    assert machine.policies["fp8_exp4"] == default


# Bounds ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("region", ["sbuf", "psum"])
def test_bounds(machine: gp.Machine, memory: Memory, region: str) -> None:
    r = memory.region(region)
    r.write(np.zeros((128, 4), np.uint8), 0, r.active - 4)
    assert not r.read(127, r.active - 1, shape=(1, 1), dtype="uint8").any()
    for attempt, message in (
        (lambda: r.write(np.zeros((128, 4), np.uint8), 0, r.active - 3), "outside a partition of"),
        (lambda: r.write(np.zeros((128, 4), np.uint8), 1, 0), "partitions 1 to 128 are outside 0 to 127"),
        (lambda: r.write(np.zeros((1, 4), np.uint8), 128, 0), "outside 0 to 127"),
        (lambda: r.write(np.zeros((1, 4), np.uint8), -1, 0), "outside 0 to 127"),
        (lambda: r.write(np.zeros((1, 4), np.uint8), 0, -1), "outside a partition of"),
        (lambda: r.read(0, r.active - 3, shape=(1, 1), dtype="fp32"), "outside a partition of"),
        (lambda: r.read(shape=(129, 1), dtype="uint8"), "outside 0 to 127"),
        (lambda: r.read(shape=(1, -1), dtype="uint8"), "is not \\(partitions, elements\\)"),
        (lambda: r.read(shape=(), dtype="uint8"), "is not \\(partitions, elements\\)"),
        (lambda: r.write(np.uint8(1)), "not a scalar"),
    ):
        with pytest.raises(BadValue, match=message):
            attempt()


def test_the_padding_between_partitions_is_private(machine: gp.Machine) -> None:
    """Nothing that can be written reaches the bytes between the active parts of two partitions."""
    core = gp.NeuronCore(machine)
    for region in (core.sbuf, core.psum):
        region.write(np.zeros((128, region.active), np.uint8))
        rows = core.memory.data[region.start : region.start + 128 * region.pitch].reshape(128, region.pitch)
        assert (rows[:, region.active :] == 0xA5).all()
        assert region.pitch > region.active


# Addresses -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("region", ["sbuf", "psum"])
def test_address_to_place_and_back(machine: gp.Machine, memory: Memory, region: str) -> None:
    """Every partition, at the ends of its active part and at offsets in between."""
    gen = machine.generation.name
    stride, active = GEOMETRY[gen][:2] if region == "sbuf" else GEOMETRY[gen][3:5]
    if region == "psum" and gen == "maverick":
        with pytest.raises(BadValue, match="reachable through the API only"):
            memory.address(region, 0, 0)
        return
    for partition in range(128):
        for offset in (0, 1, 4, partition * 97 + 13, active // 2, active - 1):
            address = memory.address(region, partition, offset)
            assert address == (PSUM if region == "psum" else 0) + partition * stride + offset
            found = memory.locate(address)
            assert found is not None
            assert (found[0].name, found[1], found[2]) == (region, partition, offset)


def test_where_the_windows_end(machine: gp.Machine, memory: Memory) -> None:
    *_, window, _, _, psum_window = GEOMETRY[machine.generation.name]
    last = memory.locate(window - 1)
    assert last is not None
    if machine.generation.name == "maverick":
        middle = memory.locate(PSUM)
        assert middle is not None
        assert (middle[0].name, middle[1], middle[2]) == ("sbuf", 32, 0)
        assert memory.locate(window) is None
    else:
        edge = memory.locate(PSUM + psum_window - 1)
        assert edge is not None
        assert (edge[0].name, edge[1]) == ("psum", 127)
        assert memory.locate(PSUM + psum_window) is None
    assert memory.locate(0x1FFFFFFF) is None
    for region, partition, offset in (
        ("sbuf", 128, 0),
        ("sbuf", -1, 0),
        ("sbuf", 0, memory.sbuf.active),
        ("dram", 0, 0),
    ):
        with pytest.raises(BadValue):
            memory.address(region, partition, offset)


def test_an_address_in_the_padding_has_a_place_but_no_name(load: Callable[..., gp.Machine]) -> None:
    """Between the active part and the stride an address still names its partition: rules and plans judge it."""
    m = load("cayman")
    memory = Memory(m.generation.geometry, m.formats)
    found = memory.locate(0x38000)
    assert found is not None
    assert (found[0].name, found[1], found[2]) == ("sbuf", 0, 0x38000)
    with pytest.raises(BadValue, match="byte 229376 is outside a partition of 229376 bytes"):
        memory.address("sbuf", 0, 0x38000)
