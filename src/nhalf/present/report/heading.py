"""Header and footer of a report: what was measured, how much, and with what precision."""

from collections.abc import Sequence

from nhalf.base.listing import few
from nhalf.base.numbers import grouped, half_width_text, percent
from nhalf.facts.difference import FASTER
from nhalf.facts.extent import Extent
from nhalf.present.wording import count
from nhalf.statistics.derived_advice import unseen_share

HOSTS_NAMED = 4
RUNS_NAMED = 3
SIMULATED = (
    "Nothing here was measured: SimGrid simulated the messages of a machine file; nhalf machines "
    "show prints its sources and assumptions. A single message takes the time from the file; "
    "concurrent messages share links."
)
VIRTUAL = (
    "No network was measured: MPI libraries, as they are installed here, sent over that of a "
    "machine file, in virtual time. Algorithms and protocols are theirs; a message takes the "
    "machine's time for its size. Equal questions have equal answers, so that one launch says all."
)
MEASURED = (
    "Each point was measured in several launches, in shuffled order. A value is the pseudomedian "
    "of the launches' medians; its interval covers the value of the next run, in the same state of "
    "the machine, in 95 of 100 cases. Libraries are compared within the same round of launches."
)
NODE = (
    "All of this is from timing alone. What is measured next depends on what is known, in up to "
    "three launches. Cycles are those of the clock at that moment; a neighbour only adds time, so "
    "the least disturbed quarter of the samples counts."
)
NOTHING = "Nothing stands out: no difference, cost or doubt beyond the stated thresholds."
NOT_COMPARED = (
    "These runs are not compared on this page: they have no pattern and size of one library in "
    "common."
)


def nothing(has_several_runs: bool) -> str:
    """What a page without findings says; those of several runs that were compared have some."""
    return NOT_COMPARED if has_several_runs else NOTHING


def title(extent: Extent, runs: Sequence[str] = ()) -> str:
    """Name what was measured, and the hosts; before it, the runs if there are several."""
    hosts = extent.hosts
    more = f" and {len(hosts) - HOSTS_NAMED} more hosts" if len(hosts) > HOSTS_NAMED else ""
    listed = ", ".join(hosts[:HOSTS_NAMED])
    kind = "Node" if extent.is_node else "Application" if extent.is_application else "Message"
    subject = f"{kind} performance"
    if len(runs) > 1:
        subject = f"{few(runs, RUNS_NAMED)}: {subject.lower()}"
    return subject + (f" of {listed}{more}" if hosts else "")


def subtitle(extent: Extent) -> str:
    """Count what was measured, with the date."""
    how = "simulated" if extent.is_simulated else "measured"
    how = "in virtual time," if extent.is_virtual else how
    noun = "kernel" if extent.is_application else "traffic pattern"
    parts = [
        count(extent.programs, "programming model") if extent.is_application else "",
        _libraries(extent) if extent.libraries and not extent.is_node else "",
        "" if extent.is_node else count(extent.patterns, noun),
        count(extent.points, "point"),
        f"{how} {extent.started:%-d %B %Y, %H:%M}" if extent.started else "",
    ]
    return " · ".join(part for part in parts if part)


def _libraries(extent: Extent) -> str:
    if extent.is_simulated:
        return count(extent.libraries, "machine")
    return count(extent.libraries, "library", "libraries")


def sureness(extent: Extent) -> list[tuple[str, str]]:
    """Make the box on precision: figures, each with its words."""
    if extent.is_simulated:
        return [
            ("simulated", "all times are simulated"),
            ("1", "sample of every point: simulations are deterministic"),
        ]
    if extent.is_virtual:
        return [
            ("virtual", "all times are virtual: those of a virtual network"),
            ("1", "launch of every point: launches are equal"),
        ]
    low, high = extent.launches
    launches = str(high) if low == high else f"{low} to {high}"
    words = "launch of every point" if high == 1 else "separate launches of every point"
    counts = [(launches, words), (grouped(extent.samples), "timed samples kept")]
    if extent.is_node:
        return counts
    half_width = "–"
    if extent.half_width_share is not None:
        half_width = half_width_text(extent.half_width_share)
    return [
        *counts,
        (half_width, "typical 95 % interval, over launches"),
        (percent(FASTER - 1), "smallest difference reported"),
    ]


def footer(extent: Extent) -> str:
    """Describe the method of measurement."""
    if extent.is_simulated:
        return SIMULATED
    if extent.is_virtual:
        return VIRTUAL
    return NODE if extent.is_node else f"{MEASURED} {_unseen(extent.launches[1])}"


def _unseen(launches: int) -> str:
    """State which share of launches an unseen state of the machine may have."""
    share = f"{percent(unseen_share(launches))} of launches"
    if launches == 1:
        return "A single launch says nothing about other states of the machine."
    return (
        "A state of the machine that lasts longer than a launch and that no flag shows may be "
        f"missed altogether: {launches} launches that agree exclude, with 95 % confidence, only "
        f"states in which the machine is for more than {share}."
    )
