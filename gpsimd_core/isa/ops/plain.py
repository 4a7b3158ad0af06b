"""Instructions whose records are read and checked by the generic rules: no source gives them rules of their own."""

from __future__ import annotations

from gpsimd_core.isa.kernels.moves import nothing
from gpsimd_core.isa.layout import Layout
from gpsimd_core.isa.layouts.ctrl_al import CtrlAl
from gpsimd_core.isa.layouts.ctrl_im import CtrlIm
from gpsimd_core.isa.layouts.ctrl_no import CtrlNo
from gpsimd_core.isa.layouts.custom_op_header import CustomOpHeader
from gpsimd_core.isa.layouts.custom_op_payload import CustomOpPayload
from gpsimd_core.isa.layouts.d4_mr import D4Mr
from gpsimd_core.isa.layouts.dma_direct2d import DmaDirect2D
from gpsimd_core.isa.layouts.dma_indirect1d import DmaIndirect1D
from gpsimd_core.isa.layouts.extended_tta import ExtendedTta
from gpsimd_core.isa.layouts.modify_pool_config import ModifyPoolConfig
from gpsimd_core.isa.layouts.pseudo_load_act_func_set import PseudoLoadActFuncSet
from gpsimd_core.isa.layouts.s2_bn import S2Bn
from gpsimd_core.isa.layouts.s3d3_mm import S3D3Mm
from gpsimd_core.isa.layouts.s4d2_bn import S4D2Bn
from gpsimd_core.isa.ops.shared import generic
from gpsimd_core.values import Evidence, Instruction

__all__ = [
    "ACTIVATION_TABLE_LOAD",
    "ALU_OP",
    "BATCH_NORM_AGGREGATE",
    "BATCH_NORM_PARAM_LOAD",
    "BATCH_NORM_STATS",
    "BATCH_NORM_STATS2",
    "CUSTOM_OP_HEADER",
    "CUSTOM_OP_PAYLOAD",
    "DMAMEMCPY",
    "DMA_INDIRECT",
    "DRAIN",
    "ENGINE_NOP",
    "EXTENDED_INST",
    "HALT",
    "INSTRUCTION_FLUSH",
    "LOAD_PARAMETER_RAM",
    "LOAD_POOL_ARGUMENT",
    "MATMUL",
    "MODIFY_POOL_CONFIG",
    "NOP",
    "NOTIFY",
    "PSEUDO_LOAD_ACT_FUNC_SET",
    "REG_STORE",
    "RNG",
    "TRANSPOSE_BATCH_NORM_STATS2",
]

RULES = Evidence(
    confidence="PROPOSED",
    source="this project",
    note="enumerations, dtypes, channel count and reserved bytes by the layout alone",
)


def plain(
    name: str, alias: str, layout: type[Layout], semantics: str, *, missing: str = "", halts: bool = False
) -> Instruction:
    """One such instruction; without `missing` it carries events and does nothing else."""
    return Instruction(
        name=name, aliases=(alias,) if alias else (), layout=layout, rules=generic(layout, RULES), missing=missing,
        kernel=None if missing else nothing, halts=halts, semantics=semantics, evidence=layout.evidence,
    )  # fmt: skip


STATISTICS = "which statistics dst holds, and in which order"
PARAMETERS = "what the parameter words mean"
DMA = "descriptor queues and their engines are not modelled"
ONLY = "Decodes and validates only."
EVENTS = "Carries events and nothing else."

# fmt: off
MATMUL = plain("matmul", "", S3D3Mm, ONLY, missing="the matrix engine is not modelled")
ACTIVATION_TABLE_LOAD = plain("activation_table_load", "ActivationTableLoad", CtrlNo, "Loads the activation tables that the host prepared: here the table of the machine is always there, so it carries events and nothing else.")
REG_STORE = plain("reg_store", "", D4Mr, ONLY, missing="no source says which registers it stores")
RNG = plain("rng", "", D4Mr, ONLY, missing="the generator's state and stream")
BATCH_NORM_STATS = plain("batch_norm_stats", "BatchNormStats", S4D2Bn, ONLY, missing=STATISTICS)
BATCH_NORM_STATS2 = plain("batch_norm_stats2", "BatchNormStats2", S4D2Bn, ONLY, missing=STATISTICS)
BATCH_NORM_AGGREGATE = plain("batch_norm_aggregate", "BatchNormAggregate", S4D2Bn, ONLY, missing=STATISTICS)
BATCH_NORM_PARAM_LOAD = plain("batch_norm_param_load", "BatchNormalizeParamLoad", S2Bn, ONLY, missing=PARAMETERS)
LOAD_PARAMETER_RAM = plain("load_parameter_ram", "LoadParameterRam", CtrlIm, ONLY, missing=PARAMETERS)
LOAD_POOL_ARGUMENT = plain("load_pool_argument", "LoadPoolArgument", CtrlIm, ONLY, missing=PARAMETERS)
TRANSPOSE_BATCH_NORM_STATS2 = plain("transpose_batch_norm_stats2", "TransposeBatchNormStats2", S4D2Bn, ONLY, missing=STATISTICS)
MODIFY_POOL_CONFIG = plain("modify_pool_config", "ModifyPoolConfig", ModifyPoolConfig, ONLY, missing="libraries of the pool cores are not modelled")
CUSTOM_OP_HEADER = plain("custom_op_header", "CustomOpHeader", CustomOpHeader, ONLY, missing="custom operations are host code")
CUSTOM_OP_PAYLOAD = plain("custom_op_payload", "CustomOpPayload", CustomOpPayload, ONLY, missing="custom operations are host code")
ENGINE_NOP = plain("engine_nop", "EngineNop", CtrlIm, EVENTS)
HALT = plain("halt", "", CtrlNo, "Ends its stream.", halts=True)
DRAIN = plain("drain", "", CtrlNo, EVENTS)
INSTRUCTION_FLUSH = plain("instruction_flush", "InstructionFlush", CtrlNo, EVENTS)
NOP = plain("nop", "", CtrlNo, EVENTS)
NOTIFY = plain("notify", "", CtrlNo, EVENTS)
ALU_OP = plain("alu_op", "AluOp", CtrlAl, ONLY, missing="how the two registers of an operand are used")
DMAMEMCPY = plain("dmamemcpy", "", DmaDirect2D, ONLY, missing=DMA)
DMA_INDIRECT = plain("dma_indirect", "DmaIndirect", DmaIndirect1D, ONLY, missing=DMA)
PSEUDO_LOAD_ACT_FUNC_SET = plain("pseudo_load_act_func_set", "PseudoLoadActFuncSet", PseudoLoadActFuncSet, ONLY, missing="the host rewrites it")
EXTENDED_INST = plain("extended_inst", "ExtendedInst", ExtendedTta, ONLY, missing="what the sub-opcodes do")
# fmt: on
