"""`gpsimd control`: run, assemble and disassemble programs of the scalar control core."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpsimd_core.errors import BadInput, UsageError

if TYPE_CHECKING:
    from gpsimd_core.control import ControlCore, Image, Stop

__all__ = ["command"]

_variant = click.option(
    "--variant", type=click.Choice(["q7", "classic"]), default="q7", show_default=True, help="Which core."
)


@click.group()
def command() -> None:
    """The scalar control core: machine code, assembly, registers."""


class _Run(click.Command):
    """`--vectors` takes an address only if a number follows; a file name that follows is the program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spelled = []
        for word, following in zip(args, [*args[1:], ""], strict=True):
            alone = word == "--vectors" and not following[:1].isdigit()
            spelled.append("--vectors=on" if alone else word)
        return super().parse_args(ctx, spelled)


@command.command(cls=_Run)
@click.argument("file")
@_variant
@click.option("--load", "loads", multiple=True, metavar="FILE@ADDR", help="Put another file into memory.")
@click.option("--raw", is_flag=True, help="FILE is machine code, whatever its bytes look like.")
@click.option("--pc", metavar="ADDR", help="Where to start; by default where the program lies.")
@click.option("--ar", "registers", multiple=True, metavar="aN=VALUE", help="Set an address register first.")
@click.option("--vectors", metavar="[ADDR]", help="Send exceptions to handlers at VECBASE, here set to ADDR.")
@click.option("--spill", type=click.Choice(["builtin", "stop"]), default="builtin", show_default=True)
@click.option("--trace", is_flag=True, help="Print each step's changes.")
@click.option("--max-steps", type=click.IntRange(1), default=10_000_000, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The final state as one JSON object.")
def run(
    file: str,
    variant: str,
    loads: Sequence[str],
    raw: bool,
    pc: str | None,
    registers: Sequence[str],
    vectors: str | None,
    spill: str,
    trace: bool,
    max_steps: int,
    as_json: bool,
) -> None:
    """Run FILE: machine code, hex words as text, or assembly, loaded at 0. `-` is standard input.

    Memory is 16 MiB at 0, the stack pointer a1 starts at its top. Exit code: 0 for HALT, 1 at the step limit, 5 for an
    exception or an unsupported instruction; a classic program's own exit code decides between 0 and 1.
    """
    from gpsimd_core.control import ControlCore

    core = ControlCore(variant, spill=spill, vectors=vectors is not None)
    image = _code(_bytes(file), 0) if raw else _read(file, variant, 0)
    core.load(image)
    for load in loads:
        name, at, address = load.rpartition("@")
        if not at:
            raise UsageError(f"--load {load}: expected FILE@ADDR")
        core.load(_read(name, variant, _number("--load", address)))
    given = dict(_register(text) for text in registers)
    core.start(_number("--pc", pc) if pc else image.base, given.get(1))
    for number, value in given.items():
        core.a[number] = value
    if vectors not in (None, "on"):
        core.sr["vecbase"] = _number("--vectors", str(vectors))
    stop = _traced(core, max_steps, image) if trace else core.run(max_steps)
    _report(core, stop, as_json)
    if stop.reason == "limit":
        click.echo(f"step limit of {max_steps} reached at {stop.pc:#010x}; raise it with --max-steps", err=True)
    sys.exit(0 if stop.reason == "halt" or (stop.reason == "exit" and stop.code == 0) else 1)


@command.command()
@click.argument("file")
@_variant
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Machine code goes here.")
@click.option("--base", default="0", metavar="ADDR", help="Where the program starts.")
def asm(file: str, variant: str, output: Path | None, base: str) -> None:
    """Assemble FILE; without -o, print address, word and text of each instruction."""
    from gpsimd_core.control import assemble

    image = assemble(_text(file), variant, _number("--base", base), name=file)
    if output is None:
        for address, data in image.segments:
            click.echo(_listing(data, address, variant), nl=False)
    else:
        output.write_bytes(image.flat())
        click.echo(f"{len(image.flat())} bytes at {image.base:#x} to {output}", err=True)


@command.command()
@click.argument("file", required=False)
@_variant
@click.option("--words", is_flag=True, help="The arguments are words in hex, not a file.")
@click.argument("more", nargs=-1)
@click.option("--base", default="0", metavar="ADDR", help="Address of the first instruction.")
def dis(file: str | None, variant: str, words: bool, more: Sequence[str], base: str) -> None:
    """Disassemble FILE, or with --words the words given, such as 03eb30 or f01d."""
    if file is None:
        raise UsageError("give a file, or --words and words in hex")
    if more and not words:
        raise UsageError(f"one file at a time; found {' '.join(more)} too")
    address = _number("--base", base)
    data = _words([file, *more], "--words") if words else _bytes(file)
    click.echo(_listing(data, address, variant), nl=False)


def _listing(data: bytes, address: int, variant: str) -> str:
    from gpsimd_core.control import listing

    return listing(data, address, variant)


def _traced(core: ControlCore, max_steps: int, image: Image) -> Stop:
    from gpsimd_core.control.trace import traced
    from gpsimd_core.control.trap import Stop

    labels = {address: name for name, address in image.symbols.items() if address in image.lines}
    for line in traced(core, max_steps, labels):
        if isinstance(line, Stop):
            return line
        click.echo(line)
    raise AssertionError("a trace ends with its stop")


def _report(core: ControlCore, stop: Stop, as_json: bool) -> None:
    state = {f"a{number}": core.a[number] for number in range(16)}
    if as_json:
        special = {name: core.sr[name] for name in ("sar", "lbeg", "lend", "lcount", "ps")}
        facts = {"stop": stop.reason, "code": stop.code, "steps": stop.steps, "pc": stop.pc, "variant": core.variant}
        click.echo(json.dumps(facts | {"registers": state | special, "spills": core.spills, "fills": core.fills}))
        return
    click.echo(str(stop))
    for first in range(0, 16, 4):
        click.echo("  ".join(f"a{number:<2} {state[f'a{number}']:08x}" for number in range(first, first + 4)))
    if core.spills or core.fills:
        click.echo(f"windows: {core.spills} spilled, {core.fills} filled")


def _register(text: str) -> tuple[int, int]:
    name, equals, value = text.partition("=")
    number = name.strip().lower().removeprefix("a")
    if not equals or not number.isdigit() or int(number) > 15:
        raise UsageError(f"--ar {text}: expected a0=VALUE to a15=VALUE")
    return int(number), _number("--ar", value) & 0xFFFFFFFF


def _number(option: str, text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise UsageError(f"{option}: expected a number, found {text!r}") from None


def _bytes(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}") from None


def _text(file: str) -> str:
    try:
        return _bytes(file).decode()
    except UnicodeDecodeError:
        raise BadInput(f"{file}: not text") from None


def _read(file: str, variant: str, base: int) -> Image:
    """A program file: text is assembly or hex words, anything else machine code."""
    from gpsimd_core.control import assemble

    data = _bytes(file)
    if any(byte < 9 for byte in data):
        return _code(data, base)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _code(data, base)
    words = text.split()
    if words and all(_is_word(word) for word in words):
        return _code(_words(words, file), base)
    return assemble(text, variant, base, name=file)


def _code(data: bytes, base: int) -> Image:
    from gpsimd_core.control import Image

    return Image(segments=((base, data),), symbols={}, lines={})


def _is_word(text: str) -> bool:
    return len(text) in (4, 6) and all(letter in "0123456789abcdefABCDEF" for letter in text)


def _words(texts: Sequence[str], where: str) -> bytes:
    data = b""
    for text in texts:
        plain = text.lower().removeprefix("0x")
        if not _is_word(plain):
            raise BadInput(f"{where}: expected a word of 4 or 6 hex digits, found {text!r}")
        data += int(plain, 16).to_bytes(len(plain) // 2, "little")
    return data
