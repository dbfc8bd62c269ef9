"""How steps are found is shown, chosen, kept in the address, and asked for everywhere."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import StartServer
from tests.browser.profiler import Profiler, as_table
from tests.browser.servers import Server
from tests.browser.watch import Watch
from tests.events import Event, annotation, kernel, launch, op

ENGINE = "execute_context_1(888)_generation_0(0)"


def engine_trace(steps: int = 4) -> list[Event]:
    """A server of vLLM's kind: each step has a prefill and a decode in it; only the prefill launches a kernel."""
    events: list[Event] = []
    for step in range(steps):
        at = 1000.0 * step
        events += [
            annotation(ENGINE, at, 900),
            annotation("prefill", at + 10, 300),
            annotation("decode", at + 400, 300),
            op("aten::mm", at + 20, 100),
            launch(at + 30, correlation=step + 1),
            kernel(at + 50, 200, correlation=step + 1),
        ]
    return events


@pytest.fixture(scope="module")
def engine(start_for_all: StartServer, tmp_path_factory: pytest.TempPathFactory) -> Server:
    logs = tmp_path_factory.mktemp("engine")
    (logs / "run").mkdir()
    document = {"traceEvents": engine_trace(), "distributedInfo": {"rank": 5, "world_size": 8}}
    (logs / "run" / "server.1.pt.trace.json").write_text(json.dumps(document))
    server = start_for_all("engine", "torch_tb_profiler", "serve", str(logs))
    server.wait_for_traces()
    return server


@pytest.fixture
def profiler(engine: Server, page: Page) -> Profiler:
    return Profiler(page, engine).open(x="all")


def steps(profiler: Profiler) -> Locator:
    return profiler.panel("Steps found by")


def choose(profiler: Profiler, how: str) -> None:
    """Among the choices behind the number of steps, unless they are in sight."""
    if not profiler.picker("Find steps by").is_visible():
        steps(profiler).get_by_role("button").click()
    profiler.choose("Find steps by", how)


def asked(watch: Watch, route: str) -> dict[str, str]:
    """What the last request of a route said about steps."""
    last = next(url for url in reversed(watch.requests) if urlsplit(url).path.endswith(f"/api/{route}"))
    parameters = parse_qs(urlsplit(last).query)
    return {key: values[0] for key, values in parameters.items() if key.startswith("step")}


def test_how_steps_were_found(profiler: Profiler, watch: Watch) -> None:
    expect(steps(profiler)).to_contain_text("4 steps (marks of an inference engine)")
    assert asked(watch, "overview") == {}
    shown = as_table(profiler.panel("Step Time Breakdown"))
    assert [row[:2] for row in shown] == [[str(step), ENGINE] for step in range(4)]


def test_another_rule(profiler: Profiler, watch: Watch) -> None:
    choose(profiler, "The whole trace as one step")
    expect(steps(profiler)).to_contain_text("(1 step)")
    expect(profiler.page).to_have_url(re.compile("sr=whole_trace"))
    for view, table in (("operators", "Operators"), ("kernels", "Kernels")):
        profiler.go_to(view)
        expect(profiler.grid(table).count).to_be_visible()
        assert asked(watch, view) == {"steps": "whole_trace"}
    profiler.go_to("health")
    expect(profiler.panel("Recording")).to_contain_text("1, found by")
    assert asked(watch, "health") == {"steps": "whole_trace"}

    profiler.go_to("overview")
    choose(profiler, "ProfilerStep marks")
    expect(steps(profiler)).to_contain_text("The chosen rule finds no steps in this trace.")
    expect(steps(profiler)).to_contain_text("marks of an inference engine")
    choose(profiler, "the first rule that fits")
    expect(steps(profiler)).not_to_contain_text("The chosen rule")
    expect(profiler.page).not_to_have_url(re.compile("sr="))


def test_a_pattern(profiler: Profiler, watch: Watch) -> None:
    choose(profiler, "A pattern of annotation names…")
    field = steps(profiler).get_by_role("textbox", name="Pattern")
    expect(field).to_be_focused()
    field.fill("(de")
    expect(steps(profiler)).to_contain_text("This is not a regular expression:")
    field.press("Enter")
    expect(steps(profiler)).to_contain_text("marks of an inference engine (4 steps)")
    field.fill("^(decode|prefill)$")
    field.press("Enter")
    # The last decode is left out: no device work of it was recorded.
    expect(steps(profiler)).to_contain_text("Steps found by your pattern (7 steps)")
    assert asked(watch, "overview") == {"step_pattern": "^(decode|prefill)$"}
    shown = as_table(profiler.panel("Step Time Breakdown"))
    assert [row[1] for row in shown[:2]] == ["prefill", "decode"]
    expect(profiler.page).to_have_url(re.compile("sp="))

    profiler.page.reload()
    expect(field).to_have_value("^(decode|prefill)$")
    expect(steps(profiler)).to_contain_text("(7 steps)")
    field.fill("")
    field.press("Enter")
    expect(steps(profiler)).to_contain_text("marks of an inference engine")
    expect(field).to_have_count(0)


def test_a_link_that_cannot_be_meant(profiler: Profiler, watch: Watch) -> None:
    profiler.open(sr="<b>moon</b>")
    expect(profiler.ui.get_by_role("status").filter(has_text="There is no rule “<b>moon</b>”")).to_be_visible()
    expect(steps(profiler)).to_contain_text("4 steps (marks of an inference engine)")
    profiler.open(sp="(")
    expect(profiler.ui.get_by_role("status").filter(has_text="“(” is not a regular expression;")).to_be_visible()
    expect(steps(profiler)).to_contain_text("This is not a regular expression:")
    expect(steps(profiler)).to_contain_text("marks of an inference engine (4 steps)")
    assert asked(watch, "overview") == {}

    # Fine for the page, not for the server: its words are shown, and the field to change it stays.
    profiler.open(sp="(?=d)decode")
    expect(profiler.ui.get_by_role("alert").first).to_contain_text("is not a regular expression")
    field = steps(profiler).get_by_role("textbox", name="Pattern")
    field.fill("(decode)")
    field.press("Enter")
    expect(steps(profiler)).to_contain_text("Steps found by your pattern (4 steps)")


def test_the_rank_is_next_to_the_worker(profiler: Profiler) -> None:
    profiler.picker("Worker").click()
    options = profiler.ui.get_by_role("listbox", name="Worker").get_by_role("option")
    expect(options).to_have_text("serverrank 5 of 8")
