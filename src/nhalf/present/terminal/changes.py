"""Changes from a baseline and comparisons of runs, curve by curve: the surest first."""

import math
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.markup import escape

from nhalf.base.listing import few
from nhalf.base.numbers import MISSING, change, change_span, is_factor, percent, times
from nhalf.base.units import format_duration, format_size, format_time
from nhalf.decide.changes import Comparison, CurveRatio, Ratio, SizeRatio
from nhalf.decide.check.verdict import CheckedRun, format_place
from nhalf.present.changes import curve_names
from nhalf.present.terminal.output import print_lines
from nhalf.present.terminal.tables import raw_text, show_table
from nhalf.present.wording import count, sentence
from nhalf.statistics.doubt import Doubt, shared_reason, shared_remedies
from nhalf.statistics.family import FALSE_TAILS
from nhalf.store.keys import COMPARED_CURVE
from nhalf.store.run import Run, launch_interval_s

WORDS = {
    "slower": "slower",
    "faster": "faster",
    "mixed": "slower, elsewhere faster",
    "equal": "same",
    "unclear": "unclear",
}
BASELINE = ("baseline", "now")
HUGE = 10.0
"""A slowdown that nobody overlooks."""
DETECTABLE_LEAST = 1.0005
"""A smaller ratio is that of times which do not vary."""


def show_changes(
    console: Console,
    comparison: Comparison,
    *,
    run: str,
    lost: Sequence[tuple[str, Doubt]] = (),
    sides: tuple[str, str] = BASELINE,
    every_size: bool = False,
    launch_s: float = math.nan,
    heading: str = "",
) -> None:
    """Print what can be told, every curve that is decided, then what is unclear, why, what to do.

    The first line is `heading` with what can be told. `run` is what to extend, whose launches
    follow each other in `launch_s` seconds; `lost` are further curves about which nothing is known;
    with `every_size`, unclear curves and all their sizes have rows as well.
    """
    if words := " ".join(filter(None, (heading, resolution_words(comparison)))):
        print_lines(console, words)
    curves = comparison.by_evidence()
    names = _names(curves)
    # A single curve that is unclear is nothing to sum.
    shows_all = every_size or len(curves) + len(lost) == 1
    shown = [
        (name, curve) for name, curve in _zip(names, curves) if shows_all or not _is_open(curve)
    ]
    as_factor = any(is_factor(curve.shown.ratio) for _, curve in shown)
    rows = [row for name, curve in shown for row in _rows(name, curve, every_size, as_factor)]
    tails = comparison.longer_tails
    tail_rows = [  # each that grew, by the mean of its slowest samples
        row
        for name, tail in _zip(_names(tails), tails)
        for row in _rows(name, replace(tail, verdict="slower"), False, as_factor=True)
    ]
    if rows := [*tail_rows, *rows]:
        show_table(["curve", "at", *sides, "change", "interval", "verdict"], rows)
    doubts = [(name, curve.doubt) for name, curve in _zip(names, curves) if _is_open(curve)]
    print_lines(console, *open_lines([*doubts, *lost], bool(rows) and not shows_all, run, launch_s))


def _names(curves: Sequence[CurveRatio]) -> list[str]:
    """A name for each curve, without the libraries where all curves compare the same two."""
    if len({curve.mpi for curve in curves}) == 1 and "," in curves[0].mpi:
        alone = {"mpi": "", "transport": ""}
        return curve_names([{**c.point, **alone, "quantile": c.quantile_share} for c in curves])
    return curve_names([{**c.point, "mpi": c.title, "quantile": c.quantile_share} for c in curves])


def word_of(curve: CurveRatio) -> str:
    """The verdict on a curve in a word."""
    if curve.quantile_share is not None:
        return "longer tail"
    if curve.verdict == "unclear" and curve.worse == "not worse":
        return "not slower"
    return WORDS[curve.verdict]


def open_lines(
    doubts: Sequence[tuple[str, Doubt]], has_rows: bool, run: str, launch_s: float = math.nan
) -> list[str]:
    """'7 others: unclear (2 launches leave it open)' for each reason, then the remedies.

    Launches that are to be added have their time, if one takes `launch_s` seconds.
    """
    by_form: dict[str, list[tuple[str, Doubt]]] = {}
    for name, doubt in doubts:
        by_form.setdefault(doubt.form, []).append((name, doubt))
    lines = []
    for members in by_form.values():
        noun = "other" if has_rows else "curve"
        subject = members[0][0] if len(members) == 1 else count(len(members), noun)
        lines.append(f"{subject}: unclear ({shared_reason([doubt for _, doubt in members])})")
    remedies = shared_remedies([doubt for _, doubt in doubts])
    added = {doubt.remedy: doubt.launches - doubt.number for _, doubt in doubts if doubt.launches}
    # The first remedy is that of the reasons which more launches remove.
    for remedy in remedies[:2]:
        time_s = added.get(remedy, 0) * launch_s
        duration = f" (about {format_duration(time_s)})" if time_s > 0 else ""
        lines.append(f"to decide: {remedy.replace('RUN', run)}{duration}")
    return lines


