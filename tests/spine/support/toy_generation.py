"""A generation that exists nowhere: enough tables for 0xEA and 0x9B, so that the host is tested without any plugin."""

from __future__ import annotations

from collections.abc import Iterable

from gpsimd_core.hookspecs import hookimpl
from gpsimd_core.isa.enums import AluOp, Dtype
from gpsimd_core.isa.layouts.d1_rd import D1Rd
from gpsimd_core.isa.layouts.s2s2d2_stt import S2S2D2Stt
from gpsimd_core.isa.ops.dve_read_accumulator import DVE_READ_ACCUMULATOR
from gpsimd_core.isa.ops.select_reduce import SELECT_REDUCE
from gpsimd_core.values import (
    Encoding,
    Engine,
    EngineBinding,
    Evidence,
    Generation,
    Geometry,
    Instruction,
    NamedSet,
)

MADE_UP = Evidence(confidence="PROPOSED", source="this test")

TOY = Generation(
    name="toy", nc_version=9, title="NC-v9: made up",
    geometry=Geometry(
        sbuf_stride=0x2000, sbuf_active=0x1000, sbuf_window=0x100000, psum_stride=0x800, psum_active=0x400,
        psum_window=0x40000, psum_banks=2, psum_bank_bytes=512,
    ),
    evidence=MADE_UP,
)  # fmt: skip

D = Dtype
INTEGERS = {D.INT8, D.UINT8, D.INT16, D.UINT16, D.INT32, D.UINT32}
FLOATS = {D.BFLOAT16, D.FP16, D.FP32}
SETS = {
    "dtype": INTEGERS | FLOATS | {D.FP32R, D.FP8_EXP2}, "plain": INTEGERS | FLOATS,
    "plain_with_fp32r": INTEGERS | FLOATS | {D.FP32R, D.FP8_EXP2},
    "int_datapath": INTEGERS, "int32_set": {D.INT32, D.UINT32}, "dve_read_accumulator_out": FLOATS | {D.FP32R},
    "alu_op": {AluOp.BYPASS, AluOp.ADD, AluOp.MAX}, "wait_mode_dropped": (), "update_mode_dropped": (),
}  # fmt: skip


class Toy:
    """The plugin of the made-up generation."""

    GPSIMD_API = 1

    @hookimpl
    def gpsimd_generation(self) -> Generation:
        return TOY

    @hookimpl
    def gpsimd_sets(self, gen: Generation) -> Iterable[NamedSet]:
        return [NamedSet(name=n, members=m, evidence=MADE_UP) for n, m in SETS.items()]

    @hookimpl
    def gpsimd_decode(self, gen: Generation) -> Iterable[Encoding]:
        return [
            Encoding(opcode=0xEA, name="select_reduce", layout=S2S2D2Stt, evidence=MADE_UP),
            Encoding(opcode=0x9B, name="dve_read_accumulator", layout=D1Rd, evidence=MADE_UP),
        ]

    @hookimpl
    def gpsimd_execute(self, gen: Generation) -> Iterable[Instruction]:
        return [SELECT_REDUCE, DVE_READ_ACCUMULATOR]

    @hookimpl
    def gpsimd_engines(self, gen: Generation) -> Iterable[Engine | EngineBinding]:
        return [
            Engine(name="dve", index=3, accumulators="dve", evidence=MADE_UP),
            Engine(name="pool", index=2, reaches_psum=False, evidence=MADE_UP),
            EngineBinding(instruction="select_reduce", engines=("dve",), evidence=MADE_UP),
            EngineBinding(instruction="dve_read_accumulator", engines=("dve",), evidence=MADE_UP),
        ]


toy = Toy()
