"""The conformance suite passes for a sound plugin, and fails for each of ten planted faults: there, and with a clear message."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

import gpsimd_core as gp
from gpsimd_core.hookspecs import hookimpl
from gpsimd_core.isa.checks import rule
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.layout import U8, Code, Tensor2D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.testing import conformance
from gpsimd_core.testing.declared import CHECKS as DECLARED
from gpsimd_core.testing.running import CHECKS as RUNNING
from gpsimd_core.values import CompiledKernel, Evidence

CHECKS = [*DECLARED, *RUNNING]
PROPOSED = Evidence(confidence="PROPOSED", source="tests")


class Plugin:
    """A plugin that gives these instructions."""

    GPSIMD_API = 1

    def __init__(self, *instructions):
        self.instructions = instructions

    @hookimpl
    def gpsimd_execute(self, gen):
        return [i() if callable(i) else i for i in self.instructions]


def judged(plugin, vectors, gen, **more):
    """Check -> the message that it fails with, of those that fail; None of those that cannot be judged."""
    test = conformance(plugin, vectors=vectors, **more)
    found = {}
    for check in CHECKS:
        try:
            test(check, gen)
        except pytest.fail.Exception as e:
            found[check] = str(e)
        except pytest.skip.Exception:
            found[check] = None
    return found


def said(found):
    return {check: message for check, message in found.items() if message is not None}


@pytest.fixture(scope="module")
def gen():
    if not gp.generations():
        pytest.skip("no generation is installed")
    return "cayman" if "cayman" in gp.generations() else gp.generations()[0]


@pytest.fixture
def judge(widget, gen):
    """`judge(instructions..., vectors=...)`: what the suite says of a plugin with these instructions."""

    def of(*instructions, vectors=widget.vectors, **more):
        return judged(Plugin(*instructions), vectors, gen, **more)

    return of


def test_the_sound_plugin_passes_everything(judge, widget):
    assert said(judge(widget.double)) == {}


def test_duplicate_name(judge, widget):
    found = judge(widget.double, evolve(widget.double, opcodes=(0xF4,)))
    assert "widget_double" in found["unique_names"]
    assert "cannot build" in found["unique_names"]
    assert found["vectors_pass"] is None, "nothing else can be judged"


def test_duplicate_alias(judge, widget):
    found = said(judge(evolve(widget.double, aliases=("SelectReduce",))))
    assert "selectreduce" in found["unique_names"].lower()
    assert "widget_double" in found["unique_names"]


def test_unnamed_rule(judge, widget):
    def build():
        unnamed = rule("", "", ("reserved",), lambda c, f: c["reserved"][:, 0] == 0, "0", evidence=PROPOSED)
        return evolve(widget.double, rules=(*widget.double.rules, unnamed))

    found = judge(build)
    assert "'id' must match regex" in found["rules_named"]


def test_rule_that_does_not_say_what_is_allowed(judge, widget):
    mute = rule("mute", "", ("reserved",), lambda c, f: c["reserved"][:, 0] == 0, "", evidence=PROPOSED)
    found = judge(evolve(widget.double, rules=(*widget.double.rules, mute)))
    assert "rule mute does not say what is allowed" in found["rules_named"]


def test_rule_that_never_fails_alone(judge, widget):
    again = rule(
        "first_reserved_byte", "", ("reserved",), lambda c, f: c["reserved"][:, 0] == 0, "zero", evidence=PROPOSED
    )
    found = said(judge(evolve(widget.double, rules=(*widget.double.rules, again))))
    assert list(found) == ["rules_fail_alone"]
    assert "widget_double: rule first_reserved_byte is never the only violation" in found["rules_fail_alone"]


def test_an_excused_rule_and_a_needless_excuse(judge, widget):
    again = rule(
        "first_reserved_byte", "", ("reserved",), lambda c, f: c["reserved"][:, 0] == 0, "zero", evidence=PROPOSED,
        needs=(widget.double.rules[-1].name,),
    )  # fmt: skip
    double = evolve(widget.double, rules=(*widget.double.rules, again))
    excuse = {("widget_double", "first_reserved_byte"): "reserved_zero says it too"}
    assert said(judge(double, never_alone=excuse)) == {}
    needless = {("widget_double", "dtype_in[src0_dtype]"): "it cannot"}
    assert (
        "is excused (it cannot), and yet it fails alone"
        in judge(widget.double, never_alone=needless)["rules_fail_alone"]
    )


Mode = Code("Mode", {"ONE_WAY": 0, "TWO-WAY": 1})
"""A member whose name text cannot hold: a record prints `mode=TWO-WAY`, which no longer reads."""


def test_encode_is_not_the_inverse_of_decode(judge, widget):
    class Moded(Bundle):
        src0 = Tensor2D.at(12, dtype="src0_dtype")
        src1 = Tensor2D.at(24, dtype="data_dtype")
        dst = Tensor2D.at(36, dtype="data_dtype")
        src0_dtype, data_dtype = Dtype.low(48), Dtype.high(48)
        num_active_channels = U8.at(49)
        mode = Mode.at(50)
        reserved = zeros.at(51, 13)

    found = said(judge(evolve(widget.double, layout=Moded)))
    assert list(found) == ["encode_inverts_decode"]
    assert "its text cannot be encoded" in found["encode_inverts_decode"]
    assert "-WAY" in found["encode_inverts_decode"]


@lane
def wraps(memory, source, lanes, formats, rows, status):
    """Twice the data where a predicate holds, through a sum that outgrows 64 bits: plain Python carries on."""
    for i in range(rows.shape[0]):
        count, size, predicate, data, out, pitch = (
            rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5],
        )  # fmt: skip
        for c in range(count):
            for k in range(size):
                if source[predicate + c * pitch + k] != 0:
                    big = int(source[data + c * pitch + 4 * k + 3]) + 1
                    for _ in range(70):
                        big = big * 2
                    memory[out + c * pitch + 4 * k] = 1 if big > 0 else 2


def wraps_row(step):
    p, d, o = (step.operands[name] for name in ("predicate", "data", "out"))
    return step.channels, p.elements, p.base, d.base, o.base, p.pitch


def test_compiled_unlike_uncompiled(judge, widget, monkeypatch):
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    found = said(judge(evolve(widget.double, kernel=CompiledKernel(run=wraps, row=wraps_row))))
    assert "widget_double, plain and compiled: out[" in found["compiled_equals_uncompiled"]


def test_no_evidence(judge, widget):
    found = said(judge(evolve(widget.double, evidence=Evidence(confidence="", source=""))))
    assert list(found) == ["evidence_present"]
    assert "widget_double: the instruction has no evidence" in found["evidence_present"]


def test_no_source(judge, widget):
    (first, *rest) = widget.double.rules
    first = evolve(first, evidence=Evidence(confidence="HIGH", source=" "))
    found = said(judge(evolve(widget.double, rules=(first, *rest))))
    assert "rule dtype_in[src0_dtype] has no evidence: its source is empty" in found["evidence_present"]


def test_no_vectors(judge, widget):
    found = said(judge(widget.double, vectors=()))
    assert "widget_double executes and has no vector (no file is given)" in found["vectors_present"]
    assert "no legal record is known" in found["rules_fail_alone"]


def test_a_kernel_that_no_record_reaches(judge, widget):
    def missing(step):
        return "a table"

    found = said(judge(evolve(widget.double, ready=missing)))
    assert "widget_double: no record is given that runs by itself" in found["every_kernel_is_tried"]
    assert "(the last one: widget_double: a table" in found["every_kernel_is_tried"]


def test_failing_vector(judge, widget, tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(widget.vectors.read_text("utf-8").replace('["40400000"', '["40400001"'), "utf-8")
    found = said(judge(widget.double, vectors=wrong))
    assert list(found) == ["vectors_pass"]
    assert "wrong.toml: widget_double_where_true failed" in found["vectors_pass"]
    assert "step 1 dst[0,0]: expected 40400001, found 40400000" in found["vectors_pass"]


def test_unreadable_vectors(judge, widget, tmp_path):
    text = tmp_path / "text.toml"
    text.write_text("schema = 2\n[[example]]\nid = ", "utf-8")
    found = said(judge(widget.double, vectors=text))
    assert "the vectors cannot be read" in found["vectors_present"]


def test_write_outside_the_outputs(judge, widget):
    def stray(step):
        step.core.sbuf.data[step.operands["out"].base + 4096] ^= 0xFF
        return widget.double.kernel(step)

    found = said(judge(evolve(widget.double, kernel=stray)))
    assert list(found) == ["writes_only_its_outputs"]
    assert (
        "widget_double writes 1 byte outside its outputs (out at dst), first sbuf partition 0 byte 0x"
        in (found["writes_only_its_outputs"])
    )


def test_dead_lane_that_matters(judge, widget):
    def leaks(step):
        """Any NaN in the data, in a lane that is off too, changes the scale of all."""
        scale = np.float32(3 if np.isnan(step.read("data")).any() else 2)
        with np.errstate(all="ignore"):
            return {"out": step.read("data") * scale}

    found = said(judge(evolve(widget.double, kernel=leaks)))
    assert list(found) == ["dead_lanes_are_inert"]
    assert "widget_double: data matters in lanes that predicate turns off: out[" in found["dead_lanes_are_inert"]


def test_a_predicate_that_is_never_read(judge, widget):
    def blind(step):
        with np.errstate(all="ignore"):
            return {
                "out": step.read("data") * np.float32(2),
                "mask": np.ones((step.channels, step.read("data").shape[1]), bool),
            }

    found = judge(evolve(widget.double, kernel=blind))
    assert "no element of out keeps its bytes, whatever predicate says" in found["dead_lanes_are_inert"]