def tolerance_words(comparison: Comparison) -> str:
    """The price of an alarm in a sentence."""
    alarms = percent((1 - comparison.confidence) / 2, None)
    return (
        f"A change counts from {percent(comparison.threshold - 1)} on; at most "
        f"{alarms} of comparisons without a change report one.{_tail_words(comparison)}"
    )


def _tail_words(comparison: Comparison) -> str:
    """The price of an alarm about tails; '' where none grew."""
    tails = comparison.longer_tails
    if not tails:
        return ""
    threshold = percent(tails[0].threshold - 1)
    return f" Of tails: from {threshold} on, {percent(FALSE_TAILS, None)}."


def resolution_words(comparison: Comparison) -> str:
    """The slowdown that these runs can tell, in a sentence; '' where times do not vary."""
    detectable = comparison.detectable_ratio
    if not detectable > DETECTABLE_LEAST:
        return ""
    slowdown, tolerance = percent(detectable - 1), percent(comparison.threshold - 1)
    if detectable > HUGE:
        return (
            f"On half of the curves, even a slowdown of {times(HUGE)} may not show; the tolerance "
            f"is {tolerance}."
        )
    if detectable > comparison.threshold:
        return (
            f"On half of the curves, a slowdown of less than {slowdown} may not show; the "
            f"tolerance is {tolerance}."
        )
    return f"Half of the curves resolve the tolerance of {tolerance}."


def _zip(names: Sequence[str], curves: Sequence[CurveRatio]) -> list[tuple[str, CurveRatio]]:
    return list(zip(names, curves, strict=True))


def _is_open(curve: CurveRatio) -> bool:
    return curve.verdict == "unclear" and curve.worse == "unclear"


def _rows(name: str, curve: CurveRatio, every_size: bool, as_factor: bool) -> list[list[str]]:
    """The row of what decided, and those of all sizes or of none."""
    decisive = curve.decisive
    at = _place(decisive) if decisive else "all sizes"
    times = _times(decisive) if decisive else ["", ""]
    rows = [[name, at, *times, *_numbers(curve.shown, as_factor), word_of(curve)]]
    if every_size and len(curve.sizes) > 1:
        rows += [
            ["", _place(size), *_times(size), *_numbers(size.ratio, as_factor), WORDS[size.verdict]]
            for size in curve.sizes
        ]
    elif also := _also(curve):
        rows.append(["", also, "", "", "", "", ""])
    return rows


def _also(curve: CurveRatio) -> str:
    """The number of further sizes with the curve's verdict."""
    kind = "slower" if curve.verdict == "mixed" else curve.verdict
    further = sum(
        size.verdict == kind and size is not curve.decisive
        for size in curve.sizes
        if kind in ("slower", "faster")
    )
    return f"and {count(further, 'other size')}" if further and curve.decisive else ""


def _place(size: SizeRatio) -> str:
    return format_size(size.size_bytes)


def _times(size: SizeRatio) -> list[str]:
    return [format_time(size.a_s), format_time(size.b_s)]


def _numbers(ratio: Ratio, as_factor: bool) -> list[str]:
    """The change and its interval, in the unit of the whole column."""
    return [
        change(ratio.ratio, as_factor=as_factor),
        change_span(ratio.ratio, ratio.low, ratio.high, as_factor=as_factor),
    ]


COLOURS = {"regression": "red", "incomplete": "red", "unclear": "yellow", "no regression": "green"}


def show_effects(
    console: Console,
    check: CheckedRun,
    run: Run,
    every_size: bool = False,
    notes: Sequence[str] = (),
    heading: str = "",
) -> None:
    """Print what can be told, the curves that changed, surest first, `notes`, and the finding.

    The first line begins with `heading`. `run` is the one to extend where launches are too few.
    """
    from nhalf.decide.check.promise import UNVERIFIED
    from nhalf.decide.check.verdict import finding, open_curves, unmeasured

    comparison = check.comparison
    if comparison is not None:
        lost = open_curves(check)
        show_changes(
            console,
            comparison,
            run=str(run.path),
            lost=lost,
            every_size=every_size,
            launch_s=launch_interval_s(run),
            heading=heading,
        )
    else:
        print_lines(console, heading)
    print_lines(console, *(f"{name}: not measured" for name in unmeasured(check)))
    wrong = [
        point for answer in check.answers for point in answer.points if point.reason == UNVERIFIED
    ]
    print_lines(console, *(f"{format_place(point.point)}: {point.reason}" for point in wrong))
    print_lines(console, *notes, style="dim")
    if comparison is not None:
        print_lines(console, tolerance_words(comparison), style="dim")
    verdict = finding(check)
    console.print(verdict, style=f"bold {COLOURS[verdict]}")


STYLES = {
    "slower": "red",
    "longer": "red",
    "faster": "green",
    "mixed": "yellow",
    "equal": "cyan",
    "unclear": "dim",
}
MISSING_MAX = 8


