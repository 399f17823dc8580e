"""What `nhalf why` puts on a terminal: the answer, its evidence, and what was not tried."""

import math
from collections.abc import Sequence

from rich.console import Console

from nhalf.base.listing import few, listed
from nhalf.base.numbers import change, fixed
from nhalf.base.units import format_time
from nhalf.experiment.why.explanation import Explanation, Investigation
from nhalf.experiment.why.proof import Proof
from nhalf.experiment.why.switch import Ways
from nhalf.present.terminal.output import print_lines
from nhalf.present.terminal.tables import add_literal, house_table, print_table
from nhalf.statistics.intervals import Interval

LISTED_MOST = 12
WORDS_MOST = 60
PAIRS_LEAST = 2
"""One pair of launches says nothing of how launches differ."""
NOTHING = 0.05
"""A share up to this is called nothing."""


def show_explanation(console: Console, explained: Explanation) -> None:
    """Print the answer, the table of what was named, and what was not tried."""
    print_lines(console, *_answer(explained))
    for cause in explained.causes:
        _show_cause(console, explained, cause)
    _show_limits(console, explained)


def show_differences(console: Console, ways: Ways) -> None:
    """Print all differences: what can be switched, and what cannot."""
    table = house_table("difference", "A", "B", "switch")
    for switch in ways.switches:
        add_literal(table, switch.name, _short(switch.a), _short(switch.b), "yes")
    for switch in ways.not_tried:
        add_literal(table, switch.name, _short(switch.a), _short(switch.b), "no")
    if not table.row_count:
        console.print("A and B do not differ in anything that is recorded", markup=False)
        return
    print_table(table, console)


def progress_text(investigation: Investigation) -> str:
    """Where a search is, in one line."""
    suspicion = investigation.suspicion
    if investigation.is_different is None:
        return "do A and B differ?"
    if suspicion.within:
        return f"the effect is among {len(suspicion.within)} differences"
    switches = investigation.switches
    suspects = ", ".join(switches[number].name for number in sorted(suspicion.together))
    return f"proving {suspects}" if suspects else "searching"


def _answer(explained: Explanation) -> list[str]:
    verdict = explained.verdict
    if verdict == "equal":
        return [_equal(explained)]
    first = _difference(explained)
    if verdict == "explained":
        causes = [_carries(explained, cause) for cause in explained.causes]
        either = ["each of these sets is enough by itself"] if len(causes) > 1 else []
        return [first, *causes, *either]
    if verdict == "unexplained":
        return [first, "none of what can be switched explains it"]
    reason = explained.why_ended or "not finished"
    suspects = ", ".join(switch.name for switch in explained.suspected)
    within = [f"suspected, not proven: {suspects}"] if suspects else []
    return [first, f"not answered: {reason}", *within]


def _equal(explained: Explanation) -> str:
    if not explained.ways.switches:
        return "A and B are the same: nothing differs that can be switched"
    ratio = explained.ratio
    if ratio is None or explained.ways.are_exact:
        return f"A and B do not differ: both take {format_time(explained.a_s)}"
    answer = "A and B do not differ" if explained.is_within_least else "no difference is shown"
    return (
        f"{answer}: {format_time(explained.a_s)} and {format_time(explained.b_s)}, "
        f"ratio {_between(ratio)} over {explained.launches // 2} launches of each"
    )


