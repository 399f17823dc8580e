"""Printed costs: the functions of Python give the seconds of the expressions they came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nhalf.base.errors import InputError
from nhalf.machines.algorithms import Algorithm, algorithms
from nhalf.machines.formula import FORMS, costs_text, printed_costs
from nhalf.models.expression import parse

PARTS: dict[str, Callable[..., Any]] = {
    "T": lambda x: 3e-6 + 1e-9 * x,
    "M": lambda x, q: q * (1e-6 + 2e-9 * x),
    "R": lambda x, q: q * (2e-6 + 3e-9 * x),
}
KNOWN = {
    "bcast": (
        Algorithm("chain", "", "", parse("(p - 1) * T(n)")),
        Algorithm("half-tree", "", "", parse("ceil(log2(p)) * sqrt(n) * T(n)")),
        Algorithm("riddle", "", "", None),
    )
}


def test_every_function_gives_the_same_seconds() -> None:
    for operation, known in algorithms().items():
        names: dict[str, Any] = {}
        printed = printed_costs(operation, {operation: known}, "python")
        exec(costs_text(printed, "python"), names)
        for each in known:
            if each.cost is None:
                assert each.name.endswith("-native-bcast")
                continue
            own = {name: PARTS[name] for name in each.cost.parts()}
            seconds = names[f"{operation}_{each.name}".replace("-", "_")](p=12, n=20000, **own)
            expected = float(each.cost.value(12, 20000, PARTS))
            assert seconds == pytest.approx(expected, rel=1e-12), (operation, each.name)


def test_imports_are_said_once() -> None:
    text = costs_text(printed_costs("bcast", KNOWN, "python"), "python")
    assert text.count("import") == 1
    assert "from math import ceil, log2, sqrt\n\n\ndef bcast_chain(p, n, T, B=8192):\n" in text


def test_without_functions_nothing_is_imported() -> None:
    text = costs_text(printed_costs("bcast/chain", KNOWN, "python"), "python")
    assert text.splitlines()[1:] == [
        "def bcast_chain(p, n, T, B=8192):",
        "    return (p - 1) * T(n)",
    ]


@pytest.mark.parametrize("form", FORMS)
def test_what_has_no_cost_is_left_out(form: str) -> None:
    assert list(printed_costs("bcast", KNOWN, form)) == ["bcast/chain", "bcast/half-tree"]
    with pytest.raises(InputError, match="unknown algorithm of bcast 'riddle'"):
        printed_costs("bcast/riddle", KNOWN, form)
