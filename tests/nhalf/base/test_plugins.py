"""Plug-ins of installed packages: found by their entry points, refused where they are broken."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nhalf.base import plugins
from nhalf.base.errors import MissingError
from nhalf.exchange.importers import Importer
from nhalf.sites.launchers import Launcher

LAUNCHERS = "nhalf.sites.launchers"
GOOD = """
from nhalf.mpi.job import Launcher, MpiJob

class Yod(Launcher):
    description = "yod of the Paragon"

    def tokens(self, job):
        return ["yod", "-sz", str(job.ranks), *job.command]
"""
Add = Callable[..., None]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Add]:
    """Adds an installed package of one module with such entry points, one per line."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def added(package: str, code: str, points: str) -> None:
        (tmp_path / f"{package}.py").write_text(code)
        about = tmp_path / f"{package}-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
        (about / "entry_points.txt").write_text(points)
        monkeypatch.delitem(sys.modules, package, raising=False)
        plugins._entry_points.cache_clear()
        plugins.load.cache_clear()

    yield added
    plugins._entry_points.cache_clear()
    plugins.load.cache_clear()


@pytest.mark.parametrize("value", ["paragon", "paragon:Yod"])
def test_a_module_or_its_class(add: Add, value: str) -> None:
    add("paragon", GOOD, f"[nhalf.launchers]\nyod = {value}\n")
    found = plugins.load(LAUNCHERS, Launcher)
    assert found["yod"].description == "yod of the Paragon"
    assert "srun" in found


def test_other_kinds_see_nothing_of_it(add: Add) -> None:
    add("paragon", "raise RuntimeError", "[nhalf.launchers]\nyod = paragon\n[other]\nx = paragon\n")
    assert "yod" not in plugins.load("nhalf.exchange.importers", Importer)


@pytest.mark.parametrize(
    ("code", "value", "said"),
    [
        ("raise RuntimeError('no licence')", "paragon", "RuntimeError: no licence"),
        ("import nothing_of_this_name", "paragon", "nothing_of_this_name"),
        ("raise SyntaxError", "absent", "No module named 'absent'"),
        (GOOD, "paragon:Yob", "has no attribute 'Yob'"),
        ("", "paragon", "defines 0 classes of kind Launcher"),
        (GOOD + "class Other(Yod): pass", "paragon", "defines 2 classes of kind Launcher"),
        ("Yod = 3", "paragon:Yod", "is no class of kind Launcher"),
        ("class Yod: pass", "paragon:Yod", "is no class of kind Launcher"),
        (GOOD.replace("tokens", "words"), "paragon:Yod", "is no class of kind Launcher"),
    ],
)
def test_a_broken_one_is_one_line_that_names_the_package(
    add: Add, code: str, value: str, said: str
) -> None:
    add("paragon", code, f"[nhalf.launchers]\nyod = {value}\n")
    with pytest.raises(MissingError) as caught:
        plugins.load(LAUNCHERS, Launcher)
    assert f"paragon (nhalf.launchers: yod = {value})" in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3


def test_a_name_that_is_taken_is_refused(add: Add) -> None:
    add("paragon", GOOD, "[nhalf.launchers]\nsrun = paragon\n")
    with pytest.raises(MissingError, match=r"paragon .* has the name of .*launchers\.srun"):
        plugins.load(LAUNCHERS, Launcher)


def test_two_packages_with_one_name_are_refused(add: Add) -> None:
    add("paragon", GOOD, "[nhalf.launchers]\nyod = paragon\n")
    add("puma", GOOD, "[nhalf.launchers]\nyod = puma\n")
    with pytest.raises(MissingError, match=r"puma .* has the name of another one, of paragon"):
        plugins.load(LAUNCHERS, Launcher)


def test_each_class_of_a_file_by_subject_is_a_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "by_subject"
    folder.mkdir()
    (folder / "__init__.py").write_text("BY_SUBJECT = True\nclass Kind: pass")
    code = "from by_subject import Kind\nclass LongWait(Kind): pass\nclass ShortKind(Kind): pass"
    (folder / "waiting.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    import by_subject

    loaded = plugins.load("by_subject", by_subject.Kind)
    assert {name: kind.__name__ for name, kind in loaded.items()} == {
        "long-wait": "LongWait",
        "short": "ShortKind",
    }
    (folder / "also.py").write_text("from by_subject import Kind\nclass Short(Kind): pass")
    plugins.load.cache_clear()
    with pytest.raises(MissingError, match=r"has the name of by_subject\.\w+: short"):
        plugins.load("by_subject", by_subject.Kind)
    (folder / "also.py").write_text("")
    sys.modules.pop("by_subject.also")
    plugins.load.cache_clear()
    with pytest.raises(MissingError, match=r"by_subject\.also defines 0 classes of kind Kind"):
        plugins.load("by_subject", by_subject.Kind)


def test_a_broken_file_of_our_own_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "own_kind"
    folder.mkdir()
    (folder / "__init__.py").write_text("class Kind: pass")
    (folder / "empty.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    import own_kind

    with pytest.raises(MissingError, match=r"own_kind\.empty defines 0 classes of kind Kind"):
        plugins.load("own_kind", own_kind.Kind)


@pytest.mark.parametrize(
    ("package", "group"),
    [
        (LAUNCHERS, "nhalf.launchers"),
        ("nhalf.models.forms", "nhalf.models"),
        ("nhalf.results", "nhalf.results"),
    ],
)
def test_groups(package: str, group: str) -> None:
    assert plugins.group(package) == group
