# SPDX-License-Identifier: Apache-2.0
"""What is made is removed, wherever the making ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.sites.lab import addresses, build, network, processes, remove, slurm, state
from nhalf.sites.lab.command import must
from nhalf.sites.lab.state import Lab
from tests.patience import patience_s

from .conftest import SOURCES, inside, nhalf, own_spaces, who_is_in

UP = 1
"""IFF_UP of <linux/if.h>."""


def traces(lab: Lab) -> list[str]:
    """What of a lab can be seen on the machine; its number may be another's already."""
    given_on = has_successor(lab)
    found = traces_of_number(lab)
    if given_on or has_successor(lab):
        found = []
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    found += [f"mount {line}" for line in mounts if f"/{lab.name}" in line]
    found += [f"file {lab.folder}"] if lab.folder.exists() else []
    return found


def has_successor(lab: Lab) -> bool:
    """Whether a lab that somebody else makes at the same time was given its number."""
    return any(one.number == lab.number and one.name != lab.name for one in state.all_labs())


def traces_of_number(lab: Lab) -> list[str]:
    """Namespaces with who is in them, links, mounts and routes: what is named by the number."""
    names = {lab.namespace(place) for place in lab.layout.places}
    found = [f"namespace {path}" for path in network.NETNS.glob("*") if path.name in names]
    found += [
        f"link {path}" for path in Path("/sys/class/net").glob("*") if path.name == lab.head_port
    ]
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    found += [f"mount {line}" for line in mounts if any(name in line.split()[4] for name in names)]
    found += [f"route {line}" for line in network.routes_here() if line.startswith(f"{lab.net}.")]
    found += [f"process {pid}" for pid in processes.of_lab(lab)]
    return found


