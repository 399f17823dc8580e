"""The order and the length of the wings: the tree keeps them, and whatever breaks them is said."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import wings

ROOT = Path(__file__).resolve().parent.parent
FROM = "from nhalf.{} import {}\n"
GOOD = {
    "base/units.py": "",
    "store/run.py": FROM.format("base", "units"),
    "cli/show.py": FROM.format("store.run", "Run") + "import nhalf.base.units\n",
    "__main__.py": FROM.format("cli", "show"),
}
BAD = {
    "an arrow up": (
        {"base/units.py": FROM.format("store", "run")},
        ["up: nhalf.base.units -> nhalf.store.run",
         "circle: nhalf.base.units, nhalf.store.run"],
    ),
    "an arrow up within a function": (
        {"base/errors.py": f"def f():\n    {FROM.format('store.run', 'Run')}"},
        ["up: nhalf.base.errors -> nhalf.store.run"],
    ),
    "an arrow up by dots": (
        {"base/errors.py": "from ..store.run import Run\n", "base/deep/__init__.py": "",
         "base/deep/x.py": "from ...cli import show\nfrom .. import units\n"},
        ["up: nhalf.base.deep.x -> nhalf.cli.show", "up: nhalf.base.errors -> nhalf.store.run"],
    ),
    "an arrow up for a type": (
        {"base/errors.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "
                           + FROM.format("cli.show", "Shown")},
        ["up: nhalf.base.errors -> nhalf.cli.show"],
    ),
    "plug-ins of a wing below, by their package's name": (
        {"base/errors.py": "load('nhalf.cli.show')\n"},
        ["up: nhalf.base.errors -> nhalf.cli.show"],
    ),
    "an import of the door": (
        {"cli/group.py": "import nhalf.__main__\n"},
        ["up: nhalf.cli.group -> nhalf.__main__"],
    ),
    "a circle within a wing": (
        {"cli/a.py": FROM.format("cli", "b"), "cli/b.py": FROM.format("cli", "c"),
         "cli/c.py": FROM.format("cli", "a") + FROM.format("cli", "show")},
        ["circle: nhalf.cli.a, nhalf.cli.b, nhalf.cli.c"],
    ),
    "two circles": (
        {"cli/a.py": FROM.format("cli", "b"), "cli/b.py": FROM.format("cli", "a"),
         "store/x.py": FROM.format("store", "y"), "store/y.py": FROM.format("store", "x")},
        ["circle: nhalf.cli.a, nhalf.cli.b", "circle: nhalf.store.x, nhalf.store.y"],
    ),
    "a wing that nobody has ordered": (
        {"attic/junk.py": ""},
        ["wing attic has no place in the order", "attic has no budget of lines"],
    ),
}  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three wings, each importing those below it."""
    monkeypatch.setattr(wings, "ORDER", dict.fromkeys(("base", "store", "cli"), ""))
    monkeypatch.setattr(wings, "BUDGET_LINES", dict.fromkeys(("base", "store", "cli"), 9))
    write(tmp_path, GOOD)
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / "src" / "nhalf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_an_orderly_tree_has_no_complaint(tree: Path) -> None:
    assert wings.complaints(tree) == []
    found = wings.arrows(wings.module_files(tree))
    assert sorted(map(str, found)) == [
        "nhalf.__main__ -> nhalf.cli.show",
        "nhalf.cli.show -> nhalf.base.units",
        "nhalf.cli.show -> nhalf.store.run",
        "nhalf.store.run -> nhalf.base.units",
    ]


@pytest.mark.parametrize(("files", "said"), BAD.values(), ids=BAD)
def test_whatever_breaks_the_order_is_said(
    tree: Path, files: dict[str, str], said: list[str]
) -> None:
    write(tree, files)
    assert wings.complaints(tree) == said


def test_a_wing_that_is_gone_is_said(tree: Path) -> None:
    (tree / "src/nhalf/store/run.py").unlink()
    assert "wing store is in the order and not there" in wings.complaints(tree)


def test_too_many_wings_are_said(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wings, "WINGS_MAX", 2)
    assert wings.complaints(tree) == ["3 wings, 2 at most"]


@pytest.mark.parametrize("suffix", ["py", "hpp", "cpp", "inc", "h", "c", "java"])
def test_a_wing_with_more_lines_than_its_budget_is_said(
    tree: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    write(tree, {f"store/long.{suffix}": "# a line\n\n" * 4})
    assert wings.complaints(tree) == []
    monkeypatch.setitem(wings.BUDGET_LINES, "store", 8)
    assert wings.complaints(tree) == [
        "store has 9 lines, 8 may: shorten it, "
        "or raise its budget in tools/wings.py and give the reason in the same commit"
    ]


def test_rooms_have_budgets_and_data_is_not_counted(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tree, {"../../native/trace/calls/a.hpp": "\n" * 3, "../../native/trace/README.md": "\n"})
    assert wings.lines(tree)["native/trace"] == 3
    assert wings.complaints(tree) == ["native/trace has no budget of lines"]
    monkeypatch.setitem(wings.BUDGET_LINES, "native/trace", 2)
    (complaint,) = wings.complaints(tree)
    assert complaint.startswith("native/trace has 3 lines, 2 may: ")


def test_a_budget_of_nothing_is_said(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(wings.BUDGET_LINES, "native/attic", 50)
    assert wings.complaints(tree) == ["native/attic has a budget and does not exist"]


@pytest.mark.full
@pytest.mark.slow
def test_the_tree_has_no_complaint_and_is_shown() -> None:
    """Lint says so for every change."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "wings.py"], capture_output=True, text=True, check=False
    )
    last = done.stdout.splitlines()[-1]
    assert done.returncode == 0, done.stdout
    assert last.startswith(f"{len(wings.ORDER)} wings, ")
    assert last.endswith(" 0 circles, 0 up")
    for name, budget in wings.BUDGET_LINES.items():
        assert re.search(rf"^{name} .* of +{budget} lines", done.stdout, re.MULTILINE), name
