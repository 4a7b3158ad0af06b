"""tensor_scalar_affine_select (0x92) and iota (0x7E): what an affine expression of index and channel gives."""

from __future__ import annotations

import numpy as np

from gpsimd_core.isa.checks import (
    REGISTERS,
    active_channels,
    addresses,
    counts,
    dtype_valid,
    member_of,
    reserved_zero,
    rule,
    rules,
    same_count,
)
from gpsimd_core.isa.enums import AffineSelectCmp
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.generators import affine_select as affine_select_kernel
from gpsimd_core.isa.kernels.generators import affine_select_ready
from gpsimd_core.isa.kernels.generators import iota as iota_kernel
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.d4_iota import D4Iota
from gpsimd_core.isa.layouts.s2d2_ts_as import S2D2TsAs
from gpsimd_core.isa.ops.shared import Bools, When, in_sbuf, placed, valid
from gpsimd_core.values import Evidence, Instruction, Operand, Rule

__all__ = ["IOTA", "READABLE", "TENSOR_SCALAR_AFFINE_SELECT", "TENSOR_SCALAR_AFFINE_SELECT_PSUM"]

AFFINE = Evidence(confidence="HIGH/OBSERVED", source="AffineSelect (0x92)")
IOTA_EVIDENCE = Evidence(confidence="HIGH/OBSERVED", source="Iota")
READABLE = (*range(REGISTERS), 128, 129)
"""Register numbers that can be read; the last two hold the address of the next record."""


def generated(pattern: str, operand: str) -> Rule:
    """As many generated values as the operand has elements; waived where a shape register gives its count."""

    def check(c: Columns, f: Facts) -> Bools:
        return addresses(c, f, operand).shape | (
            counts(c, operand) == c[f"{pattern}.num_elem"].prod(axis=1, dtype=np.uint64)
        )

    return rule(
        "same_element_count", f"{pattern},{operand}", (f"{pattern}.num_elem", f"{operand}.num_elem"), check,
        "equal products of the counts", needs=valid(operand),
    )  # fmt: skip


SINCE_V3 = When(
    fields=("opcode",),
    test=lambda c, f: np.full(len(c), f.generation.nc_version >= 3),
    text="core version 3 and later",
)

TENSOR_SCALAR_AFFINE_SELECT = Instruction(
    name="tensor_scalar_affine_select",
    aliases=("TensorScalarAffineSelect",),
    layout=S2D2TsAs,
    reads=(Operand(name="data", at="src", dtype="in_dtype"),),
    writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
    rules=rules(
        AFFINE,
        (2, dtype_valid("in_dtype")),
        (2, dtype_valid("out_dtype", fp32r=True)),
        (3, member_of("fill_mode", AffineSelectCmp)),
        (4, rule(
            "register_readable", "fill_reg", ("fill_reg",), lambda c, f: np.isin(c["fill_reg"], READABLE),
            "0 to 63, 128 or 129",
        )),
        (5, generated("mask_pattern", "src")),
        (5, same_count("src", "dst", needs=valid("src", "dst"))),
        *placed(6, "src", "in_dtype", "is_valid_dtype[in_dtype]"),
        *placed(6, "dst", "out_dtype", "is_valid_dtype[out_dtype]", write=True),
        (6, active_channels()),
        (6, in_sbuf("src", SINCE_V3, "affine_in_sbuf", needs=valid("src"))),
        (6, in_sbuf("dst", SINCE_V3, "affine_in_sbuf", needs=valid("dst"))),
    ),
    kernel=affine_select_kernel,
    ready=affine_select_ready,
    semantics=(
        "value = base + sum of index * step + channel * channel_multiplier, in int32. Where value compared with zero by "
        "fill_mode holds, dst[k] = src[k] through fp32, or its bits when the dtypes are equal; else the fp32 number in "
        "register fill_reg."
    ),
    evidence=AFFINE,
)  # fmt: skip
TENSOR_SCALAR_AFFINE_SELECT_PSUM = TENSOR_SCALAR_AFFINE_SELECT

IOTA = Instruction(
    name="iota",
    aliases=("Iota",),
    layout=D4Iota,
    writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
    rules=rules(
        IOTA_EVIDENCE,
        (2, dtype_valid("out_dtype", fp32r=True)),
        *placed(3, "dst", "out_dtype", "is_valid_dtype[out_dtype]", write=True),
        (3, active_channels()),
        (4, generated("src_data_pattern", "dst")),
        (5, reserved_zero("reserved0", "reserved1", "reserved2")),
    ),
    kernel=iota_kernel,
    semantics=(
        "dst[k] = base + sum of index * step + channel * channel_multiplier, in int32, channels counted from 0; converted "
        "where out_dtype is floating, low bits where it is a narrower integer."
    ),
    evidence=IOTA_EVIDENCE,
)
