"""A file that is dragged onto the page of a stand-alone server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import StartServer
from tests.browser.profiler import Profiler
from tests.browser.servers import Server
from tests.recorded import ROOT
from tests.tiny import write_trace

_DRAG = """([kind, files]) => {
  const data = new DataTransfer();
  for (const [name, body] of files) data.items.add(new File([body], name));
  dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def drag(page: Page, kind: str, *files: tuple[str, str]) -> None:
    page.evaluate(_DRAG, [kind, files])


@pytest.fixture(scope="module")
def taking(start_for_all: StartServer) -> Server:
    """A server of this module alone: its runs become more."""
    server = start_for_all("drop", "torch_tb_profiler", "serve", str(ROOT / "samples" / "cnn_workers0"))
    server.wait_for_traces()
    return server


def test_is_opened_as_a_run(page: Page, taking: Server, tmp_path: Path) -> None:
    profiler = Profiler(page, taking).open(v="overview")
    expect(profiler.heading("Overview").first).to_be_visible()
    body = write_trace(tmp_path / "t.json").read_text()
    here = page.get_by_text("Drop traces or memory snapshots here")
    drag(page, "dragenter", ("a.json", body))
    expect(here).to_be_visible()
    drag(page, "dragleave")
    expect(here).to_be_hidden()

    drag(page, "drop", ("notes.txt", "hello"), ("mine.json", body))
    said = page.get_by_role("dialog", name="A file was not opened")
    expect(said).to_contain_text("notes.txt")
    page.keyboard.press("Escape")
    expect(said).to_be_hidden()
    assert profiler.state["r"] == "dropped/mine"
    expect(page.get_by_role("main")).to_contain_text("GPU", timeout=20_000)


def test_is_chosen_by_keyboard(page: Page, taking: Server, tmp_path: Path) -> None:
    file = write_trace(tmp_path / "chosen.json")
    profiler = Profiler(page, taking).open(v="overview")
    expect(profiler.heading("Overview").first).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("open a trace")
    entry = page.get_by_role("option", name="Open a trace or a memory snapshot")
    expect(entry).to_have_attribute("aria-selected", "true")
    with page.expect_file_chooser() as chosen:
        entry.click()
    chosen.value.set_files(file)
    expect(page).to_have_url(re.compile("dropped"))
    assert profiler.state["r"] == "dropped/chosen"
