"""Whatever is in the files: no verb prints what no reader can believe, nor a traceback.

CSV, results of `--sql`, formulas and the formats of other programs hold numbers with all digits.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from nhalf.base.plugins import load
from nhalf.exchange.exporters import PACKAGE, Exporter
from tests.nhalf.cli.hostile_subjects import (
    write_ledger,
    write_machine,
    write_processor,
    write_promises,
    write_run,
)
from tests.nhalf.cli.hostile_traces import write_trace
from tests.nhalf.cli.in_process import call_here
from tests.nhalf.present.hostile import absurd
from tests.schemas import check_schema
from tests.server import Ended

Words = tuple[Any, ...]
FORMS = ((), (), ("--json",), ("--format", "markdown"))
CREATED_S = (0.0, 1.7e9, 1.8e9, 1e300, -1e300, float("nan"))


def machines(draw: random.Random, seed: int, folder: Path) -> Iterator[Words]:
    machine = write_machine(seed, folder / "machine.toml")
    other = write_machine(seed + 1, folder / "other.toml")
    yield "show", machine, *draw.choice(FORMS)
    yield "machines", "list", folder, *draw.choice(FORMS)
    ranks = draw.choice(((), ("--ranks", "2,16")))
    yield "compare", machine, draw.choice((other, "sp2-mpl")), *ranks, *draw.choice(FORMS)
    yield "show", machine, "--formula", draw.choice(("text", "latex", "python"))


SOURCE = """double a[1000], b[1000];
void triad(double s) { for (int i = 0; i < 1000; i++) a[i] = a[i] + s * b[i]; }
double sum(void) { double r = 0; for (int i = 0; i < 1000; i++) r += a[i] / b[i]; return r; }
"""


def bounds(draw: random.Random, seed: int, folder: Path) -> Iterator[Words]:
    source = folder / "source.c"
    source.write_text(SOURCE, "utf-8")
    processor = write_processor(seed, folder / "processor.toml")
    yield "bound", source, "--machine", processor, *draw.choice(FORMS)


def machine_pages(draw: random.Random, seed: int, folder: Path) -> Iterator[Words]:
    machine = write_machine(seed, folder / "machine.toml")
    yield "compare", machine, "sp2-mpl", "--ranks", "2,16", "--report", folder / "page.html"
    yield "predict", "bcast", "--machine", machine, "--report", folder / "page.html"


def predictions(draw: random.Random, seed: int, folder: Path) -> Iterator[Words]:
    machine = write_machine(seed, folder / "machine.toml")
    for subject in ("bcast", "allreduce", "pingpong", "beff", "traffic"):
        ranks = ("--ranks", draw.choice(("2", "2,4", "16")))
        beyond = () if subject in ("beff", "traffic") else draw.choice(((), ("--extrapolate",)))
        yield "predict", subject, "--machine", machine, *ranks, *beyond, *draw.choice(FORMS)
    yield "predict", "bcast", "--machine", machine, "--record", "--ledger", folder / "ledger"


def traces(draw: random.Random, seed: int, folder: Path) -> Iterator[Words]:
    trace = write_trace(seed, folder / "trace")
    machine = write_machine(seed, folder / "machine.toml")
    yield "show", trace, *draw.choice(FORMS)
    target = draw.choice((machine, "sp2-mpl", "altix-bx2"))
    yield "predict", trace, "--machine", target, *draw.choice(FORMS)
    factor = draw.choice(("1", "1e-300", "1e300"))
    yield "predict", trace, "--machine", "sp2-mpl,altix-bx2", "--computing-factor", factor
    yield "export", trace, "--to", draw.choice(("chrome", "simgrid-replay", "goal"))


def trace_pages(draw: random.Random, seed: int, folder: Path) -> Iterator[Words]:
    trace = write_trace(seed, folder / "trace")
    yield "report", trace, "--out", folder / "page.html"
    yield "report", trace, "--out", folder / "page.html", "--json"


def ledgers(draw: random.Random, seed: int, folder: Path) -> Iterator[Words]:
    ledger = write_ledger(seed, folder / "ledger")
    yield "predict", "--score", "--ledger", ledger, *draw.choice(FORMS)


def checks(draw: random.Random, seed: int, folder: Path) -> Iterator[Words]:
    run = write_run(seed, folder / "run", started_s=draw.choice(CREATED_S))
    accepted = write_run(seed, folder / "accepted", 1)
    promises = write_promises(seed, folder / "promises.toml")
    machine = write_machine(seed, folder / "machine.toml")
    for baseline in (("--expect", promises), ("--expect", machine), ("--against", accepted)):
        points = draw.choice(((), ("--points",)))
        junit = ("--junit", folder / "junit.xml")
        yield "check", run, *baseline, *points, *junit, *draw.choice(FORMS)


def comparisons(draw: random.Random, seed: int, folder: Path) -> Iterator[Words]:
    runs = [write_run(seed, folder / f"run{visit}", visit) for visit in range(3)]
    yield "compare", *runs[:2], *draw.choice(((), ("--points",))), *draw.choice(FORMS)
    yield "compare", *runs, *draw.choice(FORMS)
    yield "compare", *runs[:2], "--format", "csv"


def histories(draw: random.Random, seed: int, folder: Path) -> Iterator[Words]:
    for visit in range(draw.choice((2, 3, 6))):
        day = 1.7e9 + visit * 86400
        write_run(seed, folder / f"runs/{visit}", visit, draw.choice((*CREATED_S, day, day, day)))
    points = draw.choice(((), ("--points",), ("--report", folder / "page.html")))
    yield "history", folder / "runs", *points, *draw.choice(FORMS)


def runs(draw: random.Random, seed: int, folder: Path) -> Iterator[Words]:
    run = write_run(seed, folder / "run")
    yield "show", run, *draw.choice((*FORMS, ("--style", "osu"), ("--style", "imb")))
    yield "fit", run, *draw.choice(FORMS)
    table = draw.choice(("points", "launches", "samples", "runs", "extras"))
    yield (
        "show",
        "--sql",
        f"select * from {table}",
        run,
        *draw.choice((*FORMS, ("--format", "csv"))),
    )
    yield "export", run, "--to", draw.choice(sorted(load(PACKAGE, Exporter)))


AREAS: dict[str, Callable[[random.Random, int, Path], Iterator[Words]]] = {
    area.__name__: area
    for area in (
        *(machines, bounds, machine_pages, predictions, traces, trace_pages),
        *(ledgers, checks, comparisons, histories, runs),
    )
}
EXAMPLES = {
    "bounds": 6,
    "ledgers": 20,
    "machine_pages": 1,
    "predictions": 4,
    "traces": 6,
    "trace_pages": 1,
}
"""Examples in the first tier, by what they take; of the others 3."""
LONG = re.compile(r"\d{8,}|\d+\.\d{6,}")


def complaints(area: str, seed: int, folder: Path) -> list[str]:
    """What is wrong with the output of each command line of an area."""
    draw = random.Random(f"{area} {seed}")
    wrong = []
    for words in AREAS[area](draw, seed, folder):
        ended = call_here(*words, folder=folder)
        line = " ".join(map(str, words)).replace(str(folder), "…")
        wrong += [f"{line}: {text}" for text in _wrong(words, ended, folder)]
    return wrong


def _wrong(words: Words, ended: Ended, folder: Path) -> Iterator[str]:
    if ended.code not in (0, 1, 2, 3) or re.search("Traceback|Warning: ", ended.err):
        yield f"ends with {ended.code}: {ended.err[-600:]}"
    elif ended.code > 1 and ended.err.count("\n") != 1:
        yield f"says more than a line: {ended.err}"
    if ended.out.startswith("{") and words[0] != "export":
        json.loads(ended.out, parse_constant=_refused)
        check_schema(ended.out)
    else:
        for line in _texts(words, ended):
            if found := absurd(line.replace(str(folder), "")):
                yield f"{found} in {line.strip()[:300]}"
    for page in folder.glob("*.html"):
        for line in _page_texts(page.read_text("utf-8")):
            if found := absurd(line.replace(str(folder), "")):
                yield f"{found} on the page, in {line[:300]}"
        page.unlink()
    if (folder / "junit.xml").exists():
        yield from _junit_texts(folder / "junit.xml")


def _refused(token: str) -> float:
    raise ValueError(f"{token} is no JSON")


def _texts(words: Words, ended: Ended) -> Iterator[str]:
    """The lines for people; of what others read only that it has no number that is none."""
    is_raw = words[0] == "export" or {"csv", "--style", "--sql"} & set(map(str, words))
    for line in (*ended.out.splitlines(), *ended.err.splitlines()):
        if not is_raw:
            yield LONG.sub("", line) if "--formula" in words else line
        elif words[0] != "export":
            yield re.sub(r"[\d.]+", "", line)


def _page_texts(page: str) -> Iterator[str]:
    """The text of a page, without its styles, programs and data."""
    text = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", page)
    return filter(None, map(str.strip, re.sub(r"<[^>]*>", "\n", text).splitlines()))


def _junit_texts(path: Path) -> Iterator[str]:
    for case in xml.parse(path).iter():
        for text in (*case.attrib.values(), case.text or ""):
            if found := absurd(text):
                yield f"{found} in JUnit: {text.strip()[:300]}"
    path.unlink()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("area", AREAS)
def test_no_verb_prints_what_nobody_can_believe(
    area: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @settings(
        max_examples=EXAMPLES.get(area, 3),
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],  # a smaller seed is not a simpler one
        suppress_health_check=list(HealthCheck),
    )
    @given(seed=st.integers(0, 10**9))
    def ask(seed: int) -> None:
        assert complaints(area, seed, tmp_path_factory.mktemp("hostile")) == []

    ask()


@pytest.mark.full
@pytest.mark.parametrize("hundred", range(10))
@pytest.mark.parametrize("area", AREAS)
def test_nor_do_a_thousand_of_each(
    area: str, hundred: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = [
        f"seed {seed}: {complaint}"
        for seed in range(100 * hundred, 100 * hundred + 100)
        for complaint in complaints(area, seed, tmp_path_factory.mktemp("hostile"))
    ]
    assert found == []
