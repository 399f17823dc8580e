"""`nhalf tune` with bad input: one line, the right exit code, and nothing made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import NhalfError
from nhalf.mpi.discover import libraries
from nhalf.mpi.tuning import tuner_for

Call = Callable[..., Any]
FOUND = {library.vendor: library for library in libraries()}


def needs(vendor: str) -> str:
    """The name of a library here that tells its algorithms."""
    if vendor not in FOUND:
        pytest.skip(f"no {vendor} here: nhalf mpi install {vendor}")
    try:
        tuner_for(FOUND[vendor]).algorithms("bcast")
    except NhalfError as error:
        pytest.skip(str(error))
    return FOUND[vendor].name


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--gain", "0"), "a gain of 0.0"),
        (("--gain", "100%"), "a gain of 1.0"),
        (("--ranks", "1"), "no numbers of ranks"),
        (("--bytes", "x"), "x"),
        (("--budget", "x"), "x"),
        (("--check", "none.rules"), "cannot read none.rules"),
        (("--mpi", "nobody"), "nobody"),
    ],
)
def test_bad_words(call: Call, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    out = tmp_path / "out"
    if words[0] == "--mpi" and not FOUND:
        pytest.skip("no MPI library here")
    call("tune", *words, "--out", out).is_error(2, said)
    assert not out.exists()


def test_what_a_library_cannot_be_told(call: Call, tmp_path: Path) -> None:
    name = needs("openmpi")
    out = tmp_path / "out"
    begin = ("tune", "--mpi", name, "--out", out)
    call(*begin, "--pattern", "bcats").is_error(2, "offers no choice of algorithm for 'bcats'")
    call(*begin, "--pattern", "scan").is_error(2, "'scan'")
    call(*begin, "--pattern", "allreduce", "--for", "root").is_error(2, "allreduce has no root")
    call(*begin, "--for", "cost").is_error(2, "unknown criterion 'cost'")
    call(*begin, "--to", "7").is_error(2, "unknown form")
    assert not out.exists()
    out.mkdir()
    call(*begin, "--pattern", "bcast").is_error(2, "already there")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("vendor", "text", "said"),
    [
        ("openmpi", "1\n7\n1\n0 1\n8 6 0 0\n", "line 5: the first message size is 8, not 0"),
        ("openmpi", "1\n7\n1\n2 1\n0 66 0 0\n", "bcast has no algorithm 66"),
        ("openmpi", "1\n7\n1\n0 2\n0 6 0 0\n", "the file ends where a message size"),
        ("openmpi", "1\n7\n1\n0 1\n0 66 0 0\n", "bcast has no algorithm 66"),
        ("openmpi", "", "there is no number in it"),
        ("mpich", '{"collective=bcast":{}}', "is missing"),
        ("mpich", "export MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomail\n", "no algorithm 'binomail'"),
        pytest.param(
            "intel",
            "export I_MPI_ADJUST_BCAST=999\n",
            "bcast has no preset 999",
            marks=pytest.mark.full,
        ),
    ],
)
def test_a_file_that_would_be_rejected(
    call: Call, tmp_path: Path, vendor: str, text: str, said: str
) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    out = tmp_path / "out"
    words = ("--mpi", needs(vendor), "--pattern", "bcast", "--out", out)
    call("tune", "--check", path, *words).is_error(1, said)
    assert not out.exists()
