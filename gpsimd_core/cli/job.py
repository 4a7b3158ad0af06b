"""A program file with its inputs, ready to run on any machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gpsimd_core.cli.session import Session

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine
    from gpsimd_core.neuroncore import NeuronCore
    from gpsimd_core.program import Program

__all__ = ["SMALL", "Job"]

SMALL = 1 << 17
"""Elements up to which plain Python has finished before a compiler has started."""


class Job:
    """What a verb that runs programs was given.

    Args:
        session: the common options.
        file: the program, or `-`.
        inputs: as `-i` takes them.
        compiled: run kernels through the compiler; None decides by size.

    Raises:
        BadInput: the program or its manifest cannot be read.
    """

    def __init__(self, session: Session, file: str, inputs: Sequence[str], compiled: bool | None) -> None:
        from gpsimd_core.manifest import read_manifest, read_source

        self.session, self.inputs, self.compiled = session, inputs, compiled
        self.source = read_source(file)
        self.manifest = read_manifest(session.manifest) if session.manifest else None

    @property
    def declared(self) -> str | None:
        """The generation that the program or its manifest names."""
        return self.source.generation or (self.manifest.generation if self.manifest else None)

    def program(self, machine: Machine) -> Program:
        """The program for a machine."""
        from gpsimd_core.manifest import load_program

        return load_program(machine, self.source, self.manifest)

    def decide(self, program: Program) -> bool:
        """Whether kernels are compiled."""
        return _elements(program) > SMALL if self.compiled is None else self.compiled

    def core(self, machine: Machine, program: Program) -> NeuronCore:
        """A fresh core with the inputs in place.

        Raises:
            UsageError: an input is missing, or none of the program's.
            BadInput: an input file does not hold what the program declares.
        """
        from gpsimd_core.cli import tensorfiles
        from gpsimd_core.neuroncore import NeuronCore
        from gpsimd_core.step import MAX_ELEMENTS

        given = tensorfiles.assign(program, self.inputs)
        limit = self.session.max_elements or MAX_ELEMENTS
        core = NeuronCore(machine, compiled=self.decide(program), max_elements=limit)
        for name, path in given.items():
            tensorfiles.load(core, program.tensors[name], path)
        return core


def _elements(program: Program) -> int:
    """Elements that the largest operands of the records have together, all channels counted."""
    import numpy as np

    total = 0
    for group in program.groups:
        most: np.ndarray[Any, Any] = np.ones(len(group.columns), np.int64)
        for f in group.layout.fields:
            if f.kind == "tensor":
                most = np.maximum(most, group.columns[f"{f.name}.num_elem"].prod(axis=1, dtype=np.int64))
        if "num_active_channels" in group.layout.leaves:
            most = most * group.columns["num_active_channels"]
        total += int(most.sum())
    return total
