"""Plots beside the versions that were signed: side by side, swiped, point by point."""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import THEMES, is_clean, put_on
from tests.browser.screen import open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import Made

STEPS = [
    {
        "sName": "Draw",
        "saPlotCommands": ["cp -r in/. plots/"],
        "saPlotFiles": ["plots/dots.png", "plots/line.svg", "plots/page.html", "plots/fig.pdf"],
        "saInputDataFiles": ["in/dots.png", "in/line.svg", "in/page.html", "in/fig.pdf"],
        "bNoTests": True,
    }
]
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40">{}</svg>'
EVIL = "<script>top.document.title = 'taken'; document.body.textContent = 'ran'</script>"


PDF = """%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R>> endobj
4 0 obj <</Length {length}>> stream
{drawn}
endstream endobj
trailer <</Root 1 0 R>>
"""


def pdf(drawn: str) -> str:
    """Return a PDF of one page on which that is drawn."""
    return PDF.format(drawn=drawn, length=len(drawn))


def png(width: int, height: int, *black: tuple[int, int]) -> bytes:
    """Return a white picture with black points."""
    rows = [
        b"\0" + bytes(0 if (x, y) in black else 255 for x in range(width)) for y in range(height)
    ]

    def chunk(kind: bytes, data: bytes) -> bytes:
        size, check = struct.pack(">I", len(data)), struct.pack(">I", zlib.crc32(kind + data))
        return size + kind + data + check

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"".join(rows)))
    return b"\x89PNG\r\n\x1a\n" + head + body + chunk(b"IEND", b"")


@pytest.fixture
def made(lab: Lab) -> Made:
    files = {
        "in/dots.png": png(40, 30, (5, 5)),
        "in/line.svg": SVG.format(EVIL),
        "in/fig.pdf": pdf("20 20 50 50 re f"),
        "in/page.html": f"<body><p>as it was</p>{EVIL}",
    }
    made = Made.new(lab.root / "made", STEPS, files)
    made.run()
    made.commit("run")
    return made


def sign(lab: Lab) -> None:
    """Sign the step off over HTTP."""
    project = lab.ask("vaibify/projects")["projects"][0]["id"]
    address = f"vaibify/projects/{project}/steps/draw/sign-offs"
    seen = lab.ask(address)["to_sign"]
    word = {"run_id": seen["run_id"], "hashes": seen["hashes"], "by": "Ana <ana@example.org>"}
    lab.ask(address, "POST", word | {"verdict": "passed"})


def open_plot(page: Page, lab: Lab, name: str) -> Locator:
    """Open a plot from the step's detail; return the comparison."""
    open_lab(page, lab)
    panel = open_panel(page)
    panel.get_by_role("option", name=re.compile("^Draw")).click()
    panel.get_by_role("button", name=f"Open plots/{name} beside its signed version").click()
    comparison = page.locator(".vb-Comparison:visible")
    expect(comparison).to_have_count(1)
    return comparison


def way(comparison: Locator, name: str) -> Locator:
    """Return the button of a way to compare."""
    return comparison.get_by_role("button", name=name)


def test_a_plot_is_opened_beside_what_was_signed_and_follows_the_file(
    page: Page, lab: Lab, made: Made
) -> None:
    sign(lab)
    comparison = open_plot(page, lab, "dots.png")
    expect(comparison).to_contain_text("These are the bytes that were signed.")
    made.write("plots/dots.png", png(40, 30, (5, 5), (20, 10), (22, 11)))
    expect(comparison).to_contain_text("The bytes are not those that were signed.")
    signed = comparison.get_by_role("figure", name="Signed")
    expect(signed).to_contain_text("signed off")
    expect(signed).to_contain_text("Ana <ana@example.org>")
    sources = [
        comparison.get_by_role("figure", name=name).get_by_role("img").get_attribute("src")
        for name in ("Signed", "Now")
    ]
    assert sources[0] != sources[1]
    way(comparison, "Difference").click()
    expect(comparison).to_contain_text(
        "2 of 1,200 points differ (0.17 %), all within the marked 3 × 2"
    )
    way(comparison, "Swipe").click()
    edge = comparison.get_by_role("slider")
    edge.focus()
    page.keyboard.press("Home")
    expect(edge).to_have_attribute("aria-valuetext", "0 percent signed")
    made.write("plots/dots.png", png(50, 30, (5, 5)))
    way(comparison, "Difference").click()
    expect(comparison).to_contain_text("The sizes differ: 40 × 30 signed, 50 × 30 now.")
    made.write("plots/dots.png", png(40, 30, (5, 5)))
    expect(comparison).to_contain_text("No point differs.")


