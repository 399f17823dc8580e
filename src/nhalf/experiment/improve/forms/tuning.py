"""The tuning file of a library, where the winner is a choice of algorithms."""

from nhalf.experiment.improve.change import is_for_all
from nhalf.experiment.improve.forms import Winner, WinnerForm
from nhalf.mpi.tuner import Tuner, content
from nhalf.mpi.vendors import vendor_of


class Tuning(WinnerForm):
    """Winners that are rules alone, by the tuner of the library."""

    endings = (".rules", ".json", ".env")

    def problem(self, winner: Winner) -> str:
        """Whatever else helps, and rules that no form of the library's file holds."""
        beside = [name for name, change in winner.changes.items() if not change.rules]
        if beside:
            return f"a tuning file chooses algorithms, and cannot hold {beside[0]!r}"
        return "" if _writer(winner) else "no file of the library holds all of these algorithms"

    def text(self, winner: Winner) -> str:
        """The file as `nhalf tune` writes it, with the remarks where it may have any."""
        tuner = _writer(winner)
        assert tuner is not None
        rules = tuner.beside_own(winner.rules, winner.plain.variables)
        text = content(winner.tuning) if winner.tuning else tuner.text(rules)
        is_json = text.lstrip().startswith("{")
        return text if is_json else "\n".join([text.rstrip("\n"), *winner.comments("#"), ""])


def _writer(winner: Winner) -> Tuner | None:
    """The tuner whose form of the file holds all rules; None if there is none.

    A form of variables has no sizes, and so holds algorithms for all calls only.
    """
    tuner = winner.tuner
    if tuner is None:
        return None
    rules = winner.rules
    if all(tuner.writable(rule.operation, rule.algorithm) for rule in rules):
        return tuner
    if not all(map(is_for_all, rules)):
        return None
    vendor = vendor_of(tuner.library)
    tuners = [vendor.tuner(tuner.library, form) for form in tuner.forms]
    return next(
        (
            candidate
            for candidate in tuners
            if candidate is not None
            and all(candidate.writable(rule.operation, rule.algorithm) for rule in rules)
        ),
        None,
    )
