"""The engines of maverick and which of them take each instruction, first owner first.

ACT keeps its number in the header and has no image: DVE took over what is left of its work.
"""

from __future__ import annotations

from gpsimd_core.isa.tables import CARRIED, INFERRED, MED_CARRIED, OBSERVED, binder, unbound
from gpsimd_core.values import Engine, EngineBinding, Evidence
from gpsimd_maverick.encodings import ENCODINGS

__all__ = ["BINDINGS", "ENGINES"]

ROSTER = Evidence(
    confidence="MED/OBSERVED",
    source="Master Per-Generation Capability Matrix; MAVERICK (NC-v5) Profile + Maximal-Observed Carve",
    note="the instance counts; that the engine exists: HIGH/OBSERVED",
)

# fmt: off
ENGINES = (
    Engine(name="pe",   index=0, instances=4,  title="matrix",                     evidence=ROSTER),
    Engine(name="pool", index=2,               title="GPSIMD, eight vector cores", reaches_psum=False, evidence=ROSTER),
    Engine(name="dve",  index=3, instances=4,  title="vector and activation",      accumulators="dve", evidence=ROSTER),
    Engine(name="sp",   index=4, instances=16, title="sequencer alone",            evidence=ROSTER),
)
# fmt: on

SEQUENCERS = tuple(engine.name for engine in ENGINES)
"""Every engine has a sequencer in front."""

on = binder(
    "MAVERICK × DVE image (absorbs ACT); MAVERICK × POOL image; MAVERICK (NC-v5) Profile + Maximal-Observed Carve"
)


def sequencer(instruction: str, grade: str) -> EngineBinding:
    """One instruction that every sequencer takes."""
    return on(instruction, **dict.fromkeys(SEQUENCERS, grade))


POOL_FORMS = "the 32- and 64-bit integer and the arg-reduce forms are POOL's"
RETIRED = "left over from the core before sunda; no engine has a handler"
NO_HANDLER = "deprecated in the header; no engine has a handler"

