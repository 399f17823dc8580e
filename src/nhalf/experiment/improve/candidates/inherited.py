"""Settings of the library that the launch inherits or names: the same launch without them."""

from collections.abc import Iterator

from nhalf.experiment.improve.candidates import CandidateSource
from nhalf.experiment.improve.change import Candidate, LaunchChange
from nhalf.experiment.improve.situation import Situation
from nhalf.mpi.switch import ALL, MPI, Affected
from nhalf.mpi.vendors import vendor_of, vendors

SHARED_SETTINGS = ("FI_", "UCX_", "PSM2_", "PSM3_", "HCOLL_", "UCC_")
"""Beginnings of the variables of libraries below that of MPI."""
NEEDED = ("FI_PROVIDER_PATH", "FI_LOG", "UCX_LOG", "UCX_MODULE_DIR")
"""Beginnings of those that are about where things are, and what is printed."""
COMPUTING_WORDS = ("PIN", "BIND", "AFFINITY", "PROGRESS", "YIELD", "WAIT_MODE", "SPIN")
"""Variables with these words also change how fast the program computes."""
PROMISE_SHARE = 0.5
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
                PROMISE_SHARE,
            )
        if len(names) > 1:
            yield situation.candidate(
                "without any setting",
                f"none of {', '.join(names)} is set",
                "set them again",
                LaunchChange(dict.fromkeys(names), honoured_by=_honoured_by(situation, names)),
                _affected(names),
                PROMISE_SHARE,
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