def half_of_the_cables(lab: Lab) -> None:
    lines = network.cables(lab).splitlines(keepends=True)
    must(["ip", "-batch", "-"], "".join(lines[: len(lines) // 2 + 2]))


def fails(_: Lab) -> None:
    raise KeyboardInterrupt


NAMES = [name for name, _ in build.STEPS]
CRASHES = {
    "nothing": (),
    **{name: build.STEPS[: index + 1] for index, name in enumerate(NAMES)},
    "cables": (*build.STEPS[:1], ("half", half_of_the_cables)),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("topology", ["star", "ring", "tree"])
def test_nothing_is_left_after_down_while_jobs_run(name: str, topology: str) -> None:
    lab = build.build(build.plan(name, 2, topology))
    assert len(traces(lab)) > 8
    running = "until squeue -h -t R | grep -q .; do sleep 0.05; done"
    job = f"srun -N2 sleep 1000 >/dev/null 2>&1 & {running}"
    assert inside(lab, "sh", "-c", job).returncode == 0
    mine = processes.of_lab(lab)
    spaces = own_spaces(mine)
    assert {kind for kind, _ in spaces} == {"net", "mnt", "uts", "ipc"}
    assert any(
        "sleep1000" in Path(f"/proc/{pid}/cmdline").read_text().replace("\0", "") for pid in mine
    )
    inhabitants = who_is_in(spaces)
    assert set(mine) & inhabitants
    assert nhalf("lab", "down", "--name", name).returncode == 0
    assert traces(lab) == []
    # The kernel gives numbers of namespaces that are gone to those of other tests' labs.
    assert who_is_in(spaces) & inhabitants == set()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("where", CRASHES)
def test_down_removes_what_a_crash_has_left_and_may_be_called_again(name: str, where: str) -> None:
    with state.locked():
        lab = build.begin(build.plan(name, 2))
        for _, step in CRASHES[where]:
            step(lab)
    assert traces(lab) != []
    assert remove.remove_named(name)
    assert traces(lab) == []
    assert not remove.remove_named(name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("index", range(len(NAMES)))
def test_up_that_is_interrupted_cleans_up_by_itself(
    name: str, index: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Lab] = []
    steps = (*build.STEPS[:index], ("crash", begun.append), ("crash", fails))
    monkeypatch.setattr(build, "STEPS", steps)
    with pytest.raises(KeyboardInterrupt):
        build.build(build.plan(name, 2))
    assert traces(begun[0]) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("after_s", [0.35, 0.6, 0.9])
def test_up_that_is_killed_leaves_nothing_that_down_does_not_remove(
    name: str, after_s: float
) -> None:
    up = subprocess.Popen(
        [sys.executable, "-m", "nhalf", "lab", "up", "--name", name, "--nodes", "2"],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(after_s)
    up.kill()
    up.wait()
    lab = state.read(state.folder_of(name))
    assert nhalf("lab", "down", "--name", name).returncode == 0
    assert not state.folder_of(name).exists()
    assert lab is None or traces(lab) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("daemon", ["keeper.ctl", "munged.pid", "slurmctld.pid", "slurmd.n1.pid"])
def test_down_does_not_need_any_of_the_daemons(name: str, daemon: str) -> None:
    lab = build.build(build.plan(name, 1))
    pid = processes.running(lab, daemon)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert remove.remove_named(name)
    assert traces(lab) == []


def test_the_port_of_the_head_is_down_for_a_while_before_it_goes(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a program may list it, and find it gone when it opens it."""
    lab = build.build(build.plan(name, 1))
    flags = Path(f"/sys/class/net/{lab.head_port}/flags")
    seen: list[tuple[float, int]] = []
    pause = time.sleep

    def watched(seconds: float) -> None:
        if flags.exists():
            seen.append((seconds, int(flags.read_text(), 16) & UP))
        pause(seconds)

    assert int(flags.read_text(), 16) & UP
    monkeypatch.setattr(time, "sleep", watched)
    assert remove.remove_named(name)
    assert (remove.STARTING_S, 0) in seen
    assert not flags.exists()


def test_a_folder_without_a_lab_is_removed(name: str) -> None:
    with state.locked():
        state.folder_of(name).mkdir()
    assert remove.remove_named(name)
    assert not state.folder_of(name).exists()


FRESH = """
ip link set lo up
! mountpoint -q /run/netns || umount --recursive --lazy /run/netns
mount -t tmpfs tmpfs /run && mkdir /run/mount
cut -d' ' -f5 /proc/self/mountinfo | sort >before
"$@" lab up --name {name} --nodes 1 --json >/dev/null
"$@" lab exec --name {name} -- srun -N1 hostname
"$@" lab down --name {name} --json >/dev/null
cut -d' ' -f5 /proc/self/mountinfo | sort >after
rmdir /run/mount; ls -A /run; diff before after
"""


def test_on_a_machine_without_any_namespace_no_mount_is_left(name: str, tmp_path: Path) -> None:
    """`ip netns` mounts its folder when it is first called; here /run is empty before.

    It has its own network: labs whose folders it cannot see have numbers in this one.
    """
    apart = ["unshare", "--mount", "--net", "sh", "-c", FRESH.format(name=name), "sh"]
    done = subprocess.run(
        [*apart, sys.executable, "-m", "nhalf"],
        check=False,
        capture_output=True,
        text=True,
        timeout=patience_s(60),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )
    assert (done.stdout, done.stderr, done.returncode) == ("n1\n", "", 0)


def test_a_second_lab_of_that_name_is_refused_and_the_first_one_lives(name: str) -> None:
    lab = build.build(build.plan(name, 1))
    with pytest.raises(InputError, match=f"nhalf lab down --name {name}"):
        build.build(build.plan(name, 1))
    slurm.wait_until_idle(lab)


def test_labs_beside_each_other_do_not_see_each_other(make_lab: Callable[..., Lab]) -> None:
    one, other = make_lab(1), make_lab(2)
    assert one.net != other.net
    assert set(slurm.node_states(one)) == {"n1"}
    assert set(slurm.node_states(other)) == {"n1", "n2"}
    assert set(processes.of_lab(one)).isdisjoint(processes.of_lab(other))
    assert remove.remove_named(one.name)
    slurm.wait_until_idle(other)


def test_addresses_that_are_taken_are_not_taken_again(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "routes_here", lambda: ["198.18.0.0/15"])
    with state.locked():
        lab = build.begin(build.plan(name, 1))
    assert lab.net.startswith("10.213.")


def test_without_a_free_network_nothing_is_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "routes_here", lambda: list(addresses.CANDIDATES))
    with pytest.raises(MissingError, match="remove a route"):
        build.build(build.plan(name, 1))
    assert not state.folder_of(name).exists()


def test_nobody_but_root_may_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MissingError, match="call it with sudo"):
        build.require_root()


@pytest.mark.parametrize("cpus", [0, 1025])
def test_cpus_that_cannot_be_are_refused(cpus: int) -> None:
    with pytest.raises(InputError, match="choose 1 to 1024"):
        build.plan("some", 1, cpus=cpus)


def test_a_slow_link_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="unknown link"):
        build.plan("some", 2, slow_Bps={"n3": 1e6})
