"""How much a traced program tolerates, in words and as tables of its curves."""

from collections.abc import Iterator, Sequence

from nhalf.base.numbers import format_number, percent, span
from nhalf.base.units import format_time
from nhalf.decide.program import slowdown
from nhalf.decide.program.tolerance_curves import LOSS, ToleranceCurve, is_long, tolerances
from nhalf.facts.program.program import Program
from nhalf.present.terminal.output import stdout_console
from nhalf.present.terminal.tables import show_table

TITLES = {
    slowdown.LATENCY: "latency of each message",
    slowdown.OVERHEAD: "overhead at either end of a message",
    slowdown.BYTE: "time of each byte",
    slowdown.NOISE: "noise in computing",
    slowdown.SLOW_NODE: "computing of one node",
}
"""What grows, by its name."""
SLACK = {
    slowdown.LATENCY: "latency +{}",
    slowdown.OVERHEAD: "overhead at either end +{}",
    slowdown.BYTE: "+{} per byte",
    slowdown.NOISE: "noise in computing +{}",
    slowdown.SLOW_NODE: "computing on {ranks} alone +{}",
}
SLOPES = {
    slowdown.LATENCY: "messages on the path",
    slowdown.OVERHEAD: "overheads on the path",
    slowdown.BYTE: "bytes on the path",
    slowdown.NOISE: "s of it on the path",
    slowdown.SLOW_NODE: "s of it on the path",
}
"""What the slope of a curve counts."""
BARS = 12
COVERS = (
    "Intervals cover the error of the replay, how many messages operations of several ranks may "
    "have one after the other, and other rounds of what the program repeats; not a library that "
    "chooses other algorithms on a slower network."
)


def amount_text(parameter: str, added: float) -> str:
    """'3.1 µs', or '1.2 %' of computing."""
    return format_time(added) if parameter.endswith("_s") else percent(added, None)


def tolerance_lines(program: Program) -> Iterator[str]:
    """What may grow by how much before LOSS is lost, in one line; none if nothing costs that.

    Of a long timeline it says who tells that.
    """
    if is_long(program):
        yield "How slow a network it tolerates takes a while: nhalf show TRACE --tolerance"
        return
    added = {tolerance.parameter: tolerance.added for tolerance in tolerances(program)}
    tolerated = {
        name: amount for name in slowdown.PARAMETERS if (amount := added.get(name)) is not None
    }
    slow_ranks = slowdown.Slowdown(program).slow_ranks if slowdown.SLOW_NODE in tolerated else ()
    *parts, last = [
        SLACK[name].format(amount_text(name, amount), ranks=_ranks_text(slow_ranks))
        for name, amount in tolerated.items()
    ] or [""]
    if last:
        either = f"{', '.join(parts)}, or {last}" if parts else last
        yield f"Slack before the run is {percent(LOSS)} slower: {either}"


def _ranks_text(ranks: Sequence[int]) -> str:
    numbers = ", ".join(map(str, ranks[:4])) + (", …" if len(ranks) > 4 else "")
    return f"rank {numbers}" if len(ranks) == 1 else f"ranks {numbers}"


def show_curves(program: Program, drawn: Sequence[ToleranceCurve]) -> None:
    """Print a table for each curve, and what its intervals cover."""
    console = stdout_console()
    alone_s, measured_s = drawn[0].measured_s, program.elapsed_s
    words = f"{program.command}: {format_time(alone_s)}"
    if alone_s < measured_s:
        words += f" with a processor for each rank ({format_time(measured_s)} as traced)"
    console.print(words, markup=False, soft_wrap=True)
    for curve in drawn:
        console.print(f"\n{_headline(curve)}", markup=False, soft_wrap=True)
        if curve.points:
            show_table(*_table(curve))
    console.print(f"\n{COVERS}", markup=False, style="dim")


def _headline(curve: ToleranceCurve) -> str:
    title = TITLES[curve.parameter]
    if curve.parameter == slowdown.SLOW_NODE:
        title += f" ({_ranks_text(curve.slow_ranks)})"
    title = title[0].upper() + title[1:]
    if curve.tolerated is None:
        return f"{title}: no amount costs {percent(LOSS)}"
    low, high = (
        "?" if end is None else amount_text(curve.parameter, end)
        for end in (curve.tolerated_low, curve.tolerated_high)
    )
    tolerated = amount_text(curve.parameter, curve.tolerated)
    words = f"{title} may grow by {tolerated} ({low} to {high}) before {percent(LOSS)} is lost"
    if curve.bends:
        listed = ", ".join(amount_text(curve.parameter, bend) for bend in curve.bends[:4])
        words += f"; the longest path changes at {listed}{', …' if curve.bends[4:] else ''}"
    return words


def _table(curve: ToleranceCurve) -> tuple[tuple[str, ...], list[list[str]]]:
    most_s = max(point.time_s for point in curve.points) - curve.measured_s
    rows = []
    for point in curve.points:
        lost_s = point.time_s - curve.measured_s
        bar = "█" * round(BARS * lost_s / most_s) if most_s > 0 else ""
        rows.append(
            [
                f"+{amount_text(curve.parameter, point.added)}",
                format_time(point.time_s),
                span(point.low_s, point.high_s, format_time),
                percent(lost_s / curve.measured_s, 1, signed=True),
                format_number(point.slope),
                bar,
            ]
        )
    columns = ("added", "run time", "interval", "lost", SLOPES[curve.parameter], "")
    return columns, rows
