"""`gpsimd new-plugin`: a plugin distribution that passes its own tests."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from gpsimd_core.cli.session import Session

__all__ = ["command", "render"]

NAME = re.compile(r"[a-z][a-z0-9_]*")
TAKEN = ("core", "test", "tests")
FIRST, LAST = 0xF6, 0x10
"""Opcode bytes are tried from high to low: generations fill them from below."""


@click.command("new-plugin")
@click.argument("name", metavar="NAME")
@click.option("--opcode", metavar="BYTE", help="Opcode of its instruction, such as 0xF4; by default a free one.")
@click.pass_obj
def command(session: Session, name: str, opcode: str | None) -> None:
    """Write a plugin distribution into the new folder NAME: layout, instruction, vectors, tests, README, tox.ini.

    NAME is lower case. The distribution is gpsimd-NAME, the package gpsimd_NAME, the instruction NAME_double.
    """
    from gpsimd_core.errors import UsageError
    from gpsimd_core.host import generations

    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UsageError(
            f"a plugin cannot be called {name!r}: it takes lower-case letters, digits and _, a letter first"
        )
    if name in TAKEN or name in generations():
        raise UsageError(f"a plugin cannot be called {name!r}: gpsimd-{name} exists")
    target = Path(name)
    if target.exists():
        raise UsageError(f"{target} exists; nothing was written")
    written = render(name, _opcode(opcode), target)
    if session.as_json:
        session.emit({"folder": str(target), "files": [str(p) for p in written]})
        return
    click.echo(f"{target}: " + ", ".join(str(p.relative_to(target)) for p in written))
    click.echo("try it with")
    click.echo(f"  cd {target} && pip install '.[test]' && pytest")


def _opcode(given: str | None) -> int:
    from gpsimd_core.errors import UsageError
    from gpsimd_core.host import generations, load

    machines = [load(name) for name in generations()]
    used = {opcode: f"{m.opcodes[opcode].name} on {m.generation.name}" for m in machines for opcode in m.opcodes}
    if given is None:
        return next(byte for byte in range(FIRST, LAST, -1) if byte not in used)
    try:
        byte = int(given, 0)
    except ValueError:
        byte = -1
    if not 0 <= byte < 256:
        raise UsageError(f"--opcode {given}: it is a byte, such as 0xF4")
    if byte in used:
        raise UsageError(f"--opcode 0x{byte:02X} is {used[byte]}")
    return byte


def render(name: str, opcode: int, target: Path) -> list[Path]:
    """Write the template's files under another name.

    Args:
        name: of the plugin.
        opcode: of its instruction.
        target: folder, made as needed.

    Returns:
        The files written.
    """
    from gpsimd_core import __version__
    from gpsimd_core.hookspecs import API

    major, minor = __version__.split(".")[:2]
    words = {
        "NAME": name, "CLASS": "".join(part.capitalize() for part in name.split("_")), "CLASS_UPPER": name.upper(),
        "OPCODE": f"0x{opcode:02X}", "OPCODE_LOWER": f"0x{opcode:02x}", "API": str(API), "VERSION": __version__,
        "NEXT": f"{major}.{int(minor) + 1}",
    }  # fmt: skip
    template = files("gpsimd_core") / "data" / "template"
    written = []
    for parts, text in sorted(_texts(template)):
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        place = target.joinpath(*(f"gpsimd_{name}" if part == "package" else part for part in parts))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        written.append(place)
    return written


def _texts(folder: Traversable, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _texts(item, (*above, item.name))
        elif item.name.endswith(".txt"):
            yield (*above, item.name.removesuffix(".txt")), item.read_text("utf-8")
