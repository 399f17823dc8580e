"""Messages in turn: they leave a rank, and come into one, one after the other.

The order in which they come in is that of a replay in which they do not wait for each other.
"""

from __future__ import annotations

import numpy as np

from nhalf.decide.program.contention import Contention
from nhalf.decide.program.costs import Costs
from nhalf.decide.program.ports import Ports, before_each
from nhalf.decide.program.replay import Replay, replay
from nhalf.facts.program.schedule import SEND
from nhalf.facts.program.script import Script


def replay_in_turn(script: Script, costs: Costs, alone: Replay) -> Replay:
    """The replay with one message at a time out of a rank and into one, followed, of one in which
    they do not wait for each other, which was followed, too.
    """
    if not len(script.route):
        return alone
    return replay(script, costs, contention=_turns(script, costs, alone), follows=True)


def _turns(script: Script, costs: Costs, alone: Replay) -> Contention:
    """Nothing but the order of messages."""
    messages, ports = len(script.route), Ports(script, costs)
    arrived_s = np.array([costs.message_s(*route) for route in script.routes])[script.route]
    for number, actor in enumerate(script.actors):
        begins_s, _ = alone.spans_s(number)
        for place in actor.places_of(SEND).tolist():
            message = int(actor.message[place])
            if message >= 0:
                begin_s = float(begins_s[place])
                arrived_s[message] += begin_s + ports.delay_s(message, begin_s)
    nothing_s = np.zeros(messages)
    before = before_each(script, ports, arrived_s)
    own_s = np.zeros(len(script.parts.step))
    return Contention(nothing_s, nothing_s, nothing_s, before, np.zeros(messages, np.int64), own_s)
