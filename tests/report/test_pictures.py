"""Smaller pictures show the same."""

import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from soundcheck.report.pictures import smaller_png, smaller_svg

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
HOSTILE = '<metadata> xlink:href d="1.23456 - x -" DejaVuSans-- </metadata>'


@pytest.fixture
def figure(rng):
    made = Figure(figsize=(5, 4), layout="constrained")
    FigureCanvasAgg(made)
    axes = made.subplots()
    axes.scatter(rng.random(40), rng.random(40), c=rng.random(40))
    axes.plot(rng.random(200), color="#0072b2")
    axes.set_title(f"Title {HOSTILE}")
    return made


def drawn(figure, name):
    buffer = io.BytesIO()
    figure.savefig(buffer, format=name, metadata={"Date": None} if name == "svg" else None)
    return buffer.getvalue()


def shapes(data):
    """All elements with their numbers, and with their words but for those of links and glyphs."""
    for element in ElementTree.fromstring(data).iter():
        if (
            "metadata" in element.tag
            or "rdf" in element.tag
            or "purl" in element.tag
            or "creativecommons" in element.tag
        ):
            continue
        placed = {name: element.get(name, "") for name in ("d", "x", "y", "transform", "style", "clip-path")}
        words = {name: "".join(NUMBER.sub("", text).split()) for name, text in placed.items()}
        yield element.tag, words, [float(n) for text in placed.values() for n in NUMBER.findall(text)]


def test_a_smaller_svg_has_the_same_shapes_to_a_hundredth_of_a_point(figure):
    before = drawn(figure, "svg")
    after = smaller_svg(before)
    assert len(after) < 0.8 * len(before)
    pairs = list(zip(shapes(before), shapes(after), strict=True))
    assert len(pairs) > 100
    for (tag, words, numbers), (tag_after, words_after, numbers_after) in pairs:
        assert (tag, words) == (tag_after, words_after)
        assert np.allclose(numbers, numbers_after, rtol=0, atol=0.0051)


def test_links_of_a_smaller_svg_still_lead_somewhere(figure):
    text = smaller_svg(drawn(figure, "svg")).decode()
    ids, links = set(re.findall(r'id="([^"]+)"', text)), set(re.findall(r'href="#([^"]+)"', text))
    assert links and links <= ids
    assert "<!-- Title &lt;metadata&gt;" in text  # names say the same in comments


def test_a_smaller_png_looks_the_same(figure):
    before = drawn(figure, "png")
    after = smaller_png(before)
    assert len(after) < 0.6 * len(before)
    first, second = (np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), int) for data in (before, after))
    assert first.shape == second.shape
    assert np.abs(first - second).max() <= 16
    assert np.abs(first - second).mean() < 2
    assert smaller_png(after) == smaller_png(after)


def test_a_picture_that_cannot_get_smaller_stays():
    buffer = io.BytesIO()
    Image.new("P", (1, 1)).save(buffer, "PNG", optimize=True)
    assert len(smaller_png(buffer.getvalue())) <= len(buffer.getvalue())
