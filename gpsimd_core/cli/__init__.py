"""The command `gpsimd`: verbs, common options and exit codes. A verb's module is imported when the verb is invoked.

Exit codes: 0 yes; 1 the answer is no; 2 usage; 3 unreadable input; 4 plugin trouble; 5 an execution fault; 70 our bug.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from gpsimd_core.cli.session import Session, common_options, offer_common_options
from gpsimd_core.errors import GpsimdError, PluginTrouble

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["VERBS", "cli", "commands_of_plugins", "main"]

OUR_BUG = 70
GROUP_COMMANDS = "gpsimd.commands"

# Verb and help line, in the order of `gpsimd --help`; the module is `gpsimd_core.cli.<verb>`.
VERBS = {
    "gens": "Hardware generations: memory, counts, what is special.",
    "ops": "Opcodes of a generation, and what can be done with each.",
    "dtypes": "Element dtypes of a generation.",
    "plugins": "Installed plugins, and whether they load.",
    "explain": "One instruction: layout, rules, semantics, evidence.",
    "example": "Write a program with its tensors, ready to run.",
    "run": "Run a program on tensors and write its outputs.",
    "validate": "Check every rule on every record of a program.",
    "decode": "Print the records of a program as assembly text.",
    "asm": "Assemble text into records.",
    "diff": "Run one program on several generations and compare.",
    "leaf": "Evaluate a value leaf of the vector core.",
    "vectors": "Check or make golden vectors.",
    "blobs": "The device-blob catalogue, and a real library file against it.",
    "control": "The scalar control core: run, assemble, disassemble.",
    "new-plugin": "Write a ready plugin distribution.",
}


def entry_points(group: str) -> Iterable[EntryPoint]:
    """Installed entry points of a group. Importing their reader takes as long as all of `gpsimd --help` without it."""
    from importlib.metadata import entry_points

    return entry_points(group=group)


def _bring_commands() -> bool:
    """Whether some installed distribution may bring verbs, by a look at the metadata folders on the path."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                try:
                    with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                        if GROUP_COMMANDS.encode() in file.read():
                            return True
                except OSError:
                    continue
    return False


def commands_of_plugins() -> dict[str, EntryPoint]:
    """Verbs that other distributions bring, by name; imports none of them."""
    found = sorted(entry_points(group=GROUP_COMMANDS), key=lambda e: (e.name, e.dist.name if e.dist else ""))
    return {e.name: e for e in reversed(found) if e.name not in VERBS}


def _module(verb: str) -> str:
    return f"{__name__}.{verb.replace('-', '_')}"


class _ReaderGone(Exception):
    """Whoever read standard output has seen enough."""


def _ours() -> list[str]:
    """The core's own verbs, as far as their modules are there."""
    return [verb for verb in VERBS if find_spec(_module(verb)) is not None]


def _near(name: str, known: Sequence[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, known)
    return f"; did you mean {' or '.join(close)}?" if close else f"; there are {', '.join(known)}"


class _Verbs(click.Group):
    """Verbs by name, imported when invoked."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_ours(), *sorted(commands_of_plugins())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = self._load(cmd_name)
        if command is not None:
            ctx.default_map = {cmd_name: offer_common_options(command, ctx.params)}
        return command

    def _load(self, name: str) -> click.Command | None:
        if name in VERBS:
            if find_spec(_module(name)) is None:
                return None
            module = __import__(_module(name), fromlist=["command"])
            return module.command  # type: ignore[no-any-return]
        entry = commands_of_plugins().get(name)
        if entry is None:
            return None
        title = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown distribution"
        try:
            command = entry.load()
        except Exception as e:
            why = f"importing {entry.value} failed: {type(e).__name__}: {e}"
            raise PluginTrouble(f"verb {name} of {title} does not load: {why}") from e
        if not isinstance(command, click.Command):
            raise PluginTrouble(f"verb {name} of {title} does not load: {entry.value} is no click command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in _ours():
            known = self.list_commands(ctx)  # looks plugins' verbs up, which ours need not wait for
            if args[0] not in known:
                raise click.UsageError(f"no verb is called {args[0]!r}{_near(args[0], known)}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as e:
            raise _ReaderGone from e  # click would end the process on the error itself

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        plugins = commands_of_plugins() if _bring_commands() else {}
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, VERBS[verb]) for verb in _ours()])
        if plugins:
            rows = [(name, f"from {e.dist.name if e.dist else e.value}") for name, e in sorted(plugins.items())]
            with formatter.section("Verbs of plugins"):
                formatter.write_dl(rows)


def _root(**given: Any) -> None:
    ctx = click.get_current_context()
    session = Session()
    session.take(given)
    ctx.obj = session


cli = _Verbs(
    name="gpsimd",
    callback=_root,
    params=[*common_options()],
    help="Decode, validate and execute TPB instruction bundles, bit for bit, for any hardware generation.",
    epilog="The options above stand before or after the verb. `gpsimd VERB --help` tells more.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
cli = click.version_option(package_name="gpsimd-core", message="gpsimd %(version)s")(cli)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        args: words after `gpsimd`; those of the process if None.

    Returns:
        The exit code. Nothing that a user can cause raises.
    """
    for stream in (sys.stdout, sys.stderr):  # sources have titles that not every terminal can spell
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower() not in ("utf-8", "utf8"):
            stream.reconfigure(errors="replace")
    try:
        found = cli.main(args=None if args is None else list(args), prog_name="gpsimd", standalone_mode=False)
        sys.stdout.flush()
        return found if isinstance(found, int) else 0
    except click.ClickException as e:
        e.show()
        return e.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("gpsimd: stopped", err=True)
        return 130
    except GpsimdError as e:
        click.echo(f"gpsimd: {e}", err=True)
        return e.exit_code
    except (BrokenPipeError, _ReaderGone):
        # The reader of a pipe has seen enough; what is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as e:
        return _our_bug(e)


def _our_bug(e: Exception) -> int:
    if os.environ.get("GPSIMD_DEBUG") == "1":
        import traceback

        traceback.print_exception(e)
    else:
        click.echo(
            f"gpsimd: internal error: {type(e).__name__}: {e}\n"
            "This is a defect of gpsimd. Please report it with the command that you gave and the output of\n"
            "the same command under GPSIMD_DEBUG=1.",
            err=True,
        )
    return OUR_BUG
