"""Tables of a node: sweeps by size and stride, and the reach of translation."""

from pathlib import Path
from typing import cast

from nhalf.facts.facts import Facts
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.records import Records
from nhalf.measure.plan.state import RunState
from nhalf.node.measuring import CoreProbe, ask
from nhalf.present.panels.node import LoadLatency, Sweeps
from nhalf.results.translation import Translation
from nhalf.store.record import event
from nhalf.store.run import Run
from tests.nhalf.facts.test_node import of_reading
from tests.nhalf.node.synthetic_core import SyntheticCore


def test_sweeps_and_translation_are_tables_and_pictures(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "node", {"environment": {"host": "n1"}})
    with run.journal() as journal:
        records = Records(journal, RunState(), Progress(quiet=True))
        core = SyntheticCore()
        ask(cast("CoreProbe", core))
        for position, one in enumerate(core.readings):
            records.journal.append(event("point", "node", of_reading(position, one)))
    run.finish()
    facts = Facts.of([run])
    sweeps = facts.results["sweeps"]
    assert [row["size_bytes"] for row in sweeps] == [2**k << 10 for k in range(4, 14)]
    assert all(row[f"{kind}_{stride}_cycles"] > 0 for row in sweeps for kind in ("load", "store")
               for stride in (8, 64, 256))  # fmt: skip
    near, far = facts.results["translation"]
    assert (near["level"], near["pages"], near["reach_bytes"]) == (1, 64, 256 << 10)
    assert near["reach_bytes_ci"] == [256 << 10, 320 << 10]
    (said,) = Translation().sentences(far)
    assert said.startswith("Load-to-use latency in 32 MiB: ")
    assert far["doubts"] == []
    drawn = [panel.render(facts) for panel in (Sweeps(), LoadLatency())]
    texts = [chart.to_json() for chart in drawn if chart is not None]
    assert "every 256 B" in texts[0]
    assert "small pages" in texts[1]
