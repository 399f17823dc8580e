"""Processes as the kernel lists them."""

from __future__ import annotations

import os
import subprocess

from nhalf.base.launch.process_table import family, is_running, session_members, with_variable


def test_a_process_that_nobody_waited_for_does_not_run() -> None:
    with subprocess.Popen(["/bin/true"], start_new_session=True) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_running(process.pid)
        assert session_members(process.pid) == []
    assert is_running(os.getpid())


def test_a_family_goes_beyond_a_session() -> None:
    mark = f"NHALF_TEST_OF_PROCESSES={os.getpid()}"
    # What a shell starts in the background has no input of its own.
    text = "exec 3<&0; setsid sh -c 'echo $$; read word <&3' & wait"
    with subprocess.Popen(
        ["/bin/sh", "-c", text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, **dict([mark.split("=")])},
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert family(process.pid) == [process.pid, child]
        assert session_members(process.pid) == [process.pid]
        assert sorted(with_variable(mark)) == sorted([process.pid, child])
        assert list(with_variable(f"{mark}0")) == []
        os.kill(child, 9)
