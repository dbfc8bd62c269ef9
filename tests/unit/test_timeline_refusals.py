"""What routes of the timeline refuse, and what they need not open."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from werkzeug.test import Client

from tests.served import get
from tests.unit.timeline_routes import KERNEL, OF_TRACE
from torch_tb_profiler.questions import TIMELINE_QUESTIONS
from torch_tb_profiler.timeline.one_slice import ARGS
from torch_tb_profiler.timeline.tracks import TIMELINE_STEPS
from torch_tb_profiler.workspace import Workspace

OF_TRACE_QUESTIONS = [
    question for question in TIMELINE_QUESTIONS if question.scope == "timeline" and question is not ARGS
]


#: of each question about the timeline of one trace
QUERIES = {
    "timeline": "",
    "timeline/tiles": "level=1&tile=0&lanes=0",
    "timeline/slices": "lanes=0&from=0&to=9",
    "timeline/counters": "level=1&tile=0",
    "timeline/names": "from=0&count=9",
    "timeline/slice": "row=0",
    "timeline/next": "row=0",
    "timeline/search": "q=a",
    "timeline/range": "from=0&to=9",
    "timeline/flows": "row=0",
    "timeline/derived": "of=path",
    "timeline/derived/tiles": "of=idle&level=1&tile=0",
    "timeline/slack": "level=1&tile=0&lanes=0",
    "timeline/path/next": "time=0",
}


@pytest.mark.parametrize("name", [question.name for question in OF_TRACE_QUESTIONS])
def test_who_has_an_answer_does_not_have_the_timeline_opened(
    name: str, client: Client, workspace: Workspace, tree: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = get(client, f"/api/timeline/search?{OF_TRACE}&q={KERNEL}")["hits"]["row"][0]
    query = QUERIES[name].replace("row=0", f"row={row}")
    for url in (f"/api/{name}?{OF_TRACE}&{query}", f"/api/{name}?{OF_TRACE}&{query}&v={tree['version']}"):
        first = client.get(url)
        assert first.status_code == 200, first.text
        with monkeypatch.context() as patched:
            patched.setattr(workspace, "ask", lambda *_: pytest.fail("the timeline is opened"))
            again = client.get(url, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")


def test_whoever_asks_for_another_answer_gets_it(client: Client, tree: Any) -> None:
    """An ETag belongs to one question with its parameters; one that cannot be answered has none."""
    first, *others = [
        f"/api/timeline?{OF_TRACE}{more}" for more in ("", "&steps=whole_trace", "&from_step=5&to_step=5", "&steps=")
    ]
    names = tree["steps"]["names"]
    others[1] = others[1].replace("=5", f"={names[0]}")
    etag = client.get(first).headers["ETag"]
    assert client.get(first, headers={"If-None-Match": etag}).status_code == 304
    assert [client.get(url, headers={"If-None-Match": etag}).status_code for url in others] == [200, 200, 400]
    for method in (client.get, client.head):
        assert method(f"/api/timeline/slice?{OF_TRACE}&row=99999999").status_code == 404


def test_another_version_is_not_there(client: Client, tree: Any) -> None:
    for route in ("tiles", "slices", "names", "slice", "next", "search", "range", "flows", "counters", "slack"):
        answer = get(client, f"/api/timeline/{route}?{OF_TRACE}&v=0123", 404)
        assert answer["version"] == tree["version"]


@pytest.mark.parametrize("level", ["99", "-1", "4611686018427387905", "9" * 40])
@pytest.mark.parametrize("route", ["tiles?tile=0&lanes=0", "counters?tile=0"])
def test_a_level_that_is_not_there_is_refused_with_those_that_are(
    client: Client, tree: Any, route: str, level: str
) -> None:
    highest = tree["levels"][-1]["level"]
    error = get(client, f"/api/timeline/{route}&{OF_TRACE}&level={level}", 400)["error"]
    assert error == f"level must be a whole number from 0 to {highest}"


@pytest.mark.parametrize(
    ("route", "status", "part"),
    [
        ("tiles?level=1&tile=0", 400, "lanes"),
        ("tiles?level=1&lanes=0", 400, "tile"),
        ("tiles?level=x&tile=0&lanes=0", 400, "level"),
        ("tiles?level=99&tile=0&lanes=0", 400, "level"),
        ("tiles?level=-1&tile=0&lanes=0", 400, "level"),
        ("tiles?level=1&tile=9999999999&lanes=0", 400, "tile"),
        ("tiles?level=1&tile=0&lanes=", 400, "lanes"),
        ("tiles?level=1&tile=0&lanes=a", 400, "lanes"),
        ("tiles?level=1&tile=0&lanes=3-", 400, "lanes"),
        ("tiles?level=1&tile=0&lanes=5-3", 400, "lanes"),
        ("tiles?level=1&tile=0&lanes=0-99999999", 400, "4096"),
        ("tiles?level=1&tile=0&lanes=4095", 404, "lane 4095"),
        ("slices?lanes=0&from=1", 400, "to"),
        ("slices?lanes=0&from=5&to=1", 400, "before"),
        ("slices?lanes=0&from=0&to=1&limit=0", 400, "limit"),
        ("slices?lanes=0&from=0&to=1&min_ns=-1", 400, "min_ns"),
        ("names", 400, "from"),
        ("names?from=0&count=99999", 400, "count"),
        ("slice", 400, "row"),
        ("slice?row=99999999", 404, "row"),
        ("slice?row=-1", 400, "row"),
        ("next?row=100&direction=up", 400, "direction"),
        ("search", 400, "q"),
        ("search?q=", 400, "q"),
        ("search?q=a&mode=glob", 400, "mode"),
        ("search?q=a&bins=0", 400, "bins"),
        ("search?q=a&after=99999999", 404, "row"),
        (f"search?q={quote('(')}&mode=regex", 400, "regular expression"),
        (f"search?q={'a' * 1001}", 400, "1000"),
        ("range?from=0", 400, "to"),
        ("range?from=0&to=9&lanes=4095", 404, "lane"),
        ("flows", 400, "from"),
        ("flows?from=0&to=9&kinds=launch,moon", 400, "moon"),
        ("flows?row=99999999", 404, "row"),
        ("derived", 400, "of"),
        ("derived?of=moon", 400, "of"),
        ("derived/tiles?of=path&level=1", 400, "tile"),
        ("derived/tiles?of=path&level=99&tile=0", 400, "level"),
        ("slack?level=1&tile=0&lanes=4095", 404, "lane 4095"),
        ("path/next", 400, "time"),
        ("path/next?time=0&direction=up", 400, "direction"),
        ("slack?level=99&tile=0&lanes=0", 400, "level"),
        ("slack?level=1&tile=0&lanes=0&steps=moon", 400, "steps"),
        ("counters?level=1", 400, "tile"),
        ("counters?level=1&tile=0&ids=moon", 404, "moon"),
        ("counters?level=1&tile=0&ids=", 404, "counter ''"),
    ],
)
def test_what_is_wrong_is_said(client: Client, route: str, status: int, part: str) -> None:
    name, _, query = route.partition("?")
    response = client.get(f"/api/timeline/{name}?{OF_TRACE}&{query}")
    assert response.status_code == status, response.text
    assert part in response.json["error"]


def test_names_of_traces_that_are_not_there(client: Client) -> None:
    for route in [question.path for question in (TIMELINE_STEPS, ARGS, *OF_TRACE_QUESTIONS)]:
        get(client, f"{route}?run=whole", 400)
        get(client, f"{route}?run=moon&worker=rank0", 404)
        get(client, f"{route}?run=broken&worker=rank1", 422)
        assert client.post(f"{route}?{OF_TRACE}").status_code == 405
