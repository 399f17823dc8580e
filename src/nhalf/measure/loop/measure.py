"""The run loop: launches in shuffled, interleaved order, point by point, into the journal."""

from collections.abc import Sequence

from nhalf.measure.loop.device_trial import DeviceTrial
from nhalf.measure.loop.ending import UNLIMITED, TimeLimit
from nhalf.measure.loop.expecting import Expecting
from nhalf.measure.loop.launch import LaunchMeasurement, Order
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.records import Records
from nhalf.measure.loop.retry import Retries, Starting
from nhalf.measure.loop.scout import Scout
from nhalf.measure.loop.stopping import Further, Stopping
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.budget import KernelRates
from nhalf.measure.plan.plan import Plan
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import Open, Subject
from nhalf.sites.health import unreachable_hosts
from nhalf.sites.placement import FREE
from nhalf.sites.site import HERE, Site
from nhalf.statistics.doubt import MORE_LAUNCHES
from nhalf.store.run import Run


class Measuring:
    """One run in progress."""

    def __init__(
        self,
        run: Run,
        plan: Plan,
        subjects: Sequence[Subject],
        progress: Progress,
        site: Site = HERE,
        limit: TimeLimit = UNLIMITED,
        open_: Open = Probe,
    ) -> None:
        """Prepare the run; `open_` starts the processes of a launch."""
        self.state = RunState(placement=plan.blocks[0].placements[0] if plan.blocks else FREE)
        self._records = Records(run.journal(), self.state, progress)
        for event in run.whole_events():
            self.state.note(event)
        self.agenda = Agenda(plan, subjects, self.state)
        by_key = {subject.key: subject for subject in subjects}
        living = _living(site, self.state, progress)
        starting = Starting(plan, by_key, self._records, living, open_)
        self._retries = Retries(self.agenda, self._records, by_key, starting.hosts)
        self._device_trial = DeviceTrial(self.agenda, starting, self._records)
        self._order = Order(self.agenda, plan.seed, self._retries.ended)
        self._stopping = Stopping(self.agenda, limit, run.resuming, site.cores)
        progress.limit(self._stopping.limit_in_words)
        self._further = Further(self.agenda, self._stopping)
        parts = (self._stopping, self._retries, starting, self._records)
        self._scout = Scout(self.agenda, *parts)
        self._expecting = Expecting(self.agenda, starting, self._records, KernelRates(site.cores))
        self._launching = LaunchMeasurement(self.agenda, self._order, *parts, self._expecting)

    def run(self) -> dict[str, str]:
        """Measure everything not yet in the journal; return why anything could not be started."""
        with self._records.journal:
            self._retries.refuse_what_hosts_cannot()
            self._device_trial.refuse_what_libraries_cannot()
            self._expecting.remember()
            self._expecting.announce(self.agenda.plan.budget_s)
            self._stopping.keep_to_budget()
            for start in self._order.starts():
                self._scout.look(start)
            self._scout.share()
            self._stopping.keep_to_budget()
            self._records.planned(self.agenda.remaining_points().total())
            self._measure()
            while not self.state.ended and self._goes_on():
                self._measure()
        return self._retries.given_up()

    def _goes_on(self) -> bool:
        """Whether there is time for more: points of the plan that were left out, then launches
        until there are enough, then sizes between those of the plan, then further launches.
        """
        is_few = self.agenda.launches() < MORE_LAUNCHES
        if is_few and self.agenda.lacks_inserted_sizes_alone():
            return self._further.add_launch() or self._stopping.widened()
        return self._stopping.widened() or self._further.add_launch()

    def _measure(self) -> None:
        """Measure the agenda launch by launch, each on every start."""
        for launch in range(self.agenda.launches()):
            for start in self._order.starts():
                self._launching.launch(start, launch)

    def omissions_in_words(self) -> list[str]:
        """Describe what was left out for want of time, and how to go on."""
        return self._stopping.in_words()

    def troubles_in_words(self) -> list[str]:
        """Describe the launches that ended early, a line for each of the most frequent reasons."""
        return self._retries.in_words()


def _living(site: Site, state: RunState, progress: Progress) -> Site:
    """Return the site without hosts that died before and are still dead."""
    died = [host.name for host in site.hosts if host.name in state.dead]
    still = unreachable_hosts(died) if died else []
    for host in still:
        progress.say(f"{host} still does not answer and is left out")
    state.dead = {host: state.dead[host] for host in still}
    return site.without(still)
