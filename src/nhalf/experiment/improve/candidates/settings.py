"""Settings of the library: those that its vendor's file lists (binding, transports, waiting), those
that the launch inherits or names, which it may do without, and eager limits.
"""

from collections.abc import Iterator

import polars as pl

from nhalf.experiment.improve.candidates import CandidateSource
from nhalf.experiment.improve.change import LEAST_SHARE, Candidate, LaunchChange
from nhalf.experiment.improve.situation import MESSAGE_KINDS, Situation
from nhalf.facts.program.overlap import overlap_share
from nhalf.facts.program.program import Program
from nhalf.mpi import Library
from nhalf.mpi.launch_words import SRUN
from nhalf.mpi.switch import ALL, MPI, SRUN_SWITCHES, Affected, LibrarySwitch
from nhalf.mpi.vendors import vendor_of, vendors


class Switches(CandidateSource):
    """Each switch that applies and is not on already."""

    def candidates(self, situation: Situation) -> Iterator[Candidate]:
        """One for each switch; none on a simulated machine, which has its own transport."""
        if situation.library is None or situation.is_virtual:
            return
        for switch in _switches(situation, situation.library):
            is_small = _aim_share(switch, situation) < LEAST_SHARE
            if is_small or not switch.needs(situation) or _is_on(switch, situation):
                continue
            words = [f"{name}={value}" for name, value in switch.variables.items()]
            honoured_by = situation.library.vendor if switch.variables else ""
            yield situation.candidate(
                switch.name,
                f"{switch.text} ({' '.join([*words, *switch.options])})",
                "leave out " + " ".join([*words, *switch.options]),
                LaunchChange(
                    dict(switch.variables), switch.replaced, switch.options, honoured_by=honoured_by
                ),
                switch.affected,
                switch.promise_share,
                _aim_share(switch, situation),
            )


def _switches(situation: Situation, library: Library) -> Iterator[LibrarySwitch]:
    """The switches of the library, with the options of its own launcher or of srun."""
    is_srun = situation.launch.family == SRUN
    for switch in vendor_of(library).switches(library):
        if not (is_srun and switch.options):
            yield switch
    if is_srun:
        yield from SRUN_SWITCHES


def _aim_share(switch: LibrarySwitch, situation: Situation) -> float:
    """The share of the time for which a switch is made."""
    if not switch.overlaps:
        return 1.0
    return overlap_share(situation.program) if situation.program is not None else 0.0


def _is_on(switch: LibrarySwitch, situation: Situation) -> bool:
    """Whether the launch has the switch's variables and options already."""
    launch = situation.launch
    have = launch.variables
    has_variables = all(have.get(name) == value for name, value in switch.variables.items())
    options = [word.lstrip("-") for word in launch.options]
    has_options = all(word.lstrip("-") in options for word in switch.options)
    if switch.options and not launch.launcher:
        return True
    return has_variables and has_options


SHARED_SETTINGS = ("FI_", "UCX_", "PSM2_", "PSM3_", "HCOLL_", "UCC_")
"""Beginnings of the variables of libraries below that of MPI."""
NEEDED = ("FI_PROVIDER_PATH", "FI_LOG", "UCX_LOG", "UCX_MODULE_DIR")
"""Beginnings of those that are about where things are, and what is printed."""
COMPUTING_WORDS = ("PIN", "BIND", "AFFINITY", "PROGRESS", "YIELD", "WAIT_MODE", "SPIN")
"""Variables with these words also change how fast the program computes."""
REMOVAL_PROMISE_SHARE = 0.5
"""Somebody set it: on another machine, for another program, or for a test."""


