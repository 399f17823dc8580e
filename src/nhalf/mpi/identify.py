"""Identify an mpiexec, and cache the answer as long as the file stays the same."""

import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.base.folders import cache_folder, write_cached
from nhalf.base.processes import run
from nhalf.mpi.vendors import vendors

TIMEOUT_S = 10.0
WORKERS = 8
FAILURE_KEPT_S = 600.0
"""A failure is retried after this time: its cause may be outside the file."""

_CACHE_VERSION = 3


@dataclass(frozen=True)
class LibraryIdentity:
    """The identity reported by an mpiexec; `reason` is why it cannot be used, '' if it can."""

    vendor: str = "unknown"
    version: str = ""
    launcher: str = ""
    reason: str = ""


def parse_version(text: str) -> LibraryIdentity:
    """The identity in the output of `mpiexec --version`, which may contain other text."""
    for name, vendor in vendors().items():
        version = vendor.version_in(text)
        if version:
            return LibraryIdentity(name, version, vendor.launcher)
    first_line = next((line.strip() for line in text.splitlines() if line.strip()), "nothing")
    return LibraryIdentity(reason=f"not a library known here; --version says: {first_line[:120]}")


def ask(mpiexec: Path, environment: Mapping[str, str]) -> LibraryIdentity:
    """Run `mpiexec --version` within TIMEOUT_S; never raises."""
    # Without PATH to its own folder, Intel's mpirun does not find its mpiexec.
    path = os.pathsep.join([str(mpiexec.parent), os.environ.get("PATH", os.defpath)])
    outcome = run([str(mpiexec), "--version"], TIMEOUT_S, {**environment, "PATH": path})
    if not outcome.succeeded:
        return LibraryIdentity(reason=f"{mpiexec.name} --version: {outcome.reason}")
    texts = [outcome.stdout, outcome.stderr, *_further_version_texts(mpiexec, environment)]
    return parse_version("\n".join(texts))


def _further_version_texts(mpiexec: Path, environment: Mapping[str, str]) -> list[str]:
    """The version texts of further programs that some vendors have beside their mpiexec."""
    commands = sorted(
        {vendor.version_command for vendor in vendors().values() if vendor.version_command}
    )
    return [
        run([str(mpiexec.parent / command[0]), *command[1:]], TIMEOUT_S, environment).stdout
        for command in commands
        if os.access(mpiexec.parent / command[0], os.X_OK)
    ]


def identify(
    candidates: Mapping[Path, Mapping[str, str]], ask_failed_again: bool = False
) -> dict[Path, LibraryIdentity]:
    """The identity of every mpiexec, asked concurrently; cached identities are not asked again.

    `candidates` gives each mpiexec the variables to run it with. `ask_failed_again` asks those
    that failed although their failure is cached.
    """
    cache = _read_cache()
    stamps = {mpiexec: _stamp(mpiexec) for mpiexec in candidates}
    identities = {
        mpiexec: identity
        for mpiexec, stamp in stamps.items()
        if (identity := _remembered(cache, stamp, ask_failed_again)) is not None
    }
    unknown = [mpiexec for mpiexec in candidates if mpiexec not in identities]
    if unknown:
        with ThreadPoolExecutor(WORKERS) as pool:
            answers = list(pool.map(lambda mpiexec: ask(mpiexec, candidates[mpiexec]), unknown))
        identities.update(zip(unknown, answers, strict=True))
        _write_cache(cache, {stamps[mpiexec]: identities[mpiexec] for mpiexec in unknown})
    return identities


def _stamp(mpiexec: Path) -> str:
    """A text that changes with the file: its path, time and size."""
    try:
        status = mpiexec.stat()
    except OSError:
        return ""
    return f"{mpiexec}|{status.st_mtime_ns}|{status.st_size}"


def _cache_file() -> Path:
    return cache_folder() / "mpi-identities.json"


def _read_cache() -> dict[str, dict[str, object]]:
    """The cached identities; an unreadable or foreign file counts as an empty one."""
    try:
        content = json.loads(_cache_file().read_text("utf-8"))
        entries = content["identities"] if content["version"] == _CACHE_VERSION else {}
        return {str(key): dict(value) for key, value in entries.items()}
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError, MissingError):
        return {}


def _remembered(
    cache: Mapping[str, dict[str, object]], stamp: str, ask_failed_again: bool
) -> LibraryIdentity | None:
    entry = dict(cache.get(stamp, {}))
    asked_s = entry.pop("asked_s", 0.0)
    try:
        identity = LibraryIdentity(**entry)  # type: ignore[arg-type]
    except TypeError:
        return None
    if not stamp or not all(isinstance(value, str) for value in entry.values()):
        return None
    if identity.version:
        return identity
    fresh = isinstance(asked_s, (int, float)) and 0 <= time.time() - asked_s < FAILURE_KEPT_S
    return identity if identity.reason and fresh and not ask_failed_again else None


def _write_cache(
    cache: dict[str, dict[str, object]], answers: Mapping[str, LibraryIdentity]
) -> None:
    """Cache the answers. A cache that cannot be written costs time only, so it is no error."""
    entries = {key: value for key, value in cache.items() if os.path.exists(key.split("|", 1)[0])}
    for stamp, identity in answers.items():
        if stamp:
            entries[stamp] = {**asdict(identity), "asked_s": time.time()}
    text = json.dumps({"version": _CACHE_VERSION, "identities": entries}, indent=1)
    with suppress(MissingError):
        write_cached(_cache_file(), text)


def stamps_of(paths: Iterable[Path]) -> list[str]:
    """The stamps of several files, for keys of other caches."""
    return [_stamp(path) for path in paths]


TITLE_MAX = 60
_VERSION = re.compile(r"\b(?:version\b\D{0,3})?\s*v?(\d+\.\d[\w.]*)", re.IGNORECASE)


def library_title(text: str) -> str:
    """'Open MPI 4.1.4' of a text of MPI_Get_library_version; one of a library that is not known is
    shortened. '' if there is none.
    """
    line = text.replace("(R)", "").strip()
    letters = line.casefold()
    titles = [vendor.title for vendor in vendors().values() if vendor.title.casefold() in letters]
    if not titles:
        first = line.partition(",")[0]
        return first if len(first) <= TITLE_MAX else f"{first[: TITLE_MAX - 1]}…"
    title = max(titles, key=len)
    match = _VERSION.search(line, letters.index(title.casefold()) + len(title))
    return f"{title} {match[1].rstrip('.')}" if match else title
