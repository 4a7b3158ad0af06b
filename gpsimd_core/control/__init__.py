"""The scalar control core of the Vision-Q7: registers, windows, loops, exceptions, and the base instruction set.

`ControlCore` runs machine code; `assemble` and `disassemble` go both ways between text and words. See docs/control.md.
"""

from __future__ import annotations

from gpsimd_core.control.assembler import Image, assemble, assemble_word
from gpsimd_core.control.bus import Access, Bus
from gpsimd_core.control.check import EncodingCheck, check_encodings
from gpsimd_core.control.core import ControlCore
from gpsimd_core.control.disassembler import Instruction, decode, disassemble, listing
from gpsimd_core.control.memory import Memory, Region
from gpsimd_core.control.trap import Stop, Trap
from gpsimd_core.control.words import VARIANTS

__all__ = [
    "VARIANTS",
    "Access",
    "Bus",
    "ControlCore",
    "EncodingCheck",
    "Image",
    "Instruction",
    "Memory",
    "Region",
    "Stop",
    "Trap",
    "assemble",
    "assemble_word",
    "check_encodings",
    "decode",
    "disassemble",
    "listing",
]
