"""Products into accumulators of three times the lane width, and reading accumulators out."""

from __future__ import annotations

from gpsimd_core.isa.lanes import mac, pack
from gpsimd_core.isa.leaves.family import Body, Family

__all__ = ["FAMILIES"]

_SIGNS = {"": (1, 1), "su": (1, 0), "us": (0, 1), "uu": (0, 0)}
"""Letters after `mul` = signedness of the first and of the second factor."""


def _products(letters: tuple[str, ...], *, wide: bool) -> dict[str, Body]:
    if wide:
        return {f"mul{s}": (mac.multiply_wide, 32, *_SIGNS[s]) for s in letters}
    return {f"mul{s}": (mac.multiply, "$2", *_SIGNS[s]) for s in letters}


def _accumulations(letters: tuple[str, ...], *, wide: bool) -> dict[str, Body]:
    bodies: dict[str, Body] = {}
    for s in letters:
        for suffix, step in (("a", 1), ("s", -1)):
            if wide:
                bodies[f"mul{s}{suffix}"] = (mac.accumulate_wide, 32, *_SIGNS[s], step)
            else:
                bodies[f"mul{s}{suffix}"] = (mac.accumulate, "$3", *_SIGNS[s], step)
    return bodies


_PLAIN, _MIXED = ("",), ("su", "us", "uu")
_PRODUCT = "exact product in an accumulator lane of three times the width"
_WRAPS = "accumulator plus (s: minus) the product, modulo the accumulator's width; S means subtract, not saturate"
_LETTERS = "; letters give the operand signs in order"


def _mac(names: str, bodies: dict[str, Body], rule: str, pages: str, *, accumulates: bool) -> Family:
    return Family(
        names=names,
        family="mac",
        args="acc:$2 a:$3 b:$4" if accumulates else "a:$2 b:$3",
        results="r:$1",
        rule=rule,
        confidence="HIGH",
        pages=pages,
        per="$3",
        bodies=bodies,
    )


def _readout(names: str, rule: str, pages: str, bodies: dict[str, Body], *, short: str = "") -> Family:
    return Family(
        names=names,
        family="pack",
        args="acc:$2 sh:$3",
        results="r:$1",
        rule=rule,
        confidence="HIGH",
        pages=pages,
        per="$1",
        short=short,
        bodies=bodies,
    )


_ROUND = "add half, shift right arithmetically, clamp to the signed range; shifts end at {limit}"
_ROUND_U = "add half, shift the signed accumulator right, clamp to 0 .. maximum; shifts end at {limit}"
_CUT = "shift right arithmetically and keep the low bits: neither rounded nor clamped; shifts end at {limit}"

