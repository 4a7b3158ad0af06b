"""What can go wrong, by name. Every message says what, where, what was found and what is allowed."""

from __future__ import annotations

from typing import Any

__all__ = [
    "BadInput",
    "BadValue",
    "Fault",
    "GpsimdError",
    "NotExecutable",
    "PluginTrouble",
    "Unsupported",
    "UsageError",
    "Violated",
]


class GpsimdError(Exception):
    """Base of every error that a user can cause. `exit_code` is what the command line ends with."""

    exit_code = 1


class BadInput(GpsimdError):
    """A file or text that cannot be read as what it should be: missing, truncated, malformed."""

    exit_code = 3


class BadValue(GpsimdError, ValueError):
    """An argument outside what its place allows: unknown name, wrong shape, number out of range."""

    exit_code = 2


class UsageError(GpsimdError):
    """The call itself is wrong: unknown generation, unknown policy, contradicting options."""

    exit_code = 2


class PluginTrouble(GpsimdError):
    """A generation that does not load, a clash between plugins, a plugin for another API."""

    exit_code = 4


class Fault(GpsimdError):
    """A legal record whose execution is impossible: extent, undefined register, a wait that is never met.

    Args:
        reason: what happened, with what was found and what is allowed.
        index: position of the instruction in its program, if known.
        where: operand, register or other place inside the instruction, if known.
    """

    exit_code = 5

    def __init__(self, reason: str, *, index: int | None = None, where: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.index = index
        self.where = where
        self.positions: dict[str, int] = {}
        """Engine to the index it had reached, where several streams ran."""


class Unsupported(Fault):
    """The grounded facts end here: the record or value is legal, but no source says what it gives.

    Args:
        what: the thing asked for, by name.
        missing: the fact that is missing.
    """

    def __init__(self, what: str, missing: str, *, index: int | None = None, where: str | None = None) -> None:
        super().__init__(f"{what} is not supported: {missing}", index=index, where=where)
        self.what = what
        self.missing = missing


class Violated(GpsimdError):
    """A program breaks rules, and nothing of it was executed.

    Args:
        report: the outcome of validation.
    """

    def __init__(self, report: Any) -> None:
        super().__init__(str(report))
        self.report = report


class NotExecutable(Fault):
    """The opcode is declared on this generation, yet nothing there executes it."""
