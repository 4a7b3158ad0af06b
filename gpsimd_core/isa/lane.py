"""A value is written once, as a plain scalar function; `compiled` gives its fast twin.

`@lane` marks a function over bit patterns. The function itself stays plain Python and is the slow twin that tests
compare with; `compiled(function)` is the same function built by numba, together with every lane it calls. numba is
imported by the first call of `compiled`, so that whoever only lists, decodes or validates never pays for it.

Four more words serve lanes. `@inlined` is `@lane` for a value that is always built into its caller, so that a loop over
it keeps its vector width however long it is. `@primitive(native)` marks a small function that plain Python and the
machine spell differently, such as a cast to 32 bits (`isa/lanes/words.py` has them all); `@intrinsic(make)` marks one
that the machine does by an instruction which numba cannot spell (`isa/lanes/caches.py`). `bind(function, NAME=...)` is
the same lane with some of its globals replaced: one text serves two widths, or a loop is frozen to one format, whose
numbers the compiler then folds.

Rules for a lane:

- it reads nothing but its arguments, other lanes, primitives and module-level numbers or arrays, all by plain global
  name;
- it casts each step back to the lane's width (`u32(x + y)`), or numba widens to 64 bits and the loop around it
  loses its vector width; what it loads from an array it casts too, so that plain Python computes on plain integers;
- it never mixes a 64-bit unsigned with a signed integer, a bare number included: numba makes that a float;
- it cannot raise.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import os
import types
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["bind", "compiled", "inlined", "intrinsic", "is_lane", "lane", "primitive"]

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__gpsimd_lane__"
_INLINE = "__gpsimd_inline__"
_NATIVE = "__gpsimd_native__"
_INTRINSIC = "__gpsimd_intrinsic__"
_twins: dict[Callable[..., Any], Callable[..., Any]] = {}
_parts: dict[Callable[..., Any], Callable[..., Any]] = {}
_bound: dict[tuple[Any, ...], Callable[..., Any]] = {}


def lane(function: F) -> F:
    """Mark `function` as a value: plain Python here, compiled by `compiled(function)`."""
    setattr(function, _MARK, True)
    return function


def inlined(function: F) -> F:
    """`lane` for a value that is always built into its caller."""
    setattr(function, _INLINE, True)
    return lane(function)


def is_lane(function: object) -> bool:
    """Whether `function` was marked with `@lane`."""
    return bool(getattr(function, _MARK, False))


def primitive(native: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function whose compiled spelling is `native`: a numpy scalar type, or a function for numba to build."""

    def mark(function: F) -> F:
        setattr(function, _NATIVE, native)
        return function

    return mark


def intrinsic(make: Callable[[], Any]) -> Callable[[F], F]:
    """Mark a function whose compiled spelling is the numba intrinsic that `make()` builds, when it is first needed."""

    def mark(function: F) -> F:
        setattr(function, _INTRINSIC, functools.cache(make))
        return function

    return mark


def bind(function: F, **constants: Any) -> F:
    """The lane `function` with some of the global names that it reads replaced.

    Args:
        function: what `@lane` marked.
        constants: name = number, tuple of numbers, lane or primitive. Lanes that `function` calls are not touched.

    Returns:
        A lane; the same one for the same arguments.

    Raises:
        TypeError: `function` is no lane, or reads no global of that name.
    """
    if not is_lane(function):
        raise TypeError(f"{function!r} is not marked with @lane")
    source = _plain(function)
    unknown = set(constants) - set(source.__code__.co_names)
    if unknown:
        raise TypeError(f"{source.__qualname__} reads no {', '.join(sorted(unknown))}")
    key = (function, *sorted(constants.items()))
    twin = _bound.get(key)
    if twin is None:
        text = ",".join(f"{name}={_spelled(value)}" for name, value in sorted(constants.items()))
        if len(text) > 60:
            text = hashlib.sha256(text.encode()).hexdigest()[:16]
        twin = _bound[key] = lane(_clone(source, source.__globals__ | constants, f"{source.__qualname__}[{text}]"))
    return twin  # type: ignore[return-value]


def compiled(function: F) -> F:
    """The numba twin of a lane, built on first use and cached on disk.

    Args:
        function: what `@lane` marked.

    Returns:
        A callable with the same results. Under `NUMBA_DISABLE_JIT=1` it is `function` itself, unless built before.

    Raises:
        TypeError: `function` is no lane.
    """
    twin = _twins.get(function)
    if twin is None:
        if not is_lane(function):
            raise TypeError(f"{function!r} is not marked with @lane")
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            return function
        twin = _twins[function] = _build(function)
    return twin  # type: ignore[return-value]


