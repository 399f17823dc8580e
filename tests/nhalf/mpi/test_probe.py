"""A small probe source and a wrapper that notes its calls around the real compiler.

Programs that start their own ranks, compiled where they did not come with nhalf.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from nhalf.base.compiled import reporting_compilation, without_compiling
from nhalf.base.errors import MissingError
from nhalf.measure.probe.pattern import every_info
from nhalf.measure.probe.subject import local_subject, plain_subject
from nhalf.mpi import Library
from nhalf.mpi import probe as module
from nhalf.mpi.probe import (
    local_executable,
    missing_programs,
    probe_command,
    probe_executable,
    quick_probe,
)
from nhalf.mpi.transport_files import program_files, transport_files

Script = Callable[[Path, str], Path]

SOURCE = """
#include NHALF_TRANSPORT_HEADER
#include <cstdio>
int main() { std::puts(ANSWER); }
"""
HEADER = '#define ANSWER "{\\"patterns\\":[]}"\n'
WORKS = "echo '{\"patterns\": []}'"

needs_compiler = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")


@pytest.fixture(autouse=True)
def native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A native folder with a tiny probe; its own cache."""
    folder = tmp_path / "native"
    for name, text in (("probe/probe.cpp", SOURCE), ("transports/mpi.hpp", HEADER)):
        path = folder / "include" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    monkeypatch.setenv("NHALF_NATIVE_DIR", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("MPICH_CXX", raising=False)
    return folder


@pytest.fixture
def library(tmp_path: Path, script: Script) -> Library:
    """A library without the standard ABI, whose compiler wrapper notes each call."""
    wrapper = script(tmp_path / "bin/mpicxx", f'echo x >> {tmp_path}/calls\nexec c++ "$@"')
    return Library(
        name="mpich-4.0.2",
        vendor="mpich",
        version="4.0.2",
        prefix=tmp_path,
        mpiexec=tmp_path / "bin/mpiexec",
        launcher="hydra",
        abi=False,
        compiler=wrapper,
        origin="prefix",
    )


def calls(tmp_path: Path) -> int:
    noted = tmp_path / "calls"
    return len(noted.read_text().split()) if noted.exists() else 0


def test_the_standard_abi_probe_is_taken_where_it_works(
    library: Library, native: Path, script: Script
) -> None:
    path = script(native / "bin/probe-mpi-abi", f"echo noise; {WORKS}")
    with_abi = replace(library, abi=True, compiler=None)
    assert probe_command(with_abi) == [str(path)]


def test_it_is_started_with_the_variables_of_the_library(
    library: Library, native: Path, script: Script
) -> None:
    script(native / "bin/probe-mpi-abi", f'[ "$NEEDED" = 1 ] && {WORKS}')
    with_abi = replace(library, abi=True, compiler=None)
    with pytest.raises(MissingError):
        probe_executable(with_abi)
    assert probe_executable(replace(with_abi, environment={"NEEDED": "1"}))


@needs_compiler
def test_a_transport_may_need_further_words_of_the_compiler(library: Library, native: Path) -> None:
    flag = "-Wl,--export-dynamic-symbol=answer_*"
    lines = f"// nhalf-needs: MPI\n// nhalf-flags: {flag}\n{HEADER}"
    exported = 'extern "C" { extern const int answer_now; const int answer_now = 1; }\n'
    (native / "include/transports/plugged.hpp").write_text(lines + exported)
    path = probe_executable(library, transport_files()["plugged"])
    assert (
        b"answer_now" in subprocess.run(["nm", "-D", path], capture_output=True, check=True).stdout
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (None, "probe-mpi-abi was not built"),
        ("echo 'libmpi_abi.so.1: cannot open' >&2; exit 127", "libmpi_abi.so.1: cannot open"),
        ("echo 5; echo []; echo null; echo hello", "does not answer with a description"),
        ("kill -11 $$", "died of signal 11"),
    ],
)
def test_without_probe_and_compiler_the_reason_is_said(
    body: str | None, reason: str, library: Library, native: Path, script: Script
) -> None:
    if body is not None:
        script(native / "bin/probe-mpi-abi", body)
    with pytest.raises(MissingError) as caught:
        probe_executable(replace(library, abi=True, compiler=None))
    assert reason in str(caught.value)
    assert "mpicxx" in caught.value.remedy
    assert "\n" not in str(caught.value)


