"""Links from the documentation to lines of the code, resolved by name when the site is built.

A page links to a file of the repository as `../native/timing/sampler.hpp#Sampler::batch_s`, which
a forge opens, too. The site gets its own page for that file, and the link goes to the line
where that name is defined now. A name or a file that is not there stops the build.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "source"
"""Where the pages of source files stand in the site."""
_LINK = re.compile(r"(?<=\]\()(?P<path>\.\./[\w./-]+)(?:#(?P<name>[\w.:~]+))?(?=\))")
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><style>
:root {{ color-scheme: light dark }}
body {{ margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 15px/1.5 sans-serif }}
pre {{ overflow-x: auto; line-height: 1.45 }}
{light}
@media (prefers-color-scheme: dark) {{ {dark} }}
h1 {{ font-size: 1.2rem; overflow-wrap: anywhere }}
pre a {{ color: inherit; text-decoration: none }}
pre span:target {{ background: #ffc40066 }}
pre .linenos {{ color: inherit; background: none; opacity: .45; padding-right: 1em }}
</style><h1>{title}</h1>{code}</html>
"""


@dataclass(frozen=True)
class Link:
    """A file of the repository and what is meant in it; no name means the file as such."""

    path: str
    name: str = ""

    def line(self) -> int:
        """Where the name is defined, from 1.

        Raises LookupError if the file or the name is not there, or is there several times.
        """
        if not (ROOT / self.path).exists():
            raise LookupError(f"{self.path} does not exist")
        if not self.name:
            return 1
        text = (ROOT / self.path).read_text(encoding="utf-8")
        find = _python_lines if self.path.endswith(".py") else _cpp_lines
        lines = list(find(text, self.name))
        if len(lines) != 1:
            raise LookupError(f"{self.path} defines {self.name} {len(lines)} times")
        return lines[0]


def _python_lines(text: str, name: str) -> Iterator[int]:
    """Lines that define a class, a function, a method (`Class.method`) or a constant.

    The overloads of a function declare it, they do not define it.
    """
    bodies: list[list[ast.stmt]] = [ast.parse(text).body]
    *classes, last = name.split(".")
    for outer in classes:
        bodies = [
            node.body for node in bodies[0] if isinstance(node, ast.ClassDef) and node.name == outer
        ] or [[]]
    for node in bodies[0]:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            is_overload = "overload" in map(ast.unparse, node.decorator_list)
            if node.name == last and not is_overload:
                yield node.lineno
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == last for target in targets):
            yield node.lineno


def _cpp_lines(text: str, name: str) -> list[int]:
    """Lines that define a type or a function, of a class where it is `Class::function`.

    Told by their form: a type's keyword before the name, or else a type and brackets behind it.
    """
    *outer, last = name.split("::")
    begin = _cpp_lines(text, outer[0])[0] if outer else 0
    lines = list(enumerate(text.splitlines(), 1))[begin:]
    end = r"(?:[^;]*|.*\{.*)$"
    kind = re.compile(rf"^\s*(?:class|struct|enum class|concept)\s+{last}\b{end}")
    call = re.compile(rf"^\s*(?!return|//|else|throw)[\w:<>,&*\[\] ]+[\s&*]{last}\({end}")
    found = [[number for number, line in lines if form.match(line)] for form in (kind, call)]
    return found[0] or found[1]


def target(page: str, path: str) -> str:
    """The file of the repository that a page of docs/ means, '' if it is one of docs/ itself."""
    found = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), path))
    return "" if found.startswith("docs/") else found


def links(page: str, markdown: str) -> Iterator[Link]:
    """The links of a page (its path below docs/) to files of the repository."""
    for match in _LINK.finditer(markdown):
        if path := target(page, match["path"]):
            yield Link(path, match["name"] or "")


def resolved(page: str, markdown: str) -> str:
    """The page with links that go to the lines of the site's own pages of source files."""

    def replaced(match: re.Match[str]) -> str:
        path = target(page, match["path"])
        if not path:
            return match[0]
        line = Link(path, match["name"] or "").line()
        url = posixpath.relpath(site_path(path), posixpath.dirname(page) or ".")
        return f'{url}#L{line} "{path}, line {line}"'

    return _LINK.sub(replaced, markdown)


def site_path(path: str) -> str:
    """Where the page of a source file stands in the site."""
    return f"{FOLDER}/{path}.html"


def source_pages(root: Path = ROOT / "docs") -> dict[str, str]:
    """Every source file that a page links to, as a page of HTML, by its place in the site."""
    pages = [(path.relative_to(root).as_posix(), path.read_text("utf-8")) for path in
             sorted(root.rglob("*.md"))]  # fmt: skip
    linked = {link.path for page, text in pages for link in links(page, text)}
    return {site_path(path): html(path) for path in sorted(linked)}


def html(path: str) -> str:
    """A source file with colours and numbered lines, whose anchors are L1, L2 and so on.

    Raises LookupError if there is no such file.
    """
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_for_filename

    if not (ROOT / path).is_file():
        raise LookupError(f"{path} does not exist")
    form = {"linenos": "inline", "linespans": "L", "anchorlinenos": True}
    light = HtmlFormatter(**form, style="default")
    dark = HtmlFormatter(**form, style="github-dark")
    code = highlight((ROOT / path).read_text("utf-8"), get_lexer_for_filename(path), light)
    rules = (light.get_style_defs(".highlight"), dark.get_style_defs(".highlight"))
    code = code.replace('id="L-', 'id="L').replace("#L-", "#L")
    return _PAGE.format(title=path, code=code, light=rules[0], dark=rules[1])
