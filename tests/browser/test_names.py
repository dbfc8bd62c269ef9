"""Names that nobody would give, addresses and stored values that nobody would write: in every view."""

from __future__ import annotations

import csv
import io
import json

import pytest
from playwright.sync_api import Page, expect

from tests.attack.names import LONG, write_names
from tests.browser.conftest import StartServer
from tests.browser.profiler import VIEWS, Profiler
from tests.browser.servers import Server
from tests.browser.watch import Watch

SEEN = {
    "abc\u202e321cba": "abc{U+202E}321cba",
    "zero\u200bwidth": "zero{U+200B}width",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07": "{U+001B}[31mred{U+001B}[0m{U+001B}]0;title{U+0007}",
    "trailing ": "trailing␣",
    "constructor": "constructor",
    "a#b&c=d?e/f%g+h": "a#b&c=d?e/f%g+h",
    "=cmd|'/c calc'!A1": "=cmd|'/c calc'!A1",
}
"""Names, and what a person sees of them."""

FAULTS = r"""() => {
  const found = [];
  const hidden = /[^\P{C}\n\t\u200d\u2068\u2069]|[\u2028\u2029\u3164]/u;
  const told = document.body.innerText.match(new RegExp(`.{0,20}(?:${hidden.source}).{0,20}`, "u"));
  if (told) found.push(`hidden: ${JSON.stringify(told[0])}`);
  for (const element of document.querySelectorAll("body *")) {
    for (const name of ["title", "aria-label"])
      if (hidden.test(element.getAttribute(name) ?? "")) found.push(`hidden in ${name}`);
    if (/^\s*(javascript|data):/i.test(element.getAttribute("href") ?? "")) found.push("a link that runs");
  }
  if (document.querySelector("img, svg[onload], b, iframe, object, embed, script:not([src])")) found.push("markup");
  for (const part of ["html", "body", ".shell", ".bar", ".rail", ".main"]) {
    const element = document.querySelector(part);
    if (element.scrollWidth > element.clientWidth + 1) found.push(`${part} is ${element.scrollWidth} wide`);
  }
  for (const word of ["[object", "native code", "This part of the page"])
    if (document.body.innerText.includes(word)) found.push(word);
  return found;
}"""

HOSTILE = ("__proto__", "constructor", "9" * 400, "\x00\u202e", "x" * 20_000, "%E0%A4%A", "op:__proto__", "0~9~1", "[{")


@pytest.fixture(scope="module")
def hostile(start_for_all: StartServer, tmp_path_factory: pytest.TempPathFactory) -> Server:
    logs = tmp_path_factory.mktemp("names")
    write_names(logs)
    server = start_for_all("names", "torch_tb_profiler", "serve", str(logs))
    server.wait_for_traces()
    server.run = "names"
    return server


@pytest.fixture
def profiler(page: Page, hostile: Server) -> Profiler:
    return Profiler(page, hostile)


def test_every_view_of_hostile_names(profiler: Profiler, watch: Watch) -> None:
    profiler.open()
    for view in VIEWS:
        profiler.turn_to(v=view)
        expect(profiler.heading(VIEWS[view])).to_be_visible()
        profiler.loaded()
        assert profiler.page.evaluate(FAULTS) == [], view
    profiler.turn_to(r="abc\\u202e321cba")
    expect(profiler.picker("Run")).to_have_accessible_name("Run abc\\u202e321cba")
    assert [url for url in watch.requests if "stolen" in url.split("?")[0]] == []


def test_hostile_names_are_found_picked_and_saved(profiler: Profiler) -> None:
    profiler.open(v="kernels")
    grid = profiler.grid("Kernels")
    for name, seen in SEEN.items():
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        profiler.turn_to(v="kernels", q=f'name="{quoted}"')
        expect(grid.count).to_have_text("1 of 80 rows")
        grid.row(seen).click()
        heading = profiler.inspector.get_by_role("heading", level=2)
        expect(heading).to_have_text(seen)
        expect(profiler.inspector.get_by_text("Calls").first).to_be_visible()
        profiler.page.wait_for_function("(name) => location.hash.includes(encodeURIComponent(name))", arg=name[-3:])
    # The last one by its address alone.
    profiler.page.reload()
    expect(profiler.inspector.get_by_role("heading", level=2)).to_have_text(seen)
    expect(grid.root.get_by_role("row", selected=True)).to_have_count(1)
    profiler.turn_to(v="kernels")
    expect(grid.count).to_have_text("80 rows")
    saved = {row["name"] for row in csv.DictReader(io.StringIO(grid.export("CSV"), newline=""))}
    assert {"'=cmd|'/c calc'!A1", "'+1-2", "'@SUM(A1)", "abc\u202e321cba", "zero\u200bwidth"} <= saved


def test_the_longest_name_is_a_sentence_of_three_lines(profiler: Profiler) -> None:
    profiler.open(v="operators", sel=f"op:{LONG}")
    sentence = profiler.panel("Largest operators").get_by_text("ranks first")
    expect(sentence).to_be_visible()
    assert len(sentence.inner_text()) < 500
    expect(profiler.inspector.get_by_role("heading", level=2)).to_be_visible()
    assert profiler.page.evaluate(FAULTS) == []


@pytest.mark.long
def test_hostile_addresses_and_stored_values_change_nothing(profiler: Profiler) -> None:
    stored = {
        "columns.operators": '{"__proto__": true, "name": "no", "calls": 3, "length": false}',
        "columns.kernels": "[" * 5000,
        "inspector-width": "1e999",
        "rail-width": "<img>",
        "language": "__proto__",
        "theme": "constructor",
        "rail": "{}",
    }
    profiler.page.add_init_script(
        f"for (const [key, value] of Object.entries({json.dumps(stored)})) "
        "localStorage.setItem(`torch-tb-profiler.${key}`, value);"
    )
    profiler.open(v="operators")
    expect(profiler.grid("Operators").count).to_have_text("79 rows")
    keys = (
        "a b c d e f from g h i j l m mark mem n o o2 p q q2 q3 sel sp sr st t u w x y z __proto__ constructor".split()
    )
    for at, view in enumerate(VIEWS):
        state = {key: HOSTILE[(at + number) % len(HOSTILE)] for number, key in enumerate(keys)}
        profiler.turn_to(**{**state, "v": view})
        expect(profiler.heading(VIEWS[view])).to_be_visible()
        profiler.loaded()
        assert profiler.page.evaluate(FAULTS) == [], (view, state)
    assert profiler.page.evaluate("({}).polluted === undefined && Object.keys(Object.prototype).length === 0")


def test_messages_of_others_are_not_heard(profiler: Profiler) -> None:
    profiler.open(v="operators")
    count = profiler.grid("Operators").count
    expect(count).to_have_text("79 rows")
    before = profiler.page.evaluate("location.href + document.body.innerText")
    profiler.page.evaluate(
        """() => {
          const kinds = ["experimental.DataReloaded", "experimental.bootstrap", "PONG", "PING", "__proto__"];
          for (let n = 0; n < 5000; n++) {
            const type = kinds[n % kinds.length];
            const message = { type, id: n, isReply: n % 2 === 0, payload: { __proto__: { polluted: 1 } } };
            postMessage(n % 3 ? message : n % 2 ? JSON.stringify(message) : "{" + "x".repeat(n), "*");
          }
          dispatchEvent(new MessageEvent("message", { data: "PONG", origin: "https://ui.perfetto.dev" }));
          dispatchEvent(new StorageEvent("storage", { key: "torch-tb-profiler.theme", newValue: "dark" }));
          new BroadcastChannel("torch-tb-profiler").postMessage({ type: "experimental.DataReloaded", id: 1 });
        }"""
    )
    expect(count).to_have_text("79 rows")
    assert profiler.page.evaluate("location.href + document.body.innerText") == before


def test_folders_of_any_name_are_runs(hostile: Server) -> None:
    names = {run["name"] for run in hostile.api("status")["runs"]}
    assert {"trailing ", "trailing", "abc\\u202e321cba", "latin\\xe9"} <= names
    assert {trace["state"] for trace in hostile.traces()} == {"ready"}
