"""Messages in turn: they leave a rank, and come into one, one after the other.

The order in which they come in is that of a replay in which they do not wait for each other.
"""

from __future__ import annotations

import numpy as np

from nhalf.decide.program.contention import observed
from nhalf.decide.program.costs import Costs
from nhalf.decide.program.replay import Replay, replay
from nhalf.facts.program.script import Script


def replay_in_turn(script: Script, costs: Costs, alone: Replay) -> Replay:
    """The replay with one message at a time out of a rank and into one, followed, of one in which
    they do not wait for each other, which was followed, too.
    """
    if not len(script.route):
        return alone
    begins_s = np.concatenate([alone.spans_s(place)[0] for place in range(len(script.actors))])
    turns = observed(script, costs, begins_s)
    return replay(script, costs, contention=turns, follows=True)
