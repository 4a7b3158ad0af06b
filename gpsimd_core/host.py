"""Find plugins, call their hooks once, and have a Machine built from what they return.

With `hookspecs.py` the only place that knows pluggy. What goes wrong with a plugin as such is said here: a generation
that does not load, a plugin for another API, a misspelt hook. What does not fit together is said by `builder.py`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy
from attrs import field, frozen

from gpsimd_core import hookspecs
from gpsimd_core.builder import CORE, Builder, typed
from gpsimd_core.errors import GpsimdError, PluginTrouble, UsageError
from gpsimd_core.hookspecs import API, GROUP_GENERATIONS, GROUP_PLUGINS
from gpsimd_core.machine import Hooks, Machine, suggest
from gpsimd_core.values import Generation

__all__ = ["Found", "default_generation", "generations", "installed", "load"]

DEFAULT_GENERATION = "cayman"


@frozen(kw_only=True)
class Found:
    """An installed plugin, not yet imported."""

    name: str
    group: str
    distribution: str
    target: str
    entry: EntryPoint | None = field(default=None, eq=False, repr=False)


def generations() -> tuple[str, ...]:
    """Names of the installed generations, sorted. Imports none of them."""
    return tuple(sorted({e.name for e in entry_points(group=GROUP_GENERATIONS)}))


def default_generation() -> str:
    """What is used where nobody names a generation: GPSIMD_GEN, else cayman, else the first installed."""
    named = os.environ.get("GPSIMD_GEN")
    if named:
        return named
    there = generations()
    return there[0] if there and DEFAULT_GENERATION not in there else DEFAULT_GENERATION


def installed() -> tuple[Found, ...]:
    """Every installed generation and third-party plugin. Imports none of them."""
    rows = []
    for group in (GROUP_GENERATIONS, GROUP_PLUGINS):
        for e in sorted(entry_points(group=group), key=lambda e: e.name):
            dist = f"{e.dist.name} {e.dist.version}" if e.dist else "?"
            rows.append(Found(name=e.name, group=group, distribution=dist, target=e.value, entry=e))
    return tuple(rows)


def load(
    name: str,
    profile: str = "reference",
    policies: Mapping[str, object] | None = None,
    plugins: Sequence[object] | None = None,
    without: Sequence[str] = (),
    strict: bool = False,
) -> Machine:
    """Build the machine of a generation.

    Args:
        name: a name of `generations()`.
        profile: `reference` or `nki`, or one that a plugin brings.
        policies: values of single policies, on top of the profile.
        plugins: third-party plugins to use, by name or as objects; None means all installed ones, as far as the
            environment variable GPSIMD_PLUGINS (a comma-separated list of names) allows.
        without: names of third-party plugins to leave out.
        strict: short for the policy `strict`.

    Raises:
        UsageError: unknown generation, profile, policy or value.
        PluginTrouble: the generation does not load, or plugins clash.
    """
    roster = _Roster(name)
    roster.add_generation()
    roster.add_third_parties(plugins, without)
    wanted = dict(policies or {})
    if strict:
        wanted["strict"] = "on"
    return Builder(roster).build(profile, wanted, _hooks(roster))


class _Roster:
    """The plugins of one machine: one manager, nothing global."""

    def __init__(self, generation: str) -> None:
        self.generation = generation
        self.manager = pluggy.PluginManager("gpsimd")
        self.manager.add_hookspecs(hookspecs)
        self.titles: dict[str, str] = {}
        self.warnings: list[str] = []
        self._callers: dict[str, list[tuple[str, Callable[..., Any]]]] = {}

    def add_generation(self) -> None:
        found = [f for f in installed() if f.group == GROUP_GENERATIONS and f.name == self.generation]
        if not found:
            there = ", ".join(generations()) or "none: install a generation plugin, for example gpsimd-cayman"
            raise UsageError(f"no generation is called {self.generation!r}; installed: {there}")
        if len(found) > 1:
            titles = ", ".join(f.distribution for f in found)
            raise PluginTrouble(
                f"generation {self.generation} is offered by several distributions: {titles}; uninstall one"
            )
        try:
            self._register(found[0].name, found[0].distribution, _import(found[0]))
        except _DoesNotLoad as e:
            raise PluginTrouble(f"generation {self.generation} ({found[0].distribution}) does not load: {e}") from e

    def add_third_parties(self, plugins: Sequence[object] | None, without: Sequence[str]) -> None:
        there: dict[str, list[Found]] = defaultdict(list)
        for found in installed():
            if found.group == GROUP_PLUGINS:
                there[found.name].append(found)
        allowed = os.environ.get("GPSIMD_PLUGINS")
        everybody = plugins is None and allowed is None
        if plugins is None:
            plugins = list(there) if allowed is None else [n.strip() for n in allowed.split(",") if n.strip()]
        for given in (*plugins, *without):
            if isinstance(given, str) and given not in there:
                raise UsageError(f"no plugin is called {given!r}; installed: {', '.join(there) or 'none'}")
        for given in plugins:
            if isinstance(given, str):
                if given not in without:
                    title = ", ".join(f.distribution for f in there[given])
                    self._add(given, title, functools.partial(_only, there[given]), unasked=everybody)
            else:
                name = self._name_of(given)
                self._add(name, name, functools.partial(_itself, given))

    def _add(self, name: str, title: str, find: Callable[[], object], *, unasked: bool = False) -> None:
        """Take in a third-party plugin; one that does not load is a warning."""
        try:
            plugin = find()
            if not (unasked and getattr(plugin, "GPSIMD_ON_REQUEST", False)):
                self._register(name, title, plugin)
        except _DoesNotLoad as e:
            self.warnings.append(f"plugin {name} ({title}) is not used: {e}")

    def _name_of(self, plugin: object) -> str:
        name = getattr(plugin, "__name__", type(plugin).__name__).rpartition(".")[2].lower()
        taken = sum(1 for n in self.titles if n.partition("#")[0] == name)
        return f"{name}#{taken + 1}" if taken else name

    def _register(self, name: str, title: str, plugin: object) -> None:
        api = getattr(plugin, "GPSIMD_API", None)
        if api != API:
            raise _DoesNotLoad(
                f"it states GPSIMD_API = {api!r}, this core has {API}"
                if api is not None
                else f"it does not state GPSIMD_API = {API}"
            )
        self._refuse_unknown_hooks(plugin)
        if self.manager.has_plugin(name):
            raise _DoesNotLoad(f"another plugin is called {name} already")
        try:
            self.manager.register(plugin, name)
        except (pluggy.PluginValidationError, ValueError) as e:
            if self.manager.has_plugin(name):
                self.manager.unregister(name=name)
            raise _DoesNotLoad(str(e).replace("\n", " ")) from e
        self.titles[name] = title
        self._callers.clear()

    def _refuse_unknown_hooks(self, plugin: object) -> None:
        known = [n for n, _ in inspect.getmembers(hookspecs, inspect.isfunction) if n.startswith("gpsimd_")]
        for attribute in dir(plugin):
            options = self.manager.parse_hookimpl_opts(plugin, attribute)
            hook = (options.get("specname") or attribute) if options is not None else None
            if hook is not None and hook not in known:
                raise _DoesNotLoad(f"it implements {hook}, which is no hook{suggest(hook, known)}")

    def ask(self, hook: str, **args: Any) -> list[tuple[str, Any]]:
        """(owner, answer) of every plugin that implements a hook."""
        if hook not in self._callers:
            self._callers[hook] = list(self._one_by_one(hook))
        answers = []
        for name, caller in self._callers[hook]:
            with self._blaming(name, hook):
                found = caller(**args)
                answers += [(name, answer) for answer in (found if isinstance(found, list) else [found])]
        return [(name, answer) for name, answer in answers if answer is not None]

    def _one_by_one(self, hook: str) -> Iterator[tuple[str, Callable[..., Any]]]:
        """A caller for each plugin that implements a hook."""
        asked = [i.plugin for i in getattr(self.manager.hook, hook).get_hookimpls()]
        everyone = [(n, p) for n, p in self.manager.list_name_plugin() if p is not None]
        for name, plugin in everyone:
            if plugin in asked:
                others = [p for _, p in everyone if p is not plugin]
                yield name, self.manager.subset_hook_caller(hook, remove_plugins=others)

    def ask_for(self, hook: str, *kinds: type, **args: Any) -> list[tuple[str, Any]]:
        """(owner, value) of all values of these kinds that the plugins return from a hook."""
        values = []
        for name, answer in self.ask(hook, **args):
            with self._blaming(name, hook):
                values += [(name, typed(value, kinds, name)) for value in answer]
        return values

    @contextlib.contextmanager
    def _blaming(self, name: str, hook: str) -> Iterator[None]:
        try:
            yield
        except GpsimdError:
            raise
        except Exception as e:
            title = self.titles.get(name, name)
            raise PluginTrouble(f"plugin {name} ({title}): {hook} failed: {type(e).__name__}: {e}") from e


class _DoesNotLoad(Exception):
    pass


def _itself(plugin: object) -> object:
    return plugin


def _only(found: Sequence[Found]) -> object:
    """The object of the one distribution that offers a plugin."""
    if len(found) > 1:
        raise _DoesNotLoad("several distributions offer it; uninstall all but one")
    return _import(found[0])


def _import(found: Found) -> object:
    assert found.entry is not None
    try:
        return found.entry.load()
    except Exception as e:
        raise _DoesNotLoad(f"importing {found.target} failed: {type(e).__name__}: {e}") from e


class _CoreRun:
    """The innermost implementation of `gpsimd_run`: the core itself, around which plugins wrap."""

    @hookspecs.hookimpl(trylast=True)
    def gpsimd_run(self, core: Any, program: Any) -> Any:
        return core.execute(program)


def _hooks(roster: _Roster) -> Hooks:
    manager = roster.manager
    manager.register(_CoreRun(), f"{CORE}:run")
    wrapped = len(manager.hook.gpsimd_run.get_hookimpls()) > 1
    run = manager.hook.gpsimd_run if wrapped else _CoreRun().gpsimd_run

    def observers(machine: Machine) -> tuple[Callable[[Any], None], ...]:
        return tuple(o for _, o in roster.ask_for("gpsimd_observers", Callable, machine=machine))  # type: ignore[arg-type]

    def blobs(gen: Generation) -> tuple[Any, ...]:
        return tuple(b for _, b in roster.ask_for("gpsimd_blobs", object, gen=gen))

    return Hooks(
        load_program=lambda data, name, machine: manager.hook.gpsimd_load_program(
            data=data, name=name, machine=machine
        ),
        observers=observers,
        run=lambda core, program: run(core=core, program=program),
        blobs=blobs,
    )
