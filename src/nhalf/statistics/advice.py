"""Every kind of warning about a number, in one typed list: meaning, remedy and detection.

The probe and the launcher report what only they can observe (binding, load, clock); the rest is
derived from the samples. The thresholds are chosen for few false alarms: `nhalf doctor --selftest`
shows how often each warning is raised on plain lognormal noise.

States of the machine, identified by the time of a flag between two cores.

Next to every visit to a point, probes time a flag handoff between two cores
(native/timing/witness.hpp), which involves no message library. Virtual machines that migrate their
cores, and clock changes, show in it: flag times form groups with gaps between them, and each group
is a state. States last longer than launches and often longer than runs, so a value is meaningful
only with its state. Where a GPU takes part, its own clock, which a kernel counts beside the
samples, tells states in the same way.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from nhalf.base.errors import unknown
from nhalf.base.numbers import percent
from nhalf.base.units import format_time
from nhalf.statistics.state_groups import borders, shares
from nhalf.store.keys import RUN_POINT, value


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

_ADVICES = {
    "unpinned": (
        "ranks were free to move between cores",
        "bind each rank to its own core (the default), or find out why binding was refused",
        "a rank, read from inside, is allowed on more than one core",
    ),
    "oversubscribed": (
        "ranks shared a core and waited for each other",
        "use at most as many ranks as there are cores",
        "the allowed cores of two ranks on one host are the same single core, or ranks outnumber "
        "cores",
    ),
    "misplaced": (
        "ranks were not on the hosts or cores that the placement asked for",
        "let nhalf place them: start it without your own binding or host list",
        "host and allowed cores of each rank, read from inside the rank, are not those asked for",
    ),
    "moved": (
        "ranks were on other hosts than in the first launch",
        "continue on the original hosts, or start a new run",
        "the hosts of all ranks, read from inside, are not those of the first launch of the run",
    ),
    "shared-cores": (
        "the hosts are those of a lab and share the cores of one machine",
        "take rates of shaped links from a lab, and times of messages from a real cluster",
        "the run was started by `nhalf lab exec`",
    ),
    "shared-gpu": (
        "ranks shared a GPU and took turns on it: the time holds its time slices, and no network",
        "use at most as many ranks on a host as it has GPUs",
        "two ranks of a host, asked from inside, have the GPU of the same PCI address",
    ),
    "busy-gpu": (
        "another program had a GPU as well: times hold its turns",
        "wait or stop it (nvidia-smi names it), or take another GPU with CUDA_VISIBLE_DEVICES",
        "NVML lists more processes that compute on a GPU than were started here",
    ),
    "slow-gpu": (
        "something held the clock of a GPU down: its power limit, its temperature or a brake",
        "let it cool down, or ask for its power limit: nvidia-smi -q -d PERFORMANCE names it",
        "NVML's reasons for the clock, asked after the last sample, hold one of these",
    ),
    "mixed-networks": (
        "ranks communicated over different networks",
        "tell the library which network to use, and find out why some hosts lack it",
        "interfaces of open connections to other hosts and open network devices, read from inside "
        "each rank, have nothing in common",
    ),
    "slow-network": (
        "ranks communicated over TCP although the hosts have a faster network",
        "check which transport the library chose, and whether its drivers are installed",
        "no rank has a device of the fast network open, and connections to other hosts are open",
    ),
    "timer-coarse": (
        "a sample is short compared with the clock resolution",
        "use a longer time per sample",
        "a batch is shorter than the required multiple of clock resolution and overhead",
    ),
    "clocks-unsure": (
        "the error of the ranks' clocks may exceed half of the measured time",
        "compare with start=barrier or start=rotating, and keep the machine idle",
        "the uncertainty of the synchronised clocks, as reported by the probe",
    ),
    "late-starts": (
        "ranks did not start together: times include the start skew",
        "use at most as many ranks as there are cores, and keep the machine idle",
        "ranks learned of every common start when its time had passed",
    ),
    "launch-failed": (
        "a launch took no time and was left out",
        "let clocks settle: measure more launches on an idle machine",
        "the median of a launch is 0 s or less, and that of more than half of the launches is not",
    ),
    "bimodal": (
        "bimodal: the median may fall in either mode or between",
        "find what switches (clock frequency, a neighbour, placement): fix the clock frequency, "
        "keep the machine idle, or measure more launches",
        "the best split into two groups, each at least a tenth, explains more of the variance of "
        "the logarithms (Otsu 1979) than noise without states does, and the groups are 3 % apart; "
        "in at least two launches, or between launches over the whole curve",
    ),
    "launch-apart": (
        "one launch differed from all others over the whole curve, and no flag shows why: the "
        "machine has a state whose share one launch cannot tell",
        "add launches at other times (--resume RUN --launches N), and look at the launch spread",
        "the gap between the fastest or slowest launch and the next one is 3 % or more, and a "
        "larger share of the range than normal noise leaves once in 500 times (Dixon 1950); four "
        "launches or more",
    ),
    OTHER_STATE: (
        "the point was measured in another state of the machine than most of its run, so it does "
        "not belong to the same curve",
        "add launches at another time (--resume RUN --launches N), or keep the machine idle",
        "fewer than two launches met the state in which most of the run was measured, as a flag "
        "between two cores tells, or the GPU's own clock (statistics/advice.py)",
    ),
    "drift": (
        "times rise or fall while measuring",
        "let the machine warm up or cool down, or measure when it is idle",
        "within launches: signs of last against first third (Cox and Stuart 1955), beyond 3.29 "
        "deviations; between launches: slope of the curve's level, 99 % by Student; above 3 %",
    ),
    "imprecise": (
        "the interval is wider than a run's target of 3 %",
        "give it more time (--budget) or more launches (--launches)",
        "relative half width of the interval over launches",
    ),
    "one-launch": (
        "one launch cannot show how much launches differ",
        "measure at least five launches (--launches 5)",
        "the number of launches",
    ),
    "virtual": (
        "the network is that of a machine file and time is virtual: launches and samples are equal",
        "compare it with a real run, or leave --machine out",
        "the run was started with --machine",
    ),
    "virtual-noise": (
        "the network is that of a machine file and time is virtual: launches differ by the noise "
        "or the computing that was asked for",
        "compare it with a real run, or leave --machine out",
        "the run was started with --machine and --noise or --computing",
    ),
    "imported": (
        "a mean that another program printed, without samples",
        "measure the point with nhalf: a mean does not show the variation",
        "the point comes from the log of another suite (nhalf import)",
    ),
    "unverified": (
        "data did not arrive as sent: the time is invalid",
        "report it to the library's developers, and do not use the number",
        "every pattern checks its data before it is timed; all ranks must agree",
    ),
}
"""Meaning, remedy and detection of each, by its name."""
ADVICES = tuple(Advice(name, *texts) for name, texts in _ADVICES.items())


def advice(name: str) -> Advice:
    """The advice with this name; raises InputError for an unknown name."""
    for entry in ADVICES:
        if entry.name == name:
            return entry
    raise unknown("advice", name, [entry.name for entry in ADVICES])


STEADY = 1.25
"""If the flags beside the samples of a visit differ by more, the machine changed meanwhile."""
MISSED_MOST = 0.5
"""With fewer flags, states cannot be identified: other processes used the ranks' cores."""
FLAGS = {"flag_low_s": "flag_before_s", "flag_high_s": "flag_after_s"}
"""The values of a visit with its fastest and its slowest flag, and what former stores have: the
flags before and after it."""
CLOCKS = {"gpu_clock_p10_hz": "gpu_clock_before_hz", "gpu_clock_p90_hz": "gpu_clock_after_hz"}
"""The values of a visit with the lowest and the highest clock of its GPU, beside samples or around
them."""
CLOCK_APART = 1.05
"""Clocks of a GPU that differ by more are two states; they are counted to 1 %."""
PLACES = ("run", "ranks", "placement")
"""Flags of rows that differ in these columns are passed by different cores."""


