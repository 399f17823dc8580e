"""An estimate from source in words: the time, what decides it, and what is not in it."""

from collections.abc import Iterator

from rich.console import Console

from nhalf.base.numbers import fixed, percent, whole
from nhalf.base.units import format_size, format_time
from nhalf.decide.engine_names import SIMGRID
from nhalf.decide.estimate.estimate import Estimate, Part
from nhalf.decide.estimate.formula import Formula, Term
from nhalf.present.terminal.output import print_lines
from nhalf.present.terminal.tables import add_literal, house_table, print_table
from nhalf.present.wording import count

CONSTANT = 0.02
"""A smaller exponent is none."""
TERMS_MOST = 6
DECIDES = {
    "computing": "computing",
    "latency": "latency of messages",
    "bandwidth": "bandwidth of messages",
}
NOT_IN_IT = (
    "input and output, what the library does for itself, statements outside loops, jumps that are "
    "not foreseen, and memory that is touched for the first time"
)


def show_estimate(console: Console, estimate: Estimate) -> None:
    """Print the headline, a line for each part, and what is left out."""
    names = list(estimate.exponent_per_name)
    print_lines(console, *_headline(estimate))
    table = house_table(
        *("part", "line", "count", "bytes", "time", "share"), *(f"with {name}" for name in names)
    )
    for part in estimate.parts:
        add_literal(table, *_cells(part, names))
    print_table(table, console)
    print_lines(console, *_notes(estimate))


def _headline(estimate: Estimate) -> Iterator[str]:
    numbers = "".join(f", {name} = {number}" for name, number in estimate.numbers.items())
    on = f"{count(estimate.ranks, 'rank')} of {estimate.machine}"
    computed = f", {estimate.processor}" if estimate.processor else ""
    yield f"{estimate.program} on {on}{computed}{numbers}: {_time(estimate)}"
    most = estimate.decided_by
    if most is not None:
        yield f"  {most.name} in line {most.line} takes {percent(most.share)} of it"
    growth = ", ".join(
        f"{name}^{_exponent(number)}" for name, number in estimate.exponent_per_name.items()
    )
    yield f"  the time grows as {growth}, between half and twice of each"
    if estimate.formula:
        yield from _formula(estimate.formula)


def _formula(formula: Formula) -> Iterator[str]:
    """The formula with the error of its fit, and which kind of time decides where."""
    terms = " + ".join(map(_term, formula.terms[:TERMS_MOST]))
    more = " + …" if len(formula.terms) > TERMS_MOST else ""
    yield (f"  T = {terms}{more}, within {percent(formula.error, 1)} at {formula.points} points")
    beyond = (
        f"{DECIDES[kind]} from {name} = {number} {'on' if is_above else 'down'}"
        for name, number, is_above, kind in formula.beyond
    )
    yield f"  {', '.join([f'{DECIDES[formula.decides]} decides', *beyond])}"


def _term(term: Term) -> str:
    """'4.5 ns n/ranks'."""
    above, below = list[str](), list[str]()
    for name, (power, stages) in term.powers:
        size = abs(power)
        root = "" if size == 1 else f"^{size:g}"
        if power:
            (above if power > 0 else below).append(f"{name}{root}")
        above += [f"log2({name})"] * stages
    over = f"/{'/'.join(below)}" if below else ""
    growth = f" {'·'.join(above) or '1'}{over}" if term.powers else ""
    return f"{format_time(term.factor_s)}{growth} ({term.kind})"


def _time(estimate: Estimate) -> str:
    time = format_time(estimate.time_s)
    low = format_time(estimate.low_s)
    if estimate.high_s is None:
        return f"{time} ({low} or more)"
    high = format_time(estimate.high_s)
    return time if low == high else f"{time} ({low} to {high})"


def _exponent(number: float | None) -> str:
    if number is None:
        return "?"
    return fixed(number, 2) if abs(number) > CONSTANT else "0"


def _cells(part: Part, names: list[str]) -> list[str]:
    growth = (part.exponent_per_name.get(name) for name in names)
    return [
        part.name,
        str(part.line) if part.line else "end",
        whole(part.count),
        format_size(part.size_bytes) if part.size_bytes else "",
        format_time(part.time_s),
        percent(part.share),
        *("–" if number is None else f"^{_exponent(number)}" for number in growth),
    ]


def _notes(estimate: Estimate) -> Iterator[str]:
    yield (
        f"rank {estimate.last_rank}, which ends last; time of calls includes waiting; "
        "^1 doubles where the number does"
    )
    if estimate.engine == SIMGRID:
        yield "the time of all is SimGrid's, those of parts are the model's"
    if not estimate.is_followed:
        yield "its messages are too many to be followed on the network: they share nothing of it"
    if estimate.high_s is None:
        yield (
            "computing is what the loops take in the order of the source, without vectors: it may "
            "take longer, and no upper end is known"
        )
    if estimate.guessed:
        yield f"guessed within a factor of 2: {', '.join(estimate.guessed)}"
    if estimate.forced:
        yield f"{count(estimate.forced, 'send')} would never end there without a buffer"
    for text in estimate.left_out:
        yield f"not counted: {text}"
    yield f"left out: {NOT_IN_IT}"
