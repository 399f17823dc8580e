# SPDX-License-Identifier: Apache-2.0
"""Tuning files of the algorithms that library_choices.py found to be faster, and their proof.

`python tools/library_choices_files.py` writes for every result in docs/library-choices the file that
the library reads, runs the library under it in virtual time, and keeps what that took.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from library_choices import FOLDER, PLACES, SIZES, START_UP, Place, compiled, newest, ran
from library_choices_tables import SAME, TITLES, kept
from nhalf.mpi.decision_table import NATIVE, Rule, rules_of
from nhalf.mpi.tuner import Tuner
from nhalf.mpi.vendors import vendor_of

GAIN = 0.05
"""The share of the time that an algorithm has to save, to be worth a rule."""


def main() -> int:
    """Write and prove what is not yet kept."""
    for place in PLACES:
        for vendor in TITLES:
            results = kept(vendor, place)
            if results is not None and "file" not in results:
                write(vendor, place.at_most(START_UP.get(vendor, 1024)), results)
    return 0


def write(vendor: str, place: Place, results: dict[str, Any]) -> None:
    """Write the file of a library for a machine, and keep what the library takes under it."""
    library = newest(vendor)
    tuner = vendor_of(library).tuner(library)
    assert tuner is not None
    cells: list[list[object]] = []
    rules = [rule for operation in SIZES for rule in decided(tuner, operation, results, cells)]
    if not rules:
        return
    path = FOLDER / "files" / f"{place.name}-{tuner.file_name}"
    path.parent.mkdir(exist_ok=True)
    path.write_text(tuner.text(rules), "utf-8")
    times: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(vendor, Path(folder))
        failed = ran(library, place, program, list(SIZES), tuner.activate(path), times)
    if failed:
        raise SystemExit(f"{path.name}: {failed}")
    results["file"] = {"name": path.name, "cells": cells, "times_us": times}
    kept_path = FOLDER / f"{vendor}-{place.name}.json"
    kept_path.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    sys.stdout.write(f"{path.name}\n")


def decided(
    tuner: Tuner, operation: str, results: dict[str, Any], cells: list[list[object]]
) -> list[Rule]:
    """The rules of an operation; adds the cells that they are for."""
    chosen = []
    for size_bytes in SIZES[operation]:
        times = {
            launch["forced"].get(operation, NATIVE): launch["times_us"][operation][str(size_bytes)]
            for launch in results["launches"]
            if str(size_bytes) in launch["times_us"].get(operation, {})
        }
        own = times[NATIVE]
        writable = {name: time for name, time in times.items() if tuner.writable(operation, name)}
        least = min(writable.values())
        best = next(name for name, time in writable.items() if time < (1 + SAME) * least)
        is_worth_it = best != NATIVE and writable[best] < (1 - GAIN) * own
        chosen.append(best if is_worth_it else NATIVE)
        if is_worth_it:
            cells.append([operation, size_bytes])
    return rules_of(operation, [int(results["ranks"])], SIZES[operation], [chosen])


if __name__ == "__main__":
    sys.exit(main())
