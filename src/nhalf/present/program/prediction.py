"""A predicted run time in words: the time, what it consists of, and how wrong it may be."""

import math
from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nhalf.base.numbers import WIDEST, fixed, format_number, percent, says_nothing, span
from nhalf.base.units import format_size, format_time
from nhalf.decide.program import predict
from nhalf.decide.program.alternatives import Alternative, Alternatives
from nhalf.decide.program.costs import UsedAlgorithm
from nhalf.machines.computing import AS_MEASURED, AS_STATED, UNKNOWN
from nhalf.machines.draws import FACTOR_MAX
from nhalf.present.terminal.tables import add_literal
from nhalf.present.wording import count


def algorithm_lines(prediction: predict.ProgramPrediction) -> Iterator[str]:
    """Yield what the library named, what was assumed, and why the library was not asked."""
    for is_asked, begin in ((True, f"asked {prediction.library_asked}"), (False, "assumed")):
        used = [row for row in prediction.algorithms if row.is_asked == is_asked]
        if used:
            yield f"  {begin}: {'; '.join(_operations(used))}"
    if prediction.not_asked:
        yield f"  not asked: {'; '.join(prediction.not_asked)}"


def _operations(used: Iterable[UsedAlgorithm]) -> Iterator[str]:
    """Yield each operation with its algorithms by size, the number of ranks where it differs."""
    rows = sorted(used, key=lambda row: (row.operation, row.ranks, row.size_bytes, row.algorithm))
    is_alone = len({row.ranks for row in rows}) == 1
    for (operation, ranks), sizes in groupby(rows, lambda row: (row.operation, row.ranks)):
        runs = [list(run) for _, run in groupby(sizes, lambda row: row.algorithm)]
        parts = [f"{run[0].algorithm} to {format_size(run[-1].size_bytes)}" for run in runs[:-1]]
        text = ", then ".join([*parts, runs[-1][0].algorithm])
        yield f"{operation}{'' if is_alone else f' of {ranks} ranks'} {text}"


HOW = {
    predict.COUNTS: "from how often each call was made, not in which order",
    predict.TIMELINE: "its calls replayed in their order",
    predict.SIMGRID: "its calls simulated in their order by SimGrid",
}
WHY = {
    predict.REPLAY_DOUBT: (
        "the traced time differs from its own replay by {}: ranks shared cores, or "
        "waited for what is not in the trace",
        "trace on an idle machine with a core for each rank",
    ),
    predict.COMPUTING_DOUBT: (
        "computing there is uncertain by {}",
        "measure both cores (nhalf node, nhalf fit RUN --node NODE-RUN), or give "
        "--computing-factor; nhalf predict PROGRAM.c has the least that its loops take there",
    ),
    predict.COUNTS_DOUBT: (
        "counts do not tell when ranks wait for each other: {}",
        "trace with --detail timeline",
    ),
    predict.OPERATIONS_DOUBT: (
        "operations that the machine file does not have are guessed within a factor of 2, which "
        "makes {}",
        "measure them there: nhalf run collectives",
    ),
    predict.MESSAGES_DOUBT: (
        "messages that are under way together may wait for each other, which makes {}",
        "let them share the network: --engine simgrid",
    ),
    predict.FIRST_USE_DOUBT: (
        "so short a run depends on what the other library does once, by {}",
        "trace a longer one",
    ),
    predict.LAUNCHES_DOUBT: (
        "launches of the program differ: a further one may by {}",
        "trace more launches, with a core for each rank",
    ),
}
"""Causes of a wide interval with its factor, and what narrows it."""
UNLIMITED = "an unknown factor"
DOUBTED = 1.3
"""A cause that widens the interval by less is not named."""
WITHIN = ", within its error"
UNTIMED = "a schedule, whose calls were not timed: the error of predictions is not known"


def prediction_lines(prediction: predict.ProgramPrediction) -> list[str]:
    """Describe a prediction in lines: time, composition, error and caveats."""
    parts = ", ".join(f"{name} {percent(share)}" for name, share in prediction.time_share.items())
    time, error, reasons = format_time(prediction.time_s), UNTIMED, list[str]()
    if prediction.has_error:
        where = prediction.traced_on or "the machine it was traced on, with the trace's own calls"
        time = f"{_headline(prediction)}; traced: {_traced(prediction)}"
        error = f"error {percent(prediction.error, 1, signed=True)} on {where}"
        reasons = [] if prediction.is_certain else list(_reasons(prediction))
    return [
        f"{prediction.program} on {prediction.machine}: {time}",
        *reasons,
        f"  {parts}: mostly {prediction.dominated_by}",
        f"  {error} ({HOW[prediction.method]})",
        *_caveats(prediction),
    ]


def show_predictions(console: Console, alternatives: Alternatives) -> None:
    """Print a line for each machine, library and placement, the fastest first, and caveats."""
    table = Table(title=Text(_title(alternatives)), title_justify="left", box=None, pad_edge=False)
    texts = _named_columns(alternatives)
    for name in (*texts, "time", "interval", "over the fastest", "over the traced", "by"):
        table.add_column(name, justify="left" if name in (*texts, "by") else "right")
    for prediction in alternatives.predictions:
        names = (getattr(prediction, member) for member in texts.values())
        add_literal(table, *names, *_cells(prediction, alternatives))
    for refused in alternatives.refused:
        names = (getattr(refused.alternative, member) for member in texts.values())
        add_literal(table, *names, "–", "refused", "–", "–", "–")
    console.print(table)
    for note in _notes(alternatives):
        console.print(note, markup=False, soft_wrap=True)


