"""The efficiencies of a traced program as TALP writes them, for TALP-Pages.

TALP is part of the Dynamic Load Balancing library (https://pm.bsc.es/dlb). Times are nanoseconds of
all ranks together, but for the elapsed one. Cycles and instructions were not counted: they are 0.

    load balance = load balance within nodes x between nodes
    within    largest mean of a node / largest of a rank, of the time outside MPI
    between   mean of all ranks / largest mean of a node
"""

from datetime import UTC, datetime
from typing import Any

import msgspec

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import Exporter, Subject, the_program
from nhalf.facts.program.critical_path import computing_s
from nhalf.facts.program.program import Program

FORM = "3.5"
"""The version of DLB whose form this is; TALP-Pages chooses how to read a file by it."""
REGION = "Global"
NANO = 1e9


class Talp(Exporter):
    """The region Global: the whole program."""

    description = "a traced program's efficiencies as JSON of TALP, for TALP-Pages"

    def text(self, subject: Subject) -> str:
        """The JSON; raises InputError if nothing is known of computing."""
        program = the_program(subject, "talp")
        content = {
            "dlbVersion": f"{FORM} (the form; written by nhalf)",
            "timestamp": datetime.fromtimestamp(program.trace.start_s, UTC).isoformat(
                timespec="seconds"
            ),
            "resources": {"numCpus": program.ranks, "numMpiRanks": program.ranks},
            "Application": {REGION: _region(program)},
        }
        return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"


def _region(program: Program) -> dict[str, Any]:
    useful_s = computing_s(program) if program.is_timed else {}
    elapsed_s, largest_s = program.elapsed_s, max(useful_s.values(), default=0.0)
    if elapsed_s <= 0 or largest_s <= 0:
        raise InputError(
            f"{program.path} says nothing of the time between its calls", "trace the program"
        )
    mean_s = sum(useful_s.values()) / len(useful_s)
    by_host: dict[str, list[float]] = {}
    for rank, seconds in useful_s.items():
        by_host.setdefault(program.hosts[rank], []).append(seconds)
    node_s = max(sum(each_s) / len(each_s) for each_s in by_host.values())
    all_s = elapsed_s * len(useful_s)
    parallel, communication = mean_s / elapsed_s, largest_s / elapsed_s
    return {
        "elapsedTime": round(elapsed_s * NANO),
        "usefulTime": round(sum(useful_s.values()) * NANO),
        "mpiTime": round((all_s - sum(useful_s.values())) * NANO),
        **dict.fromkeys(("ompLoadImbalanceTime", "ompSchedulingTime", "ompSerializationTime"), 0),
        "usefulNormdByProc": round(largest_s * NANO),
        "usefulNormdByNode": round(node_s * NANO),
        **dict.fromkeys(("cycles", "instructions"), 0),
        "numMeasurements": 1,
        "numMpiCalls": int(program.calls["count"].sum()),
        **dict.fromkeys(("numOmpParallels", "numOmpTasks"), 0),
        **{"numCpus": program.ranks, "numMpiRanks": program.ranks},
        "parallelEfficiency": parallel,
        "mpiParallelEfficiency": parallel,
        "mpiCommunicationEfficiency": communication,
        "mpiLoadBalance": mean_s / largest_s,
        "mpiLoadBalanceIn": node_s / largest_s,
        "mpiLoadBalanceOut": mean_s / node_s,
        **dict.fromkeys(
            (
                *("ompParallelEfficiency", "ompLoadBalance", "ompSchedulingEfficiency"),
                "ompSerializationEfficiency",
            ),
            1.0,
        ),
    }
