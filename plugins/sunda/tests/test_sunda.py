"""What only sunda does."""

from __future__ import annotations

import pytest
from gpsimd_sunda import sunda
from gpsimd_sunda.generation import SUNDA

from gpsimd_core import host
from gpsimd_core.isa.enums import AluOp, Dtype


@pytest.fixture(scope="module")
def machine():
    return host.load("sunda")


def test_the_entry_point_gives_this_plugin(machine):
    assert machine.generation == sunda.gpsimd_generation() == SUNDA
    assert (SUNDA.nc_version, len(machine.opcodes)) == (2, 145)


@pytest.mark.parametrize(
    ("opcode", "name", "layout"),
    [
        (0x8A, "tensor_tensor_add_bf16", "S3S3D3Tt"),
        (0x8B, "tensor_tensor_mult_bf16", "S3S3D3Tt"),
        (0x8C, "tensor_reduce_add_bf16", "S4D4Tr"),
        (0x8D, "tensor_reduce_max_bf16", "S4D4Tr"),
        (0x8F, "tensor_tensor_sub_bf16", "S3S3D3Tt"),
    ],
)
def test_bf16_forms(opcode, name, layout, machine):
    row = machine.opcodes[opcode]
    assert (row.name, row.layout.__name__, row.flag) == (name, layout, "maintained")
    assert machine.engines_of(name) == ("dve", "pool")
    assert "none of the group is among its kernel rows" in machine.bindings[name].evidence.note


@pytest.mark.parametrize("opcode", [0x87, 0x88])
def test_dual_forms_are_deprecated_and_without_an_engine(opcode, machine):
    row = machine.opcodes[opcode]
    assert (row.flag, row.not_executable) == ("deprecated", None)
    assert (machine.engines_of(row.name), machine.bindings[row.name].reason) == (
        (),
        "deprecated in the header; no engine has a handler",
    )


@pytest.mark.parametrize("opcode", [0x7B, 0xF0])
def test_declared_without_a_kernel_row(opcode, machine):
    assert "kernel row" in machine.opcodes[opcode].not_executable
    assert machine.engines_of(machine.opcodes[opcode].name) == ()


def test_matmul_has_the_layout_that_is_given_for_sunda(machine):
    assert machine.layouts[0x02].name == "S3D3Mm"
    assert machine.layouts[0x7B].name == "Opaque"


def test_custom_operations_have_their_handler_here(machine):
    for name in ("custom_op_header", "custom_op_payload"):
        assert machine.engines_of(name) == ("pool",)
        assert machine.opcodes[machine.opcode_of(name)].not_executable is None


def test_three_integer_operators_and_the_remainder(machine):
    band = {AluOp.ADD_INT, AluOp.MULT_INT, AluOp.SUBTRACT_INT}
    assert {op for op in machine.sets["alu_op"] if op >= 0xC4} == band
    assert machine.sets["int_aluop"] == band | {AluOp.MOD}
    assert machine.sets["argument_reduce"] == machine.sets["tensor_tensor_int64"] == frozenset()


def test_psum_banks_of_1024_bytes_and_results_in_fp32(machine):
    assert (machine.generation.geometry.psum_banks, machine.generation.geometry.psum_bank_bytes) == (16, 1024)
    assert machine.sets["matmul_out"] == {Dtype.FP32}


def test_affine_select_may_reach_psum(machine):
    assert machine.bindings["tensor_scalar_affine_select"].psum == {"pool"}


def test_no_blob_names_an_instruction(machine):
    blobs = machine.hooks.blobs(machine.generation)
    assert not [b for b in blobs if getattr(b, "self_names", ())]
    (table,) = [b for b in blobs if getattr(b, "rows", ())]
    assert (table.symbol, len(table.rows)) == (None, 18)
