"""What mariana and its respin mariana_plus are: NC-v4. They differ in identity and firmware, not in instructions."""

from __future__ import annotations

from attrs import evolve

from gpsimd_core.values import Evidence, Generation, Geometry, Reading

__all__ = ["MARIANA", "MARIANA_PLUS"]

# fmt: off
GEOMETRY = Geometry(
    sbuf_stride=0x40000, sbuf_active=0x40000, sbuf_window=0x2000000,
    psum_stride=0x8000, psum_active=0x4000, psum_window=0x400000,
    psum_banks=8, psum_bank_bytes=2048,
)

FACTS = (
    ("size",                "159 opcodes, 24 dtypes, 64 operators"),
    ("sbuf",                "256 KiB a partition, 256 KiB apart"),
    ("psum",                "8 banks of 2048 bytes"),
    ("not executable",      "0x85 0x86 0xb4 are declared and have no handler"),
    ("integers",            "64-bit tensor-tensor on pool, in SBUF; the whole integer band"),
    ("addressing",          "tensor patterns have an indirect form in the slots that offer it"),
    ("fp8",                 "code 0xE is the IEEE style, largest finite 240; registers select the OCP flavour"),
    ("mx",                  "own opcodes 0x09 0x0a 0xe3, one-dimensional descriptor"),
    ("zero regions",        "2048, 4096, 8192 or 16384 bytes"),
    ("matmul",              "128 columns in 4 row groups; fp32 and bf16 results"),
    ("activation",          "activate2 (0x25) on act; exponential (0x30) on dve"),
    ("read-back",           "0x9b accumulator, 0xe9 indices"),
    ("random numbers",      "XORWOW and LFSR; state opcodes 0x77 0x78 on pool, dve and act"),
    ("shared memory",       "engines work on SBUF and PSUM in parallel"),
    ("synchronisation",     "events and semaphores"),
    ("dispatch",            "software or hardware decode"),
)
# fmt: on

MARIANA = Generation(
    name="mariana",
    nc_version=4,
    title="NC-v4: Trn3",
    geometry=GEOMETRY,
    features={"mem_pattern"},
    defaults=(("fp8_exp4", "ieee"),),
    facts=FACTS,
    evidence=Evidence(
        confidence="HIGH/OBSERVED",
        source="Codename ↔ Generation Cross-Walk; On-Chip State-Buffer (SBUF) + PSUM Bank Model",
    ),
)

MARIANA_PLUS = evolve(
    MARIANA,
    name="mariana_plus",
    title="NC-v4: Trn3, early device id",
    facts=(
        *FACTS,
        ("firmware", "a rebuild for the same silicon; its descriptor engine reshapes faster, with equal results"),
    ),
    evidence=Evidence(
        confidence="HIGH/OBSERVED",
        source="MARIANA_PLUS (v4+) Generation Delta; Codename ↔ Generation Cross-Walk",
        readings=(
            Reading(
                topic="NC version",
                chosen="NC-v4",
                beaten=("NC-v5, by a host name CoreV5",),
                why="no enumerator beyond V4 belongs to it",
            ),
            Reading(
                topic="what it is",
                chosen="a rebuild of the firmware with a refreshed register map; every mariana fact holds",
                beaten=("a silicon stepping, by two reports",),
                why="its instruction headers and tables are those of mariana",
            ),
        ),
    ),
)
