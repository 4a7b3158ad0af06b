"""The site builds without a warning, its links lead somewhere, and the page of 0xEA shows what it should."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import gpsimd_core as gp

pytestmark = pytest.mark.slow

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
WIDTHS = {"desktop": (1280, 1000), "phone": (390, 844)}


class Page(HTMLParser):
    """Links, anchors and visible text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.ids.add(str(given["id"]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text("utf-8")) for path in site.rglob("*.html")}


def test_every_opcode_has_a_page(site: Path) -> None:
    opcodes = {opcode for name in gp.generations() for opcode in gp.load(name, plugins=()).opcodes}
    assert {f"{opcode:02x}.html" for opcode in opcodes} <= {p.name for p in (site / "reference").iterdir()}


def test_links_lead_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target not in pages and not target.is_file():
                broken.append(f"{path.relative_to(site)}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                broken.append(f"{path.relative_to(site)}: {link} (no such place)")
    assert broken == []


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        fetched = re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"(https?:[^\"]+)", path.read_text("utf-8"))
        assert fetched == [], path


def test_the_command_line_page_has_every_verb(site: Path, pages: dict[Path, Page]) -> None:
    from gpsimd_core.cli import VERBS

    text = pages[site / "command-line.html"].text
    assert [verb for verb in VERBS if f"gpsimd {verb}" not in text] == []


@pytest.fixture(scope="module", params=WIDTHS)
def shown(request: pytest.FixtureRequest, site: Path, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The reference page of 0xEA as a browser holds it, with a script's word on whether the page is wider than the screen."""
    if BROWSER is None:
        pytest.skip("no chromium is installed")
    source = (site / "reference" / "ea.html").read_text("utf-8")
    probe = (
        "<script>addEventListener('load', () => { const d = document.createElement('p'); d.id = 'probe';"
        "const svg = document.querySelector('.layout svg').getBoundingClientRect();"
        "d.textContent = `page ${document.documentElement.scrollWidth} of ${innerWidth}, drawing ${Math.round(svg.width)}"
        " by ${Math.round(svg.height)}`; document.body.append(d); });</script></body>"
    )
    page = site / "reference" / f"probe-{request.param}.html"
    page.write_text(source.replace("</body>", probe), "utf-8")
    width, height = WIDTHS[request.param]
    profile = tmp_path_factory.mktemp("browser")
    command = [
        BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
        f"--window-size={width},{height}", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    finally:
        page.unlink()
    return Page(done.stdout)


def test_the_page_of_0xea_in_a_browser(shown: Page) -> None:
    text = shown.text
    for heading in ("layout", "rules", "disputed-readings", "generations", "device-blobs", "evidence"):
        assert heading in shown.ids
    for field in ("src0.start_addr", "src0_dtype", "src1_dtype", "accumulator_cmd", "imm0"):
        assert field in text
    for rule in ("dtype_in[src0_dtype]", "s2s2d2_stt_imm0_dtype", "field_is[op1]"):
        assert rule in text
    for reading in ("false lanes", "seed of the maximum", "where the accumulator lives"):
        assert reading in text
    assert "0x18e16a" in text


def test_its_drawing_and_tables_fit_the_screen(shown: Page) -> None:
    found = re.search(r"page (\d+) of (\d+), drawing (\d+) by (\d+)", shown.text)
    assert found is not None
    page, screen, width, height = map(int, found.groups())
    assert page <= screen, "the page itself does not scroll sideways; tables and drawings do"
    assert width >= 500
    assert height >= 350