def _part(function: Callable[..., Any]) -> Callable[..., Any]:
    """The twin that other twins call. Python cannot: what converts its objects takes longer to build than most lanes."""
    twin = _parts.get(function)
    if twin is None:
        twin = _parts[function] = _build(function, part=True)
    return twin


def _build(function: Callable[..., Any], *, part: bool = False) -> Callable[..., Any]:
    source = _plain(function)
    namespace = dict(source.__globals__)
    for name, value in _lanes_called(source).items():
        namespace[name] = _part(value)
    for name in source.__code__.co_names:
        native = getattr(namespace.get(name), _NATIVE, None)
        if native is not None:
            namespace[name] = native if isinstance(native, type) else _native(native)
        elif hasattr(namespace.get(name), _INTRINSIC):
            namespace[name] = getattr(namespace[name], _INTRINSIC)()
    # numba tells cache entries apart by name and code, not by options
    clone = _clone(source, namespace, f"{source.__qualname__}{'-part' if part else ''}")
    twin = _njit(forceinline=hasattr(function, _INLINE), no_cpython_wrapper=part)(clone)
    _take_numbers_as_numbers(twin)
    try:
        twin.enable_caching()
    except RuntimeError:  # neither the source folder nor the user's cache folder can be written
        return twin  # type: ignore[no-any-return]
    # numba stamps a cache entry with the file of the function alone; a lane also depends on the files of what it calls
    # and on numbers that come from elsewhere.
    twin._cache._cache_file._source_stamp = tuple(sorted(_stamps(source)))
    return twin  # type: ignore[no-any-return]


@functools.cache
def _native(native: Callable[..., Any]) -> Any:
    return _njit(no_cpython_wrapper=True)(native)


def _take_numbers_as_numbers(twin: Any) -> None:
    """Let a constant argument share the signature of a variable one; numba would compile `f(x, 5)` for the 5."""
    from numba.core import types as nb

    typed: Any = twin.get_call_template
    plain: Any = nb.unliteral
    twin.get_call_template = lambda args, kws: typed([plain(a) for a in args], {k: plain(v) for k, v in kws.items()})


def _njit(**more: Any) -> Any:
    import numba

    njit: Any = numba.njit  # whose types leave out the wrappers
    return njit(nogil=True, boundscheck=False, error_model="numpy", no_cfunc_wrapper=True, **more)


def _clone(source: types.FunctionType, namespace: dict[str, Any], qualname: str) -> types.FunctionType:
    clone = types.FunctionType(source.__code__, namespace, source.__name__, source.__defaults__, source.__closure__)
    clone.__qualname__ = qualname
    clone.__module__ = source.__module__
    clone.__kwdefaults__ = source.__kwdefaults__
    clone.__doc__ = source.__doc__
    if hasattr(source, _INLINE):
        setattr(clone, _INLINE, True)
    return clone


def _spelled(value: Any) -> str:
    name = getattr(value, "__qualname__", None)
    return f"{value.__module__}.{name}" if name else repr(value)


def _plain(function: Callable[..., Any]) -> types.FunctionType:
    assert isinstance(function, types.FunctionType)
    return function


def _lanes_called(function: types.FunctionType) -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if callable(value) and is_lane(value) and value is not function:
            found[name] = value
    return found


def _spelled_by_hand(function: types.FunctionType) -> list[types.FunctionType]:
    found: list[Any] = [function.__globals__.get(name) for name in function.__code__.co_names]
    return [_plain(f) for f in found if hasattr(f, _NATIVE) or hasattr(f, _INTRINSIC)]


def _stamps(function: types.FunctionType) -> set[tuple[str, int, int | str]]:
    files: set[str] = set()
    numbers: set[str] = set()
    seen, todo = set(), [function]
    while todo:
        here = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        files.add(here.__code__.co_filename)
        files |= {spelled.__code__.co_filename for spelled in _spelled_by_hand(here)}
        numbers |= {text for name in here.__code__.co_names if (text := _number(name, here.__globals__.get(name)))}
        todo += [_plain(called) for called in _lanes_called(here).values()]
    status = {name: os.stat(name) for name in files if os.path.exists(name)}
    digest = hashlib.sha256("\n".join(sorted(numbers)).encode()).hexdigest()
    return {(name, s.st_mtime_ns, s.st_size) for name, s in status.items()} | {("numbers", 0, digest)}


def _number(name: str, value: object) -> str:
    if isinstance(value, enum.EnumMeta):
        return f"{name}={dict(value.__members__)}"
    return f"{name}={value!r}" if isinstance(value, int | float | tuple) else ""
