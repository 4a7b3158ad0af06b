"""Golden vectors: run files of expected values against this implementation, and write such files.

Three kinds of file, all schema 2 and all read without mercy: leaf groups (`[[group]]`, with `[[encoding]]` rows of the
scalar control core), engine-level values (`[[vector]]`), whole instructions (`[[example]]`). The project's own files lie
in `data/vectors`; the format is described at the top of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpsimd_core.errors import BadInput
from gpsimd_core.vectors.making import make_vectors, to_toml
from gpsimd_core.vectors.report import NOT_RUN, Difference, Outcome, Report
from gpsimd_core.vectors.strict import Place, load, table

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["Difference", "Outcome", "Report", "builtin_files", "check_vectors", "make_vectors", "to_toml"]


def builtin_files() -> dict[str, Path]:
    """The project's own golden files by name."""
    folder = Path(str(resources.files("gpsimd_core") / "data" / "vectors"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def check_vectors(
    source: str | Path | Mapping[str, Any],
    compiled: bool = False,
    *,
    machine_loader: Callable[[str, Mapping[str, Any]], Machine] | None = None,
) -> Report:
    """Run every row of a golden-vector file.

    Args:
        source: a path, or the content of a file as a mapping.
        compiled: run every row by the compiled functions too; both must agree with the row.
        machine_loader: (profile, policies) -> Machine, for whole instructions; cayman without third-party plugins where
            it is left out.

    Returns:
        One outcome a row. A row is unsupported where no source gives the value that it states.

    Raises:
        BadInput: the file cannot be read, or breaks its format. Nothing was run.
    """
    name, content = load(source)
    kinds = [kind for kind in ("group", "encoding", "vector", "example") if kind in content]
    place = Place(name)
    if "vector" in kinds:
        table(content, place, {"schema": int, "vector": list}, {})
        outcomes = _vectors(content["vector"], name, compiled)
    elif "example" in kinds:
        table(content, place, {"schema": int, "example": list}, {})
        outcomes = _examples(content["example"], name, compiled, machine_loader or _cayman)
    elif kinds:
        table(content, place, {"schema": int, "pages": dict}, {"group": list, "encoding": list})
        outcomes = _leaves(content, name, compiled)
    else:
        raise BadInput(f"{name}: no [[group]], [[encoding]], [[vector]] or [[example]]")
    return Report(source=name, compiled=compiled, outcomes=tuple(outcomes))


def _leaves(content: dict[str, Any], name: str, compiled: bool) -> list[Outcome]:
    from gpsimd_core.vectors.leafrows import read_encodings, read_groups
    from gpsimd_core.vectors.leafruns import run_row

    pages = content["pages"]
    for tag, title in pages.items():
        if not isinstance(title, str):
            raise Place(name, "pages").wrong(f"{tag} is {title!r}; it must be text")
    rows = list(read_groups(content.get("group", []), pages, name))
    encodings = list(read_encodings(content.get("encoding", []), pages, name))
    outcomes = [run_row(row, compiled) for row in rows]
    return outcomes + [
        Outcome(group=id_, row=row, evidence=evidence, status=NOT_RUN, what=f"{text} = {word}", reason="control")
        for id_, row, evidence, text, word in encodings
    ]


def _vectors(rows: list[Any], name: str, compiled: bool) -> list[Outcome]:
    from gpsimd_core.vectors.alurows import read_vectors, run_vector

    return [run_vector(row, compiled) for row in list(read_vectors(rows, name))]


def _examples(
    rows: list[Any], name: str, compiled: bool, machine_loader: Callable[[str, Mapping[str, Any]], Machine]
) -> list[Outcome]:
    from gpsimd_core.vectors.examples import read_examples, run_example

    return [run_example(example, machine_loader, compiled) for example in list(read_examples(rows, name))]


def _cayman(profile: str, policies: Mapping[str, Any]) -> Machine:
    from gpsimd_core.host import load as load_machine

    return load_machine("cayman", profile=profile, policies=policies, plugins=())
