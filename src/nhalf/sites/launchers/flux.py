"""flux run of Flux, inside an instance: a batch job, or what flux alloc or flux start began."""

from collections.abc import Sequence

from nhalf.base.errors import MissingError
from nhalf.mpi.job import Launcher, MpiJob


class Flux(Launcher):
    """Flux's own start of ranks, which serves PMI-1 to them, or PMIx by its plug-in flux-pmix."""

    description = "flux run of Flux"

    def tokens(self, job: MpiJob) -> list[str]:
        """The tokens `flux run --ntasks=N --input=0 … COMMAND`: all ranks end when one fails.

        Only rank 0 gets the input. Flux places no two tasks on a core, unless told how many tasks
        each host has: more ranks than cores are the same number on each host. Raises MissingError
        for others.
        """
        tokens = ["flux", "run"]
        hosts = max(len(job.hosts), 1)
        if job.oversubscribe and job.block * hosts != job.ranks:
            raise MissingError(
                f"flux run cannot place {job.ranks} ranks on {hosts} hosts with fewer cores: it "
                "takes the same number of ranks for each host",
                f"choose a multiple of {hosts} ranks, or --launcher mpirun",
            )
        if job.oversubscribe:
            tokens += [f"--nodes={hosts}", f"--tasks-per-node={job.block}"]
        else:
            tokens.append(f"--ntasks={job.ranks}")
            tokens += [f"--nodes={hosts}"] if job.hosts else []
        tokens += ["--input=0", "--unbuffered", "--setopt=exit-on-error"]
        tokens.append(f"--setopt=cpu-affinity={'per-task' if job.bind else 'off'}")
        if job.pmi:
            tokens.append(f"--setopt=pmi={job.pmi}")
        if job.hosts:
            tokens.append(f"--requires=hosts:{','.join(job.hosts)}")
            tokens += ["--taskmap=cyclic"] if job.cyclic else []
        return [*tokens, *job.command]

    def process_management(self, name: str, speaks: Sequence[str]) -> str:
        """PMIx for a library that speaks nothing else; '' is PMI-1, which Flux itself serves."""
        return "pmix" if set(speaks) == {"pmix"} else ""

    def why_separate_worlds(self, title: str, speaks: Sequence[str], pmi: str) -> tuple[str, str]:
        """Different process management is the reason."""
        return (
            f"{title} and flux run speak different process management",
            "install flux-pmix if the library speaks PMIx alone, or use --launcher mpirun",
        )
