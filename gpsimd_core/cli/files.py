"""Output files: whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from gpsimd_core.errors import UsageError

__all__ = ["write"]


def write(path: str, data: bytes) -> None:
    """Write a file under a temporary name, then rename it; `-` is standard output.

    Raises:
        UsageError: it cannot be written; nothing is left behind then.
    """
    if path == "-":
        sys.stdout.buffer.write(data)
        return
    final = Path(path)
    temporary = None
    try:
        if final.is_dir():
            raise IsADirectoryError(21, "is a folder")
        handle, temporary = tempfile.mkstemp(prefix=f".{final.name}.", dir=final.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o666 & ~umask())
        os.replace(temporary, final)
    except BaseException as e:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if not isinstance(e, OSError):
            raise
        raise UsageError(f"cannot write {path}: {(e.strerror or str(e)).lower()}") from None


def umask() -> int:
    """The process's file mode mask."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