@needs_compiler
class TestCompiling:
    def test_happens_once(self, library: Library, tmp_path: Path) -> None:
        first = probe_executable(library)
        assert (
            subprocess.run([first], check=True, capture_output=True).stdout == b'{"patterns":[]}\n'
        )
        assert probe_executable(library) == first
        assert calls(tmp_path) == 1

    def test_a_small_program_answers_until_the_probe_is_there(
        self, library: Library, native: Path, tmp_path: Path
    ) -> None:
        (native / "include/probe/hello.cpp").write_text("int main() {}\n")
        hello, is_probe = quick_probe(library)
        assert (hello.name, is_probe, calls(tmp_path)) == ("hello", False, 1)
        assert quick_probe(library) == (hello, False)
        probe = probe_executable(library)
        assert quick_probe(library) == (probe, True)
        assert calls(tmp_path) == 2

    def test_replaces_an_abi_probe_that_does_not_work(
        self, library: Library, native: Path, script: Script
    ) -> None:
        script(native / "bin/probe-mpi-abi", "exit 1")
        assert probe_executable(replace(library, abi=True)).name == "probe-mpi"

    @pytest.mark.parametrize(
        "change", ["header", "new file", "version", "prefix", "wrapper", "compiler", "flags"]
    )
    def test_happens_again_when_something_changed(
        self,
        change: str,
        library: Library,
        native: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        first = probe_executable(library)
        if change == "header":
            (native / "include/transports/mpi.hpp").write_text(HEADER.replace("[]", "{}"))
        elif change == "new file":
            (native / "include/patterns").mkdir()
            (native / "include/patterns/x.hpp").touch()
        elif change == "version":
            library = replace(library, version="4.0.3")
        elif change == "prefix":
            library = replace(library, prefix=tmp_path / "moved")
        elif change == "wrapper":
            (tmp_path / "bin/mpicxx").write_text((tmp_path / "bin/mpicxx").read_text() + "\n")
        elif change == "compiler":
            monkeypatch.setenv("MPICH_CXX", "g++ -O1")
        else:
            monkeypatch.setenv("CXXFLAGS", "-O1 -g")
        assert probe_executable(library) != first
        assert calls(tmp_path) == 2

    def test_an_error_is_one_line_and_leaves_no_program(
        self, library: Library, native: Path, tmp_path: Path
    ) -> None:
        (native / "include/probe/probe.cpp").write_text("\n#error this is wrong\n")
        with pytest.raises(MissingError) as caught:
            probe_executable(library)
        assert "this is wrong" in str(caught.value)
        assert "\n" not in str(caught.value)
        log = Path(caught.value.remedy.removeprefix("the log is in "))
        assert "-std=c++20" in log.read_text()
        assert not list((tmp_path / "cache").rglob("probe-mpi"))
        assert {one.name for one in log.parent.iterdir()} == {"lock", "compile.log"}

    def test_a_program_that_does_not_run_is_not_kept(
        self, library: Library, native: Path, tmp_path: Path
    ) -> None:
        (native / "include/transports/mpi.hpp").write_text('#define ANSWER "hello"\n')
        with pytest.raises(MissingError, match="does not answer with a description"):
            probe_executable(library)
        assert not list((tmp_path / "cache").rglob("probe-mpi"))

    def test_several_processes_compile_once(self, library: Library, tmp_path: Path) -> None:
        with ProcessPoolExecutor(4) as pool:
            found = {*pool.map(probe_executable, [library] * 4)}
        assert len(found) == 1
        assert calls(tmp_path) == 1

    def test_a_cache_that_cannot_be_written(
        self, library: Library, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", "/proc")
        with pytest.raises(MissingError, match="cannot be kept in /proc"):
            probe_executable(library)


def test_no_compiler_on_this_machine(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match=r"no C\+\+ compiler"):
        probe_executable(library)


def test_a_compiler_under_another_name_is_told_to_the_wrapper(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: Script
) -> None:
    script(tmp_path / "tools/clang++", "true")
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    assert module.compiler_variables(library) == {"MPICH_CXX": "clang++"}
    monkeypatch.setenv("MPICH_CXX", "mine")
    assert module.compiler_variables(library) == {"MPICH_CXX": "mine"}


def test_no_headers(library: Library, native: Path) -> None:
    shutil.rmtree(native / "include/probe")
    with pytest.raises(MissingError, match="source of the mpi probe for"):
        probe_executable(library)
    shutil.rmtree(native / "include")
    with pytest.raises(MissingError, match="headers of nhalf"):
        probe_executable(library)
    shutil.rmtree(native)
    with pytest.raises(MissingError, match="compiled part"):
        probe_executable(library)


@needs_compiler
def test_who_waits_for_a_compiler_is_told(library: Library) -> None:
    said: list[str] = []
    for _ in range(2):
        with reporting_compilation(said.append):
            probe_executable(library)
    assert said[0] == "compiling the mpi probe for mpich-4.0.2, once; this can take minutes"
    assert said[1].startswith("compiled the mpi probe for mpich-4.0.2 in")
    assert len(said) == 2, "the second time it is kept"


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
    folder = tmp_path / "sources/include"
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
    monkeypatch.setenv("NHALF_NATIVE_DIR", str(tmp_path / "sources"))
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
