"""Notebooks: tables and cards as HTML within their size, Arrow and Polars, the page live and as one file, examples."""

from __future__ import annotations

import ast
import gc
import html.parser
import json
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import torch_tb_profiler
from tests.planted import hostile_events, long_names, write_events
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.analysis.text_format import harmless, text_of
from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.api.profile import Profile
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.questions import QUESTIONS

pytestmark = pytest.mark.slow

MOST_BYTES = 20_000
MOST_BYTES_OF_A_NOTEBOOK = 100_000
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
MARKUP = "<img src=x onerror=alert(1)>|[a](http://evil.example)`**_"
#: what HTML of a notebook is made of here; anything else came from a name
TAGS = {
    "div", "p", "b", "ul", "li", "span", "table", "thead", "tbody", "tr", "th", "td", "svg", "rect", "title", "iframe",
}  # fmt: skip


class Tags(html.parser.HTMLParser):
    """Collects tags and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.fixture(scope="module")
def profile(samples: Path, cache: Path) -> Profile:
    return torch_tb_profiler.open(samples, cache_dir=cache)


@pytest.fixture(scope="module")
def trace(profile: Profile) -> TraceProfile:
    return profile.run("generated_4gpu_h100").trace(worker="rank0")


def tables_of(trace: TraceProfile) -> list[Any]:
    """Every result of a trace that is a table."""
    found: list[Any] = [
        trace.steps, trace.overview(), trace.operators(), trace.operators("name_shape"), trace.operators("name_stack"),
        trace.kernels(), trace.kernels("name_op_launch"), trace.copies(), trace.device_time(), trace.idle_times(),
        trace.idle_gaps(), trace.launch_stats(), trace.queue_lengths(), trace.modules(), trace.hooks(), trace.stacks(),
        trace.roofline(), trace.waterfall().gaps, trace.findings(), trace.notes, trace.unattributed(),
        trace.kernel_sequences(), trace.stream_queues(),
    ]  # fmt: skip
    if trace.memory_devices:
        found += [trace.memory_operators(), trace.memory_events(), trace.memory_alive(), trace.memory_curve()]
    names = [each.name for each in QUESTIONS]
    found += [trace.answer(name) for name in ("operators", "kernels", "roofline", "ranges") if name in names]
    return found


def checked(text: str) -> Tags:
    """HTML that is small, made of known tags, and has nothing that runs."""
    assert len(text.encode()) <= MOST_BYTES
    tags = Tags()
    tags.feed(text)
    assert tags.tags <= TAGS
    assert not any(name.startswith("on") or name in ("href", "src", "srcset") for name in tags.attributes)
    assert "<style" not in text
    return tags


def test_every_table_is_small_html_and_markdown(trace: TraceProfile, profile: Profile) -> None:
    shown = [*tables_of(trace), profile.figures(), profile.skipped, profile.run("generated_4gpu_h100").ranks]
    assert all(isinstance(each, Tabular) for each in shown)
    for each in shown:
        checked(each._repr_html_())
        bundle = each._repr_mimebundle_()
        assert set(bundle) == {"text/html", "text/markdown", "text/plain"}
        grid = each.as_grid()
        assert f"of {grid.size:,} rows" in bundle["text/markdown"]
        assert f"of {grid.size:,} rows" in bundle["text/plain"]
        assert len(grid.first(3).get(grid.columns[0].key, [])) == min(3, grid.size) if grid.columns else not grid.size
    head, first, *_ = repr(trace.operators()).splitlines()
    assert "|" not in head + first, "in a Python prompt a table is aligned, and nothing in it is escaped"
    assert first.startswith(str(trace.operators().name[0]))
    ends = [head.index(label) + len(label) for label in ("Calls", "Host self")]
    assert all(first[end - 1] != " " and first[end] == " " for end in ends)
    operators = trace.operators()._repr_html_()
    assert "Σ durations of the kernels, copies and fills launched by the operator itself" in operators
    assert "50.168&nbsp;ms" in operators
    assert "20 of 63 rows" in operators


def test_names_are_escaped_and_cut(tmp_path: Path, cache: Path) -> None:
    events = [{**each, "name": MARKUP} if "mm" in each["name"] else each for each in hostile_events()]
    write_events(tmp_path / "logs" / "markup", events)
    write_events(tmp_path / "logs" / "long", long_names())
    opened = torch_tb_profiler.open(tmp_path / "logs", cache_dir=cache)
    for run in opened.runs:
        (trace,) = run
        for each in (trace, run, *tables_of(trace)):
            checked(each._repr_html_())
            markdown = each._repr_mimebundle_()["text/markdown"]
            assert "\x1b" not in markdown
            assert "\u202e" not in markdown
            assert "<img" not in markdown.replace("```", "") or "\n```" in markdown
    markdown = opened.run("markup").trace().operators()._repr_mimebundle_()["text/markdown"]
    assert "[a](http" not in markdown
    assert "&lt;img src=x" in markdown


def test_cards(trace: TraceProfile, profile: Profile, tmp_path: Path, cache: Path) -> None:
    tags = checked(trace._repr_html_())
    assert {"svg", "rect"} <= tags.tags
    assert "The host waits for the device in aten::item" in trace._repr_html_()
    checked(profile._repr_html_())
    checked(profile.run("generated_4gpu_h100")._repr_html_())
    assert "generated_4gpu_h100" in profile._repr_mimebundle_()["text/markdown"]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.1.pt.trace.json").write_text("nothing")
    broken = torch_tb_profiler.open(tmp_path, cache_dir=cache).trace()
    assert "a.1.pt.trace.json" in broken._repr_html_()
    checked(broken._repr_html_())


def test_a_change(profile: Profile, tmp_path: Path, cache: Path) -> None:
    before, after = (profile.run(name).trace() for name in ("cnn_workers0", "cnn_workers2"))
    change = before.change(after)
    tags = checked(change._repr_html_())  # type: ignore[attr-defined] # notebooks ask for it
    assert {"svg", "rect", "table"} <= tags.tags
    assert "Data loading" in change._repr_html_()  # type: ignore[attr-defined]
    events = [{**each, "name": MARKUP} if "mm" in each["name"] else each for each in hostile_events()]
    write_events(tmp_path / "a", hostile_events())
    write_events(tmp_path / "b", events)
    opened = torch_tb_profiler.open(tmp_path, cache_dir=cache)
    hostile = opened.run("a").trace().change(opened.run("b").trace())
    checked(hostile._repr_html_())  # type: ignore[attr-defined]
    assert shown(hostile)["text/plain"].isprintable()


def test_arrow_and_polars_have_the_rows_of_pandas(trace: TraceProfile) -> None:
    for each in tables_of(trace):
        if not len(each) or not hasattr(each, "to_pandas"):
            continue
        arrow = each.to_arrow()
        frame = each.to_pandas()
        assert len(arrow) == len(frame)
        for name in arrow.column_names:
            ours = [None if pd.isna(value) else value for value in arrow[name].to_pylist()]
            theirs = [None if pd.api.types.is_scalar(value) and pd.isna(value) else value for value in frame[name]]
            assert ours == theirs, name


def test_polars(trace: TraceProfile) -> None:
    polars = pytest.importorskip("polars")
    frame = trace.modules().to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame["name"].to_list() == list(trace.modules().name)
    assert frame["parent"].null_count() == int((trace.modules().parent < 0).sum())


def test_texts() -> None:
    assert [text_of(value, "ns") for value in (None, float("nan"), 1_500_000)] == ["–", "–", "1.500 ms"]
    assert [text_of(value, None) for value in (True, False, "a", 12345, 0.25)] == ["yes", "no", "a", "12,345", "0.250"]
    assert harmless("a\x00\u202eb\u200bc\n") == "a\ufffd\ufffdb\ufffdc\ufffd"
    assert harmless("x" * 50, 10) == "x" * 9 + "…"


# the page ---------------------------------------------------------------------------------------------------


def status_of(address: str) -> int:
    try:
        with urllib.request.urlopen(address, timeout=20) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        error.close()
        return int(error.code)


def test_the_page_is_served_to_those_who_know_its_address(samples: Path, cache: Path) -> None:
    trace = torch_tb_profiler.open(samples, cache_dir=cache).run("cnn_workers0").trace()
    frame = trace.show("operators", height=300)
    address, _, state = frame.url.partition("#")
    assert state == "v=operators&r=cnn_workers0&k=worker0&s=1"
    assert address.startswith("http://127.0.0.1:")
    server, token = address.rstrip("/").rsplit("/", 1)
    assert len(token) >= 32
    assert status_of(address) == status_of(f"{address}api/status") == 200
    for other in ("/", "/api/status", f"/{token}", f"/{token[:-1]}/", f"/x/{token}/", "/%2e%2e/"):
        assert status_of(server + other) == 404
    assert trace.show().url.partition("#")[0] == address, "one server for a trace"
    with urllib.request.urlopen(address, timeout=20) as response:
        assert "frame-ancestors *" in response.headers["Content-Security-Policy"]
    text = frame._repr_html_()
    assert 'height="300"' in text
    assert "&amp;r=cnn_workers0" in text


def test_the_server_ends_with_what_shows_it(samples: Path, cache: Path) -> None:
    frame = torch_tb_profiler.open(samples, cache_dir=cache).show()
    address = frame.url.partition("#")[0]
    assert status_of(address) == 200, "who holds the frame alone holds the server"
    del frame
    gc.collect()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            status_of(address)
        except OSError:
            break
        time.sleep(0.05)
    else:
        pytest.fail("it still answers")


def test_behind_a_proxy(samples: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = torch_tb_profiler.open(samples, cache_dir=cache)
    port = profile.show().url.split(":")[2].partition("/")[0]
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/me/")
    assert profile.show().url.startswith(f"/user/me/proxy/{port}/")
    monkeypatch.setenv("TENSORBOARD_PROXY_URL", "https://proxy.example/%PORT%/")
    assert profile.show().url.startswith(f"https://proxy.example/{port}/")


def test_the_page_as_one_file(samples: Path, cache: Path) -> None:
    profile = torch_tb_profiler.open(samples, cache_dir=cache)
    text = profile.run("cnn_workers2").show(static=True)._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads allow-popups"' in text
    assert "allow-same-origin" not in text
    assert 300_000 < len(text) < 1_500_000
    with pytest.raises(ProfileError, match="about one run"):
        profile.show(static=True)


def test_what_cannot_be_shown(trace: TraceProfile) -> None:
    for options in ({"height": 0}, {"height": 10**6}, {"view": "nothing"}):
        with pytest.raises(ProfileError):
            trace.show(**options)  # type: ignore[arg-type]


# examples ---------------------------------------------------------------------------------------------------


def outputs_of(path: Path) -> list[dict[str, str]]:
    """Runs the cells of a notebook; what the last expression of each shows."""
    found: list[dict[str, str]] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last: Any = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(path), "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(path), "eval"), names)
            found.append(shown(value))
    return found


def shown(value: Any) -> dict[str, str]:
    """As IPython asks a value what it looks like."""
    if hasattr(value, "_repr_mimebundle_"):
        return dict(value._repr_mimebundle_())
    text = {"text/plain": repr(value)}
    return {**text, "text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else text


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_examples(path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(cache))
    outputs = outputs_of(path)
    assert len(outputs) >= 3
    assert all(output["text/plain"] for output in outputs)
    size = len(json.dumps(outputs)) + len(capsys.readouterr().out)
    assert size <= MOST_BYTES_OF_A_NOTEBOOK
    assert not any(cell.get("outputs") for cell in json.loads(path.read_text("utf-8"))["cells"])


def test_there_are_three_examples() -> None:
    assert [path.stem for path in sorted(EXAMPLES.glob("*.ipynb"))] == ["one_trace", "ranks", "two_runs"]
