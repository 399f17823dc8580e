"""Collectives of an unchanged program, routed and the library's own, side by side.

One program is started on every library found, libraries in turn; in each launch batches of both
take turns. The fastest of all launches are compared, beside what two cores need to pass one flag.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[2] / "tests/native/interposer/timings.cpp"
TIMEOUT_S = 300.0
RANKS = (2, 8)
CALLS = {2: 2000}
CALLS_CROWDED = 20

Key = tuple[str, int, str, int]


def measure(runs: int) -> tuple[Any, str]:
    """This many launches on every library."""
    floor_s, rows = timed(RANKS, runs)
    return {"floor_s": floor_s, "rows": rows}, page(floor_s, rows, runs)


def timed(ranks: Sequence[int], launches: int) -> tuple[float, list[dict[str, Any]]]:
    """The floor, and the fastest times in seconds by library, ranks, operation and bytes."""
    from nhalf.mpi.discover import libraries

    found = libraries()
    fastest: dict[Key, dict[str, float]] = {}
    floor_s = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        programs = {one.name: built(one, found, Path(folder)) for one in found}
        for _ in range(launches):
            for library in found:
                for number in ranks:
                    program = programs[library.name]
                    words = [str(program), str(CALLS.get(number, CALLS_CROWDED))]
                    for row in launch(library, found, program, number, words):
                        floor_s = min(floor_s, row.get("floor_s", floor_s))
                        if "operation" in row:
                            key = (library.name, number, row["operation"], row["bytes"])
                            keep(fastest.setdefault(key, {}), row)
    names = ("library", "ranks", "operation", "bytes")
    return floor_s, [
        {**dict(zip(names, key, strict=True)), **times} for key, times in fastest.items()
    ]


def keep(times: dict[str, float], row: dict[str, Any]) -> None:
    """The fastest of each kind."""
    for name in ("routed_s", "own_s"):
        times[name] = min(times.get(name, float("inf")), row[name])


def built(library: Any, found: Sequence[Any], folder: Path, source: Path = SOURCE) -> Path:
    """The program, by the library's own compiler or that of the standard ABI."""
    from nhalf.base.processes import run
    from nhalf.mpi.probe import compiler_variables

    maker, wrapper = library, library.compiler
    if library.abi:
        abi = ((one, one.prefix / "bin/mpicxx_abi") for one in found)
        maker, wrapper = next((pair for pair in abi if pair[1].is_file()), (maker, wrapper))
    program = Path(folder, library.name)
    command = [str(wrapper), "-std=c++20", "-O2", str(source), "-o", str(program)]
    outcome = run(command, TIMEOUT_S, {**maker.environment, **compiler_variables(maker)})
    if not outcome.succeeded:
        raise SystemExit(f"{source} does not compile for {library.name}: {outcome.stderr}")
    return program


def launch(
    library: Any,
    found: Sequence[Any],
    program: Path,
    ranks: int,
    words: Sequence[str],
    is_plain: bool = False,
) -> list[dict[str, Any]]:
    """The rows of one launch, without the collectives if it is plain."""
    from nhalf.base.processes import run
    from nhalf.mpi.preload import preload
    from nhalf.sites.start import cores, start

    loaded = [] if is_plain else preload(library, program, None, found).words
    command = ["env", *loaded, *words]
    how = start(library, command, ranks, bind=ranks <= cores())
    outcome = run(how.command, TIMEOUT_S, how.environment)
    if not outcome.succeeded:
        raise SystemExit(f"{library.name} with {ranks} ranks: {outcome.reason}")
    lines = outcome.stdout.splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def page(floor_s: float, rows: Sequence[dict[str, Any]], launches: int) -> str:
    """How many times as fast the routed operations are, over the sizes of each."""
    lines = [
        "# Collectives of an unchanged program, routed and the library's own",
        "",
        f"Fastest of {launches} launches, in each of which batches of both take turns. One flag"
        f" from one core to another takes {floor_s * 1e9:.0f} ns: no barrier of two is faster."
        " The columns are the library's own time over the routed one, over all sizes.",
        "",
        "| library | ranks | operation | least | median | most |",
        "|---|---:|---|---:|---:|---:|",
    ]
    ratios: dict[tuple[str, int, str], list[float]] = {}
    for row in rows:
        key = (row["library"], row["ranks"], row["operation"])
        ratios.setdefault(key, []).append(row["own_s"] / row["routed_s"])
    for (library, ranks, operation), of_sizes in ratios.items():
        shown = (min(of_sizes), statistics.median(of_sizes), max(of_sizes))
        columns = " | ".join(f"{ratio:.2f}" for ratio in shown)
        lines.append(f"| {library} | {ranks} | {operation} | {columns} |")
    return "\n".join(lines) + "\n"
