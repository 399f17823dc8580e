"""A program of which one rank is started in another way than the rest, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.processes import ProgramOutcome
from nhalf.mpi import Library
from tests.nhalf.measure.traced.programs import built, launch

RANKS = 3
SOURCES = Path("../preloaded")
NO_SESSIONS = 77
"""The exit code of the program where the library has none."""


@dataclass(frozen=True)
class Seen:
    """What a run of the program showed: its exit code, and by rank its data and its calls."""

    exit_code: int | None
    data: Mapping[str, str]
    calls: Mapping[str, str]


def seen(folder: Path, outcome: ProgramOutcome) -> Seen:
    """What its ranks wrote into a folder."""

    def texts(prefix: str) -> dict[str, str]:
        return {path.name: path.read_text() for path in sorted(folder.glob(f"{prefix}*"))}

    return Seen(outcome.exit_code, texts("data"), texts("calls"))


def command(
    case: tuple[Library, Path],
    programs: Path,
    folder: Path,
    what: str,
    rank: int,
    before: str,
    variables: Sequence[str] = (),
) -> list[str]:
    """What starts the program above the tool that sees its calls, where one rank's shell has run
    some words before; the folder is made.
    """
    folder.mkdir()
    tool = built(*case, f"{SOURCES}/witness.cpp", programs, "-shared", "-fPIC")
    program = built(*case, f"{SOURCES}/what_comes.cpp", programs)
    script = folder / "rank"
    script.write_text(
        "#!/bin/sh\n"
        f"case ${{PMI_RANK:-${{PMIX_RANK:-$OMPI_COMM_WORLD_RANK}}}} in {rank}) {before};; esac\n"
        f'LD_PRELOAD="${{LD_PRELOAD:+$LD_PRELOAD:}}{tool}" exec "$@"\n'
    )
    script.chmod(0o755)
    words = ["env", f"WITNESS={folder / 'calls'}", *variables, str(script)]
    return [*launch(case[0], RANKS), *words, str(program), str(folder / "data"), what]
