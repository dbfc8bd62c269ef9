"""Every address that the documentation or a bookmark holds opens what it opened."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.profiler import GPU_RUN, VIEWS, Profiler

#: ids of views in addresses that were made before the views got their ids of today
FORMER = {"capture": "health"}

#: addresses with the keys that docs/ui.md and the pages of the views name, and a region that each of them opens
ADDRESSES = [
    ("v=overview&f=exposed_communication", "Where: Exposed communication"),
    ("z=1&v=operators&g=name_shape&q=mm&o=-host_self_ns&sel=op:aten::mm", "Selected"),
    ("v=kernels&q=gemm&st=5~6", "Kernels"),
    ("v=trace&e=2309&a=0-5000&h=10&j=regex&w=rank1", "Selection"),
    ("v=steps&sr=whole_trace", "Steps"),
    ("v=stacks&m=device", "Call stacks"),
    ("v=distributed&m=own_ns&t=5", "Ranks × steps"),
    ("v=compare&b=generated_4gpu_h100~rank0~1&m=step", "What changed"),
    ("v=modules&sel=mod:Linear", "Selected"),
    ("v=capture", "Notes"),
]


@pytest.mark.parametrize("view", [*VIEWS, *FORMER])
def test_every_view_has_its_address(on_its_own: Profiler, view: str) -> None:
    on_its_own.open(r=GPU_RUN, k="rank1", v=view)
    expect(on_its_own.heading(VIEWS[FORMER.get(view, view)])).to_be_visible()
    expect(on_its_own.picker("Worker")).to_have_accessible_name("Worker rank1")


def test_addresses_open_what_they_name(on_its_own: Profiler) -> None:
    on_its_own.open(r=GPU_RUN)
    for address, region in ADDRESSES:
        state = dict(part.split("=", 1) for part in address.split("&"))
        on_its_own.turn_to(k="rank1", **{"r": GPU_RUN, **state})
        place = on_its_own.ui.locator("section, aside").and_(
            on_its_own.panel(region).or_(on_its_own.ui.get_by_role("complementary", name=region))
        )
        expect(place.first).to_be_visible()
        expect(on_its_own.ui.get_by_text("There is no view")).to_have_count(0)
