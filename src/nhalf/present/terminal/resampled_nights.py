"""What nights that were drawn from kept runs found, as a table."""

from collections.abc import Sequence

from rich.console import Console

from nhalf.base.numbers import MISSING, percent, times
from nhalf.experiment.selftest.simulated_nights import PLANTED, TOLERANCE, NightRates
from nhalf.present.terminal.tables import headed_table
from nhalf.present.wording import count


def show_rates(out: Console, rates: Sequence[NightRates], runs: int) -> None:
    """Print a row for each number of launches, and what the nights are."""
    planted = f"{times(PLANTED)} found"
    table = headed_table("", "launches", "next run inside", "false alarms", planted, "first")
    for rate in rates:
        table.add_row(
            str(rate.launches),
            MISSING if rate.inside_share is None else percent(rate.inside_share, None),
            *(
                f"{number} of {rate.nights}"
                for number in (rate.alarms, rate.found_count, rate.first)
            ),
        )
    curves = count(max(rate.curves for rate in rates), "curve")
    tolerance = percent(TOLERANCE, None)
    of_one = "their launches are drawn from those of the run"
    of_several = f"each of {runs} runs against each other one, as they are"
    words = of_one if runs == 1 else of_several
    out.print(f"Nights of {curves}, at a tolerance of {tolerance}: {words}.", highlight=False)
    out.print(table)
    if runs == 1:
        out.print(
            "One run does not show what runs differ by beyond their launches; several runs do.",
            highlight=False,
        )
