"""The verdict on a traced program: what others took, the main cause, how much of it is MPI."""

from __future__ import annotations

from nhalf.base.numbers import percent
from nhalf.decide.program.basis import is_disturbed, shown_run
from nhalf.decide.program.efficiency import Efficiency, efficiency
from nhalf.decide.program.share_in_mpi import ShareInMpi, share_in_mpi
from nhalf.facts.program.calls import has_threads, most_expensive
from nhalf.facts.program.disturbance import shared_processors
from nhalf.facts.program.program import Program, is_counted
from nhalf.present.program.main_cause import main_cause
from nhalf.present.program.others import others_lines
from nhalf.present.program.start import failed_start

LITTLE = 0.05
"""Below this share of the run, faster messages do not pay."""
MOST = 0.5
CUT = "The timeline is cut off."


def program_verdict(program: Program) -> str:
    """A few sentences for whoever decides, what others took first; '' if the time in MPI is
    unknown.
    """
    verdict = verdict_alone(program)
    return " ".join([*others_lines(program), verdict]) if verdict else ""


def verdict_alone(program: Program) -> str:
    """The verdict without what others took, of the run that shares refer to."""
    shown = shown_run(program)
    failed = failed_start(shown)
    in_mpi = share_in_mpi(shown)
    if in_mpi is None:
        return failed
    tree = efficiency(shown)
    sentences = []
    if not shown.trace.complete:
        sentences.append(CUT if is_counted(shown) else "The trace is incomplete.")
    if failed:
        return " ".join([*sentences, failed])
    is_little = in_mpi.mean_share < LITTLE and not shared_processors(shown)
    if is_little and not is_disturbed(shown):
        return " ".join([*sentences, _share(shown, in_mpi, tree), "Look at the computing first."])
    cause = main_cause(shown, tree)
    return " ".join(filter(None, [*sentences, cause, _share(shown, in_mpi, tree)]))


def _share(program: Program, in_mpi: ShareInMpi, tree: Efficiency | None) -> str:
    low, high = percent(in_mpi.least_share), percent(in_mpi.most_share)
    spread = "" if low == high else f" (by rank {low} to {high})"
    whole = "threads' time" if has_threads(program) else "run"
    lead = "most of it in" if in_mpi.call_share >= MOST else "led by"
    is_longer = is_disturbed(program) or (shared_processors(program) and not program.as_traced)
    saving = "" if is_longer else f": {_saving(in_mpi.mean_share, tree)}"
    return (
        f"{percent(in_mpi.mean_share)} of the {whole} is in MPI{spread}, {lead} {in_mpi.call}"
        f"{_place(program, in_mpi.call)}{saving}."
    )


def _place(program: Program, call: str) -> str:
    """Where the call takes most of its time, if that is known."""
    rows = most_expensive(program).filter(most_expensive(program)["call"] == call)
    if rows.is_empty() or not rows["place"][0]:
        return ""
    is_most = float(rows["time_s"][0]) >= MOST * float(rows["time_s"].sum())
    return f" at {rows['place'][0]}" if is_most else f" (most at {rows['place'][0]})"


def _saving(in_mpi_share: float, tree: Efficiency | None) -> str:
    """What faster communication can save: all time in MPI, or as much as a replay says."""
    if tree is None or tree.transfer_share is None:
        return f"faster communication can save {percent(in_mpi_share)} at most"
    saved = max(0.0, 1 - tree.transfer_share)
    return f"an infinitely fast network would save at most {percent(saved)}"
