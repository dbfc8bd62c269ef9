"""English and Chinese: what the browser asks for, what was chosen, and that the choice loses nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PICTURED, OpenPage, screenshot
from tests.browser.profiler import CPU_RUN, GPU_RUN, VIEWS, Profiler
from tests.browser.servers import Server
from tests.browser.watch import Watch
from tests.tiny import wait_until

CHINESE = re.compile("[\u4e00-\u9fff]")


def test_the_browsers_language(open_page: OpenPage, alone: Server, watch: Watch) -> None:
    profiler = Profiler(open_page(locale="zh-CN"), alone).open(r=GPU_RUN)
    expect(profiler.heading("概览")).to_be_visible()
    expect(profiler.ui.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(profiler.page).to_have_title("概览 – PyTorch Profiler")
    expect(profiler.panel("中位步").get_by_role("img")).to_be_visible()
    # Texts that are read when the code of a view or of the tables is loaded.
    profiler.ui.get_by_role("link", name="算子").click()
    grid = profiler.grid("算子")
    expect(profiler.ui.get_by_role("searchbox", name="筛选：算子")).to_be_visible()
    expect(grid.panel.get_by_text(re.compile(r"^\d+ 行$"))).to_be_visible()
    expect(profiler.panel("耗时最多的算子").get_by_role("radio", name="主机自身耗时")).to_be_visible()


def test_english_readers_load_no_chinese(open_page: OpenPage, alone: Server, watch: Watch) -> None:
    profiler = Profiler(open_page(locale="de-DE"), alone).open(r=GPU_RUN)
    expect(profiler.panel("The median step")).to_be_visible()
    expect(profiler.ui.locator("html")).to_have_attribute("lang", "en")
    assert not any("zh-CN" in url for url in watch.requests)
    assert not CHINESE.findall(profiler.ui.locator("body").inner_text())


@pytest.mark.parametrize("host", ["tensorboard", pytest.param("alone", marks=pytest.mark.long)])
def test_switching_keeps_everything(host: str, open_page: OpenPage, request: pytest.FixtureRequest) -> None:
    profiler = Profiler(open_page(), request.getfixturevalue(host))
    profiler.open(r=CPU_RUN, v="operators", g="name_shape", sel="op:aten::add")
    grid = profiler.grid("Operators")
    expect(grid.count).to_be_visible()
    # Switched before the filter has been written into the address.
    grid.filter.fill("aten::add")
    profiler.ui.get_by_role("button", name="简体中文").click()
    expect(profiler.heading("算子")).to_be_visible()
    expect(profiler.ui.get_by_role("searchbox", name="筛选：算子")).to_have_value("aten::add")
    drawer = profiler.ui.get_by_role("complementary", name="选中项")
    expect(drawer.get_by_role("heading", name="aten::add", exact=True)).to_be_visible()
    assert profiler.state["g"] == "name_shape"

    # Remembered, until something else is chosen: here in the palette.
    profiler.page.reload()
    expect(profiler.heading("算子")).to_be_visible()
    profiler.heading("算子").click()
    profiler.page.keyboard.press("Control+k")
    field = profiler.ui.get_by_role("combobox", name="跳转或执行任意操作")
    field.fill("english")
    profiler.page.keyboard.press("Enter")
    expect(profiler.heading("Operator")).to_be_visible()
    expect(grid.filter).to_have_value("aten::add")


def go_to(profiler: Profiler, view: str) -> None:
    """Whatever it is called."""
    for more in profiler.ui.locator(".rail-more[aria-expanded=false]").all():
        more.click()
    links = profiler.ui.locator(".rail a")
    # the first view is not named in addresses
    (links.first if view == "overview" else links.and_(profiler.ui.locator(f"[href*='v={view}']"))).click()


@pytest.mark.parametrize(
    ("view", "name"),
    [("operators", "算子"), ("kernels", "内核"), ("modules", "模块"), ("compare", "算子对比")],
)
def test_columns_are_named_in_chinese(view: str, name: str, open_page: OpenPage, alone: Server) -> None:
    """The server names and explains them in English; words of its that changed would be seen here."""
    profiler = Profiler(open_page(locale="zh-CN"), alone).open(r=GPU_RUN, v=view)
    panel = profiler.panel(name)
    panel.get_by_role("button", name="列").click()
    labels = panel.get_by_role("group", name="列").locator("label")
    expect(labels.first).to_be_visible()
    assert [label for label in labels.all_inner_texts() if not CHINESE.search(label)] == []
    explained = labels.evaluate_all("(labels) => labels.map((label) => label.title).filter(Boolean)")
    assert explained
    assert [text for text in explained if not CHINESE.search(text)] == []


@pytest.mark.parametrize("theme", PICTURED)
@pytest.mark.parametrize(
    "run",
    [GPU_RUN, *(pytest.param(run, marks=pytest.mark.long) for run in ("ddp_gloo_2ranks", CPU_RUN, "cnn_workers2"))],
)
def test_what_the_server_says_is_said_in_chinese(
    run: str, theme: str, open_page: OpenPage, alone: Server, output: Path
) -> None:
    """Notes, recommendations and reasons of all views; not what they quote: code, names, files."""
    page = open_page(locale="zh-CN", color_scheme=theme, viewport={"width": 1440, "height": 1750})
    profiler = Profiler(page, alone).open(r=run)
    seen = 0
    for view in VIEWS:
        go_to(profiler, view)
        expect(profiler.ui.get_by_role("heading", level=1)).to_be_visible()
        expect(profiler.ui.get_by_label("正在加载…")).to_have_count(0)
        expect(profiler.ui.locator(".timeline[aria-busy=true]")).to_have_count(0)
        screenshot(page, output, f"zh-CN-{run}-{view}-{theme}")
        for summary in profiler.ui.locator("details.partial:not([open]) > summary").all():
            summary.click()
        said = profiler.ui.locator(
            ".notes li > span:last-of-type, .finding h3 > span:not(.badge, .finding-number), "
            ".finding > p:not(.finding-where, .row), "
            ".evidence dt, .health-body > p, .state > span, .state > strong"
        )
        texts = [text for text in said.all_inner_texts() if text.strip()]
        assert [text for text in texts if not CHINESE.search(text)] == [], VIEWS
        seen += len(texts)
    assert seen > 3


def test_why_files_are_not_shown_is_said_in_chinese(
    tmp_path: Path, repository: Path, serve_logs: Callable[[Path], Server], open_page: OpenPage
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for damaged in (repository / "tests" / "damaged").iterdir():
        (logs / f"{damaged.name.partition('.')[0]}.pt.trace.{damaged.name.partition('.')[2]}").write_bytes(
            damaged.read_bytes()
        )
    (logs / "config.json").write_text('{"learning_rate": 1}')
    (logs / "empty.json").write_text("")
    (logs / "worker.pt.trace.json.part").write_text("{")
    profiler = Profiler(open_page(locale="zh-CN"), serve_logs(logs)).open()
    profiler.ui.get_by_role("button", name="文件").first.click()
    files = profiler.ui.get_by_role("dialog")
    expect(files.get_by_text("加载中")).to_have_count(0)
    expect(files.get_by_text("等待中")).to_have_count(0)

    def reasons() -> list[str]:
        return [text for text in files.locator("tbody td:last-child").all_inner_texts() if text.strip()]

    # files begin to load, one after the other, after these looks too
    wait_until(lambda: len(reasons()) > 5 and not any("%" in text for text in reasons()), "all files were read")
    assert [text for text in reasons() if not CHINESE.search(text)] == []


def test_filters_by_words_work_in_both_languages(open_page: OpenPage, alone: Server) -> None:
    profiler = Profiler(open_page(locale="zh-CN"), alone)
    profiler.open(v="compare", r="cnn_workers2", b="ddp_gloo_2ranks~rank0~1")
    grid = profiler.panel("算子对比")
    field = profiler.ui.get_by_role("searchbox", name="筛选：算子对比")
    shown = []
    for text in ("status=gone", "status=消失"):
        field.fill(text)
        count = grid.get_by_text(re.compile(r"^\d+ 行，共 \d+ 行$"))
        expect(count).to_be_visible()
        shown.append(count.inner_text())
    assert shown[0] == shown[1]
    assert not shown[0].startswith("0 ")
