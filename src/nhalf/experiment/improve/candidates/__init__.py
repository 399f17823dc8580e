"""Candidates: each class finds one kind of change that may make a program faster."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress

from nhalf.base import plugins
from nhalf.base.errors import MissingError
from nhalf.experiment.improve.change import Candidate
from nhalf.experiment.improve.situation import Situation

PACKAGE = "nhalf.experiment.improve.candidates"
BY_SUBJECT = True


class CandidateSource(ABC):
    """A kind of change."""

    @abstractmethod
    def candidates(self, situation: Situation) -> Iterable[Candidate]:
        """What applies to a launch. Raises MissingError if something it needs is not there."""


def candidates(situation: Situation) -> list[Candidate]:
    """All candidates for a launch, each name once."""
    by_name: dict[str, Candidate] = {}
    for source in plugins.load(PACKAGE, CandidateSource).values():
        with suppress(MissingError):
            for candidate in source().candidates(situation):
                by_name.setdefault(candidate.name, candidate)
    return list(by_name.values())
