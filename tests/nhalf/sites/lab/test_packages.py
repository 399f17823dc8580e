from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from nhalf.base.errors import MissingError
from nhalf.base.processes import ProgramOutcome
from nhalf.sites.lab import build


class Machine:
    """A Debian of which we say what is there; apt-get gives what it is asked for, or fails."""

    def __init__(self, installed: Sequence[str], apt_works: bool = True) -> None:
        self.installed = set(installed)
        self.apt_works = apt_works
        self.calls: list[list[str]] = []

    def attempt(
        self, command: Sequence[str], text: str = "", timeout_s: float = 0.0
    ) -> ProgramOutcome:
        self.calls.append(list(command))
        if command[0] == "dpkg-query":
            lines = [f"{name} installed" for name in sorted(self.installed)]
            return ProgramOutcome(
                1, "\n".join([*lines, "slurmd not-installed"]), "no packages found"
            )
        if self.apt_works:
            self.installed |= set(command[5:])
            return ProgramOutcome(0, "", "")
        return ProgramOutcome(100, "", "E: Unable to locate package slurmd")

    def which(self, name: str, path: str = "") -> str | None:
        package = {"munged": "munge"}.get(name, name)
        return name if package not in build.PACKAGES or package in self.installed else None


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    def make(*installed: str, apt_works: bool = True) -> Machine:
        one = Machine(installed, apt_works)
        monkeypatch.setattr(build, "attempt", one.attempt)
        monkeypatch.setattr(build.shutil, "which", one.which)
        return one

    return make


def test_a_complete_machine_is_left_alone(machine: Any) -> None:
    one, said = machine(*build.PACKAGES), []
    build.ensure(True, said.append)
    assert said == []
    assert [call[0] for call in one.calls] == ["dpkg-query"]


def test_what_is_missing_is_installed_in_a_namespace_where_no_service_starts(machine: Any) -> None:
    one, said = machine("munge", "iproute2", "slurm-client"), []
    build.ensure(True, said.append)
    assert one.calls[-1][:3] == ["unshare", "--mount", "sh"]
    assert one.calls[-1][6:] == ["slurmctld", "slurmd", "libpmi2-0", "libfabric1"]
    assert len(said) == 1
    assert "slurmd" in said[0]


def test_without_leave_to_install_nothing_is_and_the_reason_is_said(machine: Any) -> None:
    one = machine("munge")
    with pytest.raises(MissingError, match=r"slurmctld, slurmd.*apt-get install slurmctld"):
        build.ensure(False, lambda _: None)
    assert [call[0] for call in one.calls] == ["dpkg-query"]


def test_libraries_alone_are_no_reason_to_refuse(machine: Any) -> None:
    machine("slurmctld", "slurmd", "slurm-client", "munge", "iproute2")
    build.ensure(False, lambda _: None)


def test_an_apt_that_fails_is_said_with_its_words(machine: Any) -> None:
    said: list[str] = []
    machine("munge", apt_works=False)
    with pytest.raises(MissingError, match="slurmd"):
        build.ensure(True, said.append)
    assert "Unable to locate package" in said[-1]
