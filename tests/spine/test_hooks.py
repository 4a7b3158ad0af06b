"""Every hook has a test named after it: a plugin object that implements it, and what changes by that.

They run on a made-up generation (`support/toy_generation.py`), so that no real generation is needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import records
from stubs import EVIDENCE, doubling, plugin
from toy_generation import TOY, toy

import gpsimd_core as gp
from gpsimd_core import hookspecs
from gpsimd_core.errors import PluginTrouble
from gpsimd_core.hookspecs import hookimpl
from gpsimd_core.isa.checks import field_in, rule
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.values import (
    Activation,
    BlobSite,
    Encoding,
    Engine,
    EngineBinding,
    NamedSet,
    Policy,
    Profile,
)


@pytest.fixture
def load(distribution: Callable[..., Path]) -> Callable[..., gp.Machine]:
    """`load(*plugins)`: a machine of the made-up generation with these third-party plugins."""
    distribution("gpsimd-toy", {"gpsimd.generations": {"toy": "toy_generation:toy"}})

    def build(*plugins: Any, **more: Any) -> gp.Machine:
        return gp.load("toy", plugins=plugins, **more)

    return build


def select_reduce(**fields: int) -> bytes:
    """A legal 0xEA of the made-up generation: one channel of 24 elements."""
    given = {"num_active_channels": 1, "src0__addr": 0, "src1__addr": 0x100, "dst__addr": 0x200}
    return records.select_reduce("cayman", **(given | fields))


def doubled(machine: gp.Machine, data: np.ndarray[Any, Any], times: int, dtype: str = "fp32") -> np.ndarray[Any, Any]:
    """Run one `doubling` on an array."""
    core = gp.NeuronCore(machine, compiled=False)
    core.sbuf.write(data, 0, 0x40)
    src = gp.Tensor(offset=0x40, dtype=dtype, shape=data.shape)
    dst = gp.Tensor(offset=0x800, dtype=dtype, shape=data.shape)
    core.run(machine.encode("doubling", src=src, dst=dst, times=times))
    return core.sbuf.read(0, 0x800, shape=data.shape, dtype=dtype)


def test_every_hook_has_a_test_named_after_it() -> None:
    hooks = {name for name, _ in inspect.getmembers(hookspecs, inspect.isfunction) if name.startswith("gpsimd_")}
    untested = {hook for hook in hooks if f"test_{hook}" not in globals()}
    assert not untested


def test_gpsimd_generation(load: Callable[..., gp.Machine]) -> None:
    assert load().generation == TOY
    second = plugin(gpsimd_generation=lambda: TOY)
    with pytest.raises(PluginTrouble, match=r"toy: (toy, stub|stub, toy) answered gpsimd_generation; exactly one"):
        load(second)


def test_gpsimd_sets(load: Callable[..., gp.Machine]) -> None:
    narrow = NamedSet(name="narrow_only", members={Dtype.INT8, Dtype.UINT8}, evidence=EVIDENCE)
    mine = plugin(
        gpsimd_sets=lambda gen: [narrow],
        gpsimd_validate=lambda gen: {
            "select_reduce": [
                rule(
                    "narrow", "", ("src0_dtype",), lambda c, f: f.has("narrow_only", c["src0_dtype"]),
                    lambda f: f.listed("narrow_only"), sets=("narrow_only",), evidence=EVIDENCE,
                )
            ]
        },
    )  # fmt: skip
    machine = load(mine)
    assert machine.sets["narrow_only"] == {Dtype.INT8, Dtype.UINT8}
    (violation,) = machine.validate(select_reduce(src0_dtype=records.INT16)).violations
    assert (violation.rule, violation.allowed) == ("narrow", "INT8 UINT8")
    assert machine.validate(select_reduce(src0_dtype=records.INT8)).ok


def test_gpsimd_decode(load: Callable[..., gp.Machine]) -> None:
    rows = [
        Encoding(opcode=0xF0, name="mystery", flag="unflagged", not_executable="nobody knows it", evidence=EVIDENCE)
    ]
    machine = load(plugin(gpsimd_decode=lambda gen: rows))
    record = bytes([0xF0, 16]) + bytes(range(62))
    assert load().decode(record)[0].name == "unknown"
    program = machine.decode(record)
    assert (program[0].name, program[0].opaque, bytes(program)) == ("mystery", True, record)
    with pytest.raises(gp.NotExecutable, match="nobody knows it"):
        gp.NeuronCore(machine, compiled=False).run(bytes([0xF0, 16]) + bytes(62))


def test_gpsimd_validate(load: Callable[..., gp.Machine]) -> None:
    mine = plugin(gpsimd_validate=lambda gen: {"select_reduce": [field_in("imm0", 0, 7, evidence=EVIDENCE)]})
    machine = load(mine)
    assert machine.validate(select_reduce(imm0=7)).ok
    (violation,) = machine.validate(select_reduce(imm0=8)).violations
    assert violation.rule == "field_in[imm0]"
    assert load().validate(select_reduce(imm0=8)).ok


def test_gpsimd_execute(load: Callable[..., gp.Machine]) -> None:
    machine = load(plugin(gpsimd_execute=lambda gen: [doubling()]))
    assert machine.opcodes[0xF5].name == "doubling"
    assert machine.engines_of("doubling") == ("dve",)
    assert machine.owners["instruction", "doubling"] == "stub"
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert (doubled(machine, data, 3) == data * 8).all()
    assert doubled(machine, data.astype(np.int16), 1, "int16").tolist() == (data * 2).tolist()


def test_gpsimd_engines(load: Callable[..., gp.Machine]) -> None:
    rows = [
        Engine(name="sorter", index=7, evidence=EVIDENCE),
        EngineBinding(instruction="doubling", engines=("sorter", "pool"), evidence=EVIDENCE),
    ]
    machine = load(plugin(gpsimd_execute=lambda gen: [doubling(engine=None)], gpsimd_engines=lambda gen: rows))
    assert machine.engines_of("doubling") == ("sorter", "pool")
    assert machine.engines["sorter"].index == 7
    place = gp.Tensor(dtype="fp32", shape=(1, 4))
    record = machine.encode("doubling", src=place, dst=place)
    assert gp.NeuronCore(machine, compiled=False).run(record).steps[0].engine == "sorter"


def test_gpsimd_blobs(load: Callable[..., gp.Machine]) -> None:
    asked = []

    def blobs(gen: Any) -> list[BlobSite]:
        asked.append(gen.name)
        return [
            BlobSite(
                generation="toy", symbol="TOY_get", core="NX", engine="dve", build="DEBUG", region="DRAM", offset=16,
                end=48, accessor=4, evidence=EVIDENCE,
            )
        ]  # fmt: skip

    machine = load(plugin(gpsimd_blobs=blobs))
    assert asked == []  # only when somebody wants to know
    (site,) = machine.hooks.blobs(machine.generation)
    assert (site.symbol, site.size, asked) == ("TOY_get", 32, ["toy"])


def test_gpsimd_policies(load: Callable[..., gp.Machine]) -> None:
    policy = Policy(name="doubling_by", values=("2", "3"), default="2", help="the factor", evidence=EVIDENCE)
    profile = Profile(name="triple", policies={"doubling_by": "3"}, help="", evidence=EVIDENCE)

    def kernel(step: Any) -> dict[str, Any]:
        return {"dst": step.read("src") * step.policy("doubling_by")}

    mine = plugin(gpsimd_policies=lambda: [policy, profile], gpsimd_execute=lambda gen: [doubling(kernel=kernel)])
    data = np.ones((1, 4), np.int32)
    assert doubled(load(mine), data, 0, "int32").tolist() == [[2] * 4]
    assert doubled(load(mine, profile="triple"), data, 0, "int32").tolist() == [[3] * 4]
    one = load(mine, policies={"doubling_by": 3})
    assert (one.policies["doubling_by"], one.overridden) == (3, {"doubling_by": 3})
    with pytest.raises(gp.GpsimdError, match="policy doubling_by is '4'; allowed: 2, 3"):
        load(mine, policies={"doubling_by": 4})


def test_gpsimd_formats(load: Callable[..., gp.Machine]) -> None:
    """A number format for a dtype code that the core has none for; what the core reads stays as it is."""
    from gpsimd_core.isa.formats import format_of

    record = select_reduce(out_dtype=records.E2M5)
    with pytest.raises(gp.Unsupported, match="dst of dtype fp8_e2m5"):
        gp.NeuronCore(load(), compiled=False).run(record)
    given = {int(Dtype.FP8_EXP2): format_of("uint8")}
    core = gp.NeuronCore(load(plugin(gpsimd_formats=lambda: given)), compiled=False)
    core.sbuf.write(np.array([[1.0, 7.0]], np.float32), 0, 0x100)
    core.run(record)
    assert core.sbuf.read(0, 0x200, shape=(1, 2), dtype="uint8").tolist() == [[1, 7]]

    replacing = plugin(gpsimd_formats=lambda: {int(Dtype.FP32): format_of("bf16")})
    with pytest.raises(
        PluginTrouble, match="format 0x0A: stub says bf16, gpsimd-core says fp32; a format can be added"
    ):
        load(replacing)


def test_gpsimd_activations(load: Callable[..., gp.Machine]) -> None:
    def negated(bits: int) -> int:
        return bits ^ 0x80000000

    row = Activation(number=200, name="negated", function=negated, formula="-x", ulp=0.0, evidence=EVIDENCE)
    machine = load(plugin(gpsimd_activations=lambda gen: [row]))
    assert machine.activations[200].name == "negated"
    assert set(machine.activations) == {*load().activations, 200}
    clashing = Activation(number=0, name="mine", function=negated, formula="-x", ulp=0.0, evidence=EVIDENCE)
    with pytest.raises(PluginTrouble, match="activation 0: gpsimd-core says identity, stub says mine"):
        load(plugin(gpsimd_activations=lambda gen: [clashing]))


def test_gpsimd_load_program(load: Callable[..., gp.Machine], tmp_path: Path) -> None:
    """A form of program that the core does not know; what the plugin does not know is left to the core."""
    from gpsimd_core.manifest import load_program

    def hexdump(data: bytes, name: str, machine: gp.Machine) -> Any:
        return machine.decode(bytes.fromhex(data[4:].decode())) if data.startswith(b"hex:") else None

    machine = load(plugin(gpsimd_load_program=hexdump))
    (tmp_path / "a.hex").write_text("hex:" + select_reduce().hex())
    (tmp_path / "b.hex").write_bytes(select_reduce())
    assert bytes(load_program(machine, tmp_path / "a.hex")) == select_reduce()
    assert bytes(load_program(machine, tmp_path / "b.hex")) == select_reduce()
    with pytest.raises(gp.GpsimdError):
        load_program(load(), tmp_path / "a.hex")


def test_gpsimd_load_program_that_fails_is_plugin_trouble(load: Callable[..., gp.Machine], tmp_path: Path) -> None:
    from gpsimd_core.manifest import load_program

    def broken(data: bytes, name: str, machine: gp.Machine) -> Any:
        return data[1 << 20]

    (tmp_path / "a.hex").write_bytes(select_reduce())
    with pytest.raises(PluginTrouble, match=r"failed to read .*a\.hex: IndexError"):
        load_program(load(plugin(gpsimd_load_program=broken)), tmp_path / "a.hex")


def test_gpsimd_observers(load: Callable[..., gp.Machine]) -> None:
    seen: list[tuple[int, str, str]] = []
    observer = plugin(gpsimd_observers=lambda machine: [lambda step: seen.append((step.index, step.name, step.engine))])
    machine = load(observer, plugin(gpsimd_execute=lambda gen: [doubling()]))
    core = gp.NeuronCore(machine, compiled=False)
    place = gp.Tensor(dtype="fp32", shape=(1, 4))
    core.run(select_reduce() * 2 + machine.encode("doubling", src=place, dst=place))
    assert seen == [(0, "select_reduce", "dve"), (1, "select_reduce", "dve"), (2, "doubling", "dve")]


def test_gpsimd_run(load: Callable[..., gp.Machine]) -> None:
    """Once per program, around the whole run: a wrapper sees the state before and the result after."""
    told: list[Any] = []

    class Stub:
        GPSIMD_API = 1

        @hookimpl(wrapper=True)
        def gpsimd_run(self, core: gp.NeuronCore, program: gp.Program) -> Iterator[Any]:
            told.append(bool(core.accumulators.defined("dve").any()))
            result = yield
            told.append((len(program), result.instructions, bool(core.accumulators.defined("dve").any())))
            return result

    core = gp.NeuronCore(load(Stub()), compiled=False)
    assert core.run(select_reduce() * 2).instructions == 2
    assert told == [False, (2, 2, True)]


def test_gpsimd_run_may_answer_itself(load: Callable[..., gp.Machine]) -> None:
    core = gp.NeuronCore(load(plugin(gpsimd_run=lambda core, program: "replayed")), compiled=False)
    assert core.run(select_reduce()) == "replayed"
    assert not core.accumulators.defined("dve").any()


def test_gpsimd_run_leaves_options_and_faults_alone(load: Callable[..., gp.Machine]) -> None:
    core = gp.NeuronCore(load(plugin(gpsimd_run=lambda core, program: None)), compiled=False)
    with pytest.raises(gp.Fault, match="more than 1 instructions"):
        core.run(select_reduce() * 2, max_instructions=1)
    assert core.run(select_reduce() * 2).instructions == 2


def test_a_hook_that_fails_names_its_plugin(load: Callable[..., gp.Machine]) -> None:
    def broken(gen: Any) -> Any:
        yield NamedSet(name="fine", members=(), evidence=EVIDENCE)
        raise KeyError("gone")

    with pytest.raises(PluginTrouble, match=r"plugin stub \(stub\): gpsimd_sets failed: KeyError: 'gone'"):
        load(plugin(gpsimd_sets=broken))


def test_a_hook_that_returns_something_else_names_its_plugin(load: Callable[..., gp.Machine]) -> None:
    with pytest.raises(PluginTrouble, match="plugin stub returned 7 where Encoding values belong"):
        load(plugin(gpsimd_decode=lambda gen: [7]))
    with pytest.raises(PluginTrouble, match="gpsimd_decode failed: TypeError"):
        load(plugin(gpsimd_decode=lambda gen: 7))
    with pytest.raises(PluginTrouble, match="where Policy or Profile values belong"):
        load(plugin(gpsimd_policies=lambda: ["strict"]))


def test_a_plugin_may_ignore_a_generation(load: Callable[..., gp.Machine]) -> None:
    """Empty answers, and None from a hook that forgets to answer, add nothing."""
    machine = load(plugin(gpsimd_decode=lambda gen: (), gpsimd_sets=lambda gen: None, gpsimd_validate=lambda gen: {}))
    assert set(machine.opcodes) == {0x9B, 0xEA}
    assert toy.GPSIMD_API == 1