FAMILIES = (
    _mac("mul_{24_8_8,48_16_16}", _products(_PLAIN, wide=False), _PRODUCT, "B04 VMAC CASMAC", accumulates=False),
    _mac("mul_96_32_32", _products(_PLAIN, wide=True), _PRODUCT, "B04 VMAC CASMAC", accumulates=False),
    _mac(
        "{mula,muls}_{24_24_8_8,48_48_16_16}",
        _accumulations(_PLAIN, wide=False),
        _WRAPS,
        "B04 CASMAC VMAC",
        accumulates=True,
    ),
    _mac("{mula,muls}_96_96_32_32", _accumulations(_PLAIN, wide=True), _WRAPS, "B04 CASMAC VMAC", accumulates=True),
    _mac(
        "{mulsu,mulus,muluu}_{24_8_8,48_16_16}",
        _products(_MIXED, wide=False),
        _PRODUCT + _LETTERS,
        "B05",
        accumulates=False,
    ),
    _mac("{mulsu,mulus,muluu}_96_32_32", _products(_MIXED, wide=True), _PRODUCT + _LETTERS, "B05", accumulates=False),
    _mac(
        "{mulsu,mulus,muluu}{a,s}_{24_24_8_8,48_48_16_16}",
        _accumulations(_MIXED, wide=False),
        _WRAPS + _LETTERS,
        "B05",
        accumulates=True,
    ),
    _mac(
        "{mulsu,mulus,muluu}{a,s}_96_96_32_32",
        _accumulations(_MIXED, wide=True),
        _WRAPS + _LETTERS,
        "B05",
        accumulates=True,
    ),
    Family(
        names="mul_96c_{32c,32j}_32c",
        family="mac",
        args="a:32 b:32",
        results="re:48 im:48",
        rule="complex product of packed pairs, real part low; j conjugates the second operand",
        confidence="HIGH",
        pages="B05",
        short="={name}",
        bodies={
            "mul_96c_32c_32c": (mac.multiply_complex, 0),
            "mul_96c_32j_32c": (mac.multiply_complex, 1),
        },
    ),
    Family(
        names="{mula,muls}_96c_96c_{32c,32j}_32c",
        family="mac",
        args="acc_re:48 acc_im:48 a:32 b:32",
        results="re:48 im:48",
        rule="accumulator pair plus (minus) the complex product, part by part; j conjugates the second operand",
        confidence="MED",
        pages="B05",
        short="={name}",
        bodies={
            f"{root}_96c_96c_{kind}_32c": (mac.accumulate_complex, conjugate, step)
            for root, step in (("mula", 1), ("muls", -1))
            for kind, conjugate in (("32c", 0), ("32j", 1))
        },
    ),
    Family(
        names="{mul_96,mula_96_96}_64c_64c_c_{0,1}",
        family="mac",
        args="a:64 b:64",
        results="r:96",
        rule="one part of the complex product of 64-bit pairs",
        confidence="MED",
        pages="B05",
        short="={name}",
        missing="no value was published for the 64-bit complex forms",
    ),
    Family(
        names="mulp_24_8_8_8_8 mulq mul4t mulp_xr8 mulp_xr16",
        family="mac",
        args="a:8 b:8 c:8 d:8",
        results="r:24",
        rule="sum of two or four products per lane",
        confidence="HIGH for the sum of products, MED for the pairing",
        pages="CASMAC B04 B05",
        short="={name}",
        missing="which lanes of the register form a pair or a quad, and the names beside mulp_24_8_8_8_8",
        note="All names but mulp_24_8_8_8_8, printed as a*b + c*d, are ours.",
    ),
    Family(
        names="muln_2x16x32_{0,1}_96_32_32",
        family="mac",
        args="a:16 b:32",
        results="w0:32 w1:32 w2:32",
        rule="product of a 16-bit and a 32-bit lane as three words, low word first; _0 even, _1 odd 16-bit lanes",
        confidence="MED; the published top word looks unextended, the model sign-extends",
        pages="B04 VMAC",
        lane="n_2x32",
        short="={root}",
        bodies={f"muln_2x16x32_{half}": (mac.multiply_wide, 16, 1, 1) for half in (0, 1)},
    ),
    Family(
        names="mulan_2x16x32_{0,1}_96_96_32_32",
        family="mac",
        args="acc:96 a:16 b:32",
        results="r:96",
        rule="accumulator plus the mixed-width product; _0 even, _1 odd 16-bit lanes",
        confidence="MED",
        pages="B04 VMAC",
        lane="n_2x32",
        short="={root}",
        bodies={f"mulan_2x16x32_{half}": (mac.accumulate_wide, 16, 1, 1, 1) for half in (0, 1)},
    ),
    Family(
        names="mulsgn_16_16_16",
        family="mac",
        args="a:$2 b:$3",
        results="r:$1",
        rule="the second operand, negated where the first is negative; the negation wraps",
        confidence="HIGH for the body, no driven row",
        pages="B04",
        per="$1",
        bodies={"mulsgn": (mac.multiply_sign, "$1")},
    ),
    Family(
        names="sqrp_{24_8_8,48_16_16}",
        family="mac",
        args="a:$2 b:$3",
        results="r:$1",
        rule="sum of the squares of two signed lanes",
        confidence="HIGH; driven on small positive lanes",
        pages="VMAC VBRIDGE",
        per="$2",
        bodies={"sqrp": (mac.square_pair, "$2")},
    ),
    Family(
        names="sqrp_96_32_32",
        family="mac",
        args="a:$2 b:$3",
        results="r:$1",
        rule="sum of the squares of two signed lanes",
        confidence="HIGH; driven on small positive lanes of 8 bits",
        pages="VMAC VBRIDGE",
        per="$2",
        bodies={"sqrp": (mac.square_pair_wide,)},
    ),
    Family(
        names="decnegw_{24_24,48_48}",
        family="mac",
        args="a:$2",
        results="r:$1",
        rule="one less where the accumulator lane is negative, wrapping",
        confidence="HIGH",
        pages="VMAC VBRIDGE",
        short="={name}",
        bodies={"decnegw": (mac.decrement_negative, "$2")},
    ),
    Family(
        names="decnegw_96_96",
        family="mac",
        args="a:$2",
        results="r:$1",
        rule="one less where the accumulator lane is negative, wrapping",
        confidence="HIGH",
        pages="VMAC VBRIDGE",
        short="={name}",
        bodies={"decnegw": (mac.decrement_negative_wide,)},
    ),
    Family(
        names="packl_{8_24,16_48}",
        family="pack",
        args="acc:$2",
        results="r:$1",
        rule="low slice of an accumulator lane, neither rounded nor clamped",
        confidence="HIGH",
        pages="B10 VCVT",
        per="$1",
        bodies={"packl": (pack.low_slice, "$1")},
    ),
    Family(
        names="packl_32_96",
        family="pack",
        args="acc:$2",
        results="r:$1",
        rule="low slice of an accumulator lane, neither rounded nor clamped",
        confidence="HIGH",
        pages="B10 VCVT",
        per="$1",
        bodies={"packl": (pack.low_slice_wide,)},
    ),
    Family(
        names="packm_{16_48,32_96} packh",
        family="pack",
        args="acc:$2",
        results="r:$1",
        rule="middle or high slice of an accumulator lane",
        confidence="MED",
        pages="B10 VCVT",
        short="={name}",
        missing="the bit position of the middle and of the high slice, and the name of packh",
    ),
    _readout(
        "packvr_8_24_32",
        _ROUND.format(limit=23),
        "VCVT B10 VCAP",
        {"packvr": (pack.round_clamp, "$2", "$1", 23)},
    ),
    _readout(
        "packvr_16_48_32",
        _ROUND.format(limit=32),
        "VCVT B10 VCAP",
        {"packvr": (pack.round_clamp, "$2", "$1", 32)},
    ),
    _readout(
        "packvr_16_24_32",
        _ROUND.format(limit=32),
        "VCVT B10 VCAP",
        {"packvr": (pack.round_clamp, "$2", "$1", 32)},
        short="={name}",
    ),
    _readout("packvr_32_96_32", _ROUND.format(limit=32), "VCVT B10 VCAP", {"packvr": (pack.round_clamp_wide,)}),
    _readout("packv_8_24_8", _ROUND.format(limit=23), "VCVT B10", {"packv": (pack.round_clamp, "$2", "$1", 23)}),
    _readout("packv_16_48_16", _ROUND.format(limit=32), "VCVT B10", {"packv": (pack.round_clamp, "$2", "$1", 32)}),
    _readout("packv_32_96_32_w", _ROUND.format(limit=32), "VCVT B10", {"packv": (pack.round_clamp_wide,)}),
    _readout(
        "packvru_8_24_32 packvu_8_24_8",
        _ROUND_U.format(limit=23),
        "VCVT B10",
        dict.fromkeys(("packvru", "packvu"), (pack.round_clamp_unsigned, "$2", "$1", 23)),
    ),
    _readout(
        "packvru_16_48_32 packvu_16_48_16",
        _ROUND_U.format(limit=32),
        "VCVT B10",
        dict.fromkeys(("packvru", "packvu"), (pack.round_clamp_unsigned, "$2", "$1", 32)),
    ),
    _readout(
        "packvru_16_24_32",
        _ROUND_U.format(limit=32),
        "VCVT B10",
        {"packvru": (pack.round_clamp_unsigned, "$2", "$1", 32)},
        short="={name}",
    ),
    _readout(
        "packvrnr_8_24_32 packvnr_8_24_8",
        _CUT.format(limit=23),
        "VCVT",
        dict.fromkeys(("packvrnr", "packvnr"), (pack.shift_cut, "$2", "$1", 23)),
    ),
    _readout(
        "packvrnr_16_48_32 packvnr_16_48_16",
        _CUT.format(limit=32),
        "VCVT",
        dict.fromkeys(("packvrnr", "packvnr"), (pack.shift_cut, "$2", "$1", 32)),
    ),
    _readout(
        "packvrnr_16_24_32",
        _CUT.format(limit=32),
        "VCVT",
        {"packvrnr": (pack.shift_cut, "$2", "$1", 32)},
        short="={name}",
    ),
    Family(
        names="pack {packp,packq}_16_48{,_nosat}",
        family="pack",
        args="acc:48",
        args_of={"pack": "acc:48 sh:32"},
        results="r:16",
        rule="rounded read-out that wraps; packp shifts by 10, packq by 15, pack by its operand",
        confidence="MED; saturation hangs on a machine state that was off where values were seen",
        pages="VCVT B10",
        short="={name}",
        bodies={
            "pack": (pack.pack,),
            "packp": (pack.pack_fixed, 10, 0),
            "packq": (pack.pack_fixed, 15, 0),
        },
        note="pack with shift 0 adds 8000; another reading of its body adds nothing.",
    ),
    Family(
        names="shift_amt_satu_{23,32}",
        family="pack",
        args="amt:32",
        results="r:32",
        rule="an unsigned amount limited to the number in the name",
        confidence="HIGH",
        pages="VCVT B12",
        short="={name}",
        bodies={"shift_amt_satu": (pack.limited, "$1")},
    ),
    Family(
        names="shiftamtsat_{16,32}",
        family="pack",
        args="amt:32",
        results="r:32",
        rule="an unsigned amount limited to the number in the name",
        confidence="HIGH",
        pages="VCVT B12",
        short="={name}",
        bodies={"shiftamtsat": (pack.limited, "$1")},
    ),
)
