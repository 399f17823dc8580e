"""What is made is removed, wherever the making ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.sites.lab import build, layout, network, places, slurm
from nhalf.sites.lab.layout import Lab
from nhalf.sites.lab.network import must
from tests.named_labs import remove_labs_of_killed_tests
from tests.patience import patience_s

from .conftest import SOURCES, inside, nhalf, own_spaces, who_is_in


def traces(lab: Lab) -> list[str]:
    """What of a lab can be seen on the machine: namespaces with who is in them, mounts, files."""
    names = {lab.namespace(place) for place in lab.layout.places}
    found = [f"namespace {path}" for path in network.NETNS.glob("*") if path.name in names]
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    marks = {f"/{lab.name}", *names}
    found += [f"mount {line}" for line in mounts if any(mark in line for mark in marks)]
    found += [f"process {pid}" for pid in places.of_lab(lab)]
    found += [f"file {lab.folder}"] if lab.folder.exists() else []
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
    mine = places.of_lab(lab)
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
    lab = build.plan(name, 2)
    with layout.locked():
        build.begin(lab)
        for _, step in CRASHES[where]:
            step(lab)
    assert traces(lab) != []
    assert build.remove_named(name)
    assert traces(lab) == []
    assert not build.remove_named(name)


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
    lab = layout.read(layout.folder_of(name))
    assert nhalf("lab", "down", "--name", name).returncode == 0
    assert not layout.folder_of(name).exists()
    assert lab is None or traces(lab) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("daemon", ["keeper.ctl", "munged.pid", "slurmctld.pid", "slurmd.n1.pid"])
def test_down_does_not_need_any_of_the_daemons(name: str, daemon: str) -> None:
    lab = build.build(build.plan(name, 1))
    pid = places.running(lab, daemon)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert build.remove_named(name)
    assert traces(lab) == []


def ports_here() -> list[str]:
    """The interfaces of this machine that a program which starts now will list, and open."""
    return sorted(name for _, name in socket.if_nameindex())


def test_a_lab_adds_nothing_to_the_network_of_the_machine(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {"before": ports_here()}

    def look(title: str) -> build.Step:
        return title, lambda _: seen.update({title: ports_here()})

    steps = tuple(step for made in build.STEPS for step in (made, look(made[0])))
    monkeypatch.setattr(build, "STEPS", steps)
    build.build(build.plan(name, 2, "ring"))
    seen["up"] = ports_here()
    assert build.remove_named(name)
    seen["down"] = ports_here()
    assert len(seen) == 7
    assert {title: ports for title, ports in seen.items() if ports != seen["before"]} == {}


def test_a_lab_of_nhalf_1_0_is_removed_with_its_port_in_the_network_of_the_machine(
    name: str,
) -> None:
    number = os.getpid() % 256
    lab = msgspec.structs.replace(build.plan(name, 1), number=number)
    port, switch, machine = f"nhalf{number}", f"nhalf{number}s0", f"machine-{name}"
    with layout.locked():
        network.note_folder()
        build.begin(lab)
        must(["ip", "netns", "add", switch])
        # It stands for the network of this machine, in which nothing is to be made.
        must(["ip", "netns", "add", machine])
    try:
        must(["ip", "-n", machine, "link", "add", port, "type", "veth",
              "peer", "name", "ctl", "netns", switch])  # fmt: skip
        assert len(traces(lab)) >= 3
        assert build.remove_named(name)
        assert traces(lab) == []
        # The kernel takes a network's ports away after it, when it has time.
        limit_s = time.monotonic() + patience_s(10)
        while port in must(["ip", "-n", machine, "-brief", "link"]):
            assert time.monotonic() < limit_s, "the port of the switch is still there"
            time.sleep(0.05)
    finally:
        must(["ip", "netns", "delete", machine])


def test_a_folder_without_a_lab_is_removed(name: str) -> None:
    with layout.locked():
        layout.folder_of(name).mkdir()
    assert build.remove_named(name)
    assert not layout.folder_of(name).exists()


FRESH = """
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
    """`ip netns` mounts its folder when it is first called; here /run is empty before."""
    apart = ["unshare", "--mount", "sh", "-c", FRESH.format(name=name), "sh"]
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


def test_labs_of_killed_tests_are_removed_and_no_others(name: str) -> None:
    with subprocess.Popen(["true"]) as killed:
        killed.wait()
    names = [name, f"test-{killed.pid}-1", f"{name}-mine"]
    with layout.locked():
        for one in names:
            layout.folder_of(one).mkdir()
    remove_labs_of_killed_tests()
    assert [layout.folder_of(one).exists() for one in names] == [True, False, True]
    assert build.remove_named(names[-1])


def test_a_second_lab_of_that_name_is_refused_and_the_first_one_lives(name: str) -> None:
    lab = build.build(build.plan(name, 1))
    with pytest.raises(InputError, match=f"nhalf lab down --name {name}"):
        build.build(build.plan(name, 1))
    slurm.wait_until_idle(lab)


def test_labs_beside_each_other_do_not_see_each_other(make_lab: Callable[..., Lab]) -> None:
    one, other = make_lab(1), make_lab(2)
    assert one.address("n1") == other.address("n1")
    assert set(slurm.node_states(one)) == {"n1"}
    assert set(slurm.node_states(other)) == {"n1", "n2"}
    assert set(places.of_lab(one)).isdisjoint(places.of_lab(other))
    assert build.remove_named(one.name)
    slurm.wait_until_idle(other)


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
