"""One program on several machines, libraries and placements: sorted, and what was refused.

Two predictions from one trace are told apart if their intervals have nothing in common. What could
not be predicted is part of the answer, with its reason.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nhalf.base.errors import FailedError, Interrupted, NhalfError
from nhalf.decide.program.predict import ProgramPrediction


@dataclass(frozen=True)
class Alternative:
    """A machine as it was named, a library ('' for its only one), a placement ('' as traced)."""

    machine: str
    mpi: str = ""
    placement: str = ""


@dataclass(frozen=True)
class RefusedAlternative:
    """An alternative without a prediction."""

    alternative: Alternative
    error: NhalfError

    def as_json(self) -> dict[str, Any]:
        """The alternative, and why there is no time."""
        return {**vars(self.alternative), "reason": self.error.message, "remedy": self.error.remedy}


@dataclass(frozen=True)
class Alternatives:
    """Predictions by time, those without a headline last; and what was refused."""

    predictions: Sequence[ProgramPrediction] = ()
    refused: Sequence[RefusedAlternative] = field(default=())

    @property
    def fastest(self) -> ProgramPrediction | None:
        """The shortest predicted time; None if no interval is narrow enough for one."""
        first = self.predictions[0] if self.predictions else None
        return first if first is not None and first.is_certain else None

    def over_fastest(self, prediction: ProgramPrediction) -> float | None:
        """How many times the shortest time a prediction takes; None without a headline."""
        if self.fastest is None or not prediction.is_certain:
            return None
        return prediction.time_s / self.fastest.time_s

    def is_as_fast(self, prediction: ProgramPrediction) -> bool | None:
        """Whether a prediction cannot be told apart from the fastest; None without intervals."""
        if self.fastest is None or not prediction.is_certain or not prediction.has_error:
            return None
        return prediction.low_s <= self.fastest.high_s

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf predict TRACE --json` for several."""
        return {
            "programs": [
                {
                    **prediction.as_json(),
                    "over_fastest": self.over_fastest(prediction),
                    "as_fast": self.is_as_fast(prediction),
                }
                for prediction in self.predictions
            ],
            "refused": [refused.as_json() for refused in self.refused],
        }

    @property
    def common_error(self) -> NhalfError | None:
        """The error of all, if there is no prediction and one reason."""
        errors = {str(refused.error): refused.error for refused in self.refused}
        return errors.popitem()[1] if len(errors) == 1 and not self.predictions else None

    def check(self) -> None:
        """Raises FailedError if there is no prediction at all."""
        if not self.predictions:
            number = len(self.refused)
            raise FailedError(f"none of {number} can be predicted", "each reason is given above")


def predict_alternatives(
    alternatives: Iterable[Alternative], predict: Callable[[Alternative], ProgramPrediction]
) -> Alternatives:
    """The predictions of all, in the order of their times; errors of single ones are kept."""
    predictions: list[ProgramPrediction] = []
    refused: list[RefusedAlternative] = []
    for alternative in alternatives:
        try:
            predictions.append(predict(alternative))
        except Interrupted:
            raise
        except NhalfError as error:
            refused.append(RefusedAlternative(alternative, error))
    predictions.sort(key=lambda prediction: (not prediction.is_certain, prediction.time_s))
    return Alternatives(predictions, refused)
