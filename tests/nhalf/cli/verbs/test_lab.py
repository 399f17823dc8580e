"""`nhalf lab` as a user calls it; what it makes is tested beside `nhalf.sites.lab`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.present.terminal.lab import show_status
from nhalf.sites.lab import build
from tests.named_labs import unused_lab_name
from tests.patience import patience_s

pytestmark = pytest.mark.slow

SOURCES = Path(__file__).resolve().parents[4] / "src"


def call(*arguments: str, prefix: tuple[str, ...] = (), **variables: str) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), **variables}
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "nhalf", "lab", *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=patience_s(60),
        env=environment,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["up", "--nodes", "0"], "choose 1 to 120"),
        (["up", "--topology", "cube"], "known are"),
        (["up", "--rate", "fast"], "write 200mbit"),
        (["up", "--slow", "n1"], "--slow n2=100mbit"),
        (["up", "--slow", "n9=1mbit"], "unknown link"),
        (["up", "--cores", "0"], "choose 1 to 1024"),
        (["up", "--name", "No Name"], "small letters"),
        (["link", "n1", "--up", "--down"], "take one"),
        (["exec"], "COMMAND"),
        (["status", "--name", "never-made"], "lab"),
        (["down", "--name", "../x"], "small letters"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: list[str], word: str) -> None:
    if arguments[0] in ("status", "down") and os.geteuid() != 0:
        pytest.skip("only root gets that far")
    code, stdout, stderr = call(*arguments)
    assert (code, stdout) == (2, "")
    assert word in stderr
    assert len(stderr.splitlines()) == 1


def test_who_is_not_root_is_told_so() -> None:
    prefix: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if shutil.which("unshare") is None:
            pytest.skip("there is no unshare here to be somebody else with")
        prefix = ("unshare", "--user")
        if subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode:
            pytest.skip("this machine has no user namespaces")
    code, stdout, stderr = call("up", prefix=prefix)
    assert (code, stdout) == (3, "")
    assert "call it with sudo" in stderr


@pytest.fixture
def name() -> str:
    return unused_lab_name()


@pytest.fixture
def possible(name: str) -> object:
    if "NHALF_LAB" in os.environ:
        pytest.skip("these tests run inside a lab")
    try:
        build.require_root()
        build.ensure(False, lambda _: None)
    except MissingError as error:
        pytest.skip(str(error))
    yield
    build.remove_named(name)


@pytest.mark.usefixtures("possible")
def test_a_lab_from_up_to_down(name: str) -> None:
    code, stdout, stderr = call("up", "--name", name, "--nodes", "2", "--rate", "1gbit", "--json")
    assert (code, stderr) == (0, "")
    up = json.loads(stdout)
    assert up["lab"] == name
    assert [(node["node"], node["state"], node["alive"]) for node in up["nodes"]] == [
        ("n1", "idle", True),
        ("n2", "idle", True),
    ]
    assert [(link["link"], link["rate_Bps"]) for link in up["links"]] == [
        ("n1-s0", 125e6),
        ("n2-s0", 125e6),
    ]
    now = json.loads(call("status", "--json", NHALF_LAB=name)[1])
    assert {**now, "schema": up["schema"]} == up
    code, _, stderr = call("up", "--name", name)
    assert code == 2
    assert f"nhalf lab down --name {name}" in stderr
    assert call("link", "n2", "--down", "--name", name)[1] == "n2-s0 down, 1 Gbit/s\n"
    assert "ended with it" in call("kill", "n1", "--name", name)[1]
    assert call("exec", "--name", name, "--node", "n1", "--", "true")[0] == 1
    assert "n1 is back" in call("restart", "n1", "--name", name)[1]
    told = {"schema": "lab-down/1", "lab": name, "removed": True}
    assert json.loads(call("down", "--name", name, "--json")[1]) == told
    assert call("down", "--name", name)[:2] == (0, f"there was no lab {name}\n")


def test_what_is_shown_names_every_node_link_and_job_and_what_to_type(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from nhalf.present.terminal.output import stdout_console

    found = {
        "lab": "some", "topology": "ring", "cpus": 4, "address": "198.18.0.254",
        "nodes": [
            {"node": "n1", "address": "198.18.0.1", "state": "idle", "alive": True},
            {"node": "n2", "address": "198.18.0.2", "state": "down*", "alive": False},
        ],
        "links": [
            {"link": "n1-r1", "up": True, "rate_Bps": None},
            {"link": "n2-r2", "up": False, "rate_Bps": None},
            {"link": "n1-n2", "up": True, "rate_Bps": 125e6},
        ],
        "jobs": [{"job": "3", "name": "sleep", "state": "RUNNING", "nodes": "n1"}],
    }  # fmt: skip
    show_status(stdout_console(), found, fresh=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "some: 2 nodes, ring, 4 CPUs each; head ctl at 198.18.0.254"
    assert [line.split() for line in lines[4:6]] == [
        ["n1", "198.18.0.1", "idle", "n1-r1", "up", "as", "fast", "as", "it", "goes"],
        ["n2", "198.18.0.2", "down*", "(dead)", "n2-r2", "down", "as", "fast", "as", "it", "goes"],
    ]
    assert "link n1-n2 up  1 Gbit/s" in lines
    assert "job 3 sleep: running n1" in lines
    assert lines[-1].strip() == "nhalf lab down --name some"
