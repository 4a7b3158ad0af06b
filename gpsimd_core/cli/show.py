"""Tables and paragraphs: fitted to a terminal, plain lines when piped."""

from __future__ import annotations

import io
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
from attrs import frozen

__all__ = [
    "Column",
    "definitions",
    "drawing",
    "heading",
    "is_terminal",
    "paragraph",
    "report",
    "table",
    "waiting",
    "width",
]

ROOM_FOR_TEXT = 30
"""Least width of a last column that wraps, before other columns give way."""
PIPED_WIDTH = 100
"""Where paragraphs wrap when nobody's terminal says; tables are never wrapped then."""


@frozen
class Column:
    """A column of a table.

    `keep` is how dear it is: the least dear are left out where the terminal is too narrow. 0 never goes.
    """

    title: str
    keep: int = 0
    right: bool = False
    style: str | None = None


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def width() -> int:
    """Columns to write in."""
    return shutil.get_terminal_size().columns if is_terminal() else PIPED_WIDTH


@contextmanager
def waiting(text: str, *, on: bool = True) -> Iterator[None]:
    """A sign of life on standard error while something may take long; on a terminal only."""
    if not on or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def heading(text: str) -> None:
    """A line that heads what follows."""
    click.echo(click.style(textwrap.fill(text, max(width(), 40), subsequent_indent="  "), bold=True))


def paragraph(text: str, indent: str = "", first: str | None = None) -> None:
    """Wrapped text."""
    wrapped = textwrap.fill(
        text, max(width(), 40), initial_indent=indent if first is None else first, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    click.echo(wrapped)


def definitions(rows: Sequence[tuple[str, str]], indent: str = "  ") -> None:
    """Terms and what is said of them, the latter in a column of its own."""
    longest = max((len(term) for term, _ in rows), default=0)
    for term, text in rows:
        lead = f"{indent}{term:{longest}}  "
        paragraph(text, " " * len(lead), lead) if text else click.echo(lead.rstrip())


def report(found: object, *, err: bool = False) -> None:
    """A validation report: as it is when piped, wrapped and with its heads in bold on a terminal."""
    stream = sys.stderr if err else sys.stdout
    for line in str(found).splitlines():
        if not stream.isatty():
            click.echo(line, err=err)
            continue
        inner = "      " if line.startswith("  ") else "    "
        wrapped = textwrap.fill(
            line, max(shutil.get_terminal_size().columns, 40), subsequent_indent=inner, break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip
        click.echo(click.style(wrapped, bold=not line.startswith("  ")), err=err)


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """A table. Where it is wider than the terminal the least dear columns go, and the last one wraps."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = is_terminal()
    chosen = _that_fit(columns, rows, width()) if terminal else list(range(len(columns)))
    made = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for i in chosen:
        c = columns[i]
        last = i == chosen[-1]
        made.add_column(
            c.title, justify="right" if c.right else "left", no_wrap=not last or not terminal, style=c.style
        )
    for row in rows:
        made.add_row(*(Text(row[i]) for i in chosen))
    sink = io.StringIO()
    console = Console(
        file=sink, width=width() if terminal else 100_000, force_terminal=terminal, highlight=False, emoji=False
    )
    console.print(made)
    click.echo("\n".join(line.rstrip() for line in sink.getvalue().rstrip("\n").split("\n")))
    hidden = [c.title for i, c in enumerate(columns) if i not in chosen]
    if hidden:
        click.echo(f"(a wider terminal shows {', '.join(hidden)} too)", err=True)


def _that_fit(columns: Sequence[Column], rows: Sequence[Sequence[str]], room: int) -> list[int]:
    sizes = [max([len(c.title), *(len(row[i]) for row in rows)]) for i, c in enumerate(columns)]
    chosen = list(range(len(columns)))
    while True:
        last = chosen[-1]
        needed = sum(sizes[i] + 2 for i in chosen[:-1]) + min(sizes[last], ROOM_FOR_TEXT)
        droppable = [i for i in chosen if columns[i].keep]
        if needed <= room or not droppable:
            return chosen
        chosen.remove(max(droppable, key=lambda i: columns[i].keep))


def drawing(cells: Sequence[tuple[int, int, str]], total: int) -> None:
    """Bytes drawn to scale, in rows of 8 or 16.

    Args:
        cells: (first byte, bytes, label), ascending and without gaps.
        total: bytes.
    """
    room = max(width(), 40) - 5
    per_row = 16 if room >= 16 * 8 else 8
    scale = max(min(room // per_row, 12), 4)
    bar, dash, corners = ("│", "─", ("┌┬┐", "├┼┤", "└┴┘")) if is_terminal() else ("|", "-", ("+++",) * 3)
    top, middle, bottom = (f"     {c[0]}{c[1].join([dash * (scale - 1)] * per_row)}{c[2]}" for c in corners)
    click.echo("     " + "".join(f" {n:<{scale - 1}}" for n in range(per_row)).rstrip())
    click.echo(top)
    for first in range(0, total, per_row):
        line = ""
        for offset, size, label in cells:
            low, high = max(offset, first), min(offset + size, first + per_row)
            if low < high:
                inside = (high - low) * scale - 1
                shown = label if offset >= first else f"({label})"
                line += bar + _shortened(shown, inside)
        click.echo(f"{first:4} {line}{bar}")
        click.echo(middle if first + per_row < total else bottom)


def _shortened(label: str, room: int) -> str:
    mark = "…" if is_terminal() else "~"
    text = label if len(label) <= room else label[: room - 1] + mark
    return f"{text:^{room}}"
