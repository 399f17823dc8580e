"""A Python that has imported nhalf and the libraries under it, and is `python -m nhalf` when asked.

To import them takes longer than most calls do. What it forks is its own process, with its own
environment, folder, signals and exit code; no function of nhalf has been called there. Here no
thread of a library works, so that nothing is held at a fork. What nhalf imports when it starts
afresh is tested in tests/nhalf/cli/test_group.py.

One message asks for one process: JSON, and file descriptors for output, errors and the answer,
which is two lines: the process's number and, later, its exit code.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
from contextlib import suppress

MESSAGE_BYTES_MAX = 1 << 20
LIBRARIES = (
    "altair",
    "click",
    "jinja2",
    "msgspec",
    "numpy.f2py",
    "polars",
    "rich.progress",
    "rich.table",
    "scipy.cluster.hierarchy",
    "scipy.optimize",
    "scipy.spatial.distance",
    "scipy.special",
)
SCRIPTS = ("nhalf.__main__", "nhalf.base.launch.survivor")
"""Modules that do something when they are imported."""


def serve(asked: socket.socket) -> list[str] | None:
    """In a forked process the words that it was asked for; None at the end."""
    running: dict[int, tuple[int, int]] = {}
    poller = select.poll()
    poller.register(asked, select.POLLIN)
    while True:
        for ready, _ in poller.poll():
            if ready != asked.fileno():
                poller.unregister(ready)
                tell_end(ready, *running.pop(ready))
                continue
            content, files, _, _ = socket.recv_fds(asked, MESSAGE_BYTES_MAX, 3)
            if not content:
                return None
            number = os.fork()
            if number == 0:
                for end, (_, answer) in running.items():
                    os.close(end)
                    os.close(answer)
                asked.close()
                return become(json.loads(content), *files)
            out, err, answer = files
            os.close(out)
            os.close(err)
            os.write(answer, f"{number}\n".encode())
            end = os.pidfd_open(number)
            running[end] = (number, answer)
            poller.register(end, select.POLLIN)


def tell_end(end: int, number: int, answer: int) -> None:
    """Answer with the exit code of a process that has ended, below 0 for a signal."""
    code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    os.write(answer, f"{code}\n".encode())
    os.close(answer)
    os.close(end)


def become(wanted: dict[str, object], out: int, err: int, answer: int) -> list[str]:
    """Make the forked process what a started one would be; its words."""
    os.close(answer)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    # The old ones know what kind of file theirs was.
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    if wanted["session"]:
        os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(str(wanted["folder"]))
    os.environ.clear()
    os.environ.update(wanted["environment"])  # type: ignore[call-overload]
    sys.path[0] = os.getcwd()
    return list(wanted["words"])  # type: ignore[call-overload]


def import_nhalf() -> None:
    """All its modules; where the environment is read by one of them, it would be read too early."""
    import nhalf

    for module in pkgutil.walk_packages(nhalf.__path__, "nhalf."):
        if module.name not in SCRIPTS:
            importlib.import_module(module.name)


def main() -> None:
    """Serve; in a forked process, be nhalf."""
    # Ctrl-C is for the tests; they close the connection.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(asked.fileno(), False)
    for library in LIBRARIES:
        __import__(library)
    import_nhalf()
    gc.collect()
    gc.freeze()
    words = serve(asked)
    if words is not None:
        sys.argv[1:] = words
        os._exit(exit_code())


def exit_code() -> int:
    """Be nhalf to its end. Python would free every object one by one then, which takes longer than
    most calls do: all else that it does at an end is done here.
    """
    code = 0
    try:
        runpy.run_module("nhalf", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    return code


if __name__ == "__main__":
    main()
