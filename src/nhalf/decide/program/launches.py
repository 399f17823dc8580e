"""Several launches of one program, predicted together.

The interval is that of one further launch, by the differences of the predictions from each trace,
times the largest doubt of any of them to either side: what is wrong with a replay or with costs is
wrong with all launches alike, so that more launches do not average it out.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, median

from nhalf.base.collection import without_collection
from nhalf.base.errors import InputError
from nhalf.decide.program.predict import LAUNCHES_DOUBT, ProgramPrediction, predict_program
from nhalf.decide.program.target import Target
from nhalf.facts.program.program import Program
from nhalf.machines.message import Messages
from nhalf.statistics.next_run import next_launch


def predict_launches(
    programs: Sequence[Program], target: Target, traced_on: Messages | None = None
) -> ProgramPrediction:
    """The median of the predictions from each trace, and the interval of a further launch.

    Raises the errors of `predict_program` and `check_same`.
    """
    check_same(programs)
    with without_collection():
        predictions = [predict_program(program, target, traced_on) for program in programs]
    if len(predictions) == 1:
        return predictions[0]
    low_s, high_s = next_launch([prediction.time_s for prediction in predictions])
    parts = dict.fromkeys(name for prediction in predictions for name in prediction.time_share)
    return replace(
        predictions[0],
        measured_s=median(prediction.measured_s for prediction in predictions),
        undisturbed_s=median(prediction.undisturbed_s for prediction in predictions),
        time_s=median(prediction.time_s for prediction in predictions),
        low_s=low_s * min(_over(low.low_s, low.time_s) for low in predictions),
        high_s=high_s * max(_over(high.high_s, high.time_s) for high in predictions),
        error=median(prediction.error for prediction in predictions),
        time_share={
            name: fmean(prediction.time_share.get(name, 0.0) for prediction in predictions)
            for name in parts
        },
        forced=max(prediction.forced for prediction in predictions),
        launches=len(predictions),
        doubt_ratio=_doubts(predictions),
    )


def _doubts(predictions: Sequence[ProgramPrediction]) -> dict[str, float]:
    """The largest factor of each cause, and how far a further launch may differ."""
    times_s = [prediction.time_s for prediction in predictions]
    factors = {
        cause: max(prediction.doubt_ratio[cause] for prediction in predictions)
        for cause in predictions[0].doubt_ratio
    }
    middle_s, (low_s, high_s) = median(times_s), next_launch(times_s)
    apart = max(high_s / middle_s, middle_s / low_s) if low_s > 0 else math.inf
    return {**factors, LAUNCHES_DOUBT: apart}


def _over(end_s: float, time_s: float) -> float:
    """The end of an interval over its middle; 1 of a time that is 0."""
    return end_s / time_s if time_s > 0 else 1.0


def check_same(programs: Sequence[Program]) -> None:
    """Raises InputError unless all are traces of one program, judged by ranks and sends.

    Launches may differ in other calls: how often a program polls depends on the time.
    """
    first = programs[0]
    for program in programs[1:]:
        if program.ranks != first.ranks:
            message = f"{first.path} has {first.ranks} ranks and {program.path} has {program.ranks}"
            raise InputError(message, "name traces of one program")
        if set(program.messages["call"]) != set(first.messages["call"]):
            remedy = "name traces of one program"
            raise InputError(f"{first.path} and {program.path} send by different calls", remedy)
