# SPDX-License-Identifier: Apache-2.0
"""Programs compiled once are run from the cache only if nobody else could have put them there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nhalf.base.compiled import Program, compiled, is_compiled
from nhalf.base.errors import MissingError
from tests.conftest import write_script
from tests.shared_place import STRANGER, needs_root


@pytest.fixture
def program(tmp_path: Path, shared_place: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """One that compiles at once, into a cache that neighbours see."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include/source.cpp").touch()
    monkeypatch.setenv("NHALF_NATIVE_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_place / "me"))
    body = 'while [ $# -gt 1 ]; do [ "$1" = -o ] && echo made >"$2"; shift; done; exit 0'
    compiler = write_script(tmp_path / "compiler", body)
    return Program("a program", "name", "programs/one", "source.cpp", [str(compiler)], lambda _: "")


def test_it_is_compiled_once_into_a_private_folder(program: Program, shared_place: Path) -> None:
    assert not is_compiled(program)
    path = compiled(program)
    assert is_compiled(program)
    assert path.read_text() == "made\n"
    assert (shared_place / "me").stat().st_mode & 0o777 == 0o700


@needs_root
@pytest.mark.parametrize("depth", [0, 4])
def test_one_that_a_neighbour_put_there_is_not_run(program: Program, depth: int) -> None:
    path = compiled(program)
    path.parents[3].chmod(0o755)
    os.chown((path, *path.parents)[depth], STRANGER, STRANGER)
    for ask in (is_compiled, compiled):
        with pytest.raises(MissingError, match="is not used"):
            ask(program)


def test_one_that_anybody_may_overwrite_is_not_run(program: Program) -> None:
    path = compiled(program)
    path.parents[3].chmod(0o755)
    path.chmod(0o777)
    with pytest.raises(MissingError, match="anybody may write to it"):
        compiled(program)
