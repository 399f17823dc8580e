"""Where the compiled probes are looked for."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import nhalf
from nhalf.base.errors import MissingError
from nhalf.base.native_files import VARIABLE, executable, include_folder, native_folder

PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


def test_the_package_is_searched_where_its_build_installs(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tomllib.loads(PROJECT.read_text())["tool"]["scikit-build"]["wheel"]["install-dir"]
    monkeypatch.delenv(VARIABLE)
    site_packages = Path(nhalf.__file__).parents[1]
    with pytest.raises(MissingError) as refusal:
        native_folder()
    assert str(site_packages / installed) in str(refusal.value)


def test_what_was_not_built_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(MissingError, match="probe-nothing was not built"):
        executable("probe-nothing")
    with pytest.raises(MissingError, match="headers"):
        include_folder()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "probe-nothing").touch(0o755)
    assert executable("probe-nothing") == tmp_path / "bin" / "probe-nothing"
