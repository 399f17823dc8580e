"""Studies that come with the program, and those that users write, right and wrong."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from nhalf.base.errors import InputError
from nhalf.measure.plan import catalogue
from nhalf.measure.plan.axes import check_axes
from nhalf.measure.plan.plan import Block
from nhalf.measure.probe.subject import plain_subject
from tests.probes import is_built

NAMES = [
    "beff",
    "collectives",
    "dense",
    "fine-grid",
    "full",
    "grain",
    "layers",
    "logp",
    "memory",
    "multicast",
    "noise",
    "p2p",
    "pair-map",
    "quick",
    "remote-memory",
    "traffic",
]
SIMULATED = {"multicast"}
"""Those of patterns that run on simulated machines only."""
BLOCK = '[[block]]\npatterns = ["pingpong"]\n'


def write(path: Path, text: str) -> str:
    path.write_text(text, "utf-8")
    return str(path)


def on_transports(name: str) -> list[Block]:
    """The blocks of a study, each with its transports written out."""
    study = catalogue.study(name, 2)
    default = study.transports or ["mpi"]
    return [
        msgspec.structs.replace(block, transports=sorted(block.transports or default))
        for block in study.blocks
    ]


class TestOurs:
    def test_they_are_found_by_their_files(self) -> None:
        assert catalogue.names() == NAMES

    @pytest.mark.parametrize("cores", [1, 2, 3, 64])
    def test_each_can_be_read_and_has_a_line_for_the_list(self, cores: int) -> None:
        for name in NAMES:
            study = catalogue.study(name, cores)
            assert study.blocks, name
            assert 10 < len(study.title) < 100, name
            assert study.what, name
            assert all(block.patterns for block in study.blocks), name

    def test_those_below_mpi_name_their_transports(self) -> None:
        named = {name: catalogue.study(name, 2).transports for name in NAMES}
        assert {"mpi", "shm", "tcp"} <= set(named.pop("layers"))
        assert named.pop("remote-memory") == ["shm", "threads", "rma"]
        assert named.pop("memory") == ["mpi", "threads", "shm"]
        assert named.pop("full") == ["mpi", "threads", "shm", "rma"]  # it includes both
        assert not any(named.values())

    def test_one_library_suffices_where_memory_is_measured(self) -> None:
        single = {name for name in NAMES if catalogue.study(name, 2).one_library}
        assert single == {"memory", "remote-memory"}

    def test_messages_stay_with_mpi_where_memory_has_other_transports(self) -> None:
        remote = {
            *catalogue.study("remote-memory", 2).blocks[1].patterns,
            "flag-pingpong",
            "primitive",
        }
        for block in catalogue.study("full", 2).blocks:
            if any(name.startswith(("array-", "sdes")) for name in block.patterns):
                assert block.transports == ["threads", "shm"]
            elif remote & set(block.patterns):
                assert block.transports is not None
                assert "mpi" not in block.transports
            elif "memory-triad" not in block.patterns:
                assert block.transports == ["mpi"], block.patterns

    def test_full_is_everything(self) -> None:
        everything = on_transports("full")
        for name in set(NAMES) - {
            "full",
            "quick",
            "fine-grid",
            "layers",
            *SIMULATED,
        }:
            for block in on_transports(name):
                assert block in everything, name
        assert any(block.ranks == [8] for block in everything), "more ranks than cores"

    def test_b_eff_is_whole(self) -> None:
        ring, beside = catalogue.study("beff", 2).blocks
        assert (ring.bytes, ring.whole) == ("b_eff", True)
        assert (beside.patterns, beside.whole) == (["pingpong"], False)

    @pytest.mark.skipif(not is_built("probe-threads"), reason="no probe is built")
    @pytest.mark.parametrize("name", sorted({*NAMES} - SIMULATED))
    def test_probes_know_every_name(self, name: str) -> None:
        infos = plain_subject("threads").infos
        for block in catalogue.study(name, 2).blocks:
            assert set(block.patterns) <= set(infos)
            check_axes(block.axes, [infos[pattern].axes for pattern in block.patterns])


class TestOfUsers:
    def test_blocks_have_the_transports_of_their_file_or_their_own(self, tmp_path: Path) -> None:
        (tmp_path / "inner.toml").write_text(f'title = "Inner"\n{BLOCK}')
        own = f'transports = ["tcp", "shm"]\n{BLOCK}bytes = 1\n{BLOCK}transports = ["am"]\n'
        text = f'title = "Mine"\ninclude = ["inner.toml"]\none_library = true\n{own}'
        study = catalogue.study(write(tmp_path / "mine.toml", text), cores=2)
        assert study.one_library
        assert study.transports == ["mpi", "tcp", "shm", "am"]
        transports = [block.transports for block in study.blocks]
        assert transports == [["mpi"], ["tcp", "shm"], ["am"]]

    def test_a_transport_of_all_blocks_is_written_once(self, tmp_path: Path) -> None:
        text = f'title = "Mine"\ntransports = ["tcp"]\n{BLOCK}'
        study = catalogue.study(write(tmp_path / "mine.toml", text), cores=2)
        assert (study.transports, study.blocks[0].transports) == (["tcp"], None)

    def test_a_block_has_defaults(self, tmp_path: Path) -> None:
        path = write(tmp_path / "mine.toml", f'title = "Mine"\nbudget = "2m"\n{BLOCK}')
        study = catalogue.study(path, cores=4)
        assert (study.title, study.budget_s) == ("Mine", 120.0)
        assert study.blocks == [Block(["pingpong"], [2], "0:4M")]

    def test_everything_can_be_said(self, tmp_path: Path) -> None:
        text = f"""title = "Mine"
            {BLOCK}
            ranks = "2:cores:x2"
            bytes = 64
            axes = {{pairs = "1:ranks/2", seed = 3}}
            placements = ["cores", "free"]
            launches = 3
            weight = 2
            precision = 0.05
            whole = true"""
        (block,) = catalogue.study(write(tmp_path / "mine.toml", text), cores=9).blocks
        assert block == Block(
            ["pingpong"], [2, 4, 8], "64", axes={"pairs": "1:ranks/2", "seed": "3"},
            placements=["cores", "free"], launches=3, weight=2.0, precision=0.05, whole=True,
        )  # fmt: skip

    def test_files_include_others_beside_them_and_ours(self, tmp_path: Path) -> None:
        write(tmp_path / "b.toml", f'title = "B"\n{BLOCK}bytes = "8"')
        path = write(
            tmp_path / "a.toml",
            f'title = "A"\ninclude = ["b.toml", "beff", "b.toml"]\n{BLOCK}bytes = "16"',
        )
        blocks = catalogue.study(path, cores=2).blocks
        assert [block.bytes for block in blocks] == ["8", "b_eff", "b_eff", "16"]

    def test_a_circle_is_told(self, tmp_path: Path) -> None:
        write(tmp_path / "b.toml", 'title = "B"\ninclude = ["a.toml"]')
        path = write(tmp_path / "a.toml", 'title = "A"\ninclude = ["b.toml"]')
        with pytest.raises(InputError, match=r"a\.toml includes itself"):
            catalogue.study(path, cores=2)

    @pytest.mark.parametrize(
        ("text", "place", "said"),
        [
            (BLOCK, "", "missing required field `title`"),
            ('title = "x"', "", "no block"),
            ('title = 3\n[[block]]\npatterns=["a"]', "title", "Expected `str`"),
            (f'title = "x"\nfoo = 1\n{BLOCK}', "foo", "unknown key 'foo'; known are block"),
            (
                f'title = "x"\n{BLOCK}rank = "2"',
                "block[0].rank",
                "unknown key 'rank'; did you mean ranks",
            ),
            (f'title = "x"\n{BLOCK}\n{BLOCK}weight = 0', "block[1].weight", "> 0"),
            (f'title = "x"\n{BLOCK}launches = -1', "block[0].launches", ">= 0"),
            (f'title = "x"\n{BLOCK}launches = "5"', "block[0].launches", "Expected `int`"),
            (f'title = "x"\n{BLOCK}precision = 2', "block[0].precision", "< 1"),
            (f'title = "x"\n{BLOCK}ranks = "two"', "block[0].ranks", "not a list of ranks"),
            (f'title = "x"\n{BLOCK}ranks = "2:kores"', "block[0].ranks", "did you mean cores"),
            (f'title = "x"\n{BLOCK}bytes = "8:4"', "block[0].bytes", "write 4:8"),
            (
                f'title = "x"\n{BLOCK}axes = {{pairs = "1:"}}',
                "block[0].axes.pairs",
                "neither a number",
            ),
            (f'title = "x"\n{BLOCK}axes = 3', "block[0].axes", "Expected `object`"),
            (
                f'title = "x"\n{BLOCK}placements = ["core"]',
                "block[0].placements[0]",
                "did you mean cores",
            ),
            ('title = "x"\n[[block]]\npatterns = []', "block[0].patterns", "is empty"),
            ('title = "x"\n[[block]]', "block[0]", "missing required field `patterns`"),
            ('title = "x"\ninclude = ["qick"]', "include[0]", "did you mean quick"),
            (f'title = "x"\nbudget = "soon"\n{BLOCK}', "budget", "not a duration"),
            ('title = "x"\nblock = 3', "block", "Expected `array`"),
            ("title = ", "", "is not TOML"),
            ("\0\0", "", "is not TOML"),
        ],
    )
    def test_what_is_wrong_is_one_clear_line(
        self, tmp_path: Path, text: str, place: str, said: str
    ) -> None:
        path = write(tmp_path / "mine.toml", text)
        with pytest.raises(InputError) as caught:
            catalogue.study(path, cores=2)
        line = str(caught.value)
        assert path in line
        assert place in line
        assert said in line
        assert "\n" not in line

    @pytest.mark.parametrize("content", [b"\xff\xfe", None])
    def test_a_file_that_cannot_be_read(self, tmp_path: Path, content: bytes | None) -> None:
        path = tmp_path / "mine.toml"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(InputError, match=r"mine\.toml"):
            catalogue.study(str(path), cores=2)

    def test_an_unknown_name(self) -> None:
        with pytest.raises(InputError, match="unknown study 'qick'; did you mean quick"):
            catalogue.study("qick", cores=2)
