"""The device-blob catalogue: where the firmware of each generation lies inside a host library.

Generation plugins keep their rows in `blobs.toml` and hand them over through `gpsimd_blobs`; `Catalogue` answers
questions about them. Nothing here reads a library file: see `hostlibrary.py`.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from attrs import field, frozen

from gpsimd_core.errors import PluginTrouble
from gpsimd_core.values import BlobNote, BlobSite, Evidence, KernelRow, KernelTable, SelfName

__all__ = [
    "EXPECTED",
    "MULTIPLICITY",
    "Catalogue",
    "Occurrences",
    "Place",
    "count_text",
    "read_catalogue",
    "self_name_text",
]

MULTIPLICITY = Evidence(
    confidence="HIGH/OBSERVED",
    source="CopyPredicatedReduce — SelectReduce (0xea); DVE State Read-Back; POOL/ACT Compute Gap-Cluster",
    note="a self-name occurs once in the DEBUG data of each engine that handles it",
)

# How often each whole self-name occurs in the library that was read. Other names are counted and not judged.
EXPECTED = {
    "CastPredicated": 4,
    "CopyPredicated": 4,
    "CopyPredicatedReduce": 4,
    "CopyPredicatedScalar": 4,
    "DveReadAccumulator": 4,
    "DveReadIndices": 4,
    "FindIndex8": 4,
    "MatchReplace": 4,
    "RangeSelect": 4,
    "TensorScalarSelect": 4,
    "TensorTensorScan": 4,
    "ActivationReadAccumulator": 3,
    "LoadPoolArgument": 3,
    "ModifyPoolConfig": 3,
    "TensorScalarAddr": 3,
    "Activate2": 2,
    "EngineNop": 13,
}


def count_text(name: str) -> bytes:
    """The bytes whose occurrences count as this self-name: the whole name, so that no longer one matches."""
    return f"S: {name}\n".encode()


def self_name_text(name: str) -> bytes:
    """The bytes that stand at the offset of a self-name."""
    return count_text(name) + b"\0"


@frozen(kw_only=True)
class Place:
    """A byte of a blob: where it is, on the device too, and the self-name that it belongs to."""

    site: BlobSite
    offset: int
    """File offset."""
    self_name: SelfName | None = None

    @property
    def address(self) -> int | None:
        """Device address, where the blob has a known one."""
        return None if self.site.base is None else self.site.base + self.offset - self.site.offset


@frozen(kw_only=True)
class Occurrences:
    """How often a self-name occurs: in the catalogue, and in the library that was read."""

    name: str
    placed: int
    """Catalogue rows, of the generations at hand."""
    unplaced: int
    """Blobs of these generations that must hold it, at a place that no page gives."""
    expected: int | None
    """Whole library; None where no count was published."""


@frozen(kw_only=True)
class Catalogue:
    """The blobs, kernel tables and notes of some generations."""

    sites: tuple[BlobSite, ...]
    """By file offset."""
    kernels: tuple[KernelTable, ...] = ()
    notes: tuple[BlobNote, ...] = ()
    by_symbol: dict[str, BlobSite] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "by_symbol", {s.symbol: s for s in self.sites})

    @classmethod
    def of(cls, values: Iterable[object]) -> Catalogue:
        """A catalogue of what `gpsimd_blobs` returned.

        Raises:
            PluginTrouble: two rows claim one symbol, an override matches nothing, or a value is of another kind.
        """
        kinds: dict[type, list[Any]] = {BlobSite: [], KernelTable: [], BlobNote: []}
        for value in values:
            if type(value) not in kinds:
                raise PluginTrouble(f"gpsimd_blobs returned {value!r}; it returns BlobSite, KernelTable and BlobNote")
            kinds[type(value)].append(value)
        sites = sorted(_settle(kinds[BlobSite]), key=lambda s: s.offset)
        return cls(sites=tuple(sites), kernels=tuple(kinds[KernelTable]), notes=tuple(kinds[BlobNote]))

    def select(
        self,
        *,
        generation: str | None = None,
        engine: str | None = None,
        build: str | None = None,
        core: str | None = None,
        region: str | None = None,
    ) -> tuple[BlobSite, ...]:
        """The blobs that match everything given; upper and lower case are one."""
        wanted = {"generation": generation, "engine": engine, "build": build, "core": core, "region": region}
        wanted = {k: v.lower() for k, v in wanted.items() if v is not None}
        return tuple(s for s in self.sites if all(str(getattr(s, k)).lower() == v for k, v in wanted.items()))

    def at(self, offset: int) -> tuple[Place, ...]:
        """The blobs that hold the byte at a file offset, with the self-name that it belongs to."""
        return tuple(self._place(s, offset) for s in self.sites if s.offset <= offset < s.end)

    def at_device(self, address: int) -> tuple[Place, ...]:
        """The blobs that hold a device address: many, since images share their first address."""
        found = []
        for s in self.sites:
            if s.base is not None and s.base <= address < s.base + s.size:
                found.append(self._place(s, s.offset + address - s.base))
        return tuple(found)

    def named(self, name: str) -> tuple[Place, ...]:
        """Where a whole self-name stands; case counts, and `CopyPredicated` is not `CopyPredicatedReduce`."""
        return tuple(p for p in self._names() if p.self_name is not None and p.self_name.text == name)

    def names_of(self, opcode: int) -> tuple[Place, ...]:
        """Where the self-names of an opcode stand."""
        return tuple(p for p in self._names() if p.self_name is not None and opcode in p.self_name.opcodes)

    def kernels_of(self, opcode: int) -> tuple[tuple[KernelTable, KernelRow], ...]:
        """The kernel-table rows of an opcode."""
        return tuple((t, r) for t in self.kernels for r in t.rows if r.opcode == opcode)

    def texts(self) -> tuple[str, ...]:
        """Every self-name of the catalogue, sorted."""
        placed = {p.self_name.text for p in self._names() if p.self_name}
        return tuple(sorted(placed | {t for s in self.sites for t in s.unplaced}))

    def occurrences(self, name: str) -> Occurrences:
        """The multiplicity of a self-name."""
        return Occurrences(
            name=name,
            placed=len(self.named(name)),
            unplaced=sum(s.unplaced.count(name) for s in self.sites),
            expected=EXPECTED.get(name),
        )

    def _names(self) -> Iterable[Place]:
        for s in self.sites:
            for n in s.self_names:
                yield Place(site=s, offset=n.offset, self_name=n)

    @staticmethod
    def _place(site: BlobSite, offset: int) -> Place:
        for n in site.self_names:
            if n.offset <= offset < n.offset + len(self_name_text(n.text)):
                return Place(site=site, offset=offset, self_name=n)
        return Place(site=site, offset=offset)


def _settle(sites: Iterable[BlobSite]) -> list[BlobSite]:
    sites = list(sites)
    gone: set[str] = set()
    for s in sites:
        if not s.overrides:
            continue
        owner, _, symbol = s.overrides.partition(":")
        hits = [t for t in sites if t is not s and t.symbol == symbol and owner in ("*", t.generation)]
        if not hits:
            raise PluginTrouble(f"blob {s.symbol} overrides {s.overrides!r}, which nobody provides")
        gone.add(symbol)
    kept = [s for s in sites if s.overrides or s.symbol not in gone]
    twice = [symbol for symbol, n in Counter(s.symbol for s in kept).items() if n > 1]
    if twice:
        raise PluginTrouble(f"two plugins claim the blob {', '.join(twice)}")
    return kept


def read_catalogue(package: str, generation: str) -> tuple[BlobSite | KernelTable | BlobNote, ...]:
    """The rows of a generation in the `blobs.toml` of a plugin's package.

    Args:
        package: the package whose data the file is, such as `gpsimd_cayman`.
        generation: its table in the file.

    Returns:
        What the `gpsimd_blobs` hook of the plugin returns.
    """
    table = tomllib.loads(files(package).joinpath("blobs.toml").read_text(encoding="utf-8"))[generation]
    evidence = {name: Evidence(**row) for name, row in table["evidence"].items()}
    names = {key: tuple(_self_name(row, evidence) for row in rows) for key, rows in table.get("names", {}).items()}
    sites = [_site(generation, row, table, names, evidence["blobs"]) for row in table["blobs"]]
    known = {s.symbol for s in sites}
    return (
        *sites,
        *(_kernel_table(generation, row, known) for row in table.get("kernels", ())),
        *(_note(generation, row) for row in table.get("notes", ())),
    )


def _self_name(row: list[Any], evidence: dict[str, Evidence]) -> SelfName:
    text, offset, opcodes, source = row
    return SelfName(text=text, offset=offset, opcodes=tuple(opcodes), evidence=evidence[source])


def _site(
    generation: str, row: list[Any], table: dict[str, Any], names: dict[str, tuple[SelfName, ...]], evidence: Evidence
) -> BlobSite:
    core, engine, build, region, offset, size, accessor, sha256 = row
    key = f"{core}_{engine.upper()}_{build}_{region}"
    return BlobSite(
        generation=generation,
        symbol=f"{generation.upper()}_{key}_get",
        core=core,
        engine=engine,
        build=build,
        region=region,
        offset=offset,
        end=offset + size,
        accessor=accessor,
        base=table["bases"].get(f"{core}_{region}"),
        sha256=sha256,
        self_names=names.get(key, ()),
        unplaced=tuple(table.get("unplaced", {}).get(key, ())),
        evidence=evidence,
    )


def _kernel_table(generation: str, row: dict[str, Any], known: set[str]) -> KernelTable:
    symbol = f"{generation.upper()}_Q7_POOL_PERF_{row['image']}_SO_get"
    return KernelTable(
        generation=generation,
        image=row["image"],
        symbol=symbol if symbol in known else None,
        address=row.get("address"),
        offset=row.get("offset"),
        rows=tuple(KernelRow(opcode=o, spec=s, function=f, kernel=k) for o, s, f, k in row["rows"]),
        evidence=_evidence(row),
    )


def _note(generation: str, row: dict[str, Any]) -> BlobNote:
    return BlobNote(generation=generation, topic=row["topic"], text=row["text"], evidence=_evidence(row))


def _evidence(row: dict[str, Any]) -> Evidence:
    return Evidence(confidence=row["confidence"], source=row["source"], note=row.get("note", ""))
