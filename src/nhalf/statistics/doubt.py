"""Why a comparison of launches cannot be decided, and what would decide it."""

from collections.abc import Sequence
from dataclasses import dataclass

ADD = "add launches: "
MORE_LAUNCHES = 12
"""Enough to find a change of 1.25 in nine nights of ten on an idle machine."""


@dataclass(frozen=True)
class Doubt:
    """A reason against a verdict, and a remedy, in which RUN stands for the run to extend.

    `form` has `number` for {}. The doubt `is_general` if it holds whatever the interval says.
    `launches` are those that the remedy names, if they follow from the interval.
    """

    form: str = ""
    remedy: str = ""
    number: int = 0
    is_general: bool = True
    launches: int = 0

    @property
    def reason(self) -> str:
        """The reason in words."""
        return self.form.format(self.number)

    @property
    def wants_launches(self) -> bool:
        """Whether further launches of the later run can remove it."""
        return self.remedy.startswith(ADD)


CERTAIN = Doubt(is_general=False)
"""No reason against a verdict."""


def shared_reason(doubts: Sequence[Doubt]) -> str:
    """The reason of several doubts of one form: '3 to 5 launches leave it open'."""
    numbers = sorted(doubt.number for doubt in doubts)
    least, most = numbers[0], numbers[-1]
    return doubts[0].form.format(least if least == most else f"{least} to {most}")


def shared_remedies(doubts: Sequence[Doubt]) -> list[str]:
    """Each remedy once; of those that differ in launches alone, that with most, for all curves.

    Where launches decide some curves, the others are looked at again after them.
    """
    most = max((doubt.launches for doubt in doubts), default=0)
    remedies = dict.fromkeys(
        doubt.remedy for doubt in doubts if doubt.remedy and doubt.launches in (0, most)
    )
    return [remedy for remedy in remedies if remedy != TOO_FINE or not most]


def few_launches(launches: int, launches_min: int) -> Doubt:
    """Too few launches for any verdict."""
    return Doubt(f"launches: {{}}, at least {launches_min} are needed", MORE, launches)


def wide_interval(launches: int, deciding: int | None = None) -> Doubt:
    """An interval that contains the tolerance.

    `deciding` is the number of launches of the later side at which it would not, if it went on as
    before; 0 if no number is enough, None if that is unknown.
    """
    form = "{} launches leave it open"
    if deciding == 0:
        return Doubt(form, TOO_FINE, launches, is_general=False)
    if deciding is None:
        remedy = MORE if launches < MORE_LAUNCHES else more(2 * launches)
        return Doubt(form, remedy, launches, is_general=False)
    return Doubt(form, more(deciding), launches, is_general=False, launches=deciding)


def unknown_state(share: float) -> Doubt:
    """Other processes used the cores, so that flags were not answered."""
    form = "the state of the machine is unknown for {} % of the measurements"
    return Doubt(form, f"keep other processes off the cores; {MORE}", round(share * 100))


def more(launches: int) -> str:
    """The command that adds launches."""
    return f"{ADD}nhalf run --resume RUN --launches {launches}"


MORE = more(MORE_LAUNCHES)
TOO_FINE = (
    "more launches of this run alone are not enough: measure both runs again with more, or raise "
    "--tolerance"
)

UNFLAGGED = Doubt(
    "the machine changed between states, and no flag tells in which this curve was measured",
    "measure again at a time without other load",
)
DISTURBED = Doubt(
    "most of its samples were disturbed, and the fastest ones show no change",
    "keep other processes off the cores and measure again",
    is_general=False,
)
DIFFERENT_STATES = Doubt(
    "the machine was in different states",
    "add launches at another time: nhalf run --resume RUN --budget 1m",
)
LOCK = "lock the clock for both runs (nvidia-smi --lock-gpu-clocks, as root) and measure again"


def moving_clock(share: float) -> Doubt:
    """The clock of the GPU was not the same before and after points, or it was not told."""
    form = "the GPU's clock moved, or is unknown, in {} % of the measurements"
    return Doubt(form, LOCK, round(share * 100))


def different_clocks(before_hz: float, now_hz: float) -> Doubt:
    """The GPU ran at another clock in the later run."""
    clocks = f"{before_hz / 1e6:.0f} to {now_hz / 1e6:.0f} MHz"
    return Doubt(f"the GPU's clock went from {clocks} between the runs", LOCK)
