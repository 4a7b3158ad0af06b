"""The external-register bus: a 32-bit address space of its own behind RER and WER, and the gate before it.

No source publishes which registers it carries, so it starts as empty storage that reads 0; a user hangs devices on it.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field, frozen


@frozen(kw_only=True)
class Access:
    """One RER or WER as the gate sees it.

    Args:
        address: on the bus.
        write: True for WER.
        ring: the ring in force; 0 inside a handler.
        eraccess: what the special register ERACCESS holds, 0 where the variant has none.
    """

    address: int
    write: bool
    ring: int
    eraccess: int


def deny(access: Access) -> bool:
    """The default gate for user rings: nothing is allowed."""
    return False


@define(kw_only=True)
class Bus:
    """External registers as plain storage; replace `read`, `write` or `gate` to model a device.

    Args:
        gate: asked for rings above 0; False raises ExternalRegisterPrivilege. Ring 0 always passes (PROPOSED).
        read: address to 32-bit value.
        write: address and 32-bit value.
    """

    gate: Callable[[Access], bool] = deny
    read: Callable[[int], int] = field()
    write: Callable[[int, int], None] = field()
    values: dict[int, int] = field(factory=dict)

    @read.default
    def _read(self) -> Callable[[int], int]:
        return lambda address: self.values.get(address, 0)

    @write.default
    def _write(self) -> Callable[[int, int], None]:
        return lambda address, value: self.values.__setitem__(address, value)

    def allows(self, access: Access) -> bool:
        """Whether the access may take place."""
        return access.ring == 0 or self.gate(access)
