"""A value is written once, as a plain scalar function; `compiled` gives its fast twin.

`@lane` marks a function over bit patterns. The function itself stays plain Python and is the slow twin that tests
compare with; `compiled(function)` is the same function built by numba, together with every lane it calls. numba is
imported by the first call of `compiled`, so that whoever only lists, decodes or validates never pays for it.

Rules for a lane:

- it reads nothing but its arguments, other lanes and module-level numbers or arrays, all by plain global name;
- it casts each step back to the lane's width (`u32(x + y)`), or numba widens to 64 bits and the loop around it
  loses its vector width;
- it cannot raise.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["compiled", "lane"]

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__gpsimd_lane__"
_twins: dict[Callable[..., Any], Callable[..., Any]] = {}


def lane(function: F) -> F:
    """Mark `function` as a value: plain Python here, compiled by `compiled(function)`."""
    setattr(function, _MARK, True)
    return function


def compiled(function: F) -> F:
    """The numba twin of a lane, built on first use and cached on disk.

    Args:
        function: what `@lane` marked.

    Returns:
        A callable with the same results. Under `NUMBA_DISABLE_JIT=1` it is `function` itself.

    Raises:
        TypeError: `function` is no lane.
    """
    if not getattr(function, _MARK, False):
        raise TypeError(f"{function!r} is not marked with @lane")
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return function
    twin = _twins.get(function)
    if twin is None:
        twin = _twins[function] = _build(function)
    return twin  # type: ignore[return-value]


def _build(function: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    source = _plain(function)
    namespace = dict(source.__globals__)
    for name, value in _lanes_called(source).items():
        namespace[name] = compiled(value)
    clone = types.FunctionType(
        source.__code__, namespace, source.__name__, source.__defaults__, source.__closure__
    )
    clone.__qualname__ = source.__qualname__
    clone.__module__ = source.__module__
    clone.__kwdefaults__ = source.__kwdefaults__
    twin = numba.njit(nogil=True, boundscheck=False, error_model="numpy")(clone)
    try:
        twin.enable_caching()
    except RuntimeError:  # neither the source folder nor the user's cache folder can be written
        return twin  # type: ignore[no-any-return]
    # numba stamps a cache entry with the file of the function alone; a lane also depends on the files of what it calls.
    twin._cache._cache_file._source_stamp = tuple(sorted(_stamps(source)))
    return twin  # type: ignore[no-any-return]


def _plain(function: Callable[..., Any]) -> types.FunctionType:
    assert isinstance(function, types.FunctionType)
    return function


def _lanes_called(function: types.FunctionType) -> dict[str, Callable[..., Any]]:
    found = {}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if getattr(value, _MARK, False) and value is not function:
            found[name] = value
    return found


def _stamps(function: types.FunctionType) -> set[tuple[str, int, int]]:
    files, seen, todo = set(), set(), [function]
    while todo:
        here = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        files.add(here.__code__.co_filename)
        todo += [_plain(called) for called in _lanes_called(here).values()]
    status = {name: os.stat(name) for name in files if os.path.exists(name)}
    return {(name, s.st_mtime_ns, s.st_size) for name, s in status.items()}
