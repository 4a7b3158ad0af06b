"""Golden-vector files as data, to be broken one key at a time."""

from __future__ import annotations

import copy

import pytest

LEAVES = {
    "schema": 2,
    "pages": {"B01": "ISA Batch 01", "B08": "ISA Batch 08"},
    "group": [
        {
            "id": "add",
            "leaf": "{op}_16_16_16",
            "family": "int-alu",
            "inputs": ["op:name", "a:16", "b:16"],
            "outputs": ["r:16"],
            "pages": ["B01"],
            "evidence": "driven",
            "model_checked": True,
            "rows": [
                {"i": ["add", "7fff", "0001"], "o": ["8000"], "s": "B01"},
                {"i": ["sub", "0000", "0001"], "o": ["ffff"]},
            ],
        },
        {
            "id": "fold",
            "leaf": "radd_nx16_32_512_t",
            "family": "reduce",
            "inputs": ["v:32x16", "keep:lanes"],
            "outputs": ["r:32"],
            "pages": ["B01", "B08"],
            "evidence": "rule",
            "model_checked": False,
            "rows": [{"i": [{"rep": "0001"}, {"lanes": [0, 5]}], "o": ["00000002"]}],
        },
    ],
}
VECTOR = {
    "group": "narrow",
    "op": "convert",
    "from": "fp32",
    "to": "bf16",
    "mode": "RNE",
    "inputs": ["3f818000"],
    "expected": ["3f82"],
    "level": "engine",
    "origin": "derived",
    "checked": True,
    "source": "a test",
}
EXAMPLE = {
    "id": "select",
    "group": "select_reduce",
    "policies": {"select_reduce": "select"},
    "origin": "vendor",
    "checked": True,
    "source": "a test",
    "step": [
        {
            "opcode": 0xEA,
            "fields": {
                "op0": "BYPASS",
                "op1": "MAX",
                "reverse_operands": "NONE",
                "imm0_src": "INSTRUCTION_IMMEDIATE",
                "imm0": "ff7fffff",
                "accumulator_cmd": "IDLE",
            },
            "inputs": {
                "src0": {"dtype": "uint8", "rows": [{"n": 2, "row": [1, 0]}]},
                "src1": {"dtype": "fp32", "rows": [{"n": 2, "row": [1.0, 2.0]}]},
            },
            "expected": {"dst": {"dtype": "fp32", "rows": [{"n": 2, "row": ["3f800000", "ff7fffff"]}]}},
        }
    ],
}


@pytest.fixture
def leaves():
    """A leaf file of two groups that passes."""
    return copy.deepcopy(LEAVES)


@pytest.fixture
def vectors():
    """An engine-level file of one row that passes."""
    return {"schema": 2, "vector": [copy.deepcopy(VECTOR)]}


@pytest.fixture
def examples():
    """An instruction file of one example that passes."""
    return {"schema": 2, "example": [copy.deepcopy(EXAMPLE)]}
