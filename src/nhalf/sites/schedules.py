"""Text that makes a system repeat a command: for Slurm, cron or systemd, which have the daemons.

The command ends with 1 where something is wrong, and with 4 where it is unsure.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from nhalf.base.errors import InputError, unknown

ON_ONE_NODE = ("prolog", "healthcheck")
SCHEDULES = {
    "scrontab": "#SCRON --exclusive --nodes={count} --nodelist={hosts} --time=5\n{nightly}\n",
    "cron": "{nightly}\n",
    "systemd": """\
# /etc/systemd/system/nhalf-gate.service
[Service]
Type=oneshot
ExecStart={unit_line}
SuccessExitStatus=4

# /etc/systemd/system/nhalf-gate.timer; then: systemctl enable --now nhalf-gate.timer
[Timer]
OnCalendar=hourly
RandomizedDelaySec=600
[Install]
WantedBy=timers.target
""",
    "prolog": "#!/bin/sh\n# Prolog, or Epilog, of slurm.conf\n{line}\ntest $? -ne 1\n",
    "healthcheck": """\
#!/bin/sh
# slurm.conf: HealthCheckProgram=THIS_FILE
#             HealthCheckInterval=3600
#             HealthCheckNodeState=IDLE
line=$({line})
test $? -eq 1 && scontrol update nodename="$(hostname -s)" state=drain reason="$line"
exit 0
""",
}
"""What is installed, by kind: with the command for a shell, for a crontab and for a unit."""


def schedule_text(
    kind: str, command: Sequence[str], this_host: str, hosts: Sequence[str] = ()
) -> str:
    """The text that makes a system repeat a command on this host, or on all of `hosts`.

    Raises InputError for a kind that is not known, and for hosts where there is only one.
    """
    if kind not in SCHEDULES:
        raise unknown("schedule", kind, SCHEDULES)
    if hosts and kind in ON_ONE_NODE:
        raise InputError(f"a {kind} runs on one node, without others", "leave out --hosts")
    line = shlex.join(command)
    return SCHEDULES[kind].format(
        line=line,
        nightly=f"0 4 * * * {line}".replace("%", r"\%"),  # % ends the command of a crontab
        unit_line=line.replace("%", "%%").replace("$", "$$"),
        count=len(hosts) or 1,
        hosts=",".join(hosts or (this_host,)),
    )