def steady_flag_s(values: Mapping[str, float | None]) -> float | None:
    """The time of a flag beside a visit, seconds: None if not measured, NaN if it changed."""
    ends_s = [values.get(name, values.get(former)) for name, former in FLAGS.items()]
    ends_known_s = [end_s for end_s in ends_s if end_s is not None]
    if len(ends_known_s) < len(ends_s):
        return None
    low_s, high_s = min(ends_known_s), max(ends_known_s)
    return math.sqrt(low_s * high_s) if high_s <= STEADY * low_s else math.nan


def flag_of_visit() -> pl.Expr:
    """The time of a flag beside each row of measurements: null or NaN as `steady_flag_s`."""
    return _of_visit(FLAGS, STEADY)


def gpu_clock_of_visit() -> pl.Expr:
    """The clock of the GPU, Hz, beside each row of measurements: null without one, NaN if it moved
    meanwhile.
    """
    return _of_visit(CLOCKS, CLOCK_APART)


def _of_visit(names: Mapping[str, str], steady: float) -> pl.Expr:
    ends = [pl.coalesce(value(name), value(former)) for name, former in names.items()]
    low, high = pl.min_horizontal(ends), pl.max_horizontal(ends)
    middle = pl.when(high <= steady * low).then((low * high).sqrt()).otherwise(math.nan)
    return pl.when(pl.all_horizontal(end.is_not_null() for end in ends)).then(middle)


