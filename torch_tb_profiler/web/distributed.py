"""Routes about all traces of one span of a run: /api/distributed and the old plugin's /distributed/…"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from torch_tb_profiler.analysis import definitions
from torch_tb_profiler.ranks import Distributed, Rank, distributed, rank_of
from torch_tb_profiler.ranks.distributed import OperationTable, Waits, operation_table
from torch_tb_profiler.trace import Note
from torch_tb_profiler.web.ask import Route
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, dumps
from torch_tb_profiler.web.old_plugin import distributed as old_distributed
from torch_tb_profiler.web.tables import Json, note_of, plain
from torch_tb_profiler.workspace import Key, OpenRun, OpenTrace, Packed, Workspace, pack

VIEW = "distributed"


def ask_run(
    workspace: Workspace, parameters: Parameters, question: str, compute: Callable[[OpenRun, Distributed], Any]
) -> Answer:
    """The answer to a question about all ranks; a parameter `worker` is not looked at."""
    opened = workspace.find_span(parameters.need("run"), parameters.get("span"))

    def answer() -> Packed:
        ranks = ranks_of(workspace, opened)
        if not any(map(_is_distributed, ranks)):
            raise HttpError(404, f"no communication was found in {opened.run!r}, span {opened.span}")
        return pack(dumps(compute(opened, distributed(ranks))))

    return Answer(workspace.remember(Key.of_run(opened, question), answer))


def ranks_of(workspace: Workspace, opened: OpenRun) -> list[Rank]:
    """What is kept of each trace for questions about all of them."""

    def rank(trace: OpenTrace) -> Rank:
        make = partial(workspace.ask_once, trace, partial(rank_of, worker=trace.worker))
        return workspace.remember(Key((trace,), "rank"), make)

    return [rank(trace) for trace in opened.traces]


def _is_distributed(rank: Rank) -> bool:
    return len(rank.communications) > 0 or (rank.world_size or 0) > 1


def _of_ranks(question: Callable[[Distributed], Any]) -> Route:
    def route(workspace: Workspace, parameters: Parameters) -> Answer:
        return ask_run(workspace, parameters, "old " + question.__name__, lambda _, found: question(found))

    return route


def _distributed(workspace: Workspace, parameters: Parameters) -> Answer:
    return ask_run(workspace, parameters, VIEW, distributed_answer)


def distributed_answer(opened: OpenRun, found: Distributed) -> Json:
    """/api/distributed."""
    notes = (*_absent(opened), *found.notes)
    return {
        "meta": {"run": opened.run, "span": opened.span, "notes": [note_of(note) for note in notes]},
        "workers": [
            {
                "worker": rank.worker,
                "rank": rank.rank,
                "world_size": rank.world_size,
                "node": place.node,
                "process": place.process,
                "backend": rank.backend or None,
                "devices": [
                    {k: v for k, v in asdict(device).items() if k != "has_properties"} for device in rank.devices
                ],
                "steps": _steps(rank, waits),
            }
            for rank, place, waits in zip(found.ranks, found.places, found.waits, strict=True)
        ],
        "groups": [
            {
                "name": use.group.name,
                "description": use.group.description,
                "ranks": use.group.ranks,
                "size": use.group.size or None,
                "present": use.present,
            }
            for use in found.groups
        ],
        "definitions": [asdict(definition) for definition in definitions.DISTRIBUTED.values()],
        "operations": _table(operation_table(found)),
    }


def _steps(rank: Rank, waits: Waits) -> Json:
    """Parallel lists; transfer and wait have one entry more, for operations outside of all steps."""
    of = rank.overlap
    return {
        "names": of.names,
        "duration_ns": plain(of.duration_ns),
        "computation_ns": plain(of.computation_ns),
        "overlap_ns": plain(of.overlap_ns),
        "communication_ns": plain(of.communication_ns),
        "other_ns": plain(of.other_ns),
        "transfer_ns": plain(waits.transfer_ns[:-1]),
        "wait_ns": plain(waits.wait_ns[:-1]),
        "outside": {"transfer_ns": int(waits.transfer_ns[-1]), "wait_ns": int(waits.wait_ns[-1])},
    }


def _table(table: OperationTable) -> Json:
    defined = definitions.DISTRIBUTED_OPERATIONS
    return {
        "columns": [asdict(definition) for definition in defined.values()],
        "rows": {key: plain(getattr(table, key)) for key in defined},
    }


def _absent(opened: OpenRun) -> list[Note]:
    """What of the span is not in the answer."""
    notes = []
    for state, severity, text in (
        ("loading", "info", "Traces of this span are still being read and not in these numbers"),
        ("failed", "error", "Traces of this span could not be read and are not in these numbers"),
    ):
        absent = [o.file for o in opened.others if (o.state == "failed") == (state == "failed")]
        if absent:
            listed = ", ".join(absent[:4]) + (" …" if len(absent) > 4 else "")
            kind = f"traces_{state}"
            notes.append(Note(kind, severity, f"{text}: {listed}.", len(absent), (VIEW,), values={"files": listed}))  # type: ignore[arg-type]
    return notes


ROUTES: dict[str, Route] = {
    "/api/distributed": _distributed,
    "/distributed/gpuinfo": _of_ranks(old_distributed.gpuinfo),
    "/distributed/overlap": _of_ranks(old_distributed.overlap),
    "/distributed/waittime": _of_ranks(old_distributed.waittime),
    "/distributed/commops": _of_ranks(old_distributed.commops),
}
