"""Program files: bundle streams, assembly text and forms that plugins know, with an optional TOML manifest.

A stream of bytes says nothing about its tensors; a manifest does, with the keys of the text's directives:

    [[tensor]]
    name = "mask"
    region = "sbuf"          # partition and offset are 0 where left out
    partition = 0
    offset = 0x0
    dtype = "uint8"
    shape = [128, 4096]      # or "128x4096"
    direction = "in"         # in, out, inout or temp

    [registers]
    r3 = 0x2000

    [stream]                 # engine = file, beside the manifest: a program of several streams
    dve = "a.bin"

    gen = "cayman"           # above the tables: the generation, where --gen says none
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from gpsimd_core.assembly import assemble, declared_generation
from gpsimd_core.errors import BadInput, BadValue, GpsimdError, PluginTrouble
from gpsimd_core.isa.layout import RECORD_BYTES
from gpsimd_core.program import Program, decode
from gpsimd_core.tensors import NamedTensor, make_tensor

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["Manifest", "Source", "load_program", "manifest_text", "read_manifest", "read_source"]

TEXT = ".tpb"
BYTES = ".bin"
_KEYS = ("name", "region", "partition", "offset", "dtype", "shape", "direction")


@frozen(kw_only=True)
class Source:
    """The content of a program file."""

    name: str
    data: bytes = field(repr=False)
    text: str | None = field(repr=False)
    """None where the content is no text."""

    @property
    def generation(self) -> str | None:
        """The generation that the text names."""
        return declared_generation(self.text) if self.text is not None else None


@frozen(kw_only=True)
class Manifest:
    """What a TOML manifest says."""

    name: str
    folder: Path
    generation: str | None
    tensors: tuple[Mapping[str, Any], ...]
    registers: Mapping[int, int] = field(hash=False)
    streams: Mapping[str, str] = field(hash=False)
    """Engine to file name."""


def read_bytes(path: str | Path) -> bytes:
    """The content of a file, or of standard input for `-`.

    Raises:
        BadInput: it cannot be read; the message names the file and why.
    """
    if str(path) == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as e:
        raise BadInput(f"cannot read {path}: {(e.strerror or str(e)).lower()}") from None


def read_source(path: str | Path) -> Source:
    """A program file, and whether it is text: by the suffix `.tpb` or `.bin`, else by its content.

    Raises:
        BadInput: it cannot be read, is empty, or is called `.tpb` and is no UTF-8 text.
    """
    data = read_bytes(path)
    name = "<stdin>" if str(path) == "-" else str(path)
    suffix = Path(name).suffix.lower()
    if not data:
        raise BadInput(f"{name} is empty; a program is records of {RECORD_BYTES} bytes, or assembly text")
    text = None
    if suffix != BYTES:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as e:
            if suffix == TEXT:
                raise BadInput(f"{name} is no UTF-8 text: byte {e.start} is 0x{data[e.start]:02x}") from None
        if text is not None and suffix != TEXT and re.search(r"[^\t\n\r\f\x20-\x7e\x80-\U0010ffff]", text):
            text = None
    return Source(name=name, data=data, text=text)


def load_program(machine: Machine, path: str | Path | Source, manifest: str | Path | Manifest | None = None) -> Program:
    """A program from a file.

    Args:
        machine: the generation to read it for.
        path: the file, `-` for standard input, or what `read_source` gave. `.tpb` is text and `.bin` is records; other
            names are offered to the plugins and then read by their content.
        manifest: a TOML manifest with tensors, registers and streams, or its file.

    Returns:
        A Program.

    Raises:
        BadInput: a file that cannot be read or is malformed; `name:line:column` for text.
        PluginTrouble: a plugin failed on it.
    """
    source = path if isinstance(path, Source) else read_source(path)
    said = manifest if isinstance(manifest, Manifest) or manifest is None else read_manifest(manifest)
    if said is not None and said.streams:
        program = _streams(machine, source, said)
    else:
        program = _one(machine, source)
    return program if said is None else _with(machine, program, said)


def _one(machine: Machine, source: Source) -> Program:
    suffix = Path(source.name).suffix.lower()
    if suffix not in (TEXT, BYTES):
        try:
            found = machine.hooks.load_program(source.data, source.name, machine)
        except GpsimdError:
            raise
        except Exception as e:
            raise PluginTrouble(f"a plugin failed to read {source.name}: {type(e).__name__}: {e}") from e
        if found is not None:
            return found  # type: ignore[no-any-return]
    if source.text is not None:
        return assemble(machine, source.text, source.name)
    return decode(machine, source.data, source.name)


def _streams(machine: Machine, source: Source, said: Manifest) -> Program:
    """The streams that a manifest lists, one after the other; `source` is one of them."""
    given = Path(source.name)
    if not any((said.folder / file).resolve() == given.resolve() for file in said.streams.values()):
        listed = ", ".join(said.streams.values())
        raise BadInput(f"{said.name}: [stream] lists {listed}, and not {source.name}")
    parts: list[np.ndarray[Any, Any]] = []
    streams: list[str | None] = []
    for engine, file in said.streams.items():
        if engine not in machine.engines:
            there = ", ".join(machine.engines)
            raise BadInput(f"{said.name}: [stream] names engine {engine!r}; {machine.generation.name} has {there}")
        part = _one(machine, read_source(said.folder / file))
        parts.append(part.raw)
        streams += [engine] * len(part)
    return Program(machine, np.concatenate(parts), streams=tuple(streams), name=source.name)


def _with(machine: Machine, program: Program, said: Manifest) -> Program:
    tensors = dict(program.tensors)
    for row in said.tensors:
        t = _tensor(machine, said, row)
        if t.name in tensors:
            raise BadInput(f"{said.name}: tensor {t.name} is declared twice")
        tensors[t.name] = t
    return Program(
        machine, program.raw, tensors=tuple(tensors.values()), registers={**program.registers, **said.registers},
        streams=program.streams, name=program.name,
    )  # fmt: skip


def read_manifest(path: str | Path) -> Manifest:
    """A TOML manifest.

    Raises:
        BadInput: it cannot be read, is no TOML, or has a key that no manifest has.
    """
    name = str(path)
    try:
        table = tomllib.loads(read_bytes(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise BadInput(f"{name} is no TOML: {e}") from None
    _known(name, "the manifest", table, ("gen", "tensor", "registers", "stream"))
    rows = table.get("tensor", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput(f"{name}: tensors are tables, [[tensor]]")
    for row in rows:
        _known(name, f"tensor {row.get('name', '?')}", row, _KEYS)
    streams = _table(name, "stream", table)
    if not all(isinstance(file, str) for file in streams.values()):
        raise BadInput(f'{name}: [stream] takes engine = file, such as dve = "a.bin"')
    gen = table.get("gen")
    return Manifest(
        name=name, folder=Path(path).parent, generation=str(gen) if gen is not None else None, tensors=tuple(rows),
        registers=_registers(name, _table(name, "registers", table)),
        streams={engine.lower(): file for engine, file in streams.items()},
    )  # fmt: skip


def _table(name: str, key: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise BadInput(f"{name}: {key} is a table, [{key}], not {found!r}")
    return found


def _known(name: str, what: str, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in table:
        if key not in keys:
            raise BadInput(f"{name}: {what} has no key {key!r}; there are {', '.join(keys)}")


def _registers(name: str, table: Mapping[str, Any]) -> dict[int, int]:
    registers = {}
    for key, value in table.items():
        if not re.fullmatch(r"[rR]([0-9]|[1-5][0-9]|6[0-3])", key):
            raise BadInput(f"{name}: {key!r} is no address register; there are r0 to r63")
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 32:
            raise BadInput(f"{name}: {key} is {value!r}; a register holds 0 to 0xffffffff")
        registers[int(key[1:])] = value
    return registers


def _tensor(machine: Machine, said: Manifest, row: Mapping[str, Any]) -> NamedTensor:
    missing = [key for key in ("name", "dtype", "shape", "direction") if key not in row]
    if missing:
        raise BadInput(f"{said.name}: tensor {row.get('name', '?')} lacks {', '.join(missing)}")
    shape = row["shape"]
    if isinstance(shape, str) and re.fullmatch(r"\d+(x\d+)*", shape):
        shape = [int(n) for n in shape.split("x")]
    if not isinstance(shape, list) or not shape or not all(type(n) is int and n > 0 for n in shape):
        raise BadInput(f"{said.name}: tensor {row['name']} has shape {shape!r}; a shape reads [128, 4096]")
    for key in ("partition", "offset"):
        if type(row.get(key, 0)) is not int:
            raise BadInput(f"{said.name}: tensor {row['name']} has {key} {row[key]!r}; a whole number is needed")
    try:
        return make_tensor(
            machine, str(row["name"]), str(row.get("region", "sbuf")), row.get("partition", 0), row.get("offset", 0),
            str(row["dtype"]), tuple(shape), str(row["direction"]),
        )  # fmt: skip
    except BadValue as e:
        raise BadInput(f"{said.name}: tensor {e}") from None


def manifest_text(program: Program, files: Mapping[str, str] | None = None) -> str:
    """The manifest of a program: what its bytes do not say.

    Args:
        program: with tensors and registers.
        files: engine to the file that holds its stream.
    """
    lines = [f'gen = "{program.machine.generation.name}"', ""]
    for t in program.tensors.values():
        x = t.tensor
        lines += [
            "[[tensor]]", f'name = "{t.name}"', f'region = "{x.region}"', f"partition = {x.partition}",
            f"offset = 0x{x.offset:x}", f'dtype = "{x.dtype}"', f"shape = {list(x.shape)}",
            f'direction = "{t.direction}"', "",
        ]  # fmt: skip
    if program.registers:
        lines += ["[registers]", *(f"r{n} = 0x{v:x}" for n, v in sorted(program.registers.items())), ""]
    if files:
        lines += ["[stream]", *(f'{engine} = "{file}"' for engine, file in files.items()), ""]
    return "\n".join(lines)