def witnesses_of_group() -> list[pl.Expr]:
    """Flag and clock of several visits in one state: the median of those that were steady."""
    return [
        pl.coalesce(
            witness.drop_nulls().drop_nans().median(),
            pl.when(witness.is_not_null().all()).then(math.nan),
        ).alias(name)
        for name, witness in ((name, pl.col(name)) for name in ("flag_s", "gpu_clock_hz"))
    ]


def is_elsewhere() -> pl.Expr:
    """Whether a row of a summary was measured in another state than most of its run."""
    return pl.col("advice").list.contains(OTHER_STATE)


def mostly_missed(flags_s: pl.Series) -> bool:
    """Whether too few flags were measured to identify states."""
    return flags_s.null_count() > MISSED_MOST * len(flags_s)


def shares_text(states: Iterable[tuple[float, float]]) -> str:
    """The states in words: '… took 55 ns in 80 %, 290 ns in 20 % of the measurements'."""
    parts = [f"{format_time(flag_s)} in {percent(share)}" for flag_s, share in states]
    return f"a flag between two cores took {', '.join(parts)} of the measurements"


def clocks_text(states: Iterable[tuple[float, float]]) -> str:
    """States of a GPU in words: 'the GPU's clock was 1980 MHz in 80 %, … of the measurements'."""
    parts = [f"{clock_hz / 1e6:.0f} MHz in {percent(share)}" for clock_hz, share in states]
    return f"the GPU's clock was {', '.join(parts)} of the measurements"


def with_states(flagged: pl.DataFrame) -> pl.DataFrame:
    """Visits of launches to points, with `flag_s`, and the state in which each was measured.

    A column `gpu_clock_hz`, if there is one, tells states as well.

    Adds `state_number`, -1 if it is unknown, and `state_s`, the median flag of the visit's state:
    null if there is none, NaN if the machine changed between several. `counts` is whether the visit
    is in the state reported for its point: the one in which most of the run was measured or, if a
    point has fewer than two launches in that state, the point's own most frequent one; `elsewhere`
    is whether it is that other one.
    """
    parts = flagged.with_row_index("place").partition_by(PLACES, maintain_order=True)
    stated = [_with_state(part) for part in parts]
    if not stated:
        numbers = {"state_number": pl.Int64(), "state_s": pl.Float64()}
        kinds = {**numbers, "counts": pl.Boolean(), "elsewhere": pl.Boolean()}
        return flagged.with_columns(pl.lit(None, kind).alias(name) for name, kind in kinds.items())
    return pl.concat(stated).sort("place").drop("place")


