"""The rules of pages: each complains about what it is for."""

from __future__ import annotations

import pytest

import docs_hooks
import style_pages
from style_source import Source


def complaints(path: str, text: str) -> list[str]:
    page = Source(path, text)
    found = [complaint for rule in style_pages.RULES for complaint in rule(page)]
    return [f"{complaint.line}: {complaint.rule}: {complaint.what}" for complaint in found]


TITLE = "# Title\n\n*Why?*\n\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Call `nhalf nonsense`.", "5: command: nhalf nonsense does not exist"),
        ("    nhalf fit run --nonsense=3  # why", "5: command: nhalf fit does not have --nonsense"),
        ("```\n$ nhalf lab exec -- nhalf a\n```", "6: command: nhalf a does not exist"),
        ("    make nonsense", "5: target: make nonsense"),
        ("Call `make nonsense`.", "5: target: make nonsense"),
        ("[a](../src/nhalf/a.py)", "5: link: src/nhalf/a.py does not exist"),
        (
            "[a](../src/nhalf/store/journal.py#Nobody)",
            "5: link: src/nhalf/store/journal.py defines Nobody 0 times",
        ),
    ],
)  # fmt: skip
def test_a_page_that_names_what_does_not_exist(text: str, found: str) -> None:
    assert complaints("docs/a.md", TITLE + text + "\n") == [found]


@pytest.mark.parametrize(
    "text",
    [
        "    nhalf fit run --json  # --nonsense",
        "Call `make test`, and make sense.",
        "[a](../src/nhalf/store/journal.py#Journal.append)",
    ],
)
def test_a_page_that_names_what_exists(text: str) -> None:
    assert complaints("docs/a.md", TITLE + text + "\n") == []


@pytest.mark.parametrize("text", ["", "# Title\n\nText.\n", "Title\n\n*Why?*\n", "# Title\n"])
def test_a_page_without_a_question(text: str) -> None:
    assert complaints("docs/a.md", text) == ["1: question: no '*Question?*' below the title"]
    assert complaints("README.md", text) == []


def test_a_page_of_files_without_a_key() -> None:
    page = next(page for page in style_pages.read_pages() if page.path == "docs/formats.md")
    text = page.text.replace("adapter_Bps", "adapter").replace('kind = "torus"', "a torus")
    text = text.replace("`p*log2(p)`", "p log p")
    missing = [line.split(": ")[2].split(" of ")[0] for line in complaints(page.path, text)]
    assert missing == ["adapter_Bps", "p*log2(p)", 'kind = "torus"']


def test_a_page_on_contributing_without_a_part() -> None:
    page = next(page for page in style_pages.read_pages() if page.path == "CONTRIBUTING.md")
    text = page.text.replace("| `tsan` |", "| `other` |").replace("`full`", "full")
    text = text.replace("`wings.py`", "wings")
    rules = [line.split(": ")[1] for line in complaints(page.path, text)]
    assert rules == ["preset", "preset", "marker", "tool"]


def test_a_mark_that_no_page_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_hooks, "FILLED", {"used": str, "other": str})
    found = style_pages.marks_are_used([Source("docs/a.md", "<!-- nhalf:used -->\n")])
    assert [complaint.what for complaint in found] == ["no page has nhalf:other"]


def test_a_navigation_without_a_page() -> None:
    menu = "\nnav:\n  - A: a.md\n  - Gone: gone.md\n  - A: a.md\n"
    menu += "  - Group:\n" + "".join(f"    - B: b{number}.md\n" for number in range(10))
    pages = [Source(f"docs/b{number}.md", "") for number in range(10)]
    pages += [Source("docs/a.md", ""), Source("docs/new.md", "")]
    assert [one.what for one in style_pages.navigation_is_complete(pages, menu)] == [
        "contributing.md has no entry",
        "gone.md does not exist",
        "new.md has no entry",
        "a.md has several entries",
        "a group has 10 pages, 9 at most",
    ]


def test_a_command_that_is_not_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    command = style_pages.commands()["nhalf fit"]
    monkeypatch.setattr(command, "help", " ")
    monkeypatch.setattr(command.params[0], "help", None)
    found = [complaint.what for complaint in style_pages.everything_is_explained([])]
    assert len(found) == 2
    assert found[0] == "nhalf fit is not explained"
