"""Every kind of warning about a number, in one typed list: meaning, remedy and detection.

The probe and the launcher report what only they can observe (binding, load, clock); the rest is
derived from the samples. The thresholds are chosen for few false alarms: `nhalf doctor --selftest`
shows how often each warning is raised on plain lognormal noise.
"""

from __future__ import annotations

from dataclasses import dataclass

from nhalf.base.errors import unknown


@dataclass(frozen=True)
class Advice:
    """One kind of warning."""

    name: str
    meaning: str
    remedy: str
    detected: str


PRECISION_TARGET = 0.03
"""Target relative half-width of the interval over launches in a default run."""

OTHER_STATE = "other-state"
"""The name of the warning that a point is not in the state of its curve."""

ADVICES = (
    Advice(
        "unpinned",
        "ranks were free to move between cores",
        "bind each rank to its own core (the default), or find out why binding was refused",
        "a rank, read from inside, is allowed on more than one core",
    ),
    Advice(
        "oversubscribed",
        "ranks shared a core and waited for each other",
        "use at most as many ranks as there are cores",
        "the allowed cores of two ranks on one host are the same single core, or ranks outnumber "
        "cores",
    ),
    Advice(
        "misplaced",
        "ranks were not on the hosts or cores that the placement asked for",
        "let nhalf place them: start it without your own binding or host list",
        "host and allowed cores of each rank, read from inside the rank, are not those asked for",
    ),
    Advice(
        "moved",
        "ranks were on other hosts than in the first launch",
        "continue on the original hosts, or start a new run",
        "the hosts of all ranks, read from inside, are not those of the first launch of the run",
    ),
    Advice(
        "shared-cores",
        "the hosts are those of a lab and share the cores of one machine",
        "take rates of shaped links from a lab, and times of messages from a real cluster",
        "the run was started by `nhalf lab exec`",
    ),
    Advice(
        "mixed-networks",
        "ranks communicated over different networks",
        "tell the library which network to use, and find out why some hosts lack it",
        "interfaces of open connections to other hosts and open network devices, read from inside "
        "each rank, have nothing in common",
    ),
    Advice(
        "slow-network",
        "ranks communicated over TCP although the hosts have a faster network",
        "check which transport the library chose, and whether its drivers are installed",
        "no rank has a device of the fast network open, and connections to other hosts are open",
    ),
    Advice(
        "timer-coarse",
        "a sample is short compared with the clock resolution",
        "use a longer time per sample",
        "a batch is shorter than the required multiple of clock resolution and overhead",
    ),
    Advice(
        "clocks-unsure",
        "the error of the ranks' clocks may exceed half of the measured time",
        "compare with start=barrier or start=rotating, and keep the machine idle",
        "the uncertainty of the synchronised clocks, as reported by the probe",
    ),
    Advice(
        "late-starts",
        "ranks did not start together: times include the start skew",
        "use at most as many ranks as there are cores, and keep the machine idle",
        "ranks learned of every common start when its time had passed",
    ),
    Advice(
        "launch-failed",
        "a launch took no time and was left out",
        "let clocks settle: measure more launches on an idle machine",
        "the median of a launch is 0 s or less, and that of more than half of the launches is not",
    ),
    Advice(
        "bimodal",
        "bimodal: the median may fall in either mode or between",
        "find what switches (clock frequency, a neighbour, placement): fix the clock frequency, "
        "keep the machine idle, or measure more launches",
        "the best split into two groups, each at least a tenth, explains more of the variance of "
        "the logarithms (Otsu 1979) than noise without states does, and the groups are 3 % apart; "
        "in at least two launches, or between launches over the whole curve",
    ),
    Advice(
        "launch-apart",
        "one launch differed from all others over the whole curve, and no flag shows why: the "
        "machine has a state whose share one launch cannot tell",
        "add launches at other times (--resume RUN --launches N), and look at the launch spread",
        "the gap between the fastest or slowest launch and the next one is 3 % or more, and a "
        "larger share of the range than normal noise leaves once in 500 times (Dixon 1950); four "
        "launches or more",
    ),
    Advice(
        OTHER_STATE,
        "the point was measured in another state of the machine than most of its run, so it does "
        "not belong to the same curve",
        "add launches at another time (--resume RUN --launches N), or keep the machine idle",
        "fewer than two launches met the state in which most of the run was measured, as a flag "
        "between two cores tells (statistics/flags.py)",
    ),
    Advice(
        "drift",
        "times rise or fall while measuring",
        "let the machine warm up or cool down, or measure when it is idle",
        "within launches: signs of last against first third (Cox and Stuart 1955), beyond 3.29 "
        "deviations; between launches: slope of the curve's level, 99 % by Student; above 3 %",
    ),
    Advice(
        "imprecise",
        "the interval is wider than a run's target of 3 %",
        "give it more time (--budget) or more launches (--launches)",
        "relative half width of the interval over launches",
    ),
    Advice(
        "one-launch",
        "one launch cannot show how much launches differ",
        "measure at least five launches (--launches 5)",
        "the number of launches",
    ),
    Advice(
        "virtual",
        "the network is that of a machine file and time is virtual: launches and samples are equal",
        "compare it with a real run, or leave --machine out",
        "the run was started with --machine",
    ),
    Advice(
        "virtual-noise",
        "the network is that of a machine file and time is virtual: launches differ by the noise "
        "or the computing that was asked for",
        "compare it with a real run, or leave --machine out",
        "the run was started with --machine and --noise or --computing",
    ),
    Advice(
        "imported",
        "a mean that another program printed, without samples",
        "measure the point with nhalf: a mean does not show the variation",
        "the point comes from the log of another suite (nhalf import)",
    ),
    Advice(
        "unverified",
        "data did not arrive as sent: the time is invalid",
        "report it to the library's developers, and do not use the number",
        "every pattern checks its data before it is timed; all ranks must agree",
    ),
)


def advice(name: str) -> Advice:
    """The advice with this name; raises InputError for an unknown name."""
    for entry in ADVICES:
        if entry.name == name:
            return entry
    raise unknown("advice", name, [entry.name for entry in ADVICES])
