"""The 150 opcodes of cayman, one row each."""

from __future__ import annotations

from gpsimd_core.isa.layouts.ctrl_al import CtrlAl
from gpsimd_core.isa.layouts.ctrl_im import CtrlIm
from gpsimd_core.isa.layouts.ctrl_mv import CtrlMv
from gpsimd_core.isa.layouts.ctrl_no import CtrlNo
from gpsimd_core.isa.layouts.custom_op_header import CustomOpHeader
from gpsimd_core.isa.layouts.custom_op_payload import CustomOpPayload
from gpsimd_core.isa.layouts.d1_rd import D1Rd
from gpsimd_core.isa.layouts.d4_iota import D4Iota
from gpsimd_core.isa.layouts.d4_mr import D4Mr
from gpsimd_core.isa.layouts.dma_direct2d import DmaDirect2D
from gpsimd_core.isa.layouts.dma_indirect1d import DmaIndirect1D
from gpsimd_core.isa.layouts.extended_tta import ExtendedTta
from gpsimd_core.isa.layouts.modify_pool_config import ModifyPoolConfig
from gpsimd_core.isa.layouts.pseudo_load_act_func_set import PseudoLoadActFuncSet
from gpsimd_core.isa.layouts.s1d2_sort import S1D2Sort
from gpsimd_core.isa.layouts.s2_bn import S2Bn
from gpsimd_core.isa.layouts.s2d2_addr import S2D2Addr
from gpsimd_core.isa.layouts.s2d2_rs import S2D2Rs
from gpsimd_core.isa.layouts.s2d2_ts_as import S2D2TsAs
from gpsimd_core.isa.layouts.s2s2d2_stt import S2S2D2Stt
from gpsimd_core.isa.layouts.s3d3_ac import S3D3Ac
from gpsimd_core.isa.layouts.s3d3_aq import S3D3Aq
from gpsimd_core.isa.layouts.s3d3_collective import S3D3Collective
from gpsimd_core.isa.layouts.s3d3_cp_pred_scalar import S3D3CpPredScalar
from gpsimd_core.isa.layouts.s3d3_nonzero_with_count import S3D3NonzeroWithCount
from gpsimd_core.isa.layouts.s3d3_seq_bounds import S3D3SeqBounds
from gpsimd_core.isa.layouts.s3d3_tens_dequant import S3D3TensDequant
from gpsimd_core.isa.layouts.s3d3_ts import S3D3Ts
from gpsimd_core.isa.layouts.s3d3_ts_select import S3D3TsSelect
from gpsimd_core.isa.layouts.s3s3d3_tt import S3S3D3Tt
from gpsimd_core.isa.layouts.s4_pb import S4Pb
from gpsimd_core.isa.layouts.s4d2_bn import S4D2Bn
from gpsimd_core.isa.layouts.s4d4_cr import S4D4Cr
from gpsimd_core.isa.layouts.s4d4_gt import S4D4Gt
from gpsimd_core.isa.layouts.s4d4_ic import S4D4Ic
from gpsimd_core.isa.layouts.s4d4_mr import S4D4Mr
from gpsimd_core.isa.layouts.s4d4_pl import S4D4Pl
from gpsimd_core.isa.layouts.s4d4_tr import S4D4Tr
from gpsimd_core.isa.layouts.s4d4_tsm import S4D4Tsm
from gpsimd_core.isa.tables import not_executable, opcode, pseudo, sentinel

__all__ = ["ENCODINGS"]

# Why an opcode that the header declares is never executed.
NO_BODY = "no image of this generation has a body for it; the first is in mariana"
CUSTOM_OP = "custom operations are handled on sunda only; this generation refuses them at run time"
NOT_EXECUTABLE = not_executable("SUNDA arch5 EXTISA ELF; MAVERICK × DVE image (absorbs ACT)")

