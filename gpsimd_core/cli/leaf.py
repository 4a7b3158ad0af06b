"""`gpsimd leaf`: one value leaf on operands from the command line, and the list of all leaves."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from gpsimd_core.isa.leaves import Leaf
    from gpsimd_core.isa.leaves.names import Slot

__all__ = ["command", "operands"]

_HELP = """Evaluate one value leaf of the Vision-Q7 vector core on bit patterns.

NAME is the full name of the library (radd_nx16_32_512) or the short one (radd_nx16). Without ARGS the leaf is described.

ARGS, in the leaf's order or as name=ARG:

\b
  17, -3         decimal: an integer; for an fp16 or fp32 operand the number (1.5, inf, nan)
  0x3c00         a bit pattern
  rep:V          V in every lane
  a,b,c          lanes, lane 0 first
  @file.npy      an array; its last axis holds the lanes
  lanes:0,3,7    for a predicate word: these lanes, or lanes:all
  RNE            for a rounding mode: RNE RTZ RPI RMI, or the code 0 to 7; RNE when left out
"""


@click.command(help=_HELP, context_settings={"ignore_unknown_options": True})
@click.argument("name", required=False)
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@click.option("--list", "listing", is_flag=True, help="List every leaf: family, lanes, rule, evidence.")
@click.option("--family", metavar="F", help="With --list: this family only.")
@click.option("--compiled", is_flag=True, help="Use the compiled functions instead of the plain ones.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def command(
    name: str | None, args: tuple[str, ...], listing: bool, family: str | None, compiled: bool, as_json: bool
) -> None:
    from gpsimd_core.errors import UsageError
    from gpsimd_core.isa.leaves import find, leaf

    if listing:
        if name is not None:
            raise UsageError(f"--list takes no leaf name; found {name!r}")
        _list(family, as_json)
        return
    if family is not None:
        raise UsageError("--family goes with --list")
    if name is None:
        raise UsageError("a leaf name is needed; `gpsimd leaf --list` shows them all")
    found = find(name)
    if not args:
        _describe(found, as_json)
        return
    call = leaf(name, compiled=compiled)
    given = operands(found, args)
    call.check_lanes(given)
    results = found.compute(given, fast=compiled)
    _show(found, results, as_json)


# Operands ------------------------------------------------------------------------------------------------------------


def operands(leaf: Leaf, args: Iterable[str]) -> dict[str, Any]:
    """Command-line arguments as the operands of a leaf.

    Raises:
        BadValue: too many, given twice, or not readable as what the leaf takes.
        BadInput: an array file that cannot be read.
    """
    from gpsimd_core.errors import BadValue

    names = [slot.name for slot in leaf.args]
    given: dict[str, Any] = {}
    position = 0
    for text in args:
        name, equals, rest = text.partition("=")
        if not (equals and name in names):
            if position >= len(names):
                raise BadValue(f"{leaf.short} takes {len(names)} operands ({', '.join(names)}); {text!r} is one more")
            name, rest = names[position], text
            position += 1
        if name in given:
            raise BadValue(f"{leaf.short}: {name} is given twice")
        given[name] = _operand(leaf, leaf.argument(name), rest)
    missing = [name for name in names if name not in given and not (name == "mode" and leaf.takes_mode)]
    if missing:
        raise BadValue(f"{leaf.short} takes {', '.join(names)}; {missing[0]} is missing")
    return given


def _operand(leaf: Leaf, slot: Slot, text: str) -> Any:
    import numpy as np

    from gpsimd_core.errors import BadValue
    from gpsimd_core.isa.leaves.model import mode_code

    lanes = slot.lanes or (leaf.format.lanes if leaf.format else 0)
    if text.startswith("@"):
        return _array(text[1:])
    if text.startswith("rep:"):
        if not lanes:
            raise BadValue(f"{leaf.short}: {slot.name} is one value; rep: needs lanes")
        return np.array([_number(slot, text[4:])] * lanes, object)
    if text.startswith("lanes:") and slot.word:
        return _lanes(leaf, slot, text[6:])
    if "," in text:
        numbers = [_number(slot, part) for part in text.split(",")]
        if slot.lanes and not slot.flat and len(numbers) != slot.lanes:
            raise BadValue(f"{leaf.short}: {slot.name} has {len(numbers)} lanes; {slot.lanes} are needed")
        if slot.word:
            return np.array([bool(number) for number in numbers])
        return np.array(numbers, np.uint8) if slot.flat else np.array(numbers, object)
    if slot.name == "mode" and text.isalpha():
        return mode_code(text)
    number = _number(slot, text)
    if slot.flat:
        return np.frombuffer((number % (1 << 512)).to_bytes(64, "little"), np.uint8)
    if slot.lanes:
        raise BadValue(f"{leaf.short}: {slot.name} has {slot.lanes} lanes; give rep:{text}, a list or @file.npy")
    return number


def _number(slot: Slot, text: str) -> int:
    """One token as a bit pattern: hex as it is, decimal as a number."""
    import numpy as np

    from gpsimd_core.errors import BadValue

    bits = 512 if slot.flat else slot.bits
    plain = text.strip()
    try:
        if plain.lower().startswith("0x"):
            number = int(plain, 16)
        elif slot.floating:
            with np.errstate(over="ignore"):
                value = np.float64(plain)
                return int(value.astype(f"f{bits // 8}").view(f"u{bits // 8}"))
        else:
            number = int(plain, 10)
    except ValueError:
        kind = f"an fp{bits} number" if slot.floating else "a decimal number"
        raise BadValue(f"{slot.name}: {text!r} is neither {kind} nor 0x and hex digits") from None
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise BadValue(f"{slot.name}: {text} does not fit {bits} bits")
    return number & ((1 << bits) - 1)


def _lanes(leaf: Leaf, slot: Slot, text: str) -> Any:
    import numpy as np

    from gpsimd_core.errors import BadValue

    count = leaf.format.lanes if leaf.format else 0
    if not count:
        raise BadValue(f"{leaf.short}: the lane count of {slot.name} is not known; give the word itself")
    if text == "all":
        return np.ones(count, bool)
    numbers = [part for part in text.split(",") if part]
    if not all(part.isdigit() and int(part) < count for part in numbers):
        raise BadValue(f"{leaf.short}: {slot.name}: {text!r} is no list of lanes 0 to {count - 1}")
    return np.isin(np.arange(count), [int(part) for part in numbers])


def _array(path: str) -> Any:
    import numpy as np

    from gpsimd_core.errors import BadInput

    try:
        return np.load(Path(path), allow_pickle=False)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise BadInput(f"{path}: no .npy array: {error}") from None


# Results -------------------------------------------------------------------------------------------------------------


def _show(leaf: Leaf, results: dict[str, Any], as_json: bool) -> None:
    texts = {slot.name: _hex(slot, results[slot.name]) for slot in leaf.results if slot.name in results}
    if as_json:
        click.echo(json.dumps({"leaf": leaf.name, "results": texts}))
        return
    width = max(len(slot.name) for slot in leaf.results)
    for slot in leaf.results:
        if slot.name not in results:
            click.echo(f"{slot.name:{width}}  not published")
            continue
        text = texts[slot.name]
        if isinstance(text, str):
            meaning = _meaning(slot, results[slot.name], leaf)
            click.echo(f"{slot.name:{width}}  {text if slot.is_flag else f'0x{text}  {meaning}'}")
            continue
        for index, line in enumerate(_lines(text)):
            click.echo(f"{'' if index else slot.name:{width}}  {line}")


def _hex(slot: Slot, array: Any) -> Any:
    """Hex digits of each value, nested as the array is; words of one value joined."""
    import numpy as np

    if slot.words:
        return _joined(np.asarray(array).tolist(), array.ndim - 1, slot.words)
    if slot.flat:
        return _nested(np.ascontiguousarray(array).view(np.uint8).tolist(), 2)
    return _nested(np.asarray(array).tolist(), -(-slot.bits // 4))


def _nested(value: Any, digits: int) -> Any:
    return [_nested(one, digits) for one in value] if isinstance(value, list) else f"{value:0{digits}x}"


def _joined(value: Any, depth: int, words: int) -> Any:
    if depth:
        return [_joined(one, depth - 1, words) for one in value]
    return "".join(f"{word:08x}" for word in reversed(value))


def _meaning(slot: Slot, array: Any, leaf: Leaf) -> str:
    import numpy as np

    values = np.asarray(array)
    if slot.floating:
        return f"{values.view(f'f{values.itemsize}')[()]:.9g}"
    number = int(values) if not slot.words else sum(int(word) << (32 * k) for k, word in enumerate(values))
    if slot.word and leaf.format is not None:
        width = leaf.format.predicate_bits
        lanes = [str(k) for k in range(leaf.format.lanes) if number >> (k * width) & 1]
        return f"lanes {' '.join(lanes) or 'none'}"
    if slot.bits < 8 or number < 1 << (slot.bits - 1):
        return str(number)
    return f"{number - (1 << slot.bits)} signed, {number} unsigned"


def _lines(nested: Any, place: str = "") -> Iterable[str]:
    """Lanes, eight a line, each line with the index of its first lane; batches one after the other."""
    if nested and isinstance(nested[0], list):
        for index, row in enumerate(nested):
            yield from _lines(row, f"{place}[{index}]")
        return
    for start in range(0, len(nested), 8):
        yield f"{place}[{start:2}] {' '.join(nested[start : start + 8])}"


# Descriptions --------------------------------------------------------------------------------------------------------


def _record(leaf: Leaf) -> dict[str, Any]:
    return {
        "name": leaf.name,
        "short": leaf.short,
        "family": leaf.family,
        "lanes": leaf.format.title if leaf.format else None,
        "args": [f"{slot.name}:{slot.type}" for slot in leaf.args],
        "results": [f"{slot.name}:{slot.type}" for slot in leaf.results],
        "rule": leaf.rule,
        "evidence": leaf.confidence,
        "pages": list(leaf.pages),
        "note": leaf.note or None,
        "missing": leaf.missing or None,
    }


def _describe(leaf: Leaf, as_json: bool) -> None:
    from gpsimd_core.isa.leaves import PAGES

    if as_json:
        click.echo(json.dumps(_record(leaf), ensure_ascii=False))
        return
    click.echo(leaf.signature)
    rows = [
        ("name", leaf.name),
        ("family", leaf.family),
        ("lanes", leaf.format.title if leaf.format else "-"),
        ("rule", leaf.rule),
        ("missing", leaf.missing),
        ("note", leaf.note),
        ("evidence", leaf.confidence),
        *(("source", PAGES[tag]) for tag in leaf.pages),
    ]
    for label, text in rows:
        if text:
            click.echo(f"  {label:9} {text}")


def _list(family: str | None, as_json: bool) -> None:
    import sys

    from gpsimd_core.errors import BadValue
    from gpsimd_core.isa.leaves import catalogue

    leaves = list(catalogue().values())
    families = list(dict.fromkeys(leaf.family for leaf in leaves))
    if family is not None and family not in families:
        raise BadValue(f"there is no family {family!r}; families: {', '.join(families)}")
    leaves = [leaf for leaf in leaves if family in (None, leaf.family)]
    if as_json:
        for leaf in leaves:
            click.echo(json.dumps(_record(leaf), ensure_ascii=False))
        return
    if sys.stdout.isatty():
        _table(leaves)
        return
    for leaf in leaves:
        lanes = leaf.format.title if leaf.format else "-"
        rule = f"unsupported: {leaf.missing}" if leaf.missing else leaf.rule
        click.echo(f"{leaf.short}\t{leaf.name}\t{leaf.family}\t{lanes}\t{rule}\t{leaf.confidence}")


def _table(leaves: list[Leaf]) -> None:
    """On a terminal leaves of one rule stand together."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    together: dict[tuple[str, ...], list[Leaf]] = {}
    for leaf in leaves:
        together.setdefault((leaf.family, leaf.rule, leaf.missing, leaf.confidence), []).append(leaf)
    for (family, rule, missing, confidence), members in together.items():
        lanes = dict.fromkeys(leaf.format.title for leaf in members if leaf.format)
        console.print(Text("  ".join(leaf.short for leaf in members), style="bold"))
        if missing:
            console.print(Padding(Text(f"unsupported: {missing}", style="red"), (0, 0, 0, 4)))
        else:
            console.print(Padding(Text(rule), (0, 0, 0, 4)))
        about = " | ".join(part for part in (family, ", ".join(lanes), confidence) if part)
        console.print(Padding(Text(about, style="dim"), (0, 0, 1, 4)))