class Inherited(CandidateSource):
    """Takes away each setting, and all of them together."""

    def candidates(self, situation: Situation) -> Iterator[Candidate]:
        """One for each variable of the library's own families."""
        names = settings_of(situation)
        for name in names:
            value = situation.launch.variables[name]
            yield situation.candidate(
                f"without {name}",
                f"{name}={value} is not set",
                f"set {name}={value} again",
                LaunchChange({name: None}, honoured_by=_honoured_by(situation, [name])),
                _affected([name]),
                REMOVAL_PROMISE_SHARE,
            )
        if len(names) > 1:
            yield situation.candidate(
                "without any setting",
                f"none of {', '.join(names)} is set",
                "set them again",
                LaunchChange(dict.fromkeys(names), honoured_by=_honoured_by(situation, names)),
                _affected(names),
                REMOVAL_PROMISE_SHARE,
            )


def settings_of(situation: Situation) -> list[str]:
    """The variables of the launch that set its library or what lies below it."""
    chosen = [vendor_of(situation.library)] if situation.library else list(vendors().values())
    begins = {*SHARED_SETTINGS, *(begin for vendor in chosen for begin in vendor.settings)}
    needed = {*NEEDED, *(begin for vendor in chosen for begin in vendor.needed_settings)}
    return sorted(
        name
        for name in situation.launch.variables
        if name.startswith(tuple(begins)) and not name.startswith(tuple(needed))
    )


def _honoured_by(situation: Situation, names: list[str]) -> str:
    """The vendor of the library that alone honours all of them, '' if others honour some."""
    is_own = not any(name.startswith(SHARED_SETTINGS) for name in names)
    return situation.library.vendor if situation.library and is_own else ""


def _affected(names: list[str]) -> Affected:
    computes = any(word in name.upper() for name in names for word in COMPUTING_WORDS)
    return ALL if computes else MPI


LIMIT_PROMISE_SHARE = 0.2
HEADER_BYTES = 256
"""What libraries add to a message, at most, as far as limits count it."""
LIMIT_BYTES_MAX = 4 << 20
"""Nobody wants larger messages in buffers."""
LEAST_BYTES = 64


class EagerLimits(CandidateSource):
    """For each limit of a transport in use one above and below the size that takes most time."""

    def candidates(self, situation: Situation) -> Iterator[Candidate]:
        """The limits of the library, as it names them; none without a trace."""
        library, program = situation.library, situation.program
        if library is None or program is None or situation.is_virtual:
            return
        vendor = vendor_of(library)
        limits = vendor.limits_in_use(
            vendor.eager_limits(library),
            situation.launch.words,
            situation.launch.variables,
            is_on_one_host=situation.is_on_one_host,
        )
        for parameter, limit_bytes in limits.items():
            variable = f"{vendor.parameter_prefix}{parameter}"
            present = situation.launch.variables.get(variable, "")
            now_bytes = int(present) if present.isdigit() else limit_bytes
            for limit in limits_beside(program, now_bytes):
                low, high = sorted((limit, now_bytes))
                yield situation.candidate(
                    f"{variable}={limit}",
                    f"the limit is {limit} bytes instead of {now_bytes}",
                    f"leave out {variable}={limit}",
                    LaunchChange({variable: str(limit)}, honoured_by=library.vendor),
                    Affected(messages=True, from_bytes=low - HEADER_BYTES, to_bytes=high),
                    LIMIT_PROMISE_SHARE,
                )


def limits_beside(program: Program, now_bytes: int) -> list[int]:
    """A limit that makes eager what takes most of what is not, and the other way round."""
    sent = program.calls.filter(pl.col("kind").is_in(MESSAGE_KINDS))
    by_size = sent.group_by("size_bytes").agg(pl.col("time_s").sum()).sort("time_s", "size_bytes")
    above = by_size.filter(pl.col("size_bytes") > now_bytes - HEADER_BYTES)["size_bytes"]
    below = by_size.filter(pl.col("size_bytes").is_between(LEAST_BYTES, now_bytes))["size_bytes"]
    limits = []
    if len(above) and above[-1] <= LIMIT_BYTES_MAX:
        limits.append(1 << int(above[-1] + HEADER_BYTES).bit_length())
    if len(below):
        limits.append(max(LEAST_BYTES, (1 << int(below[-1] - 1).bit_length()) // 2))
    return [limit for limit in limits if limit != now_bytes]
