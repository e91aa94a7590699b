"""Generated pages: words as Markdown, data as escaped output, made again only if need be."""

import nbformat
import pytest

from soundcheck.book import pages
from soundcheck.report.html import element

PICTURE = f"{'0' * 20}.png"


@pytest.mark.parametrize("text", ["x", "a ```` b\n```\n:file: /etc/passwd"])
def test_raw_html_cannot_end_its_block(text):
    lines = pages.raw(element("p", text)).splitlines()
    fence = lines[0].partition("{")[0]
    assert lines[-1] == fence and not any(line.strip() == fence for line in lines[1:-1])


def write(folder, texts, jobs=1):
    sources = pages.Sources(folder / "src", [folder / "media"])
    for name, text in texts.items():
        sources.page(name, lambda text=text: [pages.markdown(text), pages.output(element("p", "x"))])
        sources.words(f"{name}_words", lambda text=text: text)
    sources.write(jobs)
    return sources


def test_sources_are_valid_written_in_place_and_only_where_something_changed(tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / PICTURE).touch()

    def times():
        return {path: path.stat().st_mtime_ns for path in (tmp_path / "src").rglob("*.*")}

    write(tmp_path, {"models/a": "# A", "models/b": "# B", "gone": "# Gone"})
    before = times()
    sources = write(tmp_path, {"models/a": "# A", "models/b": f"# B\n\nmedia/{PICTURE}"}, jobs=2)
    after = times()
    assert {path.name for path in after if after[path] != before[path]} == {"b.ipynb", "b_words.md"}
    assert {path.stem for path in before.keys() - after.keys()} == {"gone", "gone_words"}
    assert sources.media == {tmp_path / "media" / PICTURE}
    outside, inside = tmp_path / "outside.md", tmp_path / "src" / "models" / "a_words.md"
    inside.rename(outside)
    inside.symlink_to(outside)
    write(tmp_path, {"models/a": "# Another"})
    assert outside.read_text().startswith("# A\n") and not inside.is_symlink()  # never written through
    notebook = nbformat.read(tmp_path / "src" / "models" / "a.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert "sc-footer" in notebook.cells[-1].outputs[0].data["text/html"]
    # MyST-NB drops cells without source together with their outputs.
    assert all(cell.source.strip() for cell in notebook.cells)


@pytest.mark.parametrize("harm", ["", "depends", "edited", "removed", "link", "code", "picture"])
def test_a_page_is_made_again_only_if_anything_changed(tmp_path, harm):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / PICTURE).touch()
    path, made = tmp_path / "src" / "results" / "p.ipynb", []

    def write(text, depends=1, code="1"):
        def make():
            made.append(text)
            return [pages.markdown(f"{text} media/{PICTURE}")]

        sources, before = pages.Sources(tmp_path / "src", [tmp_path / "media"], code), len(made)
        announced = sources.page("results/p", make, depends)
        sources.write()
        assert announced == (len(made) > before)
        return sources.pages, sources.media

    first = write("# A")
    if harm == "edited":
        path.write_bytes(path.read_bytes().replace(b"# A", b"# X"))
    elif harm == "link":
        path.rename(tmp_path / "other")
        path.symlink_to(tmp_path / "other")
    elif harm == "removed":
        path.unlink()
    elif harm == "picture":
        (tmp_path / "media" / PICTURE).unlink()
    again = write("# B", 2 if harm == "depends" else 1, "2" if harm == "code" else "1")
    assert made == (["# A", "# B"] if harm else ["# A"])
    assert made[-1].encode() in path.read_bytes() and not path.is_symlink()
    assert harm == "picture" or again == first == ({"results/p"}, {tmp_path / "media" / PICTURE})
