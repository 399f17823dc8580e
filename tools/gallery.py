"""The gallery of the documentation: what old studies measured, on their machines as simulated.

`python tools/gallery.py [--only NAME,...]` simulates again what docs/gallery/*.json holds, and
draws docs/gallery/*.png; `gallery_tables.py` makes tables of the former. Needs SimGrid and
some minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "gallery"
TIMEOUT_S = 3600
DIGITS = 9
"""Of kept times: what comes after them depends on when in the simulation a message was sent."""
PIXEL_RATIO = 1.0

DENSE = "dense-alltoall,dense-pairwise,dense-cumulative,dense-random"
STAGES = {"butterfly": "2:ranks/2:x2", "baseline": "2:ranks/2:x2", "cube": "1:ranks/2:x2"}
RULES = "uniform,bit-reversal,complement,transpose,shuffle,neighbour"


@dataclass(frozen=True)
class Simulation:
    """One question to SimGrid: its name, the machine, further options, panels to draw."""

    name: str
    machine: str
    options: tuple[str, ...]
    panels: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The arguments after `nhalf`."""
        return ["predict", "--engine", "simgrid", "--machine", self.machine, *self.options]


def pattern(name: str, machine: str, patterns: str, *options: str) -> Simulation:
    """A simulation of patterns."""
    return Simulation(f"{name}-{machine}", machine, ("--pattern", patterns, *options))


def simulations() -> Iterator[Simulation]:
    """All of the gallery, the short ones first."""
    yield from two_ranks()
    yield from barriers()
    yield from collectives()
    yield from traffic()
    yield from dense()


def two_ranks() -> Iterator[Simulation]:
    """What a ping-pong does not say of two ranks."""
    yield pattern("pair", "sp2-mpl", "exchange", "--bytes", "16,8K,64K,1M")
    yield pattern("pair", "sunfire-link", "stream", "--bytes", "1,1M", "--placement", "other-node")


def barriers() -> Iterator[Simulation]:
    """Barriers of all machines that have a published one."""
    for machine, ranks in (
        ("sp1-mpl", "2,4,8,16,32"),
        ("sp2-mpl", "2,4,8,16,32"),
        ("sp2-pvme", "2,4,8,16"),
        ("spp1000-pvm", "2,4,8"),
        ("pentiumpro-ethernet", "3,5,7,9,12,14,16"),
        ("myrinet-gm", "2,4,8,16"),
        ("sunfire-link", "4,8,16,32,64"),
    ):
        yield pattern("barrier", machine, "barrier", "--ranks", ranks)
    here = ("--ranks", "2,4,8,16", "--placement", "same-node")
    yield Simulation("barrier-sunfire-link-node", "sunfire-link", ("--pattern", "barrier", *here))


def collectives() -> Iterator[Simulation]:
    """Patterns of many ranks for which a record has a formula."""
    fans = "one-to-many,many-to-one,many-to-many,bcast,allreduce"
    sizes = ("--bytes", "16,4K,64K")
    for machine, patterns, ranks in (
        ("sp1-mpl", fans, "4,8,16,32"),
        ("sp2-mpl", fans, "4,8,16,32"),
        ("sp2-pvme", "one-to-many,many-to-many,bcast", "4,8,16"),
        ("spp1000-pvm", "one-to-many,many-to-many,bcast", "4,8"),
    ):
        yield pattern("collectives", machine, patterns, "--ranks", ranks, *sizes)


def traffic() -> Iterator[Simulation]:
    """Permutations: whole ones, then each stage of those that have stages."""
    for machine, ranks, placement in (
        ("sunfire-link", "32", "4x8"),
        ("myrinet-gm", "16", "8x2:cyclic"),
    ):
        here = ("--ranks", ranks, "--placement", placement, "--bytes", "10K", "--axis", "load=100")
        options = ("--pattern", "traffic", *here)
        yield Simulation(f"traffic-{machine}", machine, (*options, "--axis", f"to={RULES}"))
        for rule, stages in STAGES.items():
            axes = ("--axis", f"to={rule}", "--axis", f"distance={stages}")
            yield Simulation(f"traffic-{machine}-{rule}", machine, (*options, *axes))


def dense() -> Iterator[Simulation]:
    """Dense patterns: the study had 512 processors of the Altix and the PowerEdge cluster."""
    for machine, placement, ranks in (
        ("x1-ssp", "3x16", "48"),
        ("opteron-myrinet", "32x2", "64"),
        ("altix-bx2", "32x2", "64"),
        ("poweredge-ib", "32x2", "64"),
    ):
        here = ("--ranks", ranks, "--placement", placement, "--bytes", "256K")
        options = ("--pattern", DENSE, *here)
        yield Simulation(f"dense-{machine}", machine, options, ("dense",))


def simulated(of: Simulation, run: Path) -> dict[str, Any]:
    """What SimGrid answers; the run lies in a new folder."""
    command = [sys.executable, "-m", "nhalf", *of.words, "--out", str(run), "--json", "--quiet"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def kept(of: Simulation, answer: dict[str, Any]) -> dict[str, Any]:
    """The little of an answer that the tables need; parts of a derived result are left out."""
    results = answer.get("results", {})
    groups: dict[tuple[Any, ...], dict[str, Any]] = {}
    for point in () if "b_eff" in results else answer["points"]:
        names = ("pattern", "algorithm", "ranks", "placement", "bytes")
        group = groups.setdefault(
            tuple(point[name] for name in names),
            {**{name: point[name] for name in names}, "axes": [], "time_s": []},
        )
        group["axes"].append(",".join(f"{k}={v}" for k, v in sorted(point["axes"].items())))
        group["time_s"].append(rounded(point["median_s"]))
    wanted = {
        "command": ["nhalf", *of.words],
        "machine": of.machine,
        "groups": list(groups.values()),
    }
    return {**wanted, "results": rounded({name: part["rows"] for name, part in results.items()})}


def rounded(value: Any) -> Any:
    """The same with all numbers that are not whole cut to this many digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items() if name != "run"}
    return [rounded(part) for part in value] if isinstance(value, list) else value


def text(content: dict[str, Any]) -> str:
    """As JSON: a line for each group and each row."""
    groups = ",\n  ".join(json.dumps(group) for group in content["groups"])
    results = ",\n  ".join(
        f"{json.dumps(name)}: [\n   " + ",\n   ".join(map(json.dumps, rows)) + "]"
        for name, rows in content["results"].items()
    )
    head = f' "command": {json.dumps(content["command"])},\n "machine": "{content["machine"]}"'
    return f'{{\n{head},\n "groups": [\n  {groups}],\n "results": {{{results}}}\n}}\n'


def draw(of: Simulation, run: Path) -> None:
    """The panels of a simulation, in docs/gallery."""
    from nhalf.facts.facts import Facts
    from nhalf.present.report.images import picture
    from nhalf.present.report.sections import sections
    from nhalf.store.run import Run

    for section in sections(Facts.of([Run.open(run)])):
        if section.name in of.panels and section.spec is not None:
            content = picture(section.spec, "png", PIXEL_RATIO)
            (FOLDER / f"{of.name}.png").write_bytes(content)


def main(arguments: Sequence[str]) -> int:
    """Simulate the chosen ones one after the other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="beginnings of names, separated by commas")
    only = tuple(parser.parse_args(arguments).only.split(","))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for each in simulations():
        if not each.name.startswith(only):
            continue
        print(each.name, file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            content = kept(each, simulated(each, run))
            (FOLDER / f"{each.name}.json").write_text(text(content), encoding="utf-8")
            draw(each, run)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
