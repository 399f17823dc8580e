"""`python -m nhalf` and the console script: run a verb, turn errors into one line."""

import errno
import io
import os
import re
import signal
import sys
import warnings
from contextlib import suppress
from typing import TextIO, cast

from nhalf.base import printable
from nhalf.base.errors import InputError, Interrupted, NhalfError, Terminated, how_ended
from nhalf.base.printable import PrintableStream

NAMES_NO_FILE = (errno.ENAMETOOLONG, errno.ELOOP)
"""Errors of a name as it was typed."""
LONG_WORD = re.compile(r"\S{256,}")
"""Longer than the name of a file may be."""


def main() -> None:
    """Run the command line; the process ends with the documented exit code."""
    _open_closed_streams()
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:  # not under nohup
        signal.signal(signal.SIGHUP, _terminate)
    if not sys.warnoptions:
        # An overflow of NumPy ends as "–" or "unknown": its own words say nothing to a user.
        warnings.simplefilter("ignore", RuntimeWarning)
    printable.register()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=printable.NAME)  # a terminal may know no µ
    sys.stdout = cast("TextIO", PrintableStream(sys.stdout))
    sys.stderr = cast("TextIO", PrintableStream(sys.stderr))
    try:
        from nhalf.cli.group import command_line

        code = command_line().main(standalone_mode=False, prog_name="nhalf")
        sys.stdout.flush()
    except KeyboardInterrupt as error:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _say(how_ended(error))
        code = Interrupted.exit_code
    except Interrupted as error:
        _say(str(error))
        code = error.exit_code
    except NhalfError as error:
        _say(f"error: {error}")
        code = error.exit_code
    except BrokenPipeError:
        code = 0  # the reader has seen enough, as after `| head`: nothing is wrong
    except RecursionError:
        _say("error: an input is nested too deeply; give one of another form")
        code = InputError.exit_code
    except OSError as error:
        _say(f"error: {_system_error(error)}")
        code = 2 if error.errno in NAMES_NO_FILE else 3
    except Exception as error:
        code = _usage_error(error)
    _drop_what_nobody_takes()
    sys.exit(code if isinstance(code, int) else 0)


def _open_closed_streams() -> None:
    """Standard streams that are closed become empty: files would take their numbers, and launchers
    that find none fail, or wait for ever.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            os.set_inheritable(number, True)
    # Python has no object for a stream that was closed when it started.
    sys.stdin = sys.stdin or open(0, closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115


def _terminate(number: int, _frame: object) -> None:
    """End as after Ctrl-C; the same wish again must not disturb the ending."""
    signal.signal(number, signal.SIG_IGN)
    raise Terminated(signal.Signals(number).name)


def _drop_what_nobody_takes() -> None:
    """Python would try once more to write what is left in the buffer, and complain by itself."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(text: str) -> None:
    with suppress(OSError):  # the terminal may be gone
        sys.stderr.write(f"nhalf: {LONG_WORD.sub(_cut, text)}\n")


def _cut(word: re.Match[str]) -> str:
    """Both ends of a word that nobody reads to its end."""
    return f"{word[0][:150]}…{word[0][-100:]}"


def _system_error(error: OSError) -> str:
    """The cause and the file, and what helps."""
    remedies = {
        errno.ENOSPC: "; make room or choose another folder with --out",
        errno.EACCES: "; choose a folder that can be written with --out",
        errno.EROFS: "; choose a folder that can be written with --out",
    }
    what = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{what}{remedies.get(error.errno or 0, '')}"


def _usage_error(error: Exception) -> int:
    """Wrong usage as the parser reports it; anything else is a defect and shows its trace."""
    show = getattr(error, "format_message", None)
    if show is None:
        if type(error).__name__ in ("Exit", "Abort"):
            return int(getattr(error, "exit_code", 1))
        raise error
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stdout.write(f"{show()}\n")
        return 0
    _say("error: " + " ".join(str(show()).split()))
    return 2


if __name__ == "__main__":
    main()
