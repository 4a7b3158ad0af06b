"""What the options of `run` that look on mean: traces, watched elements, a breakpoint."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpsimd_core.cli import show
from gpsimd_core.cli.session import Session
from gpsimd_core.errors import UsageError

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore
    from gpsimd_core.program import Program
    from gpsimd_core.schedule import Watcher
    from gpsimd_core.watch import Break, Change, Paused

__all__ = ["breaking", "notice", "tracing", "watching"]


@contextmanager
def tracing(core: NeuronCore, path: str | None, hashes: bool, about: dict[str, Any]) -> Iterator[list[Watcher]]:
    """Record what runs inside; written when it ends, however it ends.

    Raises:
        UsageError: the file cannot be written, or the option has no file.
        BadInput: its form needs a package that is not there.
    """
    if path is None:
        if hashes:
            raise UsageError("--trace-hashes goes with --trace FILE")
        yield []
        return
    from gpsimd_core import tracefile
    from gpsimd_core.trace import Tracer

    target = Path(path)
    tracefile.check_form(target)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as e:
        raise UsageError(f"--trace {path}: cannot write there: {(e.strerror or str(e)).lower()}") from None
    spool = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            tracer = Tracer(core, file, hashes=hashes, about=about)
            try:
                yield [tracer]
            finally:
                file.close()
                tracefile.export(tracefile.read(spool), target)
    finally:
        spool.unlink(missing_ok=True)


def watching(session: Session, core: NeuronCore, program: Program, texts: Sequence[str]) -> list[Watcher]:
    """The watcher of `--watch`.

    Raises:
        UsageError: no such element.
    """
    if not texts:
        return []
    from gpsimd_core.elements import Element
    from gpsimd_core.watch import Watch

    def tell(change: Change) -> None:
        if session.as_json:
            Session.emit(
                {
                    "kind": "watch", "element": change.element, "before": change.before, "after": change.after,
                    "engine": change.engine, "index": change.index, "statement": change.statement,
                }
            )  # fmt: skip
        else:
            click.echo(str(change))

    return [Watch([Element(program, core.memory, t) for t in texts], tell)]


def breaking(session: Session, core: NeuronCore, text: str | None) -> list[Break]:
    """The watcher of `--break`.

    Raises:
        UsageError: no position.
    """
    if text is None:
        return []
    from gpsimd_core.watch import Break, breakpoint_of

    return [Break(core, breakpoint_of(text), lambda paused: _pause(session, paused))]


def _pause(session: Session, paused: Paused) -> bool:
    """Show the state; ask what to do on a terminal, stop elsewhere. True: pause again before the next instruction."""
    from gpsimd_core.watch import Stopped

    rows = paused.summary()
    if session.as_json:
        index, engine = paused.ready.index, paused.engine
        Session.emit({"kind": "break", "engine": engine, "index": index, "statement": paused.statement, **dict(rows)})
        raise Stopped
    show.definitions(rows, indent="")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Stopped
    while True:
        words = click.prompt("step, continue, quit, or name[p,i]", default="step", show_default=False).split()
        word = "".join(words)
        if word and "step".startswith(word):
            return True
        if word and "continue".startswith(word):
            return False
        if word and "quit".startswith(word):
            raise Stopped
        try:
            click.echo(paused.element(word))
        except UsageError as e:
            click.echo(e)


def notice(n: Any) -> dict[str, Any]:
    """A notice as a JSON object."""
    return {"kind": "notice", "about": n.kind, "stream": n.engine or "", "index": n.index, "text": n.text}
