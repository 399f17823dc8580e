"""The plan of an earlier run."""

from __future__ import annotations

from pathlib import Path

from nhalf.exchange.logs.imported_run import write_run
from nhalf.exchange.logs.log import LogFile, read_file
from nhalf.measure.plan.like import plan_like
from nhalf.measure.plan.request import PlanRequest

LOG = Path(__file__).parents[3] / "data/logs/osu_gpu.txt"


def test_imported_points_in_gpu_memory_are_measured_there(tmp_path: Path) -> None:
    log, size_bytes = read_file(LOG, 2)
    run, _ = write_run([LogFile(LOG, size_bytes, log)], tmp_path / "run", placement="cores")
    blocks = plan_like(PlanRequest(), run).blocks
    asked = {(block.patterns[0], block.axes.get("memory", ""), block.bytes) for block in blocks}
    assert ("pingpong", "device-host", "8") in asked
    assert ("bcast", "managed", "8") in asked
