"""The command line in the process of the test: a thousand calls take a minute, not an hour."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from nhalf.__main__ import main
from tests.server import Ended


def call_here(*words: str | Path, folder: Path) -> Ended:
    """`nhalf WORDS` in a folder, which also holds the user's data; a traceback goes to `err`."""
    out, err = io.StringIO(), io.StringIO()
    with _process_of(words, folder), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except Exception:
            traceback.print_exc(file=err)
            code = 1
    return Ended(code, out.getvalue(), err.getvalue())


@contextmanager
def _process_of(words: tuple[str | Path, ...], folder: Path) -> Iterator[None]:
    """What a process has: its words, its folder, its variables, its handler of signals."""
    before = Path.cwd()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    folders = {"XDG_DATA_HOME": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache")}
    typed = ["nhalf", *map(str, words)]
    os.chdir(folder)
    try:
        with (
            patch.object(sys, "argv", typed),
            patch.dict(os.environ, folders),
        ):
            yield
    finally:
        os.chdir(before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
