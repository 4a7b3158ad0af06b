"""Finding plugins, allow and deny lists, overrides, clashes, and what is said when something is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import records
from stubs import EVIDENCE, Doubling, doubling, plugin

import gpsimd_core as gp
from gpsimd_core import host
from gpsimd_core.errors import PluginTrouble, UsageError
from gpsimd_core.isa.checks import field_is, rule
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.ops.select_reduce import SELECT_REDUCE
from gpsimd_core.values import Encoding, Engine, EngineBinding, NamedSet, Policy

MODULE = """
from stubs import doubling, plugin
value = plugin(gpsimd_execute=lambda gen: [doubling(name={name!r}, opcodes=({opcode},))])
{more}
"""


@pytest.fixture
def install(distribution: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`install(name, opcode, more)`: an installed third-party plugin with one instruction; GPSIMD_PLUGINS is unset."""
    monkeypatch.delenv("GPSIMD_PLUGINS")
    distribution("gpsimd-toy", {"gpsimd.generations": {"toy": "toy_generation:toy"}})
    monkeypatch.setattr(host, "installed", _only_these(host.installed))

    def add(name: str, opcode: int = 0xF5, more: str = "", text: str | None = None, dist: str = "") -> None:
        module = f"throwaway_{dist or name}".replace("-", "_")
        body = MODULE.format(name=name, opcode=opcode, more=more) if text is None else text
        distribution(dist or f"dist-{name}", {"gpsimd.plugins": {name: f"{module}:value"}}, {module: body})

    return add


def _only_these(real: Callable[[], tuple[host.Found, ...]]) -> Callable[[], tuple[host.Found, ...]]:
    """What is really installed here, gpsimd-acme say, stays out of these tests."""
    return lambda: tuple(f for f in real() if f.target.startswith(("toy_generation", "throwaway_")))


def names(machine: gp.Machine) -> set[str]:
    return {e.name for e in machine.opcodes.values()} - {"select_reduce", "dve_read_accumulator"}


# Which plugins are used ------------------------------------------------------------------------------------------------


def test_installed_plugins_are_used_without_being_asked_for(install: Callable[..., None]) -> None:
    install("one")
    install("two", 0xF6)
    machine = gp.load("toy")
    assert names(machine) == {"one", "two"}
    assert machine.owners["opcode", "0xF6"] == "two"
    assert machine.warnings == ()


def test_plugins_can_be_left_out(install: Callable[..., None]) -> None:
    install("one")
    install("two", 0xF6)
    assert names(gp.load("toy", without=("one",))) == {"two"}
    assert names(gp.load("toy", plugins=())) == set()
    assert names(gp.load("toy", plugins=("two",))) == {"two"}
    assert names(gp.load("toy", plugins=("one", "two"), without=("two",))) == {"one"}


@pytest.mark.parametrize(("value", "used"), [("", set()), ("two", {"two"}), (" one , two,", {"one", "two"})])
def test_gpsimd_plugins_is_an_allow_list(
    install: Callable[..., None], monkeypatch: pytest.MonkeyPatch, value: str, used: set[str]
) -> None:
    install("one")
    install("two", 0xF6)
    monkeypatch.setenv("GPSIMD_PLUGINS", value)
    assert names(gp.load("toy")) == used
    assert names(gp.load("toy", plugins=("one",))) == {"one"}


