"""What is checked of pages: they name only what exists, and are complete.

`python tools/style_pages.py` prints one line per complaint and fails if there is any. A rule is a
function from a page to complaints; `TREE_RULES` lists those that see all pages at once.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec

from style_source import Complaint, Rule, Source, TreeRule

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src")]

OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
GROUP_PAGES_MAX = 9
"""A group of the navigation may have this many pages."""
ALWAYS = frozenset({"--help", "--json"})
NOT_KEYS = frozenset(
    {"breakpoints", "models", "patterns", "points", "loggp", "run", "heldout_sizes"}
)
"""Fields of machines that files of machines spell in another way."""


@cache
def commands() -> dict[str, Any]:
    """Every command of `nhalf` by its full name."""
    import command_reference

    return dict(command_reference.commands(command_reference.root()))


def read_pages() -> list[Source]:
    """Every page of the site and beside it."""
    paths = [*(ROOT / name for name in OUTSIDE), *sorted((ROOT / "docs").rglob("*.md"))]
    return [
        Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in paths
    ]


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _line(page: Source, text: str) -> int:
    """The line where a text begins for the first time."""
    return page.line_at(max(page.text.find(text), 0))


def command_lines(text: str) -> list[str]:
    """The lines of code blocks that call nhalf, up to a comment or to another command."""
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^    (.*)$", text, re.MULTILINE)
    spans = re.findall(r"`(nhalf [a-z][^`]*)`", text)
    code = "\n".join([*fenced, *indented, *spans])
    lines = re.findall(r"^(?:\$ )?(nhalf [a-z].*)$", code, re.MULTILINE)
    alone = [re.split(r"\s+(?:#|&&|\|\||>|\|)\s*", line)[0] for line in lines]
    # `nhalf lab exec -- COMMAND` is two commands, of which the second may be one of ours.
    parts = [part for line in alone for part in line.split(" -- ")]
    return [part for part in parts if part.startswith("nhalf ")]


def commands_exist(page: Source) -> Iterator[Complaint]:
    """Commands in prose exist, with the options that they are given."""
    from nhalf.cli.engines import resolved
    from nhalf.cli.group import load_verb

    for line in command_lines(page.text):
        words = shlex.split(line)
        name = " ".join(words[:3]) if " ".join(words[:3]) in commands() else " ".join(words[:2])
        if name not in commands():
            yield page.complain(_line(page, line), "command", f"{name} does not exist")
            continue
        options = {*ALWAYS, *name.split()}
        command = commands()[name]
        if name == "nhalf predict":
            _, command, words = resolved(words[2:], load_verb)
        for parameter in command.params:
            options.update([*parameter.opts, *parameter.secondary_opts])
        used = {word.split("=")[0] for word in words if word.startswith("--")}
        for option in sorted(used - options):
            yield page.complain(_line(page, line), "command", f"{name} does not have {option}")


def make_targets_exist(page: Source) -> Iterator[Complaint]:
    """What a page asks to be made is a target of the Makefile."""
    makefile = _read("Makefile")
    for match in re.finditer(r"(?:^    |`)make ([a-z-]+)", page.text, re.MULTILINE):
        if not re.search(rf"^{match[1]}:", makefile, re.MULTILINE):
            yield page.complain(page.line_at(match.start(1)), "target", f"make {match[1]}")


def starts_with_a_question(page: Source) -> Iterator[Complaint]:
    """A page of the site has a title, and the question that it answers is in it or below it."""
    if page.path.startswith("docs/"):
        title, first = [*page.text.split("\n\n"), "", ""][:2]
        is_question = title.endswith(("?", "when …?")) or re.fullmatch(r"\*[^*]+\?\*", first)
        if not title.startswith("# ") or not is_question:
            yield page.complain(1, "question", "no '*Question?*' below the title")


def links_lead_somewhere(page: Source) -> Iterator[Complaint]:
    """Links to lines of the code lead to what they name."""
    import source_links

    where = "" if page.path in OUTSIDE else page.path.removeprefix("docs/")
    for link in source_links.links(where, page.text):
        try:
            link.line()
        except LookupError as error:
            name = f"{link.path}#{link.name}" if link.name else link.path
            yield page.complain(_line(page, name), "link", str(error))


def marks_are_used(pages: list[Source]) -> Iterator[Complaint]:
    """What the program fills in stands on a page; building the site finds what is empty."""
    import docs_hooks

    for mark in sorted(docs_hooks.FILLED):
        if not any(f"<!-- nhalf:{mark} -->" in page.text for page in pages):
            yield Complaint("tools/docs_hooks.py", 1, "mark", f"no page has nhalf:{mark}")


def navigation_is_complete(pages: list[Source], text: str = "") -> Iterator[Complaint]:
    """Every page has an entry in the navigation, and no group of it is long."""
    text = (text or _read("mkdocs.yml")).split("\nnav:\n")[1]
    entries = re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE)
    site = {page.path.removeprefix("docs/") for page in pages if page.path.startswith("docs/")}
    site.add("contributing.md")
    for page in sorted(site.symmetric_difference(entries)):
        what = "has no entry" if page in site else "does not exist"
        yield Complaint("mkdocs.yml", 1, "navigation", f"{page} {what}")
    for page in sorted({entry for entry in entries if entries.count(entry) > 1}):
        yield Complaint("mkdocs.yml", 1, "navigation", f"{page} has several entries")
    for group in re.split(r"^ *- [^:\n]+:$", text, flags=re.MULTILINE):
        if group.count(".md") > GROUP_PAGES_MAX:
            what = f"a group has {group.count('.md')} pages, {GROUP_PAGES_MAX} at most"
            yield Complaint("mkdocs.yml", 1, "navigation", what)


def everything_is_explained(pages: list[Source]) -> Iterator[Complaint]:
    """Every command and every parameter has a help."""
    import command_reference

    del pages
    for name, command in commands().items():
        if not (command.help or "").strip():
            yield Complaint("src/nhalf/cli", 1, "help", f"{name} is not explained")
        for parameter in command_reference.parameters(command):
            if not getattr(parameter, "help", None):
                what = f"{name} {command_reference.spelled(parameter)} is not explained"
                yield Complaint("src/nhalf/cli", 1, "help", what)


def every_key_is_named(page: Source) -> Iterator[Complaint]:
    """The page of files names every key of a machine, and what may stand there."""
    from nhalf.machines import machine
    from nhalf.machines.computing import Computing
    from nhalf.machines.topology import Topology
    from nhalf.models.terms import TERMS

    if page.path != "docs/formats.md":
        return
    forms: tuple[type[msgspec.Struct], ...] = (machine.Machine, machine.Node, machine.Network)
    forms += (machine.Protocol, machine.PatternModel, machine.PublishedPoint, machine.FittedModel)
    forms += (machine.Segment, Computing)
    keys = {key for form in forms for key in form.__struct_fields__} - NOT_KEYS
    missing = sorted(keys - set(re.findall(r"[\w√]+", page.text)))
    missing += [term for term in TERMS if f"`{term}`" not in page.text]
    kinds = [f'kind = "{topology.__struct_config__.tag}"' for topology in get_args(Topology)]
    missing += [kind for kind in kinds if kind not in page.text]
    for key in missing:
        yield page.complain(1, "key", f"{key} of machines is not explained")


def contributing_is_complete(page: Source) -> Iterator[Complaint]:
    """CONTRIBUTING.md lists every preset, every mark of tests and every file in tools/."""
    if page.path != "CONTRIBUTING.md":
        return
    presets = json.loads(_read("CMakePresets.json"))["configurePresets"]
    shown = {preset["name"] for preset in presets if not preset.get("hidden")}
    table = _section(page.text, "Presets of CMake")
    for name in sorted(shown ^ set(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE))):
        yield page.complain(1, "preset", f"{name} is in CMakePresets.json or here, not in both")
    project = tomllib.loads(_read("pyproject.toml"))
    for text in project["tool"]["pytest"]["ini_options"]["markers"]:
        if f"`{text.split(':')[0]}`" not in page.text:
            yield page.complain(1, "marker", f"{text.split(':')[0]} is not explained")
    table = _section(page.text, "Files in tools/")
    for path in sorted((ROOT / "tools").iterdir()):
        if path.name != "__pycache__" and f"`{path.name}" not in table:
            yield page.complain(1, "tool", f"tools/{path.name} is not listed")


def _section(text: str, heading: str) -> str:
    """What stands below a heading, '' if it is not there."""
    return [*text.split(f"## {heading}\n"), ""][1].split("\n## ")[0]


RULES: tuple[Rule, ...] = (
    *(commands_exist, make_targets_exist, starts_with_a_question, links_lead_somewhere),
    *(every_key_is_named, contributing_is_complete),
)
TREE_RULES: tuple[TreeRule, ...] = (
    marks_are_used,
    navigation_is_complete,
    everything_is_explained,
)


def main() -> int:
    """Check every page."""
    pages = read_pages()
    found = [complaint for page in pages for rule in RULES for complaint in rule(page)]
    found += [complaint for rule in TREE_RULES for complaint in rule(pages)]
    for complaint in found:
        print(complaint)
    print(f"pages: {len(pages)} pages, {len(found)} complaints", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
