"""Ranks of a library that exchange one message: whether it works here."""

import json
import time
from dataclasses import dataclass
from typing import Any

from nhalf.base.errors import NhalfError
from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.probe import quick_probe
from nhalf.sites.start import several_worlds, start

TIMEOUT_S = 30.0
_POINT = "id=0 pattern=pingpong bytes=8 samples_min=1 samples_max=3 slice_s=0.05\nend\n"


@dataclass(frozen=True)
class Hello:
    """The outcome: `reason` is '' if the ranks communicated; the start took `elapsed_s` seconds.

    `cpus` are the sets of CPUs each rank may use, as reported by the ranks. `has_probe` says that
    the library's probe is ready; else it is compiled when it is first needed. `mpi_t` are the
    numbers of control and performance variables that the library has (MPI_T), none if unknown.
    """

    reason: str
    elapsed_s: float
    banner: str = ""
    cpus: tuple[tuple[int, ...], ...] = ()
    has_probe: bool = True
    mpi_t: tuple[int, ...] = ()

    @property
    def bound_apart(self) -> bool:
        """Whether each rank has CPUs of its own."""
        used_cpus = [cpu for rank_cpus in self.cpus for cpu in rank_cpus]
        return bool(self.cpus) and len(used_cpus) == len(set(used_cpus))


def hello(library: Library, ranks: int = 2, axes: str = "") -> Hello:
    """Start ranks of a library that exchange a small message. Never raises for the library.

    `axes` are further words for the probe, such as axis.memory=device.

    They run the probe, or a small program where the probe has not been compiled yet.
    """
    try:
        program, is_probe = quick_probe(library)
        begin = start(library, [str(program)], ranks)
    except NhalfError as error:
        return Hello(str(error), 0.0)
    started_s = time.monotonic()
    point = _POINT.replace("\n", f" {axes}\n", 1)
    outcome = run(begin.command, TIMEOUT_S, begin.environment, point)
    elapsed_s = time.monotonic() - started_s
    records = list(_records(outcome.stdout))
    launches = [record for record in records if record["nhalf"] == "launch"]
    launch = launches[0] if launches else {}
    cpus = tuple(tuple(record.get("allowed_cpus", ())) for record in launch.get("placement", ()))
    reason = "" if outcome.succeeded else outcome.reason
    worlds = [len(record.get("placement", ())) for record in launches]
    if len(worlds) > 1 or worlds == [1]:
        reason = str(several_worlds(library, worlds, ranks))
    if not reason and not any(
        record["nhalf"] == "point" and record.get("verified") for record in records
    ):
        refusals = [str(record["message"]) for record in records if record["nhalf"] == "error"]
        reason = "; ".join(refusals) or "the ranks started, but no message arrived as it was sent"
    banner = str(launch.get("library", "")).split("\n")[0]
    mpi_t = tuple(launch.get("mpi_t", {}).values())
    return Hello(reason, elapsed_s, banner, cpus, is_probe, mpi_t)


def _records(text: str) -> list[dict[str, Any]]:
    """The probe's records in an output that may have other lines of an mpiexec."""
    records = []
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and "nhalf" in record:
            records.append(record)
    return records
