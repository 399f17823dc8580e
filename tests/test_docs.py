"""What the documentation takes from the program, and whether its examples run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import command_reference
import docs_hooks
import machine_reference
import source_links
import wings
from nhalf.base import plugins
from nhalf.machines import catalogue
from nhalf.measure.plan import catalogue as studies

ROOT = Path(__file__).resolve().parent.parent
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


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_entry_pages_lead_to_every_verb(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    verbs = set(plugins.names("nhalf.cli.verbs"))
    assert {verb for verb in verbs if not re.search(rf"`nhalf {verb}\b", text)} == set()


def test_the_front_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 180


def test_every_page_is_two_clicks_from_the_index() -> None:
    docs = ROOT / "docs"
    pages = {page.resolve() for page in docs.rglob("*.md")}
    reached = {docs / "index.md"}
    for _ in range(2):
        reached |= {
            (page.parent / link).resolve()
            for page in reached
            for link in re.findall(r"\]\(([^)#:\s]+\.md)", page.read_text(encoding="utf-8"))
            if (page.parent / link).exists()
        }
    assert pages - {page.resolve() for page in reached} == set()


def test_pages_of_native_rooms_name_their_files_and_no_others() -> None:
    native = ROOT / "native"
    rooms = [room for room in native.iterdir() if room.is_dir()]
    assert [room.name for room in rooms if not (room / "README.md").is_file()] == []
    code = {
        path.relative_to(ROOT)
        for ending in ("hpp", "cpp", "inc")
        for path in native.rglob(f"*.{ending}")
    }
    for room in rooms:
        text = (room / "README.md").read_text(encoding="utf-8")
        named = re.findall(r"`([\w./*-]+\.(?:hpp|cpp|inc))`", text)
        assert [name for name in named if not any(file.match(name) for file in code)] == [], room
        here = {file for file in code if file.parent == room.relative_to(ROOT)}
        if "| files |" in text:
            unnamed = [file for file in here if not any(file.match(name) for name in named)]
            assert unnamed == [], room


def test_the_guide_names_every_study() -> None:
    text = (ROOT / "docs" / "guide" / "studies.md").read_text(encoding="utf-8")
    assert [name for name in studies.names() if f"| `{name}` |" not in text] == []


def test_the_index_leads_to_every_transport() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    table = text.split("`--transport`:\n")[1].split("\n## ")[0]
    headers = {path.stem for path in (ROOT / "native" / "transports").glob("*.hpp")}
    assert set(re.findall(r"`(\w+)`", table)) == headers - {"simulated"}


def test_every_machine_of_record_is_in_the_table_and_has_a_section() -> None:
    reference = machine_reference.reference()
    overview = machine_reference.overview()
    for name in catalogue.names():
        machine = catalogue.machine(name)
        assert overview.count(f"[`{name}`](#{name}) | {machine.title} |") == 1
        section = reference.split(f"{{#{name}}}\n")[1].split("\n### ")[0]
        for text in (machine.source, *machine.unknown, *machine.assumptions):
            assert text in section
        lines = [line for line in section.splitlines() if line.startswith("| ")]
        segments = sum(1 if model.is_table else len(model.segments) for model in machine.models)
        assert len(lines) == 1 + segments + bool(machine.patterns) + len(machine.patterns), name


def test_the_formulas_of_that_page() -> None:
    page = machine_reference.reference()
    assert "| pingpong, other-node | 217 – 2048 | 55 + n / 22.6 | Abandah 1995, ch. 2 |" in page
    assert "| 65537 – 4194304 | n / 9.39 − 7.78 √n |" in page
    assert "| 0 – 64 | 5 | Qian 2004" in page
    assert "| one-to-many | > 65536 | (0.04902 q) n + (−3.3 q − 3.9) √n |" in page
    assert "| many-to-many | all | 600 + (0.1953) n; p = 3 |" in page
    assert "| many-to-many | all | 85 (p − 2) + 100 + (0.1 (p − 1)) n; p = 2 to 4 |" in page
    assert "+ (0.2083 (p − 2) + 0.072) n; p = 4 and more |" in page


def test_a_mark_that_is_not_known_stops_the_build() -> None:
    with pytest.raises(KeyError):
        docs_hooks.fill("text\n\n<!-- nhalf:nonsense -->\n")


def test_a_mark_that_nothing_is_filled_in_for_stops_the_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(docs_hooks.FILLED, "rooms", lambda: " \n")
    with pytest.raises(ValueError, match="nhalf:rooms is empty"):
        docs_hooks.fill("text\n\n<!-- nhalf:rooms -->\n")


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


@pytest.mark.parametrize(
    ("path", "name", "line"),
    [
        ("src/nhalf/store/journal.py", "Journal.append", "    def append(self, event"),
        ("src/nhalf/store/journal.py", "SYNC_INTERVAL_S", "SYNC_INTERVAL_S = 0.2"),
        ("src/nhalf/store/keys.py", "MEASUREMENT_COLUMNS", "MEASUREMENT_COLUMNS: "),
        ("native/timing/sampler.hpp", "Sampler", "class Sampler {"),
        ("native/timing/sampler.hpp", "Sampler::batch_s", "  double batch_s(Pattern& pattern"),
        ("native/timing/clock.hpp", "SteadyClock::now_s", "  [[nodiscard]] double now_s()"),
        ("native/probe/record.hpp", "write_line", "inline void write_line("),
    ],
)
def test_names_are_found_in_the_code(path: str, name: str, line: str) -> None:
    number = source_links.Link(path, name).line()
    assert (ROOT / path).read_text(encoding="utf-8").splitlines()[number - 1].startswith(line)


def test_a_function_is_defined_below_its_overloads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_links, "ROOT", tmp_path)
    (tmp_path / "a.py").write_text("@overload\ndef f(a: int) -> int: ...\ndef f(a): ...\n")
    assert source_links.Link("a.py", "f").line() == 3


@pytest.mark.parametrize("link", ["src/nhalf/nothing.py#x", "src/nhalf/store/journal.py#Nobody",
                                  "native/timing/sampler.hpp#Sampler::nothing"])  # fmt: skip
def test_a_link_that_leads_nowhere_stops_the_build(link: str) -> None:
    with pytest.raises(LookupError):
        source_links.resolved("architecture.md", f"[that](../{link})")