def _title(alternatives: Alternatives) -> str:
    if not alternatives.predictions:
        return "no prediction"
    first = alternatives.predictions[0]
    if not first.has_error:
        return f"{first.program}: {UNTIMED}"
    return f"{first.program}, traced: {_traced(first)}"


def _named_columns(alternatives: Alternatives) -> dict[str, str]:
    """The headings of the columns that name an alternative, with its members."""
    rows: list[predict.ProgramPrediction | Alternative] = [*alternatives.predictions]
    rows += [refused.alternative for refused in alternatives.refused]
    has_libraries = len({row.mpi for row in rows}) > 1
    return {
        "machine": "machine",
        **({"library": "mpi"} if has_libraries else {}),
        **({"placement": "placement"} if any(row.placement for row in rows) else {}),
    }


def _notes(alternatives: Alternatives) -> list[str]:
    """The reasons and caveats of all rows, each once."""
    notes: dict[str, None] = {}
    for prediction in alternatives.predictions:
        for line in [] if prediction.is_certain else _reasons(prediction):
            notes[f"{_name(prediction)}: {line.strip()}"] = None
    for refused in alternatives.refused:
        notes[f"{_name(refused.alternative)}: {refused.error}"] = None
    for prediction in alternatives.predictions:
        of_algorithms = set(algorithm_lines(prediction))
        for line in _caveats(prediction):
            begin = f"{_name(prediction)}: " if line in of_algorithms else ""
            notes[f"{begin}{line.strip()}"] = None
    return list(notes)


def _name(row: predict.ProgramPrediction | Alternative) -> str:
    return " ".join(filter(None, (row.machine, row.mpi, row.placement)))


def _cells(prediction: predict.ProgramPrediction, alternatives: Alternatives) -> list[str]:
    certain, ratio = prediction.is_certain, alternatives.over_fastest(prediction)
    has_error = prediction.has_error
    is_first = prediction is alternatives.fastest
    return [
        format_time(prediction.time_s) if certain else "–",
        _interval(prediction) if has_error else "–",
        "–"
        if ratio is None
        else _ratio(ratio, bool(alternatives.is_as_fast(prediction)) and not is_first),
        _ratio(prediction.time_s / prediction.undisturbed_s, prediction.is_within_error)
        if certain and has_error
        else "–",
        prediction.dominated_by,
    ]


def _ratio(ratio: float, within: bool) -> str:
    return f"{fixed(ratio, 2)}{WITHIN if within else ''}"


def _headline(prediction: predict.ProgramPrediction) -> str:
    if prediction.is_certain:
        condition = " if it computed as fast as here" if _is_not_scaled(prediction) else ""
        return f"{format_time(prediction.time_s)} ({_interval(prediction)}){condition}"
    if prediction.computing == UNKNOWN:
        return f"no prediction, {format_time(prediction.low_s)} or more"
    if says_nothing(prediction.low_s, prediction.high_s):
        return "no prediction"
    return f"no prediction, something in {_interval(prediction)}"


def _is_not_scaled(prediction: predict.ProgramPrediction) -> bool:
    """Whether computing takes the time that it took elsewhere."""
    return prediction.computing == AS_MEASURED and prediction.machine != prediction.traced_on


def _interval(prediction: predict.ProgramPrediction) -> str:
    return span(prediction.low_s, prediction.high_s, format_time)


def _reasons(prediction: predict.ProgramPrediction) -> Iterator[str]:
    """Why an interval is too wide for a headline, the strongest cause first."""
    yield f"  the interval reaches further than a factor of {FACTOR_MAX:g}:"
    causes = sorted(prediction.doubt_ratio.items(), key=lambda cause: -cause[1])
    for name, factor in causes:
        if factor > DOUBTED:
            why, remedy = WHY[name]
            is_known = math.isfinite(factor) and factor < WIDEST
            factor_text = f"a factor of {format_number(factor, 2)}" if is_known else UNLIMITED
            yield f"  {why.format(factor_text)}; {remedy}"


def _caveats(prediction: predict.ProgramPrediction) -> Iterator[str]:
    yield from algorithm_lines(prediction)
    if prediction.calibration:
        yield f"  {prediction.calibration}"
    if _is_not_scaled(prediction):
        yield (
            f"  computing as measured here, not scaled to {prediction.machine}: give "
            "--computing-factor, or --traced-on a machine whose cores are known"
        )
    elif prediction.computing == AS_STATED and prediction.time_share["computing"]:
        yield (
            "  computing as the schedule or --flop-rate gives it, the same on every machine; "
            "--computing-factor scales it"
        )
    elif prediction.computing != UNKNOWN and (
        len(prediction.computing_ratio) > 1 or prediction.computing == "by the cores"
    ):
        ratios = ", ".join(
            f"{name} {fixed(ratio, 2)}" for name, ratio in prediction.computing_ratio.items()
        )
        yield f"  computing time there relative to here, by the cores: {ratios}"
    if prediction.launches == 1 and prediction.has_error:
        yield "  the interval omits launch-to-launch variation; trace again and pass all traces"
    if prediction.method == predict.COUNTS:
        yield "  more exact with nhalf trace --detail timeline"
    if prediction.forced:
        yield (
            f"  {count(prediction.forced, 'send')} larger than the machine's rendezvous threshold "
            "would deadlock there: buffers are assumed"
        )


def _traced(prediction: predict.ProgramPrediction) -> str:
    """The traced time, and that without other programs, which predictions start from."""
    words = format_time(prediction.measured_s)
    if prediction.launches > 1:
        words += f", the median of {prediction.launches} launches"
    if prediction.undisturbed_s < prediction.measured_s:
        words += f", without what other programs took {format_time(prediction.undisturbed_s)}"
    return words
