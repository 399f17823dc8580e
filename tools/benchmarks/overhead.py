"""What does the harness add to a message?"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.pages import table
from benchmarks.programs import run


def measure(runs: int) -> tuple[Any, str]:
    """The sampler around calls that do nothing."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "overhead")
        root = Path(__file__).resolve().parents[2]
        source = root / "tests" / "native" / "bench" / "overhead.cpp"
        compile_command = ["c++", "-std=c++20", "-O3", "-DNDEBUG", "-I", str(root / "native")]
        run([*compile_command, str(source), "-o", str(program)], {})
        lines = [run([str(program)], {}).split() for _ in range(runs)]
    bare = statistics.median(float(line[0]) for line in lines)
    sampled = statistics.median(float(line[1]) for line in lines)
    figures = {"bare_s": bare, "sampled_s": sampled, "added_s": sampled - bare}
    page = table(
        f"What the harness adds to one message, median of {runs} runs",
        "Calls that do nothing, in a plain loop between two clock readings and under the sampler.",
        ["plain loop (ns)", "sampler (ns)", "added (ns)"],
        [[f"{bare * 1e9:.3f}", f"{sampled * 1e9:.3f}", f"{(sampled - bare) * 1e9:.3f}"]],
    )
    return figures, page
