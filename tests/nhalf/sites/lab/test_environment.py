"""Commands inside a lab: theirs are input, output, signals and exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import FailedError
from nhalf.sites.lab import build
from nhalf.sites.lab.layout import Lab
from tests.patience import patience_s

from .conftest import SOURCES, inside, nhalf


@pytest.fixture(scope="module")
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_lab(4)


@pytest.mark.parametrize("node", ["", "n2"])
def test_exit_code_input_output_and_folder_are_those_of_the_command(
    lab: Lab, node: str, tmp_path: Path
) -> None:
    script = "hostname; pwd; cat; echo oops >&2; exit 7"
    done = inside(lab, "sh", "-c", script, node=node, input="given\n", cwd=tmp_path)
    assert done.stdout == f"{node or 'ctl'}\n{tmp_path}\ngiven\n"
    assert done.stderr == "oops\n"
    assert done.returncode == 7


def test_a_command_that_is_not_there_ends_as_in_a_shell(lab: Lab) -> None:
    assert inside(lab, "no-such-command").returncode == 127


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_command(lab: Lab, signal_number: int) -> None:
    code = "import sys, time; print('ready', flush=True); time.sleep(100)"
    process = subprocess.Popen(
        [sys.executable, "-m", "nhalf", "lab", "exec", "--name", lab.name, "--",
         sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal_number)
    assert process.wait(timeout=patience_s(20)) == -signal_number
    process.stdout.close()


def test_slurm_starts_one_task_on_each_node(lab: Lab) -> None:
    assert sorted(inside(lab, "srun", "-N4", "hostname").stdout.split()) == ["n1", "n2", "n3", "n4"]


def test_the_same_nhalf_is_found_also_on_the_nodes(lab: Lab) -> None:
    code = "import nhalf; print(nhalf.__file__)"
    done = inside(lab, "srun", "-N1", "sh", "-c", f"nhalf --version; {sys.executable} -c '{code}'")
    version, file = done.stdout.splitlines()
    assert version == nhalf("--version").stdout.strip()
    assert Path(file).parent == SOURCES / "nhalf"


def test_a_node_has_one_address_and_shares_no_memory(lab: Lab) -> None:
    ids, shared = set(), set()
    for node in ("n1", "n2"):
        script = "cat /proc/sys/kernel/random/boot_id; stat -c %d /dev/shm; ls /sys/class/net"
        lines = inside(lab, "sh", "-c", script, node=node).stdout.split()
        ids.add(lines[0])
        shared.add(lines[1])
        shown = inside(lab, "ip", "-brief", "address", node=node).stdout.splitlines()
        addresses = [line.split()[2:] for line in shown if not line.startswith("lo ")]
        assert addresses == [[f"{lab.address(node)}/24"]]
    assert len(ids) == len(shared) == 2
    assert Path("/proc/sys/kernel/random/boot_id").read_text().strip() not in ids


def test_folders_are_shared_by_all_nodes(lab: Lab, tmp_path: Path) -> None:
    script = f'echo here >"{tmp_path}/$(hostname)"'
    assert inside(lab, "srun", "-N4", "sh", "-c", script).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["n1", "n2", "n3", "n4"]


@pytest.mark.slow  # Slurm looks at limits every half minute
@pytest.mark.full
def test_a_job_is_told_before_its_time_limit(lab: Lab, tmp_path: Path) -> None:
    script = f"trap 'echo told >{tmp_path}/told; exit 0' USR1; while :; do sleep 0.1; done"
    line = ["sbatch", "--parsable", "--time=1", "--signal=B:USR1@55", "-o", "/dev/null"]
    assert inside(lab, *line, "--wrap", script).returncode == 0
    deadline_s = time.monotonic() + patience_s(100)
    while not (tmp_path / "told").exists() and time.monotonic() < deadline_s:
        time.sleep(0.2)
    assert (tmp_path / "told").exists()


def test_a_lab_is_not_made_or_removed_from_within(lab: Lab) -> None:
    for verb in ("up", "down"):
        done = inside(lab, "nhalf", "lab", verb, "--name", lab.name)
        assert done.returncode == 2
        assert "leave it first" in done.stderr
    assert inside(lab, "nhalf", "lab", "status", "--json").returncode == 0


def test_a_dead_place_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "keeper", lambda lab, place: None)
    with pytest.raises(FailedError, match="n1 is dead; nhalf lab restart n1 --name some"):
        build.command_line(Lab("some", 2), "n1", ["true"])


def test_a_command_is_run_in_the_namespaces_of_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "keeper", lambda lab, place: 7)
    monkeypatch.setattr(os, "getcwd", lambda: "/there")
    lab = Lab("some", 2)
    head = build.command_line(lab, "ctl", ["a", "b c"])
    assert head[:3] == ["nsenter", "--target", "7"]
    assert head[3:8] == ["--uts", "--mount", "--root", "--net", "--ipc"]
    assert head[-3:] == ["/there", "a", "b c"]
