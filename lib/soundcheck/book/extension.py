"""The Sphinx extension of reports and of the handbook: style, filled-in pages, harmless titles."""

import functools
import html
import importlib.util
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pybtex.plugin
from markupsafe import escape
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.search.en import SearchEnglish

from soundcheck.common import files, resources
from soundcheck.common.media import MediaStore

if TYPE_CHECKING:
    from soundcheck.suite.families import Family

TITLES = ("docstitle", "root_title", "pagetitle")  # of the book, its first page and each page: plain text
# Of MathJax: the component that pages load, and what that loads when a formula asks for it.
COMPONENT, MATHJAX = "tex-chtml.js", ("input/tex/extensions", "output/chtml/fonts/woff-v2")
SPARE = "all-packages.js"  # all of its neighbours once more
BY_JUPYTER_BOOK = ("comments_config", "use_jupyterbook_latex")  # settings of extensions that are left out
INDEX = "Search.setIndex("  # the file of the search is a call with JSON


def setup(app: Sphinx) -> dict[str, bool]:
    """Make this module an extension of Sphinx."""
    # Each citation would ask what is installed, and each page compute the stems of the words of all others.
    pybtex.plugin.entry_points = functools.cache(pybtex.plugin.entry_points)
    SearchEnglish.stem = functools.cache(SearchEnglish.stem)
    for name in BY_JUPYTER_BOOK:
        app.add_config_value(name, None, "")
    app.connect("config-inited", _add_style)
    app.connect("env-before-read-docs", _forget_static_files)
    app.connect("source-read", _fill)
    app.connect("html-page-context", _escape_titles, priority=900)  # after the theme
    app.connect("build-finished", _escape_headings)
    app.connect("build-finished", _copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _add_style(app: Sphinx, config: Config) -> None:
    """Add style, script and theme templates of ours."""
    from soundcheck.report import html as parts

    folder = Path(app.doctreedir).with_name("style")
    files.write_text(folder / "soundcheck.css", parts.style())
    files.write_text(folder / "soundcheck.js", parts.script())
    config.html_static_path.append(str(folder))
    config.templates_path.insert(0, str(resources.root() / "book" / "_templates"))
    app.add_css_file("soundcheck.css")
    app.add_js_file("soundcheck.js")


def _forget_static_files(app: Sphinx, environment: object, pages: list[str]) -> None:
    """Begin without styles and scripts, as a first build does: pages name digests of those that are there."""
    if pages:
        shutil.rmtree(Path(app.outdir) / "_static", ignore_errors=True)


def _fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Fill in a page of the handbook; pages of reports are complete."""
    folder, _, name = page.rpartition("/")
    if folder not in ("book", "book/methods") or Path(app.env.doc2path(page)).suffix != ".md":
        return
    from soundcheck.book import methods, pages  # late: the pages of a report need none of it
    from soundcheck.suite.thresholds import read_family

    if folder == "book/methods":
        family, (signal, sounds) = read_family(name), _sounds(Path(app.doctreedir).with_name("sounds"))
        media = MediaStore(Path(app.outdir) / "media", "../../media/")
        played = signal if methods.listens(family) else None
        text = methods.MethodPage(family, media, played, 0, sounds).text()
    else:
        table = methods.listed(_families()) if pages.METHODS in source[0] else ""
        text = pages.written_page(name).replace(pages.METHODS, table)
    known = {f"book/{path.stem}" for path in (resources.root() / "book").iterdir()}
    source[0] = pages.linked(text, page, known - app.env.found_docs)


def _families() -> "list[Family]":
    from soundcheck.suite.thresholds import read_family

    return [read_family(name) for name in resources.names("book/methods", ".md")]


@functools.cache
def _sounds(cache: Path) -> tuple[Any, Any]:
    """Give a sample of speech, and the sounds that installed packages make."""
    from soundcheck.augment.recordings import load_sounds
    from soundcheck.augment.sources import speech_source
    from soundcheck.run.material import sounds_of
    from soundcheck.suite.entries import Suite

    speech, families = speech_source(), _families()
    if speech is None:
        return None, load_sounds(Suite(), (), cache)
    return speech.sample(cache, []), load_sounds(Suite(), sounds_of(families), cache)


def _escape_titles(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """Escape titles that some templates show as they are; those that escape leave a Markup as it is."""
    context |= {name: escape(context[name]) for name in TITLES if name in context}


def _escape_headings(app: Sphinx, problem: Exception | None) -> None:
    """Escape the headings that the search shows as HTML; those of earlier builds are escaped already."""
    path = Path(app.outdir) / "searchindex.js"
    if problem is not None or not path.is_file():
        return
    index = json.loads(path.read_text(encoding="utf-8").removeprefix(INDEX).removesuffix(")"))
    titles = {html.unescape(title): places for title, places in index["alltitles"].items()}
    index["alltitles"] = {html.escape(title, quote=False): places for title, places in titles.items()}
    # Words that no page has any more: a book that was built bit by bit equals one that was built at once.
    for name in ("terms", "titleterms"):
        index[name] = {word: pages for word, pages in index[name].items() if pages != []}
    files.write_text(path, f"{INDEX}{json.dumps(index, separators=(',', ':'), sort_keys=True)})")


def _copy_mathjax(app: Sphinx, problem: Exception | None) -> None:
    """Put what shows formulas beside the pages; a package of the same name as an extension brings it."""
    if problem is not None:
        return
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    source = Path(package.submodule_search_locations[0]) / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    for name in MATHJAX:
        spare = shutil.ignore_patterns(SPARE)
        shutil.copytree(source / name, target / name, ignore=spare, dirs_exist_ok=True)
    shutil.copyfile(source / COMPONENT, target / COMPONENT)
