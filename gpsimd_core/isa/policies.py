"""The choices between readings that stay open at run time, and the profiles that bundle them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpsimd_core.errors import UsageError
from gpsimd_core.values import Evidence, Policy, Profile

__all__ = ["INTEGER", "POLICIES", "PROFILES", "parse", "resolve"]

INTEGER = "<integer>"
"""Stands for any whole number in the values of a policy."""


def _policy(name: str, values: str, help: str, source: str, confidence: str = "MED") -> Policy:
    options = tuple(values.split())
    return Policy(
        name=name, values=options, default=options[0], help=help,
        evidence=Evidence(confidence=confidence, source=source),
    )  # fmt: skip


_CPR = "CopyPredicatedReduce — SelectReduce (0xea); AWS Neuron NKI docs: nki.isa.select_reduce"
_DT = "The Unified Datatype Model; Formal Semantics II"
_OURS = "this project"

POLICIES = (
    _policy("select_reduce", "merge select", "0xEA: false lanes keep dst and stay out of the maximum, or take imm0 and join it", _CPR),
    _policy("reduce_nan", "suppress propagate select", "MAX, MIN and kin: the number wins; NaN wins; or `a > b ? a : b`", _DT),
    _policy("fp_to_int", "rne_saturate rtz_saturate wrap", "float to integer at the store", "AWS NKI 0.6.0 release notes; Cast and Copy — 0x47/0x46"),
    _policy("fp8_overflow", "flavour saturate ieee", "overflow of a narrowing to fp8: by flavour, to the largest finite, or as IEEE", _DT),
    _policy("fp8_exp4", "ieee ocp", "meaning of dtype code 0xE: E4M3 up to 240, or E4M3FN up to 448", "Neuron Data Types; NCC_EVRF051"),
    _policy("fp32r_mantissa_bits", "11 10 13", "mantissa bits that FP32R keeps", "The Unified Datatype Model; bir::CastToNewDType", "LOW"),
    _policy("stochastic_rounding", f"off {INTEGER}", "off, or a seed for narrowings", "runtime environment variables", "LOW"),
    _policy("mx_scale", "nki compiler", "rule for the shared scale of an MX block", "AWS NKI 0.5.0 docs; MX Microscaling: Quantize"),
    _policy("cross_lane_int", "fp32 widening", "0x7C on integers: through fp32, or widened as the vector core does", "CrossLaneReduce"),
    _policy("idle_accumulator", "single_shot undefined", "0xEA with IDLE: seed, fold and store, or leave the lane undefined", _CPR),
    _policy("initial_memory", "poison zero", "fresh memory: every byte 0xA5, or zero", _OURS, "PROPOSED"),
    _policy("events", "honour ignore", "waits and updates of events and semaphores", _OURS, "PROPOSED"),
    _policy("semaphore_range", "fault wrap", "an update beyond 0 to 2^32-1", _OURS, "PROPOSED"),
    _policy("strict", "off on", "warnings become violations or faults", _OURS, "PROPOSED"),
)  # fmt: skip

PROFILES = (
    Profile(
        name="reference", policies={}, help="what the pages that each policy names say",
        evidence=Evidence(confidence="HIGH", source="the pages that each policy names"),
    ),
    Profile(
        name="nki",
        policies={"select_reduce": "select", "fp32r_mantissa_bits": "10", "idle_accumulator": "undefined"},
        help="the public kernel API's reading",
        evidence=Evidence(confidence="MED", source="AWS Neuron NKI docs"),
    ),
)  # fmt: skip


def parse(policy: Policy, value: object) -> str | int:
    """The value of a policy, checked.

    Raises:
        UsageError: not one of the policy's values.
    """
    text = str(value)
    if INTEGER in policy.values and text.lstrip("-").isdigit():
        return int(text)
    if text not in policy.values:
        raise UsageError(f"policy {policy.name} is {text!r}; allowed: {', '.join(policy.values)}")
    return int(text) if text.isdigit() else text


def resolve(
    policies: Iterable[Policy],
    profile: Profile,
    defaults: Mapping[str, str],
    overrides: Mapping[str, object],
) -> dict[str, str | int]:
    """Every policy's value: its default, then the generation's, then the profile's, then the caller's.

    Raises:
        UsageError: an override names no policy, or a value that its policy does not have.
    """
    by_name = {p.name: p for p in policies}
    for name in (*defaults, *profile.policies, *overrides):
        if name not in by_name:
            raise UsageError(f"no policy is called {name!r}; there are {', '.join(sorted(by_name))}")
    chosen: dict[str, object] = {name: p.default for name, p in by_name.items()}
    chosen.update(defaults)
    chosen.update(profile.policies)
    chosen.update(overrides)
    return {name: parse(by_name[name], value) for name, value in chosen.items()}
