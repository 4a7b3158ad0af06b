"""cayman (NC-v3) for gpsimd: tables, and the hooks that hand them over.

The tables are imported when a hook asks for them, so that listing generations stays cheap.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpsimd_core.hookspecs import hookimpl
from gpsimd_core.values import (
    BlobNote,
    BlobSite,
    Encoding,
    Engine,
    EngineBinding,
    Generation,
    Instruction,
    KernelTable,
    NamedSet,
)

__all__ = ["Cayman", "cayman"]


class Cayman:
    """The plugin of cayman."""

    GPSIMD_API = 1

    @hookimpl
    def gpsimd_generation(self) -> Generation:
        """Identity, memory and layout features."""
        from gpsimd_cayman.generation import CAYMAN

        return CAYMAN

    @hookimpl
    def gpsimd_sets(self, gen: Generation) -> Iterable[NamedSet]:
        """The dtypes, operators and subsets that exist here."""
        from gpsimd_cayman.sets import SETS

        return SETS

    @hookimpl
    def gpsimd_decode(self, gen: Generation) -> Iterable[Encoding]:
        """Every opcode of the generation."""
        from gpsimd_cayman.encodings import ENCODINGS

        return ENCODINGS

    @hookimpl
    def gpsimd_execute(self, gen: Generation) -> Iterable[Instruction]:
        """The instructions that this generation takes from the library."""
        from gpsimd_cayman.instructions import INSTRUCTIONS

        return INSTRUCTIONS

    @hookimpl
    def gpsimd_engines(self, gen: Generation) -> Iterable[Engine | EngineBinding]:
        """The engines, and which of them take each instruction."""
        from gpsimd_cayman.engines import BINDINGS, ENGINES

        return *ENGINES, *BINDINGS

    @hookimpl
    def gpsimd_blobs(self, gen: Generation) -> Iterable[BlobSite | KernelTable | BlobNote]:
        """The device blobs, as far as published."""
        from gpsimd_core.blobs import read_catalogue

        return read_catalogue("gpsimd_cayman", gen.name)


cayman = Cayman()
