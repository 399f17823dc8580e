"""Machine files come back as they went, and damaged ones are refused in one line."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nhalf.base.errors import InputError, MissingError
from nhalf.machines import machine_file
from nhalf.machines.machine import (
    Breakpoint,
    FittedModel,
    LogGP,
    Machine,
    Network,
    Node,
    Overheads,
    PatternModel,
    PeriodicSteps,
    Protocol,
    PublishedPoint,
    Segment,
)
from nhalf.machines.topology import Crossbar, FatTree, Hypercube, Multistage, SharedMemory, Torus
from nhalf.models.terms import TERMS

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
    t0_ci=st.none() | pairs,
    r_inf_Bps=rates,
    r_inf_ci=st.none() | pairs,
    n_half_bytes=rates,
    n_half_ci=st.none() | pairs,
    root_s=st.floats(-1, 1),
)
breakpoints = st.builds(
    Breakpoint,
    low_bytes=sizes,
    high_bytes=sizes,
    at_bytes=amounts,
    change_percent=st.floats(-100, 1e6),
    kind=st.sampled_from(["jump", "bend"]),
)
steps = st.builds(
    PeriodicSteps, offset_bytes=sizes, period_bytes=sizes, height_s=amounts, height_ci=pairs
)
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
counts = st.integers(1, 64)
several = st.lists(counts, min_size=1, max_size=3).map(tuple)
trees = several.flatmap(
    lambda down: st.builds(
        FatTree,
        down=st.just(down),
        up=st.tuples(*[counts] * len(down)),
        cables=st.tuples(*[counts] * len(down)),
    )
)
topologies = st.one_of(
    st.just(SharedMemory()),
    st.builds(Crossbar, nodes=st.integers(0, 4096)),
    trees,
    st.builds(Multistage, radix=st.integers(2, 8), stages=counts, nodes=counts),
    st.builds(Torus, dimensions=several),
    st.builds(Hypercube, dimension=st.integers(1, 30)),
)
networks = st.builds(
    Network,
    topology=topologies,
    bandwidth_Bps=times,
    latency_s=times,
    adapter_Bps=times,
    duplex=st.booleans(),
)
sums = st.dictionaries(st.sampled_from(sorted(TERMS)), st.floats(-1, 1), max_size=3)
patterns = st.builds(
    PatternModel,
    pattern=words,
    placement=words,
    to_bytes=st.none() | sizes,
    to_ranks=st.none() | counts,
    startup_s=sums,
    per_byte_s=sums,
    per_root_byte_s=sums,
    source=words,
)
points = st.builds(
    PublishedPoint,
    pattern=words,
    ranks=counts,
    size_bytes=st.none() | sizes,
    time_s=times,
    rate_Bps=times,
    what=words,
)
machines = st.builds(
    Machine,
    name=words,
    schema=st.just(machine_file.SCHEMA),
    title=words,
    year=st.none() | st.integers(1940, 2100),
    source=words,
    unknown=st.lists(words, max_size=2).map(tuple),
    assumptions=st.lists(words, max_size=2).map(tuple),
    node=st.none() | st.builds(Node, ranks=counts, memory_Bps=times),
    network=st.none() | networks,
    protocol=st.none() | st.builds(Protocol, rendezvous_bytes=st.none() | sizes),
    patterns=st.lists(patterns, max_size=2).map(tuple),
    points=st.lists(points, max_size=2).map(tuple),
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


def network(topology: str) -> bytes:
    return f"schema = 1\nname = 'x'\nnetwork = {{topology = {{{topology}}}}}\n".encode()


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
        (b"schema = 1\nname = 'x'\nnode = {ranks = 0}\n", "node.ranks"),
        (network('kind = "ring"'), "not a machine file.*ring"),
        (network('kind = "torus", dimensions = []'), "dimensions"),
        (network('kind = "torus", dimensions = [4, 0]'), "dimensions"),
        (network('kind = "fat-tree", down = [4, 4], up = [1], cables = [1, 1]'), "one entry"),
        (network('kind = "hypercube", dimension = 31'), "dimension"),
    ],
)
def test_other_files_are_refused_in_one_line(content, words, tmp_path):
    path = tmp_path / "m.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as error:
        machine_file.read(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("part", ["startup_s", "per_byte_s", "per_root_byte_s"])
def test_a_term_that_is_not_known_is_told_with_its_place(part, tmp_path):
    path = tmp_path / "m.toml"
    text = f"schema = 1\nname = 'x'\npatterns = [{{pattern = 'bcast', {part} = {{'log(p)' = 1}}}}]"
    path.write_text(text)
    with pytest.raises(InputError, match=r"m.toml: patterns\[0\]: .*'log\(p\)'.*log2\(p\)"):
        machine_file.read(path)


def test_n_half_follows_from_the_other_two_where_it_is_absent():
    line = {"from_bytes": 0, "to_bytes": 8}
    assert Segment(**line, t0_s=2e-6, r_inf_Bps=1e9).n_half_bytes == pytest.approx(2000)
    assert Segment(**line, t0_s=2e-6, r_inf_Bps=1e9, n_half_bytes=5.0).n_half_bytes == 5
    assert Segment(**line, t0_s=-2e-6, r_inf_Bps=1e9).n_half_bytes == math.inf
    assert Segment(**line, t0_s=2e-6).n_half_bytes == math.inf


def test_the_time_of_a_size_is_that_of_its_segment():
    segments = (
        Segment(from_bytes=0, to_bytes=8, t0_s=1.0),
        Segment(from_bytes=9, to_bytes=100, t0_s=2.0, r_inf_Bps=4.0, root_s=-0.5),
    )
    model = FittedModel(transport="mpi", pattern="pingpong", ranks=2, segments=segments)
    assert [model.time_s(size) for size in (0, 8, 9, 100)] == [1, 1, 2.75, 22]
    for size in (-1, 101):
        with pytest.raises(InputError, match="0 to 8, 9 to 100"):
            model.time_s(size)


def test_a_pattern_covers_both_ends_of_its_ranges():
    model = PatternModel(pattern="bcast", from_bytes=2, to_bytes=4, from_ranks=3, to_ranks=5)
    sizes = [size for size in range(7) if model.covers(size, 4)]
    ranks = [ranks for ranks in range(2, 8) if model.covers(3, ranks)]
    assert (sizes, ranks) == ([2, 3, 4], [3, 4, 5])
    assert PatternModel(pattern="bcast").covers(2**40, 2**20)


def test_a_pattern_adds_three_sums():
    model = PatternModel(
        pattern="bcast",
        startup_s={"p": 1.0, "1": -0.5},
        per_byte_s={"floor(log2(p))": 0.25},
        per_root_byte_s={"p-2": -0.125},
    )
    assert model.time_s(16, 6) == 6 - 0.5 + 0.25 * 2 * 16 - 0.125 * 4 * 4


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
    with pytest.raises(InputError, match="is a folder"):
        machine_file.read(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(MissingError, match="--out"):
        machine_file.write(example(), tmp_path / "file" / "m.toml")


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
