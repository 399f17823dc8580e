"""All published studies on their own machines of record: which conclusions hold where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nhalf.studies import catalogue
from nhalf.studies.form import Conclusion, StudyForm
from nhalf.studies.judge import ConclusionJudgement, judge
from nhalf.studies.recorded import RecordedMachine


@dataclass(frozen=True)
class StudyOverview:
    """The verdicts of one study on each of its machines, in the order of its conclusions."""

    study: str
    form: StudyForm
    judgements: dict[str, tuple[ConclusionJudgement, ...]]

    @property
    def at_home(self) -> list[ConclusionJudgement]:
        """The verdicts on the machines of which the study says a conclusion."""
        return [
            judgement
            for machine, judgements in self.judgements.items()
            for judgement in judgements
            if machine in judgement.conclusion.drawn_on
        ]

    def rows(self) -> Iterator[tuple[Conclusion, list[ConclusionJudgement]]]:
        """Every conclusion with its verdict on each machine."""
        columns = zip(*self.judgements.values(), strict=True)
        yield from zip(self.form.conclusion, map(list, columns), strict=True)

    def as_json(self) -> dict[str, Any]:
        """The verdicts of a member of `studies` in the output of `nhalf study --report --json`."""
        return {
            "verdicts": {
                machine: {judgement.conclusion.id: judgement.verdict for judgement in judgements}
                for machine, judgements in self.judgements.items()
            }
        }


def overviews(names: Sequence[str] = ()) -> Iterator[StudyOverview]:
    """Judge the studies of these names, all without any, on all of their machines."""
    for name in names or catalogue.names():
        form = catalogue.study(name)
        yield StudyOverview(
            name,
            form,
            {
                machine: tuple(
                    judge(conclusion, RecordedMachine(machine, form.machines), form.machines)
                    for conclusion in form.conclusion
                )
                for group in form.machines
                for machine in group
            },
        )
