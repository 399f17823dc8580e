"""Run a program that may fail, hang or flood its output, and always return."""

import os
import select
import selectors
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE

from nhalf.base.launch.launch import Launch, Streams

OUTPUT_BYTES_MAX = 1 << 20
POLL_S = 0.1


@dataclass(frozen=True)
class ProgramOutcome:
    """How a program ended: `exit_code` is None if it was stopped, and `stopped` says why."""

    exit_code: int | None
    stdout: str
    stderr: str
    stopped: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether the program exited by itself with status 0."""
        return self.exit_code == 0

    @property
    def reason(self) -> str:
        """Why the program failed, in one line, with the first line of its output."""
        text = self.stopped
        if not text:
            code = self.exit_code or 0
            text = f"died of signal {-code}" if code < 0 else f"exit code {code}"
        first_line = next((line.strip() for line in _lines(self.stderr, self.stdout)), "")
        return f"{text}: {first_line[:200]}" if first_line else text


def run(
    command: Sequence[str],
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    text: str = "",
    cancelled: threading.Event | None = None,
) -> ProgramOutcome:
    """Run a command in its own session, with `text` on its standard input.

    `environment` is added to the current one; the command is stopped once `cancelled` is set. No
    behaviour of the program raises: if it cannot be started, exceeds `timeout_s` or prints more
    than a megabyte, the outcome says so.
    """
    try:
        # A file, because a pipe blocks after 64 KiB if the program does not read.
        with tempfile.TemporaryFile() as stdin_file:
            stdin_file.write(text.encode())
            stdin_file.seek(0)
            streams = Streams(stdin_file if text else DEVNULL, PIPE, PIPE)
            launch = Launch(command, {**os.environ, **(environment or {})}, streams=streams)
    except OSError as error:
        return ProgramOutcome(None, "", "", f"cannot be started: {error.strerror or error}")
    with launch:
        return _collect(launch, timeout_s, cancelled or threading.Event())


def has_no_reader(file: int) -> bool:
    """Whether a file is a pipe of which nobody reads the other end any more, as after `| head`."""
    pipe = select.poll()
    pipe.register(file, 0)
    return any(event & select.POLLERR for _, event in pipe.poll(0))


def _collect(launch: Launch, timeout_s: float, cancelled: threading.Event) -> ProgramOutcome:
    """Read both streams until the program ends, the timeout expires or the output is too long."""
    process, stopped = launch.process, ""
    assert process.stdout is not None and process.stderr is not None
    outputs = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    deadline_s = time.monotonic() + timeout_s
    with selectors.DefaultSelector() as selector:
        launch.report_end(selector)
        for file in outputs:
            selector.register(file, selectors.EVENT_READ)
        while not stopped:
            remaining_s = deadline_s - time.monotonic()
            # Checked before reading, so that output written just before the exit is still read.
            is_over, has_output = process.poll() is not None, False
            for key, _ in selector.select(0.0 if is_over else max(0.0, min(remaining_s, POLL_S))):
                if key.fd in outputs:
                    outputs[key.fd] += (chunk := os.read(key.fd, 65536))
                    has_output = True
                    if not chunk:
                        selector.unregister(key.fd)
            # A child may keep the streams open after the program exits: what has come is enough.
            if is_over and not has_output:
                break
            if sum(map(len, outputs.values())) > OUTPUT_BYTES_MAX:
                stopped = "says more than a megabyte"
            elif remaining_s <= 0:
                stopped = f"no end within {timeout_s:g} s"
            elif cancelled.is_set():
                stopped = "cancelled"
    exit_code = None if stopped else process.returncode
    stdout, stderr = (bytes(text).decode(errors="replace") for text in outputs.values())
    return ProgramOutcome(exit_code, stdout, stderr, stopped)


def _lines(*texts: str) -> list[str]:
    """The lines with content: neither blank nor a ruler."""
    return [line for text in texts for line in text.splitlines() if line.strip(" -=*\t")]
