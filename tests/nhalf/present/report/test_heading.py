"""What stands above a report."""

from __future__ import annotations

from nhalf.facts.extent import extent
from nhalf.facts.facts import Facts
from nhalf.present.report.heading import footer, subtitle, title
from tests.nhalf.applied import Ran, applied
from tests.nhalf.synthetic import build_measurements


def test_applications_are_no_traffic_patterns() -> None:
    found = extent(applied({Ran("cg"): 1.0, Ran("ft"): 2.0}))
    assert title(found).startswith("Application performance")
    assert " 2 kernels " in subtitle(found)
    assert "1 programming model · 1 library · " in subtitle(found)
    messages = extent(Facts(build_measurements(patterns=("pingpong",))))
    assert title(messages).startswith("Message performance")
    assert "1 traffic pattern" in subtitle(messages)


def test_the_footer_says_what_equal_launches_do_not_exclude() -> None:
    """Five launches: 1 - 0.05^(1/5) = 45 %."""
    said = footer(extent(Facts(build_measurements(launches=5))))
    assert "5 launches that agree exclude, with 95 % confidence, only states" in said
    assert "more than 45 % of launches" in said
    assert "A single launch says nothing" in footer(extent(Facts(build_measurements(launches=1))))


def test_a_setting_of_an_application_is_no_library() -> None:
    found = extent(
        applied({Ran("cg"): 1.0, Ran("cg", "mpich+tournament"): 1.0, Ran("cg", ""): 1.0})
    )
    assert (found.libraries, found.programs) == (1, 2)
    assert "2 programming models · 1 library · 1 kernel" in subtitle(found)


def test_applications_in_threads_have_no_library() -> None:
    assert "librar" not in subtitle(extent(applied({Ran("cg", ""): 1.0})))
