"""Decode, validate and execute AWS Neuron TPB instruction bundles, bit for bit, for any hardware generation.

    import gpsimd_core as gp
    machine = gp.load("cayman")
    core = gp.NeuronCore(machine)

Names are imported when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpsimd_core.errors import BadInput, BadValue, Fault, GpsimdError, NotExecutable, Unsupported, Violated
    from gpsimd_core.hookspecs import hookimpl
    from gpsimd_core.host import generations, load
    from gpsimd_core.isa.convert import convert
    from gpsimd_core.isa.leaves import leaf
    from gpsimd_core.machine import Machine
    from gpsimd_core.neuroncore import NeuronCore
    from gpsimd_core.program import Bits, NamedTensor, Program, Tensor, register
    from gpsimd_core.vectors import check_vectors, make_vectors

__version__ = "0.1.0"

_PLACES = {
    "errors": ("BadInput", "BadValue", "Fault", "GpsimdError", "NotExecutable", "Unsupported", "Violated"),
    "hookspecs": ("hookimpl",),
    "host": ("generations", "load"),
    "isa.convert": ("convert",),
    "isa.leaves": ("leaf",),
    "machine": ("Machine",),
    "neuroncore": ("NeuronCore",),
    "program": ("Bits", "NamedTensor", "Program", "Tensor", "register"),
    "vectors": ("check_vectors", "make_vectors"),
}
_HOME = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "BadInput",
    "BadValue",
    "Bits",
    "Fault",
    "GpsimdError",
    "Machine",
    "NamedTensor",
    "NeuronCore",
    "NotExecutable",
    "Program",
    "Tensor",
    "Unsupported",
    "Violated",
    "__version__",
    "check_vectors",
    "convert",
    "generations",
    "hookimpl",
    "leaf",
    "load",
    "make_vectors",
    "register",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
