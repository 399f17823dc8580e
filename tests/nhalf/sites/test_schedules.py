"""What makes a system repeat a gate: as its own readers take it, and as the guide shows it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.sites.schedules import SCHEDULES, schedule_text

GUIDE = Path(__file__).parents[3] / "docs/guide/health-check.md"
WORDS = ("/opt/nhalf/bin/nhalf", "gate", "--baseline", "/shared/gates")


@pytest.mark.parametrize("kind", SCHEDULES)
def test_the_guide_shows_each_as_it_is_printed(kind: str) -> None:
    assert schedule_text(kind, WORDS, "n3") in GUIDE.read_text("utf-8")


def test_a_percent_sign_neither_ends_a_crontab_nor_expands_in_a_unit() -> None:
    words = (*WORDS, "--tolerance", "10%")
    assert schedule_text("cron", words, "n3").endswith(r" --tolerance 10\%" + "\n")
    assert "--tolerance 10%%\n" in schedule_text("systemd", words, "n3")


@pytest.mark.parametrize(("code", "drains"), [(0, False), (1, True), (4, False), (3, False)])
def test_only_a_no_go_drains(code: int, drains: bool, tmp_path: Path) -> None:
    gate, asked = tmp_path / "my gate", tmp_path / "asked"
    gate.write_text(f"#!/bin/sh\necho 'no-go: n3, core 5'\nexit {code}\n")
    (tmp_path / "scontrol").write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" >{shlex.quote(str(asked))}\n'
    )
    for program in (gate, tmp_path / "scontrol"):
        program.chmod(0o755)

    def ended(kind: str) -> int:
        words = [shutil.which("sh") or "sh", "-c", schedule_text(kind, [str(gate)], "n3")]
        path = f"{tmp_path}:/usr/bin:/bin"
        return subprocess.run(words, env={"PATH": path}, check=False).returncode

    assert (ended("prolog") != 0) == drains
    assert ended("healthcheck") == 0
    assert asked.exists() == drains
    if drains:
        assert "reason=no-go: n3, core 5" in asked.read_text().splitlines()


def test_pairs_have_all_their_nodes_and_no_prolog() -> None:
    of_pairs = ((*WORDS, "--hosts", "n1,n2"), "n9", ("n1", "n2"))
    assert "--nodes=2 --nodelist=n1,n2" in schedule_text("scrontab", *of_pairs)
    for kind in ("prolog", "healthcheck"):
        with pytest.raises(InputError, match="--hosts"):
            schedule_text(kind, *of_pairs)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="unknown schedule"):
        schedule_text("at", WORDS, "n3")
