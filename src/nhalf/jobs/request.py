"""The request of a run that may be a job: what to measure, where to store it, how to wait."""

import functools
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.base.request import Request, as_words, option
from nhalf.base.units import parse_duration
from nhalf.measure.plan.request import EFFORT, WHAT, OnMachine, PlanRequest

AS_JOB = "As a job"
NOT_OF_THE_JOB = {
    *("submit", "job", "batch_system", "no_wait"),
    *("out", "resume", "report", "quiet", "json", "list_"),
}
"""Fields that concern only the caller, or that the script sets itself."""


@dataclass(frozen=True, kw_only=True)
class AsJob(Request, heading=AS_JOB):
    """Whether the batch system is to run it."""

    submit: bool = option(
        False, "Submit the run to Slurm, PBS or Flux, follow it, and collect the results."
    )
    job: str = option(
        "", "Options of sbatch, qsub or flux batch: '--nodes=4 --time=10:00 --partition=x'."
    )
    batch_system: str = option("", "slurm, pbs or flux; by default the one that is here.")
    no_wait: bool = option(False, "Submit the job and return at once.")

    def check_together(self) -> None:
        """Raises InputError for options of jobs without a job."""
        for name in ("job", "batch_system", "no_wait"):
            if getattr(self, name) and not self.submit:
                option = name.replace("_", "-")
                raise InputError(f"--{option} belongs to --submit", "add --submit")


@dataclass(frozen=True, kw_only=True)
class RunRequest(PlanRequest, OnMachine, AsJob, heading="Output"):
    """A run that starts in a folder, or continues."""

    out: Path | None = option(None, "Run directory to create.")
    resume: Path | None = option(None, "Continue this run; --launches and --budget extend it.")
    like: Path | None = option(
        None,
        "Measure the same points as this RUN or RUN:LIBRARY, and compare with it.",
        heading=WHAT,
    )
    until_decided: str = option(
        "",
        "With --like: measure unclear curves for up to this time more, e.g. 5m; false alarms "
        "are as rare as without it.",
        heading=EFFORT,
    )

    @functools.cached_property
    def until_decided_s(self) -> float:
        """The further time in seconds, 0 without any. Raises InputError if it is no duration."""
        return parse_duration(self.until_decided) if self.until_decided else 0.0

    def check_together(self) -> None:
        """Raises InputError for options that need, or exclude, each other."""
        super().check_together()
        if self.until_decided_s and self.like is None:
            raise InputError("--until-decided decides a comparison", "name a run with --like")
        if self.until_decided_s and self.submit:
            remedy = "put nhalf run --like RUN --until-decided TIME into a job script"
            raise InputError("--until-decided does not go with --submit", remedy)

    @property
    def begin(self) -> tuple[str, ...]:
        """The arguments of `nhalf run` with which a job starts the same run."""
        words = as_words(self, self.given - NOT_OF_THE_JOB)
        # The study must not be mistaken for an option.
        study = f"./{self.study}" if self.study.startswith("-") else self.study
        return (*([study] if study else ()), *words)
