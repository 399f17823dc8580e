"""Settings that the file of the library's vendor lists: binding, transports, waiting."""

from collections.abc import Iterator

from nhalf.experiment.improve.candidates import CandidateSource
from nhalf.experiment.improve.change import LEAST_SHARE, Candidate, LaunchChange
from nhalf.experiment.improve.situation import Situation
from nhalf.facts.program.overlap import overlap_share
from nhalf.mpi import Library
from nhalf.mpi.launch_words import SRUN
from nhalf.mpi.switch import SRUN_SWITCHES, LibrarySwitch
from nhalf.mpi.vendors import vendor_of


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
