"""The engines of cayman and which of them take each instruction, first owner first."""

from __future__ import annotations

from gpsimd_cayman.encodings import ENCODINGS
from gpsimd_core.isa.tables import CARRIED, INFERRED, OBSERVED, binder, unbound
from gpsimd_core.values import Engine, EngineBinding, Evidence

__all__ = ["BINDINGS", "ENGINES"]

ROSTER = Evidence(confidence="HIGH/OBSERVED", source="Master Per-Generation Capability Matrix")

# fmt: off
ENGINES = (
    Engine(name="pe",   index=0, title="matrix",                       evidence=ROSTER),
    Engine(name="act",  index=1, title="activation", accumulators="act", evidence=ROSTER),
    Engine(name="pool", index=2, title="GPSIMD, eight vector cores",   reaches_psum=False, evidence=ROSTER),
    Engine(name="dve",  index=3, title="vector", accumulators="dve",   evidence=ROSTER),
    Engine(name="sp",   index=4, title="sequencer alone",              evidence=ROSTER),
)
# fmt: on

SEQUENCERS = tuple(engine.name for engine in ENGINES)
"""Every engine has a sequencer in front."""

on = binder("CAYMAN × POOL image; CAYMAN × DVE image; The Opcode ↔ Kernel ↔ Engine Matrix")


def sequencer(instruction: str, grade: str) -> EngineBinding:
    """One instruction that every sequencer takes."""
    return on(instruction, **dict.fromkeys(SEQUENCERS, grade))


POOL_FORMS = "the 32- and 64-bit integer and the arg-reduce forms are POOL's; the POOL table shows no slot for them"
RETIRED = "left over from the core before sunda; no engine has a handler"
NO_HANDLER = "deprecated in the header; no engine has a handler"

