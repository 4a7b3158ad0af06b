"""Find plugins, call their hooks once, and build a Machine from what they return.

With `hookspecs.py` the only place that knows pluggy. Whatever goes wrong with plugins is said here: a generation that
does not load, claims that clash, an override of nothing, a plugin for another API.
"""

from __future__ import annotations

import inspect
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy
from attrs import field, frozen, mutable

from gpsimd_core import hookspecs
from gpsimd_core.errors import PluginTrouble, UsageError
from gpsimd_core.hookspecs import API, GROUP_GENERATIONS, GROUP_PLUGINS
from gpsimd_core.isa import enums
from gpsimd_core.isa.activations import ACTIVATIONS
from gpsimd_core.isa.checks import COMMON_RULES
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.layout import Code, RecordLayout
from gpsimd_core.isa.layouts.common import Opaque
from gpsimd_core.isa.policies import POLICIES, PROFILES, resolve
from gpsimd_core.machine import BoundRule, Hooks, Machine, RuleBook, suggest
from gpsimd_core.values import (
    Activation,
    Encoding,
    Engine,
    EngineBinding,
    Evidence,
    Generation,
    Instruction,
    NamedSet,
    Policy,
    Profile,
    Rule,
)

__all__ = ["Found", "generations", "installed", "load"]

CORE = "gpsimd-core"


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
    return _Builder(roster).build(profile, wanted)


class _Roster:
    """The plugins of one machine: one manager, nothing global."""

    def __init__(self, generation: str) -> None:
        self.generation = generation
        self.manager = pluggy.PluginManager("gpsimd")
        self.manager.add_hookspecs(hookspecs)
        self.titles: dict[str, str] = {}
        self.warnings: list[str] = []

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
        there = {f.name: f for f in installed() if f.group == GROUP_PLUGINS}
        if plugins is None:
            allowed = os.environ.get("GPSIMD_PLUGINS")
            names = list(there) if allowed is None else [n.strip() for n in allowed.split(",") if n.strip()]
            plugins = names
        for given in (*plugins, *without):
            if isinstance(given, str) and given not in there:
                raise UsageError(f"no plugin is called {given!r}; installed: {', '.join(there) or 'none'}")
        for given in plugins:
            if isinstance(given, str):
                if given in without:
                    continue
                name, title = given, there[given].distribution
            else:
                name = title = getattr(given, "__name__", type(given).__name__).rpartition(".")[2].lower()
            try:
                self._register(name, title, _import(there[given]) if isinstance(given, str) else given)
            except _DoesNotLoad as e:
                self.warnings.append(f"plugin {name} ({title}) is not used: {e}")

    def _register(self, name: str, title: str, plugin: object) -> None:
        api = getattr(plugin, "GPSIMD_API", None)
        if api != API:
            raise _DoesNotLoad(
                f"it states GPSIMD_API = {api!r}, this core has {API}"
                if api is not None
                else f"it does not state GPSIMD_API = {API}"
            )
        self._refuse_unknown_hooks(plugin)
        try:
            self.manager.register(plugin, name)
        except (pluggy.PluginValidationError, ValueError) as e:
            raise _DoesNotLoad(str(e)) from e
        self.manager.check_pending()
        self.titles[name] = title

    def _refuse_unknown_hooks(self, plugin: object) -> None:
        known = [n for n, _ in inspect.getmembers(hookspecs, inspect.isfunction) if n.startswith("gpsimd_")]
        for attribute in dir(plugin):
            if self.manager.parse_hookimpl_opts(plugin, attribute) is not None and attribute not in known:
                raise _DoesNotLoad(f"it implements {attribute}, which is no hook{suggest(attribute, known)}")

    def ask(self, hook: str, **args: Any) -> list[tuple[str, Any]]:
        """(owner, answer) of every plugin that implements a hook."""
        answers = []
        everyone = [(n, p) for n, p in self.manager.list_name_plugin() if p is not None]
        for name, plugin in everyone:
            others = [p for _, p in everyone if p is not plugin]
            caller = self.manager.subset_hook_caller(hook, remove_plugins=others)
            try:
                for answer in caller(**args):
                    answers.append((name, answer))
            except PluginTrouble:
                raise
            except Exception as e:
                raise PluginTrouble(
                    f"plugin {name} ({self.titles[name]}): {hook} failed: {type(e).__name__}: {e}"
                ) from e
        return answers


class _DoesNotLoad(Exception):
    pass


def _import(found: Found) -> object:
    assert found.entry is not None
    try:
        return found.entry.load()
    except Exception as e:
        raise _DoesNotLoad(f"importing {found.target} failed: {type(e).__name__}: {e}") from e


