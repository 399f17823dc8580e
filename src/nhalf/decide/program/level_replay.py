# SPDX-License-Identifier: Apache-2.0
"""Replays of one timeline with several costs at once, level by level of its events.

The same times as replay.py computes one step after the other, but for rounding. A clock is a row
with a column for each replay, so that all ranks and replays share the work of an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.decide.program.actor_state import Spent
from nhalf.decide.program.costs import Costs
from nhalf.decide.program.event_graph import Batch, EventGraph, Places, Work
from nhalf.decide.program.replay import shortest_waits_s
from nhalf.facts.program.script import Route, Script

Variant = tuple[Costs, float]
"""Costs, and how many times as long computing takes."""


class LevelReplay:
    """Replays of a script, one for each variant; `run` returns the times of every actor in each.

    Of arrays of seconds, the last axis has the variants.
    """

    def __init__(self, script: Script, graph: EventGraph, variants: Sequence[Variant]) -> None:
        self._script = script
        self._graph = graph
        self._costs = [costs for costs, _ in variants]
        self._factors = np.array([factor for _, factor in variants])
        self._sends_s = self._by_message(lambda costs, route: costs.busy_s(*route)[0])
        self._receives_s = self._by_message(lambda costs, route: costs.busy_s(*route)[1])
        self._transits_s = self._by_message(lambda costs, route: costs.message_s(*route))
        works_s = [[_work_s(costs, work) for costs in self._costs] for work in graph.works]
        self._operations_s = self._rows(works_s)[graph.operation_work]
        by_costs_s = [shortest_waits_s(script, costs) for costs in self._costs]
        self._waits_s = self._rows(list(zip(*by_costs_s, strict=True)))
        self._until_s, self._within_s = self._until()

    def run(self) -> list[list[Spent]]:
        """The times of all actors, in order, for each variant."""
        graph, actors = self._graph, self._script.actors
        clocks_s = np.full((len(graph.step), len(self._costs)), -np.inf)
        clocks_s[: len(actors)] = np.array([[actor.begin_s] for actor in actors])
        own_s = self._since(graph.step, graph.before)
        transits_s = self._since(graph.needs_step, graph.needs)
        receives_s = np.zeros_like(transits_s)
        is_message = graph.needs_message >= 0
        messages = graph.needs_message[is_message]
        transits_s[is_message] += self._transits_s[messages]
        receives_s[is_message] = self._receives_s[messages]
        for batch in graph.batches:
            some = slice(batch.begin, batch.end)
            needs = slice(batch.needs, batch.needs + (batch.end - batch.begin) * batch.count)
            now_s = clocks_s.take(graph.before[some], axis=0) + own_s[some]
            arrivals_s = clocks_s.take(graph.needs[needs], axis=0) + transits_s[needs]
            clocks_s[some] = _after(batch, now_s, arrivals_s, receives_s[needs])
        return self._spent(clocks_s)

    def _rows(self, seconds: Sequence[Sequence[float]]) -> Floats:
        """Seconds as an array, of nothing, too."""
        return np.array(seconds, float).reshape(-1, len(self._costs))

    def _by_message(self, cost_s: Callable[[Costs, Route], float]) -> Floats:
        """A cost of each message."""
        routes = self._script.routes
        costs_s = [[cost_s(costs, route) for costs in self._costs] for route in routes]
        return self._rows(costs_s)[self._script.route]

    def _until(self) -> tuple[Floats, Floats]:
        """What an actor does by itself until each step waits for others, if it does; and after
        that within the step.
        """
        graph, actors = self._graph, self._script.actors
        steps = graph.steps
        within_s = np.zeros((len(steps.form), len(self._costs)))
        is_sent = graph.sends >= 0
        within_s[graph.sends[is_sent]] = self._sends_s[is_sent]
        within_s[graph.operations] = self._operations_s
        until_s = self._waits_s[steps.form]
        for actor, (begin, end) in zip(actors, pairwise(steps.first.tolist()), strict=True):
            until_s[begin:end] += np.array(actor.before_s)[:, None] * self._factors
            until_s[begin + 1 : end] += within_s[begin : end - 1]
            np.cumsum(until_s[begin:end], axis=0, out=until_s[begin:end])
        return until_s, within_s

    def _since(self, steps: Places, events: Places) -> Floats:
        """What the actors of events do by themselves from then until steps wait for others."""
        since_s = np.zeros((len(steps), len(self._costs)))
        is_step = steps >= 0
        since_s[is_step] = self._until_s[steps[is_step]]
        before = self._graph.step[events]
        is_step &= before >= 0
        since_s[is_step] -= self._until_s[before[is_step]]
        return since_s

    def _spent(self, clocks_s: Floats) -> list[list[Spent]]:
        """The times of all actors by when their last events are."""
        graph, steps = self._graph, self._graph.steps
        is_sent, is_taken = graph.sends >= 0, graph.needs_message >= 0
        takes = graph.step[graph.needed_by[is_taken]]
        waits = np.array([np.bincount(actor.form_of, minlength=len(self._waits_s))
                          for actor in self._script.actors])  # fmt: skip
        messages_s = (
            waits @ self._waits_s
            + self._of_actors(graph.sends[is_sent], self._sends_s[is_sent])
            + self._of_actors(takes, self._receives_s[graph.needs_message[is_taken]])
        )
        since_s = self._since(steps.first[1:] - 1, graph.last)
        operations_s = self._of_actors(graph.operations, self._operations_s)
        spent: list[list[Spent]] = [[] for _ in self._costs]
        for place, actor in enumerate(self._script.actors):
            computing_s = (sum(actor.before_s) + actor.after_s) * self._factors
            ends_s = clocks_s[graph.last[place]] + actor.after_s * self._factors
            if actor.form:
                step = steps.first[place + 1] - 1
                ends_s = ends_s + since_s[place] + self._within_s[step]
            busy_s = computing_s + messages_s[place] + operations_s[place]
            waiting_s = np.maximum(ends_s - actor.begin_s - busy_s, 0.0)
            columns = (ends_s, computing_s, messages_s[place], operations_s[place], waiting_s)
            for own, row in zip(spent, np.stack(columns, axis=-1).tolist(), strict=True):
                own.append(Spent(*row))
        return spent

    def _of_actors(self, steps: Places, seconds: Floats) -> Floats:
        """The sum of what steps take of each actor."""
        actors, count = self._graph.steps.actor_of(steps), len(self._script.actors)
        return np.stack([np.bincount(actors, own_s, count) for own_s in seconds.T], axis=-1)


def _after(batch: Batch, now_s: Floats, arrivals_s: Floats, receives_s: Floats) -> Floats:
    """When ranks go on that come at `now_s` and wait for what arrives at `arrivals_s`: messages are
    received in the order in which they arrive.
    """
    if batch.count == 1:
        return np.asarray(np.maximum(now_s + receives_s, arrivals_s))
    shape = (batch.end - batch.begin, batch.count, now_s.shape[1])
    arrivals_s = arrivals_s.reshape(shape)
    if not batch.takes:
        return np.asarray(np.maximum(now_s, arrivals_s.max(axis=1)))
    order = np.argsort(arrivals_s, axis=1, kind="stable")
    rows, columns = np.arange(shape[0])[:, None], np.arange(shape[2])
    receives_s = receives_s.reshape(shape)
    for place in range(batch.count):
        chosen = (rows, order[:, place], columns)
        now_s = np.maximum(now_s + receives_s[chosen], arrivals_s[chosen])
    return now_s


def _work_s(costs: Costs, work: Work) -> float:
    """What a rank takes for its part in an operation, once nobody is waited for."""
    call, ranks, size_bytes = work
    if not call:
        rank, root = ranks
        return costs.busy_s(rank, root, size_bytes)[0]
    return costs.collective_s(call, ranks, size_bytes)
