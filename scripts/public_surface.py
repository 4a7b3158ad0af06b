"""The public surface as text, one name a line: what docs/compatibility.md promises. Run it to announce a change.

`python scripts/public_surface.py` writes tests/docs/public-surface.txt; a test compares the file with the code.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import attrs
import click

import gpsimd_core as gp
from gpsimd_core import hookspecs, values
from gpsimd_core.cli import VERBS, cli
from gpsimd_core.isa import checks, enums, layout
from gpsimd_core.isa.policies import POLICIES, PROFILES
from gpsimd_core.pipeline import Step
from gpsimd_core.testing import conformance

TARGET = Path(__file__).parents[1] / "tests" / "docs" / "public-surface.txt"


def lines() -> Iterator[str]:
    """Every line of the surface."""
    yield f"api {hookspecs.API}"
    for group in ("GROUP_GENERATIONS", "GROUP_PLUGINS", "GROUP_COMMANDS"):
        yield f"entry points {getattr(hookspecs, group)}"
    for name, hook in sorted(inspect.getmembers(hookspecs, inspect.isfunction)):
        if name.startswith("gpsimd_"):
            yield f"hook {name}{inspect.signature(hook)}"
    for name in values.__all__:
        value = getattr(values, name)
        for field in attrs.fields(value):
            need = "" if field.default is attrs.NOTHING else " with a default"
            yield f"value {name}.{field.name}: {field.type}{need}"
    for name in sorted(gp.__all__):
        found = getattr(gp, name)
        shown = str(inspect.signature(found)) if inspect.isfunction(found) else ""
        yield f"export {name}{shown}"
    yield from (f"layout {name}" for name in sorted(layout.__all__))
    for name in sorted(enums.__all__):
        code = getattr(enums, name)
        members = " ".join(f"{m.name}={int(m)}" for m in code) if inspect.isclass(code) else ""
        yield f"enum {name} {members}".rstrip()
    for name in sorted(checks.__all__):
        check = getattr(checks, name)
        yield f"check {name}{inspect.signature(check) if inspect.isfunction(check) else ''}"
    yield from (f"step {name}" for name in sorted(vars(Step)) if not name.startswith("_"))
    yield from (f"policy {p.name}: {' '.join(p.values)}" for p in POLICIES)
    yield from (f"profile {p.name}" for p in PROFILES)
    yield f"testing conformance{inspect.signature(conformance)}"
    context = click.Context(cli, info_name="gpsimd")
    yield from (f"option {option}" for p in cli.params for option in p.opts if option.startswith("--"))
    for verb in VERBS:
        command = cli.get_command(context, verb)
        if command is not None:
            yield from _verb(command, f"verb {verb}", context)


def _verb(command: click.Command, name: str, context: click.Context) -> Iterator[str]:
    yield name
    shared = {p.name for p in cli.params}
    own = [p for p in command.params if p.name not in shared]
    yield from (f"{name} {option}" for p in own for option in p.opts if option.startswith("--"))
    if isinstance(command, click.Group):
        for sub in command.list_commands(context):
            found = command.get_command(context, sub)
            if found is not None:
                yield from _verb(found, f"{name} {sub}", context)


def text() -> str:
    """The surface as a file holds it."""
    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), "utf-8")
