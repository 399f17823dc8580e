"""`nhalf run` on full and forbidden disks, and under variables."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.nhalf.cli.model_machine import Call, model, needs_probes
from tests.patience import duration

pytestmark = needs_probes


class TestDisks:
    SIZES = ("--bytes", "0:300:1", "--launches", "1", "--quiet")

    @pytest.mark.full
    def test_a_file_that_may_not_grow(self, call: Call, call_afresh: Call, tmp_path: Path) -> None:
        """What a full disk or a quota does, for every user: the journal cannot grow further."""
        ended = call_afresh(
            *model("r", *self.SIZES),
            before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
        )
        self.check_and_go_on(call, ended, tmp_path / "r")

    def test_a_disk_that_gets_full(self, call: Call, small_disk: Callable[[str], Path]) -> None:
        out = small_disk("size=64k") / "r"
        ended = call(*model(out, *self.SIZES))
        assert "No space left on device" in ended.err
        small_disk("size=8m")
        self.check_and_go_on(call, ended, out)

    def check_and_go_on(self, call: Call, ended: Any, out: Path) -> None:
        ended.is_error(3, "cannot be written", f"nhalf run --resume {out}")
        content = (out / "journal.jsonl").read_bytes()
        assert content.endswith(b"\n")
        assert sorted(one.name for one in out.iterdir()) == ["journal.jsonl", "run.json"]
        shown = call("show", out, "--json")
        kept = len(json.loads(shown.out)["points"])
        assert 10 < kept < 300
        assert call("run", "--resume", out, "--quiet").code == 0
        assert (out / "journal.jsonl").read_bytes().startswith(content)
        assert len(json.loads(call("show", out, "--json").out)["points"]) == 301

    def test_a_disk_that_is_full(self, call: Call, small_disk: Callable[[str], Path]) -> None:
        disk = small_disk("size=16k")
        with (disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError):
            while True:
                filler.write(b"x" * 4096)
        call(*model(disk / "r", "--bytes", "0")).is_error(3, "No space left", "--out")
        assert [one.name for one in disk.iterdir()] == ["filler"]

    def test_no_room_for_the_table(self, call: Call, small_disk: Callable[[str], Path]) -> None:
        """The journal fits; what is made from it does not: nothing is lost."""
        disk = small_disk("size=1m")
        assert call(*model(disk / "r", "--bytes", "0:40:1", "--quiet")).code == 0
        (disk / "r/measurements.parquet").unlink()
        with (disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError):
            while True:
                filler.write(b"x" * 4096)
        ended = call("run", "--resume", disk / "r")
        ended.is_error(3, "measurements.parquet cannot be written", "all points are kept")
        assert len(list((disk / "r").iterdir())) == 2
        assert call("show", disk / "r").code == 0

    def test_a_folder_that_may_only_be_read(
        self, call: Call, small_disk: Callable[[str], Path]
    ) -> None:
        disk = small_disk("size=8m")
        assert call(*model(disk / "r", "--bytes", "0", "--quiet")).code == 0
        small_disk("ro")
        call(*model(disk / "s", "--bytes", "0")).is_error(3, "Read-only file system", "--out")
        call("run", "--resume", disk / "r").is_error(3, "Read-only file system")
        assert call("show", disk / "r").code == 0

    @pytest.mark.full
    def test_output_that_nobody_can_take(self, call: Call, tmp_path: Path) -> None:
        assert call(*model("r", "--bytes", "0", "--quiet")).code == 0
        command = f"cd {tmp_path}; {{python}} -m nhalf show r"
        assert self.shell(command + " > /dev/full") == (3, 1)
        assert self.shell(command + " | true; exit ${{PIPESTATUS[0]}}") == (0, 0)
        assert self.shell(command + " <&- >&-") == (0, 0)

    @staticmethod
    def shell(command: str) -> tuple[int, int]:
        # With a buffer, as users have it: something is left to write when Python ends.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
        done = subprocess.run(
            ["bash", "-c", command.format(python=sys.executable)],
            env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert "Exception" not in done.stderr
        return done.returncode, done.stderr.count("\n")


class TestSettings:
    """A library under variables is measured beside the plain one."""

    @pytest.mark.parametrize("text", ["x: A", "A=1", "a+b: A=1", "x: LD_LIBRARY_PATH=/"])
    def test_bad_ones_are_said_before_anything_is_made(
        self, call: Call, tmp_path: Path, text: str
    ) -> None:
        call("run", "--setting", text, "--out", tmp_path / "r").is_error(2, "setting")
        assert not (tmp_path / "r").exists()

    def test_they_are_for_libraries(self, call: Call, tmp_path: Path) -> None:
        ended = call(*model(tmp_path / "r", "--setting", "x: A=1"))
        ended.is_error(2, "the setting 'x' is for transport mpi")

    def test_each_is_a_subject_whose_processes_have_the_variables(
        self, call: Call, tmp_path: Path
    ) -> None:
        words = ["--ranks", "2", "--bytes", "8", "--launches", "2", "--json"]
        words += ["--budget", duration(1)]
        libraries = json.loads(call("mpi", "list", "--json").out)["libraries"]
        if not libraries:
            pytest.skip("no MPI library here: nhalf mpi install mpich")
        name = libraries[0]["name"]
        told = "told: NHALF_TOLD=1 LD_DEBUG=unknown"
        ended = call("run", "--mpi", name, *words, "--setting", told, "--out", tmp_path / "r")
        assert ended.code == 0, ended.err
        found = [point["mpi"] for point in json.loads(ended.out)["points"]]
        assert found == [name, f"{name}+told"]
        kept = json.loads((tmp_path / "r" / "run.json").read_text())
        told_variables = {"NHALF_TOLD": "1", "LD_DEBUG": "unknown"}
        assert kept["environment"]["settings"] == {"told": told_variables}
        assert kept["plan"]["mpi"] == [name]
        again = call("run", "--resume", tmp_path / "r", "--json")
        assert [point["mpi"] for point in json.loads(again.out)["points"]] == found
