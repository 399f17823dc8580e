"""Whether a node is as fast as in its own past: go, no-go or unsure, after short looks.

A few looks suffice where nothing is slower. What looks slower is looked at again for the rest of
the time, and only these later looks decide: what chance picked out is gone in them, and so is what
passed by. Slow while others have the cores is unsure.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from nhalf.base.listing import few
from nhalf.base.numbers import percent
from nhalf.decide.check.verdict import (
    UNDECIDED,
    Bounds,
    CheckedRun,
    JudgedExpectation,
    PointVerdict,
    Verdict,
)
from nhalf.node.all_cores import Look
from nhalf.node.all_pairs import common_host
from nhalf.statistics.intervals import Interval
from nhalf.statistics.rolling import FALSE_RATE, OCCASIONS_LEAST, PastRatio, against_past
from nhalf.store.gates import GateVerdict

LOOKS_LEAST = 3
PLURAL = re.compile(r"\b(messages|copies|launches)\b")
EXIT_CODES: Mapping[GateVerdict, int] = {"go": 0, "no-go": 1, "unsure": UNDECIDED}


@dataclass(frozen=True)
class Gate:
    """A verdict with its reason in words, and the ratios to the baseline that it stands on.

    `ratios` are empty while there are too few gates. `times_s` are medians over calm looks, and
    `counts` is set where they may join the baseline. `most_disturbed` is the look during which
    others had most.
    """

    verdict: GateVerdict
    reason: str
    ratios: tuple[PastRatio, ...]
    times_s: dict[str, float]
    most_disturbed: Look
    looks: int
    gates: int
    tolerance_share: float
    counts: bool

    @property
    def exit_code(self) -> int:
        """What a script learns."""
        return EXIT_CODES[self.verdict]

    def check(self) -> CheckedRun:
        """The gate as a check against a baseline, for JUnit XML."""
        answers = tuple(self._answer(ratio) for ratio in self.ratios)
        if not answers:
            point = PointVerdict({}, "", Bounds(), None, "unclear", self.reason)
            answers = (JudgedExpectation("baseline", "time", (point,)),)
        return CheckedRun("baseline", 1 - FALSE_RATE, answers)

    def _answer(self, ratio: PastRatio) -> JudgedExpectation:
        verdict: Verdict = "met"
        if ratio.exceeds(self.tolerance_share):
            verdict = "missed" if self.verdict == "no-go" and ratio.low > 1 else "unclear"
        bounds = Bounds(high=1 + self.tolerance_share)
        interval = Interval(ratio.ratio, ratio.low, ratio.high)
        reason = self.reason if verdict == "unclear" else ""
        point = PointVerdict({}, "", bounds, interval, verdict, reason)
        return JudgedExpectation(ratio.name, "time", (point,))


@dataclass
class Decision:
    """Looks at a node or at pairs, until it is decided or `has_time` says no.

    `baseline_s` are the times of former gates by what was timed; `expected` names what has to be
    timed in this one.
    """

    look: Callable[[], Look]
    baseline_s: Sequence[Mapping[str, float]]
    has_time: Callable[[], bool]
    tolerance_share: float
    expected: Collection[str] = ()
    looks: list[Look] = field(default_factory=list)

    def made(self) -> Gate:
        """The gate once it is decided."""
        if not self._needed_looks():
            return self._gate("unsure", self._usual(), self._load(), counts=False)
        usual = self._usual()
        names = self.looks[-1].times_s.keys()
        if gone := sorted(set(self.expected) - names):
            reason = f"{few(gone, 3)} of the baseline is not here; --accept begins another one"
            return self._gate("unsure", usual, reason, counts=False)
        if not usual:
            former = sum(not names.isdisjoint(times_s) for times_s in self.baseline_s)
            reason = f"learning, gate {min(former + 1, OCCASIONS_LEAST)} of {OCCASIONS_LEAST}"
            return self._gate("unsure", usual, reason, counts=True)
        suspects = {ratio.name for ratio in usual if ratio.exceeds(self.tolerance_share)}
        return self._again(suspects) if suspects else self._go(usual)

    def _needed_looks(self) -> bool:
        """Take calm looks, or disturbed ones that show nothing slower; whether there are enough."""
        while len(self._calm()) < LOOKS_LEAST:
            if len(self.looks) >= LOOKS_LEAST and not self._is_open():
                return True
            if self.looks and not self.has_time():
                return False
            self.looks.append(self.look())
        return True

    def _is_open(self) -> bool:
        usual = self._usual()
        return not usual or any(ratio.exceeds(self.tolerance_share) for ratio in usual)

    def _again(self, suspects: set[str]) -> Gate:
        """Look again at what looks slower; only that decides."""
        begin = len(self.looks)
        while self.has_time():
            self.looks.append(self.look())
            later = self._ratios(self._calm(begin))
            if len(self._calm(begin)) >= LOOKS_LEAST and not self._slow(later, suspects):
                return self._go(later)
        if len(self._calm(begin)) < LOOKS_LEAST:
            return self._gate("unsure", self._usual(), self._load(), counts=False)
        later = self._ratios(self._calm(begin))
        slow = self._slow(later, suspects)
        sure = [ratio for ratio in slow if ratio.is_slower(self.tolerance_share)]
        if not sure:
            worst = max(slow, key=lambda ratio: ratio.ratio)
            slow_down = f"{worst.name} {takes(worst.name)} {in_words(worst)} of its baseline"
            reason = f"{slow_down}, whose gates differ"
            return self._gate("unsure", later, reason, counts=True)
        # A slow core slows down memory and messages, too.
        worst = max(sure, key=lambda ratio: (ratio.name.startswith("core"), ratio.low))
        host = common_host([ratio.name for ratio in sure])
        further = f", and {len(sure) - 1} more" if len(sure) > 1 else ""
        further += f", each with {host}" if host else ""
        reason = f"{worst.name} {takes(worst.name)} {in_words(worst)} of its baseline{further}"
        return self._gate("no-go", later, reason, counts=False)

    def _slow(self, ratios: Sequence[PastRatio], suspects: set[str]) -> list[PastRatio]:
        return [r for r in ratios if r.name in suspects and r.exceeds(self.tolerance_share)]

    def _calm(self, begin: int = 0) -> list[Look]:
        return [look for look in self.looks[begin:] if look.is_calm]

    def _usual(self) -> list[PastRatio]:
        """The ratios of calm looks, or of all where there are too few."""
        calm = self._calm()
        return self._ratios(calm if len(calm) >= LOOKS_LEAST else self.looks)

    def _ratios(self, looks: Sequence[Look]) -> list[PastRatio]:
        return against_past(self.baseline_s, medians(looks))

    def _load(self) -> str:
        look = self._most_disturbed()
        if look.is_calm:
            return "no time for further looks: give a longer --budget"
        return f"something else had {percent(look.taken_share)} of core {look.taken_core}"

    def _most_disturbed(self) -> Look:
        return max(self.looks, key=lambda look: look.taken_share)

    def _go(self, ratios: Sequence[PastRatio]) -> Gate:
        farthest = max(ratios, key=lambda ratio: abs(ratio.ratio - 1))
        shares = [max(self.tolerance_share, ratio.reach - 1) for ratio in ratios]
        least, most = percent(min(shares)), percent(max(shares))
        shows = most if least == most else f"{least.partition(' ')[0]} to {most}"
        reason = (
            f"{len(ratios)} times within {percent(abs(farthest.ratio - 1), 1)} of the last "
            f"{len(self.baseline_s)} gates; slow-downs of {shows} show"
        )
        return self._gate("go", ratios, reason, counts=True)

    def _gate(
        self, verdict: GateVerdict, ratios: Sequence[PastRatio], reason: str, *, counts: bool
    ) -> Gate:
        counts = counts and len(self._calm()) >= LOOKS_LEAST
        return Gate(
            verdict,
            reason,
            tuple(ratios),
            medians(self._calm() or self.looks),
            self._most_disturbed(),
            len(self.looks),
            len(self.baseline_s),
            self.tolerance_share,
            counts,
        )


def medians(looks: Sequence[Look]) -> dict[str, float]:
    """The median of every time over looks, in seconds."""
    names = dict.fromkeys(name for look in looks for name in look.times_s)
    return {
        name: median(look.times_s[name] for look in looks if name in look.times_s) for name in names
    }


def takes(name: str) -> str:
    """The verb of a quantity: 'core 5 takes', 'GPU 0: copies to the device take'."""
    return "take" if PLURAL.search(name) else "takes"


def in_words(ratio: PastRatio) -> str:
    """'1.48x (1.43 to 1.52)'."""
    return f"{ratio.ratio:.2f}x ({ratio.low:.2f} to {ratio.high:.2f})"
