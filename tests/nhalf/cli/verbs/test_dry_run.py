"""`nhalf run --dry-run`: the commands by the words of each launcher; nothing is started."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base import native_files
from nhalf.base.errors import NhalfError

Call = Callable[..., Any]


def probe() -> str:
    try:
        return str(native_files.executable("probe-model"))
    except NhalfError:
        return ""


pytestmark = pytest.mark.skipif(
    not probe() or shutil.which("c++") is None, reason="needs the probes and a compiler"
)


@pytest.fixture
def prefix(tmp_path: Path, script: Callable[[Path, str], Path]) -> str:
    """An Open MPI that only says so, whose compiler only leaves a trace."""
    folder = tmp_path / "openmpi/bin"
    said = 'echo "mpiexec (Open MPI) 5.0.9"'
    script(folder / "mpiexec", f'[ "$1" = --version ] && {said} || touch "{tmp_path}/started"')
    script(folder / "mpicxx", f'touch "{tmp_path}/compiled"')
    return str(folder.parent)


@pytest.fixture
def ask(call: Call, prefix: str, tmp_path: Path) -> Call:
    def asked(*words: str) -> Any:
        chosen = ("--mpi", "openmpi-5.0.9", "--mpi-prefix", prefix)
        cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        ended = call("run", "--dry-run", *chosen, *words, **cache)
        assert not (tmp_path / "started").exists()
        assert not (tmp_path / "compiled").exists()
        assert not [*(tmp_path / "cache").rglob("probes")]
        assert not (tmp_path / "runs").exists()
        return ended

    return asked


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("osu_put_latency",), "the rma probe for openmpi-5.0.9"),
        (("osu_put_latency", "--transport", "mpi"), "the transport lacks windows"),
        (("osu_latency",), "the mpi probe for openmpi-5.0.9"),
    ],
)
def test_a_suites_test_has_its_transport_unless_one_is_given(
    ask: Call, words: tuple[str, ...], said: str
) -> None:
    assert said in ask("--style", "osu", "--pattern", *words).err


def test_every_number_of_ranks_has_its_command(ask: Call, prefix: str) -> None:
    ended = ask("--ranks", "2,64")
    assert ended.code == 0
    assert ended.err == "nhalf: would be compiled first: the mpi probe for openmpi-5.0.9\n"
    assert ask("--ranks", "2", "--quiet").err == ""
    two, many = ended.out.splitlines()
    assert two.startswith("env ")
    assert f" {prefix}/bin/mpiexec -n 2 --map-by core" in two
    assert f" {prefix}/bin/mpiexec -n 64 --map-by core:OVERSUBSCRIBE" in many
    assert two.endswith("/probe-mpi")


def test_another_launcher_is_asked_for_process_management(
    ask: Call, tmp_path: Path, script: Callable[[Path, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "bin/srun", "echo 'MPI plugin types are...'; printf '\\tpmi2\\n\\tpmix\\n'")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    ended = ask("--launcher", "srun", "--hosts", "a,b", "--placement", "2x2", "--json")
    assert ended.code == 0, ended.err
    (started,) = json.loads(ended.out)["commands"]
    assert json.loads(ended.out)["compiling"] == ["the mpi probe for openmpi-5.0.9"]
    assert (started["subject"], started["ranks"]) == ("openmpi-5.0.9", 4)
    words = " ".join(started["command"])
    assert words.startswith("srun --ntasks=4 ")
    assert "--mpi=pmix" in words
    assert "--nodes=2 --ntasks-per-node=2 --distribution=block --nodelist=a,b" in words
    assert "LD_LIBRARY_PATH" not in words


def test_another_launcher_need_not_answer(
    ask: Call, tmp_path: Path, script: Callable[[Path, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "bin/srun", "echo no configuration >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    ended = ask("--launcher", "srun", "--hosts", "a,b", "--placement", "2x2")
    assert ended.code == 0
    assert "--mpi=" not in ended.out
    said = "srun does not tell its process management (exit code 1: no configuration)"
    assert said in " ".join(ended.err.split())


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--launcher", "hydra"), 3, "openmpi-5.0.9 is not started by hydra"),
        (("--launcher", "srum"), 2, "unknown launcher 'srum'"),
        (("--pattern", "pingpogn"), 2, "did you mean pingpong"),
        (("--submit",), 2, "--dry-run does not go with --submit"),
        (("--placement", "4x2"), 3, "4x2 needs 4"),
    ],
)
def test_what_cannot_be_is_said(ask: Call, words: tuple[str, ...], code: int, said: str) -> None:
    ask("--quiet", *words).is_error(code, said)


@pytest.mark.parametrize("what", [("--transport", "rma"), ("--pattern", "pingpong-bsend")])
def test_what_would_be_compiled_is_said_without_compiling(ask: Call, what: tuple[str, ...]) -> None:
    ended = ask(*what, "--ranks", "2")
    assert ended.code == 0, ended.err
    assert "nhalf: would be compiled first: the " in ended.err
    assert " for openmpi-5.0.9" in ended.err
    assert " -n 2 " in ended.out