# fmt: off
ENCODINGS = (
    # Matrix engine
    opcode(0x01, "ldweights",                            "Y"),
    opcode(0x02, "matmul",                               "Y"),
    opcode(0x03, "pe_reg_write",                         "Y"),
    opcode(0x04, "weight_mask",                          "n"),
    opcode(0x05, "weight_shift",                         "n"),
    opcode(0x06, "ldtags",                               "Y"),
    opcode(0x07, "matmul_sparse",                        "Y"),

    # Activation
    opcode(0x21, "activate",                             "Y", S3D3Ac),
    opcode(0x22, "activate_quantize",                    "Y", S3D3Aq),
    opcode(0x23, "activation_table_load",                "Y", CtrlNo),
    opcode(0x24, "activation_read_accumulator",          "Y", D1Rd),
    opcode(0x30, "exponential",                          ".", S3D3Ts, why=NO_BODY, evidence=NOT_EXECUTABLE),

    # Elementwise, reduce, copy, cumulative
    opcode(0x41, "tensor_tensor_arith_op",               "Y", S3S3D3Tt),
    opcode(0x42, "tensor_reduce_arith_op",               "Y", S4D4Tr),
    opcode(0x43, "tensor_scalar_arith_op",               "Y", S3D3Ts),
    opcode(0x44, "tensor_scalar_ptr_arith_op",           "n", S3D3Ts),
    opcode(0x45, "pool",                                 "Y", S4D4Pl),
    opcode(0x46, "copy",                                 "Y", S4D4Tr),
    opcode(0x47, "cast",                                 "Y", S4D4Tr),
    opcode(0x48, "reciprocal",                           "Y", S4D4Tr),
    opcode(0x49, "memset",                               "Y", D4Mr),
    opcode(0x4A, "reg_load",                             "n"),
    opcode(0x4B, "reg_store",                            "n", D4Mr),
    opcode(0x4C, "reg_shuffle",                          "n"),
    opcode(0x4D, "rng",                                  "Y", D4Mr),
    opcode(0x4E, "tensor_cumulative_arith_op",           "Y", S4D4Tr),
    opcode(0x4F, "tensor_scalar_ptr_multi_arith",        "n", S4D4Tsm),
    opcode(0x51, "tensor_tensor_bitvec_op",              "Y", S3S3D3Tt),
    opcode(0x52, "tensor_reduce_bitvec_op",              "Y", S4D4Tr),
    opcode(0x53, "tensor_scalar_bitvec_op",              "Y", S3D3Ts),
    opcode(0x54, "tensor_scalar_ptr_bitvec_op",          "n", S3D3Ts),
    opcode(0x58, "max_pool_select",                      "Y", S4D4Pl),
    opcode(0x5E, "tensor_cumulative_bitvec_op",          "Y", S4D4Tr),
    opcode(0x5F, "tensor_scalar_ptr_multi_bitvec",       "n", S4D4Tsm),

    # Batch normalisation
    opcode(0x60, "batch_norm_stats",                     "n", S4D2Bn),
    opcode(0x61, "batch_norm_stats2",                    "Y", S4D2Bn),
    opcode(0x62, "batch_norm_aggregate",                 "Y", S4D2Bn),
    opcode(0x63, "batch_norm_grad_accumulate",           "n"),
    opcode(0x64, "batch_norm_param_load",                "n", S2Bn),
    opcode(0x65, "batch_norm_back_prop",                 "Y", S3S3D3Tt),
    opcode(0x66, "load_parameter_ram",                   "Y", CtrlIm),

    # Gather, shuffle, search, predicated copy
    opcode(0x67, "pool_buffer_load",                     "Y", S4Pb),
    opcode(0x68, "gather",                               "Y", S4D4Gt),
    opcode(0x69, "load_mask_select",                     "Y", CtrlIm),
    opcode(0x6A, "stream_shuffle",                       "Y", S4D4Tr),
    opcode(0x6B, "stream_transpose",                     "Y", S4D4Tr),
    opcode(0x6C, "max8",                                 "Y", S4D2Bn),
    opcode(0x6D, "match_value_load",                     "Y", S2Bn),
    opcode(0x6E, "find_index8",                          "Y", S4D2Bn),
    opcode(0x6F, "match_replace8",                       "Y", S4D4Mr),
    opcode(0x70, "tensor_scalar_imm_ld_arith",           "n", S2Bn),
    opcode(0x71, "tensor_scalar_imm_ld_bitvec",          "n", S2Bn),
    opcode(0x72, "copy_predicated",                      "Y", S3S3D3Tt),

    # Pool engine: addresses, random numbers, cross-lane reduce
    opcode(0x73, "roi_align",                            "n"),
    opcode(0x74, "tensor_scalar_addr",                   "Y", S2D2Addr),
    opcode(0x76, "rand",                                 "n"),
    opcode(0x77, "rand_get_state",                       "Y"),
    opcode(0x78, "rand_set_state",                       "Y"),
    opcode(0x79, "embedding_update",                     "Y"),
    opcode(0x7A, "load_pool_argument",                   "Y", CtrlIm),
    opcode(0x7B, "tensor_dequantize",                    "Y", S3D3TensDequant),
    opcode(0x7C, "cross_lane_reduce_arith",              "Y", S4D4Cr),
    opcode(0x7D, "cross_lane_reduce_bitvec",             "Y", S4D4Cr),
    opcode(0x7E, "iota",                                 "Y", D4Iota),
    opcode(0x7F, "dropout",                              "Y"),

    # Transposing forms and custom operations
    opcode(0x81, "jpeg_decode",                          "n"),
    opcode(0x82, "transpose_batch_norm_stats2",          "Y", S4D2Bn),
    opcode(0x83, "transpose_tensor_reduce_arith_op",     "Y", S4D4Tr),
    opcode(0x84, "transpose_tensor_reduce_bitvec_op",    "Y", S4D4Tr),
    opcode(0x85, "custom_op_header",                     "Y", CustomOpHeader, why=CUSTOM_OP, evidence=NOT_EXECUTABLE),
    opcode(0x86, "custom_op_payload",                    "Y", CustomOpPayload, why=CUSTOM_OP, evidence=NOT_EXECUTABLE),
    opcode(0x8E, "batch_norm_param_load2",               "Y"),

    # Selects, caches, accumulators
    opcode(0x92, "tensor_scalar_affine_select",          "Y", S2D2TsAs),
    opcode(0x93, "transpose_tensor_scalar_arith_op",     "Y", S3D3Ts),
    opcode(0x94, "batch_norm_grad_accumulate2",          "Y"),
    opcode(0x95, "modify_pool_config",                   "Y", ModifyPoolConfig),
    opcode(0x96, "sort",                                 "Y", S1D2Sort),
    opcode(0x98, "tensor_scalar_select",                 "Y", S3D3TsSelect),
    opcode(0x99, "cast_predicated",                      "Y", S3S3D3Tt),
    opcode(0x9A, "tensor_scalar_cache_reduce",           "Y", S3D3Ts),
    opcode(0x9B, "dve_read_accumulator",                 "Y", D1Rd),
    opcode(0x9C, "tensor_reduce_range_check",            "n"),
    opcode(0x9D, "scalar_tensor_tensor_arith",           "Y", S2S2D2Stt),
    opcode(0x9E, "scalar_tensor_tensor_bitvec",          "Y", S2S2D2Stt),
    opcode(0x9F, "engine_nop",                           "Y", CtrlIm),

    # Sequencer: events, control flow, registers
    opcode(0xA0, "event_semaphore",                      "Y"),
    opcode(0xA1, "halt",                                 "Y", CtrlNo),
    opcode(0xA2, "drain",                                "Y", CtrlNo),
    opcode(0xA3, "instruction_flush",                    "Y", CtrlNo),
    opcode(0xA4, "nop",                                  "Y", CtrlNo),
    opcode(0xA5, "write",                                "Y"),
    opcode(0xA6, "notify",                               "Y", CtrlNo),
    opcode(0xA7, "move",                                 "Y", CtrlMv),
    opcode(0xA8, "alu_op",                               "Y", CtrlAl),
    opcode(0xA9, "compare_branch",                       "Y"),
    opcode(0xAA, "tensor_load",                          "Y"),
    opcode(0xAB, "tensor_store",                         "Y"),
    opcode(0xB0, "event_semaphore_range_clear",          "Y"),
    opcode(0xB1, "set_ordering_mode",                    "Y"),
    opcode(0xB2, "move_shape",                           "Y"),
    opcode(0xB3, "poll_sem",                             "Y"),
    opcode(0xB5, "branch_prefetch_hint",                 "Y"),

    # Data movement and sequences
    opcode(0xB8, "dmamemcpy",                            "Y", DmaDirect2D),
    opcode(0xBB, "dma_indirect",                         "Y", DmaIndirect1D),
    opcode(0xBC, "range_select",                         "Y", S2D2Rs),
    opcode(0xBD, "dma_transpose",                        "Y"),
    opcode(0xBE, "get_sequence_bounds",                  "Y", S3D3SeqBounds),
    opcode(0xBF, "sb2sb_collective",                     "Y", S3D3Collective),

    # Pseudo-instructions
    pseudo(0xC1, "pseudo_dmatrigger",                    "Y"),
    pseudo(0xC2, "pseudo_dmarearm",                      "Y"),
    pseudo(0xC3, "pseudo_dmabarrier",                    "Y"),
    pseudo(0xC4, "pseudo_dmamemcpy_full_ind",            "Y"),
    pseudo(0xC5, "pseudo_semaphore_set",                 "Y"),
    pseudo(0xC6, "pseudo_load_act_func_set",             "Y", PseudoLoadActFuncSet),
    pseudo(0xC7, "pseudo_trigger_all_reduce",            "Y"),
    pseudo(0xC8, "pseudo_trigger_collective",            "Y"),
    pseudo(0xC9, "pseudo_read_var_addr",                 "Y"),
    pseudo(0xCA, "pseudo_embedding_update",              "Y"),
    pseudo(0xCB, "pseudo_send_recv",                     "Y"),
    pseudo(0xCC, "pseudo_branch_label",                  "Y"),
    pseudo(0xCD, "pseudo_tensor_store",                  "Y"),
    pseudo(0xCE, "pseudo_tensor_load",                   "Y"),
    pseudo(0xCF, "pseudo_dmaswap_queue_set",             "Y"),
    pseudo(0xD0, "pseudo_set_rng_seed",                  "Y"),
    pseudo(0xD1, "pseudo_function_begin",                "Y"),
    pseudo(0xD2, "pseudo_function_return",               "Y"),
    pseudo(0xD3, "pseudo_function_call",                 "Y"),
    pseudo(0xD4, "pseudo_dma_direct2d",                  "Y"),
    pseudo(0xD5, "pseudo_sync_barrier",                  "Y"),
    pseudo(0xD6, "pseudo_range_check",                   "Y"),
    pseudo(0xD7, "pseudo_jpeg_decode",                   "Y"),
    pseudo(0xD8, "pseudo_core_barrier",                  "Y"),
    pseudo(0xD9, "pseudo_trigger_collective2",           "Y"),
    pseudo(0xDA, "pseudo_extension",                     "Y"),
    pseudo(0xDB, "pseudo_cur_processing_rank_id",        "Y"),
    pseudo(0xDC, "pseudo_gid_load",                      "Y"),
    pseudo(0xDD, "pseudo_branch_prefetch_hint",          "Y"),
    pseudo(0xDE, "pseudo_tensor_completion",             "Y"),
    pseudo(0xDF, "pseudo_inst",                          "Y"),

    # Later additions
    opcode(0xE4, "conv_lut_load",                        "Y"),
    opcode(0xE5, "tensor_tensor_scan_arith",             "Y", S2S2D2Stt),
    opcode(0xE6, "tensor_scalar_cache_cumulative",       "Y", S3D3Ts),
    opcode(0xE7, "indirect_copy",                        "Y", S4D4Ic),
    opcode(0xE8, "copy_predicated_scalar",               "Y", S3D3CpPredScalar),
    opcode(0xE9, "dve_read_indices",                     "Y", D4Mr),
    opcode(0xEA, "select_reduce",                        "Y", S2S2D2Stt),

    # Extended and wide forms
    opcode(0xF0, "extended_inst",                        "Y", ExtendedTta),
    opcode(0xF1, "dma_gather_transpose",                 "Y"),
    opcode(0xF2, "nonzero_with_count",                   "Y", S3D3NonzeroWithCount),

    # Sentinel
    sentinel(0xFF, "invalid",                              "Y"),
)
# fmt: on
