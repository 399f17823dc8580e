"""Find the programs that a lab needs, and install missing ones on Debian."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from nhalf.base.errors import MissingError
from nhalf.sites.lab.command import attempt, system_path

PACKAGES = (
    *("slurmctld", "slurmd", "slurm-client", "munge", "iproute2"),
    # For MPI libraries from wheels: srun --mpi=pmi2, and the fabrics of Intel MPI.
    *("libpmi2-0", "libfabric1"),
)
PROGRAMS = (
    *("slurmctld", "slurmd", "srun", "sinfo", "munged", "ip", "tc"),
    *("unshare", "nsenter", "mount"),
)
INSTALL_TIMEOUT_S = 600.0

WITHOUT_STARTING = """
for starter in /usr/sbin/invoke-rc.d /usr/bin/deb-systemd-invoke; do
  [ ! -e "$starter" ] || mount --bind /bin/true "$starter"
done
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
exec apt-get -qq install -y --no-install-recommends "$@"
"""
"""Packages start their services by these two programs; in this namespace they do nothing.

The namespace vanishes when the command ends, however it ends.
"""


def missing_programs() -> list[str]:
    """The required programs of a lab that are missing."""
    return [name for name in PROGRAMS if shutil.which(name, path=system_path()) is None]


def missing_packages() -> list[str]:
    """Debian packages that are not installed; none if there is no dpkg."""
    if shutil.which("dpkg-query") is None:
        return []
    shown = attempt(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *PACKAGES])
    installed = {line.split()[0] for line in shown.stdout.splitlines() if " installed" in line}
    return [name for name in PACKAGES if name not in installed]


def ensure(may_install: bool, say: Callable[[str], None]) -> None:
    """Make sure that all programs are installed; raises MissingError with the reason otherwise.

    Missing Debian packages are installed if that is allowed, and `say` reports it.
    """
    packages = missing_packages()
    if may_install and packages and shutil.which("apt-get"):
        say(f"installing {' '.join(packages)} (their services are not started)")
        command = ["unshare", "--mount", "sh", "-c", WITHOUT_STARTING, "nhalf-lab", *packages]
        outcome = attempt(command, timeout_s=INSTALL_TIMEOUT_S)
        if not outcome.succeeded:
            say(f"apt-get did not succeed: {outcome.reason}")
    programs = missing_programs()
    if programs:
        raise MissingError(
            f"a lab needs programs that are not here: {', '.join(programs)}",
            f"install Slurm, munge and iproute2 (Debian: apt-get install {' '.join(PACKAGES)})",
        )
