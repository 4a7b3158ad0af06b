"""What cayman is: NC-v3."""

from __future__ import annotations

from gpsimd_core.values import Evidence, Generation, Geometry

__all__ = ["CAYMAN"]

# fmt: off
GEOMETRY = Geometry(
    sbuf_stride=0x40000, sbuf_active=0x38000, sbuf_window=0x2000000,
    psum_stride=0x8000, psum_active=0x4000, psum_window=0x400000,
    psum_banks=8, psum_bank_bytes=2048,
)

FACTS = (
    ("size",                "150 opcodes, 16 dtypes, 60 operators"),
    ("sbuf",                "224 KiB a partition, 256 KiB apart"),
    ("psum",                "8 banks of 2048 bytes"),
    ("not executable",      "0x30 0x85 0x86 are declared and have no handler"),
    ("integers",            "64-bit tensor-tensor on pool, in SBUF; the whole integer band"),
    ("addressing",          "tensor patterns have no indirect form"),
    ("fp8",                 "code 0xE is the IEEE style, largest finite 240; no flavour registers"),
    ("mx",                  "none"),
    ("zero regions",        "2048 bytes"),
    ("matmul",              "128 columns in 4 row groups; fp32 results"),
    ("activation",          "a copy on act keeps bits"),
    ("read-back",           "0x9b accumulator, 0xe9 indices"),
    ("random numbers",      "software XORWOW on pool, LFSR in dve; state opcodes 0x77 0x78 on pool"),
    ("shared memory",       "engines work on SBUF and PSUM in parallel"),
    ("synchronisation",     "events and semaphores"),
    ("dispatch",            "software or hardware decode"),
)
# fmt: on

CAYMAN = Generation(
    name="cayman",
    nc_version=3,
    title="NC-v3: Trn2",
    geometry=GEOMETRY,
    defaults=(("fp8_exp4", "ieee"),),
    facts=FACTS,
    evidence=Evidence(
        confidence="HIGH/OBSERVED",
        source="Codename ↔ Generation Cross-Walk; On-Chip State-Buffer (SBUF) + PSUM Bank Model",
    ),
)
