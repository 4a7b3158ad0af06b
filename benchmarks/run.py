"""Every benchmark in one table: `python benchmarks/run.py [module ...]`. Ratios are taken inside one process."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

MODULES = ("spine", "values", "leaves", "families", "control", "host")


def main(names: list[str]) -> int:
    """Measure, print, and give 1 where a ratio misses what it must reach."""
    here = Path(__file__).parent
    sys.path.insert(0, str(here))
    table = Table("work", "measured", "required", "", title="one thread unless said; ratios of one run")
    missed = 0
    for name in names or [m for m in MODULES if (here / f"{m}.py").exists()]:
        for row in importlib.import_module(name).rows():
            work, measured, required, at_most, unit = row if len(row) == 5 else (*row[:3], False, row[3])
            ok = required is None or (measured <= required if at_most else measured >= required)
            missed += not ok
            bound = "" if required is None else f"{'<=' if at_most else '>='} {required:g}"
            table.add_row(work, f"{measured:.3g} {unit}", bound, "" if required is None else "ok" if ok else "MISSED")
    Console().print(table)
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
