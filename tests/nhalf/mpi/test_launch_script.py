"""Scripts that set variables and start one program; what needs a shell is refused by its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.mpi.launch_words import parse_script, read_script

AROUND = {"HOME": "/root", "X": "1"}


def test_what_a_script_starts_and_with_what() -> None:
    script = parse_script(
        "#!/bin/sh\n"
        "#SBATCH --nodes=2\n"
        "set -eu\n"
        "export FI_PROVIDER=tcp A='b c'   # over sockets\n"
        "N=4\n"
        "X=2\n"
        "unset HOME\n"
        "cd /tmp\n"
        'Y=5 exec mpiexec -n ${N} \\\n  ./program "in put" $A$NOTHING\n',
        "job.sh",
        AROUND,
    )
    assert script.command == ("mpiexec", "-n", "4", "./program", "in put", "b c")
    assert script.environment == {"FI_PROVIDER": "tcp", "A": "b c", "X": "2", "Y": "5"}
    assert script.folder == Path("/tmp")


def test_a_variable_that_is_exported_later() -> None:
    script = parse_script("A=1\nexport A\n./p", "x", {})
    assert script.environment == {"A": "1"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("./a | tee log", "needs a shell"),
        ("./a > log", "needs a shell"),
        ("./a && ./b", "needs a shell"),
        ("if true; then", "needs a shell"),
        ("X=$(date) ./a", "needs a shell"),
        ("X=${Y:-3} ./a", "needs a shell"),
        ("./a '$X'", "needs a shell"),
        ("./a 'x", "no closing quotation"),
        ("export 1x=3", "no name of a variable"),
    ],
)
def test_what_needs_a_shell_is_refused(line: str, why: str) -> None:
    with pytest.raises(InputError, match=f"line 2 of job.sh .*{why}.*--a 'COMMAND'"):
        parse_script(f"# first\n{line}\n", "job.sh", {})


def test_two_programs_and_none_are_refused() -> None:
    with pytest.raises(InputError, match="line 2 of x starts more than one program"):
        parse_script("./a\n./b", "x", {})
    for text in ("", "# nothing", "export A=1", "echo hello"):
        with pytest.raises(InputError, match="x starts no program"):
            parse_script(text, "x", {})


def test_files_that_are_no_script(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\x7fELF\xff\xfe\x00")
    for name in ("none", "binary", "."):
        with pytest.raises(InputError, match="cannot be read"):
            read_script(tmp_path / name)
