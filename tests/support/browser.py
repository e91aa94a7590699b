"""Pages in the system's Chromium: what they ask for, what they complain of and what axe-core finds in them.

A test asks for the fixture ``browser``: ``browser.open(path, width=390, theme="dark")`` gives a page of
Playwright, ``browser.complaints(path)`` says what is wrong with one.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SIZES = {1400: 900, 390: 844}  # pixels: a desk and a telephone
NAMES = ("chromium", "chromium-browser", "google-chrome")
# Chromium of its own accord would look for updates and fonts elsewhere.
SWITCHES = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars")
INSIDE = re.compile("file:|data:|blob:|about:")
LIMITS = {"timeout": 20_000}  # milliseconds that a page may take on a machine that is busy
# All that a reader may open is open; pictures that wait to be scrolled to are there.
OPENED = """() => {
  for (const one of document.querySelectorAll('details')) one.open = true;
  for (const one of document.querySelectorAll('img[loading=lazy]')) one.loading = 'eager';
}"""
# MathJax sets formulas after the page has loaded, and its elements are what axe would find half made.
SETTLED = "() => window.MathJax?.startup?.promise?.then(() => true)"
FOUND = """async (options) => {
  const found = await axe.run(document, options);
  const words = node => `${node.html.slice(0, 200)} (${(node.failureSummary || '').slice(0, 200)})`;
  return found.violations.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${words(node)}`));
}"""
WIDER = """() => {
  const root = document.documentElement, most = root.clientWidth;
  if (root.scrollWidth <= most) return null;
  const out = [...document.body.querySelectorAll('*')].filter(one => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.right + window.scrollX > most + 1;
  });
  const name = one => one.tagName.toLowerCase() + (one.className && one.className.baseVal === undefined
    ? '.' + String(one.className).trim().replace(/\\s+/g, '.') : '');
  return `${root.scrollWidth} of ${most} pixels: ${out.slice(0, 4).map(name).join(', ')}`;
}"""


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Start Chromium and end it, or skip; meanwhile the thread has an event loop, so no other can run."""
    playwright_api = pytest.importorskip("playwright.sync_api")
    pytest.importorskip("axe_playwright_python.base")
    paths = [path for path in map(shutil.which, NAMES) if path]
    if not paths:
        pytest.skip("there is no Chromium on this system")
    with playwright_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=paths[0], args=list(SWITCHES))
        try:
            yield Browser(chromium)
        finally:
            chromium.close()


class Browser:
    """Opens pages of the disk; notes what they ask for and complain of."""

    def __init__(self, chromium: Any) -> None:
        self._chromium = chromium
        self._noted: dict[Any, list[str]] = {}
        self._idle: dict[str, list[Any]] = {}

    def open(self, path: Path | str, *, width: int = 1400, theme: str = "light", **options: object) -> Any:
        """Open a file, with nothing remembered from others, in a page that was closed if one is alike."""
        usual = {
            **{"viewport": {"width": width, "height": SIZES.get(width, 900)}, "color_scheme": theme},
            **{"reduced_motion": "reduce", "is_mobile": width < 600},
        }
        kind = usual | options
        idle = self._idle.setdefault(repr(kind), [])
        page = idle.pop() if idle else self._new(kind)
        page.goto(path if str(path).startswith("file:") else Path(path).resolve().as_uri(), **LIMITS)
        return page

    def _new(self, kind: dict[str, Any]) -> Any:
        page = self._chromium.new_context(**kind).new_page()
        noted = self._noted[page] = []
        page.kind = kind
        page.on("console", lambda said: said.type == "error" and noted.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: noted.append(f"error: {error}"))
        page.on("request", lambda asked: INSIDE.match(asked.url) or noted.append(f"asks for {asked.url}"))
        page.on("requestfailed", lambda asked: noted.append(f"does not get {asked.url}: {asked.failure}"))
        return page

    def close(self, page: Any) -> None:
        """Leave a page to the next that is alike, as if it were new: a new one costs a second."""
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        page.goto("about:blank")
        page.set_viewport_size(page.kind["viewport"])
        page.emulate_media(media="null")
        self._noted[page].clear()
        self._idle[repr(page.kind)].append(page)

    def noted(self, page: Any) -> list[str]:
        """Give errors, and requests for what is not on the disk or not there, as far as they happened."""
        return list(self._noted[page])

    def findings(self, page: Any) -> list[str]:
        """Have axe-core look at a page, with all opened that a reader may open."""
        from axe_playwright_python.base import AXE_SCRIPT

        page.evaluate(OPENED)
        page.evaluate(SETTLED)
        page.evaluate(AXE_SCRIPT)
        # Style sheets are not fetched once more: pages of the disk may not be, and one rule wants them.
        return page.evaluate(FOUND, {"resultTypes": ["violations"], "preload": False})

    def wider(self, page: Any) -> str | None:
        """Say how much wider a page is than its window and what sticks out; ``None`` if it is not."""
        return page.evaluate(WIDER)

    def complaints(self, path: Path | str, *, width: int = 1400, theme: str = "light") -> list[str]:
        """List all that is wrong with a page: errors, requests, findings of axe-core, and its width."""
        page = self.open(path, width=width, theme=theme)
        try:
            problems, wide = self.findings(page), self.wider(page)
            return [*self.noted(page), *problems, *([f"wider than its window: {wide}"] if wide else [])]
        finally:
            self.close(page)
