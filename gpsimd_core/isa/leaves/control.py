"""Leaves that belong to the scalar side: status words, SAR, and the helpers of the base core."""

from __future__ import annotations

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes import integer, predicate
from gpsimd_core.isa.lanes.bits import signed
from gpsimd_core.isa.lanes.integer import saturate
from gpsimd_core.isa.leaves.family import Family

__all__ = ["FAMILIES"]


@lane
def _read_sar(sar: int, art: int) -> tuple[int, int]:
    return sar, sar


@lane
def _write_sar(sar: int, art: int) -> tuple[int, int]:
    return art, art & 63


@lane
def _exchange_sar(sar: int, art: int) -> tuple[int, int]:
    return sar, art & 63


@lane
def _clamp_from(a: int, top: int) -> int:
    return saturate(signed(a, 32), top + 1)


FAMILIES = (
    Family(
        names="movscfv_1_1_1_1_1_2_1_1_1_1_1_32",
        family="control",
        args="word:32",
        results="r:12",
        rule="status and control bits without their holes: bits 2 to 6, then bits 8 to 14",
        confidence="HIGH",
        pages="VBRIDGE B24",
        short="={root}",
        bodies={"movscfv": (predicate.dense_status,)},
    ),
    Family(
        names="movfsv_64_64_64_64_64_64_64_64_512 movvfs movvscf",
        family="control",
        args="v:16x32",
        results="fs:8x64",
        rule="the flag banks moved between a vector and their state",
        confidence="MED",
        pages="VBRIDGE B24",
        short="={root}",
        missing="the order of lanes and banks in movfsv, of which two bits were probed, and the names and rules of the inverses",
        note="movvfs and movvscf are names of ours.",
    ),
    Family(
        names="{rsr,wsr,xsr}_sar",
        family="control",
        args="sar:6 art:32",
        results="art:32 sar:6",
        rule="read zero-extends, write keeps six bits, exchange gives the old value and writes the new one",
        confidence="HIGH",
        pages="FSII B27 B28 B29",
        short="={name}",
        bodies={"rsr_sar": (_read_sar,), "wsr_sar": (_write_sar,), "xsr_sar": (_exchange_sar,)},
        note="Names of ours; the control core has the three for every special register.",
    ),
    Family(
        names="ar_{min,max,minu,maxu}",
        family="control",
        args="a:32 b:32",
        results="r:32",
        rule="extremum of two address registers",
        confidence="HIGH",
        pages="B28 B29",
        short="={name}",
        bodies={
            "ar_min": (integer.minimum, 32, 1),
            "ar_max": (integer.maximum, 32, 1),
            "ar_minu": (integer.minimum, 32, 0),
            "ar_maxu": (integer.maximum, 32, 0),
        },
        note="Names of ours; they belong to the control core.",
    ),
    Family(
        names="ar_clamps",
        family="control",
        args="a:32 imm:5",
        results="r:32",
        rule="clamp to the two's-complement range of imm + 1 bits",
        confidence="HIGH",
        pages="B28 B29",
        short="={name}",
        bodies={"ar_clamps": (_clamp_from,)},
        domain=(("imm", 7, 22),),
    ),
    Family(
        names="ar_sext",
        family="control",
        args="a:32 imm:5",
        results="r:32",
        rule="sign extension from bit imm",
        confidence="HIGH",
        pages="B28 B29",
        short="={name}",
        bodies={"ar_sext": (integer.sign_extend_from,)},
        domain=(("imm", 7, 22),),
    ),
)
