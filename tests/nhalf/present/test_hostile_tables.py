"""Tables of verbs that measure (tune, node, simulate), of results that no machine gives."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from nhalf.base.errors import FailedError
from nhalf.cli.verbs.node import node_json
from nhalf.decide.changes import CurveRatio, Ratio, SizeRatio
from nhalf.experiment.race import AlgorithmGain, TuningCell
from nhalf.experiment.replay import PingPongReplay, Replayed
from nhalf.experiment.tune.outcome import Checked, Tuned
from nhalf.experiment.tune.prove import Activity
from nhalf.experiment.tune.search import SearchResult
from nhalf.machines.processor import Processor, ProcessorOperation
from nhalf.present.terminal import predictions
from nhalf.present.terminal.node import show_node
from nhalf.present.terminal.output import emit_json, stdout_console
from nhalf.present.terminal.tune import show_checked, show_tuned
from nhalf.results.translation import Translation
from tests.nhalf.present.hostile import absurd

TIMES_S = (0.0, 1e-300, 1e-12, 1.234567891e-6, 1.0, 1e12, 1e300, math.nan)
RATIOS = (*TIMES_S, math.inf, 1.02, 0.5)
POSITIVE = (1e-300, 1e-9, 0.123456789, 1.0, 2.0, 1e9, 1e300)
SIZES = (0, 1, 1000, 2**20, 2**62)
BENCH: Any = SimpleNamespace(
    library=SimpleNamespace(name="mpich-5.0.2", title="MPICH 5.0.2"),
    folder=Path("runs/tune"), notes=["a note"], machine=None,
    tuner=SimpleNamespace(note="a note"), criterion="completion",
)  # fmt: skip


def tuned(draw: random.Random) -> None:
    cells = [TuningCell("bcast", draw.choice((2, 10**6)), size) for size in SIZES]
    gains = {
        cell: [AlgorithmGain(cell, "binomial", draw.choice((0, 1, 5)), *_logs(draw), math.nan)]
        for cell in cells[: draw.randint(0, 3)]
    }
    screening: Any = dict.fromkeys(cells)
    result = SearchResult(screening, {}, gains, cells[: draw.randint(0, 2)])
    outcome = Tuned(result, [], None, {}, _activity(draw, cells[0]), [_curve(draw)], cells[:1])
    show_tuned(stdout_console(), BENCH, outcome)
    checked = Checked([], {"NAME": "value"}, _activity(draw, cells[0]), [_curve(draw)])
    show_checked(stdout_console(), BENCH, checked)
    emit_json(checked.as_json())


def _logs(draw: random.Random) -> tuple[float, float, float]:
    log_ratio = draw.choice((-600.0, -1.0, 0.0, 0.1, 600.0))
    return log_ratio, *draw.choice(((math.nan, math.nan), (log_ratio - 0.1, log_ratio + 700.0)))


def _activity(draw: random.Random, cell: TuningCell) -> Activity:
    seconds = (draw.choice(TIMES_S) for _ in range(3))
    return Activity("active", cell, "linear", *seconds, draw.choice(RATIOS), "it is as slow")


def _ratio(draw: random.Random) -> Ratio:
    return Ratio(*(draw.choice(RATIOS) for _ in range(3)))


def _curve(draw: random.Random) -> CurveRatio:
    sizes = [
        SizeRatio(size, draw.choice(TIMES_S), draw.choice(TIMES_S), _ratio(draw), "unclear")
        for size in SIZES
    ]
    point = {"pattern": "bcast", "ranks": 4}
    return CurveRatio(point, "default", "tuned", 3, _ratio(draw), "unclear", sizes, 1.02)


def node(draw: random.Random) -> None:
    caches = [
        {
            "level": level, "size_bytes": draw.choice((None, *SIZES)), "line_bytes": 64,
            "size_ci": draw.choice((None, (1.0, 2.0**40), (float(SIZES[0]), float(SIZES[0])))),
            "ways": draw.choice((None, 8)), "hit_s": draw.choice(TIMES_S),
            "hit_cycles": draw.choice(TIMES_S), "miss_s": draw.choice((None, *TIMES_S)),
            "doubts": ["a doubt"],
        }
        for level in (1, 2)
    ]  # fmt: skip
    tables = [
        {"level": 1, "pages": draw.choice((0, 64, 10**6)), "reach_bytes": draw.choice(SIZES),
         "beyond_bytes": draw.choice(SIZES), "miss_s": draw.choice(TIMES_S),
         "miss_cycles": draw.choice(TIMES_S), "miss_cycles_ci": [0.0, math.inf]}
    ]  # fmt: skip
    sweeps = [
        {"size_bytes": draw.choice(SIZES), "load_8_cycles": draw.choice(TIMES_S),
         "load_64_cycles": draw.choice(TIMES_S), "store_8_cycles": draw.choice(TIMES_S)}
    ]  # fmt: skip
    stream = [
        {
            "level": "L1",
            "ranks": 4,
            "copy_Bps": draw.choice(RATIOS),
            "marks": draw.choice(({}, {"copy": "others had the core"})),
            "doubts": [],
        }
    ]
    results = {"caches": caches, "translation": tables, "sweeps": sweeps, "stream": stream}
    facts: Any = SimpleNamespace(results=results)
    run: Any = SimpleNamespace(path=Path("runs/node"), environment={"announced": []})
    show_node(run, facts, _processor(draw), None)
    print(Translation().line(tables[0]))
    emit_json(node_json(run, facts, _processor(draw)))


def _processor(draw: random.Random) -> Processor:
    content = {
        "name": "a core", "clock_hz": draw.choice(POSITIVE), "issue_per_cycle": 4.0,
        "store_forward_cycles": draw.choice(POSITIVE),
        "operations": (
            ProcessorOperation(
                name="add", per_cycle=draw.choice(POSITIVE), latency_cycles=draw.choice(POSITIVE)
            ),
        ),
    }  # fmt: skip
    return msgspec.convert(content, Processor)


def simulated(draw: random.Random) -> None:
    sizes = tuple(
        Replayed(size, draw.choice(TIMES_S), (0.0, 0.0), *(draw.choice(TIMES_S) for _ in range(2)))
        for size in SIZES
    )
    one_pingpong = [PingPongReplay("mpich", "cores", sizes)]
    for as_json in (False, True):
        try:
            predictions.show_replays(one_pingpong, as_json=as_json)
        except FailedError as error:
            print(error)


AREAS = {area.__name__: area for area in (tuned, node, simulated)}


def complaints(area: str, seed: int, capsys: pytest.CaptureFixture[str]) -> list[str]:
    AREAS[area](random.Random(f"{area} {seed}"))
    wrong = []
    for line in capsys.readouterr().out.splitlines():
        if line.startswith("{"):
            json.loads(line, parse_constant=_refused)
        elif found := absurd(line):
            wrong.append(f"seed {seed}: {found} in {line.strip()}")
    return wrong


def _refused(token: str) -> float:
    raise ValueError(f"{token} is no JSON")


@pytest.mark.parametrize("area", AREAS)
def test_no_table_says_what_nobody_can_believe(
    area: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[str] = []

    @settings(
        max_examples=20, derandomize=True, database=None, deadline=None, phases=[Phase.generate]
    )
    @given(seed=st.integers(0, 10**9))
    def ask(seed: int) -> None:
        found.extend(complaints(area, seed, capsys))

    ask()
    assert found == []


@pytest.mark.full
@pytest.mark.parametrize("area", AREAS)
def test_nor_does_any_of_a_thousand(area: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert [text for seed in range(1000) for text in complaints(area, seed, capsys)] == []
