"""Text that makes a system repeat a command: for Slurm, cron or systemd, which have the daemons."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nhalf.base.errors import InputError, unknown

NIGHTLY = "0 4 * * *"
NO_GO, UNSURE = 1, 4


@dataclass(frozen=True)
class Repeated:
    """A command that ends with 1 where something is wrong, and the hosts that it needs.

    `hosts` is empty for one that is about the machine it runs on, whose name is `here`.
    """

    command: Sequence[str]
    here: str
    hosts: Sequence[str] = ()

    @property
    def line(self) -> str:
        """The command for a shell."""
        return shlex.join(self.command)

    @property
    def cron_line(self) -> str:
        """A line of a crontab, where an unescaped % ends the command."""
        return f"{NIGHTLY} {self.line}".replace("%", r"\%")


def scrontab(repeated: Repeated) -> str:
    """Lines for Slurm's `scrontab -e`: once a night, alone on its nodes."""
    hosts = repeated.hosts or (repeated.here,)
    nodes = f"--nodes={len(hosts)} --nodelist={','.join(hosts)}"
    return f"#SCRON --exclusive {nodes} --time=5\n{repeated.cron_line}\n"


def cron(repeated: Repeated) -> str:
    """A line for `crontab -e`."""
    return f"{repeated.cron_line}\n"


def systemd(repeated: Repeated) -> str:
    """A service and its timer, where $ and % have to be doubled."""
    command = repeated.line.replace("%", "%%").replace("$", "$$")
    return f"""\
# /etc/systemd/system/nhalf-gate.service
[Service]
Type=oneshot
ExecStart={command}
SuccessExitStatus={UNSURE}

# /etc/systemd/system/nhalf-gate.timer; then: systemctl enable --now nhalf-gate.timer
[Timer]
OnCalendar=hourly
RandomizedDelaySec=600
[Install]
WantedBy=timers.target
"""


def prolog(repeated: Repeated) -> str:
    """A Prolog or Epilog of Slurm, which drains the node if it fails."""
    _alone(repeated, "prolog")
    return f"#!/bin/sh\n# Prolog, or Epilog, of slurm.conf\n{repeated.line}\ntest $? -ne {NO_GO}\n"


def healthcheck(repeated: Repeated) -> str:
    """A HealthCheckProgram of Slurm, whose exit code is ignored: it drains the node itself."""
    _alone(repeated, "healthcheck")
    return f"""\
#!/bin/sh
# slurm.conf: HealthCheckProgram=THIS_FILE
#             HealthCheckInterval=3600
#             HealthCheckNodeState=IDLE
line=$({repeated.line})
test $? -eq {NO_GO} && scontrol update nodename="$(hostname -s)" state=drain reason="$line"
exit 0
"""


def _alone(repeated: Repeated, kind: str) -> None:
    if repeated.hosts:
        raise InputError(f"a {kind} runs on one node, without others", "leave out --hosts")


SCHEDULES: dict[str, Callable[[Repeated], str]] = {
    schedule.__name__: schedule for schedule in (scrontab, cron, systemd, prolog, healthcheck)
}


def schedule_text(kind: str, repeated: Repeated) -> str:
    """The text of a kind of schedule; raises InputError for one that is not known."""
    if kind not in SCHEDULES:
        raise unknown("schedule", kind, SCHEDULES)
    return SCHEDULES[kind](repeated)
