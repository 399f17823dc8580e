# SPDX-License-Identifier: Apache-2.0
"""The costs of algorithms as people print them: as text, for LaTeX, and as functions of Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nhalf.base.errors import unknown
from nhalf.machines.algorithms import Algorithm
from nhalf.machines.formula import FORMS
from nhalf.models.expression import PART_BYTES, Expression, python_function

LEGEND = (
    "seconds of p ranks and n bytes: T(x) one message of x bytes, "
    f"M(x, q) one rank sends to q others, R(x, q) it receives from them; B = {PART_BYTES}"
)
IMPORT = "from math import "
COMMENTS = {"text": "#", "latex": "%", "python": "#"}


def printed_costs(what: str, known: Mapping[str, Sequence[Algorithm]], form: str) -> dict[str, str]:
    """By name, such as bcast/binomial, the costs of an operation or of one algorithm of it.

    `form` is one of FORMS. Algorithms without a cost are left out. Raises InputError for an
    operation, an algorithm or a form that is unknown.
    """
    if form not in FORMS:
        raise unknown("form", form, FORMS)
    operation, _, algorithm = what.partition("/")
    if operation not in known:
        raise unknown("operation with algorithms", operation, known)
    costs = {each.name: each.cost for each in known[operation] if each.cost is not None}
    if algorithm and algorithm not in costs:
        raise unknown(f"algorithm of {operation}", algorithm, costs)
    return {
        f"{operation}/{name}": _printed(f"{operation}_{name}", cost, form)
        for name, cost in costs.items()
        if algorithm in ("", name)
    }


def costs_text(costs: Mapping[str, str], form: str) -> str:
    """The costs below a line that says what their letters mean."""
    sign = COMMENTS[form]
    if form == "text":
        lines = [f"{name}: {cost}\n" for name, cost in costs.items()]
    elif form == "latex":
        lines = [f"{sign} {name}\n{cost}\n" for name, cost in costs.items()]
    else:
        lines = [_functions(list(costs.values()))]
    return "".join([f"{sign} {LEGEND}\n", *lines])


def _functions(costs: Sequence[str]) -> str:
    """Functions of Python, with what they import once above all."""
    imports: set[str] = set()
    bodies = []
    for cost in costs:
        first, found, rest = cost.partition("\n\n\n")
        imports |= set(first.removeprefix(IMPORT).split(", ")) if found else set()
        bodies.append(rest if found else cost)
    head = [f"{IMPORT}{', '.join(sorted(imports))}\n"] if imports else []
    return "\n\n".join(head + bodies)


def _printed(name: str, cost: Expression, form: str) -> str:
    if form == "text":
        return cost.as_text()
    if form == "latex":
        return cost.as_latex()
    return python_function(name.replace("-", "_"), cost)
