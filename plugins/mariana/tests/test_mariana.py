"""What mariana and its respin mariana_plus do, and what starts with them."""

from __future__ import annotations

import pytest
from gpsimd_mariana import mariana, mariana_plus
from gpsimd_mariana.generation import MARIANA, MARIANA_PLUS

from gpsimd_core import host
from gpsimd_core.isa.enums import AluOp, Dtype, MatmulZeroRegion

SINCE_MARIANA = [0x08, 0x09, 0x0A, 0x25, 0xB4, 0xE0, 0xE1, 0xE2, 0xE3]


@pytest.fixture(scope="module", params=["mariana", "mariana_plus"])
def machine(request):
    return host.load(request.param)


def test_one_distribution_offers_two_generations():
    assert {"mariana", "mariana_plus"} <= set(host.generations())
    assert (mariana.gpsimd_generation(), mariana_plus.gpsimd_generation()) == (MARIANA, MARIANA_PLUS)
    assert host.load("mariana").generation == MARIANA
    assert host.load("mariana_plus").generation == MARIANA_PLUS
    assert MARIANA.nc_version == MARIANA_PLUS.nc_version == 4
    assert dict(MARIANA_PLUS.facts).keys() - dict(MARIANA.facts).keys() == {"firmware"}


def test_opcodes_that_start_here(machine):
    assert set(SINCE_MARIANA) <= set(machine.opcodes)
    assert len(machine.opcodes) == 159


def test_second_activation_form_and_exponential(machine):
    assert machine.engines_of("activate2") == ("act",)
    assert machine.engines_of("exponential") == ("dve",)
    assert machine.opcodes[0x30].not_executable is None


def test_matrix_engine_takes_the_lookup_table_too(machine):
    assert machine.engines_of("conv_lut_load") == ("pool", "pe")


def test_event_test_has_no_slot(machine):
    assert "slot" in machine.opcodes[0xB4].not_executable


def test_operators_that_start_here(machine):
    new = {AluOp.ABS_MAX, AluOp.ABS_MIN, AluOp.RE_LU, AluOp.SQUARE}
    assert all(new <= machine.sets[name] for name in ("alu_op", "arith", "general_arith"))
    assert AluOp.SYMMETRIC_CLAMP not in machine.sets["alu_op"]


def test_codes_of_fp4_and_compressed_formats_exist_and_the_plain_gate_refuses_them(machine):
    assert machine.sets["fp4"] | machine.sets["cptc"] <= machine.sets["dtype"]
    assert not (machine.sets["fp4"] | machine.sets["cptc"]) & machine.sets["plain"]
    assert machine.sets["mx_element"] == {Dtype.FP8_EXP4, Dtype.FP8_EXP5, Dtype.FP4_EXP2}
    assert machine.sets["mx_scale"] == frozenset()


def test_four_zero_regions_and_bf16_results(machine):
    assert machine.sets["matmul_zero_region"] == set(MatmulZeroRegion)
    assert machine.sets["matmul_out"] == {Dtype.FP32, Dtype.BFLOAT16}


def test_tensor_patterns_have_an_indirect_form(machine):
    assert {f.type for f in machine.layouts[0x42].fields if f.kind == "tensor"} == {"MEM_PATTERN4D"}
    assert {f.type for f in machine.layouts[0xEA].fields if f.kind == "tensor"} == {"TENSOR2D"}


def test_each_generation_has_its_own_blobs():
    places = {}
    for name in ("mariana", "mariana_plus"):
        blobs = host.load(name).hooks.blobs(host.load(name).generation)
        sites = [b for b in blobs if hasattr(b, "accessor")]
        assert len(sites) == 58
        assert {s.generation for s in sites} == {name}
        places[name] = {n.offset for s in sites for n in s.self_names if n.text == "CopyPredicatedReduce"}
    assert places == {"mariana": {0x42844A}, "mariana_plus": {0x6F016A}}
