"""Where runs and traces lie, known by the file that describes each; their content is not read."""

import os
from pathlib import Path

USUAL = Path("runs")
"""The default folder of runs and traces."""
RUN_DESCRIPTION = "run.json"
TRACE_DESCRIPTION = "trace.json"


def described_folders() -> list[Path]:
    """The runs and traces in ./runs, the newest last; of equal age in the order of their names."""
    files = [
        path / name
        for path in USUAL.glob("*")
        for name in (RUN_DESCRIPTION, TRACE_DESCRIPTION)
        if os.path.isfile(path / name)  # is_file fails in a folder that may not be entered
    ]
    return [path.parent for _, path in sorted((path.stat().st_mtime, path) for path in files)]
