"""Problems as the sources of the kernels list them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.models.npb.problems import problem, rank_rule
from nhalf.models.npb.traffic import KERNELS


def test_numbers_are_those_before_the_official_values() -> None:
    assert problem("cg", "A").numbers[:3] == (14000, 11, 15)
    assert problem("ft", "B").numbers[:4] == (512, 256, 256, 20)
    assert problem("is", "D").numbers[:3] == (31, 27, 10)
    assert problem("lu", "W").numbers[:2] == (33, 300)
    assert problem("mg", "D").numbers[:2] == (1024, 50)
    assert problem("ep", "S").numbers[:1] == (24,)


def test_every_kernel_has_every_class_and_a_rule() -> None:
    rules = {kernel: rank_rule(kernel) for kernel in KERNELS}
    assert all(problem(kernel, name).name == name for kernel in KERNELS for name in "SWABCD")
    assert {name for name, rule in rules.items() if rule == "square"} == {"bt", "sp"}
    assert {name for name, rule in rules.items() if rule == "power-of-two"} == {
        *("cg", "mg", "ft", "is"),
    }
    assert (rules["lu"], rules["ep"]) == ("two-factors", "any")


def test_what_no_source_has_is_refused() -> None:
    with pytest.raises(InputError, match="cg has no class X; give one of S, W"):
        problem("cg", "X")
    with pytest.raises(MissingError, match=r"classes\.inc is missing"):
        problem("xx", "S")


def test_other_sources_have_problems_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "include/apps/npb/cg/classes.inc"
    table.parent.mkdir(parents=True)
    table.write_text("{'B', 1},\n")
    shipped = problem("cg", "B").numbers
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("NHALF_NATIVE_DIR", str(tmp_path))
        assert problem("cg", "B").numbers == (1,)
    assert problem("cg", "B").numbers == shipped
