"""An all-reduce over several NeuronCores from the three reduce tiers.

Each core folds its tile along the free axis (tier A, 0x42), then across partitions (tier B, 0x7C); the results of all cores
are folded as buffers (tier C, the DMA compute element) and handed back to every core. What each tier lacks shows here: tier B
has no minimum, so it is a maximum between two changes of sign, and an average is scaled in tier B alone.

    python examples/allreduce.py --gen cayman --cores 4 --op sum
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import gpsimd_core as gp
from gpsimd_core.cce import CceType, reduce_buffers
from gpsimd_core.isa.enums import AluOp, ReduceOp

TILE, ROWS, SIGNED, RESULT = 0, 0x10000, 0x10100, 0x10200
"""Byte offsets in SBUF of a core's tile, of one value a partition, of its negation, and of the result."""

TIERS = {
    "sum": (AluOp.ADD, ReduceOp.ADD, CceType.ADD),
    "mean": (AluOp.ADD, ReduceOp.AVERAGE, CceType.ADD),
    "max": (AluOp.MAX, ReduceOp.MAX, CceType.MAX),
    "min": (AluOp.MIN, ReduceOp.MAX, CceType.MIN),
}
"""The operator of each tier. They are three enumerations: the same name has another number in each."""


def local(machine: gp.Machine, shape: tuple[int, int], op: str, elements: int) -> gp.Program:
    """The program of one core: its tile of fp32 values to one value on partition 0.

    Args:
        machine: the generation.
        shape: (partitions, values) of the tile.
        op: a key of TIERS.
        elements: of all tiles together, for the scale of the mean.
    """
    partitions, _ = shape
    along, across, _ = TIERS[op]
    column, negated = (gp.Tensor(offset=at, dtype="fp32", shape=(partitions, 1)) for at in (ROWS, SIGNED))
    single = gp.Tensor(offset=RESULT, dtype="fp32", shape=(1, 1))
    records = [
        machine.encode(
            "TensorReduceArith", src=gp.Tensor(offset=TILE, dtype="fp32", shape=shape), dst=column, op=along, op_dim="X"
        )
    ]
    if op == "min":
        records.append(
            machine.encode("TensorScalarArith", src=column, dst=negated, op0="MULT", imm0=-1.0, op1="BYPASS")
        )
    records.append(
        machine.encode(
            "CrossLaneReduceArith", src=negated if op == "min" else column, dst=single, num_active_channels=partitions,
            reduce_op=across, reduce_axis="PARTITIONS", scale=1.0 / elements if op == "mean" else 0.0,
        )
    )  # fmt: skip
    if op == "min":
        records.append(machine.encode("TensorScalarArith", src=single, dst=single, op0="MULT", imm0=-1.0, op1="BYPASS"))
    return machine.decode(b"".join(records))


def all_reduce(machine: gp.Machine, tiles: Sequence[np.ndarray], op: str) -> list[gp.NeuronCore]:
    """Fold tiles of one shape, one a core; afterwards every core holds the result at RESULT on partition 0.

    Args:
        machine: the generation.
        tiles: float32, (partitions, values) each; no more than a buffer fold has sources.
        op: a key of TIERS.

    Returns:
        The cores.
    """
    cores, buffers = [], []
    for tile in tiles:
        core = gp.NeuronCore(machine)
        core.sbuf.write(tile, 0, TILE)
        core.run(local(machine, tile.shape, op, sum(t.size for t in tiles)))
        cores.append(core)
        buffers.append(core.sbuf.read(0, RESULT, shape=(1, 1), dtype="fp32"))
    total = reduce_buffers(machine, TIERS[op][2], buffers, destinations=1)
    for core in cores:  # one descriptor a core: sunda takes a single destination in each
        core.sbuf.write(total, 0, RESULT)
    return cores


def result_of(core: gp.NeuronCore) -> np.float32:
    """What a core holds after `all_reduce`."""
    value: np.float32 = core.sbuf.read(0, RESULT, shape=(1, 1), dtype="fp32")[0, 0]
    return value


def exact(tiles: Sequence[np.ndarray], op: str) -> float:
    """The same in float64."""
    everything = np.concatenate([t.astype(np.float64).ravel() for t in tiles])
    return float({"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}[op](everything))


def main() -> None:
    """Fold random tiles and print what every core holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gen", default="cayman", choices=gp.generations())
    parser.add_argument("--cores", type=int, default=4)
    parser.add_argument("--op", default="sum", choices=sorted(TIERS))
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    tiles = [rng.standard_normal((128, 512)).astype(np.float32) for _ in range(given.cores)]
    cores = all_reduce(gp.load(given.gen), tiles, given.op)
    print(f"{given.op} over {given.cores} cores of {given.gen}: {', '.join(str(result_of(c)) for c in cores)}")
    print(f"float64: {exact(tiles, given.op)}")


if __name__ == "__main__":
    main()
