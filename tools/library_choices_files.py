"""Tuning files of the algorithms that library_choices.py found to be faster, and their proof.

`python tools/library_choices_files.py` writes for every result in docs/library-choices the file
that the library reads, runs the library under it in virtual time, and keeps what that took.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from library_choices import FOLDER, PLACES, SIZES, Place, compiled, newest, ran
from library_choices_tables import SAME, TITLES, kept
from nhalf.mpi.decision_table import NATIVE, Rule, rules_of
from nhalf.mpi.tuner import Tuner
from nhalf.mpi.vendors import vendor_of

GAIN = 0.05
"""The share of the time that an algorithm has to save, to be worth a rule."""
EQUAL = 0.01
"""How much longer an algorithm may take that stands in for the library's own choice."""


def main() -> int:
    """Write and prove what is not yet kept."""
    for place in PLACES:
        for vendor in TITLES:
            results = kept(vendor, place)
            if results is not None and "file" not in results:
                write(vendor, place, results)
    return 0


def write(vendor: str, place: Place, results: dict[str, Any]) -> None:
    """Write the file of a library for a machine, and keep what the library takes under it.

    Where a library does not take what its rules say, those of the operation are taken out.
    """
    library = newest(vendor)
    tuner = vendor_of(library).tuner(library)
    assert tuner is not None
    path = FOLDER / "files" / f"{place.name}-{tuner.file_name}"
    path.parent.mkdir(exist_ok=True)
    operations, taken_out = list(SIZES), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(vendor, Path(folder))
        while True:
            decisions = {name: decided(tuner, name, results) for name in operations}
            rules = tuner.expressible(
                [rule for name in operations for rule in decisions[name].rules]
            )
            if not rules:
                tuner.remove(path)
                break
            tuner.write(path, rules)
            times: dict[str, dict[str, float]] = {}
            failed = ran(library, place, program, list(SIZES), tuner.activate(path), times)
            if failed:
                raise SystemExit(f"{path.name}: {failed}")
            unapplied = [name for name in operations if not decisions[name].is_applied(times)]
            cells = [[name, size] for name in operations for size in decisions[name].best]
            results["file"] = {"name": path.name, "cells": cells, "times_us": times}
            if not unapplied:
                break
            operations = [name for name in operations if name not in unapplied]
            taken_out += unapplied
    if not rules:
        results["file"] = {"name": "", "cells": [], "times_us": {}}
    results["file"]["taken_out"] = taken_out
    kept_path = FOLDER / f"{vendor}-{place.name}.json"
    kept_path.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    sys.stdout.write(f"{path.name}\n")


@dataclass(frozen=True)
class Decision:
    """The rules of an operation, and the best times of the cells that they are for."""

    operation: str
    rules: list[Rule]
    best: dict[int, float]
    own: dict[int, float]

    def is_applied(self, times_us: dict[str, dict[str, float]]) -> bool:
        """Whether cells with a rule are nearer to its algorithm than to the own choice.

        No other cell may lose more than a rule has to gain. What ran before moves times of shared
        links by up to 4 %.
        """
        taken = {size: times_us[self.operation][str(size)] for size in self.own}
        nearer = all(taken[size] ** 2 < best * self.own[size] for size, best in self.best.items())
        return nearer and all(taken[size] < (1 + GAIN) * own for size, own in self.own.items())


def decided(tuner: Tuner, operation: str, results: dict[str, Any]) -> Decision:
    """What is worth a rule of the operation.

    Where the file puts something else in place of the library's own choice, it names an algorithm
    that is as fast for every cell.
    """
    chosen: list[str] = []
    best_times: dict[int, float] = {}
    own_times: dict[int, float] = {}
    for size_bytes in SIZES[operation]:
        times = {
            launch["forced"].get(operation, NATIVE): launch["times_us"][operation][str(size_bytes)]
            for launch in results["launches"]
            if str(size_bytes) in launch["times_us"].get(operation, {})
        }
        own = times[NATIVE]
        writable = {name: time for name, time in times.items() if tuner.writable(operation, name)}
        if not tuner.keeps_own:
            del writable[NATIVE]
        least = min(writable.values())
        best = next(name for name, time in writable.items() if time < (1 + SAME) * least)
        is_worth_it = best != NATIVE and writable[best] < (1 - GAIN) * own
        own_times[size_bytes] = own
        fills = not tuner.keeps_own and writable[best] < (1 + EQUAL) * own
        chosen.append(best if is_worth_it or fills else NATIVE)
        if is_worth_it:
            best_times[size_bytes] = writable[best]
    ranks = [int(results["ranks"])]
    rules = rules_of(operation, ranks, SIZES[operation], [chosen]) if best_times else []
    return Decision(operation, rules, best_times, own_times if rules else {})


if __name__ == "__main__":
    sys.exit(main())
