"""What other processes took of a machine's cores during each launch of a run."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from nhalf.store.run import JOURNAL, Run

OTHERS = "others"
"""The event of the journal."""
_BEGIN = b'{"event":"others",'


class Others(msgspec.Struct, frozen=True):
    """A launch of a subject, and how many of the cores allowed others kept busy in the mean."""

    subject: str
    launch: int
    ranks: int
    taken_cores: float
    allowed: int


def others(run: Run) -> list[Others]:
    """Every launch of which it is known; journals of earlier versions have none."""
    path = run.path / JOURNAL
    if not path.exists():
        return []
    launches: list[Others] = []
    with path.open("rb") as file:
        # Most lines are samples: only these few are decoded.
        for line in file:
            if line.startswith(_BEGIN):
                with suppress(msgspec.MsgspecError):
                    launches.append(msgspec.json.decode(line, type=Others))
    return launches
