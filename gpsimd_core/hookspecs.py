"""Every hook on one page, no logic.

A plugin is an object (a module, or an instance) whose methods carry `@hookimpl` and which states `GPSIMD_API = 1`.
Generation plugins are found in the entry-point group `gpsimd.generations`, one object per generation name; third
parties use `gpsimd.plugins`. An installed third-party plugin is used without being asked for, unless it states
`GPSIMD_ON_REQUEST = True`, as one should that replaces what others rely on: it is used where `load(plugins=...)` or the
environment variable GPSIMD_PLUGINS names it.

All hooks but the last three are called once, while a machine is built: none is ever called between bytes and memory.
Values are returned, never registered by side effect, and their order means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine
    from gpsimd_core.values import (
        Activation,
        BlobNote,
        BlobSite,
        Encoding,
        Engine,
        EngineBinding,
        Generation,
        Instruction,
        KernelTable,
        NamedSet,
        Policy,
        Profile,
        Rule,
    )

__all__ = ["API", "GROUP_COMMANDS", "GROUP_GENERATIONS", "GROUP_PLUGINS", "hookimpl"]

API = 1
"""Version of this page. A plugin states the one it was written for as `GPSIMD_API`."""

GROUP_GENERATIONS = "gpsimd.generations"
GROUP_PLUGINS = "gpsimd.plugins"
GROUP_COMMANDS = "gpsimd.commands"

hookspec = pluggy.HookspecMarker("gpsimd")
hookimpl = pluggy.HookimplMarker("gpsimd")


@hookspec
def gpsimd_generation() -> Generation:  # type: ignore[empty-body]
    """The generation that this plugin is.

    Answered by generation plugins only; exactly one answer makes a machine.

    Returns:
        Name, NC version, memory geometry and layout features.
    """


@hookspec
def gpsimd_sets(gen: Generation) -> Iterable[NamedSet]:  # type: ignore[empty-body]
    """The named sets of dtypes, operators and enum members that rules refer to on `gen`.

    Args:
        gen: what is being built. Return () for a generation you do not extend.

    Returns:
        Sets. `dtype` and `alu_op` name the members that exist; a set of the name of any other enumeration narrows it.
    """


@hookspec
def gpsimd_decode(gen: Generation) -> Iterable[Encoding]:  # type: ignore[empty-body]
    """Which opcode bytes exist on `gen`, and how each is laid out.

    Args:
        gen: what is being built. Return () for a generation you do not extend.

    Returns:
        Encodings. Two plugins that claim one opcode are a clash, reported with every other clash.
    """


@hookspec
def gpsimd_validate(gen: Generation) -> Mapping[str, Iterable[Rule]]:  # type: ignore[empty-body]
    """More rules for named instructions, beyond those they bring. Rules can be added, never removed.

    Args:
        gen: what is being built.

    Returns:
        Instruction name to rules.
    """


@hookspec
def gpsimd_execute(gen: Generation) -> Iterable[Instruction]:  # type: ignore[empty-body]
    """The instructions that `gen` validates and executes: operands, rules, kernel.

    Args:
        gen: what is being built.

    Returns:
        Instructions. One with `opcodes` brings its own encoding, one with `engine` its own binding.
    """


@hookspec
def gpsimd_engines(gen: Generation) -> Iterable[Engine | EngineBinding]:  # type: ignore[empty-body]
    """The engines of `gen` and which of them take each instruction, first owner first.

    Args:
        gen: what is being built.

    Returns:
        Engines and bindings.
    """


@hookspec
def gpsimd_blobs(gen: Generation) -> Iterable[BlobSite | KernelTable | BlobNote]:  # type: ignore[empty-body]
    """The firmware blobs of `gen` inside a host library. Called when somebody asks for them, not for every machine.

    Args:
        gen: the generation.

    Returns:
        Blob sites with symbol, byte range and self-names.
    """


@hookspec
def gpsimd_policies() -> Iterable[Policy | Profile]:  # type: ignore[empty-body]
    """Policies and profiles that a plugin brings.

    Returns:
        Policies, with their values and default, and profiles, with the policies they set.
    """


@hookspec
def gpsimd_formats() -> Mapping[int, Any]:  # type: ignore[empty-body]
    """Number formats for dtype codes that the core has none for.

    Returns:
        Wire dtype code to `gpsimd_core.isa.formats.Format`.
    """


@hookspec
def gpsimd_activations(gen: Generation) -> Iterable[Activation]:  # type: ignore[empty-body]
    """Rows of the table of activation functions, beside those of the core.

    On hardware the host loads this table; no source numbers its rows, so the numbers of the core's rows are its own.

    Args:
        gen: what is being built. Return () for a generation you do not extend.

    Returns:
        Functions with their numbers. Two for one number, or of one name, are a clash; `overrides` replaces a row, the
        core's own ones as "gpsimd-core:exp".
    """


@hookspec(firstresult=True)
def gpsimd_load_program(data: bytes, name: str, machine: Machine) -> Any:
    """Read a program in a form that the core does not know.

    Args:
        data: the bytes of the file.
        name: its name, for messages.
        machine: the machine it is for.

    Returns:
        A Program, or None to leave the input to others.
    """


@hookspec
def gpsimd_observers(machine: Machine) -> Iterable[Callable[[Any], None]]:  # type: ignore[empty-body]
    """Callables that are given each finished step of a run.

    Args:
        machine: the machine that will run.

    Returns:
        Callables of one argument, the finished Step.
    """


@hookspec(firstresult=True)
def gpsimd_run(core: Any, program: Any) -> Any:
    """Run a program. Called once per program; wrap it to time, trace or compare whole runs.

    Args:
        core: the NeuronCore.
        program: a Program, or engine name to Program.

    Returns:
        The Result, or None to let the core run it.
    """
