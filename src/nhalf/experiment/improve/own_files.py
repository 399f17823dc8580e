"""The tuning files that a launch uses already: rules are added to them, or take their place."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.experiment.improve.situation import Situation
from nhalf.mpi.vendors import vendor_of


def own_file_remarks(situation: Situation) -> Iterator[str]:
    """A line for each file: what becomes of it where another algorithm is chosen."""
    library, program = situation.library, situation.program
    tuner = vendor_of(library).tuner(library) if library and program else None
    for file in tuner.own_files(situation.launch.variables) if tuner else []:
        if file.problem:
            yield (
                f"Nothing can be added to {file.path}: {file.problem}. An algorithm that is chosen "
                "for an operation takes its place."
            )
        else:
            yield f"{file.path} stays in force; algorithms are chosen by rules before its own."
