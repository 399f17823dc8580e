# SPDX-License-Identifier: Apache-2.0
"""Run a program that may fail, hang or talk without end, and always come back."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

OUTPUT_BYTES_MAX = 1 << 20
GRACE_S = 2.0


@dataclass(frozen=True)
class Outcome:
    """How a program ended: `exit_code` is None where it was stopped, and `stopped` says why."""

    exit_code: int | None
    stdout: str
    stderr: str
    stopped: str = ""

    @property
    def succeeded(self) -> bool:
        """It ended by itself, and well."""
        return self.exit_code == 0

    @property
    def reason(self) -> str:
        """One line on why it did not succeed, with the first line it had to say."""
        text = self.stopped
        if not text:
            code = self.exit_code or 0
            text = f"died of signal {-code}" if code < 0 else f"exit code {code}"
        said = next((line.strip() for line in _lines(self.stderr, self.stdout)), "")
        return f"{text}: {said[:200]}" if said else text


def run(
    command: Sequence[str],
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    text: str = "",
) -> Outcome:
    """Run a command in a process group of its own, with `text` on its standard input.

    `environment` is added to the present one. It never raises for what the program does: one
    that cannot be started, outlives `timeout_s` or says more than a megabyte is an outcome.
    """
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE if text else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    except OSError as error:
        return Outcome(None, "", "", f"cannot be started: {error.strerror or error}")
    with process:
        try:
            if process.stdin is not None:
                with suppress(BrokenPipeError):
                    process.stdin.write(text.encode())
                    process.stdin.close()
            return _collect(process, timeout_s)
        finally:
            stop_group(process)


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group: asked politely first, so that a launcher ends its ranks."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    # The leader may have gone while children of its group are still there.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _collect(process: subprocess.Popen[bytes], timeout_s: float) -> Outcome:
    """Read both outputs until the program ends, the time is over or it has said too much."""
    assert process.stdout is not None and process.stderr is not None
    said = {process.stdout: bytearray(), process.stderr: bytearray()}
    deadline_s = time.monotonic() + timeout_s
    stopped = ""
    with selectors.DefaultSelector() as selector:
        for stream in said:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and not stopped:
            left_s = deadline_s - time.monotonic()
            # A child may keep the pipe open after its parent's end: look at both.
            for key, _ in selector.select(max(0.0, min(left_s, 0.1))):
                chunk = os.read(key.fd, 65536)
                said[key.fileobj] += chunk  # type: ignore[index]
                if not chunk:
                    selector.unregister(key.fileobj)
            if sum(map(len, said.values())) > OUTPUT_BYTES_MAX:
                stopped = "says more than a megabyte"
            elif left_s <= 0:
                stopped = f"no end within {timeout_s:g} s"
            elif process.poll() is not None and not selector.select(0):
                break
    if not stopped:
        try:
            process.wait(max(0.0, deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            stopped = f"no end within {timeout_s:g} s"
    exit_code = None if stopped else process.returncode
    stdout, stderr = (bytes(part).decode(errors="replace") for part in said.values())
    return Outcome(exit_code, stdout, stderr, stopped)


def _lines(*texts: str) -> list[str]:
    """The lines that say something: neither blank nor a ruler."""
    return [line for text in texts for line in text.splitlines() if line.strip(" -=*\t")]
