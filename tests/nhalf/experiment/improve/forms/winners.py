"""Winners of all kinds, with text that languages might misread."""

from __future__ import annotations

from collections.abc import Mapping

from nhalf.experiment.improve.change import LaunchChange, applied
from nhalf.experiment.improve.forms import Winner
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.launch_settings import parse_launch
from tests.nhalf.experiment.improve.listed_tuner import ListedTuner, library

STRANGE = """a 'b' "c" $HOME `id` [exit 3] {d} \\ ; # % *"""
"""A value with everything that some language gives a meaning."""
REMARKS = ("twice as fast\nor [more] {sic} \\", "to undo: nothing \\")
SMALL = Rule("allreduce", 2, 2, 8, 8, "ring")
LARGE = Rule("allreduce", 2, 2, 1024, 4096, "tree")


def winner(
    words: str, change: LaunchChange, settings: tuple[str, ...] = (), **environment: str
) -> Winner:
    """A change of a launch in an environment."""
    plain = parse_launch(words.split(), environment, "hydra")
    improved = applied([change], plain)
    return Winner(plain, improved, {"it": change}, REMARKS, settings, ranks=8, hosts=2)


def variables() -> Winner:
    """Variables that are set, taken away, put before others, and left as they are."""
    change = LaunchChange(
        {"ADDED": STRANGE, "GONE": None, "EMPTY": "", "LD_LIBRARY_PATH": "/a:/b:/there"}
    )
    around = {"GONE": "x", "LD_LIBRARY_PATH": "/there", "KEPT": "1", "HOME": "/"}
    return winner("mpiexec -n 8 ./program input", change, ("KEPT",), **around)


def ruled(*rules: Rule, changes: Mapping[str, LaunchChange] | None = None) -> Winner:
    """Choices of algorithms, and whatever else."""
    tuner = ListedTuner(library("mpich"))
    every = {"rules": LaunchChange(rules=rules, tuner=tuner), **(changes or {})}
    plain = parse_launch(["mpiexec", "./program"], {}, "hydra")
    return Winner(plain, plain, every, REMARKS)
