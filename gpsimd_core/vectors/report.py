"""What became of a golden-vector file: one outcome a row, and the sums that people ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from attrs import asdict, frozen

__all__ = ["FAILED", "NOT_RUN", "PASSED", "STATUSES", "UNSUPPORTED", "Difference", "Outcome", "Report"]

PASSED, FAILED, UNSUPPORTED, NOT_RUN = STATUSES = ("passed", "failed", "unsupported", "not run")


@frozen(kw_only=True)
class Difference:
    """One result that is not what the row says."""

    name: str
    expected: str
    found: str
    how: str = ""
    """Which twin gave it, where both were run."""


@frozen(kw_only=True)
class Outcome:
    """One row of a file."""

    group: str
    row: int
    """Counted from 1 within its group."""
    evidence: str
    status: str
    what: str = ""
    """The leaf, operator or conversion, with its operands."""
    reason: str = ""
    differences: tuple[Difference, ...] = ()


@frozen(kw_only=True)
class Report:
    """Every row of a golden-vector file with its outcome."""

    source: str
    compiled: bool
    """Whether every row was run by the compiled twins too."""
    outcomes: tuple[Outcome, ...]

    @property
    def ok(self) -> bool:
        """No row failed."""
        return not self.failed

    @property
    def passed(self) -> tuple[Outcome, ...]:
        return self._of(PASSED)

    @property
    def failed(self) -> tuple[Outcome, ...]:
        return self._of(FAILED)

    @property
    def unsupported(self) -> tuple[Outcome, ...]:
        return self._of(UNSUPPORTED)

    @property
    def not_run(self) -> tuple[Outcome, ...]:
        return self._of(NOT_RUN)

    def _of(self, status: str) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.status == status)

    def by_group(self) -> dict[tuple[str, str], dict[str, int]]:
        """(group, evidence) = number of rows by status, in the order of the file."""
        return _tally((outcome.group, outcome.evidence, outcome.status) for outcome in self.outcomes)

    def by_evidence(self) -> dict[str, dict[str, int]]:
        """Evidence class = number of rows by status."""
        tally = _tally(("", outcome.evidence, outcome.status) for outcome in self.outcomes)
        return {evidence: counts for (_, evidence), counts in tally.items()}

    def lines(self) -> Iterator[dict[str, Any]]:
        """The report as plain data: a summary, the groups, then every row that did not pass."""
        yield {
            "kind": "summary",
            "source": self.source,
            "compiled": self.compiled,
            "ok": self.ok,
            **{status.replace(" ", "_"): len(self._of(status)) for status in STATUSES},
            "evidence": self.by_evidence(),
        }
        for (group, evidence), counts in self.by_group().items():
            yield {"kind": "group", "group": group, "evidence": evidence, **counts}
        for outcome in self.outcomes:
            if outcome.status != PASSED:
                yield {"kind": "row", **asdict(outcome)}


def _tally(keys: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], dict[str, int]]:
    tally: dict[tuple[str, str], dict[str, int]] = {}
    for group, evidence, status in keys:
        counts = tally.setdefault((group, evidence), dict.fromkeys(STATUSES, 0))
        counts[status] += 1
    return tally