@mutable
class _Claim:
    """A value, who gave it, and under which name it stands in its table."""

    owner: str
    key: str
    value: Any


class _Builder:
    """Collects what the plugins of a roster return, settles overrides, reports clashes, freezes the machine."""

    def __init__(self, roster: _Roster) -> None:
        self.roster = roster
        self.claims: dict[str, list[_Claim]] = defaultdict(list)
        self.problems: list[str] = []

    def build(self, profile: str, overrides: Mapping[str, object]) -> Machine:
        gen = self._generation()
        self._collect(gen)
        tables = {kind: self._settle(kind) for kind in list(self.claims)}
        policies, chosen_profile = self._policies(gen, tables, profile, overrides)
        sets = _all_sets(tables.get("set", {}))
        facts = Facts(generation=gen, sets=sets, policies=policies)
        encodings = {e.value.opcode: e.value for e in tables.get("opcode", {}).values()}
        instructions = {c.value.name: c.value for c in tables.get("instruction", {}).values()}
        layouts = self._layouts(gen, encodings, instructions)
        books = self._books(gen, encodings, instructions, layouts, sets, policies)
        engines = {c.value.name: c.value for c in tables.get("engine", {}).values()}
        bindings = self._bindings(encodings, engines, tables)
        activations = self._activations(tables["activation"])
        if self.problems:
            count = f"{len(self.problems)} problem{'s' if len(self.problems) > 1 else ''}"
            raise PluginTrouble("\n".join([f"cannot build {gen.name}, {count}:", *self.problems]))
        return Machine(
            generation=gen,
            profile=chosen_profile,
            policies=policies,
            overridden={k: policies[k] for k in overrides},
            opcodes=dict(sorted(encodings.items())),
            layouts=layouts,
            instructions=instructions,
            books=books,
            sets=sets,
            engines=engines,
            bindings=bindings,
            formats=self._formats(policies),
            activations=activations,
            facts=facts,
            owners={(kind, c.key): c.owner for kind, table in tables.items() for c in table.values()},
            warnings=tuple(self.roster.warnings),
            hooks=_hooks(self.roster),
        )

    def _generation(self) -> Generation:
        answers = self.roster.ask("gpsimd_generation")
        if len(answers) != 1:
            who = ", ".join(owner for owner, _ in answers) or "no plugin"
            raise PluginTrouble(f"{self.roster.generation}: {who} answered gpsimd_generation; exactly one plugin must")
        gen: Generation = answers[0][1]
        if gen.name != self.roster.generation:
            raise PluginTrouble(f"plugin {self.roster.generation} says that it is {gen.name}")
        return gen

    def _collect(self, gen: Generation) -> None:
        for owner, values in self.roster.ask("gpsimd_sets", gen=gen):
            for v in values:
                self._claim("set", owner, _typed(v, NamedSet, owner).name, v)
        for owner, values in self.roster.ask("gpsimd_decode", gen=gen):
            for v in values:
                self._claim("opcode", owner, f"0x{_typed(v, Encoding, owner).opcode:02X}", v)
        for owner, values in self.roster.ask("gpsimd_execute", gen=gen):
            for v in values:
                self._claim_instruction(owner, _typed(v, Instruction, owner))
        for owner, values in self.roster.ask("gpsimd_engines", gen=gen):
            for v in values:
                if isinstance(v, Engine):
                    self._claim("engine", owner, v.name, v)
                else:
                    self._claim("binding", owner, _typed(v, EngineBinding, owner).instruction, v)
        for p in (*POLICIES, *PROFILES):
            self._claim("policy" if isinstance(p, Policy) else "profile", CORE, p.name, p)
        for a in ACTIVATIONS:
            self._claim("activation", CORE, f"{a.number}", a)
        for owner, values in self.roster.ask("gpsimd_activations", gen=gen):
            for v in values:
                self._claim("activation", owner, f"{_typed(v, Activation, owner).number}", v)
        for owner, values in self.roster.ask("gpsimd_policies"):
            for v in values:
                self._claim("policy" if isinstance(v, Policy) else "profile", owner, v.name, v)
        self.extra_rules: list[tuple[str, str, Rule]] = [
            (owner, name, rule)
            for owner, by_name in self.roster.ask("gpsimd_validate", gen=gen)
            for name, rules in by_name.items()
            for rule in rules
        ]

    def _claim(self, kind: str, owner: str, key: str, value: Any) -> None:
        self.claims[kind].append(_Claim(owner, key, value))

    def _claim_instruction(self, owner: str, instruction: Instruction) -> None:
        self._claim("instruction", owner, instruction.name, instruction)
        for opcode in instruction.opcodes:
            row = Encoding(
                opcode=opcode, name=instruction.name, layout=instruction.layout, evidence=instruction.evidence,
                overrides=instruction.overrides,
            )  # fmt: skip
            self._claim("opcode", owner, f"0x{opcode:02X}", row)
        if instruction.engine:
            names = (instruction.engine,) if isinstance(instruction.engine, str) else tuple(instruction.engine)
            row2 = EngineBinding(
                instruction=instruction.name, engines=names, evidence=instruction.evidence,
                overrides=instruction.overrides,
            )  # fmt: skip
            self._claim("binding", owner, instruction.name, row2)

    def _settle(self, kind: str) -> dict[str, _Claim]:
        """One claim a key: overrides remove what they name, what is still double is a clash."""
        claims = self.claims[kind]
        removed: set[int] = set()
        for mine in claims:
            target = getattr(mine.value, "overrides", None)
            if not target:
                continue
            owner, _, name = target.partition(":")
            hits = [c for c in claims if c is not mine and _called(c, name) and owner in ("*", c.owner)]
            if not hits:
                self.problems.append(
                    f"  {kind} {mine.key}: {self._title(mine.owner)} overrides {target!r}, which nobody provides"
                )
            removed.update(id(c) for c in hits)
        table: dict[str, _Claim] = {}
        for c in claims:
            if id(c) in removed:
                continue
            other = table.setdefault(c.key, c)
            if other is not c:
                self._clash(kind, other, c)
        return table

    def _clash(self, kind: str, one: _Claim, two: _Claim) -> None:
        def says(c: _Claim) -> str:
            return f"{self._title(c.owner)} says {getattr(c.value, 'name', None) or c.key}"

        loser = two if two.owner != self.roster.generation else one
        keeper = one if loser is two else two
        self.problems.append(
            f"  {kind} {one.key}: {says(one)}, {says(two)}\n"
            f"    keep one with --no-plugin {loser.owner}, or set "
            f'overrides="{keeper.owner}:{getattr(keeper.value, "name", None) or keeper.key}" on the row that should win'
        )

    def _title(self, owner: str) -> str:
        return self.roster.titles.get(owner, owner)

    def _policies(
        self, gen: Generation, tables: Mapping[str, Mapping[str, _Claim]], profile: str, overrides: Mapping[str, object]
    ) -> tuple[dict[str, str | int], str]:
        profiles: dict[str, Profile] = {c.value.name: c.value for c in tables["profile"].values()}
        if profile not in profiles:
            raise UsageError(f"no profile is called {profile!r}; there are {', '.join(sorted(profiles))}")
        rows = [c.value for c in tables["policy"].values()]
        return resolve(rows, profiles[profile], dict(gen.defaults), overrides), profile

    def _layouts(
        self, gen: Generation, encodings: Mapping[int, Encoding], instructions: Mapping[str, Instruction]
    ) -> dict[int, RecordLayout]:
        layouts = {}
        for opcode, encoding in encodings.items():
            instruction = instructions.get(encoding.name)
            declared = encoding.layout or (instruction.layout if instruction else None)
            if instruction and encoding.layout and encoding.layout is not instruction.layout:
                self.problems.append(
                    f"  opcode 0x{opcode:02X}: its encoding has layout {encoding.layout.__name__}, instruction "
                    f"{instruction.name} has {instruction.layout.__name__}"
                )
            layouts[opcode] = (declared or Opaque).variant(gen.features)
        return layouts

    def _books(
        self,
        gen: Generation,
        encodings: Mapping[int, Encoding],
        instructions: Mapping[str, Instruction],
        layouts: Mapping[int, RecordLayout],
        sets: Mapping[str, Any],
        policies: Mapping[str, str | int],
    ) -> dict[str, RuleBook]:
        added = defaultdict(list)
        for owner, name, rule in self.extra_rules:
            if name not in {e.name for e in encodings.values()}:
                self.problems.append(
                    f"  rule {rule.name}: {self._title(owner)} adds it to {name}, which nobody provides"
                )
            added[name].append(rule)
        books = {}
        for opcode, encoding in encodings.items():
            instruction = instructions.get(encoding.name)
            own = instruction.rules if instruction else ()
            rules = (*COMMON_RULES, *own, *added[encoding.name])
            books[encoding.name] = self._book(encoding.name, rules, layouts[opcode], sets, policies["strict"] == "on")
        return books

    def _book(
        self, name: str, rules: tuple[Rule, ...], layout: RecordLayout, sets: Mapping[str, Any], strict: bool
    ) -> RuleBook:
        position: dict[str, int] = {}
        for i, rule in enumerate(rules):
            if rule.name in position:
                self.problems.append(f"  instruction {name}: two rules are called {rule.name}")
            position[rule.name] = i
            for needed in rule.sets:
                if needed not in sets:
                    self.problems.append(
                        f"  instruction {name}: rule {rule.name} looks up set {needed!r}, which nobody provides"
                    )
            for leaf in rule.fields:
                if leaf not in layout.leaves:
                    self.problems.append(
                        f"  instruction {name}: rule {rule.name} reads {leaf!r}, which {layout.name} has not"
                    )
        bound = []
        for rule in rules:
            missing = [n for n in rule.needs if n not in position]
            if missing:
                self.problems.append(
                    f"  instruction {name}: rule {rule.name} needs {missing[0]}, which is no rule of it"
                )
            needs = tuple(position[n] for n in rule.needs if n in position)
            bound.append(BoundRule(rule=rule, needs=needs, warning=rule.warning and not strict))
        order = _in_order(bound)
        if order is None:
            self.problems.append(f"  instruction {name}: its rules need one another in a circle")
            order = ()
        return RuleBook(rules=tuple(bound), order=order)

    def _bindings(
        self,
        encodings: Mapping[int, Encoding],
        engines: Mapping[str, Engine],
        tables: Mapping[str, Mapping[str, _Claim]],
    ) -> dict[str, EngineBinding]:
        rows: dict[str, EngineBinding] = {c.value.instruction: c.value for c in tables.get("binding", {}).values()}
        bindings = {}
        for encoding in encodings.values():
            row = rows.get(encoding.name)
            if row is None:
                row = EngineBinding(
                    instruction=encoding.name, reason="no plugin binds it to an engine",
                    evidence=Evidence(confidence="none", source="none"),
                )  # fmt: skip
            unknown = [e for e in row.engines if e not in engines]
            if unknown:
                self.problems.append(
                    f"  instruction {encoding.name}: bound to engine {unknown[0]!r}; there are {', '.join(engines)}"
                )
            bindings[encoding.name] = row
        return bindings

    def _activations(self, table: Mapping[str, _Claim]) -> dict[int, Activation]:
        by_name: dict[str, _Claim] = {}
        for claim in table.values():
            other = by_name.setdefault(claim.value.name, claim)
            if other is not claim:
                self.problems.append(
                    f"  activation {claim.value.name}: {self._title(other.owner)} gives it number {other.key}, "
                    f"{self._title(claim.owner)} number {claim.key}; each name stands once"
                )
        return {c.value.number: c.value for c in sorted(table.values(), key=lambda c: int(c.value.number))}

    def _formats(self, policies: Mapping[str, str | int]) -> dict[int, Any]:
        from gpsimd_core.isa.dtypes import wire_formats

        formats = dict(wire_formats(policies))
        for _, given in self.roster.ask("gpsimd_formats"):
            formats.update({int(code): f for code, f in given.items()})
        return formats


