# SPDX-License-Identifier: Apache-2.0
"""nhalf for Ramble: `ramble repo add packaging/ramble`, then `ramble info nhalf`."""

from ramble.appkit import *  # noqa: F403

RUN = "{experiment_run_dir}/nhalf_run"
CELL, NUMBER = r'(?:"[^"]*"|[^,]*)', r"[0-9.e+-]+"
TEXTS = ("run", "transport", "mpi", "pattern", "algorithm", "ranks", "placement", "axes")
NUMBERS = ("bytes", "median", "low", "high")
ROW = ",".join(
    [rf"(?P<{name}>{CELL})" for name in TEXTS] + [rf"(?P<{name}>{NUMBER})" for name in NUMBERS]
)
"""How each row of `nhalf show --format csv` begins, except the names of columns."""


class Nhalf(ExecutableApplication):
    """Communication performance: times of messages and collective operations, with intervals."""

    name = "nhalf"

    tags("synthetic-benchmarks")

    software_spec("nhalf", pkg_spec="nhalf@develop", package_manager="spack*")
    required_package("nhalf", package_manager="spack*")

    executable("remove", template=f"rm -rf {RUN}", use_mpi=False)
    # nhalf starts the ranks itself, with each library's launcher or --launcher, several times.
    executable(
        "measure",
        template="nhalf run {study} --quiet --out " + RUN + " {options}",
        use_mpi=False,
        output_capture=OUTPUT_CAPTURE.ALL,
    )
    executable("tabulate", template=f"nhalf show {RUN} --format csv", use_mpi=False)

    STUDIES = ("p2p", "collectives", "full")
    for study in STUDIES:
        workload(study, executables=["remove", "measure", "tabulate"])
        workload_variable(
            "study", default=study, description="Study of `nhalf run --list`", workloads=[study]
        )
    workload_variable(
        "options",
        default="--budget 5m",
        description="Options of nhalf run: --placement, --bytes, --mpi, --launcher, --budget",
        workloads=list(STUDIES),
    )

    figure_of_merit_context(
        "point",
        regex=ROW,
        output_format="{mpi} {transport} {pattern} {algorithm} {ranks} ranks {placement} {axes} "
        "{bytes} B",
    )
    for title, column in (
        ("time", "median"),
        ("time, lower end of the interval", "low"),
        ("time, upper end of the interval", "high"),
    ):
        figure_of_merit(title, fom_regex=ROW, group_name=column, units="s", contexts=["point"])

    success_criteria(
        "table", mode="string", match=r"run,transport,mpi,pattern,algorithm,ranks,placement,axes.*"
    )
    success_criteria("no error", mode="string", anti_match=r"nhalf: error: .*")
