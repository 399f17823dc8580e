"""What is printed of predicted effective bandwidths."""

from __future__ import annotations

import io

from rich.console import Console

from nhalf.decide.b_eff import PredictedEffectiveBandwidth
from nhalf.machines.draws import PredictedRate
from nhalf.present.terminal.predictions import show_b_eff


def test_a_reason_that_holds_for_some_ranks_only_says_so() -> None:
    rate = PredictedRate(1e9, 0.9e9, 1.1e9)
    few, many = (
        PredictedEffectiveBandwidth("m", ranks, ranks, {"b_eff": rate}, {}, ("the same", *more))
        for ranks, more in ((2, ()), (64, ("the bus is shared",)))
    )
    text = io.StringIO()
    show_b_eff(Console(file=text, width=100), [few, many])
    assert "• the same\n" in text.getvalue()
    assert "• 64 ranks: the bus is shared\n" in text.getvalue()
