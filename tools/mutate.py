"""Whether tests notice what one wrong sign does.

`python tools/mutate.py [--most 30] [--jobs 2] [WORD…]` changes one place of one line at a time in
copies of the files that decide when sampling ends and what an interval is (or of those whose path
has one of the words), runs the tests that belong to the file, and prints every change that no test
noticed. Fails where fewer than the stated share are noticed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTICED_LEAST = 0.85
UNCHANGED_MAX_S = 3600.0
PATIENCE = 10
"""A change after which tests take this many times as long as before is noticed."""
MEMORY_MAX_BYTES = 2 << 30
"""So is one after which they want more memory: a loop that never ends would take all there is."""
TARGETS = {
    "native/timing/verification.hpp": ["timing/test_criterion.cpp"],
    "native/timing/statistics.hpp": ["timing/test_statistics.cpp", "timing/test_criterion.cpp"],
    "native/timing/sampler.hpp": ["timing/test_sampler.cpp"],
    "src/nhalf/statistics/intervals.py": ["tests/nhalf/statistics/test_intervals.py"],
    "src/nhalf/statistics/same_state.py": ["tests/nhalf/statistics/test_states.py"],
}
SWAPS = (
    *((" <= ", " < "), (" < ", " <= "), (" >= ", " > "), (" > ", " >= "), (" == ", " != ")),
    *((" != ", " == "), (" + ", " - "), (" - ", " + "), (" * ", " / "), (" / ", " * ")),
    *((" && ", " || "), (" || ", " && "), (" and ", " or "), (" or ", " and ")),
    *(("max(", "min("), ("min(", "max("), ("true", "false"), ("false", "true")),
    *(("True", "False"), ("False", "True"), ("floor(", "ceil("), ("ceil(", "floor(")),
)
_NUMBER = re.compile(r"(?<![\w.\[<])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
_QUOTED = re.compile(r'"[^"]*"')
"""What is in quotes is read by people."""
_NO_CODE = re.compile(r'^\s*(?://|#|"""|\*|import |from |template|static_assert|@)')


@dataclass(frozen=True)
class Mutation:
    """A line of a file as it is and as it would be wrong."""

    path: str
    number: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.number}: {self.before.strip()}  ->  {self.after.strip()}"


def mutations(path: str, text: str) -> Iterator[Mutation]:
    """Every change of one place in a file's code."""
    in_prose = False
    # A field's default is nobody's error.
    default = re.compile(r"\s*[\w:]+ \w+ = [\w.-]+;")
    for number, line in enumerate(text.splitlines(), 1):
        quotes = line.count('"""')
        if not (in_prose or quotes or _NO_CODE.match(line) or default.fullmatch(line)):
            code = _QUOTED.sub(_blank, line.split("  //")[0].split("  #")[0])
            for old, new in SWAPS:
                for match in re.finditer(re.escape(old), code):
                    after = line[: match.start()] + new + line[match.end() :]
                    yield Mutation(path, number, line, after)
            for match in _NUMBER.finditer(code):
                value = float(match[0])
                other = str(int(value) + 1 if match[0].isdigit() else value * 2 + 1)
                after = line[: match.start()] + other + line[match.end() :]
                yield Mutation(path, number, line, after)
        in_prose ^= quotes % 2 == 1


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def spread(found: Sequence[Mutation], most: int) -> list[Mutation]:
    """At most this many of them, from all over the file."""
    step = max(1.0, len(found) / most)
    return [found[int(i * step)] for i in range(min(most, len(found)))]


def passes(path: str, text: str, limit_s: float) -> bool:
    """Whether the tests of a file pass where it has this text, each step within the limit."""
    run = _native if path.startswith("native/") else _python
    with tempfile.TemporaryDirectory() as folder:
        return run(path, text, Path(folder), limit_s)


def _native(path: str, text: str, folder: Path, limit_s: float) -> bool:
    """A header stands before the real one where its tests are compiled."""
    header = folder / path.removeprefix("native/")
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text(text, encoding="utf-8")
    tests = [str(ROOT / "tests/native" / name) for name in TARGETS[path]]
    folders = (folder, ROOT / "native", ROOT / "build/debian/usr/include")
    includes = [f"-I{one}" for one in folders]
    program = folder / "tests"
    command = ["c++", "-std=c++20", "-O0", "-pthread", *includes, *tests, str(_main())]
    steps = ([*command, "-o", str(program)], [str(program)])
    return all(_succeeds(step, folder, limit_s) for step in steps)


def _main() -> Path:
    """The part of the tests that is all doctest, compiled once."""
    compiled = Path(tempfile.gettempdir()) / f"nhalf-mutate-{os.getpid()}.o"
    if not compiled.exists():
        folder = ROOT / "build/debian/usr/include"
        source = ROOT / "tests/native/main.cpp"
        command = ["c++", "-std=c++20", f"-I{folder}", "-c", str(source), "-o", str(compiled)]
        subprocess.run(command, check=True)
    return compiled


def _python(path: str, text: str, folder: Path, limit_s: float) -> bool:
    """The package and its tests are copied, with the file changed."""
    for name in ("src", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "_native", "data", "native")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored, dirs_exist_ok=True)
    for name in ("pyproject.toml", "tools"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(ROOT / name)
    (folder / path).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    return _succeeds([*command, *TARGETS[path]], folder, limit_s)


def _succeeds(command: Sequence[str], folder: Path, limit_s: float) -> bool:
    """Whether a command ends well, in time, and within the memory that it may have."""
    limited = ["prlimit", f"--data={MEMORY_MAX_BYTES}", *command]
    try:
        done = subprocess.run(
            limited, cwd=folder, capture_output=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def unnoticed(mutation: Mutation, limit_s: float) -> bool:
    """Whether no test noticed a change."""
    lines = (ROOT / mutation.path).read_text(encoding="utf-8").splitlines()
    lines[mutation.number - 1] = mutation.after
    return passes(mutation.path, "\n".join(lines) + "\n", limit_s)


def main(arguments: Sequence[str]) -> int:
    """Try every change, print what no test noticed, and judge the share."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs="*", help="only files whose path has one of these words")
    parser.add_argument("--most", type=int, default=30, help="changes per file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args(arguments)
    tried_all = noticed_all = 0
    _main()
    for path in TARGETS:
        if chosen.words and not any(word in path for word in chosen.words):
            continue
        text = (ROOT / path).read_text(encoding="utf-8")
        began_s = time.monotonic()
        if not passes(path, text, UNCHANGED_MAX_S):
            print(f"{path}: its tests fail as it is")
            return 1
        limit_s = PATIENCE * (time.monotonic() - began_s)
        tried = spread(list(mutations(path, text)), chosen.most)
        with ThreadPoolExecutor(chosen.jobs) as pool:
            alive = pool.map(partial(unnoticed, limit_s=limit_s), tried)
            survivors = [one for one, lives in zip(tried, alive, strict=True) if lives]
        share = 1 - len(survivors) / len(tried)
        tried_all += len(tried)
        noticed_all += len(tried) - len(survivors)
        print(
            f"{path}: {len(tried) - len(survivors)} of {len(tried)} noticed ({share:.0%})",
            flush=True,
        )
        for mutation in survivors:
            print(f"  {mutation}", flush=True)
    _main().unlink()
    good = noticed_all >= NOTICED_LEAST * tried_all
    print(f"{noticed_all} of {tried_all} noticed; at least {NOTICED_LEAST:.0%} have to be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
