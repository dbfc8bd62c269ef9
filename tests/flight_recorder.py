"""Makes flight-recorder dumps: python -m tests.flight_recorder [DIR] writes the job of docs/hang.md."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.recorded import ROOT

WORLD = "default_pg"
#: the job of the docs
HANG = ROOT / "examples" / "hang"


class Rank:
    """A rank's dump in the making. groups: by name the ranks of each, None where the dump does not list them."""

    def __init__(self, groups: dict[str, Sequence[int] | None]) -> None:
        self._groups = groups
        self._entries: list[dict[str, Any]] = []
        self._numbers = dict.fromkeys(groups, 0)
        self._done = dict.fromkeys(groups, 0)

    def call(self, group: str = WORLD, operator: str = "all_reduce", done: bool = True, **more: Any) -> Rank:
        """Queue a collective; those that are not done are unfinished."""
        self._numbers[group] += 1
        self._done[group] += done
        return self._enter(group, operator, self._numbers[group], done, more)

    def transfer(self, operator: str, group: str = WORLD, done: bool = False, **more: Any) -> Rank:
        return self._enter(group, operator, more.pop("number", 0), done, {"is_p2p": True} | more)

    def _enter(self, group: str, operator: str, number: int, done: bool, more: dict[str, Any]) -> Rank:
        entry = {
            "record_id": len(self._entries),
            "pg_id": list(self._groups).index(group),
            "process_group": (group, group),
            "collective_seq_id": number,
            "p2p_seq_id": 0,
            "profiling_name": f"nccl:{operator}",
            "input_sizes": [[1024, 8]],
            "output_sizes": [[1024, 8]],
            "input_dtypes": ["Float"],
            "output_dtypes": ["Float"],
            "state": "completed" if done else "scheduled",
            "retired": done,
            "is_p2p": False,
            "frames": [
                {"name": "all_reduce", "filename": "/opt/lib/site-packages/torch/distributed/c10d.py", "line": 9},
                {"name": "step", "filename": "train.py", "line": 80 + number},
            ],
        }
        self._entries.append(entry | more)
        return self

    def dump(self, only_unfinished: bool = False, one_status: bool = False, version: str = "2.10") -> dict[str, Any]:
        status = {
            str(number): {
                "last_enqueued_collective": self._numbers[name],
                "last_completed_collective": self._done[name],
            }
            for number, name in enumerate(self._groups)
        }
        entries = [each for each in self._entries if not only_unfinished or each["state"] != "completed"]
        return {
            "version": version,
            "pg_config": {
                name: {"name": name, "desc": name, "ranks": "" if ranks is None else str(list(ranks))}
                for name, ranks in self._groups.items()
            },
            "pg_status": {"0": {"last_enqueued_collective": 99, "last_completed_collective": 99}}
            if one_status
            else status,
            "entries": entries,
        }


def ranks_of(count: int, **groups: Sequence[int]) -> list[Rank]:
    """Ranks of a world, each with those of the other groups that it is in."""
    return [
        Rank({WORLD: range(count), **{name: ranks for name, ranks in groups.items() if rank in ranks}})
        for rank in range(count)
    ]


def write(folder: Path, ranks: Sequence[Rank]) -> None:
    """Write the dump of each rank, as torch names and pickles them."""
    for number, rank in enumerate(ranks):
        (folder / f"nccl_trace_rank_{number}").write_bytes(pickle.dumps(rank.dump(), protocol=2))


def hanging_job() -> list[Rank]:
    """Four ranks of data-parallel training, of which one waits for its data: the others are in the next all_reduce."""
    ranks = ranks_of(4)
    for number, rank in enumerate(ranks):
        for _ in range(6):
            rank.call().call()
        if number != 2:
            rank.call(done=False)
    return ranks


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else HANG, hanging_job())
