"""/api/stacks: its parameters and shapes (docs/api.md)."""

from __future__ import annotations

from functools import partial

from torch_tb_profiler.analysis import definitions
from torch_tb_profiler.analysis.health.recording import NO_STACKS
from torch_tb_profiler.analysis.stacks.entries import Weight
from torch_tb_profiler.analysis.stacks.flame_graph import SMALLEST_SHARE, stack_weights, stacks
from torch_tb_profiler.analysis.stacks.recorded import all_stacks
from torch_tb_profiler.analysis.stacks.stack_table import Direction, StackTable
from torch_tb_profiler.model import Model
from torch_tb_profiler.web.ask import Route, ask, step_choice
from torch_tb_profiler.web.http import Answer, HttpError, Parameters
from torch_tb_profiler.web.tables import Json, meta_of, note_of, plain, table_of
from torch_tb_profiler.workspace import OpenTrace, Workspace

#: of file filters: longer ones are no words that anybody typed
LONGEST_FILTER = 1000


def _stacks(workspace: Workspace, parameters: Parameters) -> Answer:
    weights: tuple[Weight, ...] = ("device", "host")
    directions: tuple[Direction, ...] = ("top_down", "bottom_up")
    weight = parameters.choice("weight", weights) if parameters.get("weight") is not None else None
    direction = parameters.choice("direction", directions)
    files = (parameters.get("files") or "").strip()[:LONGEST_FILTER]
    root = parameters.whole_number("root", 0, least=0, most=2**53)
    share = _share(parameters)
    step_choice(parameters)  # must be right here as elsewhere, but changes nothing: stacks do not know of steps
    compute = partial(stacks_answer, weight=weight, direction=direction, files=files, root=root, smallest_share=share)
    return ask(
        workspace,
        parameters.without("steps", "step_pattern"),
        ("call stacks", weight, direction, files, root, share),
        compute,
    )


def _share(parameters: Parameters) -> float:
    text = parameters.get("smallest_share")
    if text is None:
        return SMALLEST_SHARE
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise HttpError(400, "smallest_share must be a number from 0 to 1")
    return share


def stacks_answer(
    model: Model,
    trace: OpenTrace,
    weight: Weight | None = None,
    direction: Direction = "top_down",
    files: str = "",
    root: int = 0,
    smallest_share: float = SMALLEST_SHARE,
) -> Json:
    found = stacks(model, weight, direction, files, root, smallest_share)
    if found is None:
        raise HttpError(404, f"there is no call stack {root} here")
    has_frames = all_stacks(model).has_frames
    meta = meta_of(model, trace, "stacks") | {
        "weight": found.weight,
        "weights": stack_weights(model),
        "direction": found.direction,
        "files": files,
        "root": root,
        "whole_ns": found.whole_ns,
        "all_ns": found.all_ns,
        "no_stack_ns": found.no_stack_ns,
        "entries": found.entries,
        "limit_ns": found.limit_ns,
        "has_frames": has_frames,
        "above": _rows(found.above) if found.above is not None else None,
    }
    if not has_frames:
        meta["notes"].append(note_of(NO_STACKS))
    return table_of(meta, found, definitions.STACKS, definitions.STACKS)


def _rows(table: StackTable) -> Json:
    return {key: plain(getattr(table, key)) for key in definitions.STACKS}


ROUTES: dict[str, Route] = {"/api/stacks": _stacks}
