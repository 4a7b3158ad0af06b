"""Tensors of a program in `.npy` files: checked when read, written all or not at all.

`.npy` has no name for bf16, fp8, fp4 and e8m0. Their codes are stored as uint16 or uint8; what is read may be such
codes, or the void elements that `numpy.save` makes of an ml_dtypes array.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpsimd_core.cli.files import umask
from gpsimd_core.errors import BadInput, BadValue, UsageError
from gpsimd_core.isa.dtypes import BY_CODE
from gpsimd_core.machine import suggest
from gpsimd_core.tensors import NamedTensor

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore
    from gpsimd_core.program import Program

__all__ = ["assign", "check_folder", "extremes", "fetch", "load", "save", "stored_as"]

_E5M2, _VOID = b"{'descr': '<f1'", b"{'descr': '|V1'"
"""How numpy.save labels a float8_e5m2 array, which numpy.load refuses, and the other fp8 arrays, which it reads."""


def assign(program: Program, inputs: Sequence[str]) -> dict[str, Path]:
    """Which file each input tensor comes from.

    Args:
        program: whose `in` and `inout` tensors are wanted.
        inputs: `name=file`, or a folder that holds `name.npy`.

    Raises:
        UsageError: an input that the program does not have, one given twice, one that is missing.
    """
    wanted = [t.name for t in program.tensors.values() if t.direction in ("in", "inout")]
    given: dict[str, Path] = {}
    folders: list[Path] = []
    for text in inputs:
        name, equals, path = text.partition("=")
        if not equals:
            if not Path(text).is_dir():
                raise UsageError(f"-i takes NAME=FILE.npy or a folder, not {text!r}")
            folders.append(Path(text))
            continue
        if name not in wanted:
            there = f"its inputs are {', '.join(wanted)}" if wanted else "it has none"
            kind = f", a tensor of direction {program.tensors[name].direction}" if name in program.tensors else ""
            raise UsageError(f"-i {name}: the program has no such input{kind}; {there}{suggest(name, wanted)}")
        if name in given:
            raise UsageError(f"input {name} is given twice: {given[name]} and {path}")
        given[name] = Path(path)
    for name in wanted:
        for folder in folders:
            if name not in given and (folder / f"{name}.npy").exists():
                given[name] = folder / f"{name}.npy"
    missing = [program.tensors[name] for name in wanted if name not in given]
    if missing:
        lines = [f"missing input tensor{'s' if len(missing) > 1 else ''}: give each with -i NAME=FILE.npy"]
        lines += [f"  {t.name}  {_shape(t.tensor.shape)} {t.tensor.dtype}" for t in missing]
        raise UsageError("\n".join(lines))
    return given


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "a scalar"


def load(core: NeuronCore, t: NamedTensor, path: Path) -> None:
    """Put the array of a file where the tensor lies.

    Raises:
        BadInput: the file is no array, or not of the tensor's shape and dtype.
    """
    where = f"input {t.name} ({path})"
    try:
        array = _read(path)
    except OSError as e:
        raise BadInput(f"{where}: cannot read it: {(e.strerror or str(e)).lower()}") from None
    except (ValueError, EOFError, TypeError, SyntaxError) as e:
        raise BadInput(f"{where}: no readable .npy array: {_first_line(e)}") from None
    x = t.tensor
    if array.shape != x.shape:
        raise BadInput(f"{where}: the shape is {_shape(array.shape)}; the program declares {_shape(x.shape)}")
    region = core.memory.region(x.region)
    codes = _codes(core, t)
    fmt = core.machine.formats[int(x.code)]
    if codes is None:
        if array.dtype.newbyteorder("=") != fmt.dtype:
            hint = "; store booleans as uint8" if array.dtype == np.bool_ else ""
            raise BadInput(f"{where}: the dtype is {array.dtype}; the program declares {x.dtype} ({fmt.dtype}){hint}")
        region.write(array.astype(fmt.dtype), x.partition, x.offset)
        return
    if array.dtype.kind == "V" and array.dtype.itemsize == codes.itemsize and array.dtype.names is None:
        array = array.view(codes)
    if array.dtype.newbyteorder("=") != codes:
        raise BadInput(
            f"{where}: the dtype is {array.dtype}; the program declares {x.dtype}, stored as {codes} codes or as an "
            "ml_dtypes array"
        )
    region.write(array.astype(codes), x.partition, x.offset)


def _read(path: Path) -> np.ndarray[Any, Any]:
    with open(path, "rb") as file:
        head = file.read(len(_E5M2) + 10)
        file.seek(0)
        if _E5M2 not in head:
            return np.lib.format.read_array(file, allow_pickle=False)
        return np.lib.format.read_array(io.BytesIO(file.read().replace(_E5M2, _VOID, 1)), allow_pickle=False)


def _first_line(e: Exception) -> str:
    return (str(e).splitlines() or [type(e).__name__])[0]


def _codes(core: NeuronCore, t: NamedTensor) -> np.dtype[Any] | None:
    """The unsigned dtype that stores the tensor's codes in a file; None where .npy has a name for its dtype."""
    x = t.tensor
    fmt = core.machine.formats.get(int(x.code))
    if fmt is not None and fmt.readable:
        try:
            core.memory.region(x.region).numpy_of(x.dtype)
        except BadValue as e:
            raise BadInput(f"tensor {t.name}: {e}") from None
        if fmt.dtype.isbuiltin == 1:
            return None
    return np.dtype(f"uint{8 * BY_CODE[x.code].size}")


