"""How near is the virtual network to a network that is there?

A machine file is fitted to ping-pongs in a lab of four nodes with links of 1 Gbit/s. The same
programs then run in the lab and on that file. All nodes share the cores of one machine, so the
lab's ranks have real-time priority, and give up their core when they poll in vain.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.pages import table
from nhalf.measure.probe.subject import library_subject, transport_file
from nhalf.mpi import Library
from nhalf.mpi.discover import find

NODES = 4
RATE = "1gbit"
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests/native/fabric/operation_times.cpp"
CURVE = "0,256,1K,4K,16K,32K,64K,96K,128K,192K,256K,384K,512K,768K,1M,2M,4M"
SIZES = (256 << 10, 512 << 10, 1 << 20, 2 << 20)
"""Shorter messages than these pass the lab's buckets unlimited, at least in part."""
SIZES_TEXT = ",".join(map(str, SIZES))
OPERATIONS = ("pingpong", "bcast", "allreduce", "alltoall")
REPETITIONS = 5
KERNELS = ("ep", "cg", "mg", "ft", "is", "lu", "sp", "bt")
TWO_RANKS = ("ep", "cg", "mg", "ft", "is", "lu")
POLITE = {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
SHORT_BUFFERS = {"UCX_TCP_SNDBUF": "64K"}
TIMEOUT_S = 600

Cell = tuple[str, int]
Times = dict[Cell, float]


@dataclass(frozen=True)
class Both:
    """Where programs run: a lab that is up, and the file of its machine; one times operations."""

    lab: str
    library: Library
    machine: Path
    program: Path

    def in_lab(self, ranks: int, command: Sequence[str], text: str = "", **settings: str) -> str:
        """What a program prints whose ranks are on nodes of the lab, one on each."""
        environment = {**self.library.environment, **POLITE, **settings}
        words = [f"{name}={value}" for name, value in environment.items()]
        launch = ["env", *words, "srun", f"-N{ranks}", f"-n{ranks}", "--mpi=pmi2", *command]
        return nhalf("lab", "exec", "--name", self.lab, "--", *launch, text=text)

    def in_virtual_time(self, ranks: int, factor: int, command: Sequence[str], text: str) -> str:
        """What it prints on the file; computing counts by a factor, 0: not at all."""
        computing = f"measured:{factor}" if factor else "none"
        options = ["--machine", str(self.machine), "--ranks", str(ranks)]
        options += ["--placement", f"{ranks}x1", "--computing", computing]
        return nhalf("try", *options, "--mpi", self.library.name, "--", *command, text=text)


def measure(runs: int) -> tuple[Any, str]:
    """Fit, run the programs on both, and compare; nothing if labs cannot be had."""
    if os.geteuid() != 0:
        return {"runs": 0, "groups": []}, "# A lab needs the superuser: nothing was measured\n"
    lab = f"bench{os.getpid()}"
    real_time = ["chrt", "-r", "1"] if shutil.which("chrt") else []
    nhalf("lab", "up", "--nodes", str(NODES), "--rate", RATE, "--name", lab, under=real_time)
    try:
        with tempfile.TemporaryDirectory() as folder:
            return compared(lab, Path(folder), runs)
    finally:
        nhalf("lab", "down", "--name", lab)


def compared(lab: str, folder: Path, runs: int) -> tuple[Any, str]:
    """All groups of cells of a lab that is up."""
    library = find("mpich")
    both = Both(lab, library, fitted(lab, folder, library), compiled(library, folder))
    load = os.getloadavg()[0]
    groups = [
        operations(both, 4, {}, runs),
        operations(both, 4, SHORT_BUFFERS, runs),
        operations(both, 2, {}, runs),
        kernels(both, 2, 1, TWO_RANKS, runs),
        kernels(both, 4, 1, KERNELS, runs),
        kernels(both, 4, 2, KERNELS, runs),
    ]
    figures = {"runs": runs, "load": load, "machine": both.machine.read_text("utf-8"),
               "groups": [group.figures() for group in groups]}  # fmt: skip
    return figures, page(groups, runs, load)


@dataclass(frozen=True)
class Group:
    """Times of one program, in virtual time and in the lab."""

    title: str
    virtual: Times
    lab: Times

    @property
    def ratios(self) -> dict[Cell, float]:
        """Virtual time over that of the lab."""
        return {cell: self.virtual[cell] / self.lab[cell] for cell in self.virtual}

    @property
    def median_error(self) -> float:
        """The median of how far virtual times are off."""
        return statistics.median(abs(ratio - 1) for ratio in self.ratios.values())

    def figures(self) -> dict[str, Any]:
        """The group for JSON."""
        cells = [
            {"operation": name, "bytes": size, "virtual_s": self.virtual[name, size],
             "lab_s": self.lab[name, size], "ratio": ratio}
            for (name, size), ratio in self.ratios.items()
        ]  # fmt: skip
        return {"title": self.title, "median_error": self.median_error, "cells": cells}


def operations(both: Both, ranks: int, settings: Mapping[str, str], runs: int) -> Group:
    """Ping-pongs and collectives; the settings are for the lab alone."""
    words = [f"{name}:{SIZES_TEXT}" for name in OPERATIONS]
    command = [str(both.program), str(REPETITIONS), *words]
    in_lab = (both.in_lab(ranks, command, **settings) for _ in range(runs))
    with_settings = "".join(f", {name}={value} in the lab" for name, value in settings.items())
    title = f"ping-pongs and collectives, {ranks} ranks{with_settings}"
    virtual = operation_times([both.in_virtual_time(ranks, 0, command, "")])
    return Group(title, virtual, operation_times(in_lab))


def kernels(both: Both, ranks: int, factor: int, names: Sequence[str], runs: int) -> Group:
    """The kernels of class S, which really compute: their own time is measured, times a factor."""
    subject = library_subject(both.library, transport_file("npb-mpi"))
    command = subject.launch(ranks, "free", "")[0][-1:]
    lines = [f"id={name} pattern=npb-{name} samples_max=3 axis.class=S\n" for name in names]
    text = "".join([*lines, "end\n"])
    virtual = (both.in_virtual_time(ranks, factor, command, text) for _ in range(runs))
    title = f"kernels of NPB, class S, {ranks} ranks, `--computing measured:{factor}`"
    return Group(title, kernel_times(virtual),
                 kernel_times(both.in_lab(ranks, command, text) for _ in range(runs)))  # fmt: skip


def fitted(lab: str, folder: Path, library: Library) -> Path:
    """The file of the lab's machine, fitted to its ping-pongs."""
    run, machine = folder / "pingpong", folder / "machine.toml"
    words = ["run", "--pattern", "pingpong", "--bytes", CURVE, "--placement", "2x1"]
    words += ["--mpi", library.name, "--launcher", "srun", "--launches", "3", "--budget", "40s"]
    command = [sys.executable, "-m", "nhalf", *words, "--quiet", "--out", str(run)]
    nhalf("lab", "exec", "--name", lab, "--", *command)
    nhalf("fit", str(run), "--out", str(machine))
    return machine


def compiled(library: Library, folder: Path) -> Path:
    """The program that times operations."""
    program, compiler = folder / "operation-times", library.prefix / "bin/mpicxx_abi"
    subprocess.run([compiler, "-std=c++20", "-O1", PROGRAM, "-o", program], check=True)
    return program


def operation_times(outputs: Iterable[str]) -> Times:
    """The medians over launches of what the program printed."""
    found: dict[Cell, list[float]] = {}
    for output in outputs:
        for line in output.splitlines():
            name, size, microseconds = line.split()
            found.setdefault((name, int(size)), []).append(float(microseconds) * 1e-6)
    return {cell: statistics.median(times) for cell, times in found.items()}


def kernel_times(outputs: Iterable[str]) -> Times:
    """The medians over launches of the medians of each kernel; all have to be verified."""
    found: dict[Cell, list[float]] = {}
    for output in outputs:
        for record in map(json.loads, output.splitlines()):
            if record["nhalf"] == "point":
                assert record["verified"], record
                time_s = statistics.median(record["samples_s"])
                found.setdefault((record["id"], 0), []).append(time_s)
    return {cell: statistics.median(times) for cell, times in found.items()}


NOTE = """MPICH on four nodes of `nhalf lab`, links of 1 Gbit/s, and in virtual time on the \
machine file that was fitted to its ping-pongs there. The lab's times are medians of {runs} \
launches; its ranks had real-time priority on a machine of {cores} cores, which was busy with \
other programs (load {load:.0f})."""
WHY = """
What differs, and why:

- **Broadcasts of 4 ranks.** The kernel takes the root's first message into its buffers, so that \
the second one shares the link with it and the first arrives late. With buffers of 64 KiB in the \
lab (the second row) messages leave one after the other, as in virtual time.
- **Dense patterns of 4 ranks.** Four ranks and the kernel's TCP share the cores. With 2 ranks, \
one a core, the same operations agree better (the third row).
- **Sums of 256 KiB.** They are sent in parts of 128 and 64 KiB. A ping-pong of these sizes passes \
the [buckets](../guide/no-cluster.md#what-it-shows-and-what-not) of the links at up to twice their \
rate, which the fitted curve has, but a link that is always busy does not.
- **Kernels on 4 ranks.** Two ranks share a core: what they compute takes twice as long \
(`measured:2`), and a message waits until its receiver has the core. The machine file knows no \
such wait. Messages of class S are short, so it counts; \
barriers and messages below 256 KiB are left out for the same reason.
"""


def page(groups: Sequence[Group], runs: int, load: float) -> str:
    """The page: how far virtual times of each group are off, and why."""
    note = NOTE.format(runs=runs, cores=os.cpu_count(), load=load)
    overview = table(
        "The virtual network beside a lab", note, ["what", "median error", "least", "most"],
        [[group.title, f"{100 * group.median_error:.1f} %", f"{min(group.ratios.values()):.2f}",
          f"{max(group.ratios.values()):.2f}"] for group in groups],
    )  # fmt: skip
    return overview + WHY


def nhalf(*words: str, text: str = "", under: Sequence[str] = ()) -> str:
    """What a command of nhalf prints; it has to succeed."""
    done = subprocess.run(
        [*under, sys.executable, "-m", "nhalf", *words],
        input=text,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"bench: nhalf {words[0]} failed: {done.stderr.strip()[-500:]}")
    return done.stdout
