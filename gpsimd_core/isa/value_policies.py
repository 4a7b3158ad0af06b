"""The policies that values obey: what conversions and stores take from the policy table.

Source: the policy table of docs/decisions.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpsimd_core.errors import BadValue

__all__ = ["POLICIES", "checked_policies"]

POLICIES: dict[str, tuple[str, ...]] = {
    "fp_to_int": ("rne_saturate", "rtz_saturate", "wrap"),
    "fp8_overflow": ("flavour", "saturate", "ieee"),
    "fp32r_mantissa_bits": ("11", "10", "13"),
    "stochastic_rounding": ("off", "an integer seed"),
    "mx_scale": ("nki", "compiler"),
}
"""The policies that values obey, default first."""


def checked_policies(policies: Mapping[str, Any]) -> dict[str, Any]:
    """The value policies among `policies`, defaults filled in.

    Returns:
        `fp_to_int`, `fp8_overflow`, `mx_scale`: a name; `fp32r_mantissa_bits`: 10, 11 or 13; `stochastic_rounding`:
        "off" or a seed. Policies about other matters are left out.

    Raises:
        BadValue: a value that its policy does not have.
    """
    found: dict[str, Any] = {}
    for name, allowed in POLICIES.items():
        value = policies.get(name, allowed[0])
        if name == "fp32r_mantissa_bits" and str(value) in allowed and not isinstance(value, bool):
            found[name] = int(value)
        elif name == "stochastic_rounding" and value != "off":
            found[name] = _seed(value)
        elif value in allowed and name != "fp32r_mantissa_bits":
            found[name] = value
        else:
            raise BadValue(f"policy {name} is {value!r}; allowed: {', '.join(allowed)}")
    return found


def _seed(value: Any) -> int:
    try:
        seed = int(str(value), 0)
    except ValueError:
        seed = -1
    if isinstance(value, bool | float) or not 0 <= seed < 1 << 64:
        raise BadValue(f"policy stochastic_rounding is {value!r}; allowed: off, an integer seed from 0 to 2^64 - 1")
    return seed
