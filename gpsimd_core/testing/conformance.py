"""The conformance suite: what every plugin's instructions must hold, as one parametrized test."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve, frozen

from gpsimd_core.cli.status import status
from gpsimd_core.errors import GpsimdError, PluginTrouble
from gpsimd_core.machine import Machine
from gpsimd_core.values import Instruction

if TYPE_CHECKING:
    from gpsimd_core.testing.running import Bench

__all__ = ["Subject", "conformance"]

Records = Callable[[Machine, str], Iterable[bytes]]
"""(machine, instruction) -> further legal records."""
Excuses = Mapping[tuple[str, str], str]
"""(instruction, rule) that no record breaks alone -> why not. `*` stands for every instruction."""


def conformance(
    plugin: object,
    *,
    vectors: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    records: Records | None = None,
    never_alone: Excuses | Callable[[Machine], Excuses] | None = None,
    without_vectors: Mapping[str, str] | None = None,
) -> Callable[..., None]:
    """A test that judges a plugin; bind it to a name that starts with `test_`.

    It judges the instructions that the plugin gives: a third party's on the generations of `--gen`, those of a
    generation plugin on that generation.

    Args:
        plugin: name of an installed plugin or generation, or a plugin object.
        vectors: files of worked examples (`[[example]]`, schema 2), or folders of such files.
        records: further legal records from which rules are broken and kernels run, beside those of the vectors.
        never_alone: rules that cannot be broken alone, with the reason.
        without_vectors: instructions that execute and have no vectors, with the reason.

    Returns:
        A pytest test with one item for each check.
    """
    from gpsimd_core.testing import declared, running

    checks = {**declared.CHECKS, **running.CHECKS}
    files = _files([vectors] if isinstance(vectors, (str, PathLike)) else vectors)

    @functools.cache
    def subject(generation: str) -> Subject:
        return Subject(
            plugin=plugin, generation=generation, files=files, records=records, never_alone=never_alone or {},
            without_vectors=without_vectors or {},
        )  # fmt: skip

    def test(check: str, generation: str) -> None:
        judged = subject(generation)
        problems = checks[check](judged)
        if problems:
            shown = "\n".join(f"  {problem}" for problem in problems)
            pytest.fail(f"{judged.title}, {check.replace('_', ' ')}:\n{shown}", pytrace=False)

    test.__doc__ = f"Conformance of {plugin}."
    marked = pytest.mark.parametrize("check", list(checks))(test)
    if isinstance(plugin, str) and plugin in _generations():
        marked = pytest.mark.parametrize("generation", [plugin])(marked)
    return marked


def _generations() -> tuple[str, ...]:
    from gpsimd_core.host import generations

    return generations()


def _files(given: Sequence[str | PathLike[str]]) -> tuple[Path, ...]:
    found = []
    for path in map(Path, given):
        found += sorted(path.glob("*.toml")) if path.is_dir() else [path]
    return tuple(found)


@frozen(kw_only=True, eq=False)
class Subject:
    """A plugin on one generation, with all that its author says about it."""

    plugin: object
    generation: str
    files: tuple[Path, ...]
    records: Records | None
    never_alone: Excuses | Callable[[Machine], Excuses]
    without_vectors: Mapping[str, str]

    @property
    def title(self) -> str:
        """What is judged, for messages."""
        name = self.plugin if isinstance(self.plugin, str) else type(self.plugin).__name__
        return f"{name} on {self.generation}"

    @functools.cached_property
    def trouble(self) -> str:
        """Why no machine can be built with the plugin; empty where one can."""
        try:
            built = self.load()
        except PluginTrouble as e:
            return str(e)
        return "; ".join(built.warnings)

    def load(self, profile: str = "reference", policies: Mapping[str, object] | None = None) -> Machine:
        """A machine with the plugin and no other third party's."""
        from gpsimd_core.host import load

        plugins = [] if self.plugin == self.generation else [self.plugin]
        return load(self.generation, profile, policies, plugins=plugins)

    @functools.cached_property
    def machine(self) -> Machine:
        """The machine with the plugin; a test that needs it is skipped where there is none."""
        if self.trouble:
            pytest.skip("no machine can be built; the first check says why")
        return self.load()

    @functools.cached_property
    def owner(self) -> str:
        """The name under which the machine knows the plugin."""
        if isinstance(self.plugin, str):
            return self.plugin
        others = set(self.machine.owners.values()) - {self.generation, "gpsimd-core"}
        return next(iter(others), "")

    @functools.cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """What the plugin gives and the generation declares an opcode for."""
        declared = {e.name for e in self.machine.opcodes.values()}
        mine = [key for (kind, key), who in self.machine.owners.items() if kind == "instruction" and who == self.owner]
        if not mine:
            pytest.skip(f"{self.owner or self.plugin} gives no instruction on {self.generation}")
        return tuple(self.machine.instructions[name] for name in sorted(mine) if name in declared)

    @property
    def executing(self) -> tuple[Instruction, ...]:
        """Those of them that execute."""
        return tuple(i for i in self.instructions if self.executes(self.machine.opcode_of(i.name)))

    def executes(self, opcode: int) -> bool:
        """Whether the generation executes an opcode."""
        return opcode in self.machine.opcodes and status(self.machine, opcode)[0] == "executes"

    @functools.cached_property
    def excuses(self) -> Excuses:
        """Rules that cannot be broken alone here, with the reasons."""
        return self.never_alone(self.machine) if callable(self.never_alone) else self.never_alone

    @functools.cached_property
    def examples(self) -> tuple[tuple[Path, Any], ...]:
        """(file, example as read) of every vector whose steps all execute here.

        Raises:
            GpsimdError: a file cannot be read.
        """
        from gpsimd_core.vectors.strict import load

        found = []
        for file in self.files:
            _, content = load(file)
            for example in content.get("example", ()):
                opcodes = [int(step.get("opcode", -1)) for step in example.get("step", ())]
                if all(self.executes(opcode) for opcode in opcodes):
                    found.append((file, example))
        return tuple(found)

    @functools.cached_property
    def run(self) -> tuple[tuple[str, Any, tuple[bytes, ...]], ...]:
        """(title, outcome or error, records that ran) of every vector."""
        from gpsimd_core.vectors import check_vectors

        found = []
        for file, example in self.examples:
            ran: list[bytes] = []

            def watched(profile: str, policies: Mapping[str, Any], ran: list[bytes] = ran) -> Machine:
                machine = self.load(profile, policies)

                def run(core: Any, program: Any) -> Any:
                    ran.append(bytes(program))
                    return machine.hooks.run(core, program)

                return evolve(machine, hooks=evolve(machine.hooks, run=run))

            outcome: Any
            try:
                outcome = check_vectors({"schema": 2, "example": [example]}, machine_loader=watched).outcomes[0]
            except GpsimdError as e:
                outcome = e
            found.append((f"{file.name}: {example.get('id', '?')}", outcome, tuple(ran)))
        return tuple(found)

    @functools.cached_property
    def bench(self) -> Bench:
        """A core full of noise to run single records on."""
        from gpsimd_core.testing.running import Bench

        return Bench(self.machine)

    def legal(self, instruction: Instruction) -> list[bytes]:
        """Legal records of an instruction: those that the author gives, then those of its vectors."""
        try:
            ran = [record for _, _, records in self.run for record in records]
        except GpsimdError:
            ran = []  # the check of the vectors says so
        opcodes = {o for o, e in self.machine.opcodes.items() if e.name == instruction.name}
        mine = [record for record in ran if record[0] in opcodes and self.machine.validate(record).ok]
        more = self.records(self.machine, instruction.name) if self.records else ()
        return list(dict.fromkeys([*more, *mine]))