def show_comparison(
    console: Console,
    comparison: Comparison,
    *,
    names: tuple[str, str],
    run: Run,
    lost: Sequence[tuple[str, Doubt]] = (),
    every_size: bool = False,
) -> None:
    """Print the changes, the notes, what cannot be compared, and the verdict.

    `names` are those of A and B, `run` is B's, to be extended.
    """
    curves = comparison.curves
    pairs = {(curve.mpi_a, curve.mpi_b) for curve in curves}
    is_one_run = names[0] == names[1]
    before, now = ("A", "B") if is_one_run else names
    if is_one_run and len(pairs) == 1 and len(set(*pairs)) == 2:
        ((before, now),) = pairs
    sides = (before, now) if is_one_run else BASELINE
    show_changes(
        console,
        comparison,
        run=str(run.path),
        lost=lost,
        sides=sides,
        every_size=every_size,
        launch_s=launch_interval_s(run),
    )
    print_lines(console, *(f"{sentence(note)}." for note in comparison.notes))
    missing = comparison.not_comparable
    for entry in missing[:MISSING_MAX]:
        listed = few([format_size(size) for size in entry["bytes"]], 6)
        group = f"{entry['pattern']} of {entry['mpi'] or entry['transport']}, {entry['reason']}"
        console.print(f"not compared: {group}: {listed}", style="dim", markup=False)
    if len(missing) > MISSING_MAX:
        further = len(missing) - MISSING_MAX
        console.print(f"not compared: {further} further groups (all with --json)")
    words = f"{_sentence(comparison, before, now)} {tolerance_words(comparison)}"
    console.print(words, soft_wrap=True)


def _sentence(comparison: Comparison, before: str, now: str) -> str:
    """The verdict with its colour; one library of a run has no name without the other."""
    verdict: str = comparison.verdict
    if verdict == "slower" and not any(curve.worse == "worse" for curve in comparison.curves):
        verdict = "longer"
    if verdict == "unclear":
        between = "" if before == "A" else f" between {escape(before)} and {escape(now)}"
        return f"[bold {STYLES[verdict]}]No significant difference[/]{between}."
    return f"{escape(now)} is [bold {STYLES[verdict]}]{escape(_words(verdict, before))}[/]."


def _words(verdict: str, standard: str) -> str:
    return {
        "slower": f"slower than {standard}",
        "longer": f"slower than {standard} in its slowest samples",
        "faster": f"faster than {standard}",
        "mixed": f"slower than {standard} in places and faster in others",
        "equal": f"as fast as {standard}",
    }[verdict]


def show_ratios(comparison: Comparison) -> None:
    """Print every size of every curve as one table of plain numbers."""
    rows = [
        [
            *(curve.mpi_a, curve.mpi_b, *curve.point.values(), size.size_bytes, curve.launches),
            *(size.a_s, size.b_s, size.ratio.ratio, size.ratio.low, size.ratio.high, size.verdict),
        ]
        for curve in comparison.curves
        for size in curve.sizes
    ]
    columns = ["bytes", "launches", "a_s", "b_s", "ratio", "ci_low", "ci_high", "verdict"]
    head = ["mpi_a", "mpi_b", *COMPARED_CURVE, *columns]
    show_table(head, [[raw_text(value) for value in row] for row in rows])


def show_several(console: Console, names: Sequence[str], comparisons: Sequence[Comparison]) -> None:
    """Print a row for each curve, a column for each run compared with the first of `names`."""
    columns = [{_key(curve): curve for curve in comparison.curves} for comparison in comparisons]
    curves = {key: curve for column in columns for key, curve in column.items()}
    titles = curve_names([{**curve.point, "mpi": curve.title} for curve in curves.values()])
    rows = [
        [name, *(_cell(column[key]) if key in column else MISSING for column in columns)]
        for name, key in zip(titles, curves, strict=True)
    ]
    widest = max(comparisons, key=lambda comparison: comparison.detectable_ratio)
    heading = f"Change from {names[0]}. {resolution_words(widest)}".rstrip(". ")
    print_lines(console, f"{heading}.")
    show_table(["curve", *names[1:]], rows)
    for note in dict.fromkeys(note for comparison in comparisons for note in comparison.notes):
        print_lines(console, f"{sentence(note)}.")
    for name, comparison in zip(names[1:], comparisons, strict=True):
        console.print(_sentence(comparison, names[0], name))
    console.print(
        f"{tolerance_words(comparisons[0])} Compare two runs to see intervals and sizes.",
        style="dim",
        soft_wrap=True,
    )


def _key(curve: CurveRatio) -> tuple[str, ...]:
    return (curve.mpi, *map(str, curve.point.values()))


def _cell(curve: CurveRatio) -> str:
    """'+25.1 % slower', or '22x at 4 MiB slower'."""
    place = f" at {format_size(curve.decisive.size_bytes)}" if curve.decisive else ""
    return f"{change(curve.shown.ratio)}{place} {word_of(curve)}"
