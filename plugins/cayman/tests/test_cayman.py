"""What cayman has, and which of it the generations before and after do not."""

from __future__ import annotations

import pytest
from gpsimd_cayman import cayman
from gpsimd_cayman.generation import CAYMAN

from gpsimd_core import host
from gpsimd_core.isa.enums import AluOp, Dtype

SINCE_CAYMAN = [0x06, 0x07, 0x81, 0xBC, 0xBD, 0xBE, 0xBF, 0xD7, 0xE4, 0xE9, 0xF1, 0xF2]
SINCE_MARIANA = [0x08, 0x09, 0x0A, 0x25, 0xB4, 0xE0, 0xE1, 0xE2, 0xE3]


@pytest.fixture(scope="module")
def machine():
    return host.load("cayman")


def test_the_entry_point_gives_this_plugin(machine):
    assert machine.generation == cayman.gpsimd_generation() == CAYMAN
    assert (CAYMAN.nc_version, len(machine.opcodes)) == (3, 150)


def test_opcodes_that_start_here_and_that_start_later(machine):
    assert set(SINCE_CAYMAN) <= set(machine.opcodes)
    assert not set(SINCE_MARIANA) & set(machine.opcodes)


def test_index_read_back(machine):
    assert machine.engines_of("dve_read_indices") == ("dve",)
    assert machine.layouts[0xE9].name == "D4Mr"


def test_exponential_is_declared_and_has_no_body(machine):
    row = machine.opcodes[0x30]
    assert (row.flag, row.layout.__name__) == ("unflagged", "S3D3Ts")
    assert "no image" in row.not_executable


def test_random_state_on_pool_alone(machine):
    assert machine.engines_of("rand_get_state") == machine.engines_of("rand_set_state") == ("pool",)


def test_the_integer_band_without_the_operators_of_mariana(machine):
    assert AluOp.ARGMIN_UINT in machine.sets["argument_reduce"]
    assert not {AluOp.ABS_MAX, AluOp.ABS_MIN, AluOp.RE_LU, AluOp.SQUARE} & machine.sets["alu_op"]
    assert machine.sets["tensor_tensor_int64"] == {Dtype.INT64, Dtype.UINT64}


def test_matrix_records_stay_opaque(machine):
    assert machine.layouts[0x02].name == "Opaque"


def test_tensor_patterns_have_no_indirect_form(machine):
    assert machine.generation.features == frozenset()


@pytest.mark.parametrize(
    ("symbol", "name", "offset", "opcode"),
    [
        ("CAYMAN_NX_DVE_DEBUG_DRAM_get", "CopyPredicatedReduce", 0x18E16A, 0xEA),
        ("CAYMAN_NX_POOL_DEBUG_DRAM_get", "CrossLaneReduce", 0x1CFCF4, 0x7C),
        ("CAYMAN_NX_ACT_DEBUG_DRAM_get", "ActivationReadAccumulator", 0x16AED3, 0x24),
    ],
)
def test_self_names(symbol, name, offset, opcode, machine):
    (site,) = [b for b in machine.hooks.blobs(machine.generation) if getattr(b, "accessor", 0) and b.symbol == symbol]
    (found,) = [n for n in site.self_names if n.text == name]
    assert found.offset == offset
    assert opcode in found.opcodes
