"""What only maverick does."""

from __future__ import annotations

import pytest
from gpsimd_maverick import maverick
from gpsimd_maverick.generation import MAVERICK

from gpsimd_core import host
from gpsimd_core.isa.enums import AluOp, Dtype


@pytest.fixture(scope="module")
def machine():
    return host.load("maverick")


def test_the_entry_point_gives_this_plugin(machine):
    assert machine.generation == maverick.gpsimd_generation() == MAVERICK
    assert (MAVERICK.nc_version, len(machine.opcodes)) == (5, 165)


def test_opcodes_that_exist_here_alone(machine):
    assert {o: machine.engines_of(machine.opcodes[o].name) for o in (0xB6, 0xB9, 0xBA, 0xF3, 0xF4)} == {
        0xB6: ("pe", "pool", "dve", "sp"),
        0xB9: ("pool",),
        0xBA: ("pool",),
        0xF3: ("pool",),
        0xF4: ("dve",),
    }


def test_dve_takes_what_is_left_of_act(machine):
    assert set(machine.engines) == {"pe", "pool", "dve", "sp"}
    assert machine.engines_of("activation_table_load") == machine.engines_of("activate2") == ("dve",)
    assert machine.engines_of("max_pool_select") == ("pool", "dve")
    for opcode in (0x21, 0x22, 0x24, 0x26):
        assert machine.opcodes[opcode].not_executable
    assert {e.accumulators for e in machine.engines.values()} == {"dve", None}
    assert machine.sets["act_read_accumulator_out"] == frozenset()


def test_engines_come_in_numbers(machine):
    assert {e.name: e.instances for e in machine.engines.values()} == {"pe": 4, "pool": 1, "dve": 4, "sp": 16}


def test_no_flat_address_names_psum(machine):
    geometry = machine.generation.geometry
    assert geometry.psum_window == 0
    assert geometry.psum_base // geometry.sbuf_stride == 32


def test_header_byte_3_is_inst_flags(machine):
    assert machine.layouts[0xEA].by_name["inst_flags"].offset == 3
    assert "debug_hint" not in machine.layouts[0xEA].by_name


def test_event_modes_are_reported_as_dropped_and_stay_members(machine):
    assert {int(m) for m in machine.sets["wait_mode_dropped"]} == {0x06, 0x07, 0x0E, 0x0F}
    assert {int(m) for m in machine.sets["update_mode_dropped"]} == {0x01, 0x02, 0x11, 0x12}


def test_fp8_code_e_is_the_ocp_flavour(machine):
    assert dict(MAVERICK.defaults) == {"fp8_exp4": "ocp"}
    assert machine.policies["fp8_exp4"] == "ocp"


def test_e2m5_passes_the_plain_gate_and_no_nibble(machine):
    assert Dtype.FP8_EXP2 in machine.sets["plain"]
    assert Dtype.FP8_EXP2 in machine.sets["select_reduce_out"]
    for name in ("select_reduce_data", "copy_predicated_data", "cast_predicated_data", "fp_datapath"):
        assert Dtype.FP8_EXP2 not in machine.sets[name]


def test_integer_operators_of_dve(machine):
    assert len(machine.sets["int_aluop_dve"]) == 15
    assert machine.sets["int_aluop_dve"] <= machine.sets["alu_op"]


def test_symmetric_clamp_is_in_no_instructions_set(machine):
    assert AluOp.SYMMETRIC_CLAMP in machine.sets["alu_op"]
    homes = [n for n, members in machine.sets.items() if AluOp.SYMMETRIC_CLAMP in members]
    assert [n for n in homes if n != "alu_op"] == []


def test_block_scaled_formats(machine):
    assert "mxtensor_v2" in machine.generation.features
    assert machine.sets["mx_scale"] == {Dtype.SFP8_E8, Dtype.SFP8_E7, Dtype.SFP8_E6, Dtype.SFP8_E5}
    assert len(machine.sets["mx_element"]) == 6


def test_dve_alone_has_a_debug_sequencer_image(machine):
    sites = [b for b in machine.hooks.blobs(machine.generation) if hasattr(b, "accessor")]
    assert {s.engine for s in sites if s.core == "NX" and s.build == "DEBUG"} == {"dve"}
    assert "act" not in {s.engine for s in sites}
    assert {s.base for s in sites if s.core == "NX" and s.region == "SRAM"} == {0x4100000}