def _difference(explained: Explanation) -> str:
    """How A and B differ, measured now and in their records."""
    ratio, ways = explained.ratio, explained.ways
    recorded = (
        ""
        if ways.recorded_ratio is None
        else f"as recorded in both runs {change(ways.recorded_ratio)}"
    )
    if ratio is None:
        return f"B against A: {recorded or 'not compared'}"
    seconds = f"{format_time(explained.a_s)} → {format_time(explained.b_s)}"
    if ways.are_exact:
        text = f"B against A: {change(ratio.median)} ({seconds}; {ways.timed})"
    elif explained.launches // 2 < PAIRS_LEAST:
        text = f"which is slower is not known from one pair of launches ({seconds}; {ways.timed})"
    elif ratio.covers(1.0):
        text = (
            f"which is slower is not known: launches of one side differ too much ({seconds}, "
            f"ratio {_between(ratio)}; {ways.timed})"
        )
    else:
        evidence = f"{seconds}, ratio {_between(ratio)}; {ways.timed}"
        text = f"B against A: {change(ratio.median)} ({evidence})"
    return f"{text}; {recorded}" if recorded else text


def _carries(explained: Explanation, cause: Proof) -> str:
    members = cause.largest_first
    switches = [switch for member in members for switch in explained.named(member.switches)]
    joined = listed([_short(switch.as_in_b) for switch in switches])
    verb = "carries" if len(switches) == 1 else "carry"
    together = " only together" if cause.is_joint else ""
    text = f"{joined}{together} {verb} {_share(cause.share)} of the difference"
    if cause.remainder_share is None:
        return text
    remainder = cause.remainder_share
    is_nothing = abs(remainder.median) <= NOTHING and remainder.covers(0.0)
    amount = "nothing" if is_nothing else _share(remainder)
    return f"{text}; everything else {amount}"


def _show_cause(console: Console, explained: Explanation, cause: Proof) -> None:
    rounds = "exact" if explained.ways.are_exact else f"{cause.rounds} rounds"
    table = house_table("switch", "A", "B", "its share", "its effect", "proof")
    for member in cause.largest_first:
        proof = "needed to run" if member.is_only_needed else rounds
        effect = change(member.ratio.median) if member.ratio else "–"
        for switch in explained.named(member.switches):
            sides = _short(switch.a), _short(switch.b)
            add_literal(table, switch.name, *sides, _share(member.share), effect, proof)
    table.add_row("everything else", "", "", _share(cause.remainder_share), "", rounds)
    print_table(table, console)
    if not explained.ways.are_exact:
        print_lines(
            console,
            f"proof: {cause.launches} launches in turns, apart from those of the search "
            f"({explained.launches} in all, {explained.mixtures} mixtures); at most 1 % of "
            "searches name a difference without an effect",
        )


def _show_limits(console: Console, explained: Explanation) -> None:
    """Print what was not tried, and which mixtures do not run."""
    not_tried = [
        f"{switch.name} ({_short(switch.title_of_sides)})" for switch in explained.ways.not_tried
    ]
    if not_tried:
        print_lines(console, f"not tried: {_listed(not_tried)}")
    if explained.does_not_run:
        switches, reason = explained.does_not_run[0]
        names = _listed([switch.name for switch in switches])
        print_lines(
            console,
            f"{len(explained.does_not_run)} mixtures do not run, first that with {names} of B: "
            f"{_short(reason)}",
        )


def _listed(texts: Sequence[str]) -> str:
    return few(texts, LISTED_MOST) + " (all with --json)" * (len(texts) > LISTED_MOST)


def _share(interval: Interval | None) -> str:
    """'0.97 [0.94, 1.01]', or '0.97' if it is exact."""
    if interval is None or not math.isfinite(interval.median):
        return "an unknown part"
    middle = _hundredths(interval.median)
    if interval.high - interval.low < 5e-4:
        return middle
    return f"{middle} [{_hundredths(interval.low)}, {_hundredths(interval.high)}]"


def _hundredths(share: float) -> str:
    """'0.97', and '0.00' for what is rounded to it from below."""
    return fixed(round(share, 2) + 0.0, 2)


def _between(interval: Interval) -> str:
    return f"{fixed(interval.median, 3)} [{fixed(interval.low, 3)}, {fixed(interval.high, 3)}]"


def _short(text: str) -> str:
    return text if len(text) <= WORDS_MOST else f"{text[: WORDS_MOST - 1]}…"