def test_a_plugin_on_request_waits_to_be_named(install: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    install("shy", more="type(value).GPSIMD_ON_REQUEST = True")
    assert names(gp.load("toy")) == set()
    assert names(gp.load("toy", plugins=("shy",))) == {"shy"}
    monkeypatch.setenv("GPSIMD_PLUGINS", "shy")
    assert names(gp.load("toy")) == {"shy"}


@pytest.mark.parametrize("how", [{"plugins": ("nobody",)}, {"without": ("nobody",)}])
def test_unknown_plugin_names(install: Callable[..., None], how: dict[str, Any]) -> None:
    install("one")
    with pytest.raises(UsageError, match="no plugin is called 'nobody'; installed: one"):
        gp.load("toy", **how)


def test_unknown_generation_names_the_installed_ones(install: Callable[..., None]) -> None:
    with pytest.raises(UsageError, match=r"no generation is called 'trn9'; installed: .*\btoy\b"):
        gp.load("trn9")


def test_generations_lists_without_importing(install: Callable[..., None]) -> None:
    sys.modules.pop("toy_generation", None)
    assert "toy" in gp.generations()
    assert list(gp.generations()) == sorted(gp.generations())
    assert "toy_generation" not in sys.modules
    gp.load("toy")
    assert "toy_generation" in sys.modules


# Plugins that do not load: a warning, and everything else goes on ------------------------------------------------------


@pytest.mark.parametrize(("text", "message"), [
    ("raise RuntimeError('half an install')", "importing throwaway_bad:value failed: RuntimeError: half an install"),
    ("other = 1", "importing throwaway_bad:value failed: AttributeError"),
    ("from stubs import plugin\nvalue = plugin(api=2)", "it states GPSIMD_API = 2, this core has 1"),
    ("value = object()", "it does not state GPSIMD_API = 1"),
    ("from stubs import plugin\nvalue = plugin(gpsimd_exekute=lambda gen: ())",
     "it implements gpsimd_exekute, which is no hook; did you mean gpsimd_execute"),
    ("from stubs import plugin\nvalue = plugin(gpsimd_sets=lambda gen, extra: ())", "extra"),
])  # fmt: skip
def test_a_third_party_plugin_that_does_not_load(install: Callable[..., None], text: str, message: str) -> None:
    install("good")
    install("bad", text=text)
    machine = gp.load("toy")
    assert names(machine) == {"good"}
    (warning,) = machine.warnings
    assert warning.startswith("plugin bad (dist-bad 1.0) is not used: ")
    assert message in warning


def test_nothing_of_a_plugin_that_does_not_load_is_used(install: Callable[..., None]) -> None:
    """One good hook and one with a wrong argument: neither counts."""
    bad = "from stubs import doubling, plugin\nvalue = plugin(gpsimd_execute=lambda gen: [doubling()], gpsimd_sets=lambda g, x: ())"
    install("bad", text=bad)
    machine = gp.load("toy")
    assert names(machine) == set()
    assert len(machine.warnings) == 1


def test_a_hook_under_another_name_is_a_hook(install: Callable[..., None]) -> None:
    text = """
from gpsimd_core.hookspecs import hookimpl
from stubs import doubling
class Value:
    GPSIMD_API = 1
    @hookimpl(specname="gpsimd_execute")
    def my_instructions(self, gen):
        return [doubling()]
value = Value()
"""
    install("named", text=text)
    assert names(gp.load("toy")) == {"doubling"}


def test_two_distributions_with_one_plugin_name(install: Callable[..., None]) -> None:
    install("one", dist="dist-a")
    install("one", 0xF6, dist="dist-b")
    machine = gp.load("toy")
    assert names(machine) == set()
    (warning,) = machine.warnings
    assert "dist-a 1.0" in warning
    assert "dist-b 1.0" in warning
    assert "several distributions offer it" in warning


def test_two_objects_of_one_class_are_two_plugins(install: Callable[..., None]) -> None:
    first = plugin(gpsimd_execute=lambda gen: [doubling()])
    second = plugin(gpsimd_execute=lambda gen: [doubling(name="other", opcodes=(0xF6,))])
    assert names(gp.load("toy", plugins=(first, second))) == {"doubling", "other"}


def test_a_generation_that_does_not_load_is_trouble(distribution: Callable[..., Path]) -> None:
    distribution("gpsimd-sick", {"gpsimd.generations": {"sick": "throwaway_sick:value"}}, {"throwaway_sick": "1 / 0"})
    with pytest.raises(PluginTrouble, match=r"generation sick \(gpsimd-sick 1.0\) does not load: .*ZeroDivisionError"):
        gp.load("sick")


def test_a_generation_offered_twice_is_trouble(distribution: Callable[..., Path]) -> None:
    for name in ("gpsimd-toy", "gpsimd-toy-fork"):
        distribution(name, {"gpsimd.generations": {"toy": "toy_generation:toy"}})
    with pytest.raises(PluginTrouble, match=r"toy is offered by several distributions: .*uninstall one"):
        gp.load("toy")


def test_a_generation_that_says_another_name_is_trouble(distribution: Callable[..., Path]) -> None:
    distribution("gpsimd-alias", {"gpsimd.generations": {"alias": "toy_generation:toy"}})
    with pytest.raises(PluginTrouble, match="plugin alias says that it is toy"):
        gp.load("alias")


# Overrides -------------------------------------------------------------------------------------------------------------


def replaced(overrides: str | None, **more: Any) -> Any:
    """A plugin with an instruction `select_reduce` of its own."""
    from attrs import evolve

    mine = evolve(SELECT_REDUCE, overrides=overrides, semantics="mine", **more)
    return plugin(gpsimd_execute=lambda gen: [mine])


@pytest.mark.parametrize("overrides", ["toy:select_reduce", "*:select_reduce"])
def test_an_override_replaces_what_it_names(install: Callable[..., None], overrides: str) -> None:
    machine = gp.load("toy", plugins=(replaced(overrides),))
    assert machine.instructions["select_reduce"].semantics == "mine"
    assert machine.owners["instruction", "select_reduce"] == "stub"
    assert machine.owners["opcode", "0xEA"] == "toy"


@pytest.mark.parametrize("overrides", ["cayman:select_reduce", "toy:old_name", "*:old_name"])
def test_an_override_of_nothing_is_trouble(install: Callable[..., None], overrides: str) -> None:
    with pytest.raises(PluginTrouble) as caught:
        gp.load("toy", plugins=(replaced(overrides),))
    assert f"instruction select_reduce: stub overrides {overrides!r}, which nobody provides" in str(caught.value)


def test_two_overrides_of_one_row_clash(install: Callable[..., None]) -> None:
    with pytest.raises(PluginTrouble) as caught:
        gp.load("toy", plugins=(replaced("*:select_reduce"), replaced("*:select_reduce")))
    text = str(caught.value)
    assert "instruction select_reduce: stub says select_reduce, stub#2 says select_reduce" in text


def test_overrides_of_one_another_leave_nothing_and_say_so(install: Callable[..., None]) -> None:
    first = plugin(gpsimd_execute=lambda gen: [doubling(overrides="stub#2:doubling")])
    second = plugin(gpsimd_execute=lambda gen: [doubling(overrides="stub:doubling")])
    with pytest.raises(PluginTrouble, match="stub and stub#2 override one another, and nothing is left"):
        gp.load("toy", plugins=(first, second))


def test_an_override_may_take_over_opcode_engine_and_set(install: Callable[..., None]) -> None:
    mine = plugin(
        gpsimd_decode=lambda gen: [
            Encoding(
                opcode=0x9B, name="drain", layout=Doubling, overrides="toy:dve_read_accumulator", evidence=EVIDENCE
            )
        ],
        gpsimd_engines=lambda gen: [Engine(name="pool", index=9, overrides="*:pool", evidence=EVIDENCE)],
        gpsimd_execute=lambda gen: [doubling(name="drain", opcodes=(), overrides="toy:dve_read_accumulator")],
    )
    machine = gp.load("toy", plugins=(mine,))
    assert machine.opcodes[0x9B].name == "drain"
    assert machine.engines["pool"].index == 9


# Clashes: all of them, with the cure -----------------------------------------------------------------------------------


def test_every_clash_is_reported_together_with_the_cure(install: Callable[..., None]) -> None:
    install(
        "acme", text="""
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.values import Encoding, Engine, EngineBinding, NamedSet
from stubs import EVIDENCE, doubling, plugin
value = plugin(
    gpsimd_execute=lambda gen: [doubling(name="fused_pick", opcodes=(0xEA,)), doubling(overrides="toy:old_name")],
    gpsimd_engines=lambda gen: [Engine(name="dve", index=1, evidence=EVIDENCE)],
    gpsimd_sets=lambda gen: [NamedSet(name="plain", members={Dtype.INT8}, evidence=EVIDENCE)],
)
""",
    )  # fmt: skip
    with pytest.raises(PluginTrouble) as caught:
        gp.load("toy")
    text = str(caught.value)
    assert text.startswith("cannot build toy, 6 problems:")
    assert "  opcode 0xEA: gpsimd-toy 1.0 says select_reduce, dist-acme 1.0 says fused_pick\n" in text
    assert '    keep one with --no-plugin acme, or set overrides="toy:select_reduce" on the row that should win' in text
    assert "  engine dve: gpsimd-toy 1.0 says dve, dist-acme 1.0 says dve\n" in text
    assert "  set plain: gpsimd-toy 1.0 says plain, dist-acme 1.0 says plain\n" in text
    assert "  opcode 0xF5: dist-acme 1.0 overrides 'toy:old_name', which nobody provides" in text
    assert names(gp.load("toy", without=("acme",))) == set()


def problems(*plugins: Any, **more: Any) -> str:
    with pytest.raises(PluginTrouble) as caught:
        gp.load("toy", plugins=plugins, **more)
    return str(caught.value)


def test_one_plugin_that_claims_twice(install: Callable[..., None]) -> None:
    text = problems(plugin(gpsimd_execute=lambda gen: [doubling(), doubling()]))
    assert "opcode 0xF5: stub says doubling, stub says doubling\n    one of them has to go" in text


def test_two_opcodes_of_one_name(install: Callable[..., None]) -> None:
    text = problems(plugin(gpsimd_execute=lambda gen: [doubling(name="double_it", aliases=("SelectReduce",))]))
    assert "name selectreduce: 0xEA select_reduce (gpsimd-toy 1.0) and 0xF5 double_it (stub) both answer to it" in text
    rows = [Encoding(opcode=0xF7, name="select_reduce", layout=SELECT_REDUCE.layout, evidence=EVIDENCE)]
    text = problems(plugin(gpsimd_decode=lambda gen: rows))
    assert "name select_reduce: 0xEA select_reduce (gpsimd-toy 1.0) and 0xF7 select_reduce (stub)" in text


def test_rows_that_name_nothing(install: Callable[..., None]) -> None:
    """A misspelt name is never a silent row."""
    text = problems(plugin(gpsimd_execute=lambda gen: [doubling(name="selct_reduce", opcodes=())]))
    assert "instruction selct_reduce: stub gives it, but no opcode has that name; did you mean select_reduce" in text
    rows = [EngineBinding(instruction="selct_reduce", engines=("dve",), evidence=EVIDENCE)]
    text = problems(plugin(gpsimd_engines=lambda gen: rows))
    assert "binding selct_reduce: stub gives it, but no opcode has that name; did you mean select_reduce" in text
    text = problems(plugin(gpsimd_validate=lambda gen: {"selct_reduce": [field_is("op0", 0, evidence=EVIDENCE)]}))
    assert "rule field_is[op0]: stub adds it to selct_reduce, which nobody provides" in text
    text = problems(plugin(gpsimd_execute=lambda gen: [doubling(engine="gpu")]))
    assert "instruction doubling: bound to engine 'gpu'; there are dve, pool" in text


def test_rules_that_cannot_be_judged(install: Callable[..., None]) -> None:
    """Unknown sets, fields and needs, circles and doubles are found when the machine is built."""

    def holds(c: Any, f: Any) -> bool:
        return True

    def with_rules(*rules: Any) -> str:
        return problems(plugin(gpsimd_execute=lambda gen: [doubling(rules=rules)]))

    def one(id: str, fields: tuple[str, ...] = ("times",), **more: Any) -> Any:
        return rule(id, "", fields, holds, "anything", evidence=EVIDENCE, **more)

    assert "rule a looks up set 'no_such_set', which nobody provides" in with_rules(one("a", sets=("no_such_set",)))
    assert "rule a reads 'tmies', which Doubling has not" in with_rules(one("a", ("tmies",)))
    assert "rule a needs b, which is no rule of it" in with_rules(one("a", needs=("b",)))
    circle = with_rules(one("a", needs=("b",)), one("b", needs=("a",)))
    assert "its rules need one another in a circle" in circle
    assert "two rules are called a" in with_rules(one("a"), one("a"))


def test_operands_that_the_layout_has_not(install: Callable[..., None]) -> None:
    from gpsimd_core.values import Operand

    reads = (Operand(name="src", at="sorce", dtype="dtype"),)
    assert "instruction doubling: operand src lies at 'sorce', which Doubling has not" in problems(
        plugin(gpsimd_execute=lambda gen: [doubling(reads=reads)])
    )
    assert "instruction doubling: immediate imm0 is no field of Doubling" in problems(
        plugin(gpsimd_execute=lambda gen: [doubling(immediates=("imm0",))])
    )


def test_an_encoding_and_an_instruction_with_different_layouts(install: Callable[..., None]) -> None:
    rows = [Encoding(opcode=0xF5, name="doubling", layout=SELECT_REDUCE.layout, evidence=EVIDENCE)]
    mine = plugin(gpsimd_decode=lambda gen: rows, gpsimd_execute=lambda gen: [doubling(opcodes=())])
    assert "opcode 0xF5: its encoding has layout S2S2D2Stt, instruction doubling has Doubling" in problems(mine)


# Profiles and policies -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "message"), [
    ({"profile": "nonsense"}, "no profile is called 'nonsense'; there are nki, reference"),
    ({"policies": {"reduce_nan": "maybe"}}, "policy reduce_nan is 'maybe'; allowed: suppress, propagate, select"),
    ({"policies": {"reduce_nam": "select"}}, "no policy is called 'reduce_nam'"),
])  # fmt: skip
def test_unknown_profiles_and_policies(install: Callable[..., None], given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        gp.load("toy", plugins=(), **given)


def test_what_a_caller_sets_is_recorded(install: Callable[..., None]) -> None:
    machine = gp.load("toy", "nki", {"reduce_nan": "propagate"}, plugins=(), strict=True)
    assert machine.profile == "nki"
    assert machine.overridden == {"reduce_nan": "propagate", "strict": "on"}
    assert machine.policies["select_reduce"] == "select"
    assert gp.load("toy", plugins=()).policies["select_reduce"] == "merge"


def test_a_policy_of_the_core_cannot_be_claimed(install: Callable[..., None]) -> None:
    mine = Policy(name="strict", values=("yes",), default="yes", help="", evidence=EVIDENCE)
    assert "policy strict: gpsimd-core says strict, stub says strict" in problems(
        plugin(gpsimd_policies=lambda: [mine])
    )


def test_machines_do_not_share_plugins(install: Callable[..., None]) -> None:
    """One plugin manager a machine, none global."""
    with_it = gp.load("toy", plugins=(plugin(gpsimd_execute=lambda gen: [doubling()]),))
    without = gp.load("toy", plugins=())
    assert 0xF5 in with_it.opcodes
    assert 0xF5 not in without.opcodes
    assert without.decode(bytes([0xF5]) + bytes(63))[0].name == "unknown"
    assert int(Dtype.FP32) == records.FP32
    assert NamedSet(name="a", members=(), evidence=EVIDENCE) == NamedSet(name="a", members=(), evidence=EVIDENCE)
