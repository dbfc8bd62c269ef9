"""The Stacks view of one thread."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.profiler import GPU_RUN, Profiler


def test_one_thread_is_shown_and_is_in_the_address(on_its_own: Profiler) -> None:
    on_its_own.open(v="stacks", r=GPU_RUN, k="rank0")
    busiest = on_its_own.server.api("stacks", run=GPU_RUN, worker="rank0")["meta"]["threads"][0]
    totals = on_its_own.ui.locator(".stacks-totals")
    expect(totals).to_contain_text("all threads together")
    on_its_own.choose("Thread", busiest["name"])
    expect(totals).to_contain_text(busiest["name"])
    expect(on_its_own.page).to_have_url(re.compile(rf"[#&]t={busiest['id']}(&|$)"))
    on_its_own.page.reload()
    expect(totals).to_contain_text(busiest["name"])
    on_its_own.choose("Thread", "all")
    expect(totals).to_contain_text("all threads together")
    expect(on_its_own.page).not_to_have_url(re.compile(r"[#&]t="))
