"""Write one version into the distributions: `python scripts/set_version.py 0.2.0`, or nothing to print what stands where.

The core, the generations and the outside plugin have one version; the generations and the outside plugin require the core from
that version to the next minor one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)((?:a|b|rc)\d+)?")
PROJECT = re.compile(r'^(version = ")([^"]+)(")$', re.MULTILINE)
MODULE = re.compile(r'^(__version__ = ")([^"]+)(")$', re.MULTILINE)
REQUIREMENT = re.compile(r'("gpsimd-core)(>=[^"]+)(")')


def places() -> Iterator[tuple[Path, re.Pattern[str]]]:
    """Where the version stands: files, with the pattern whose second group is the version."""
    yield ROOT / "pyproject.toml", PROJECT
    yield ROOT / "gpsimd_core" / "__init__.py", MODULE
    for folder in _dependents():
        yield folder / "pyproject.toml", PROJECT


def requirements() -> Iterator[Path]:
    """Files that require the core by version."""
    yield from (folder / "pyproject.toml" for folder in _dependents())


def _dependents() -> list[Path]:
    return [p.parent for p in sorted((*ROOT.glob("plugins/*/pyproject.toml"), *ROOT.glob("examples/*/pyproject.toml")))]


def requirement(version: str) -> str:
    """What a dependent says of the core: `>=0.1.0,<0.2`."""
    match = VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"{version!r} is no version such as 0.2.0 or 0.2.0rc1")
    return f">={version},<{match[1]}.{int(match[2]) + 1}"


def found() -> dict[str, str]:
    """File to the version that stands in it, and file with `requires` to what it requires."""
    versions = {str(path.relative_to(ROOT)): _one(path, pattern) for path, pattern in places()}
    return versions | {f"{path.relative_to(ROOT)} requires": _one(path, REQUIREMENT) for path in requirements()}


def _one(path: Path, pattern: re.Pattern[str]) -> str:
    hits = pattern.findall(path.read_text("utf-8"))
    if len(hits) != 1:
        raise ValueError(f"{path}: the version stands {len(hits)} times")
    return str(hits[0][1])


def write(version: str) -> None:
    """Put a version everywhere.

    Raises:
        ValueError: no version, or a place that has none; nothing is written then.
    """
    wanted = requirement(version)
    found()
    for path, pattern in places():
        _replace(path, pattern, version)
    for path in requirements():
        _replace(path, REQUIREMENT, wanted)


def _replace(path: Path, pattern: re.Pattern[str], value: str) -> None:
    text = path.read_text("utf-8")
    path.write_text(pattern.sub(lambda m: m[1] + value + m[3], text), "utf-8")


def main(words: list[str]) -> int:
    if len(words) > 1:
        print(__doc__)
        return 2
    try:
        if words:
            write(words[0])
        for place, version in found().items():
            print(f"{version:16} {place}")
    except ValueError as e:
        print(f"set_version: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
