# SPDX-License-Identifier: Apache-2.0
"""Machine files come back as they went, and damaged ones are refused in one line."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nhalf.errors import InputError, MissingError
from nhalf.machines import machine as machine_file
from nhalf.machines.machine import (
    Breakpoint,
    FittedModel,
    LogGP,
    Machine,
    Overheads,
    Segment,
    Steps,
)

amounts = st.floats(0, 1e18, allow_subnormal=False)
rates = st.one_of(st.floats(1e-3, 1e15), st.just(math.inf))
pairs = st.tuples(amounts, st.one_of(amounts, st.just(math.inf)))
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
sizes = st.integers(0, 2**40)
errors = st.none() | st.floats(0, 10)

segments = st.builds(
    Segment,
    from_bytes=sizes,
    to_bytes=sizes,
    t0_s=amounts,
    t0_ci=pairs,
    r_inf_Bps=rates,
    r_inf_ci=pairs,
    n_half_bytes=rates,
    n_half_ci=pairs,
)
breakpoints = st.builds(
    Breakpoint,
    low_bytes=sizes,
    high_bytes=sizes,
    at_bytes=amounts,
    change_percent=st.floats(-100, 1e6),
    kind=st.sampled_from(["jump", "bend"]),
)
steps = st.builds(Steps, offset_bytes=sizes, period_bytes=sizes, height_s=amounts, height_ci=pairs)
models = st.builds(
    FittedModel,
    run=words,
    transport=words,
    mpi=words,
    pattern=words,
    algorithm=words,
    ranks=st.integers(1, 10**6),
    placement=words,
    segments=st.lists(segments, max_size=3).map(tuple),
    breakpoints=st.lists(breakpoints, max_size=3).map(tuple),
    heldout_median=errors,
    heldout_p95=errors,
    heldout_sizes=st.integers(0, 1000),
    packet_steps=st.none() | steps,
)
times = st.none() | amounts
overheads = st.builds(
    Overheads, size_bytes=sizes, send_overhead_s=times, recv_overhead_s=times, gap_s=times
)
loggps = st.builds(
    LogGP,
    transport=words,
    latency_s=times,
    latency_ci=st.none() | pairs,
    gap_per_byte_s=times,
    identifiable=st.none() | st.booleans(),
    sizes=st.lists(overheads, max_size=3).map(tuple),
)
machines = st.builds(
    Machine,
    name=words,
    schema=st.just(machine_file.SCHEMA),
    source=words,
    environment=st.dictionaries(words, words, max_size=3),
    models=st.lists(models, max_size=3).map(tuple),
    loggp=st.lists(loggps, max_size=2).map(tuple),
)


@settings(deadline=None, max_examples=100)
@given(machine=machines)
def test_a_machine_comes_back_as_it_went(machine, tmp_path_factory):
    path = tmp_path_factory.mktemp("machine") / "m.toml"
    machine_file.write(machine, path)
    assert machine_file.read(path) == machine
    assert [item.name for item in path.parent.iterdir()] == ["m.toml"]


def example():
    segment = Segment(from_bytes=0, to_bytes=8, t0_s=1e-6, t0_ci=(9e-7, 1.1e-6))
    model = FittedModel(transport="mpi", pattern="pingpong", ranks=2, segments=(segment,))
    return Machine(name="here", models=(model,))


def test_a_file_without_loggp_is_read(tmp_path):
    path = tmp_path / "m.toml"
    text = machine_file.encode(example()).decode()
    assert "loggp = []\n" in text
    path.write_text(text.replace("loggp = []\n", ""))
    assert machine_file.read(path) == example()


def test_an_infinite_rate_is_absent_in_the_file():
    text = machine_file.encode(example()).decode()
    assert "r_inf_Bps" not in text
    assert "n_half_bytes" not in text
    assert text.startswith("schema = 1\n")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no schema"),
        (b"schema = ", "not a machine file"),
        (b"\xff\xfe\x00", "not a machine file"),
        (b"schema = 2\nname = 'x'\n", "version 2"),
        (b"schema = 'one'\nname = 'x'\n", "no schema"),
        (b"schema = true\nname = 'x'\n", "no schema"),
        (b"schema = 1\n", "name"),
        (b"schema = 1\nname = 3\n", "not a machine file"),
        (b"schema = 1\nname = 'x'\nmodels = [{pattern = 'p'}]\n", "not a machine file"),
    ],
)
def test_other_files_are_refused_in_one_line(content, words, tmp_path):
    path = tmp_path / "m.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as error:
        machine_file.read(path)
    assert "\n" not in str(error.value)


def test_every_truncated_file_is_refused_or_whole(tmp_path):
    whole = machine_file.encode(example())
    path = tmp_path / "m.toml"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        try:
            machine_file.read(path)
        except InputError as error:
            assert "\n" not in str(error)


def test_missing_files_and_folders_are_told(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        machine_file.read(tmp_path / "none.toml")
    with pytest.raises(InputError, match="directory"):
        machine_file.read(tmp_path)
    with pytest.raises(MissingError, match="--out"):
        machine_file.write(example(), tmp_path / "none" / "m.toml")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "m.toml"
    machine_file.write(example(), path)
    before = path.read_bytes()

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(MissingError, match="No space"):
        machine_file.write(Machine(name="other"), path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["m.toml"]
