"""The longest events, by known answers, and the route over a real workspace."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
from werkzeug.test import Client

from tests.events import US, Event, annotation, event, kernel, launch, memory, model_of, op
from tests.served import client_of, everything_read, get
from torch_tb_profiler.analysis.slices import SliceTable, slice_categories, slices, track_name
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.store import Track

EVENTS: list[Event] = [
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
    annotation("ProfilerStep#1", 0, 400),
    op("aten::mm", 10, 50),
    op("aten::add", 70, 20),
    op("aten::addmm", 100, 50),
    launch(12, 1),
    kernel(40, 90, 1, "void GEMM<float>"),
    memory(50, 1024, 1, 1024),
    event("Trace", "PyTorch Profiler (0)", 0, 1000),
]


@pytest.fixture(scope="module")
def model() -> Model:
    return model_of(EVENTS)


def test_the_longest_first_and_of_equal_ones_the_earlier(model: Model) -> None:
    found = slices(model)
    assert found.name == (
        "ProfilerStep#1",
        "void GEMM<float>",
        "aten::mm",
        "aten::addmm",
        "aten::add",
        "cudaLaunchKernel",
    )
    assert found.duration_ns.tolist() == [400 * US, 90 * US, 50 * US, 50 * US, 20 * US, 5 * US]
    assert found.start_ns.tolist() == [0, 40 * US, 10 * US, 100 * US, 70 * US, 12 * US]
    assert found.category == ("user_annotation", "kernel", "operator", "operator", "operator", "runtime")
    assert found.row.tolist() == [1, 6, 2, 4, 3, 5]
    assert found.total == 6
    assert (found.track[0], found.track[1]) == ("python 1 · thread 1", "0 · thread 7")


def test_by_name_category_and_time(model: Model) -> None:
    assert slices(model, name="ADD").name == ("aten::addmm", "aten::add")
    assert slices(model, name="gemm").name == ("void GEMM<float>",)
    assert slices(model, name="nothing").total == 0
    assert slices(model, category="operator").name == ("aten::mm", "aten::addmm", "aten::add")
    assert slices(model, category="span").name == ("PyTorch Profiler (0)",)
    assert slices(model, category="memory").total == 0, "instants have no duration"
    # A part in the window is enough; its ends belong to it.
    assert slices(model, category="operator", start_ns=60 * US, end_ns=70 * US).name == ("aten::mm", "aten::add")
    assert slices(model, category="operator", start_ns=60 * US + 1, end_ns=70 * US - 1).total == 0
    with pytest.raises(ValueError, match="moon"):
        slices(model, category="moon")


def test_pages_put_together_are_the_whole(model: Model) -> None:
    whole = slices(model)
    for limit in (1, 2, 4):
        pages = [slices(model, offset=offset, limit=limit) for offset in range(0, 6, limit)]
        assert [row for page in pages for row in page.row.tolist()] == whole.row.tolist()
        assert {page.total for page in pages} == {6}
    assert len(slices(model, offset=6)) == 0


def test_equal_durations_keep_their_order_on_all_pages() -> None:
    model = model_of([op(f"op{i}", i * 10, 1 + i % 3) for i in range(200)])
    expected = sorted(range(200), key=lambda i: (-(i % 3), i))
    found = [row for offset in range(0, 200, 7) for row in slices(model, offset=offset, limit=7).row.tolist()]
    assert found == expected


def test_categories(model: Model) -> None:
    counts = {each.category: each.slices for each in slice_categories(model)}
    assert counts == {"operator": 3, "user_annotation": 1, "kernel": 1, "runtime": 1, "span": 1}
    assert next(iter(counts)) == "operator"


def test_an_empty_trace() -> None:
    model = model_of([])
    assert slices(model).total == 0
    assert slice_categories(model) == ()


@pytest.mark.parametrize(
    ("track", "name"),
    [
        (Track(4200, 4260, "python", "CPU", "thread 4260 (python)"), "CPU 4200 · thread 4260 (python)"),
        (Track(0, 7, "python", "GPU 0", "stream 7 "), "GPU 0 · stream 7"),
        (Track(0, "stream 7", "python", "GPU 0"), "GPU 0 · stream 7"),
        (Track("Spans", "PyTorch Profiler"), "Spans · PyTorch Profiler"),
        (Track(5, 6), "5 · thread 6"),
    ],
)
def test_names_of_tracks(track: Track, name: str) -> None:
    assert track_name(track) == name


# the route --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    root = tmp_path_factory.mktemp("slices")
    (root / "logs").mkdir()
    (root / "logs" / "w.pt.trace.json").write_text(json.dumps({"traceEvents": EVENTS}))
    with everything_read(root / "logs", root / "cache", 1) as workspace:
        yield client_of(workspace)


WHERE = "/api/trace/slices?run=logs&worker=w"


def test_the_answer(client: Client) -> None:
    answer = get(client, f"{WHERE}&name=aten&limit=2&offset=1")
    assert [column["key"] for column in answer["columns"]] == list(answer["rows"]) == list(SliceTable.columns)
    assert answer["rows"]["name"] == ["aten::addmm", "aten::add"]
    assert answer["rows"]["duration_ns"] == [50 * US, 20 * US]
    meta = answer["meta"]
    assert (meta["total"], meta["offset"], meta["duration_ns"]) == (3, 1, 1000 * US)
    assert meta["categories"][0] == {"category": "operator", "slices": 3}


def test_every_category_can_be_asked_for(client: Client) -> None:
    listed = {each["category"]: each["slices"] for each in get(client, WHERE)["meta"]["categories"]}
    for category in Category:
        meta = get(client, f"{WHERE}&category={category.name.lower()}")["meta"]
        assert meta["total"] == listed.get(category.name.lower(), 0)


def test_a_window(client: Client) -> None:
    rows = get(client, f"{WHERE}&start_ns=0&end_ns=11000&category=operator")["rows"]
    assert rows["name"] == ["aten::mm"]


def test_bad_values(client: Client) -> None:
    for query in ("category=moon", "start_ns=x", "end_ns=1.5", "limit=0", "limit=10001", "offset=-1"):
        get(client, f"{WHERE}&{query}", 400)
    get(client, "/api/trace/slices?run=logs", 400)
    get(client, "/api/trace/slices?run=gone&worker=w", 404)


def test_a_page_of_many_is_a_page_of_all_sorted() -> None:
    """The shortcut past sorting everything, against sorting everything."""
    rng = np.random.default_rng(3)
    model = model_of([op("o", float(i), float(d)) for i, d in enumerate(rng.integers(0, 50, 3000))])
    duration, start = model.trace.events.duration, model.trace.events.start
    expected = sorted(range(3000), key=lambda row: (-duration[row], start[row], row))
    assert slices(model, offset=100, limit=700).row.tolist() == expected[100:800]
