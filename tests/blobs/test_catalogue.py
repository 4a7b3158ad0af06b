"""The device-blob catalogue: its rows obey the published rules, and questions find the right ones."""

from __future__ import annotations

import itertools

import pytest
from attrs import evolve

from gpsimd_core import host
from gpsimd_core.blobs import EXPECTED, Catalogue, self_name_text
from gpsimd_core.errors import PluginTrouble

SEEDS = [  # file offset, generation, self-name, opcode, device address
    (0x18E16A, "cayman", "CopyPredicatedReduce", 0xEA, 0x82E4A),
    (0x42844A, "mariana", "CopyPredicatedReduce", 0xEA, 0x82F2A),
    (0x6F016A, "mariana_plus", "CopyPredicatedReduce", 0xEA, 0x82F2A),
    (0x8B0552, "maverick", "CopyPredicatedReduce", 0xEA, 0x82F92),
    (0x1CFCF4, "cayman", "CrossLaneReduce", 0x7C, 0x820B4),
]


@pytest.mark.parametrize(("offset", "generation", "name", "opcode", "device"), SEEDS, ids=[hex(s[0]) for s in SEEDS])
def test_seed_offsets_resolve(offset, generation, name, opcode, device, catalogue):
    (place,) = catalogue.at(offset)
    assert (place.site.generation, place.self_name.text, place.address) == (generation, name, device)
    assert opcode in place.self_name.opcodes
    assert place in [*catalogue.names_of(opcode)]


def test_counts_of_the_library(catalogue):
    assert len(catalogue.sites) == 225
    assert sum(bool(s.sha256) for s in catalogue.sites) == 58
    assert sum(len(s.self_names) for s in catalogue.sites) == 72
    per_generation = {g: len(catalogue.select(generation=g)) for g in host.generations()}
    assert per_generation == {"sunda": 13, "cayman": 58, "mariana": 58, "mariana_plus": 58, "maverick": 38}


def test_every_self_name_lies_whole_in_its_blob(catalogue):
    for site in catalogue.sites:
        for name in site.self_names:
            assert site.offset <= name.offset
            assert name.offset + len(self_name_text(name.text)) <= site.end
            assert (site.build, site.region) == ("DEBUG", "DRAM")


def test_self_names_never_overlap(catalogue):
    names = sorted((n.offset, n.text) for s in catalogue.sites for n in s.self_names)
    gaps = [(b - a, len(self_name_text(text))) for (a, text), (b, _) in itertools.pairwise(names)]
    assert all(gap >= size for gap, size in gaps)
    assert sum(gap == size for gap, size in gaps) >= 20


