"""How far off are models of collectives, on cells that they did not see, and those of Extra-P?

Extra-P (A. Calotoiu et al., SC 2013) fits the same launch medians, all of them, and is judged on
those: NHALF_EXTRAP is a Python that has it (`pip install extrap`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import table
from benchmarks.programs import TIMEOUT_S, run

ASKED = ("--pattern", "allreduce,alltoall", "--ranks", "2,3,4,5,6", "--bytes", "8,256,4K,32K,256K",
         "--launches", "3", "--budget", "45s")  # fmt: skip
LIBRARIES = ("mpich", "openmpi")
HEAD = ["library", "pattern", "cells", "error of a cell", "nhalf, left out", "Extra-P, in sample"]
EXTRA_P = """
import json, sys, warnings
warnings.simplefilter("ignore")
from extrap.entities.measurement import Measure
from extrap.fileio.file_reader.json_file_reader import JsonFileReader
from extrap.modelers.model_generator import ModelGenerator
experiment = JsonFileReader().read_experiment(sys.argv[1])
models = ModelGenerator(experiment, use_measure=Measure.MEDIAN)
models.model_all()
print(json.dumps({
    str(path.name): [
        abs(float(model.hypothesis.function.evaluate(list(each.coordinate))) / each.median - 1)
        for each in model.measurements
    ]
    for (path, _), model in models.models.items()
}))
"""


def measure(runs: int) -> tuple[Any, str]:
    """One run of each library; `runs` is not asked for."""
    rows = [row for library in LIBRARIES for row in _rows(library)]
    ours, theirs = (np.concatenate([row.pop(name) for row in rows]) for name in ("ours", "theirs"))
    said = f"All together: {_said(ours)} on cells left out" + (
        f"; Extra-P {_said(theirs)} on the cells that it was fitted to." if theirs.size else "."
    )
    page = table(
        "Models of allreduce and alltoall, 2 to 6 ranks of five sizes",
        "Relative errors of what was left out of the fit, of three launches. The error of a cell "
        "is the standard error of its own value, the median over cells, from so few launches. "
        + said,
        HEAD,
        [[str(value) for value in row.values()] for row in rows],
    )
    return {"all": said, "rows": rows}, page


def _rows(library: str) -> Iterator[dict[str, Any]]:
    """What is said of each pattern of one library, with all of its errors."""
    from nhalf.facts.facts import Facts
    from nhalf.facts.pattern_fit import cells_of, each_pattern
    from nhalf.models.heldout import best_errors
    from nhalf.store.run import Run

    with tempfile.TemporaryDirectory() as folder:
        path, exported = Path(folder, "run"), Path(folder, "extrap.json")
        program = [sys.executable, "-m", "nhalf"]
        run([*program, "run", *ASKED, "--mpi", library, "--out", str(path), "--quiet"], {})
        run([*program, "export", str(path), "--to", "extrap", "--out", str(exported)], {})
        theirs = extra_p(exported)
        for key, points in each_pattern(Facts.of([Run.open(path)]).summary):
            cells = cells_of(points)
            _, ours = best_errors(cells)
            others = np.array(theirs.get(key["pattern"], []))
            yield {
                "library": library,
                "pattern": key["pattern"],
                "cells": points.height,
                "noise": f"{np.median(cells.noise):.1%}",
                "said": _said(ours),
                "extra_p": _said(others),
                "ours": ours,
                "theirs": others,
            }


def extra_p(exported: Path) -> dict[str, list[float]]:
    """Relative errors by call path; none if Extra-P is not here."""
    python = os.environ.get("NHALF_EXTRAP")
    if not python:
        return {}
    command = [python, "-c", EXTRA_P, str(exported)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    found: dict[str, list[float]] = json.loads(ended.stdout.splitlines()[-1])
    return found


def _said(errors: Any) -> str:
    """The middle and the end of some errors."""
    if not errors.size:
        return "not here"
    return f"median {np.median(errors):.1%}, 95 % below {np.quantile(errors, 0.95):.1%}"
