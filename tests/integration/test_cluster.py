"""Ranks read by a real Dask scheduler and its workers, which are killed meanwhile."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from tests.cluster import ROOT, Cluster, cluster
from tests.rank_logs import columns_of, parts_in, write_ranks
from torch_tb_profiler.cli import main
from torch_tb_profiler.cli.ingest import as_json
from torch_tb_profiler.ingest.ingest import Ingested, Readers, ingest
from torch_tb_profiler.ingest.runner import IngestProgress, IngestRefused

pytest.importorskip("distributed")

from torch_tb_profiler.ingest.cluster import ClusterRunner

#: ranks that are killed while they are read; `make bench SIZES=ranks` kills twenty
KILLS = int(os.environ.get("TEST_KILLS", "3"))
RANKS = max(24, 4 * KILLS)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster"), 2) as found:
        yield found


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs") / "job"
    paths = write_ranks(folder, RANKS)
    paths[7].write_bytes(paths[7].read_bytes()[:20])
    return folder


@pytest.fixture(scope="module")
def expected(job: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What this machine makes of it: the JSON, and the place."""
    place = tmp_path_factory.mktemp("local")
    return told(ingest(str(job), str(place))), place


def told(found: Ingested) -> str:
    return "\n".join(as_json(run) for run in found.runs)


def on(where: Cluster, said: list[str]) -> ClusterRunner:
    return ClusterRunner(where.address, said.append)


def test_the_same_as_on_one_machine(
    running: Cluster, job: Path, expected: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place"
    assert main(["ingest", str(job), "--scheduler", running.address, "--cache-dir", str(place), "--json"]) == 0
    assert capsys.readouterr().out == expected[0] + "\n"
    assert columns_of(place) == columns_of(expected[1])
    assert not parts_in(place)


@pytest.mark.long
def test_killed_workers_lose_nothing(running: Cluster, job: Path, expected: tuple[str, Path], tmp_path: Path) -> None:
    """Workers and their children are killed when so many ranks are done, whatever they do then."""
    chance = random.Random(5)
    due = sorted(chance.sample(range(1, RANKS - 4), KILLS))
    killed = []

    def kill(progress: IngestProgress) -> None:
        while due and progress.ranks >= due[0] and (below := running.below()):
            due.pop(0)
            killed.append(chance.choice(below))
            os.kill(killed[-1], signal.SIGKILL)

    found = ingest(
        str(job), str(tmp_path), Readers(lambda: on(running, []), seed=1), SimpleNamespace(show=kill, say=print)
    )
    assert len(killed) == KILLS
    assert told(found) == expected[0]
    assert columns_of(tmp_path) == columns_of(expected[1])
    assert not parts_in(tmp_path)


def test_other_versions_are_said_and_another_build_is_refused(running: Cluster, job: Path, tmp_path: Path) -> None:
    said: list[str] = []
    runner = on(running, said)
    versions = runner._client.get_versions()
    versions["scheduler"]["packages"]["distributed"] = "2025.3.0"
    runner._client.get_versions = lambda: versions
    runner._compare_versions()
    assert len(said) == 1
    assert "scheduler has other versions: distributed 2025.3.0 (here" in said[0]
    runner.close()
    shutil.copytree(ROOT / "torch_tb_profiler", tmp_path / "other" / "torch_tb_profiler")
    with (tmp_path / "other" / "torch_tb_profiler" / "ranks" / "__init__.py").open("a") as source:
        source.write("\n# another build\n")
    with cluster(tmp_path, 0) as elsewhere:
        elsewhere.add_worker(tmp_path / "other")
        with pytest.raises(IngestRefused, match=r"worker tcp://127.0.0.1:\d+ .* has another build"):
            ingest(str(job), str(tmp_path / "place"), Readers(lambda: on(elsewhere, [])))
    assert not parts_in(tmp_path / "place")


@pytest.mark.long
def test_when_the_scheduler_goes_the_rest_is_read_here(job: Path, expected: tuple[str, Path], tmp_path: Path) -> None:
    said: list[str] = []
    with cluster(tmp_path, 1) as alone:

        def kill(progress: IngestProgress) -> None:
            if progress.ranks == 3 and alone.scheduler.poll() is None:
                alone.scheduler.kill()

        found = ingest(
            str(job),
            str(tmp_path / "place"),
            Readers(lambda: on(alone, said)),
            SimpleNamespace(show=kill, say=said.append),
        )
    assert len(said) == 1
    assert "was lost" in said[0]
    assert "are read on this machine" in said[0]
    assert told(found) == expected[0]
    assert columns_of(tmp_path / "place") == columns_of(expected[1])


def test_a_scheduler_that_cannot_be_reached_is_said_at_once(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for address, why in (("tcp://127.0.0.1:9", "cannot be reached"), ("nonsense", "is not the address of a scheduler")):
        assert main(["ingest", str(job), "--scheduler", address, "--cache-dir", str(tmp_path)]) == 2
        error = capsys.readouterr().err
        assert address in error
        assert why in error
    (tmp_path / "file.json").write_bytes(msgspec.json.encode({"address": "tcp://127.0.0.1:9"}))
    assert main(["ingest", str(job), "--scheduler-file", str(tmp_path / "file.json")]) == 2
    assert "tcp://127.0.0.1:9" in capsys.readouterr().err
