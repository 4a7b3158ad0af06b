"""Floating lanes: conversion, integral rounding, arithmetic and fused forms."""

from __future__ import annotations

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes import compare, encode
from gpsimd_core.isa.lanes.encode import from_integer
from gpsimd_core.isa.lanes.rounding import RMI, RNA, RPI, RTZ
from gpsimd_core.isa.leaves.family import Family

__all__ = ["FAMILIES"]


@lane
def _float_inexact(x: int, scale: int, mode: int, source: int, signs: int, width: int) -> tuple[int, int]:
    inexact, _, _, result = from_integer(x, scale, mode, source, signs, width)
    return inexact, result


@lane
def _float_overflow(x: int, scale: int, mode: int, source: int, signs: int, width: int) -> tuple[int, int, int]:
    inexact, _, overflow, result = from_integer(x, scale, mode, source, signs, width)
    return overflow, inexact, result


FAMILIES = (
    Family(
        names="cvtf16_1_1_1_1_16f_32f_2",
        family="fp-convert",
        args="a:f32 mode:3",
        results="inexact:1 underflow:1 overflow:1 invalid:1 r:f16",
        rule="fp32 to fp16, one rounding by mode, subnormals kept, NaN canonical; mode codes 4 to 7 truncate",
        confidence="HIGH, MED for NaN and for the order of the flags",
        pages="FSII B13 B20 VCVT",
        lane="n_2xf32",
        bodies={"cvtf16": (encode.narrow_to_half,)},
        note="One page calls code 4 ties-away; driven rows truncate. Ties-away exists in the firound leaves only.",
    ),
    Family(
        names="cvtf32_1_32f_16f",
        family="fp-convert",
        args="a:f16",
        results="invalid:1 r:f32",
        rule="fp16 to fp32, exact; a NaN keeps sign and payload and is quieted",
        confidence="HIGH",
        pages="VFP B13 VCVT",
        lane="nxf16",
        bodies={"cvtf32": (encode.widen_to_single,)},
    ),
    Family(
        names="{ficeil,fifloor,fitrunc,firound}_1_{32f_32f,16f_16f}",
        family="fi-round",
        args="a:$3",
        results="invalid:1 r:$2",
        rule="integral value, the mode fixed by the name, firound with halves away from zero; zero keeps the sign",
        confidence="HIGH",
        pages="FSII B13 B20 VFP",
        per="$3",
        bodies={
            "ficeil": (encode.integral_fixed, "$3", RPI),
            "fifloor": (encode.integral_fixed, "$3", RMI),
            "fitrunc": (encode.integral_fixed, "$3", RTZ),
            "firound": (encode.integral_fixed, "$3", RNA),
        },
    ),
    Family(
        names="firint_1_1_{32f_32f,16f_16f}_2",
        family="fi-round",
        args="a:$4 mode:3",
        results="inexact:1 invalid:1 r:$3",
        rule="integral value by mode; zero keeps the sign",
        confidence="HIGH",
        pages="B13 B20 VFP",
        per="$4",
        bodies={"firint": (encode.integral, "$4")},
    ),
    Family(
        names="{float,ufloat}_1_32f_32_32_2",
        family="int-fp",
        args="x:32 scale:5 mode:3",
        results="inexact:1 r:f32",
        rule="signed (u: unsigned) integer divided by 2^scale, rounded once by mode",
        confidence="HIGH",
        pages="B13 VCVT",
        lane="n_2x32",
        bodies={"float": (_float_inexact, 32, 1, 32), "ufloat": (_float_inexact, 32, 0, 32)},
    ),
    Family(
        names="trunc_1_1_32_32f_32",
        family="int-fp",
        args="a:f32 scale:5",
        results="inexact:1 overflow:1 r:32",
        rule="a times 2^scale toward zero, clamped; NaN gives the maximum; clamping and NaN raise overflow",
        confidence="HIGH",
        pages="B13 VCVT VFP",
        lane="n_2xf32",
        bodies={"trunc": (encode.to_integer, 32, 32, 1)},
        note="The second flag is called overflow by those who drove it; invalid would be usual.",
    ),
    Family(
        names="utrunc_1_1_32u_32f_32",
        family="int-fp",
        args="a:f32 scale:5",
        results="inexact:1 overflow:1 r:32",
        rule="a times 2^scale toward zero, clamped above; a negative one is its two's complement, with overflow",
        confidence="HIGH; below -2^31 is PROPOSED",
        pages="B13 VCVT VFP",
        lane="n_2xf32",
        bodies={"utrunc": (encode.to_integer, 32, 32, 0)},
    ),
    Family(
        names="float16_1_16f_16_32_2 ufloat16_1_1_16f_16_32_2",
        family="int-fp",
        args="x:16 scale:4 mode:3",
        results="inexact:1 r:f16",
        results_of={"ufloat16_1_1_16f_16_32_2": "overflow:1 inexact:1 r:f16"},
        rule="16-bit integer divided by 2^scale, rounded once by mode; the unsigned one may overflow",
        confidence="HIGH",
        pages="B20 VCVT",
        lane="nx16",
        bodies={"float16": (_float_inexact, 16, 1, 16), "ufloat16": (_float_overflow, 16, 0, 16)},
    ),
    Family(
        names="trunc16 utrunc16",
        family="int-fp",
        args="a:f16 scale:4",
        results="inexact:1 overflow:1 r:16",
        rule="as trunc and utrunc, fp16 to 16 bits",
        confidence="MED",
        pages="B20 VCVT",
        lane="nxf16",
        bodies={"trunc16": (encode.to_integer, 16, 16, 1), "utrunc16": (encode.to_integer, 16, 16, 0)},
        note="Names of ours: the full names were never recovered.",
    ),
    Family(
        names="{min,max}_1_{16f_16f_16f,32f_32f_32f}",
        family="fp-arith",
        args="a:$3 b:$4",
        results="invalid:1 r:$2",
        rule="the first where it strictly wins, else the second as it is: on ties, unlike zeros and NaN; Invalid on any NaN",
        confidence="HIGH",
        pages="VFP B02",
        per="$2",
        bodies={"min": (compare.float_extremum, "$2", 0), "max": (compare.float_extremum, "$2", 1)},
        note="Prose says that the first operand is echoed; the driven tables give the second.",
    ),
    Family(
        names="{minnum,maxnum}_1_{16f_16f_16f,32f_32f_32f}",
        family="fp-arith",
        args="a:$3 b:$4",
        results="invalid:1 r:$2",
        rule="the number wins over NaN, -0 below +0, of two NaN the second as it is; Invalid on a signalling NaN",
        confidence="HIGH",
        pages="VFP B02",
        per="$2",
        bodies={"minnum": (compare.number_extremum, "$2", 0), "maxnum": (compare.number_extremum, "$2", 1)},
    ),
    Family(
        names="{neg,abs}_{16f_16f,32f_32f}",
        family="fp-arith",
        args="a:$2",
        results="r:$1",
        rule="sign bit turned over (cleared), of a NaN too",
        confidence="HIGH",
        pages="VFP B02",
        per="$1",
        bodies={"neg": (compare.flip_sign, "$1"), "abs": (compare.clear_sign, "$1")},
    ),
    Family(
        names="addexp_{16f_16f_16f,32f_32f_32f}",
        family="fp-arith",
        args="a:$2 b:$3",
        results="r:$1",
        rule="unbiased exponents added modulo their field, the first fraction, signs XORed; no value is special",
        confidence="HIGH for fp16",
        pages="VSEED B18",
        per="$1",
        bodies={"addexp": (compare.add_exponents, "$1")},
    ),
    Family(
        names="addexpm",
        family="fp-arith",
        args="a:lane b:lane",
        results="r:lane",
        rule="companion of addexp",
        confidence="LOW",
        pages="VSEED B18",
        lane="nxf16",
        short="={name}",
        missing="name, operands and rule; no value was published",
        note="A name of ours.",
    ),
)
