"""The engines of sunda and which of them take each instruction, first owner first.

Log strings are stripped from sunda's images: only the 18 kernel rows of its POOL cores are observed, the rest carries
the cayman binding over to the opcodes that the sunda header declares.
"""

from __future__ import annotations

from gpsimd_core.isa.tables import CARRIED, INFERRED, OBSERVED, binder, unbound
from gpsimd_core.values import Engine, EngineBinding, Evidence
from gpsimd_sunda.encodings import ENCODINGS

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

on = binder("SUNDA × POOL image; SUNDA × SP + the remaining NX engines; The Opcode ↔ Kernel ↔ Engine Matrix")


def sequencer(instruction: str, grade: str) -> EngineBinding:
    """One instruction that every sequencer takes."""
    return on(instruction, **dict.fromkeys(SEQUENCERS, grade))


POOL_FORMS = "the 32- and 64-bit integer and the arg-reduce forms are POOL's"
BF16_NOTE = "pages say POOL, yet none of the group is among its kernel rows"
RETIRED = "left over from the core before sunda; no engine has a handler"
NO_HANDLER = "deprecated in the header; no engine has a handler"

# fmt: off
BINDINGS = (
    # Matrix engine
    on("ldweights",                              pe=INFERRED),
    on("matmul",                                 pe=INFERRED),
    on("pe_reg_write",                           pe=INFERRED),

    # Activation
    on("activate",                               act=INFERRED),
    on("activate_quantize",                      act=INFERRED),
    on("activation_table_load",                  act=INFERRED),
    on("activation_read_accumulator",            act=INFERRED),

    # Elementwise, reduce, copy, cumulative
    on("tensor_tensor_arith_op",                 dve=INFERRED, pool=OBSERVED),
    on("tensor_reduce_arith_op",                 dve=INFERRED, pool=INFERRED, note=POOL_FORMS),
    on("tensor_scalar_arith_op",                 dve=INFERRED, pool=OBSERVED, act=INFERRED),
    on("tensor_scalar_ptr_arith_op",             dve=INFERRED, pool=OBSERVED, act=INFERRED),
    on("pool",                                   dve=INFERRED, pool=INFERRED),
    on("copy",                                   dve=INFERRED, pool=OBSERVED, act=INFERRED),
    on("cast",                                   dve=INFERRED, pool=OBSERVED, act=INFERRED),
    on("reciprocal",                             dve=INFERRED),
    on("memset",                                 pool=OBSERVED, dve=INFERRED),
    on("rng",                                    pool=INFERRED, dve=INFERRED),
    on("tensor_cumulative_arith_op",             dve=INFERRED),
    on("tensor_scalar_ptr_multi_arith",          dve=INFERRED),
    on("tensor_tensor_bitvec_op",                dve=INFERRED, pool=INFERRED),
    on("tensor_reduce_bitvec_op",                dve=INFERRED, pool=INFERRED),
    on("tensor_scalar_bitvec_op",                dve=INFERRED, pool=INFERRED),
    on("tensor_scalar_ptr_bitvec_op",            dve=INFERRED, pool=INFERRED),
    on("max_pool_select",                        pool=INFERRED),
    on("tensor_cumulative_bitvec_op",            dve=INFERRED),
    on("tensor_scalar_ptr_multi_bitvec",         dve=INFERRED),

    # Batch normalisation
    on("batch_norm_stats",                       dve=INFERRED),
    on("batch_norm_stats2",                      dve=INFERRED),
    on("batch_norm_aggregate",                   dve=INFERRED),
    on("batch_norm_grad_accumulate",             dve=INFERRED),
    on("batch_norm_param_load",                  dve=INFERRED),
    on("batch_norm_back_prop",                   dve=INFERRED),
    on("load_parameter_ram",                     dve=INFERRED),

    # Gather, shuffle, search, predicated copy
    on("pool_buffer_load",                       pool=OBSERVED),
    on("gather",                                 pool=OBSERVED),
    on("load_mask_select",                       dve=INFERRED),
    on("stream_shuffle",                         dve=INFERRED),
    on("stream_transpose",                       dve=INFERRED),
    on("max8",                                   dve=INFERRED),
    on("match_value_load",                       dve=INFERRED),
    on("find_index8",                            dve=INFERRED),
    on("match_replace8",                         dve=INFERRED),
    on("tensor_scalar_imm_ld_arith",             dve=INFERRED),
    on("tensor_scalar_imm_ld_bitvec",            dve=INFERRED),
    on("copy_predicated",                        dve=INFERRED),

    # Pool engine: addresses, random numbers, cross-lane reduce
    on("tensor_scalar_addr",                     pool=OBSERVED),
    on("embedding_update",                       pool=OBSERVED),
    on("load_pool_argument",                     pool=OBSERVED),
    on("cross_lane_reduce_arith",                pool=OBSERVED),
    on("cross_lane_reduce_bitvec",               pool=OBSERVED),
    on("iota",                                   pool=OBSERVED, psum=("pool",)),
    on("dropout",                                dve=INFERRED),

    # Transposing forms and custom operations
    on("transpose_batch_norm_stats2",            dve=INFERRED),
    on("transpose_tensor_reduce_arith_op",       dve=INFERRED),
    on("transpose_tensor_reduce_bitvec_op",      dve=INFERRED),
    on("custom_op_header",                       pool=INFERRED),
    on("custom_op_payload",                      pool=INFERRED),

    # bf16 forms
    on("tensor_tensor_add_bf16",                 dve=INFERRED, pool=INFERRED, note=BF16_NOTE),
    on("tensor_tensor_mult_bf16",                dve=INFERRED, pool=INFERRED, note=BF16_NOTE),
    on("tensor_reduce_add_bf16",                 dve=INFERRED, pool=INFERRED, note=BF16_NOTE),
    on("tensor_reduce_max_bf16",                 dve=INFERRED, pool=INFERRED, note=BF16_NOTE),
    on("batch_norm_param_load2",                 dve=INFERRED),
    on("tensor_tensor_sub_bf16",                 dve=INFERRED, pool=INFERRED, note=BF16_NOTE),

    # Selects, caches, accumulators
    on("tensor_scalar_affine_select",            pool=OBSERVED, psum=("pool",)),
    on("transpose_tensor_scalar_arith_op",       dve=INFERRED),
    on("batch_norm_grad_accumulate2",            dve=INFERRED),
    on("modify_pool_config",                     pool=INFERRED),
    on("sort",                                   pool=INFERRED),
    on("tensor_scalar_select",                   dve=INFERRED),
    on("cast_predicated",                        dve=INFERRED),
    on("tensor_scalar_cache_reduce",             dve=INFERRED),
    on("dve_read_accumulator",                   dve=INFERRED),
    on("scalar_tensor_tensor_arith",             dve=INFERRED),
    on("scalar_tensor_tensor_bitvec",            dve=INFERRED),
    on("engine_nop",                             dve=INFERRED, pool=INFERRED, act=INFERRED, pe=INFERRED),

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

    # Later additions
    on("tensor_tensor_scan_arith",               dve=INFERRED),
    on("tensor_scalar_cache_cumulative",         dve=INFERRED),
    on("indirect_copy",                          pool=OBSERVED),
    on("copy_predicated_scalar",                 dve=INFERRED),
    on("select_reduce",                          dve=INFERRED),

    # No engine
    unbound("weight_mask", RETIRED),
    unbound("weight_shift", RETIRED),
    unbound("reg_load", NO_HANDLER),
    unbound("reg_store", NO_HANDLER),
    unbound("reg_shuffle", NO_HANDLER),
    unbound("roi_align", NO_HANDLER),
    unbound("rand", NO_HANDLER),
    unbound("tensor_scalar_ptr_multi_dual_arith", NO_HANDLER),
    unbound("tensor_scalar_ptr_multi_dual_bitvec", NO_HANDLER),
    unbound("tensor_reduce_range_check", NO_HANDLER),

    # Not executable at all: the reason stands with the opcode
    *(unbound(row.name, row.not_executable, row.evidence) for row in ENCODINGS if row.not_executable),
)
# fmt: on
