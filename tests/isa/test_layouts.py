"""Operand layouts against the published struct tables, and decode and encode as inverses."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from gpsimd_core.errors import BadValue
from gpsimd_core.isa import enums
from gpsimd_core.isa.enums import AluOp, Dtype, ExtendedOpcode
from gpsimd_core.isa.layout import RECORD_BYTES, U8, U16, Bits, Code, Columns, Layout, Tensor2D, Tensor3D, zeros
from gpsimd_core.isa.layouts import LAYOUTS
from gpsimd_core.isa.layouts.common import Bundle, Opaque
from gpsimd_core.isa.layouts.d1_rd import D1Rd
from gpsimd_core.isa.layouts.dma_indirect1d import DmaIndirect1D
from gpsimd_core.isa.layouts.extended_tta import ExtendedOther, ExtendedTta
from gpsimd_core.isa.layouts.s2s2d2_stt import S2S2D2Stt
from gpsimd_core.isa.layouts.s3d3_ts import S3D3Ts
from gpsimd_core.isa.layouts.s4d4_tr import S4D4Tr

FACTS = tomllib.loads((Path(__file__).parent / "data" / "structs.toml").read_text(encoding="utf-8"))
NUMPY = {"u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "i16": "<i2", "i32": "<i4"}
CODES = {name: getattr(enums, name) for name in enums.__all__}
BY_TYPE = {code.set_name().upper(): code for code in CODES.values()}

PLAIN = frozenset[str]()
MARIANA = frozenset({"mem_pattern"})
MAVERICK = frozenset({"mem_pattern", "mxtensor_v2", "inst_flags"})
VARIANTS = [pytest.param(v, id=name) for v, name in ((PLAIN, "plain"), (MARIANA, "mariana"), (MAVERICK, "maverick"))]
EVERY = [*(LAYOUTS[name] for name in LAYOUTS), ExtendedOther, Opaque]


def zero_record() -> np.ndarray:
    return np.zeros(RECORD_BYTES, np.uint8)


# Facts ------------------------------------------------------------------------------------------------------------


def parts_of(kind: str, offset: int, size: int) -> list[tuple]:
    """(part, offset, numpy format, count, shift, width, enumeration) of each leaf that a type stands for."""
    if kind in FACTS["block"]:
        return [
            (part, *row[1:]) for part, at, text in FACTS["block"][kind] for row in parts_of(text, offset + at, size)
        ]
    if kind.startswith("bits "):
        shift, width = map(int, kind.split()[1:])
        return [("", offset, "u1", 1, shift, width, None)]
    if kind in FACTS["fillers"]:
        return [("", offset, "u1", size, 0, 0, None)]
    if kind in FACTS["words"]:
        return [("", offset, f"<u{size}", 1, 0, 0, None)]
    name, count = re.fullmatch(r"(\w+)(?:\[(\d+)\]| low| high)?", kind).groups()
    if name in NUMPY:
        return [("", offset, NUMPY[name], int(count or 1), 0, 0, None)]
    nibble = 4 * kind.endswith((" low", " high"))
    return [("", offset, "u1", 1, 4 * kind.endswith(" high"), nibble, BY_TYPE[name])]


def expected_leaves(struct: str, features: frozenset[str]) -> dict[str, tuple]:
    found = {}
    for name, offset, size, kind in [*FACTS["common"], *FACTS["struct"][struct]["fields"]]:
        kinds = [kind]
        if name in FACTS["struct"][struct].get("mem_pattern", ()):
            kinds += [f"INDIRECT{size}"] * ("mem_pattern" in features)
            kinds += ["MXTENSOR_V2"] * ("mxtensor_v2" in features and size == 16)
        for part, *leaf in (row for k in kinds for row in parts_of(k, offset, size)):
            found[f"{name}.{part}" if part else name] = tuple(leaf)
    if "inst_flags" in features:
        found["inst_flags"] = found.pop("debug_hint")
    return found


def test_every_published_struct_is_declared_and_no_other():
    assert set(LAYOUTS) == set(FACTS["struct"])
    assert len(LAYOUTS) == 42


@pytest.mark.parametrize("features", VARIANTS)
@pytest.mark.parametrize("struct", sorted(FACTS["struct"]))
def test_leaves_are_those_of_the_published_struct(struct, features):
    layout = LAYOUTS[struct].variant(features)
    declared = {
        leaf.name: (leaf.offset, leaf.format, leaf.count, leaf.shift, leaf.bits, leaf.code)
        for leaf in layout.leaves.values()
    }
    assert declared == expected_leaves(struct, features)


@pytest.mark.parametrize("struct", sorted(FACTS["struct"]))
def test_layouts_name_their_struct_and_its_source(struct):
    layout = LAYOUTS[struct]
    assert layout.title == struct
    assert layout.evidence.confidence == FACTS["struct"][struct]["confidence"]
    assert set(layout.evidence.source.split("; ")) == set(FACTS["struct"][struct]["source"].split("; "))


@pytest.mark.parametrize("struct", sorted(FACTS["struct"]))
def test_fillers_are_told_from_fields_and_only_they_are(struct):
    kinds = {"zero": "zeros", "ungrounded": "ungrounded"}
    fields = LAYOUTS[struct].variant(PLAIN).by_name
    for name, _, size, kind in FACTS["struct"][struct]["fields"]:
        assert (fields[name].kind in kinds.values()) == (kind in kinds)
        assert fields[name].kind == kinds.get(kind, fields[name].kind)
        assert fields[name].size == size


# Cover ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("features", VARIANTS)
@pytest.mark.parametrize("layout", EVERY, ids=lambda layout: layout.__name__)
def test_every_bit_has_one_owner(layout, features):
    owners = [set() for _ in range(RECORD_BYTES * 8)]
    for f in layout.variant(features).fields:
        for leaf in (leaf for arm in f.arms().values() for leaf in arm):
            for bit in leaf.bit_span():
                owners[bit].add(f.name)
    assert all(len(names) == 1 for names in owners)


@pytest.mark.parametrize("layout", EVERY, ids=lambda layout: layout.__name__)
def test_fields_lie_in_byte_order_and_say_what_they_mean(layout):
    fields = layout.fields
    assert [(f.offset, f.shift) for f in fields] == sorted((f.offset, f.shift) for f in fields)
    assert all(f.doc for f in fields)


@pytest.mark.parametrize("layout", EVERY, ids=lambda layout: layout.__name__)
def test_what_a_field_refers_to_is_a_leaf_of_its_layout(layout):
    leaves = layout.variant(PLAIN).leaves
    for f in layout.fields:
        assert f.dtype is None or leaves[f.dtype].code is Dtype
        assert f.source is None or f.source in leaves


def test_overlapping_fields_are_refused():
    with pytest.raises(TypeError, match=r"^Bad: second overlaps first at byte 13$"):

        class Bad(Bundle):
            first = U16.at(12)
            second = U8.at(13)
            rest = zeros.at(14, 50)


def test_overlapping_nibbles_are_refused_and_neighbours_are_not():
    with pytest.raises(TypeError, match=r"^Bad: two overlaps one at byte 12$"):

        class Bad(Bundle):
            one = Dtype.low(12)
            two = Dtype.at(12, bits=3, shift=3)
            rest = zeros.at(13, 51)

    class Good(Bundle):
        one = Dtype.low(12)
        two = Dtype.high(12)
        rest = zeros.at(13, 51)

    assert len(Good.fields) == len(Bundle.fields) + 3


def test_gaps_are_refused_down_to_the_bit():
    with pytest.raises(TypeError, match=r"^Bad: no field declares byte 12, 40$"):

        class Bad(Bundle):
            one = Dtype.low(12)
            two = zeros.at(13, 27)
            three = zeros.at(41, 23)


@pytest.mark.parametrize(
    ("field", "where"),
    [
        pytest.param(lambda: U16.at(63), "bytes 63..64", id="over the end"),
        pytest.param(lambda: U8.at(64), "byte 64", id="behind the end"),
        pytest.param(lambda: U8.at(-1), "byte -1", id="before the start"),
    ],
)
def test_fields_outside_the_record_are_refused(field, where):
    with pytest.raises(TypeError, match=rf"^Bad: stray, {where}, leaves the 64-byte record$"):

        class Bad(Bundle):
            body = zeros.at(12, 51)
            stray = field()


def test_a_name_is_declared_once():
    with pytest.raises(TypeError, match=r"^Bad: opcode is already a field of what it extends$"):

        class Bad(Bundle):
            opcode = U8.at(12)
            rest = zeros.at(13, 51)


def test_one_declaration_makes_one_field():
    shared = U8.at(12)
    with pytest.raises(TypeError, match=r"^Bad: other and mine are one field; each needs its own$"):

        class Bad(Bundle):
            mine = shared
            other = shared
            rest = zeros.at(13, 51)


# Decode and encode ------------------------------------------------------------------------------------------------

CASES = [(layout, features.values[0]) for layout in EVERY for features in VARIANTS]
EACH = -(-10_000 // len(CASES))


@pytest.mark.parametrize(("layout", "features"), CASES, ids=lambda x: x.__name__ if isinstance(x, type) else "+".join(sorted(x)) or "plain")  # fmt: skip
def test_what_is_read_writes_the_same_bytes(layout, features):
    variant = layout.variant(features)
    rng = np.random.default_rng(EVERY.index(layout))
    for record in rng.integers(0, 256, (EACH, RECORD_BYTES), np.uint8):
        back = zero_record()
        for name, value in variant.read(record).items():
            variant.write(back, name, value)
        assert bytes(back) == bytes(record)


@pytest.mark.parametrize("layout", EVERY, ids=lambda layout: layout.__name__)
def test_columns_hold_what_read_gives(layout):
    variant = layout.variant(MAVERICK)
    records = np.random.default_rng(7).integers(0, 256, (20, RECORD_BYTES), np.uint8)
    columns = Columns(variant, records)
    assert len(columns) == 20
    assert list(columns) == list(variant.leaves)
    for name, f in variant.by_name.items():
        if f.kind in ("tensor", "data", "bits"):
            continue
        column = columns[name]
        for i, record in enumerate(records):
            value = variant.read(record)[name]
            assert (tuple(column[i]) if column.ndim > 1 else column[i]) == value


def test_numbers_without_a_member_survive():
    layout = S2S2D2Stt.variant(PLAIN)
    record = zero_record()
    layout.write(record, "op0", 0xEE)
    layout.write(record, "out_dtype", 0x18)
    layout.write(record, "wait_mode", 0x42)
    fields = layout.read(record)
    assert (fields["op0"], fields["out_dtype"], fields["wait_mode"]) == (0xEE, 0x18, 0x42)
    assert not any(isinstance(fields[name], Code) for name in ("op0", "out_dtype", "wait_mode"))
    assert (record[36], record[41], record[4]) == (0xEE, 0x18, 0x42)


def test_numbers_with_a_member_come_back_as_it():
    layout = S2S2D2Stt.variant(PLAIN)
    record = zero_record()
    layout.write(record, "op1", "max")
    layout.write(record, "src1_dtype", Dtype.BFLOAT16)
    layout.write(record, "src0_dtype", 3)
    fields = layout.read(record)
    assert fields["op1"] is AluOp.MAX
    assert (fields["src0_dtype"], fields["src1_dtype"]) == (Dtype.UINT8, Dtype.BFLOAT16)
    assert record[40] == 0x63


def test_a_nibble_leaves_its_neighbour_alone():
    layout = S2S2D2Stt.variant(PLAIN)
    record = np.full(RECORD_BYTES, 0xFF, np.uint8)
    layout.write(record, "src0_dtype", 0x5)
    assert record[40] == 0xF5
    layout.write(record, "src1_dtype", 0x2)
    assert bytes(record) == bytes([*[0xFF] * 40, 0x25, *[0xFF] * 23])


def test_bits_share_a_byte_without_touching_each_other():
    layout = DmaIndirect1D.variant(PLAIN)
    record = zero_record()
    layout.write(record, "src_idx_bound_reg", {"bc_reg": 0x2A, "enabled": 1})
    assert record[58] == 0xAA
    layout.write(record, "src_idx_bound_reg", {"disable_oob_notif": 1})
    assert record[58] == 0xEA
    assert layout.read(record)["src_idx_bound_reg"] == {"bc_reg": 42, "disable_oob_notif": 1, "enabled": 1}
    columns = Columns(layout, record[None])
    assert columns["src_idx_bound_reg.bc_reg"].tolist() == [42]


# Unions -----------------------------------------------------------------------------------------------------------

INDIRECT_20 = bytes.fromhex("00010020 00000400 1000 00000000000000000009")


def test_the_marker_selects_the_indirect_form_where_the_slot_offers_it():
    record = zero_record()
    record[12:32] = list(INDIRECT_20)
    fields = S4D4Tr.variant(MARIANA).read(record)
    assert fields["src"] == {
        "index": 0x20000100,
        "data": 0x00040000,
        "count": 16,
        "reserved": (0, 0, 0, 0, 0, 0, 0, 0, 0, 9),
    }
    assert fields["dst"] == {"addr": 0, "step": (0, 0, 0, 0), "num": (0, 0, 0, 0)}
    plain = S4D4Tr.variant(PLAIN).read(record)["src"]
    assert plain == {"addr": 0x20000100, "step": (0, 4, 16, 0), "num": (0, 0, 0, 0x900)}


def test_an_indirect_value_writes_its_own_bytes():
    record = zero_record()
    value = {"index": 0x20000100, "data": 0x00040000, "count": 16, "reserved": (0,) * 9 + (9,)}
    S4D4Tr.variant(MARIANA).write(record, "src", value)
    assert bytes(record[12:32]) == INDIRECT_20
    with pytest.raises(BadValue, match="src has no part 'index'; allowed: addr, step, num"):
        S4D4Tr.variant(PLAIN).write(record, "src", value)


def test_slots_that_offer_no_union_never_read_as_indirect():
    record = zero_record()
    record[12:16] = list(bytes.fromhex("00010020"))
    assert S2S2D2Stt.variant(MAVERICK).read(record)["src0"]["addr"] == 0x20000100
    assert [f.name for f in S3D3Ts.variant(MARIANA).fields if f.union] == ["src"]


def test_block_scaled_leaves_exist_on_three_dimensional_slots_of_maverick_alone():
    record = zero_record()
    record[16:32] = np.arange(1, 17, dtype=np.uint8)
    columns = Columns(S3D3Ts.variant(MAVERICK), record[None])
    assert columns["src.mx_data_addr"].tolist() == [0x04030201]
    assert columns["src.mx_scale_addr"].tolist() == [0x08070605]
    assert columns["src.mx_num_elem"].tolist() == [[9, 10]]
    assert columns["src.mx_step_elem_data_1"].tolist() == [0x0C0B]
    assert columns["src.mx_step_elem_scale_1"].tolist() == [0x0E0D]
    assert columns["src.mx_p_f_dim"].tolist() == [15]
    assert columns["src.mx_scale_dtype"].tolist() == [16]
    assert set(S3D3Ts.variant(MAVERICK).read(record)["src"]) == {"addr", "step", "num"}
    for layout, features in ((S3D3Ts, MARIANA), (S4D4Tr, MAVERICK)):
        assert not [name for name in layout.variant(features).leaves if ".mx_" in name]


def test_a_register_form_of_a_wide_address_lies_in_the_same_bytes():
    record = zero_record()
    record[16:24] = list(bytes.fromhex("0506000000000080"))
    columns = Columns(DmaIndirect1D.variant(PLAIN), record[None])
    assert columns["src_start_addr"].tolist() == [0x8000000000000605]
    assert columns["src_start_addr.reg_lo"].tolist() == [5]
    assert columns["src_start_addr.reg_hi"].tolist() == [6]
    assert columns["src_start_addr.marker"].tolist() == [0x80]


def test_byte_three_is_called_by_what_the_generation_keeps_there():
    for layout in EVERY:
        assert "inst_flags" not in layout.variant(MARIANA).by_name
        assert "debug_hint" not in layout.variant(MAVERICK).by_name
        assert layout.variant(MAVERICK).by_name["inst_flags"].offset == 3


def test_the_sub_opcode_selects_the_rest_of_an_escape_record():
    leaf, value, other = ExtendedTta.variant(MAVERICK).otherwise
    assert (leaf, value) == ("extended_opcode", ExtendedOpcode.TENSOR_TENSOR_ARITH)
    assert other is ExtendedOther.variant(MAVERICK)
    assert other.leaves[leaf] == ExtendedTta.variant(MAVERICK).leaves[leaf]
    assert ExtendedOther.variant(PLAIN).otherwise is None


# Words and refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "leaf", "index", "text"),
    [
        (S2S2D2Stt, "src0_dtype", None, "byte 40 low nibble"),
        (S2S2D2Stt, "src1_dtype", None, "byte 40 high nibble"),
        (S2S2D2Stt, "op0", None, "byte 36"),
        (S2S2D2Stt, "src0.start_addr", None, "bytes 12..15"),
        (S2S2D2Stt, "src0.num_elem", None, "bytes 20..23"),
        (S2S2D2Stt, "src0.num_elem", 1, "bytes 22..23"),
        (S2S2D2Stt, "reserved", None, "bytes 45..47"),
        (S2S2D2Stt, "reserved", 2, "byte 47"),
        (S2S2D2Stt, "imm0", None, "bytes 60..63"),
        (DmaIndirect1D, "src_idx_bound_reg.bc_reg", None, "byte 58 bits 0..5"),
        (DmaIndirect1D, "src_idx_bound_reg.enabled", None, "byte 58 bit 7"),
        (S4D4Tr, "src.step_elem", 3, "bytes 22..23"),
    ],
)
def test_places_in_words(layout, leaf, index, text):
    assert layout.variant(PLAIN).leaves[leaf].place(index) == text


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("op7", 0, "S2S2D2Stt has no field 'op7'; it has opcode, inst_word_len,"),
        ("op0", 256, r"op0 \(byte 36\) is 256; it holds 0 to 255"),
        ("op0", "addd", "op0: AluOp has no member 'addd'; it has BYPASS,"),
        ("op0", 1.5, "op0 takes a number, not 1.5"),
        ("src1_dtype", 16, r"src1_dtype \(byte 40 high nibble\) is 16; it holds 0 to 15"),
        ("num_active_channels", "many", "num_active_channels takes a number, not 'many'"),
        ("dst", 64, "dst takes parts such as {addr, step, num}, not 64"),
        ("dst", {"base": 1}, "dst has no part 'base'; allowed: addr, step, num"),
        ("dst", {"num": (1, 2, 3)}, "dst.num_elem takes 2 numbers, not 3"),
        ("dst", {"num": 4}, "dst.num_elem takes 2 numbers, not 4"),
        ("dst", {"step": (0, 40000)}, r"dst.step_elem \(bytes 52..55\) is 40000; it holds -32768 to 32767"),
    ],
)
def test_values_that_do_not_fit_are_refused_by_name(name, value, message):
    record = zero_record()
    with pytest.raises(BadValue, match=f"^{message}"):
        S2S2D2Stt.variant(PLAIN).write(record, name, value)
    assert not record.any()


def test_steps_are_signed_and_counts_are_not():
    record = zero_record()
    value = {"addr": 0xFFFFFFFF, "step": (-1, -32768), "num": (65535, 1)}
    S2S2D2Stt.variant(PLAIN).write(record, "dst", value)
    assert bytes(record[48:60]).hex() == "ffffffff" + "ffff0080" + "ffff0100"
    assert S2S2D2Stt.variant(PLAIN).read(record)["dst"] == value


def test_a_one_dimensional_pattern_has_arrays_of_one():
    record = zero_record()
    D1Rd.variant(PLAIN).write(record, "dst", {"num": (1,), "step": (-3,)})
    assert D1Rd.variant(PLAIN).read(record)["dst"] == {"addr": 0, "step": (-3,), "num": (1,)}
    assert Columns(D1Rd.variant(PLAIN), record[None])["dst.num_elem"].tolist() == [[1]]
    assert bytes(record[44:52]).hex() == "00000000fdff0100"


def test_a_layout_of_ones_own_needs_no_more_than_its_fields():
    class Mine(Bundle):
        title = "MINE"
        src = Tensor2D.at(12, dtype="dtype")
        dtype = Dtype.at(24)
        flags = Bits.at(25, parts={"low": (0, 1), "rest": (1, 7)}, type="FLAGS")
        body = zeros.at(26, 22)
        dst = Tensor3D.at(48, dtype="dtype", mem_pattern=True)

    record = np.arange(RECORD_BYTES, dtype=np.uint8)
    fields = Mine.variant(PLAIN).read(record)
    assert fields["flags"] == {"low": 1, "rest": 12}
    assert fields["src"]["addr"] == 0x0F0E0D0C
    assert Mine.variant(MARIANA).by_name["dst"].type == "MEM_PATTERN3D"
    assert Mine.variant(MARIANA) is Mine.variant(MARIANA)
    assert issubclass(Mine, Layout)


def test_layouts_are_imported_when_asked_for():
    code = (
        "import sys; from gpsimd_core.isa.layouts import LAYOUTS; assert len(LAYOUTS) == 42;"
        "one = [m for m in sys.modules if m.startswith('gpsimd_core.isa.layouts.')]; assert one == [], one;"
        "LAYOUTS['S4D4_CR']; assert 'gpsimd_core.isa.layouts.s4d4_cr' in sys.modules;"
        "assert 'gpsimd_core.isa.layouts.s4d4_tr' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(KeyError):
        LAYOUTS["S9D9_XX"]
