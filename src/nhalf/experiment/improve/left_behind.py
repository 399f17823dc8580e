"""The files that a search leaves: the one that switches the winner on, and a tuning file."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from nhalf.base.files import write_text
from nhalf.experiment.improve.candidates.settings import settings_of
from nhalf.experiment.improve.change import Candidate, applied
from nhalf.experiment.improve.forms import USUAL, Winner, form_for, forms
from nhalf.experiment.improve.situation import Situation
from nhalf.mpi.launch_words import HYDRA, OPENMPI
from nhalf.mpi.vendors import vendor_of

REMEDY = "choose another --out"
TUNING = "tuning"


@dataclass(frozen=True)
class LeftBehind:
    """The winner, its file with the form that it has, and the tuning file that its variables name.

    `note` says why the form is another one than was asked for.
    """

    winner: Winner
    file: Path | None = None
    form: str = ""
    tuning_file: Path | None = None
    note: str = ""


def leave(
    out: Path | None,
    form: str,
    situation: Situation,
    proven: Sequence[Candidate],
    remarks: Sequence[str],
) -> LeftBehind:
    """Write what switches the proven candidates on; without `out` only what variables name.

    What a form cannot hold becomes a script beside it. Raises MissingError for a file that cannot
    be written.
    """
    chosen = form_for(out, form) if out is not None else ""
    tuner = next((candidate.change.tuner for candidate in proven if candidate.change.rules), None)
    tuning = _tuning_file(out, tuner.file_name) if tuner is not None else None
    winner = _winner(situation, proven, remarks, tuning)
    if out is None:
        return LeftBehind(winner, tuning_file=_there(tuning))
    problem = forms()[chosen].problem(winner)
    note = ""
    if problem:
        note = f"{out} became {out.name}.sh, a {USUAL}: {problem}"
        out, chosen = out.with_name(f"{out.name}.sh"), USUAL
    elif chosen == TUNING and tuner is not None and tuning is not None:
        tuner.remove(tuning)
        winner = _winner(situation, proven, remarks, out)
        tuning = out
    write_text(out, forms()[chosen].text(winner), REMEDY)
    if forms()[chosen].is_executable:
        out.chmod(0o755)
    return LeftBehind(winner, out, chosen, _there(tuning), note)


def _winner(
    situation: Situation, proven: Sequence[Candidate], remarks: Sequence[str], tuning: Path | None
) -> Winner:
    changes = {candidate.name: candidate.change for candidate in proven}
    launch, program = situation.launch, situation.program
    is_own = situation.library is not None and launch.family in (HYDRA, OPENMPI)
    return Winner(
        launch,
        applied(changes.values(), launch, tuning),
        changes,
        remarks,
        settings_of(situation),
        situation.ranks,
        len(set(program.hosts)) if program is not None else 0,
        vendor_of(situation.library).in_batch if situation.library and is_own else {},
        _there(tuning),
    )


def _tuning_file(out: Path | None, name: str) -> Path:
    """A name for a tuning file beside the one that is asked for, else one that is not taken."""
    if out is not None:
        return out.with_name(f"{out.stem}-{name}")
    names = (f"improved{'-' if n == 1 else f'-{n}-'}{name}" for n in count(1))
    return next(path for path in map(Path, names) if not path.exists())


def _there(path: Path | None) -> Path | None:
    return path if path is not None and path.exists() else None
