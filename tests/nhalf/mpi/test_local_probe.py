"""Programs that start their own ranks, compiled where they did not come with nhalf."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.compiled import reporting_compilation, without_compiling
from nhalf.base.errors import MissingError
from nhalf.measure.probe.pattern import every_info
from nhalf.measure.probe.subject import local_subject, plain_subject
from nhalf.mpi.local_probe import local_executable, missing_programs
from nhalf.mpi.transport_files import program_files, transport_files

PROBE = r"""
#include NHALF_TRANSPORT_HEADER
#include <cstdio>
int main() {
  std::puts(R"({"patterns": [{"name": "pingpong"}], "options": []})");
  return ranks_are_threads ? 0 : 1;
}
"""
KERNELS = r"""
#include <omp.h>
#include <cstdio>
int main() {
#ifdef NHALF_ONLY_cg
  std::puts(R"({"patterns": [{"name": "npb-cg"}], "options": []})");
#endif
  return omp_get_max_threads() < 1;
}
"""


@pytest.fixture
def include(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sources of a transport and of an application, without any program."""
    folder = tmp_path / "native/include"
    for name in ("probe", "transports", "apps/npb/cg", "apps/npb/ep"):
        (folder / name).mkdir(parents=True)
    (folder / "probe/probe.cpp").write_text(PROBE)
    header = "// nhalf-needs: Threads\nconstexpr bool ranks_are_threads = true;\n"
    (folder / "transports/threads.hpp").write_text(header)
    head = "// nhalf-needs: OpenMP\n// nhalf-app: npb\n// nhalf-model: OpenMP\n"
    (folder / "apps/npb/npb_openmp.cpp").write_text(head + KERNELS)
    for kernel in ("cg", "ep"):
        (folder / f"apps/npb/{kernel}/openmp.hpp").touch()
        (folder / f"apps/npb/{kernel}/problem.hpp").write_text(".ranks = RankRule::power_of_two\n")
        lines = "".join(f"{{'{name}', 1}},\n" for name in "SWABCD")
        (folder / f"apps/npb/{kernel}/classes.inc").write_text(lines)
    monkeypatch.setenv("NHALF_NATIVE_DIR", str(tmp_path / "native"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CXXFLAGS", raising=False)
    return folder


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{text}'\n")
    path.chmod(0o755)


def test_a_transport_is_compiled_once(include: Path) -> None:
    lines: list[str] = []
    with reporting_compilation(lines.append):
        subject = plain_subject("threads")
        assert plain_subject("threads").command == subject.command
    assert set(subject.infos) == {"pingpong"}
    assert [line.split()[0] for line in lines] == ["compiling", "compiled"]
    assert not list(missing_programs([transport_files()["threads"]]))


def test_what_came_with_nhalf_is_not_compiled(include: Path) -> None:
    path = include.parent / "bin/probe-threads"
    _program(path, '{"patterns": []}')
    assert local_executable(transport_files()["threads"]) == path
    assert not list(missing_programs([transport_files()["threads"]]))


def test_an_application_is_compiled_with_its_kernels(include: Path) -> None:
    from nhalf.mpi.transport_files import with_kernels

    program = with_kernels(program_files()["npb-openmp"], ["npb-cg"])
    assert set(local_subject(program).infos) == {"npb-cg"}


def test_a_dry_run_compiles_nothing_and_knows_the_patterns(include: Path) -> None:
    _program(
        include.parent / "bin/probe-model", '{"patterns": [{"name": "put", "present": false}]}'
    )
    with without_compiling() as programs:
        assert set(plain_subject("threads").infos) == {"put"}
        kernels = local_subject(program_files()["npb-openmp"]).infos
    assert set(programs) == {"the threads probe", "npb-openmp"}
    assert {name: info.ranks_rule for name, info in kernels.items()} == {
        "npb-cg": "power-of-two",
        "npb-ep": "power-of-two",
    }
    assert not list((include.parents[1] / "cache").rglob("probe-threads"))


def test_every_pattern_is_described_whether_or_not_the_probe_can_run_it(include: Path) -> None:
    _program(
        include.parent / "bin/probe-model", '{"patterns": [{"name": "put", "present": false}]}'
    )
    assert every_info()["put"].present


def test_without_a_compiler_it_says_what_to_install(
    include: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(include))
    with pytest.raises(MissingError, match="the threads probe has to be compiled") as raised:
        plain_subject("threads")
    assert "install a C++ compiler" in raised.value.remedy
    assert not list(missing_programs([transport_files()["threads"]]))
