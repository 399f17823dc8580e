# SPDX-License-Identifier: Apache-2.0
"""nhalf for Benchpark, in a copy of which it goes to experiments/nhalf.

The application of Ramble that it names, packaging/ramble, goes to repo/nhalf there, with the
package of Spack.
"""

from benchpark.directives import variant
from benchpark.experiment import Experiment
from benchpark.mpi import MpiOnlyExperiment


class Nhalf(Experiment, MpiOnlyExperiment):
    """Communication performance of one host and of several."""

    variant(
        "workload",
        default="p2p",
        values=("p2p", "collectives", "full"),
        multi=True,
        description="Study of nhalf",
    )
    variant("budget", default="5m", description="Time of a run")

    def compute_applications_section(self) -> None:
        """Two hosts with a rank on each core; nhalf starts the ranks of its points itself."""
        self.add_experiment_variable("n_nodes", 2, True)
        self.add_experiment_variable("n_ranks", "{n_nodes}*{sys_cores_per_node}", True)
        budget = self.spec.variants["budget"][0]
        self.add_experiment_variable("options", f"--budget {budget}")
        # A study takes many sizes of messages: none is that of the problem.
        self.set_required_variables(
            n_resources="{n_ranks}", process_problem_size="", total_problem_size=""
        )

    def compute_package_section(self) -> None:
        """nhalf, and the MPI of the system."""
        self.add_package_spec("default-mpi")
        self.add_package_spec(self.name, ["nhalf@develop"])
