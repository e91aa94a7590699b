"""Smaller pictures show the same."""

import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from soundcheck.common.media import MediaStore
from soundcheck.report import figures
from soundcheck.report.style import look, new, png, show, smaller_svg

pytestmark = pytest.mark.slow

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
    pixels = [np.asarray(Image.open(io.BytesIO(before)).convert("RGB"))]
    after = png(pixels[0])
    assert len(after) < 0.6 * len(before)
    pixels.append(np.asarray(Image.open(io.BytesIO(after)).convert("RGB")))
    first, second = (one.astype(int) for one in pixels)
    assert first.shape == second.shape
    assert np.abs(first - second).max() <= 16
    assert np.abs(first - second).mean() < 2
    assert png(pixels[0]) == after


@pytest.mark.parametrize("colors", [2, 300, 100_000])
def test_pixels_keep_their_colours_within_a_few_steps(rng, colors):
    pixels = rng.integers(0, 256, (colors, 3), dtype=np.uint8)[rng.integers(0, colors, (150, 200))]
    pixels[:20], pixels[20:40] = 255, 0
    data = png(pixels)
    with Image.open(io.BytesIO(data)) as image:
        assert image.mode == "P" and image.size == (200, 150)
        found = np.asarray(image.convert("RGB")).astype(int)
    if colors == 2:
        assert np.abs(found - pixels).max() <= 16
    if colors < 100_000:
        assert np.abs(found - pixels).mean() < 8
    assert png(pixels) == data


@pytest.mark.parametrize("count", [100, 10_000])
def test_the_size_of_a_figure_does_not_grow_with_its_data(tmp_path, rng, count):
    media = MediaStore(tmp_path)
    truth, said = rng.random(count), rng.random(count)
    with look():
        lines, (axes,) = new(4, 3)
        axes.plot(np.linspace(0, 1, count), np.cumsum(rng.normal(size=count)))
    for figure in (figures.truth_and_prediction(truth, said, "x"), lines):
        alt = f"{count} points & <more>"
        html = str(show(media, figure, alt))
        assert f'alt="{count} points &amp; &lt;more&gt;"' in html
        name = re.search(r'src="media/([^"]+)"', html)[1]
        assert name.endswith(".svg" if count == 100 else ".png")
        assert (tmp_path / name).stat().st_size < 150_000
        if name.endswith(".png"):
            with Image.open(tmp_path / name) as image:
                width, height = map(int, re.search(r'width="(\d+)" height="(\d+)"', html).groups())
                assert np.allclose(image.size, (2 * width, 2 * height), atol=2)  # sharp on a sharp screen
