"""Log directories in a store: what cannot be listed or read says so beside what can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import tiny
from tests.browser.conftest import PICTURED, Keep, OpenPage, StartServer, screenshot
from tests.browser.profiler import Profiler
from tests.browser.servers import Server
from tests.browser.test_themes import DARK
from tests.storage.proxy import Fault
from tests.storage.stores import Store, error_body, s3_server, s3_store
from tests.storage.test_workspaces import trace
from tests.tiny import wait_until

LATER = 20_000
"""Milliseconds after which an idle page has asked for the status again."""


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with s3_server(tmp_path_factory.mktemp("s3")) as url:
        yield url


@pytest.fixture
def store(s3: str) -> Iterator[Store]:
    with s3_store(s3) as store:
        yield store


@pytest.fixture
def mixed(store: Store, start: StartServer, tmp_path: Path) -> Server:
    """A local log directory, one in the store with a file that may not be read, and one that may not be listed."""
    tiny.write_trace(tmp_path / "local" / "run" / "w.1.pt.trace.json")
    store.put("open/good/w.1.pt.trace.json", trace(3))
    store.put("open/closed/w.1.pt.trace.json", trace())
    store.put("secret/run/w.1.pt.trace.json", trace())
    store.proxy.fail(Fault("list", path="prefix=secret", times=1000, status=403, body=store.denied))
    store.proxy.fail(Fault("get", path="closed", times=1000, status=403, body=store.denied))
    spec = f"near:{tmp_path / 'local'},team:{store.url('open')},others:{store.url('secret')}"
    server = start(
        "stores", "tensorboard.main", "--logdir_spec", spec, "--reload_interval", "1", environment=store.environment
    )
    server.wait_for_traces()
    return server


@pytest.mark.parametrize("theme", PICTURED)
def test_what_one_may_not_read_is_said_beside_what_one_may(
    mixed: Server, store: Store, page: Page, keep: Keep, theme: str
) -> None:
    page.clock.install()
    profiler = Profiler(page, mixed).open(DARK if theme == "dark" else "", r="team/closed")
    # In place of a view of the file.
    expect(profiler.heading("w.1.pt.trace.json could not be read")).to_be_visible()
    main = profiler.ui.get_by_role("main")
    expect(main.get_by_text("permission denied (AccessDenied)").first).to_be_visible()
    keep(f"stores-denied-file-{theme}")
    main.get_by_role("button", name="team/good · w").click()
    expect(profiler.panel("The median step")).to_be_visible()
    line = profiler.ui.get_by_role("contentinfo")
    expect(line.get_by_role("button", name="1 file could not be read")).to_be_visible()
    keep(f"stores-status-line-{theme}")
    unlisted = line.get_by_role("button", name="1 directory cannot be listed")
    unlisted.click()
    rows = profiler.ui.get_by_role("dialog").get_by_role("table").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("others")
    expect(rows.nth(1)).to_contain_text("not listed")
    expect(rows.nth(1)).to_contain_text(f"{store.url('secret')} cannot be listed: permission denied (AccessDenied)")
    expect(rows.nth(1)).to_contain_text("s3:ListBucket on the bucket")
    expect(rows.nth(2)).to_contain_text("team/closed")
    expect(rows.nth(2)).to_contain_text(f"cannot be read from {store.url()}: permission denied (AccessDenied)")
    expect(rows).to_have_count(5)
    keep(f"stores-files-{theme}")
    shown = page.content() + profiler.ui.locator("body").inner_html()
    assert not [secret for secret in store.secrets if secret in shown]

    # Somebody grants the rights, and the page learns of it by itself.
    store.proxy.clear()
    wait_until(lambda: mixed.api("status")["skipped"] == [] and len(mixed.traces()) == 4, "it is listed")
    mixed.wait_for_traces()
    page.clock.fast_forward(LATER)
    expect(rows).to_have_count(5)
    expect(rows.filter(has_text="not listed")).to_have_count(0)
    expect(unlisted).to_have_count(0)


#: status, code, and what is made of it
REFUSALS = {
    "throttled": (503, "SlowDown", "the store asks for fewer requests (SlowDown). It is tried again, more slowly"),
    "credentials": (403, "InvalidAccessKeyId", "the credentials are not accepted (InvalidAccessKeyId). Set AWS_"),
    "missing": (404, "NoSuchBucket", "it is not there (NoSuchBucket). Check the bucket and S3_ENDPOINT"),
    "clock": (403, "RequestTimeTooSkewed", "the clock of this machine is wrong (RequestTimeTooSkewed). Set it"),
}


@pytest.mark.parametrize(
    "refusal",
    ["credentials", *(pytest.param(each, marks=pytest.mark.long) for each in REFUSALS if each != "credentials")],
)
@pytest.mark.parametrize("theme", PICTURED)
def test_a_log_directory_that_cannot_be_listed_says_why(
    store: Store, start: StartServer, open_page: OpenPage, output: Path, refusal: str, theme: str
) -> None:
    status, code, words = REFUSALS[refusal]
    store.put("run/w.1.pt.trace.json", trace())
    store.proxy.fail(Fault("list", times=10_000, status=status, body=error_body("s3", code)))
    server = start("unlisted", "torch_tb_profiler", "serve", store.url(), environment=store.environment)
    wait_until(lambda: server.api("status")["error"], "the listing fails")
    page = open_page(color_scheme=theme)
    page.clock.install()
    profiler = Profiler(page, server).open()
    expect(profiler.heading("The log directory cannot be listed")).to_be_visible()
    main = profiler.ui.get_by_role("main")
    expect(main).to_contain_text(f"{store.url()} cannot be listed: {words}")
    screenshot(page, output, f"stores-{refusal}-{theme}")
    store.proxy.clear()
    server.wait_for_traces()
    page.clock.fast_forward(LATER)
    expect(profiler.heading("Overview")).to_be_visible()
