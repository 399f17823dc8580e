from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.mpi import discover as module
from nhalf.mpi import identify
from nhalf.mpi.discover import as_json, discover, find, libraries, newest, other_versions
from nhalf.mpi.named_prefix import kept_as, named_here
from tests.patience import patience_s

Script = Callable[[Path, str], Path]

OPENMPI = "echo 'mpiexec (Open MPI) 5.0.11'"
MPICH = "echo 'HYDRA build details:'; echo '    Version:    5.0.2'"
INTEL = "echo 'Intel(R) MPI Library for Linux* OS, Version 2021.19.0 Build 1'"


def names(*prefixes: Path) -> list[str]:
    return [one.name for one in libraries(prefixes)]


def test_an_empty_machine_has_none(empty_machine: Path) -> None:
    found = discover()
    assert (found.libraries, found.broken) == ([], [])
    with pytest.raises(MissingError, match="nhalf mpi install"):
        find("mpich")


def test_wheels_prefixes_and_path_are_found(
    empty_machine: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(empty_machine / "data/nhalf/mpi/mpich-5.0.2/bin/mpiexec", MPICH)
    script(empty_machine / "a/bin/mpiexec", OPENMPI)
    script(empty_machine / "b/bin/mpirun", INTEL)
    script(empty_machine / "bin/mpiexec", OPENMPI.replace("5.0.11", "4.1.6"))
    monkeypatch.setenv("NHALF_MPI_PREFIXES", f":{empty_machine / 'a'}:")
    found = {one.name: one for one in libraries([empty_machine / "b"])}
    origins = {name: one.origin for name, one in found.items()}
    assert origins == {
        "mpich-5.0.2": "wheel",
        "openmpi-5.0.11": "prefix",
        "intel-2021.19.0": "prefix",
        "openmpi-4.1.6": "path",
    }
    assert found["openmpi-5.0.11"].prefix == empty_machine / "a"
    assert found["intel-2021.19.0"].launcher == "hydra"
    assert found["openmpi-5.0.11"].launcher == "openmpi"


def test_unfinished_installations_are_not_found(empty_machine: Path, script: Script) -> None:
    script(empty_machine / "data/nhalf/mpi/.installing-mpich-x/bin/mpiexec", MPICH)
    assert names() == []


def test_the_same_library_is_found_once(
    empty_machine: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = empty_machine / "opt"
    script(prefix / "bin/mpiexec", OPENMPI)
    (prefix / "bin/mpirun").symlink_to("mpiexec")
    view = empty_machine / "bin"
    (view / "mpiexec").symlink_to(prefix / "bin/mpiexec")
    (empty_machine / "link").symlink_to(prefix)
    monkeypatch.setenv("NHALF_MPI_PREFIXES", str(prefix))
    found = libraries([empty_machine / "link", prefix])
    assert [one.name for one in found] == ["openmpi-5.0.11"]
    assert found[0].prefix == prefix


def test_a_view_of_links_leads_to_the_real_prefix(empty_machine: Path, script: Script) -> None:
    script(empty_machine / "real/bin/mpiexec", MPICH)
    (empty_machine / "bin/mpiexec").symlink_to(empty_machine / "real/bin/mpiexec")
    assert libraries()[0].prefix == empty_machine / "real"


def test_debian_keeps_two_in_one_folder_by_suffix(empty_machine: Path, script: Script) -> None:
    folder = empty_machine / "bin"
    script(folder / "orterun", OPENMPI.replace("Open MPI", "OpenRTE"))
    script(folder / "mpiexec.hydra", MPICH)
    (folder / "mpiexec.openmpi").symlink_to("orterun")
    (folder / "mpiexec.mpich").symlink_to("mpiexec.hydra")
    (folder / "alternative").symlink_to(folder / "mpiexec.openmpi")
    (folder / "mpiexec").symlink_to("alternative")
    for name in ("mpicxx.openmpi", "mpicxx.mpich"):
        script(folder / name, "true")
    (folder / "mpicxx").symlink_to("mpicxx.openmpi")
    found = {one.vendor: one for one in libraries()}
    assert sorted(found) == ["mpich", "openmpi"]
    # orterun must be called by a name that it knows.
    assert found["openmpi"].mpiexec.name in {"mpiexec", "mpiexec.openmpi"}
    assert {one.vendor: one.compiler for one in found.values()} == {
        "openmpi": folder / "mpicxx.openmpi",
        "mpich": folder / "mpicxx.mpich",
    }


def test_a_compiler_of_another_library_is_not_taken(empty_machine: Path, script: Script) -> None:
    folder = empty_machine / "bin"
    script(folder / "mpiexec.mpich", MPICH)
    script(folder / "mpicxx.openmpi", "true")
    (folder / "mpicxx").symlink_to("mpicxx.openmpi")
    assert libraries()[0].compiler is None


def test_equal_names_get_their_origin_and_a_number(empty_machine: Path, script: Script) -> None:
    script(empty_machine / "data/nhalf/mpi/openmpi-5.0.11/bin/mpiexec", OPENMPI)
    script(empty_machine / "bin/mpiexec", OPENMPI)
    for name in ("a", "b", "c"):
        script(empty_machine / name / "bin/mpiexec", OPENMPI)
    found = libraries([empty_machine / name for name in "abc"])
    assert {one.name: one.origin for one in found} == {
        "openmpi-5.0.11": "wheel",
        "openmpi-5.0.11-prefix": "prefix",
        "openmpi-5.0.11-prefix-2": "prefix",
        "openmpi-5.0.11-prefix-3": "prefix",
        "openmpi-5.0.11-path": "path",
    }


def test_a_wheel_in_this_python_is_no_second_library(
    empty_machine: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = empty_machine / "venv"
    monkeypatch.setattr(sys, "prefix", str(environment))
    monkeypatch.setenv("PATH", str(environment / "bin"))
    script(environment / "bin/mpiexec", MPICH)
    assert [(one.name, one.origin) for one in libraries()] == [("mpich-5.0.2", "wheel")]
    own = script(empty_machine / "data/nhalf/mpi/mpich-5.0.2/bin/mpiexec", MPICH)
    assert [(one.name, one.mpiexec) for one in libraries()] == [("mpich-5.0.2", own)]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("echo 'mpirun: mpiexec.hydra: not found' >&2; exit 127", "exit code 127: mpirun: mpiexec"),
        ("kill -11 $$", "died of signal 11"),
        ("sleep 1000", "no end within"),
        ("yes", "says more than a megabyte"),
        ("exit 0", "--version says: nothing"),
        ("echo hello", "--version says: hello"),
        ("printf '\\377\\0\\n'", "not a library known here"),
    ],
)
def test_a_broken_one_is_named_beside_the_good(
    body: str,
    reason: str,
    empty_machine: Path,
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(identify, "TIMEOUT_S", patience_s(0.5))
    monkeypatch.setenv("PATH", f"{empty_machine / 'bin'}:/usr/bin:/bin")
    bad = script(empty_machine / "bad/bin/mpiexec", body)
    script(empty_machine / "good/bin/mpiexec", MPICH)
    found = discover([empty_machine / "bad", empty_machine / "good"])
    assert "mpich-5.0.2" in [one.name for one in found.libraries]
    broken = {one.mpiexec: one.reason for one in found.broken}
    assert reason in broken[bad]


def test_noise_around_the_version_does_no_harm(empty_machine: Path, script: Script) -> None:
    script(empty_machine / "bin/mpiexec", f"echo WARNING; {OPENMPI}; echo bye >&2")
    assert names() == ["openmpi-5.0.11"]


@pytest.mark.parametrize("kind", ["missing", "empty", "file", "not executable"])
def test_a_given_prefix_without_mpiexec_is_reported(kind: str, empty_machine: Path) -> None:
    prefix = empty_machine / "given"
    if kind == "file":
        prefix.write_text("")
    elif kind != "missing":
        (prefix / "bin").mkdir(parents=True)
    if kind == "not executable":
        (prefix / "bin/mpiexec").write_text("#!/bin/sh\n")
    found = discover([prefix])
    assert found.libraries == []
    assert [one.reason for one in found.broken] == ["no executable bin/mpiexec there"]


def test_scripts_of_version_managers_are_left_alone(
    empty_machine: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(empty_machine / "shims/mpiexec", OPENMPI)
    monkeypatch.setenv("PATH", f"relative:{empty_machine / 'shims'}")
    assert names() == []


def test_abi_is_seen_by_its_library(empty_machine: Path, script: Script) -> None:
    script(empty_machine / "a/bin/mpiexec", MPICH)
    assert not libraries([empty_machine / "a"])[0].abi
    (empty_machine / "a/lib").mkdir()
    (empty_machine / "a/lib/libmpi_abi.so.1").touch()
    assert libraries([empty_machine / "a"])[0].abi


def test_find_takes_the_newest_of_a_beginning(empty_machine: Path, script: Script) -> None:
    for name, body in (("a", OPENMPI), ("b", MPICH), ("c", MPICH.replace("5.0.2", "4.0.2"))):
        script(empty_machine / name / "bin/mpiexec", body)
    prefixes = [empty_machine / name for name in "abc"]
    assert find("openmpi", prefixes).name == "openmpi-5.0.11"
    assert find("mpich-4.0.2", prefixes).version == "4.0.2"
    assert find("mpich", prefixes).version == "5.0.2"
    assert find("mpich-4", prefixes).version == "4.0.2"
    assert [library.name for library in other_versions("mpich", prefixes)] == ["mpich-4.0.2"]
    for name in ("mpich-4", "mpich-5.0.2", "openmpi"):
        assert other_versions(name, prefixes) == []
    for name in ("mpich-6", "open", "mpihc-5.0.2", ""):
        with pytest.raises(InputError, match="unknown MPI library"):
            find(name, prefixes)
    with pytest.raises(InputError, match=r"did you mean mpich-5\.0\.2"):
        find("mpihc-5.0.2", prefixes)


def test_json_has_the_promised_keys(empty_machine: Path, script: Script) -> None:
    script(empty_machine / "bin/mpiexec", MPICH)
    answer = as_json(discover([empty_machine / "nothing"]))
    assert {"name", "vendor", "version", "prefix", "mpiexec", "abi"} <= set(answer["libraries"][0])
    assert set(answer["broken"][0]) == {"mpiexec", "origin", "reason"}


def test_origins_are_all_known(empty_machine: Path) -> None:
    assert module._origin_of(Path("/usr/bin")) == "system"
    assert module._origin_of(empty_machine) == "path"


def test_folders_on_the_path_that_cannot_be_used(
    empty_machine: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = empty_machine / "loop"
    loop.symlink_to(loop)
    (empty_machine / "bin/mpirun").symlink_to("mpirun")
    good = empty_machine / "good/bin"
    script(good / "mpiexec", MPICH)
    script(empty_machine / "good/bin/mpirun", OPENMPI)
    closed = empty_machine / "closed"
    script(closed / "mpiexec", OPENMPI)
    closed.chmod(0)
    folders = [loop, loop / "bin", empty_machine / "bin", Path("/etc/passwd"), closed, good]
    monkeypatch.setenv("PATH", ":".join(map(str, folders)))
    assert "mpich-5.0.2" in names(loop)
    monkeypatch.setenv("XDG_DATA_HOME", str(loop))
    assert "mpich-5.0.2" in names(closed)
    closed.chmod(0o755)


def test_versions_are_numbers(empty_machine: Path, script: Script) -> None:
    for name, version in (("a", "5.0.9"), ("b", "5.0.11"), ("c", "4.1.4")):
        body = OPENMPI.replace("5.0.11", version)
        script(empty_machine / name / "bin/mpiexec", body)
    found = libraries([empty_machine / name for name in "abc"])
    assert [one.version for one in newest(found)] == ["5.0.11"]
    assert newest([]) == []


@pytest.fixture
def builds(empty_machine: Path, script: Script) -> Path:
    """An installed wheel of Open MPI 5.0.11, two builds of that version and one of 4.1.4."""
    script(empty_machine / "data/nhalf/mpi/openmpi-5.0.11/bin/mpiexec", OPENMPI)
    for name in ("a", "b"):
        script(empty_machine / name / "bin/mpiexec", OPENMPI)
    script(empty_machine / "older/bin/mpiexec", OPENMPI.replace("5.0.11", "4.1.4"))
    return empty_machine


@pytest.mark.parametrize("name", ["openmpi", "openmpi-5", "openmpi-5.0.11"])
@pytest.mark.parametrize("is_option", [True, False])
def test_a_given_prefix_goes_before_the_wheel(
    name: str, is_option: bool, builds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_option:
        monkeypatch.setenv("NHALF_MPI_PREFIXES", str(builds / "a"))
    library = find(name, [builds / "a"] if is_option else [])
    assert (library.prefix, library.name) == (builds / "a", "openmpi-5.0.11-prefix")


def test_a_given_prefix_goes_before_a_newer_wheel(builds: Path) -> None:
    assert find("openmpi", [builds / "older"]).version == "4.1.4"
    assert find("openmpi-5.0.11", [builds / "older"]).origin == "wheel"


def test_an_option_goes_before_the_environment(
    builds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NHALF_MPI_PREFIXES", str(builds / "a"))
    assert find("openmpi-5.0.11", [builds / "b"]).prefix == builds / "b"


def test_the_wheel_beside_a_given_prefix_has_a_name(builds: Path) -> None:
    assert find("openmpi-5.0.11-wheel", [builds / "a"]).origin == "wheel"


def test_two_given_prefixes_of_one_version_are_ambiguous(builds: Path) -> None:
    for name in ("openmpi", "openmpi-5.0.11"):
        with pytest.raises(InputError, match="ambiguous") as raised:
            find(name, [builds / "a", builds / "b"])
        assert all(f"{builds / one})" in str(raised.value) for one in "ab")
    chosen = find("openmpi-5.0.11-prefix-2", [builds / "a", builds / "b"])
    assert chosen.prefix == builds / "b"


def test_of_two_given_prefixes_none_keeps_the_plain_name(
    empty_machine: Path, script: Script
) -> None:
    for name in ("a", "b"):
        script(empty_machine / name / "bin/mpiexec", MPICH)
    prefixes = [empty_machine / "a", empty_machine / "b"]
    assert names(*prefixes) == ["mpich-5.0.2-prefix", "mpich-5.0.2-prefix-2"]
    assert find("mpich-5.0.2-prefix", prefixes).prefix == empty_machine / "a"


def test_a_name_can_be_given_to_a_prefix(builds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(builds)
    for text in (f"old={builds / 'a'}", "old=a", "old=./a/"):
        library = find(text)
        assert (library.name, library.prefix) == ("old", builds / "a")
    assert find(f"w={builds}/data/nhalf/mpi/openmpi-5.0.11").origin == "wheel"
    assert other_versions("old=a") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("old=nothing", "no executable bin/mpiexec there"),
        ("old=", "not NAME=PREFIX"),
        ("=a", "not NAME=PREFIX"),
        ("a b=a", "not NAME=PREFIX"),
        ("a:b=a", "not NAME=PREFIX"),
        ("a+b=a", "not NAME=PREFIX"),
        ("all=a", "not NAME=PREFIX"),
    ],
)
def test_a_name_for_no_library_is_refused(
    text: str, said: str, builds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(builds)
    with pytest.raises(InputError, match=said):
        find(text)


def test_a_plan_keeps_names_with_absolute_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/usr")
    assert named_here(["mpich", "old=lib/.."]) == ["mpich", "old=/usr"]
    assert kept_as("old", ["mpich", "old=/usr"]) == "old=/usr"
    assert kept_as("new", ["mpich", "old=/usr"]) == ""
    with pytest.raises(InputError, match="old is /usr and /opt"):
        named_here(["old=/usr", "old=/opt"])
    with pytest.raises(InputError, match="--mpi NAME=/opt/mpi"):
        named_here(["/opt/mpi"])
