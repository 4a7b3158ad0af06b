"""From what plugins return to a frozen Machine: claims, overrides, clashes, rule books. Knows no plugin manager."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from attrs import mutable

from gpsimd_core.errors import PluginTrouble, UsageError
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

__all__ = ["CORE", "Builder", "typed"]

CORE = "gpsimd-core"
"""Owner of what the core itself brings."""


class Roster(Protocol):
    """The plugins of one machine."""

    generation: str
    titles: dict[str, str]
    """Plugin to its distribution, as messages show it."""
    warnings: list[str]

    def ask(self, hook: str, **args: Any) -> list[tuple[str, Any]]:
        """(plugin, answer) of every plugin that implements a hook."""

    def ask_for(self, hook: str, *kinds: type, **args: Any) -> list[tuple[str, Any]]:
        """(plugin, value) of all values of these kinds that the plugins return from a hook."""


@mutable
class _Claim:
    """A value, who gave it, and under which name it stands in its table."""

    owner: str
    key: str
    value: Any


class Builder:
    """Collects what the plugins of a roster return, settles overrides, reports clashes, freezes the machine.

    Args:
        roster: the plugins that take part.
    """

    def __init__(self, roster: Roster) -> None:
        self.roster = roster
        self.claims: dict[str, list[_Claim]] = defaultdict(list)
        self.problems: list[str] = []

    def build(self, profile: str, overrides: Mapping[str, object], hooks: Hooks) -> Machine:
        """The machine of a profile, with single policies on top of it.

        Raises:
            UsageError: unknown profile, policy or value.
            PluginTrouble: what the plugins say does not fit together; every problem is named.
        """
        gen = self._generation()
        self._collect(gen)
        tables = {kind: self._settle(kind) for kind in list(self.claims)}
        policies, chosen_profile = self._policies(gen, tables, profile, overrides)
        sets = _all_sets(tables.get("set", {}))
        facts = Facts(generation=gen, sets=sets, policies=policies)
        encodings = {e.value.opcode: e.value for e in tables.get("opcode", {}).values()}
        instructions = {c.value.name: c.value for c in tables.get("instruction", {}).values()}
        self._check_names(encodings, tables)
        layouts = self._layouts(gen, encodings, instructions)
        books = self._books(gen, encodings, instructions, layouts, sets, policies)
        engines = {c.value.name: c.value for c in tables.get("engine", {}).values()}
        bindings = self._bindings(encodings, engines, tables)
        activations = self._activations(tables["activation"])
        formats = self._formats(policies)
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
            formats=formats,
            activations=activations,
            facts=facts,
            owners={(kind, c.key): c.owner for kind, table in tables.items() for c in table.values()},
            warnings=tuple(self.roster.warnings),
            hooks=hooks,
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
        ask_for = self.roster.ask_for
        for owner, v in ask_for("gpsimd_sets", NamedSet, gen=gen):
            self._claim("set", owner, v.name, v)
        for owner, v in ask_for("gpsimd_decode", Encoding, gen=gen):
            self._claim("opcode", owner, f"0x{v.opcode:02X}", v)
        for owner, v in ask_for("gpsimd_execute", Instruction, gen=gen):
            self._claim_instruction(owner, v)
        for owner, v in ask_for("gpsimd_engines", Engine, EngineBinding, gen=gen):
            if isinstance(v, Engine):
                self._claim("engine", owner, v.name, v)
            else:
                self._claim("binding", owner, v.instruction, v)
        for a in ACTIVATIONS:
            self._claim("activation", CORE, f"{a.number}", a)
        for owner, v in ask_for("gpsimd_activations", Activation, gen=gen):
            self._claim("activation", owner, f"{v.number}", v)
        for owner, v in [(CORE, p) for p in (*POLICIES, *PROFILES)] + ask_for("gpsimd_policies", Policy, Profile):
            self._claim("policy" if isinstance(v, Policy) else "profile", owner, v.name, v)
        self.extra_rules: list[tuple[str, str, Rule]] = [
            (owner, name, typed(rule, (Rule,), owner))
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
            named = [c for c in claims if c.owner != mine.owner and _called(c, name)]
            hits = [c for c in named if (not getattr(c.value, "overrides", None) if owner == "*" else owner == c.owner)]
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
        for key in dict.fromkeys(c.key for c in claims if c.key not in table):
            rivals = [c for c in claims if c.key == key]
            if all(getattr(c.value, "overrides", None) for c in rivals):
                owners = " and ".join(self._title(c.owner) for c in rivals)
                self.problems.append(f"  {kind} {key}: {owners} override one another, and nothing is left")
        return table

    def _clash(self, kind: str, one: _Claim, two: _Claim) -> None:
        def says(c: _Claim) -> str:
            return f"{self._title(c.owner)} says {getattr(c.value, 'name', None) or c.key}"

        loser = two if two.owner not in (self.roster.generation, CORE) else one
        keeper = one if loser is two else two
        cure = (
            "one of them has to go"
            if one.owner == two.owner
            else f"keep one with --no-plugin {loser.owner}, or set "
            f'overrides="{keeper.owner}:{getattr(keeper.value, "name", None) or keeper.key}" on the row that should win'
        )
        self.problems.append(f"  {kind} {one.key}: {says(one)}, {says(two)}\n    {cure}")

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

    def _check_names(self, encodings: Mapping[int, Encoding], tables: Mapping[str, Mapping[str, _Claim]]) -> None:
        """Every name leads to one opcode, and no row is about an instruction that has none."""
        given = tables.get("instruction", {})
        heard: dict[str, str] = {}
        for opcode, encoding in encodings.items():
            claim = tables["opcode"][f"0x{opcode:02X}"]
            mine = f"0x{opcode:02X} {encoding.name} ({self._title(claim.owner)})"
            aliases = given[encoding.name].value.aliases if encoding.name in given else ()
            for name in dict.fromkeys(n.lower() for n in (encoding.name, *aliases)):
                other = heard.setdefault(name, mine)
                if other is not mine:
                    self.problems.append(f"  name {name}: {other} and {mine} both answer to it")
        known = {c.value.name for c in self.claims["opcode"]}
        for kind in ("instruction", "binding"):
            for name, claim in tables.get(kind, {}).items():
                if name not in known:
                    self.problems.append(
                        f"  {kind} {name}: {self._title(claim.owner)} gives it, but no opcode has that name"
                        f"{suggest(name, known)}"
                    )

    def _check_operands(self, instruction: Instruction, layout: RecordLayout) -> None:
        operands = (*instruction.reads, *instruction.writes)
        wanted: list[tuple[str, str, Mapping[str, Any]]]
        wanted = [(f"operand {o.name} lies at {o.at!r}, which", o.at, layout.by_name) for o in operands]
        wanted += [(f"operand {o.name} has its dtype in {o.dtype!r}, which", o.dtype, layout.leaves) for o in operands]
        told = [f"{text} {layout.name} has not" for text, name, there in wanted if name not in there]
        told += [
            f"immediate {i} is no field of {layout.name}" for i in instruction.immediates if i not in layout.by_name
        ]
        self.problems += [f"  instruction {instruction.name}: {text}" for text in told]

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
            if instruction and declared is instruction.layout:
                self._check_operands(instruction, layouts[opcode])
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
        givers: dict[int, str] = {code: CORE for code, known in formats.items() if known.readable}
        for owner, given in self.roster.ask("gpsimd_formats"):
            for code, fmt in given.items():
                if code in givers:
                    self.problems.append(
                        f"  format 0x{code:02X}: {self._title(owner)} says {fmt.name}, {self._title(givers[code])} says "
                        f"{formats[code].name}; a format can be added, not replaced"
                    )
                    continue
                givers[code], formats[int(code)] = owner, fmt
        return formats


def typed(value: Any, kinds: tuple[type, ...], owner: str) -> Any:
    if not isinstance(value, kinds):
        names = " or ".join(k.__name__ for k in kinds)
        raise PluginTrouble(f"plugin {owner} returned {value!r} where {names} values belong")
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
