"""One test for each difference between the generations, looking at what their plugins say."""

from __future__ import annotations

import pytest

from gpsimd_core.isa.enums import Dtype, Engine, MatmulZeroRegion, UpdateMode, WaitMode

GENERATIONS = ("sunda", "cayman", "mariana", "mariana_plus", "maverick")
KIB = 1024


def by_generation(names: str, **rows: object) -> pytest.MarkDecorator:
    """One case a generation; mariana_plus is as mariana."""
    rows.setdefault("mariana_plus", rows["mariana"])
    values = [(g, *(rows[g] if isinstance(rows[g], tuple) else (rows[g],))) for g in GENERATIONS]
    return pytest.mark.parametrize(("name", *names.split()), values, ids=GENERATIONS)


def fact(t, topic):
    return dict(t.generation.facts)[topic]


@by_generation("count", sunda=145, cayman=150, mariana=159, maverick=165)
def test_d01_opcode_set(name, count, tables):
    assert len(tables(name).encodings) == count


@by_generation(
    "refused",
    sunda={0x30, 0x77, 0x78, 0x7B, 0xF0},
    cayman={0x30, 0x85, 0x86},
    mariana={0x85, 0x86, 0xB4},
    maverick={0x21, 0x22, 0x24, 0x26, 0x85, 0x86, 0xB4},
)
def test_d02_declared_but_not_executable(name, refused, tables):
    t = tables(name)
    assert {v for v, e in t.encodings.items() if e.kind == "real" and e.not_executable} == refused
    for value in refused:
        binding = t.bindings[t.encodings[value].name]
        assert binding.engines == ()
        assert binding.reason == t.encodings[value].not_executable
        assert f"0x{value:02x}" in fact(t, "not executable")


@by_generation("there", sunda=True, cayman=False, mariana=False, maverick=False)
def test_d03_sunda_only_opcodes(name, there, tables):
    t = tables(name)
    own = {0x87, 0x88, 0x8A, 0x8B, 0x8C, 0x8D, 0x8F}
    assert own & set(t.encodings) == (own if there else set())
    if there:
        assert all(t.encodings[v].flag == "deprecated" and not t.engines_of(v) for v in (0x87, 0x88))
        for value in (0x8A, 0x8B, 0x8C, 0x8D, 0x8F):
            assert t.engines_of(value) == ("dve", "pool")
            assert t.encodings[value].evidence.confidence.startswith("MED")


@by_generation("count last", sunda=(16, 0x0F), cayman=(16, 0x0F), mariana=(24, 0x1F), maverick=(30, 0x1F))
def test_d04_dtypes(name, count, last, tables):
    dtypes = tables(name).sets["dtype"]
    assert (len(dtypes), max(dtypes)) == (count, last)
    assert (Dtype.FP4_EXP2 in dtypes) == (count > 16)
    assert (Dtype.FP8_EXP2 in dtypes) == (count > 24)


@by_generation("active stride", sunda=(192, 256), cayman=(224, 256), mariana=(256, 256), maverick=(512, 1024))
def test_d05_sbuf_partition(name, active, stride, tables):
    geometry = tables(name).generation.geometry
    assert (geometry.sbuf_active, geometry.sbuf_stride) == (active * KIB, stride * KIB)
    assert geometry.sbuf_window == geometry.sbuf_stride * geometry.partitions


@by_generation(
    "banks size window",
    sunda=(16, 1024, 0x400000),
    cayman=(8, 2048, 0x400000),
    mariana=(8, 2048, 0x400000),
    maverick=(8, 2048, 0),
)
def test_d06_psum_banks(name, banks, size, window, tables):
    geometry = tables(name).generation.geometry
    assert (geometry.psum_banks, geometry.psum_bank_bytes, geometry.psum_window) == (banks, size, window)
    assert geometry.psum_banks * geometry.psum_bank_bytes == geometry.psum_active
    assert geometry.psum_stride == 32 * KIB


@by_generation("codes", sunda=1, cayman=1, mariana=4, maverick=4)
def test_d07_zero_regions(name, codes, tables):
    assert tables(name).sets["matmul_zero_region"] == set(list(MatmulZeroRegion)[:codes])


@by_generation("columns", sunda="128 columns", cayman="128 columns", mariana="128 columns", maverick="256 columns")
def test_d08_matrix_columns(name, columns, tables):
    assert columns in fact(tables(name), "matmul")


@by_generation(
    "engines activation shared",
    sunda=({"pe", "act", "pool", "dve", "sp"}, {0x21, 0x22, 0x23, 0x24}, {0x43, 0x44, 0x46, 0x47, 0x9F}),
    cayman=({"pe", "act", "pool", "dve", "sp"}, {0x21, 0x22, 0x23, 0x24}, {0x43, 0x44, 0x46, 0x47, 0x9F}),
    mariana=(
        {"pe", "act", "pool", "dve", "sp"},
        {0x21, 0x22, 0x23, 0x24, 0x25},
        {0x43, 0x44, 0x46, 0x47, 0x77, 0x78, 0x9F},
    ),
    maverick=({"pe", "pool", "dve", "sp"}, set(), set()),
)
def test_d09_act_engine(name, engines, activation, shared, tables):
    t = tables(name)
    assert set(t.engines) == engines
    on_act = {v for v in t.encodings if "act" in t.engines_of(v) and not 0xA0 <= v <= 0xB6}
    assert on_act == activation | shared
    assert all(t.engines_of(v) == ("act",) for v in activation)
    if name == "maverick":
        assert t.engines_of(0x23) == t.engines_of(0x25) == ("dve",)
    assert {e.name: e.accumulators for e in t.engines.values() if e.accumulators} == (
        {"dve": "dve"} if name == "maverick" else {"act": "act", "dve": "dve"}
    )


