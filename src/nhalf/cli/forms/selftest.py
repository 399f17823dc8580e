"""`nhalf doctor --selftest`: how often are our own statistics right?"""

from dataclasses import asdict, dataclass
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.base.request import option, word
from nhalf.cli.lazy import lazily
from nhalf.cli.options import TableOptions
from nhalf.cli.sides import announce, facts_of, print_skipped, readable
from nhalf.present.terminal.output import console, emit_json, stdout_console

with lazily(globals()):
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from nhalf.experiment.selftest.selftest import SelfTest, selftest
    from nhalf.experiment.selftest.simulated_nights import resampled_nights
    from nhalf.present.terminal.resampled_nights import show_rates

NIGHTS_LEAST = 2
WORDS = {
    "truth_in_interval": "interval of one run holds the true median",
    "relative_error_median": "error of the reported value, median",
    "relative_bias": "error of the reported value, mean",
    "half_width_median": "half width of the interval, median",
    "within_target": "points whose interval is within 3 %",
    "bimodal_found": "points where the two states are noticed",
    "lasting_states_covered_2": "covered where states outlast launches unseen, 2 launches",
    "lasting_states_covered_3": "the same, 3 launches",
    "lasting_states_covered_5": "the same, 5 launches",
    "night_detected_differing_0.02": "1.25x of one curve named first, launches differ by 2 %",
    "night_detected_differing_0.05": "the same, by 5 %",
    "night_detected_differing_0.10": "the same, by 10 %",
    "night_detected_differing_0.15": "the same, by 15 %",
    "lasting_states_noticed": "points of 5 launches where such states are noticed",
}


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions, heading="How much"):
    """The number of simulated runs, and their seed."""

    kept_runs: tuple[Path, ...] = word(
        (), "Draw nights from these runs, of one machine, instead of simulating.", "RUN..."
    )
    runs: int = option(1000, "Simulated runs, or ten times the nights drawn from RUNs.")
    seed: int = option(1, "Seed of the random numbers.", least=0)


def command(request: Request) -> int:
    """Test the statistics where the truth is known: coverage, false alarms, power.

    With RUNs, nights are drawn from their launches: what a comparison on their machine would find
    with more launches. Two or more runs of one study are compared with each other as they are.

    nhalf doctor --selftest
    nhalf doctor --selftest runs/today
    nhalf doctor --selftest runs/2026-*
    """
    if request.kept_runs:
        return _of_kept(request)
    words = console()
    if words.is_terminal:
        with words.status(f"simulating {request.runs} runs"):
            result = selftest(request.runs, request.seed)
    else:
        result = selftest(request.runs, request.seed)
    if request.json:
        emit_json(result.as_json())
    else:
        _show(stdout_console(), result)
    return 0 if result.held else 1


def _of_kept(request: Request) -> int:
    """Print what nights that are drawn from kept runs find; the exit code is as of reports."""
    runs, unreadable = readable(request.kept_runs)
    print_skipped(unreadable.values())
    facts = facts_of(runs)
    is_wrong = announce(facts, request)
    nights = max(NIGHTS_LEAST, request.runs // 10)
    rates = resampled_nights(facts, nights, request.seed)
    if request.json:
        skipped = [{"run": run, "reason": reason} for run, reason in unreadable.items()]
        names = [str(path) for path in runs]
        emit_json({"runs": names, "skipped": skipped, "rates": list(map(asdict, rates))})
    else:
        show_rates(stdout_console(), rates, len(facts.environments))
    return 1 if is_wrong else InputError.exit_code if unreadable else 0


def _show(out: Console, result: SelfTest) -> None:
    """Print the promises as a table, then further figures."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("what we promise")
    for name in ("promised", "found", "trials"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for check in result.checks:
        table.add_row(
            check.claim,
            f"{check.low * 100:.3g} to {check.high * 100:.3g} %",
            f"{check.value * 100:.2f} %",
            str(check.trials),
            "[green]held[/]" if check.held else "[bold red]broken[/]",
        )
    out.print(table)
    for name, words in WORDS.items():
        out.print(f"{words}: {result.information[name] * 100:.2f} %")
    time_s = result.information["time_to_accuracy_s"]
    samples = result.information["samples_per_point"]
    out.print(f"effort for a point: {time_s * 1e3:.3g} ms of simulated time, {samples:.0f} samples")