# fmt: off
BINDINGS = (
    # Matrix engine
    on("ldweights",                              pe=MED_CARRIED),
    on("matmul",                                 pe=MED_CARRIED),
    on("pe_reg_write",                           pe=MED_CARRIED),
    on("ldtags",                                 pe=MED_CARRIED),
    on("matmul_sparse",                          pe=MED_CARRIED),
    on("pe_manage_seed",                         pe=MED_CARRIED),
    on("ldweights_mx",                           pe=MED_CARRIED),
    on("matmul_mx",                              pe=MED_CARRIED),

    # Activation
    on("activation_table_load",                  dve=OBSERVED),
    on("activate2",                              dve=OBSERVED),
    on("exponential",                            dve=OBSERVED),

    # Elementwise, reduce, copy, cumulative
    on("tensor_tensor_arith_op",                 dve=OBSERVED, pool=CARRIED),
    on("tensor_reduce_arith_op",                 dve=OBSERVED, pool=INFERRED, note=POOL_FORMS),
    on("tensor_scalar_arith_op",                 dve=OBSERVED, pool=CARRIED),
    on("tensor_scalar_ptr_arith_op",             dve=MED_CARRIED, pool=CARRIED),
    on("pool",                                   dve=OBSERVED, pool=CARRIED),
    on("copy",                                   dve=OBSERVED, pool=CARRIED),
    on("cast",                                   dve=OBSERVED, pool=CARRIED),
    on("reciprocal",                             dve=OBSERVED),
    on("memset",                                 pool=CARRIED, dve=MED_CARRIED),
    on("rng",                                    pool=CARRIED, dve=OBSERVED),
    on("tensor_cumulative_arith_op",             dve=OBSERVED),
    on("tensor_scalar_ptr_multi_arith",          dve=MED_CARRIED),
    on("tensor_tensor_bitvec_op",                dve=OBSERVED, pool=CARRIED),
    on("tensor_reduce_bitvec_op",                dve=OBSERVED, pool=CARRIED),
    on("tensor_scalar_bitvec_op",                dve=OBSERVED, pool=CARRIED),
    on("tensor_scalar_ptr_bitvec_op",            dve=MED_CARRIED, pool=CARRIED),
    on("max_pool_select",                        pool=CARRIED, dve=OBSERVED),
    on("tensor_cumulative_bitvec_op",            dve=OBSERVED),
    on("tensor_scalar_ptr_multi_bitvec",         dve=MED_CARRIED),

    # Batch normalisation
    on("batch_norm_stats",                       dve=MED_CARRIED),
    on("batch_norm_stats2",                      dve=OBSERVED),
    on("batch_norm_aggregate",                   dve=OBSERVED),
    on("batch_norm_grad_accumulate",             dve=MED_CARRIED),
    on("batch_norm_param_load",                  dve=MED_CARRIED),
    on("batch_norm_back_prop",                   dve=OBSERVED),
    on("load_parameter_ram",                     dve=MED_CARRIED),

    # Gather, shuffle, search, predicated copy
    on("pool_buffer_load",                       pool=CARRIED),
    on("gather",                                 pool=CARRIED),
    on("load_mask_select",                       dve=MED_CARRIED),
    on("stream_shuffle",                         dve=OBSERVED),
    on("stream_transpose",                       dve=OBSERVED),
    on("max8",                                   dve=OBSERVED),
    on("match_value_load",                       dve=OBSERVED),
    on("find_index8",                            dve=OBSERVED),
    on("match_replace8",                         dve=OBSERVED),
    on("tensor_scalar_imm_ld_arith",             dve=MED_CARRIED),
    on("tensor_scalar_imm_ld_bitvec",            dve=MED_CARRIED),
    on("copy_predicated",                        dve=OBSERVED),

    # Pool engine: addresses, random numbers, cross-lane reduce
    on("tensor_scalar_addr",                     pool=CARRIED),
    on("rand_get_state",                         pool=CARRIED, dve=OBSERVED),
    on("rand_set_state",                         pool=CARRIED, dve=OBSERVED),
    on("embedding_update",                       pool=CARRIED),
    on("load_pool_argument",                     pool=CARRIED),
    on("tensor_dequantize",                      pool=CARRIED),
    on("cross_lane_reduce_arith",                pool=CARRIED),
    on("cross_lane_reduce_bitvec",               pool=CARRIED),
    on("iota",                                   pool=CARRIED, psum=("pool",)),
    on("dropout",                                dve=MED_CARRIED),

    # Transposing forms and custom operations
    on("transpose_batch_norm_stats2",            dve=MED_CARRIED),
    on("transpose_tensor_reduce_arith_op",       dve=OBSERVED),
    on("transpose_tensor_reduce_bitvec_op",      dve=OBSERVED),
    on("batch_norm_param_load2",                 dve=OBSERVED),

    # Selects, caches, accumulators
    on("tensor_scalar_affine_select",            pool=CARRIED),
    on("transpose_tensor_scalar_arith_op",       dve=OBSERVED),
    on("batch_norm_grad_accumulate2",            dve=MED_CARRIED),
    on("modify_pool_config",                     pool=CARRIED),
    on("sort",                                   pool=CARRIED),
    on("tensor_scalar_select",                   dve=OBSERVED),
    on("cast_predicated",                        dve=OBSERVED),
    on("tensor_scalar_cache_reduce",             dve=OBSERVED),
    on("dve_read_accumulator",                   dve=OBSERVED),
    on("scalar_tensor_tensor_arith",             dve=MED_CARRIED),
    on("scalar_tensor_tensor_bitvec",            dve=MED_CARRIED),
    on("engine_nop",                             dve=OBSERVED, pool=CARRIED, pe=MED_CARRIED),

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
    sequencer("compact_control_inst",               CARRIED),

    # Data movement and sequences
    on("dmamemcpy",                              pool=CARRIED),
    on("dma_memcpy2",                            pool=INFERRED),
    on("dma_immediate",                          pool=INFERRED),
    on("dma_indirect",                           pool=CARRIED),
    on("range_select",                           dve=MED_CARRIED),
    on("dma_transpose",                          pool=CARRIED),
    on("get_sequence_bounds",                    pool=CARRIED),
    on("sb2sb_collective",                       pool=CARRIED),

    # Later additions
    on("sparsity_compress",                      dve=OBSERVED),
    on("sparsity_compress_tag",                  dve=OBSERVED),
    on("rand2",                                  dve=OBSERVED),
    on("quantize_mx",                            dve=OBSERVED),
    on("conv_lut_load",                          pool=CARRIED),
    on("tensor_tensor_scan_arith",               dve=MED_CARRIED),
    on("tensor_scalar_cache_cumulative",         dve=OBSERVED),
    on("indirect_copy",                          pool=CARRIED),
    on("copy_predicated_scalar",                 dve=OBSERVED),
    on("dve_read_indices",                       dve=OBSERVED),
    on("select_reduce",                          dve=OBSERVED),

    # Extended and wide forms
    on("extended_inst",                          pool=CARRIED),
    on("dma_gather_transpose",                   pool=CARRIED),
    on("nonzero_with_count",                     pool=CARRIED),
    on("tensor_tensor_int_wide",                 pool=INFERRED),
    on("tensor_scalar_int_wide",                 dve=MED_CARRIED),

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
