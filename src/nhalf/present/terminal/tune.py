"""What `nhalf tune` puts on a terminal: what wins where, the proof, and how to use the file."""

import math
import shlex

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nhalf.base.listing import listed
from nhalf.base.numbers import fixed, percent, share_span, span, times
from nhalf.base.units import format_size, format_time
from nhalf.decide.changes import CurveRatio
from nhalf.decide.criteria import IN_WORDS
from nhalf.decide.ways import COMPLETION
from nhalf.experiment.race import AlgorithmGain
from nhalf.experiment.tune.bench import LibraryBench
from nhalf.experiment.tune.outcome import Checked, Tuned
from nhalf.experiment.tune.prove import Activity
from nhalf.facts.reported import SettingWitness
from nhalf.mpi.decision_table import choice
from nhalf.present.terminal.tables import house_table

COLOURS = {"slower": "red", "faster": "green", "mixed": "yellow", "equal": "cyan", "unclear": "dim"}


def show_tuned(console: Console, bench: LibraryBench, tuned: Tuned) -> None:
    """Print the winners, the proof, the comparison and the file."""
    cells, undecided = len(tuned.search.screening), len(tuned.search.undecided)
    cells_text = "1 cell" if cells == 1 else f"{cells} cells"
    if bench.machine:
        console.print(f"{bench.library.title}, {bench.machine.host}", markup=False)
    _show_criterion(console, bench)
    if not tuned.search.won:
        result = (
            "nothing is decided"
            if 0 < cells == undecided
            else "no algorithm is significantly and sufficiently faster than its own choice, in "
            f"{cells_text}"
        )
        console.print(f"{bench.library.title}: {result}; no file is written", markup=False)
    else:
        console.print(_winners(tuned))
    if undecided:
        console.print(
            f"not decided within the time: {undecided} of {cells_text}; give a longer --budget",
            markup=False,
            style="yellow",
        )
    if tuned.curves:
        console.print(_trial(tuned.curves))
    removed = [(cell, "", "is slower with the file") for cell in tuned.refuted]
    removed += [(cell, "the rule for ", "has no effect in the file") for cell in tuned.unapplied]
    for cell, subject, reason in removed:
        place = f"{cell.operation} of {format_size(cell.size_bytes)} on {cell.ranks} ranks"
        console.print(f"removed: {subject}{place} {reason}", markup=False, style="yellow")
    if tuned.activity or tuned.search.won:
        _show_activity(console, bench, tuned.activity)
    _show_witness(console, bench, tuned.witness)
    for text in bench.notes[:4]:
        console.print(text, markup=False, style="yellow")
    if tuned.search.won and not tuned.path:
        console.print("no rules are left: no file is written", style="yellow")
    if tuned.path:
        console.print(f"\nfile  {tuned.path}", markup=False, soft_wrap=True)
        _show_use(console, tuned.variables)
    console.print(f"runs  {bench.folder}", markup=False, soft_wrap=True)


def show_checked(console: Console, bench: LibraryBench, checked: Checked) -> None:
    """Print the rules, the proof and the comparison."""
    _show_criterion(console, bench)
    for rule in checked.rules:
        console.print(rule.line, markup=False)
    if bench.tuner.note:
        console.print(f"note: {bench.tuner.note}", markup=False, soft_wrap=True)
    console.print(_trial(checked.curves))
    _show_activity(console, bench, checked.activity)
    _show_witness(console, bench, checked.witness)
    _show_use(console, checked.variables)


def _show_criterion(console: Console, bench: LibraryBench) -> None:
    """Print by which time algorithms are compared, unless by the usual one."""
    if bench.criterion != COMPLETION:
        console.print(f"by {IN_WORDS[bench.criterion]}")


def _winners(tuned: Tuned) -> Table:
    table = house_table("operation", "ranks", "bytes", "algorithm", "saves", "95 %", "launches")
    for cell in sorted(tuned.search.won):
        chosen = choice(tuned.rules, *cell)
        gains = tuned.search.won[cell]
        gain: AlgorithmGain = next(
            (candidate for candidate in gains if candidate.algorithm == chosen), gains[0]
        )
        low, high = (1 - math.exp(-end) for end in (gain.low, gain.high))
        table.add_row(
            cell.operation,
            str(cell.ranks),
            format_size(cell.size_bytes),
            escape(gain.algorithm),
            percent(gain.share),
            share_span(low, high) if gain.launches > 1 else "exact",
            str(gain.launches),
        )
    return table


def _trial(curves: list[CurveRatio]) -> Table:
    """Make a table of default against tuned times, a line for every cell."""
    table = house_table(
        "operation", "ranks", "bytes", "default", "tuned", "ratio", "interval", "verdict"
    )
    for curve in curves:
        for size in curve.sizes:
            ratio = size.ratio
            colour = COLOURS[size.verdict]
            table.add_row(
                escape(curve.point["pattern"]),
                str(curve.point["ranks"]),
                format_size(size.size_bytes),
                format_time(size.a_s),
                format_time(size.b_s),
                fixed(ratio.ratio, 2),
                span(ratio.low, ratio.high, times),
                f"[{colour}]{size.verdict}[/]",
            )
    return table


def _show_activity(console: Console, bench: LibraryBench, activity: Activity | None) -> None:
    """Print whether the library applies the file, and the evidence."""
    if activity is None:
        console.print(
            "not proven: no algorithm is slow enough to show that rules are applied", style="yellow"
        )
        return
    cell = activity.cell
    times = [format_time(time_s) for time_s in (activity.default_s, activity.bad_rule_s)]
    forced = format_time(activity.forced_s)
    console.print(
        f"{bench.library.name}: {activity.verdict}. {cell.operation} of "
        f"{format_size(cell.size_bytes)} on {cell.ranks} ranks takes {times[0]}, with a bad rule "
        f"{times[1]}, forced {forced}: {activity.why}",
        markup=False,
        style="green" if activity.verdict == "active" else "yellow",
    )


def _show_witness(console: Console, bench: LibraryBench, witness: SettingWitness | None) -> None:
    """Print what the library itself says of the file's variables."""
    if witness is None:
        return
    name = bench.library.name
    confirmed_text = (
        f"{name} itself reports {listed(list(witness.confirmed_values))} as set (MPI_T)"
    )
    texts = {
        "taken": confirmed_text,
        "in part": f"{confirmed_text}; of {listed(witness.silent_variables)} it does not say",
        "not taken": "; ".join(
            f"{name} itself reports {value or 'nothing'} for {variable} (MPI_T): it did not take "
            "effect"
            for variable, value in witness.other_values.items()
        ),
        "silent": f"{name} does not say whether it took the file's variables (MPI_T)",
    }
    style = {"taken": "green", "not taken": "yellow"}.get(witness.verdict, "dim")
    console.print(texts[witness.verdict], markup=False, style=style)


def _show_use(console: Console, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        console.print(f"  export {name}={shlex.quote(value)}", markup=False, soft_wrap=True)
