"""Actions of ranks, replayed by SMPI on a simulated machine."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nhalf.base.errors import FailedError, InputError
from nhalf.base.launch.survivor import Survivor
from nhalf.base.processes import run
from nhalf.machines.message import Messages
from nhalf.measure.simulate.description import describe
from nhalf.measure.simulate.subject import (
    FINEST_S,
    SELECTORS,
    cached_file,
    distinct_hosts,
    preloaded_plugin,
    settings_of,
    variables,
)
from nhalf.mpi.simgrid import platform, simgrid

TIMEOUT_S = 3600.0
_SIMULATED_TIME = re.compile(r"Simulation time (\S+)")
_QUIET = ("smpi_coll.thres:error", "xbt_cfg.thres:error", "smpi_config.thres:error")


def simulated_actions_s(messages: Messages, hosts: Sequence[str], actions: Sequence[str]) -> float:
    """Simulate the actions of all ranks, each on its host; return the time in seconds.

    Raises InputError if the machine has fewer nodes than there are hosts, MissingError without
    SimGrid, FailedError if the simulation fails, for instance with a deadlock.
    """
    names = list(dict.fromkeys(hosts))
    description = describe(messages, nodes=len(names))
    if len(names) > description.nodes:
        raise InputError(
            f"{messages.machine.name} has {description.nodes} nodes, and the ranks are on "
            f"{len(names)}",
            "place them on fewer: --placement",
        )
    nodes = distinct_hosts(
        [f"node-{names.index(host)}" for host in hosts], description.hosts_per_node
    )
    parts = simgrid()
    with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-")) as folder:
        index = _written(Path(folder), actions)
        command = [
            *(str(parts.smpirun), "-no-privatize", "-np", str(len(hosts))),
            *("-platform", str(platform(parts))),
            *("-hostfile", str(cached_file("hosts", "".join(f"{node}\n" for node in nodes)))),
            *("-wrapper", f"env LD_PRELOAD={preloaded_plugin()}"),
            *("-replay", str(index), *settings_of(description, SELECTORS[0], FINEST_S)),
            *(f"--log={setting}" for setting in _QUIET),
        ]
        outcome = run(command, TIMEOUT_S, variables(description.text_for(hosts)))
    match = _SIMULATED_TIME.search(outcome.stdout + outcome.stderr)
    if match is None:
        lines = (outcome.stderr or outcome.stdout).strip().splitlines() or ["it said nothing"]
        reason = next((line for line in lines if "eadlock" in line), lines[-1])
        raise FailedError(f"the simulation failed: {reason}", "leave out --simgrid")
    return float(match[1])


def _written(folder: Path, actions: Sequence[str]) -> Path:
    """Write the actions into files; return the file that lists them."""
    names = []
    for rank, text in enumerate(actions):
        path = folder / f"{rank}.txt"
        path.write_text(text)
        names.append(str(path))
    index = folder / "index.txt"
    index.write_text("".join(f"{name}\n" for name in names))
    return index
