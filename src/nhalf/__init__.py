# SPDX-License-Identifier: Apache-2.0
"""Measure, model and predict the communication performance of parallel computers.

`nhalf.open("runs/today")` gives a notebook everything that is known of a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nhalf.base.version import __version__

if TYPE_CHECKING:
    from os import PathLike

    from nhalf.facts.facts import Facts

__all__ = ["__version__", "open"]


def open(*paths: str | PathLike[str]) -> Facts:
    """The facts of runs, of several together: computed when they are first asked for, once each.

    `paths` are run directories, finished or not. `summary` has a row for every point (times in
    seconds, sizes in bytes), `models` the curves that could be fitted, `results` what is derived.
    Raises nhalf.base.errors.InputError where there is no path, where one is no run, and, when a
    fact is asked for that needs it, where a store is damaged.
    """
    from pathlib import Path

    from nhalf.facts.facts import Facts
    from nhalf.store.run import Run

    return Facts.of([Run.open(Path(path)) for path in paths])
