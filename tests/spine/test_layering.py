"""Imports point down: read from the source, and tried in fresh interpreters."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpsimd_core

ROOT = Path(gpsimd_core.__file__).parent
MODULES = {
    ".".join(("gpsimd_core", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}

# Level of what the architecture names; a name may import only what stands lower, through whatever else lies between.
LEVELS = {
    "errors": 0, "values": 0, "isa": 1, "machine": 2, "memory": 2, "control": 2, "program": 3, "host": 3, "pipeline": 4,
    "assembly": 4, "vectors": 5, "neuroncore": 5, "cli": 6, "__init__": 6,
}  # fmt: skip


@functools.cache
def parsed(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text())


def at_load(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported; not those for type checkers only."""
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            todo += list(ast.iter_child_nodes(node))


def names(node: ast.stmt, package: str) -> Iterator[str]:
    """The modules that an import statement names, as absolute dotted names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{package}: imports are absolute"
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield whole if whole in MODULES else str(node.module)


@functools.cache
def imported(module: str, *, everywhere: bool = False) -> frozenset[str]:
    """What a module imports: when it is loaded, or anywhere in its text."""
    tree = parsed(module)
    nodes = [n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))] if everywhere else at_load(tree)
    return frozenset(name for node in nodes for name in names(node, module))


def part(module: str) -> str:
    """The architectural part of a module: `isa`, `cli`, `host`, `__init__`."""
    return module.split(".")[1] if "." in module else "__init__"


def test_the_source_was_found() -> None:
    assert {"gpsimd_core", "gpsimd_core.host", "gpsimd_core.isa.layouts.s2s2d2_stt"} <= set(MODULES)
    assert set(LEVELS) <= {part(m) for m in MODULES}


def test_no_module_imports_itself_through_others() -> None:
    """The graph of imports at load has no circle."""
    graph = {m: {t for t in imported(m) if t in MODULES and t != m} for m in MODULES}
    done: set[str] = set()
    while True:
        ready = {m for m in graph if m not in done and graph[m] <= done}
        if not ready:
            break
        done |= ready
    assert set(graph) == done


def test_imports_point_down() -> None:
    direct: dict[str, set[str]] = {}
    for module in MODULES:
        targets = {part(t) for t in imported(module) if t.startswith("gpsimd_core")}
        direct.setdefault(part(module), set()).update(targets - {part(module)})
    for name, level in LEVELS.items():
        reached, todo = set(), [name]
        while todo:
            for target in direct.get(todo.pop(), set()) - reached:
                reached.add(target)
                todo.append(target)
        above = {t for t in reached if t in LEVELS and LEVELS[t] >= level}
        assert not above, f"{name} reaches {above}"


def test_values_and_errors_import_nothing_of_ours() -> None:
    for module in ("gpsimd_core.values", "gpsimd_core.errors"):
        assert not {t for t in imported(module, everywhere=True) if t.startswith("gpsimd_core")}


def test_only_host_and_hookspecs_know_pluggy() -> None:
    users = {m for m in MODULES if "pluggy" in {t.split(".")[0] for t in imported(m, everywhere=True)}}
    assert users == {"gpsimd_core.host", "gpsimd_core.hookspecs"}


def test_isa_knows_neither_machine_nor_host() -> None:
    allowed = ("gpsimd_core.isa", "gpsimd_core.values", "gpsimd_core.errors")
    for module in MODULES:
        if part(module) == "isa":
            ours = {t for t in imported(module) if t.startswith("gpsimd_core")}
            assert all(t.startswith(allowed) for t in ours), f"{module} imports {ours}"


def test_nothing_imports_a_plugin() -> None:
    for module in MODULES:
        foreign = {
            t
            for t in imported(module, everywhere=True)
            if t.startswith("gpsimd_") and part(t) and not t.startswith("gpsimd_core")
        }
        assert not foreign, module


def test_numba_is_never_imported_at_load() -> None:
    assert not {m for m in MODULES if "numba" in {t.split(".")[0] for t in imported(m)}}


def shown(code: str) -> str:
    """Standard output of a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_isa_alone_loads_no_plugin_manager_no_host_and_no_compiler() -> None:
    code = """
import importlib, pkgutil, sys
import gpsimd_core.isa
for found in pkgutil.walk_packages(gpsimd_core.isa.__path__, "gpsimd_core.isa."):
    importlib.import_module(found.name)
print(sorted({"pluggy", "numba", "gpsimd_core.host", "gpsimd_core.machine", "gpsimd_core.memory"} & set(sys.modules)))
"""
    assert shown(code) == "[]"


def test_the_package_itself_loads_nothing() -> None:
    code = "import sys, gpsimd_core; print(sorted(m for m in sys.modules if m.split('.')[0] in ('numpy', 'attrs', 'pluggy', 'numba', 'click')))"
    assert shown(code) == "[]"


def test_listing_generations_imports_none() -> None:
    code = """
import sys, gpsimd_core as gp
from gpsimd_core.host import installed
names, rows = gp.generations(), installed()
print(sorted(m for m in sys.modules if m.startswith("gpsimd_") and m.split(".")[0] != "gpsimd_core"))
"""
    assert shown(code) == "[]"


@pytest.mark.parametrize("gen", ["sunda", "cayman", "mariana", "mariana_plus", "maverick"])
def test_one_generation_imports_no_other_and_no_compiler(gen: str) -> None:
    """Loading, encoding, decoding and validating: only the chosen plugin, and never numba."""
    if gen not in gpsimd_core.generations():
        pytest.skip(f"{gen} is not installed")
    code = f"""
import sys, gpsimd_core as gp
machine = gp.load({gen!r}, plugins=())
place = gp.Tensor(dtype="uint8", shape=(4, 4))
record = machine.encode("select_reduce", src0=place, src1=place, dst=place, accumulator_cmd="IDLE")
assert machine.validate(machine.decode(record)).ok
print(sorted({{m.split(".")[0] for m in sys.modules if m.startswith(("gpsimd_", "numba"))}} - {{"gpsimd_core"}}))
"""
    assert shown(code) == f"['gpsimd_{gen.removesuffix('_plus')}']"
