"""Lets Jupyter Book write only those pages again that have changed; runs in a process of its own.

Sphinx keeps what it has read in an environment and asks the clock what to read again. Here contents decide,
and whatever pages take from each other (titles, labels, citations, the order of pages) has all pages written
again when it changes, so that a book which grew page by page equals one that was built at once.
"""

from __future__ import annotations

import functools
import gc
import html
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from docutils import nodes
from jupyter_book.sphinx import build_sphinx
from pybtex import plugin
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.adapters import toctree
from sphinx.search import js_index
from sphinx.search.en import SearchEnglish
from sphinx.util import nodes as sphinx_nodes

from soundcheck.common import files

YOUNG = 50_000  # objects after which Python looks for those that refer to each other and to nothing else
_menu: dict[str, nodes.bullet_list] = {}  # entries of pages, without their headings


def setup(app: Sphinx) -> dict[str, bool]:
    """Make this module an extension of Sphinx."""
    app.add_config_value("writing_jobs", 1, "")
    app.connect("env-get-outdated", _changed)
    app.connect("env-before-read-docs", _without_static_files)
    app.connect("env-updated", _touched, priority=900)  # after all who number and cite
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _changed(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> Iterable[str]:
    """List pages with another source than when they were read."""
    before = getattr(env, "soundcheck_sources", {})
    now = {page: files.digest(Path(env.doc2path(page))) for page in env.found_docs}
    env.soundcheck_sources = now
    return [page for page in now if before.get(page) != now[page]]


def _without_static_files(app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Begin without styles and scripts, as a first build does: pages name digests of those that are there."""
    if pages:
        shutil.rmtree(Path(app.outdir) / "_static", ignore_errors=True)


def _touched(app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """List the pages that have to be written again because of what others say: all or none."""
    standard, cited = env.domaindata["std"], env.domaindata["cite"]
    shared = [
        sorted((page, title.astext()) for page, title in env.titles.items()),
        sorted((page, title.astext()) for page, title in env.longtitles.items()),
        sorted((page, entries) for page, entries in env.toctree_includes.items()),
        *(sorted(standard[name].items()) for name in ("labels", "anonlabels", "terms", "objects")),
        sorted(env.domaindata["math"]["objects"].items()),
        sorted((env.toc_secnumbers | env.toc_fignumbers).items()),
        sorted((one.bibliography_key.docname, one.key, one.citation_id) for one in cited["citations"]),
        sorted((one.docname, one.citation_ref_id, repr(one.targets)) for one in cited["citation_refs"]),
    ]
    digest = files.digest(repr(shared))
    # Reading is quick, and not all extensions can do it in parallel. Sphinx counts itself as one of the
    # processes, although it waits for those that write.
    app.parallel = app.config.writing_jobs + (app.config.writing_jobs > 1)
    _menu.clear()
    gc.freeze()  # processes that write need not look at what has been read, which would copy it
    before, env.soundcheck_shared = getattr(env, "soundcheck_shared", digest), digest
    return sorted(env.found_docs) if before != digest else []


def build(source: Path, work: Path, jobs: int) -> int:
    """Build a book from its sources.

    Parameters
    ----------
    source
        Its sources with configuration and contents.
    work
        Folder of the environment (``doctrees``) and the site (``html``), empty or as the last build left it.
    jobs
        Processes to write pages with.

    Returns
    -------
    int
        0 if all pages were built without a warning.
    """
    # A page is a tree of thousands of objects, and what was imported stays.
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 1000)
    # Word after word comes again on each page; the stemmer is plain Python.
    SearchEnglish.stem = functools.cache(SearchEnglish.stem)
    # Each citation asks for its style, by a look through all that is installed.
    plugin._load_entry_point = functools.cache(plugin._load_entry_point)
    # Names in headings stay as they are: no curly quotes, no dash for two hyphens.
    sphinx_nodes.NON_SMARTQUOTABLE_PARENT_NODES += (nodes.title,)
    # For the menu of each page Sphinx copies all headings of all pages, of which it shows none.
    toctree._toctree_standard_entry = functools.partial(_titled, toctree._toctree_standard_entry)
    ended = build_sphinx(
        source,
        work / "html",
        doctreedir=work / "doctrees",
        noconfig=True,
        path_config=source / "_config.yml",
        confoverrides={
            **{"external_toc_path": "_toc.yml", "latex_individualpages": False},
            "writing_jobs": jobs,
        },
        quiet=True,
        warningiserror=True,
        keep_going=True,
    )
    if ended != 0:
        return ended if isinstance(ended, int) else 2  # an exception, which was told
    _mend_search_index(work / "html" / "searchindex.js")
    return 0


def _titled(entry: Callable[..., object], title: str, page: str, depth: int, toc: nodes.Node, *more: object):
    """Make the entry of a page in a menu as Sphinx does, from its titles and menus only."""
    if page not in _menu:
        _menu[page] = toc.deepcopy()
        for item in _menu[page].children:
            if isinstance(item, nodes.list_item) and len(item) > 1:
                item[1][:] = list(item.findall(addnodes.toctree))
                if not item[1].children:
                    item.pop(1)
    return entry(title, page, depth, _menu[page], *more)


def _mend_search_index(path: Path) -> None:
    """Take out words that no page has any more, which Sphinx keeps, and escape headings: they become HTML.

    Headings of pages that were not read again come from the last index, which has them escaped.
    """
    index = js_index.loads(path.read_text(encoding="utf-8"))
    for name in ("terms", "titleterms"):
        index[name] = {word: pages for word, pages in index[name].items() if pages != []}
    titles = {html.unescape(title): at for title, at in index["alltitles"].items()}
    index["alltitles"] = {html.escape(title, quote=False): at for title, at in titles.items()}
    path.write_text(js_index.dumps(index), encoding="utf-8")


if __name__ == "__main__":
    if sys.stdin.readline():  # what is imported above is imported while the sources are written
        sys.exit(build(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
