"""Which worker runs what: tests that share something expensive stay together, a file at least.

A plug-in of pytest-xdist, for `--dist loadfile`.
"""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

TOGETHER = ("tests/nhalf/sites/cluster/", "tests/nhalf/experiment/tune/test_libraries.py")
"""Share what takes many seconds to make, a cluster and a probe for Open MPI: one worker does."""


class Schedule(LoadFileScheduling):
    """The next file, or folder, goes to whoever is free."""

    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER[0] if nodeid.startswith(TOGETHER) else nodeid.partition("::")[0]


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Schedule | None:
    """Otherwise whatever is asked for."""
    return Schedule(config, log) if config.getvalue("dist") == "loadfile" else None
