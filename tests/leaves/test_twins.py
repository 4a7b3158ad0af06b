"""The compiled loops give what the plain ones give: some leaves in every run, all of them in the slow one."""

from __future__ import annotations

import random

import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.isa.leaves import catalogue
from gpsimd_core.isa.leaves.loops import CHUNK
from gpsimd_core.vectors import make_vectors

GROUNDED = [one for one in catalogue().values() if one.grounded]
# One of each kind of loop: one result, several, words, a register, a fold, a predicate word.
SAMPLE = ("add_nx16", "mulsua_n_2x32", "bmaxu_nx16", "sel_nx16", "rbmin_nx16", "randbn")


def operands_of(leaf, count):
    """The operands of generated rows, boundary patterns among them, as one batch."""
    draw = random.Random(leaf.name)
    rows = make_vectors(leaf.name, count=count, seed=draw.getrandbits(32))["group"][0]["rows"]
    columns = []
    for k, slot in enumerate(leaf.args):
        cells = [row["i"][k] for row in rows]
        if slot.flat:
            columns.append(np.array([list(int(x, 16).to_bytes(64, "little")) for x in cells], np.uint8))
        elif slot.lanes:
            lists = [cell["list"] if "list" in cell else [cell["rep"]] * slot.lanes for cell in cells]
            columns.append(np.array([[int(x, 16) for x in one] for one in lists], np.uint64))
        else:
            columns.append(np.array([int(x, 16) for x in cells], object))
    return {slot.name: column for slot, column in zip(leaf.args, columns, strict=True)}


def same(leaf, count):
    operands = operands_of(leaf, count)
    plain, fast = leaf.compute(operands, fast=False), leaf.compute(operands, fast=True)
    assert plain.keys() == fast.keys()
    for name in plain:
        assert plain[name].dtype == fast[name].dtype
        assert np.array_equal(plain[name], fast[name]), name


@pytest.mark.parametrize("short", SAMPLE)
def test_some_leaves(short):
    same(gp.leaf(short).leaf, 40)


@pytest.mark.slow
@pytest.mark.parametrize("leaf", GROUNDED, ids=lambda one: one.short)
def test_every_leaf(leaf):
    same(leaf, 100)


def test_large_batches_are_compiled_unasked_and_cut_into_chunks(bits):
    a, b = bits.integers(0, 1 << 16, (2, 2 * CHUNK + 5), np.uint16)
    assert np.array_equal(gp.leaf("add_16_16_16")(a, b), a + b)
    v = bits.integers(0, 1 << 16, (CHUNK // 16, 32), np.uint16)
    assert np.array_equal(gp.leaf("radd_nx16", compiled=True)(v), v.view(np.int16).sum(-1, np.int32).view(np.uint32))