def _typed(value: Any, kind: type, owner: str) -> Any:
    if not isinstance(value, kind):
        raise PluginTrouble(f"plugin {owner} returned {value!r} where {kind.__name__} values belong")
    return value


def _called(claim: _Claim, name: str) -> bool:
    return name in (claim.key, getattr(claim.value, "name", None))


def _all_sets(table: Mapping[str, _Claim]) -> dict[str, frozenset[Any]]:
    """The plugin's sets, and for every enumeration that none narrows the set of all its members."""
    sets: dict[str, frozenset[Any]] = {}
    for name in enums.__all__:
        code = getattr(enums, name)
        if issubclass(code, Code):
            sets[code.set_name()] = frozenset(code)
    sets.update({name: c.value.members for name, c in table.items()})
    return sets


def _in_order(rules: Sequence[BoundRule]) -> tuple[int, ...] | None:
    """Positions so that every rule comes after those it needs; None where that is impossible."""
    order: list[int] = []
    waiting = list(range(len(rules)))
    while waiting:
        ready = [i for i in waiting if all(n in order for n in rules[i].needs)]
        if not ready:
            return None
        order += ready
        waiting = [i for i in waiting if i not in ready]
    return tuple(order)


def _hooks(roster: _Roster) -> Hooks:
    hook = roster.manager.hook

    def observers(machine: Machine) -> tuple[Callable[[Any], None], ...]:
        return tuple(o for answer in hook.gpsimd_observers(machine=machine) for o in answer)

    def blobs(gen: Generation) -> tuple[Any, ...]:
        answers: Iterable[Iterable[Any]] = hook.gpsimd_blobs(gen=gen)
        return tuple(b for answer in answers for b in answer)

    return Hooks(
        load_program=lambda data, name, machine: hook.gpsimd_load_program(data=data, name=name, machine=machine),
        observers=observers,
        run=lambda core, program: hook.gpsimd_run(core=core, program=program),
        blobs=blobs,
    )