def stored_as(core: NeuronCore, t: NamedTensor) -> str | None:
    """The dtype of the stored codes, or None where values are stored."""
    codes = _codes(core, t)
    return None if codes is None else str(codes)


def fetch(core: NeuronCore, t: NamedTensor) -> np.ndarray[Any, Any]:
    """The array that a file of the tensor holds: values, or codes where .npy has no name for the dtype."""
    x = t.tensor
    region = core.memory.region(x.region)
    codes = _codes(core, t)
    kind = codes if codes is not None else core.machine.formats[int(x.code)].dtype
    return region.read(x.partition, x.offset, shape=x.shape, dtype=kind)


def extremes(
    core: NeuronCore, t: NamedTensor, array: np.ndarray[Any, Any]
) -> tuple[float | int | None, float | int | None]:
    """Smallest and largest number of a fetched array, NaN left out; None where there is none."""
    fmt = core.machine.formats.get(int(t.tensor.code))
    if fmt is None or not fmt.readable:
        return None, None
    values = array.view(fmt.dtype)
    if not fmt.is_integer:
        values = values.astype(np.float32)
        values = values[~np.isnan(values)]
    if values.size == 0:
        return None, None
    return values.min().item(), values.max().item()


def check_folder(folder: Path) -> None:
    """Refuse an output folder that cannot be made or written to, before anything runs.

    Raises:
        UsageError: with the reason.
    """
    nearest = folder
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        raise UsageError(f"-o {folder}: {nearest} is no folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UsageError(f"-o {folder}: {nearest} is not writable")


def save(folder: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Write `name.npy` for each array: all under temporary names first, then renamed.

    Raises:
        UsageError: the folder cannot be written to; nothing is left behind then.
    """
    made = [p for p in (folder, *folder.parents) if not p.exists()]
    waiting: list[tuple[str, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in arrays:
            if (folder / f"{name}.npy").is_dir():
                raise IsADirectoryError(21, f"{name}.npy is a folder")
        for name, array in arrays.items():
            handle, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".npy", dir=folder)
            waiting.append((temporary, folder / f"{name}.npy"))
            with os.fdopen(handle, "wb") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
            os.chmod(temporary, 0o666 & ~umask())
        for temporary, final in waiting:
            os.replace(temporary, final)
    except BaseException as e:
        for temporary, _ in waiting:
            Path(temporary).unlink(missing_ok=True)
        for p in made:
            if p.is_dir() and not any(p.iterdir()):
                p.rmdir()
        if not isinstance(e, OSError):
            raise
        raise UsageError(f"-o {folder}: cannot write: {(e.strerror or str(e)).lower()}") from None
