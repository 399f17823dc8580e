"""Work between barriers on the model machine: exactly the work and the barrier."""

from __future__ import annotations

import pytest

from nhalf.base.errors import NhalfError
from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import plain_subject
from nhalf.sites.placement import FREE
from tests.patience import patience_s


@pytest.mark.parametrize("algorithm", ["native", "tournament"])
def test_a_loop_takes_its_work_and_a_barrier(algorithm: str) -> None:
    try:
        command, environment = plain_subject("model").launch(4, FREE, "")
    except NhalfError as error:
        pytest.skip(str(error))
    asked = {"barrier": "barrier", "0": "work-barrier", "16000": "work-barrier axis.grain=16000"}
    times_s = {}
    with Probe(command, environment, patience_s(20)) as probe:
        for name, pattern in asked.items():
            probe.send(f"id={name} pattern={pattern} samples_max=2 axis.algorithm={algorithm}")
            said = probe.receive(patience_s(20), identity=name)
            assert said["verified"]
            times_s[name] = said["samples_s"][0]
    assert times_s["0"] == pytest.approx(times_s["barrier"])
    assert times_s["16000"] == pytest.approx(times_s["barrier"] + 16e-6)
