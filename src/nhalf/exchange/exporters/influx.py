"""Lines of InfluxDB: the same numbers as in OpenMetrics text."""

from nhalf.exchange.exporters import Exporter, Subject


class Influx(Exporter):
    """A line for each number; those of a trace have the time when it ended."""

    description = "times of a run, or counters of a trace, as lines of InfluxDB"
    takes = frozenset({"mpi"})

    def text(self, subject: Subject) -> str:
        """The lines; raises InputError if there is nothing to write."""
        from nhalf.exchange.metrics import families_of, influx
        from nhalf.facts.program.program import Program

        moment_s = subject.trace.end_s if isinstance(subject, Program) else None
        return influx(families_of(subject, self.options.mpi), moment_s)
