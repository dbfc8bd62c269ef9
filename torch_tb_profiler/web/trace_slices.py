"""/api/trace/slices: the longest events of a trace (docs/api.md)."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from torch_tb_profiler.analysis import definitions
from torch_tb_profiler.analysis.slices.table import slice_categories, slices
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category
from torch_tb_profiler.web.ask import Route, ask
from torch_tb_profiler.web.http import Answer, HttpError, Parameters
from torch_tb_profiler.web.tables import Json, meta_of, table_of
from torch_tb_profiler.workspace import OpenTrace, Workspace

PAGE = 100
LARGEST_PAGE = 10_000


def slices_answer(
    model: Model,
    trace: OpenTrace,
    name: str | None,
    category: str | None,
    start_ns: int | None,
    end_ns: int | None,
    offset: int,
    limit: int,
) -> Json:
    found = slices(model, name, category, start_ns, end_ns, offset, limit)
    meta = meta_of(model, trace, "trace") | {
        "total": found.total,
        "group_by": None,
        "offset": offset,
        "duration_ns": int(model.trace.events.end.max(initial=0)),
        "categories": [asdict(each) for each in slice_categories(model)],
    }
    return table_of(meta, found, definitions.SLICES, definitions.SLICES)


def _slices(workspace: Workspace, parameters: Parameters) -> Answer:
    parameters.need_all("run", "worker")
    category = parameters.get("category")
    known = [each.name.lower() for each in Category]
    if category is not None and category not in known:
        raise HttpError(400, f"category must be one of {', '.join(known)}, not {category!r}")
    asked = {
        "name": parameters.get("name"),
        "category": category,
        "start_ns": parameters.whole_number("start_ns", None),
        "end_ns": parameters.whole_number("end_ns", None),
        "offset": parameters.whole_number("offset", 0, 0),
        "limit": parameters.whole_number("limit", PAGE, 1, LARGEST_PAGE),
    }
    return ask(workspace, parameters, ("slices", *asked.values()), partial(slices_answer, **asked))  # type: ignore[arg-type]


ROUTES: dict[str, Route] = {"/api/trace/slices": _slices}
