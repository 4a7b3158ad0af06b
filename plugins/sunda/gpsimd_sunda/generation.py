"""What sunda is: NC-v2, the oldest generation of the model."""

from __future__ import annotations

from gpsimd_core.values import Evidence, Generation, Geometry, Reading

__all__ = ["SUNDA"]

# fmt: off
GEOMETRY = Geometry(
    sbuf_stride=0x40000, sbuf_active=0x30000, sbuf_window=0x2000000,
    psum_stride=0x8000, psum_active=0x4000, psum_window=0x400000,
    psum_banks=16, psum_bank_bytes=1024,
)

FACTS = (
    ("size",                "the oldest generation of the model: 145 opcodes, 16 dtypes, 33 operators"),
    ("sbuf",                "192 KiB a partition, 256 KiB apart"),
    ("psum",                "16 banks of 1024 bytes; accumulation groups count in zero regions of 2048 bytes"),
    ("register addresses",  "the upper 24 bits of a register-form address word are exactly 0x800000"),
    ("not executable",      "0x30 0x77 0x78 0x7b 0xf0 are declared and have no body"),
    ("own opcodes",         "0x87 0x88 have no engine; the bf16 forms 0x8a 0x8b 0x8c 0x8d 0x8f run on dve and pool"),
    ("custom operations",   "0x85 and 0x86 are laid out and handled on this generation only"),
    ("affine select",       "0x92 may reach PSUM, although pool is its only owner"),
    ("integers",            "no 64-bit tensor-tensor; three integer operators"),
    ("addressing",          "tensor patterns have no indirect form"),
    ("fp8",                 "code 0xE is the IEEE style, largest finite 240; no flavour registers"),
    ("mx",                  "none"),
    ("zero regions",        "2048 bytes"),
    ("matmul",              "128 columns in 4 row groups; fp32 results"),
    ("activation",          "a copy on act passes through fp32"),
    ("read-back",           "0x9b only: 0xe9 does not exist"),
    ("random numbers",      "hardware LFSR, no firmware generator"),
    ("shared memory",       "dve and pool exclude each other on SBUF, dve and act on PSUM"),
    ("synchronisation",     "events and semaphores"),
    ("dispatch",            "software only"),
)
# fmt: on

SUNDA = Generation(
    name="sunda",
    nc_version=2,
    title="NC-v2: Trn1, Trn1n, Inf2",
    geometry=GEOMETRY,
    features={"strict_register_form"},
    defaults=(("fp8_exp4", "ieee"),),
    facts=FACTS,
    evidence=Evidence(
        confidence="HIGH/OBSERVED",
        source="Codename ↔ Generation Cross-Walk; On-Chip State-Buffer (SBUF) + PSUM Bank Model",
        readings=(
            Reading(
                topic="age",
                chosen="NC-v2, the oldest",
                beaten=("the newest, by two pages",),
                why="its headers name themselves the instruction set of NC-v2",
            ),
            Reading(
                topic="PSUM banks",
                chosen="16 x 1024 bytes",
                beaten=("8 x 2048 bytes, by the vendor's kernel guides",),
                why="the header says so; zero regions still count in 2048 bytes",
            ),
        ),
    ),
)
