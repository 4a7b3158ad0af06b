"""Reading golden-vector files without mercy: whatever the format does not name makes the file unreadable."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpsimd_core.errors import BadInput

__all__ = ["Place", "choice", "digits", "load", "table", "text_list"]


class Place:
    """Where in a file something stands, for messages: group `add_16`, row 3."""

    def __init__(self, *parts: str) -> None:
        self.parts = parts

    def at(self, part: str) -> Place:
        """A place inside this one."""
        return Place(*self.parts, part)

    def wrong(self, what: str) -> BadInput:
        """The error to raise."""
        return BadInput(", ".join(self.parts) + ": " + what)


def load(source: str | Path | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and the content of a golden-vector file.

    Raises:
        BadInput: no such file, no TOML, or another schema.
    """
    if isinstance(source, Mapping):
        name, content = "<vectors>", dict(source)
    else:
        name = str(source)
        try:
            content = tomllib.loads(Path(source).read_text("utf-8"))
        except OSError as error:
            raise BadInput(f"{name}: {error.strerror or error}") from None
        except UnicodeDecodeError as error:
            raise BadInput(f"{name}: not UTF-8 text (byte {error.start})") from None
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"{name}: not TOML: {error}") from None
    if content.get("schema") != 2 or isinstance(content["schema"], bool):
        raise BadInput(f"{name}: schema is {content.get('schema')!r}; allowed: 2")
    return name, content


_KINDS = {str: "text", int: "an integer", float: "a number", bool: "true or false", list: "a list", dict: "a table"}


def table(value: Any, place: Place, required: Mapping[str, type], optional: Mapping[str, type]) -> dict[str, Any]:
    """A TOML table with exactly these keys.

    Raises:
        BadInput: another type, an unknown key, a missing key, a key of another type.
    """
    if not isinstance(value, dict):
        raise place.wrong(f"expected a table, found {value!r}")
    unknown = sorted(set(value) - set(required) - set(optional))
    if unknown:
        raise place.wrong(f"unknown key {unknown[0]!r}; allowed: {', '.join([*required, *optional])}")
    missing = [key for key in required if key not in value]
    if missing:
        raise place.wrong(f"key {missing[0]!r} is missing")
    for key, kind in (*required.items(), *optional.items()):
        if key in value and type(value[key]) is not kind:
            raise place.wrong(f"{key} is {value[key]!r}; it must be {_KINDS[kind]}")
    return value


def text_list(value: list[Any], place: Place, key: str) -> list[str]:
    """A list of texts."""
    for item in value:
        if not isinstance(item, str):
            raise place.wrong(f"{key} holds {item!r}; it must be text")
    return value


def choice(value: str, place: Place, key: str, allowed: Any) -> str:
    """One of the allowed texts."""
    if value not in allowed:
        raise place.wrong(f"{key} is {value!r}; allowed: {', '.join(allowed)}")
    return value


def digits(value: Any, bits: int, place: Place, what: str) -> int:
    """A bit pattern of `bits` bits: lower-case hex, no prefix, exactly as many digits as the width needs."""
    count = -(-bits // 4)
    if not isinstance(value, str):
        raise place.wrong(f"{what} is {value!r}; it must be text of {count} hex digits")
    if len(value) != count or any(digit not in "0123456789abcdef" for digit in value):
        raise place.wrong(f"{what} is {value!r}; {bits} bits take exactly {count} lower-case hex digits")
    number = int(value, 16)
    if number >> bits:
        raise place.wrong(f"{what} is {value!r}, which does not fit {bits} bits")
    return number