# fmt: off
BINDINGS = (
    # Matrix engine
    on("ldweights",                              pe=OBSERVED),
    on("matmul",                                 pe=OBSERVED),
    on("pe_reg_write",                           pe=OBSERVED),
    on("ldtags",                                 pe=OBSERVED),
    on("matmul_sparse",                          pe=OBSERVED),

    # Activation
    on("activate",                               act=OBSERVED),
    on("activate_quantize",                      act=OBSERVED),
    on("activation_table_load",                  act=OBSERVED),
    on("activation_read_accumulator",            act=OBSERVED),

    # Elementwise, reduce, copy, cumulative
    on("tensor_tensor_arith_op",                 dve=OBSERVED, pool=OBSERVED),
    on("tensor_reduce_arith_op",                 dve=OBSERVED, pool=INFERRED, note=POOL_FORMS),
    on("tensor_scalar_arith_op",                 dve=OBSERVED, pool=OBSERVED, act=OBSERVED),
    on("tensor_scalar_ptr_arith_op",             dve=OBSERVED, pool=OBSERVED, act=OBSERVED),
    on("pool",                                   dve=OBSERVED, pool=OBSERVED),
    on("copy",                                   dve=OBSERVED, pool=OBSERVED, act=OBSERVED),
    on("cast",                                   dve=OBSERVED, pool=OBSERVED, act=OBSERVED),
    on("reciprocal",                             dve=OBSERVED),
    on("memset",                                 pool=OBSERVED, dve=OBSERVED),
    on("rng",                                    pool=OBSERVED, dve=OBSERVED),
    on("tensor_cumulative_arith_op",             dve=OBSERVED),
    on("tensor_scalar_ptr_multi_arith",          dve=OBSERVED),
    on("tensor_tensor_bitvec_op",                dve=OBSERVED, pool=OBSERVED),
    on("tensor_reduce_bitvec_op",                dve=OBSERVED, pool=OBSERVED),
    on("tensor_scalar_bitvec_op",                dve=OBSERVED, pool=OBSERVED),
    on("tensor_scalar_ptr_bitvec_op",            dve=OBSERVED, pool=OBSERVED),
    on("max_pool_select",                        pool=OBSERVED),
    on("tensor_cumulative_bitvec_op",            dve=OBSERVED),
    on("tensor_scalar_ptr_multi_bitvec",         dve=OBSERVED),

    # Batch normalisation
    on("batch_norm_stats",                       dve=OBSERVED),
    on("batch_norm_stats2",                      dve=OBSERVED),
    on("batch_norm_aggregate",                   dve=OBSERVED),
    on("batch_norm_grad_accumulate",             dve=OBSERVED),
    on("batch_norm_param_load",                  dve=OBSERVED),
    on("batch_norm_back_prop",                   dve=OBSERVED),
    on("load_parameter_ram",                     dve=INFERRED),

    # Gather, shuffle, search, predicated copy
    on("pool_buffer_load",                       pool=OBSERVED),
    on("gather",                                 pool=OBSERVED),
    on("load_mask_select",                       dve=INFERRED),
    on("stream_shuffle",                         dve=OBSERVED),
    on("stream_transpose",                       dve=OBSERVED),
    on("max8",                                   dve=INFERRED),
    on("match_value_load",                       dve=OBSERVED),
    on("find_index8",                            dve=OBSERVED),
    on("match_replace8",                         dve=OBSERVED),
    on("tensor_scalar_imm_ld_arith",             dve=OBSERVED),
    on("tensor_scalar_imm_ld_bitvec",            dve=OBSERVED),
    on("copy_predicated",                        dve=OBSERVED),

    # Pool engine: addresses, random numbers, cross-lane reduce
    on("tensor_scalar_addr",                     pool=OBSERVED),
    on("rand_get_state",                         pool=OBSERVED),
    on("rand_set_state",                         pool=OBSERVED),
    on("embedding_update",                       pool=OBSERVED),
    on("load_pool_argument",                     pool=OBSERVED),
    on("tensor_dequantize",                      pool=OBSERVED),
    on("cross_lane_reduce_arith",                pool=OBSERVED),
    on("cross_lane_reduce_bitvec",               pool=OBSERVED),
    on("iota",                                   pool=OBSERVED, psum=("pool",)),
    on("dropout",                                dve=OBSERVED),

    # Transposing forms and custom operations
    on("transpose_batch_norm_stats2",            dve=INFERRED),
    on("transpose_tensor_reduce_arith_op",       dve=OBSERVED),
    on("transpose_tensor_reduce_bitvec_op",      dve=OBSERVED),
    on("batch_norm_param_load2",                 dve=OBSERVED),

    # Selects, caches, accumulators
    on("tensor_scalar_affine_select",            pool=OBSERVED),
    on("transpose_tensor_scalar_arith_op",       dve=OBSERVED),
    on("batch_norm_grad_accumulate2",            dve=OBSERVED),
    on("modify_pool_config",                     pool=OBSERVED),
    on("sort",                                   pool=OBSERVED),
    on("tensor_scalar_select",                   dve=OBSERVED),
    on("cast_predicated",                        dve=OBSERVED),
    on("tensor_scalar_cache_reduce",             dve=OBSERVED),
    on("dve_read_accumulator",                   dve=OBSERVED),
    on("scalar_tensor_tensor_arith",             dve=OBSERVED),
    on("scalar_tensor_tensor_bitvec",            dve=OBSERVED),
    on("engine_nop",                             dve=OBSERVED, pool=OBSERVED, act=OBSERVED, pe=OBSERVED),

    # Sequencer: events, control flow, registers
    sequencer("event_semaphore",                    OBSERVED),
    sequencer("halt",                               OBSERVED),
    sequencer("drain",                              CARRIED),
    sequencer("instruction_flush",                  OBSERVED),
    sequencer("nop",                                OBSERVED),
    sequencer("write",                              OBSERVED),
    sequencer("notify",                             OBSERVED),
    sequencer("move",                               OBSERVED),
    sequencer("alu_op",                             OBSERVED),
    sequencer("compare_branch",                     OBSERVED),
    sequencer("tensor_load",                        OBSERVED),
    sequencer("tensor_store",                       OBSERVED),
    sequencer("event_semaphore_range_clear",        CARRIED),
    sequencer("set_ordering_mode",                  OBSERVED),
    sequencer("move_shape",                         CARRIED),
    sequencer("poll_sem",                           OBSERVED),
    sequencer("branch_prefetch_hint",               OBSERVED),

    # Data movement and sequences
    on("dmamemcpy",                              pool=OBSERVED),
    on("dma_indirect",                           pool=OBSERVED),
    on("range_select",                           dve=OBSERVED),
    on("dma_transpose",                          pool=OBSERVED),
    on("get_sequence_bounds",                    pool=OBSERVED),
    on("sb2sb_collective",                       pool=OBSERVED),

    # Later additions
    on("conv_lut_load",                          pool=OBSERVED),
    on("tensor_tensor_scan_arith",               dve=OBSERVED),
    on("tensor_scalar_cache_cumulative",         dve=OBSERVED),
    on("indirect_copy",                          pool=OBSERVED),
    on("copy_predicated_scalar",                 dve=OBSERVED),
    on("dve_read_indices",                       dve=OBSERVED),
    on("select_reduce",                          dve=OBSERVED),

    # Extended and wide forms
    on("extended_inst",                          pool=OBSERVED),
    on("dma_gather_transpose",                   pool=OBSERVED),
    on("nonzero_with_count",                     pool=OBSERVED),

    # No engine
    unbound("weight_mask", RETIRED),
    unbound("weight_shift", RETIRED),
    unbound("reg_load", NO_HANDLER),
    unbound("reg_store", NO_HANDLER),
    unbound("reg_shuffle", NO_HANDLER),
    unbound("roi_align", NO_HANDLER),
    unbound("rand", NO_HANDLER),
    unbound("jpeg_decode", NO_HANDLER),
    unbound("tensor_reduce_range_check", NO_HANDLER),

    # Not executable at all: the reason stands with the opcode
    *(unbound(row.name, row.not_executable, row.evidence) for row in ENCODINGS if row.not_executable),
)
# fmt: on