def test_each_blob_starts_at_the_end_of_the_last_rounded_up(catalogue):
    for before, after in itertools.pairwise(catalogue.sites):
        assert after.offset == -(-before.end // 16) * 16


def test_accessors_keep_their_order_from_cayman_on(catalogue):
    """Generations of one shape have their accessors 0xc80 apart."""
    cayman = {s.symbol.removeprefix("CAYMAN_"): s.accessor for s in catalogue.select(generation="cayman")}
    for steps, generation in ((1, "mariana"), (2, "mariana_plus")):
        prefix = f"{generation.upper()}_"
        theirs = {s.symbol.removeprefix(prefix): s.accessor for s in catalogue.select(generation=generation)}
        assert theirs == {key: address + steps * 0xC80 for key, address in cayman.items()}
    accessors = [s.accessor for s in catalogue.sites]
    assert len(set(accessors)) == len(accessors)
    assert all((a - 0x9B2D20) % 0x20 == 0 for a in accessors)


@pytest.mark.parametrize("name", EXPECTED)
def test_placed_and_unplaced_names_add_up_to_the_published_counts(name, catalogue):
    count = catalogue.occurrences(name)
    assert count.placed + count.unplaced == count.expected == EXPECTED[name]


def test_a_name_is_matched_whole(catalogue):
    assert len(catalogue.named("CopyPredicated")) == 4
    assert {p.self_name.text for p in catalogue.named("CopyPredicated")} == {"CopyPredicated"}
    assert catalogue.named("CopyPred") == ()
    assert catalogue.named("copypredicated") == ()


def test_sunda_has_no_names_and_only_release_builds(catalogue):
    sunda = catalogue.select(generation="sunda")
    assert {s.build for s in sunda} == {"RELEASE"}
    assert not any(s.self_names for s in sunda)
    assert not catalogue.select(generation="maverick", engine="act")


def test_self_names_belong_to_opcodes_of_their_generation(catalogue):
    for name in host.generations():
        declared = host.load(name).opcodes
        for site in catalogue.select(generation=name):
            assert all(o in declared for n in site.self_names for o in n.opcodes)
        for table in catalogue.kernels:
            if table.generation == name:
                assert all(r.opcode in declared for r in table.rows)


def test_a_device_address_names_a_place_in_many_blobs(catalogue):
    places = catalogue.at_device(0x82E4A)
    assert {p.site.region for p in places} == {"DRAM"}
    assert all(p.address == 0x82E4A for p in places)
    assert "CAYMAN_NX_DVE_DEBUG_DRAM_get" in {p.site.symbol for p in places}
    assert len(places) > 10
    (sram,) = {p.site.region for p in catalogue.at_device(0x4100000)}
    assert sram == "SRAM"


def test_select_ignores_case_and_combines(catalogue):
    (site,) = catalogue.select(generation="cayman", core="nx", engine="DVE", build="debug", region="dram")
    assert site.symbol == "CAYMAN_NX_DVE_DEBUG_DRAM_get"
    assert catalogue.select(engine="nobody") == ()


def test_nothing_lies_before_the_first_and_after_the_last_blob(catalogue):
    first, last = catalogue.sites[0], catalogue.sites[-1]
    assert catalogue.at(first.offset - 1) == catalogue.at(last.end) == ()
    assert [p.site for p in catalogue.at(last.end - 1)] == [last]


def test_kernel_tables(catalogue):
    rows = {(t.generation, t.image): len(t.rows) for t in catalogue.kernels}
    assert rows == {
        ("sunda", "EXTISA_0"): 18,
        **{(g, "EXTISA_0"): 17 for g in ("cayman", "mariana", "mariana_plus", "maverick")},
        **{(g, "EXTISA_1"): 1 for g in ("cayman", "mariana", "mariana_plus", "maverick")},
        **{(g, "EXTISA_2"): 2 for g in ("cayman", "mariana", "mariana_plus", "maverick")},
        **{(g, "EXTISA_3"): 9 for g in ("cayman", "mariana", "mariana_plus")},
    }
    for table in catalogue.kernels:
        keys = [(r.opcode, r.spec) for r in table.rows]
        assert len(set(keys)) == len(keys)
        assert (table.symbol is None) == (table.generation == "sunda")
        if table.symbol:
            assert catalogue.by_symbol[table.symbol].region == "SO"


def test_extended_rows_are_out_of_order_so_only_a_linear_scan_finds_them(catalogue):
    (cayman,) = [t for t in catalogue.kernels if (t.generation, t.image) == ("cayman", "EXTISA_0")]
    assert [r.spec for r in cayman.rows if r.opcode == 0xF0] == [0, 1, 2, 4, 3]


def test_every_row_says_where_it_comes_from(catalogue):
    rows = [*catalogue.sites, *catalogue.kernels, *catalogue.notes, *(n for s in catalogue.sites for n in s.self_names)]
    assert all(r.evidence.confidence and r.evidence.source for r in rows)


def test_two_rows_of_one_symbol_are_a_clash_and_an_override_settles_it(catalogue):
    site = catalogue.sites[0]
    with pytest.raises(PluginTrouble, match=site.symbol):
        Catalogue.of([site, site])
    better = evolve(site, end=site.end + 16, overrides=f"{site.generation}:{site.symbol}")
    assert Catalogue.of([site, better]).sites == (better,)
    assert Catalogue.of([site, evolve(better, overrides=f"*:{site.symbol}")]).sites[0].end == site.end + 16
    with pytest.raises(PluginTrouble, match="nobody provides"):
        Catalogue.of([better])
    with pytest.raises(PluginTrouble, match="BlobSite"):
        Catalogue.of([site, "a text"])
