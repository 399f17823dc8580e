"""The check for ReFrame: its text, and what ReFrame itself says when it runs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.exporters.reframe import ReFrame
from nhalf.facts.facts import Facts
from nhalf.measure.plan.catalogue import study
from tests.patience import patience_s

ROOT = Path(__file__).resolve().parents[4]
REFRAME = ROOT / "build" / "reframe" / "bin" / "reframe"
MODEL = "o_s=1e-6,o_r=1e-6,g=2e-6,L=5e-6,G=1e-9"
NHALF = f'#!/bin/sh\nexec "{sys.executable}" -m nhalf "$@"\n'

PLAN: dict[str, Any] = {
    "transports": ["mpi"],
    "mpi": ["mpich", "my lib"],
    "blocks": [{"patterns": ["pingpong"], "ranks": [2], "bytes": "0:64K"}],
    "launches": 3,
    "budget_s": 0.0,
    "precision": 0.01,
    "options": "",
    "seed": 1,
    "timeout_s": 60.0,
}


@pytest.fixture
def keep(make_measurements: Callable[..., pl.LazyFrame]) -> Callable[..., Facts]:
    """The facts of a run with a plan and measurements without noise."""

    def make(plan: dict[str, Any] | None = None, name: str = "run", **asked: Any) -> Facts:
        given = {"sizes": [0, 8, 1000], "noise": 0.0, "launch_noise": 0.0, **asked}
        return Facts(
            make_measurements(**given), environments={name: {"plan": {**PLAN, **(plan or {})}}}
        )

    return make


Keep = Callable[..., Facts]


def constant(text: str, name: str) -> Any:
    """A constant of a check, which is run without ReFrame up to its class."""
    head = re.sub(r"^(import reframe.*|from reframe.*)$", "", text, flags=re.MULTILINE)
    namespace: dict[str, Any] = {}
    exec(compile(head.partition("@rfm.simple_test")[0], "check.py", "exec"), namespace)
    return namespace[name]


def test_references_are_the_ends_of_the_curve_of_each_library(keep: Keep) -> None:
    text = ReFrame().text(keep(libraries=["mpich-5.0", "my lib"], placement="other-node"))
    # 1 us and 0.2 ns per byte.
    assert constant(text, "REFERENCE") == {
        "latency_mpich_5_0_2_ranks_other_node": (1.0, 1.0, 1.0, "us"),
        "bandwidth_mpich_5_0_2_ranks_other_node": (833.333, 833.333, 833.333, "MB/s"),
        "latency_my_lib_2_ranks_other_node": (1.0, 1.0, 1.0, "us"),
        "bandwidth_my_lib_2_ranks_other_node": (833.333, 833.333, 833.333, "MB/s"),
    }


def test_intervals_hold_their_references_and_wrong_data_is_none(keep: Keep) -> None:
    known = constant(ReFrame().text(keep(launch_noise=0.05)), "REFERENCE")
    assert len(known) == 2
    assert all(low < value < high for value, low, high, _ in known.values())
    assert constant(ReFrame().text(keep(name="wrong", verified=False)), "REFERENCE") == {}


def test_the_check_names_its_values_as_the_references_do(keep: Keep) -> None:
    text = ReFrame().text(keep(libraries=["mpich-5.0"], axes="a=1,b=x-y"))
    (point,) = [
        {"pattern": "pingpong", "mpi": "mpich-5.0", "transport": "mpi", "ranks": 2, "bytes": 1000}
        | {"placement": "", "axes": {"b": "x-y", "a": "1"}, "median_s": 1.2e-6}
    ]
    values = constant(text, "performance")([point])
    assert values.keys() == constant(text, "REFERENCE").keys()
    assert values["bandwidth_mpich_5_0_2_ranks_a_1_b_x_y"] == (pytest.approx(833.333), "MB/s")


def test_references_judge_one_side_only(keep: Keep) -> None:
    reference = constant(ReFrame().text(keep()), "reference")
    assert reference(10.0, 9.0, 11.0, "us") == (10.0, None, pytest.approx(0.21), "us")
    assert reference(10.0, 9.0, 11.0, "MB/s") == (10.0, pytest.approx(-0.19), None, "MB/s")


def test_the_study_is_the_plan_of_the_run(keep: Keep, tmp_path: Path) -> None:
    blocks = [
        {"patterns": ["stream"], "ranks": [2, 4], "bytes": "8", "axes": {"pairs": "1,2"}},
        {"patterns": ["pingpong"], "ranks": [2], "bytes": "0:8", "whole": True, "weight": 2.0},
    ]
    text = ReFrame().text(keep(plan={"blocks": blocks}))
    written = constant(text, "STUDY")
    assert len(tomllib.loads(written)["block"]) == 2
    (tmp_path / "study.toml").write_text(written)
    found = study(str(tmp_path / "study.toml"), cores=1)
    assert [(b.patterns, b.ranks, b.bytes, b.axes) for b in found.blocks] == [
        (["stream"], [2, 4], "8", {"pairs": "1,2"}),
        (["pingpong"], [2], "0:8", {}),
    ]
    assert found.blocks[1].whole
    assert found.blocks[1].weight == 2.0


def test_options_are_ready_for_a_shell(keep: Keep) -> None:
    plan = {"mpi_prefixes": ["/opt/my mpi"], "budget_s": 1800.0}
    text = ReFrame().text(keep(plan=plan))
    assert '"--mpi=mpich,my lib\'"' not in text
    assert "\"--mpi='mpich,my lib'\"" in text
    assert "\"--mpi-prefix='/opt/my mpi'\"" in text
    assert '"--budget=1800s"' in text
    assert 'time_limit = "45m"' in text


@pytest.mark.parametrize(
    ("placements", "ranks", "tasks", "per_node"),
    [
        (["cores"], [2], 2, 2),
        (["cores", "other-node"], [2, 4], 4, 2),
        (["2x1", "1x2"], [2], 4, 2),
        (["4x2:cyclic"], [8], 8, 2),
    ],
)
def test_the_allocation_holds_the_placements(
    keep: Keep, placements: list[str], ranks: list[int], tasks: int, per_node: int
) -> None:
    block = {"patterns": ["pingpong"], "ranks": ranks, "bytes": "8", "placements": placements}
    text = ReFrame().text(keep(plan={"blocks": [block]}))
    assert f"num_tasks = {tasks}\n" in text
    assert f"num_tasks_per_node = {per_node}\n" in text


def test_without_a_run_it_is_a_study_without_references() -> None:
    text = ReFrame().text(None)
    assert constant(text, "REFERENCE") == {}
    assert constant(text, "STUDY") == ""
    assert '"quick"' in text


def test_nasty_names_stay_texts(keep: Keep) -> None:
    text = ReFrame().text(keep(name='a"""\\\nimport os', libraries=["x'\"\\"]))
    assert "\nimport os" not in text
    assert set(constant(text, "REFERENCE")) == {"latency_x__2_ranks", "bandwidth_x__2_ranks"}


