"""What maverick is: NC-v5."""

from __future__ import annotations

from gpsimd_core.values import Evidence, Generation, Geometry, Reading

__all__ = ["MAVERICK"]

# fmt: off
GEOMETRY = Geometry(
    sbuf_stride=0x100000, sbuf_active=0x80000, sbuf_window=0x8000000,
    psum_stride=0x8000,  psum_active=0x4000,  psum_window=0x0,
    psum_banks=8, psum_bank_bytes=2048,
)

FACTS = (
    ("size",                "165 opcodes, 30 dtypes, 65 operators"),
    ("sbuf",                "512 KiB a partition, 1 MiB apart"),
    ("psum",                "8 banks of 2048 bytes that no flat address names: 0x2000000 is SBUF partition 32"),
    ("engines",             "no act: what is left of it runs on dve; 4 pe, 4 dve, 16 sp"),
    ("not executable",      "0x21 0x22 0x24 0x26 0x85 0x86 0xb4 are declared and have no handler"),
    ("header",              "byte 3 is inst_flags: any value validates, a non-zero one is Unsupported to execute"),
    ("integers",            "64-bit tensor-tensor on pool, in SBUF; 0xf3 and 0xf4; 15 integer operators on dve"),
    ("addressing",          "tensor patterns have an indirect form in the slots that offer it; gather stays in SBUF"),
    ("fp8",                 "code 0xE is the OCP style, largest finite 448; flavour registers: unknown"),
    ("mx",                  "folded into the plain matrix opcodes, second descriptor version"),
    ("zero regions",        "2048, 4096, 8192 or 16384 bytes"),
    ("matmul",              "256 columns in 2 row groups; fp32 and bf16 results"),
    ("activation",          "0x23 and 0x25 on dve, with the accumulators of dve"),
    ("read-back",           "0x9b accumulator, 0xe9 indices; 0x24 has no handler"),
    ("random numbers",      "XORWOW and LFSR; state opcodes 0x77 0x78 on pool and dve"),
    ("shared memory",       "engines work on SBUF and PSUM in parallel"),
    ("synchronisation",     "event modes are reported as dropped: a warning; 0xb6 and ordering mode 0xfe are new"),
    ("dispatch",            "software or hardware decode"),
)
# fmt: on

MAVERICK = Generation(
    name="maverick",
    nc_version=5,
    title="NC-v5: no product named",
    geometry=GEOMETRY,
    features={"mem_pattern", "mxtensor_v2", "inst_flags"},
    defaults=(("fp8_exp4", "ocp"),),
    facts=FACTS,
    evidence=Evidence(
        confidence="MED/OBSERVED",
        source="MAVERICK (NC-v5) Profile + Maximal-Observed Carve; On-Chip State-Buffer (SBUF) + PSUM Bank Model",
        readings=(
            Reading(
                topic="PSUM window",
                chosen="PSUM is storage of its own that no flat address names",
                beaten=("a window at 0x2000000, as its offset and bank constants suggest",),
                why="the size constant of the window is 0, and the offset lies inside the larger SBUF window",
            ),
            Reading(
                topic="engine ACT",
                chosen="its number stays, nothing is bound to it",
                beaten=("an engine of its own, as the enumeration lists it",),
                why="no image exists for it; 0x23 and 0x25 are armed on DVE",
            ),
        ),
    ),
)
