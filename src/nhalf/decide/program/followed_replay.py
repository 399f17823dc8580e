# SPDX-License-Identifier: Apache-2.0
"""A replay that keeps when each call began and ended, to say where in a program time was lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.decide.program.actor_state import ActorState
from nhalf.decide.program.contention import Contention, ContentionReplay
from nhalf.decide.program.costs import Costs
from nhalf.facts.program.schedule import Actor
from nhalf.facts.program.script import Script

Action = Callable[[ActorState, int], bool]


class FollowedReplay(ContentionReplay):
    """A replay that has run; `last` is the actor that ends last, at `end_s`."""

    def __init__(
        self, script: Script, costs: Costs, contention: Contention, byte_s: float = 0.0
    ) -> None:
        super().__init__(script, costs, contention, byte_s)
        self._call_spans_s = {
            id(state): np.full((2, len(state.actor.form)), np.nan) for state in self._states
        }
        self._actions = [self._followed(action) for action in self._actions]
        spent = self.run()
        self.last = max(range(len(spent)), key=lambda place: spent[place].end_s)
        self.end_s = spent[self.last].end_s

    @property
    def actor(self) -> Actor:
        """The actor that ends last."""
        return self._states[self.last].actor

    def ends_s(self, place: int) -> Floats:
        """When each call of an actor ended, and then the actor; NaN of a call that was skipped."""
        state = self._states[place]
        return np.append(self._call_spans_s[id(state)][1], state.spent.end_s)

    def spans_s(self, place: int) -> tuple[Floats, Floats]:
        """When each call of an actor began, and `ends_s`."""
        return self._call_spans_s[id(self._states[place])][0], self.ends_s(place)

    def _followed(self, action: Action) -> Action:
        def act(state: ActorState, place: int) -> bool:
            begin_s = state.now_s
            is_done = action(state, place)
            if is_done:
                self._call_spans_s[id(state)][:, place] = begin_s, state.now_s
            return is_done

        return act
