"""Runs of the model machine with many options that differ, of which one or two have an effect."""

from __future__ import annotations

import random
from pathlib import Path

from nhalf.experiment.why.explanation import Investigation
from nhalf.experiment.why.sides.runs import run_ways
from nhalf.experiment.why.switch import Ways
from nhalf.measure.loop import session
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.plan import Block, Plan
from nhalf.store.run import Run

IDLE = {
    "flag_s": ("1e-7", "2e-7"),
    "flag_slow": ("2", "3"),
    "states": ("2", "3"),
    "state_slow": ("1", "1.2"),
    "state_dwell": ("20", "30"),
    "packet_offset_bytes": ("0", "8"),
    "packet_s": ("1e-6", "2e-6"),
    "rendezvous_s": ("1e-6", "2e-6"),
    "rendezvous_G": ("1e-10", "2e-10"),
    "slow": ("1", "1.3"),
    "slow_from": ("5", "6"),
    "slow_to": ("6", "7"),
    "clock_resolution_s": ("0", "1e-12"),
    "clock_drift_ppm": ("0", "10"),
    "g": ("2e-6", "2.1e-6"),
}
"""Options without an effect on a ping-pong, as long as others are at their defaults."""
VARIABLES = ("FI_LOG_LEVEL", "OMP_NUM_THREADS", "UCX_LOG_LEVEL", "MPICH_DBG")
"""Recorded variables that the model machine does not read."""
CAUSES = {
    "L": ("5e-6", "7e-6"),
    "o_s": ("1e-6", "2e-6"),
    "o_r": ("1e-6", "2e-6"),
    "G": ("1e-9", "4e-9"),
}
"""Options with an effect of 13 to 60 % on a ping-pong of 512 bytes."""
JOINT = {"eager_bytes": ("0", "64"), "rendezvous_s": ("0", "4e-6")}
"""Options that have an effect only together."""


def measured(folder: Path, options: str, launches: int = 3, pattern: str = "pingpong") -> Run:
    """A run of the model machine."""
    plan = Plan(
        transports=["model"],
        mpi=[],
        blocks=[Block([pattern], [2], "512")],
        launches=launches,
        budget_s=0.0,
        precision=0.03,
        options=options,
        seed=1,
        timeout_s=60.0,
    )
    return session.measure(session.begin(plan, folder), Progress(True)).run


def planted(folder: Path, seed: int, noise: str = "") -> tuple[Ways, set[str]]:
    """Two runs with many options that differ, and the names of those with an effect."""
    draw = random.Random(seed)
    kind = draw.choice(("one", "two", "pair"))
    names = draw.sample(sorted(CAUSES), 2 if kind == "two" else 1)
    causes = JOINT if kind == "pair" else {name: CAUSES[name] for name in names}
    differing = [*{**IDLE, **causes}.items()]
    draw.shuffle(differing)
    equal = [f"{name}={was}" for name, (was, _) in CAUSES.items() if name not in causes]
    runs = []
    for side in (0, 1):
        options = [f"{name}={values[side]}" for name, values in differing]
        text = ",".join(filter(None, [*equal, *options, noise]))
        run = measured(folder / f"{seed}-{side}", text)
        run.environment["variables"] = {name: str(side) for name in VARIABLES}
        runs.append((run, ""))
    return run_ways(*runs, least_share=0.02), set(causes)


def named(ways: Ways, seed: int = 1) -> list[set[str]]:
    """The sets that a search names."""
    turns = ways.turns(seed=seed)
    investigation = Investigation(turns, ways.switches)
    investigation.run()
    return [
        {ways.switches[number].name for number in proof.suspects} for proof in investigation.proofs
    ]