def _with_state(part: pl.DataFrame) -> pl.DataFrame:
    """The visits on the same cores, with what `with_states` adds."""
    flag = pl.col("flag_s")
    steady = flag.is_not_null() & flag.is_not_nan()
    edges_s = [] if mostly_missed(part["flag_s"]) else borders(part["flag_s"])
    is_numbered, clock_number, has_no_clock = _clock_states(part)
    if not edges_s and not is_numbered:
        state_s = flag.filter(steady).median()
        part = part.with_columns(state_number=pl.lit(0, pl.Int64), state_s=state_s)
        return part.with_columns(counts=pl.lit(True), elsewhere=pl.lit(False))
    number = pl.sum_horizontal([flag >= edge for edge in edges_s] or [pl.lit(0)])
    in_one = (clock_number >= 0) & (steady if edges_s else pl.lit(True))
    combined = number.cast(pl.Int64) + (len(edges_s) + 1) * clock_number
    part = part.with_columns(state_number=pl.when(in_one).then(combined).otherwise(-1))
    is_unknown = has_no_clock & (flag.is_null() if edges_s else pl.lit(True))
    state_median = flag.filter(steady).median().over("state_number")
    part = part.with_columns(
        state_s=pl.when(flag.is_not_null()).then(state_median.fill_null(math.nan))
    )
    in_states = part.filter(pl.col("state_number") >= 0)
    # Ties go to the faster state.
    state_counts = in_states["state_number"].value_counts()
    ranked = state_counts.sort("count", "state_number", descending=[True, False])
    main_number = next(iter(ranked["state_number"]), -1)  # no visit may be in a single state
    launch = pl.col("launch")
    own = pl.col("state_number").mode().min()
    main = launch.filter(pl.col("state_number") == main_number).n_unique()
    of_point = in_states.group_by(RUN_POINT).agg(own=own, main=main, of=launch.n_unique())
    enough = pl.col("main") >= pl.min_horizontal(2, "of")
    chosen_number = pl.when(enough).then(main_number).otherwise("own")
    chosen = of_point.select(*RUN_POINT, chosen_number=chosen_number)
    part = part.join(chosen, on=RUN_POINT, how="left", nulls_equal=True, maintain_order="left")
    counts = pl.col("state_number") == pl.col("chosen_number").fill_null(-1)
    # A visit without a witness is in an unknown state: better than a single launch.
    is_alone = launch.filter(counts).n_unique().over(RUN_POINT) < 2
    # Without any flag the state is unknown, as on transports that cannot pass flags.
    elsewhere = (pl.col("chosen_number") != main_number).fill_null(False)
    counts |= is_alone & is_unknown
    return part.with_columns(counts=counts, elsewhere=elsewhere).drop("chosen_number")


def _clock_states(part: pl.DataFrame) -> tuple[bool, pl.Expr, pl.Expr]:
    """Whether clocks of GPUs tell states, the number of each visit's, and who has no clock.

    The most frequent one is 0, as that of visits without a GPU; -1 where the clock moved.
    """
    clocks_hz = (
        part["gpu_clock_hz"] if "gpu_clock_hz" in part.columns else pl.Series([], dtype=pl.Float64)
    )
    edges_hz = borders(clocks_hz, CLOCK_APART)
    if not edges_hz:
        return False, pl.lit(0), pl.lit(True)
    clock = pl.col("gpu_clock_hz")
    group = pl.sum_horizontal([clock >= edge for edge in edges_hz]).cast(pl.Int64)
    numbers = {
        int(np.searchsorted(edges_hz, median_hz)): number
        for number, (median_hz, _) in enumerate(shares(clocks_hz, edges_hz))
    }
    ranked = group.replace_strict(numbers, default=-1)
    number_of = pl.when(clock.is_nan()).then(-1).otherwise(ranked)
    return True, pl.when(clock.is_null()).then(0).otherwise(number_of), clock.is_null()
