"""What holds for every generation that happens to be installed, and for a core with none at all."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import gpsimd_core as gp
from gpsimd_core.errors import UsageError

GENERATIONS = gp.generations()


@pytest.mark.skipif(bool(GENERATIONS), reason="generations are installed")
def test_a_core_alone_says_what_to_install() -> None:
    with pytest.raises(UsageError, match="install a generation plugin, for example gpsimd-cayman"):
        gp.load("cayman")


def test_listing_generations_imports_none_and_no_numba() -> None:
    code = (
        "import sys, gpsimd_core as gp; gp.generations();"
        "print([m for m in sys.modules if m.startswith(('gpsimd_', 'numba')) and not m.startswith('gpsimd_core')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize("name", GENERATIONS)
def test_a_masked_maximum_from_bytes_to_memory(name: str) -> None:
    machine = gp.load(name, plugins=())
    shape = (32, 5)
    mask = np.array([[1, 0, 1, 1, 0]] * 32, np.uint8)
    data = np.array([[2.0, 9.0, -1.0, np.nan, 3.0]] * 32, np.float32)
    record = machine.encode(
        "SelectReduce",
        src0=gp.Tensor(dtype="uint8", shape=shape),
        src1=gp.Tensor(offset=0x100, dtype="fp32", shape=shape),
        dst=gp.Tensor(offset=0x200, dtype="fp32", shape=shape),
        accumulator_cmd="ZERO_ACCUMULATE",
    )
    read = machine.encode("DveReadAccumulator", dst=gp.Tensor(offset=0x300, dtype="fp32", shape=(32, 1)))
    program = machine.decode(record + read)
    assert bytes(program) == record + read
    assert machine.validate(program).ok

    core = gp.NeuronCore(machine)
    core.sbuf.write(mask)
    core.sbuf.write(data, offset=0x100)
    core.run(program)

    out = core.sbuf.read(offset=0x200, shape=shape, dtype="fp32").view(np.uint32)
    assert [hex(v) for v in out[7]] == ["0x40000000", "0xa5a5a5a5", "0xbf800000", "0x7fc00000", "0xa5a5a5a5"]
    assert core.sbuf.read(offset=0x300, shape=(32, 1), dtype="fp32")[:, 0].tolist() == [2.0] * 32


@pytest.mark.parametrize("name", GENERATIONS)
def test_every_opcode_has_a_layout_rules_and_a_binding(name: str) -> None:
    machine = gp.load(name, plugins=())
    for opcode, encoding in machine.opcodes.items():
        assert machine.layouts[opcode].numpy.itemsize == 64
        assert machine.books[encoding.name].rules
        binding = machine.bindings[encoding.name]
        assert binding.engines or binding.reason
