"""Launches of real programs under `nhalf trace`: kernels of NPB and small programs in C.

Traces stay in a folder of temporary files until a benchmark has ended, so that one that was
interrupted continues with the next launch.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.facts.program.program import Program
from nhalf.measure.probe.subject import library_subject, transport_file
from nhalf.mpi.discover import find
from nhalf.sites.start import start

TIMEOUT_S = 300
SOURCE = Path(__file__).with_name("proxies.c")
COMPILERS = {"mpich": "mpicc_abi", "intel": "mpicc_abi", "openmpi": "mpicc"}
"""Those of the standard ABI make programs for every library that has it, and belong to MPICH."""
PROXIES = ("stencil", "pipeline", "reductions")
POINT = "id=1 pattern=npb-{} axis.class={} samples_min=1 samples_max=1\nend\n"


@dataclass(frozen=True)
class Work:
    """A program: a kernel of NPB with its class, or one of PROXIES without."""

    name: str
    kernel_class: str = ""
    ranks: int = 2

    @property
    def title(self) -> str:
        """Its name in tables."""
        return f"{self.name.upper()} {self.kernel_class}" if self.kernel_class else self.name


def kept_folder(name: str) -> Path:
    """The folder of a benchmark's traces; the caller removes it at the end."""
    folder = Path(tempfile.gettempdir(), f"nhalf-bench-{name}-{os.getuid()}")
    folder.mkdir(exist_ok=True)
    return folder


def traced(
    work: Work, vendor: str, folder: Path, number: int, inject: Sequence[str] = ()
) -> Program:
    """A launch with a timeline, made unless the folder has it; it has to succeed."""
    name = "-".join([work.name, vendor, *inject, str(number)]).replace("=", "-")
    out = folder / name
    if not out.exists():
        command, environment = _started(work, vendor, folder)
        words = [word for delay in inject for word in ("--inject", delay)]
        partial = folder / f"{name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        options = ["--quiet", "--detail", "timeline", *words, "--out", str(partial)]
        text = POINT.format(work.name, work.kernel_class) if work.kernel_class else ""
        nhalf("trace", *options, "--", *command, text=text, environment=environment)
        partial.rename(out)
    return Program.open(out)


def nhalf(*words: str, text: str = "", environment: dict[str, str] | None = None) -> str:
    """What a verb prints; it has to succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "nhalf", *words],
        input=text,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"bench: nhalf {' '.join(words)} failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def _started(work: Work, vendor: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    """The command of a launch, and its variables."""
    library = find(vendor)
    if work.kernel_class:
        subject = library_subject(library, transport_file("npb-mpi"))
        command, environment = subject.launch(work.ranks, "free", "")[:2]
        return list(command), dict(environment)
    prepared = start(library, [str(_compiled(vendor, folder)), work.name], work.ranks)
    return prepared.command, prepared.environment


def _compiled(vendor: str, folder: Path) -> Path:
    compiler = COMPILERS[vendor]
    program = folder / f"proxies-{compiler}"
    if not program.exists():
        maker = find("mpich" if compiler.endswith("_abi") else vendor)
        words = [str(maker.prefix / "bin" / compiler), "-O2", str(SOURCE), "-o", str(program)]
        subprocess.run(words, check=True, env={**os.environ, **maker.environment})
    return program
