"""The calls of a traced program as a time-independent trace, which SimGrid's SMPI replays."""

from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.base.files import write_text
from nhalf.exchange.exporters import Exporter, Subject, the_program
from nhalf.exchange.program.replay_actions import BARRIER, replay_actions

INDEX = "index.txt"


class Tit(Exporter):
    """A file of actions for each rank, and one that lists them."""

    description = "a traced program's calls as a time-independent trace, for smpirun -replay"
    is_folder = True

    def text(self, subject: Subject) -> str:
        """Raises InputError: there is a file for each rank."""
        raise InputError("a time-independent trace is a folder of files", "name it with --out")

    def write(self, subject: Subject, out: Path) -> None:
        """Write the files; raises InputError for a folder that holds any, and without a timeline.

        The index has absolute paths, since SimGrid looks for others from where it was started.
        """
        if out.exists() and any(out.iterdir()):
            raise InputError(f"{out} is not empty", "choose another folder")
        actions = replay_actions(the_program(subject, "tit"), afterwards=BARRIER)
        paths = [out.absolute() / f"rank-{rank}.txt" for rank in range(len(actions))]
        for path, text in zip(paths, actions, strict=True):
            write_text(path, text)
        write_text(out / INDEX, "".join(f"{path}\n" for path in paths))