def test_a_run_of_another_suite_cannot_be_repeated(keep: Keep) -> None:
    bare = Facts(keep().measurements, environments={"run": {}})
    with pytest.raises(InputError, match="has no plan that could be repeated"):
        ReFrame().text(bare)


def test_one_run_at_a_time_can_be_repeated(keep: Keep) -> None:
    both = Facts(keep().measurements, environments={"a": {"plan": PLAN}, "b": {"plan": PLAN}})
    with pytest.raises(InputError, match="several runs; export one at a time"):
        ReFrame().text(both)


@pytest.mark.parametrize("with_run", [True, False])
def test_it_is_formatted_code(keep: Keep, tmp_path: Path, with_run: bool) -> None:
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent))
    if ruff is None:
        pytest.skip("ruff is missing: run `make test-setup`")
    path = tmp_path / "check.py"
    path.write_text(ReFrame().text(keep() if with_run else None))
    for command in (["format", "--diff"], ["check", "--select", "E,F,I,UP,B,D1"]):
        words = [ruff, *command, "--isolated", "--line-length", "100", str(path)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


# ---- with ReFrame itself ----


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    """A check of a run on the model machine, and an environment with nhalf on the path."""
    if not REFRAME.exists():
        pytest.skip("ReFrame is missing: run `make test-setup`")
    folder = tmp_path_factory.mktemp("model")
    (folder / "bin").mkdir()
    (folder / "bin" / "nhalf").write_text(NHALF)
    (folder / "bin" / "nhalf").chmod(0o755)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "TMPDIR": str(folder),
    }
    words = ["nhalf", "run", "--transport", "model", "--model", MODEL, "--bytes", "0:4K"]
    words += ["--launches", "2", "--out", "known", "--quiet"]
    subprocess.run(words, env=environment, cwd=folder, check=True, timeout=patience_s(60))
    done = subprocess.run(
        ["nhalf", "export", "known", "--reframe"],
        env=environment, cwd=folder, check=True, timeout=patience_s(60),
        capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout, environment


Checked = tuple[str, dict[str, str]]


def reframe(
    text: str, environment: dict[str, str], folder: Path, action: str = "-r"
) -> tuple[int, str]:
    """Exit code and output of ReFrame on a check, with its own generic settings."""
    (folder / "check.py").write_text(text)
    words = [str(REFRAME), "--prefix", str(folder), "-c", "check.py", "--nocolor", action]
    done = subprocess.run(
        words,
        env=environment,
        cwd=folder,
        check=False,
        timeout=patience_s(120),
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_reframe_passes_on_the_same_machine(checked: Checked, tmp_path: Path) -> None:
    code, output = reframe(*checked, tmp_path)
    assert code == 0, output
    assert "Ran 1/1 test case(s) from 1 check(s) (0 failure(s)" in output
    assert re.search(r"P: latency_model_2_ranks_cores: (7|6\.9999\d+|7\.0000\d+) us \(r:7,", output)
    assert "P: bandwidth_model_2_ranks_cores: " in output
    kept = {path.name for path in tmp_path.glob("output/**/NhalfCheck/*")}
    assert {"nhalf.json", "run"} <= kept


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ((r"\(7, 7, 7,", "(6, 6, 6,"), "reference(s): latency_model_2_ranks_cores="),
        ((r"ranks_cores\": \(\d{3}[\d., ]+", 'ranks_cores": (9e3, 9e3, 9e3, '), "bandwidth_model"),
        (("latency_model", "latency_other"), "not measured: latency_other_2_ranks_cores"),
        (("--model=o_s", "--model=x_s"), "nhalf measured nothing"),
    ],
)
def test_reframe_fails_where_it_should(
    checked: Checked, tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    text, environment = checked
    changed, count = re.subn(*change, text)
    assert count
    code, output = reframe(changed, environment, tmp_path)
    assert code == 1, output
    assert says in output


def test_wrong_data_fails_before_anything_is_judged(checked: Checked, tmp_path: Path) -> None:
    """The result of nhalf is taken from a file that says so."""
    text, environment = checked
    point = '{"verified": false, "mpi": "m", "transport": "mpi", "pattern": "pingpong", "ranks": 2,'
    point += ' "placement": "cores", "axes": {}, "bytes": 0, "median_s": 1}'
    changed = text.replace('executable = "nhalf"', 'executable = "true"')
    changed = changed.replace(
        "    @sanity_function",
        f"    postrun_cmds = ['echo \\'{{\"points\": [{point}]}}\\' > nhalf.json']\n\n"
        "    @sanity_function",
    )
    code, output = reframe(changed, environment, tmp_path)
    assert code == 1, output
    assert "data did not arrive as it was sent: m pingpong" in output


def test_without_a_run_reframe_can_load_it(checked: Checked, tmp_path: Path) -> None:
    code, output = reframe(ReFrame().text(None), checked[1], tmp_path, "--dry-run")
    assert "NhalfCheck" in output
    assert "0 failure(s)" in output, output
    assert code == 0
