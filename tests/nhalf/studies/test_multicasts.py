"""Multicasts in studies: simulated of records, measured in runs, weighed as options."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.base.errors import InputError
from nhalf.facts.facts import Facts
from nhalf.measure.plan.catalogue import StudyFile
from nhalf.present.study_words import show_repetition
from nhalf.studies.form import OptionsForm, Quantity, StudyForm
from nhalf.studies.judge import NumberSource
from nhalf.studies.measured import Measured
from nhalf.studies.recorded import RecordedMachine
from nhalf.studies.repeat import StudyTable, repeat
from nhalf.studies.value import StudyValue
from tests.nhalf.synthetic import build_measurements

O_S, O_R = 0.9e-6, 1.1e-6
"""Of Myrinet, as published."""


def multicast(algorithm: str, forwarding: str = "host", **members: Any) -> Quantity:
    axes = {"algorithm": algorithm, "forwarding": forwarding, "group": "ranks-1"}
    return Quantity(pattern="multicast", ranks=16, axes=axes, **members)


class TestOfARecord:
    def test_processors_are_busy_as_the_formulas_say(self) -> None:
        myrinet = RecordedMachine("myrinet-gm")  # 8 nodes
        by_host = myrinet.value(multicast("binomial", extra="host_cpu_s"))
        by_adapter = myrinet.value(multicast("binomial", "nic", extra="host_cpu_s"))
        assert by_host.ranks == 8
        assert by_host.median == pytest.approx(7 * (O_S + O_R) / 8)
        assert by_adapter.median == pytest.approx((O_S + 7 * O_R) / 8)
        source = myrinet.value(multicast("separate", extra="host_cpu_source_s"))
        assert source.median == pytest.approx(7 * O_S)

    def test_utilisation_is_processor_time_over_completion(self) -> None:
        torus = RecordedMachine("sci-torus")
        time = torus.value(multicast("md-torus"))
        busy = torus.value(multicast("md-torus", extra="host_cpu_s"))
        share = torus.value(multicast("md-torus", extra="host_cpu_share"))
        assert share.median == pytest.approx(busy.median / time.median)
        assert time.median == pytest.approx(6 * 14.63e-6)  # two phases of three messages

    @pytest.mark.parametrize(
        ("machine", "quantity", "reason"),
        [
            ("myrinet-gm", multicast("u-torus"), "myrinet-gm has no multicast u-torus, host"),
            ("sci-torus", multicast("flood"), "sci-torus has no multicast flood, host"),
            ("sci-torus", multicast("binary", extra="root_s"), "has no root_s"),
            ("spp1000-pvm", multicast("binary"), "spp1000-pvm is shared memory"),
        ],
    )
    def test_reasons_why_there_is_none(self, machine: str, quantity: Quantity, reason: str) -> None:
        with pytest.raises(InputError, match=reason):
            RecordedMachine(machine).value(quantity)


class Busy:
    """Options with given completions and utilisations."""

    name, needs_intervals = "busy", True

    def __init__(self, **options: tuple[float, float]) -> None:
        self.options = options

    def value(self, quantity: Quantity) -> StudyValue:
        name = str(quantity.axes["algorithm"])
        if name not in self.options:
            raise InputError(f"no {name}")
        time_s, share = self.options[name]
        number = share if quantity.extra else time_s
        return StudyValue(number, (0.5 * number, 2 * number), 16, "measured")


OPTIONS = OptionsForm(
    id="options",
    title="Options",
    value=multicast("separate"),
    over={"algorithm": "separate,serial,binary,binomial", "forwarding": "host"},
    time_title="completion",
    cost="host_cpu_share",
    cost_title="utilisation",
    product_title="processor time",
)


def weighed(source: NumberSource) -> StudyTable:
    plan = StudyFile(title="T", block=[])
    form = StudyForm(title="T", source="S", machines=[], measure=plan, options=[OPTIONS])
    repetition = repeat("mine", form, source)
    show_repetition(repetition)
    (table,) = repetition.tables
    return table


def test_options_are_weighed(capsys: pytest.CaptureFixture[str]) -> None:
    source = Busy(separate=(4.0, 0.1), serial=(8.0, 0.05), binomial=(2.0, 0.2), binary=(4.0, 0.3))
    table = weighed(source)
    names = ["separate, host", "serial, host", "binary, host", "binomial, host"]
    assert [name for name, _ in table.rows] == names
    assert table.unbeaten == (True, True, False, True)
    product = table.rows[0][1][2]
    assert product.value is not None
    assert product.unit == "s"
    assert product.value.median == pytest.approx(0.4)
    assert product.value.ci == pytest.approx((0.1, 1.6))
    rows = table.as_json()["rows"]
    assert [row["unbeaten"] for row in rows] == [True, True, False, True]
    printed = capsys.readouterr().out
    assert "separate, host *" in printed
    assert "binary, host *" not in printed
    assert "30.0 %" in printed
    assert "* no other option is better in both" in printed


def test_options_that_a_machine_lacks_are_left_out() -> None:
    table = weighed(Busy(separate=(4.0, 0.1)))
    assert [name for name, _ in table.rows] == ["separate, host"]
    assert weighed(Busy()).rows == ()


def measured(host_cpu_s: float) -> Measured:
    """Multicasts that take 4 us."""
    axes = "algorithm=binary,forwarding=host,group=1"
    rows = build_measurements(
        patterns=("multicast",), sizes=(64,), launch_noise=0.0, noise=0.0, axes=axes,
        samples_s=[4e-6] * 3, values=[{"name": "host_cpu_s", "value": host_cpu_s}],
    )  # fmt: skip
    return Measured("run", Facts(rows))


def test_a_processor_is_not_busy_for_longer_than_all_the_time() -> None:
    share = measured(5e-6).value(multicast("binary", bytes=64, extra="host_cpu_share"))
    assert (share.median, share.ci) == (1, (1, 1))


def test_utilisation_of_a_run_has_the_interval_of_both() -> None:
    source = measured(3e-6)
    share = source.value(multicast("binary", bytes=64, extra="host_cpu_share"))
    assert share.median == pytest.approx(0.75)
    assert share.ci == pytest.approx((0.75, 0.75))
    with pytest.raises(InputError, match="was not measured"):
        source.value(multicast("binary", "nic", bytes=64))