@by_generation("count", sunda=33, cayman=60, mariana=64, maverick=65)
def test_d16_operators(name, count, tables):
    assert len(tables(name).sets["alu_op"]) == count


@by_generation("present", sunda=set(), cayman=set(), mariana={0x09, 0x0A, 0xE3}, maverick={0x09, 0x0A, 0xE3})
def test_d17_mx(name, present, tables):
    t = tables(name)
    assert {0x09, 0x0A, 0xE3} & set(t.encodings) == present
    assert bool(t.sets["mx_element"]) == bool(present)
    assert ("mxtensor_v2" in t.generation.features) == (name == "maverick")


@by_generation("form", sunda="TENSOR4D", cayman="TENSOR4D", mariana="MEM_PATTERN4D", maverick="MEM_PATTERN4D")
def test_d19_access_pattern_of_tensor_reduce(name, form, tables):
    t = tables(name)
    layout = t.encodings[0x42].layout.variant(t.generation.features)
    assert layout.name == "S4D4Tr"
    assert {f.type for f in layout.fields if f.kind == "tensor"} == {form}


@by_generation(
    "flavour registers",
    sunda=("ieee", "no flavour registers"),
    cayman=("ieee", "no flavour registers"),
    mariana=("ieee", "registers select the OCP flavour"),
    maverick=("ocp", "flavour registers: unknown"),
)
def test_d20_fp8_flavour(name, flavour, registers, tables):
    t = tables(name)
    assert dict(t.generation.defaults) == {"fp8_exp4": flavour}
    assert registers in fact(t, "fp8")


@by_generation("bf16", sunda=False, cayman=False, mariana=True, maverick=True)
def test_d21_bf16_results_in_psum(name, bf16, tables):
    assert tables(name).sets["matmul_out"] == ({Dtype.FP32, Dtype.BFLOAT16} if bf16 else {Dtype.FP32})


@by_generation(
    "wide opcodes", sunda=(False, set()), cayman=(True, set()), mariana=(True, set()), maverick=(True, {0xF3, 0xF4})
)
def test_d22_wide_integers(name, wide, opcodes, tables):
    t = tables(name)
    assert t.sets["tensor_tensor_int64"] == ({Dtype.INT64, Dtype.UINT64} if wide else set())
    assert {0xF3, 0xF4} & set(t.encodings) == opcodes
    assert "pool" in t.engines_of(0x41)


@by_generation("there", sunda=False, cayman=True, mariana=True, maverick=True)
def test_d23_index_read_back(name, there, tables):
    t = tables(name)
    assert (0xE9 in t.encodings) == there
    assert t.sets["dve_read_indices_out"] == ({Dtype.UINT16, Dtype.UINT32} if there else set())
    assert t.engines_of(0x9B) == ("dve",)


@by_generation("exclusive", sunda=True, cayman=False, mariana=False, maverick=False)
def test_d24_shared_memory(name, exclusive, tables):
    sets = tables(name).sets
    assert sets["exclusive_on_sbuf"] == ({Engine.DVE, Engine.POOL} if exclusive else set())
    assert sets["exclusive_on_psum"] == ({Engine.DVE, Engine.ACT} if exclusive else set())


@by_generation("dropped", sunda=False, cayman=False, mariana=False, maverick=True)
def test_d25_event_modes(name, dropped, tables):
    t = tables(name)
    waits = {m for m in WaitMode if m.name.startswith("EVT_")}
    updates = {m for m in UpdateMode if m.name.startswith("EVT_")}
    assert t.sets["wait_mode_dropped"] == (waits if dropped else set())
    assert t.sets["update_mode_dropped"] == (updates if dropped else set())
    assert {int(m) for m in waits} == {0x06, 0x07, 0x0E, 0x0F}
    assert {int(m) for m in updates} == {0x01, 0x02, 0x11, 0x12}
    assert (0xB6 in t.encodings) == dropped
    assert ("inst_flags" in t.generation.features) == dropped


@by_generation(
    "owners", sunda=((),), cayman=(("pool",),), mariana=(("pool", "dve", "act"),), maverick=(("pool", "dve"),)
)
def test_d29_random_state_owners(name, owners, tables):
    t = tables(name)
    assert t.engines_of(0x77) == t.engines_of(0x78) == owners


@by_generation("counts", sunda=((1, 1, 1),), cayman=((1, 1, 1),), mariana=((1, 1, 1),), maverick=((16, 4, 4),))
def test_d30_engine_instances(name, counts, tables):
    engines = tables(name).engines
    assert tuple(engines[e].instances for e in ("sp", "pe", "dve")) == counts


@by_generation("reach", sunda={0x7E, 0x92}, cayman={0x7E}, mariana={0x7E}, maverick={0x7E})
def test_pool_reaches_psum_only_where_an_opcode_allows_it(name, reach, tables):
    t = tables(name)
    assert [e.name for e in t.engines.values() if not e.reaches_psum] == ["pool"]
    assert {v for v, e in t.encodings.items() if "pool" in t.bindings[e.name].psum} == reach


@pytest.mark.parametrize("name", GENERATIONS)
def test_engine_numbers_never_change(name, tables):
    wire = {"pe": Engine.PE, "act": Engine.ACT, "pool": Engine.POOL, "dve": Engine.DVE, "sp": Engine.TPB_SP}
    assert {e.name: e.index for e in tables(name).engines.values()}.items() <= wire.items()


def test_mariana_plus_differs_from_mariana_in_identity_alone(tables):
    one, two = tables("mariana"), tables("mariana_plus")
    assert one.generation != two.generation
    assert (one.encodings, one.named, one.engines, one.bindings) == (
        two.encodings, two.named, two.engines, two.bindings,
    )  # fmt: skip