def test_what_was_not_signed_or_is_not_here_any_more_says_so(
    page: Page, lab: Lab, made: Made, home: Path
) -> None:
    comparison = open_plot(page, lab, "dots.png")
    expect(comparison.get_by_role("figure", name="Signed")).to_contain_text("was not signed")
    expect(comparison).to_contain_text("There is no signed version")
    for name in ("Swipe", "Difference"):
        expect(way(comparison, name)).to_be_disabled()
    made.write("in/dots.png", png(40, 30, (7, 7)))
    made.run()
    sign(lab)
    expect(comparison).to_contain_text("These are the bytes that were signed.")
    (copies := home / ".cache/vaibify_lab/signed").rename(copies.with_name("away"))
    made.write("plots/dots.png", png(40, 30, (8, 8)))
    expect(comparison).to_contain_text("The bytes are not those that were signed.")
    expect(comparison.get_by_role("figure", name="Signed")).to_contain_text(
        "neither kept on this machine nor in git's history"
    )
    (made.root / "plots/dots.png").unlink()
    expect(comparison.get_by_role("figure", name="Now")).to_contain_text("plots/dots.png")
    expect(comparison.get_by_role("figure", name="Now").get_by_role("img")).to_have_count(0)


def test_axe_finds_nothing_in_any_way_to_compare(page: Page, lab: Lab, made: Made) -> None:
    sign(lab)
    comparison = open_plot(page, lab, "dots.png")
    made.write("plots/dots.png", png(40, 30, (5, 5), (20, 10)))
    expect(comparison).to_contain_text("The bytes are not those that were signed.")
    for theme in THEMES:
        put_on(page, theme)
        for name in ("Side by side", "Swipe", "Difference"):
            way(comparison, name).click()
            expect(way(comparison, name)).to_have_attribute("aria-pressed", "true")
            is_clean(page, ".vb-Comparison")


def test_a_pdf_is_shown_or_said_not_to_be_and_can_be_had_with_its_hash(
    page: Page, lab: Lab, made: Made
) -> None:
    sign(lab)
    comparison = open_plot(page, lab, "fig.pdf")
    expect(comparison).to_contain_text("These are the bytes that were signed.")
    made.write("plots/fig.pdf", pdf("120 20 50 50 re f"))
    expect(comparison).to_contain_text("The bytes are not those that were signed.")
    expect(comparison).to_contain_text("shown, not compared")
    for name in ("Swipe", "Difference"):
        expect(way(comparison, name)).to_be_disabled()
    for name, file, there in (
        ("Signed", "signed-fig.pdf", made.root / "in/fig.pdf"),
        ("Now", "fig.pdf", made.root / "plots/fig.pdf"),
    ):
        figure = comparison.get_by_role("figure", name=name)
        hashed = hashlib.sha256(there.read_bytes()).hexdigest()
        expect(figure.locator("code")).to_have_text(hashed[:12])
        if page.evaluate("navigator.pdfViewerEnabled"):
            source = figure.locator("iframe").get_attribute("src")
            got = page.evaluate("async at => (await fetch(at)).text()", source)
            assert got == there.read_text()
        else:
            expect(figure).to_contain_text("This browser shows no PDF.")
        with page.expect_download() as download:
            figure.get_by_role("link", name="Download").click()
        assert download.value.suggested_filename == file
        assert download.value.path().read_bytes() == there.read_bytes()
    is_clean(page, ".vb-Comparison")


def test_svg_and_html_run_nothing(page: Page, lab: Lab, made: Made) -> None:
    sign(lab)
    comparison = open_plot(page, lab, "page.html")
    frame = comparison.get_by_role("figure", name="Now").locator("iframe")
    expect(frame.content_frame.get_by_text("as it was")).to_be_visible()
    assert frame.get_attribute("sandbox") == ""
    assert "taken" not in page.title()
    expect(way(comparison, "Difference")).to_be_disabled()
    source = frame.get_attribute("src")
    assert source is not None
    page.goto(lab.url.rstrip("/") + source if source.startswith("/") else source)
    expect(page.get_by_text("as it was")).to_be_visible()
    assert page.get_by_text("ran").count() == 0
    comparison = open_plot(page, lab, "line.svg")
    way(comparison, "Difference").click()
    expect(comparison).to_contain_text("No point differs.")
