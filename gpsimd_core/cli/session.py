"""What the common options say, for the verb that runs. Importing this imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from gpsimd_core.errors import UsageError

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["Session", "common_options", "offer_common_options"]


class Session:
    """The common options of one call.

    Attributes:
        gen: the generation that `--gen` names, or None.
        profile, policies, strict, without: what `load` takes.
        as_json: one JSON object a line on standard output.
        manifest: TOML file of a program without text, or None.
        max_elements: most elements of a channel, or None for the core's own limit.
    """

    def __init__(self) -> None:
        self.gen: str | None = None
        self.profile = "reference"
        self.policies: dict[str, str] = {}
        self.strict = False
        self.without: tuple[str, ...] = ()
        self.as_json = False
        self.manifest: str | None = None
        self.max_elements: int | None = None
        self._machines: dict[str, Machine] = {}

    def take(self, given: Mapping[str, Any]) -> None:
        """Take in options by parameter name, as far as they were given; what comes later wins.

        Raises:
            UsageError: a policy that does not read KEY=VALUE.
        """
        for name in ("gen", "profile", "manifest", "max_elements"):
            if given.get(name) is not None:
                setattr(self, name, given[name])
        self.strict |= bool(given.get("strict"))
        self.as_json |= bool(given.get("as_json"))
        self.without += tuple(given.get("no_plugin") or ())
        for text in given.get("policy") or ():
            key, equals, value = text.partition("=")
            if not equals or not key or not value:
                raise UsageError(f"--policy takes KEY=VALUE, not {text!r}")
            self.policies[key] = value

    def generation(self, declared: str | None = None) -> str:
        """The generation to use: `--gen`, else what the program declares, else the default."""
        from gpsimd_core.host import default_generation

        return self.gen or declared or default_generation()

    def machine(self, declared: str | None = None) -> Machine:
        """The machine that the options ask for. Plugins that do not load are warnings.

        Raises:
            UsageError: unknown generation, profile or policy.
            PluginTrouble: the generation does not load, or plugins clash.
        """
        name = self.generation(declared)
        if declared and self.gen and self.gen != declared:
            self.say(f"note: the program says .gen {declared}; --gen {self.gen} beats it")
        if name not in self._machines:
            from gpsimd_core.host import load

            machine = load(name, self.profile, self.policies, without=self.without, strict=self.strict)
            for warning in machine.warnings:
                self.warn(warning)
            self._machines[name] = machine
        return self._machines[name]

    @staticmethod
    def emit(value: Mapping[str, Any]) -> None:
        """One JSON object on a line of standard output."""
        import json

        click.echo(json.dumps(value, ensure_ascii=False))

    @staticmethod
    def say(text: str) -> None:
        """Talk, on standard error."""
        click.echo(text, err=True)

    @classmethod
    def warn(cls, text: str) -> None:
        """A warning, on standard error."""
        cls.say(f"warning: {text}")


def common_options() -> list[click.Option]:
    """The options that every verb takes, before it or after it."""
    return [
        click.Option(
            ["--gen"],
            metavar="NAME",
            help="Hardware generation (GPSIMD_GEN, else cayman, else the first installed); see `gens`.",
        ),
        click.Option(["--profile"], metavar="NAME", help="Bundle of policies: reference (default) or nki."),
        click.Option(["--policy"], metavar="KEY=VALUE", multiple=True, help="One policy; see `gens NAME`. Repeatable."),
        click.Option(["--strict"], is_flag=True, help="Warnings become violations or faults."),
        click.Option(["--no-plugin"], metavar="NAME", multiple=True, help="Leave a plugin out. Repeatable."),
        click.Option(["--json", "as_json"], is_flag=True, help="One JSON object a line on standard output."),
        click.Option(["--manifest"], metavar="FILE", help="TOML file with the tensors of a .bin program."),
        click.Option(
            ["--max-elements"], metavar="N", type=click.IntRange(min=1), help="Most elements of a channel (2^24)."
        ),
    ]


def offer_common_options(command: click.Command, given: Mapping[str, Any]) -> dict[str, Any]:
    """Let a verb, and the verbs below it, take the common options too.

    A verb that declares an option of the same name keeps its own.

    Args:
        command: changed in place.
        given: what stood before the verb.

    Returns:
        Defaults for such own options, by parameter name, nested by verb: what stood before the verb.
    """
    defaults: dict[str, Any] = {}
    own = {opt: p for p in command.params if isinstance(p, click.Option) for opt in p.opts}
    for option in common_options():
        clash = own.get(option.opts[0])
        if clash is not None and clash.expose_value and clash.name:
            if given.get(option.name or ""):
                defaults[clash.name] = given[option.name or ""]
        elif clash is None:
            option.hidden, option.expose_value, option.callback = True, False, _take
            command.params.append(option)
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            nested = offer_common_options(below, given)
            if nested:
                defaults[name] = nested
    elif command.epilog is None:
        command.epilog = "Common options, such as --gen and --json, stand before or after the verb: gpsimd --help."
    return defaults


def _take(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    session = ctx.find_object(Session)
    if session is not None and param.name:
        session.take({param.name: value})
    return value
