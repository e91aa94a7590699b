"""Makes the picture and the table of the page *Architecture* from the imports of the library.

``python docs/architecture.py`` writes both again after a change of imports between packages.
"""

import ast
import functools
import html
import re
from pathlib import Path

import soundcheck

LIBRARY = Path(soundcheck.__file__).parent
BOOK = Path(__file__).parents[1] / "book"
PAGE, PICTURE = BOOK / "architecture.md", BOOK / "_static" / "architecture.svg"
TABLE = re.compile(r"(?<=<!-- packages -->\n\n).*?(?=\n\n<!-- end of packages -->)", re.DOTALL)
WIDTH, HEIGHT, ACROSS, DOWN = 150, 34, 190, 62
ASIDE = {"models": 0, "results": 2}  # columns of packages whose arrows pass others


@functools.cache
def packages() -> dict[str, str]:
    """Give packages and modules at the top of the library, with the first line of their docstrings."""
    first_lines = {}
    for path in sorted(LIBRARY.iterdir()):
        source = path / "__init__.py" if path.is_dir() else path
        if source.is_file() and source.suffix == ".py" and path.stem not in ("__init__", "_share"):
            docstring = ast.get_docstring(ast.parse(source.read_text("utf-8"))) or ""
            first_lines[path.stem] = docstring.splitlines()[0]
    return first_lines


@functools.cache
def imports() -> list[tuple[str, str]]:
    """Give each import of our own in the library: who imports, and what; names without ``soundcheck.``."""
    found = []
    for path in LIBRARY.rglob("*.py"):
        parts = path.relative_to(LIBRARY).with_suffix("").parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            ours = [name for name in names if name.startswith(("soundcheck.", "soundcheck_demo"))]
            found += [("/".join(parts), name.removeprefix("soundcheck.")) for name in ours]
    return found


@functools.cache
def imported() -> dict[str, set[str]]:
    """Give what each package imports from others."""
    others = {name: set() for name in packages()}
    for name, other in imports():
        package, other = name.partition("/")[0], other.partition(".")[0]
        if package in others and other in others and package != other:
            others[package].add(other)
    return others


def reached(name: str) -> set[str]:
    """Give all packages that a package depends on, also through others."""
    return imported()[name].union(*(reached(other) for other in imported()[name]))


def direct(name: str) -> list[str]:
    """List what a package imports and does not reach through another import anyway."""
    needed = imported()[name]
    return sorted(other for other in needed if not any(other in reached(each) for each in needed - {other}))


@functools.cache
def level(name: str) -> int:
    """Count how many imports follow each other below a package."""
    return 1 + max((level(other) for other in imported()[name]), default=-1)


def table() -> str:
    """List the packages from the first to the last of the flow."""
    lines = ["| package | what it does | builds on |", "| --- | --- | --- |"]
    for name in sorted(packages(), key=lambda each: (level(each), each)):
        lines.append(f"| `{name}` | {packages()[name]} | {', '.join(direct(name)) or 'nothing'} |")
    return "\n".join(lines)


def picture() -> str:
    """Draw boxes of packages, above those that build on them; arrows show what is not reached otherwise."""
    deepest = max(map(level, packages()))
    levels = [[name for name in sorted(packages()) if level(name) == n] for n in range(deepest + 1)]
    place = {}
    for depth, row in enumerate(levels):
        for n, name in enumerate(row):
            column = ASIDE.get(name, 1 if ASIDE.keys() & set(row) else 1 + n - (len(row) - 1) / 2)
            place[name] = (ACROSS * column + 20, DOWN * depth + 12)
    parts = []
    for name, (x, y) in place.items():
        for other in direct(name):
            start = (place[other][0] + WIDTH / 2, place[other][1] + HEIGHT)
            end = (x + WIDTH / 2, y - 4)
            turn = end[1] - DOWN + HEIGHT + 4
            curve = f"{start[0]:g},{end[1] - 8:g} {end[0]:g},{turn + 8:g} {end[0]:g},{end[1]:g}"
            parts.append(f'<path d="M{start[0]:g},{start[1]:g} V{turn:g} C{curve}" marker-end="url(#tip)"/>')
    for name, (x, y) in place.items():
        parts.append(f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>')
        parts.append(f'<text x="{x + WIDTH / 2:g}" y="{y + HEIGHT / 2 + 5:g}">{html.escape(name)}</text>')
    size = (3 * ACROSS, DOWN * len(levels) + 8)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}">'
        "<title>Packages of Soundcheck in the order of the data flow</title>"
        "<style>path{fill:none;stroke:#888;stroke-width:1.5}rect{fill:#e8f0f8;stroke:#4a78a8}"
        "text{font:14px sans-serif;text-anchor:middle;fill:#123}</style>"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0,0 L8,4 L0,8 z" style="fill:#888;stroke:none"/></marker></defs>'
    )
    return "\n".join([head, *parts, "</svg>", ""])


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.write_text(picture(), encoding="utf-8")
