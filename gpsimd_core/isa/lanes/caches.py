"""Asking for memory before it is needed.

The channels of an operand lie a partition's stride apart, too far for a processor to guess the next one. On small tiles
most of the time would go into waiting for them.
"""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.lane import intrinsic

__all__ = ["prefetch"]


def _prefetch() -> Any:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic as define

    @define
    def ask(context: Any, array: Any, index: Any) -> Any:
        def generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
            byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
            storage = target.make_array(signature.args[0])(target, builder, values[0])
            place = builder.bitcast(builder.gep(storage.data, [values[1]]), byte)
            shape = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
            fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], shape)
            builder.call(fetch, [place, word(0), word(3), word(1)])  # to read, into the nearest cache, data
            return target.get_dummy_value()

        return types.void(array, index), generate

    return ask


@intrinsic(_prefetch)
def prefetch(array: Any, index: int) -> None:
    """Bring the cache line of an element near; changes nothing, and an index past the array is no error."""
