# SPDX-License-Identifier: Apache-2.0
"""The documentation says what the program does: complete, and only names what exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import command_reference
import docs_hooks
import machine_reference
import source_links
import wings
from nhalf.base import plugins
from nhalf.machines import catalogue
from nhalf.machines.computing import Computing
from nhalf.machines.machine import (
    FittedModel,
    Machine,
    Network,
    Node,
    PatternModel,
    Protocol,
    PublishedPoint,
    Segment,
)
from nhalf.machines.topology import Topology
from nhalf.models.terms import TERMS

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
SITE = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*OUTSIDE, *SITE]
COMMANDS = dict(command_reference.commands(command_reference.root()))


def test_the_reference_names_every_verb_and_every_option() -> None:
    reference = command_reference.reference()
    assert len(COMMANDS) > 5
    for verb in plugins.names("nhalf.cli.verbs"):
        assert f"## nhalf {verb}\n" in reference
    for name, command in COMMANDS.items():
        section = reference.split(f"## {name}\n")[1].split("\n## ")[0]
        assert f"    {name} " in section
        for parameter in command_reference.parameters(command):
            cell = command_reference.spelled(parameter).replace("|", "\\|")
            assert f"`{cell}`" in section


def test_every_command_and_every_parameter_is_explained() -> None:
    silent = [name for name, command in COMMANDS.items() if not (command.help or "").strip()]
    silent += [
        f"{name} {command_reference.spelled(parameter)}"
        for name, command in COMMANDS.items()
        for parameter in command_reference.parameters(command)
        if not getattr(parameter, "help", None)
    ]
    assert silent == []


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_prose_exist_with_the_options_they_are_given(page: Path) -> None:
    for line in command_lines(page.read_text(encoding="utf-8")):
        words = shlex.split(line)
        name = " ".join(words[:3]) if " ".join(words[:3]) in COMMANDS else " ".join(words[:2])
        assert name in COMMANDS, f"{page.name}: {line}"
        known = {"--help", "--json"}
        for parameter in COMMANDS[name].params:
            known.update([*parameter.opts, *parameter.secondary_opts])
        used = {word.split("=")[0] for word in words if word.startswith("--")}
        assert used <= known, f"{page.name}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_in_prose_exist(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^    |`)make ([a-z-]+)", page.read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name}: make {target}"


@pytest.mark.parametrize("mark", sorted(docs_hooks.FILLED))
def test_what_the_program_fills_in_is_used_and_not_empty(mark: str) -> None:
    assert any(f"<!-- nhalf:{mark} -->" in page.read_text(encoding="utf-8") for page in PAGES)
    assert docs_hooks.FILLED[mark]().strip()


@pytest.mark.parametrize("name", catalogue.names())
def test_every_machine_of_record_is_in_the_table_and_has_a_section(name: str) -> None:
    known = catalogue.machine(name)
    assert machine_reference.overview().count(f"[`{name}`](#{name}) | {known.title} |") == 1
    section = machine_reference.reference().split(f"{{#{name}}}\n")[1].split("\n### ")[0]
    for text in (known.source, *known.unknown, *known.assumptions):
        assert text in section
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    segments = sum(len(model.segments) for model in known.models)
    assert len(lines) == 1 + segments + bool(known.patterns) + len(known.patterns)


def test_the_formulas_of_that_page() -> None:
    page = machine_reference.reference()
    assert "| pingpong, other-node | 217 – 2048 | 55 + n / 22.6 | Abandah 1995, ch. 2 |" in page
    assert "| 65537 – 4194304 | n / 9.39 − 7.78 √n |" in page
    assert "| 0 – 64 | 5 | Qian 2004" in page
    assert "| one-to-many | > 65536 | (0.04902 q) n + (−3.3 q − 3.9) √n |" in page
    assert "| many-to-many | all | 600 + (0.1953) n; p = 3 |" in page
    assert "| many-to-many | all | 85 (p − 2) + 100 + (0.1 (p − 1)) n; p = 2 to 4 |" in page
    assert "+ (0.2083 (p − 2) + 0.072) n; p = 4 and more |" in page


def test_the_page_of_files_names_every_key_of_a_machine() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    forms: tuple[type[msgspec.Struct], ...] = (Machine, Node, Network, Protocol, Computing)
    forms += (PatternModel, PublishedPoint, FittedModel, Segment)
    inside = {"breakpoints", "models", "patterns", "points", "loggp", "run", "heldout_sizes"}
    keys = {key for form in forms for key in form.__struct_fields__} - inside
    words = set(re.findall(r"[\w√]+", page))
    assert sorted(keys - words) == []
    assert [term for term in TERMS if f"`{term}`" not in page] == []
    for topology in get_args(Topology):
        assert f'kind = "{topology.__struct_config__.tag}"' in page


@pytest.mark.parametrize("page", SITE, ids=lambda page: page.name)
def test_every_page_starts_with_the_question_that_it_answers(page: Path) -> None:
    title, first = page.read_text(encoding="utf-8").split("\n\n")[:2]
    is_question = title.endswith(("?", "when …?")) or re.fullmatch(r"\*[^*]+\?\*", first)
    assert title.startswith("# ")
    assert is_question, f"{page.name}: no '*Question?*' below the title"


def test_every_page_has_an_entry_in_the_navigation_and_no_group_is_long() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    named = re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE)
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in SITE}
    assert sorted(named) == sorted({*pages, "contributing.md"})
    groups = re.split(r"^ *- [^:\n]+:$", text, flags=re.MULTILINE)
    assert max(group.count(".md") for group in groups) <= 9


def test_a_mark_that_is_not_known_stops_the_build() -> None:
    with pytest.raises(KeyError):
        docs_hooks.fill("text\n\n<!-- nhalf:nonsense -->\n")


def test_python_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of the notebook page, in order, in one namespace, as a reader would."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    namespace: dict[str, object] = {}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"docs/python.md, block {number}", "exec"), namespace)


def test_the_picture_of_the_wings_shows_every_wing_and_every_arrow() -> None:
    picture = docs_hooks.wings_picture()
    drawn = re.findall(r"<title>(\w+) imports (\w+): (\d+)</title>", picture)
    arrows = wings.arrows(wings.module_files(ROOT))
    known = wings.between_wings(arrows)
    assert {(a, b): int(count) for a, b, count in drawn} == known
    assert [name for name in wings.ORDER if f'id="wing-{name}"' not in picture] == []
    up = wings.arrows_up(arrows)
    pairs = {(wings.wing(arrow.importer), wings.wing(arrow.imported)) for arrow in up}
    assert picture.count(' up"') == len(pairs)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_lines_of_the_code_lead_somewhere(page: Path) -> None:
    where = "" if page in OUTSIDE else page.relative_to(ROOT / "docs").as_posix()
    for link in source_links.links(where, page.read_text(encoding="utf-8")):
        assert link.line() > 0


@pytest.mark.parametrize(
    ("path", "name", "line"),
    [
        ("src/nhalf/store/journal.py", "Journal.append", "    def append(self, event"),
        ("src/nhalf/store/journal.py", "SYNC_INTERVAL_S", "SYNC_INTERVAL_S = 0.2"),
        ("src/nhalf/store/schema.py", "MEASUREMENT_COLUMNS", "MEASUREMENT_COLUMNS: "),
        ("native/timing/sampler.hpp", "Sampler", "class Sampler {"),
        ("native/timing/sampler.hpp", "Sampler::batch_s", "  double batch_s(Pattern& pattern"),
        ("native/timing/clock.hpp", "SteadyClock::now_s", "  [[nodiscard]] double now_s()"),
        ("native/probe/record.hpp", "write_line", "inline void write_line("),
    ],
)
def test_names_are_found_in_the_code(path: str, name: str, line: str) -> None:
    number = source_links.Link(path, name).line()
    assert (ROOT / path).read_text(encoding="utf-8").splitlines()[number - 1].startswith(line)


@pytest.mark.parametrize("link", ["src/nhalf/nothing.py#x", "src/nhalf/store/journal.py#Nobody",
                                  "native/timing/sampler.hpp#Sampler::nothing"])  # fmt: skip
def test_a_link_that_leads_nowhere_stops_the_build(link: str) -> None:
    with pytest.raises(LookupError):
        source_links.resolved("architecture.md", f"[that](../{link})")
