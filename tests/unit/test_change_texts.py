"""Changes as text: what each means, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events import annotation, copy, kernel, launch, model_of, op
from torch_tb_profiler.analysis.replay.change_texts import (
    KINDS,
    LARGEST_FACTOR,
    LONGEST,
    MOST,
    BadChanges,
    changes_of,
    format_change,
    named_events,
    parse_changes,
)
from torch_tb_profiler.analysis.replay.changes import ScaleHost, ScaleWork, WithoutWaits, free

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
FACTORS = st.integers(0, 10**6).map(lambda n: n / 10**4)


@st.composite
def one_change(draw: st.DrawFn) -> tuple[str, float | None, str | None]:
    kind = draw(st.sampled_from(KINDS))
    named = kind.naming == "required" or (kind.naming == "optional" and draw(st.booleans()))
    return kind.key, draw(FACTORS) if kind.scales else None, draw(NAMES) if named else None


@given(st.lists(one_change(), max_size=8, unique_by=lambda each: (each[0], each[2])))
def test_what_is_written_is_read_again(changes: list[tuple[str, float | None, str | None]]) -> None:
    text = ",".join(format_change(*each) for each in changes)
    found = parse_changes(text)
    assert [(each.kind, each.factor, each.name) for each in found] == changes
    assert ",".join(each.text for each in found) == text


def test_names_may_hold_any_sign() -> None:
    (found,) = parse_changes("operator.a%2Cb:c%25.d%3A0:0.50")
    assert (found.name, found.factor) == ("a,b:c%.d:0", 0.5)
    assert found.text == "operator.a%2Cb:c%25.d:0:0.5"


def test_what_changes_mean() -> None:
    assert changes_of(parse_changes("data:0,kernels.gemm:0.8,sync,copy_waits.aten::item")) == (
        free("data"),
        ScaleWork(0.8, "kernels", "gemm"),
        WithoutWaits("sync"),
        WithoutWaits("copies", "aten::item"),
    )
    assert changes_of(parse_changes("host:1,operator.aten::mm:0.5")) == (
        ScaleHost(1.0),
        ScaleHost(0.5, operator="aten::mm"),
    )
    assert parse_changes("") == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("speed:0", "not a kind of change"),
        (",", "not a kind of change"),
        ("data", "needs a factor"),
        ("data:", "needs a factor"),
        ("data:-1", "needs a factor"),
        ("data:nan", "needs a factor"),
        ("data:1e3", "needs a factor"),
        ("data:٣", "needs a factor"),
        (f"data:{LARGEST_FACTOR + 0.5}", "needs a factor"),
        ("operator:0.5", "needs a name"),
        ("operator.:0.5", "a point and a name are expected"),
        ("data.x:0.5", "nothing but a factor is expected"),
        ("queue.x", "nothing is expected"),
        ("sync:0", "a point and a name are expected"),
        ("operator.100%:0.5", "two hexadecimal digits"),
        ("operator.%ff:0.5", "not UTF-8"),
        ("data:0,data:0.5", "data is changed more than once"),
        ("kernels.a%2Cb:0,kernels.a%2cb:1", "more than once"),
        (",".join(["data:0"] * (MOST + 1)), "at most"),
        ("operator." + "x" * LONGEST + ":0", "characters at most"),
    ],
)
def test_what_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadChanges, match=why):
        parse_changes(text)


def test_names_are_looked_for_where_the_kind_has_them() -> None:
    events = [annotation("same", 0, 100), op("same", 1, 50), launch(2, 1), kernel(20, 5, 1, name="same"), copy(9, 9, 7)]
    model = model_of(events)
    assert named_events(model, "operator", "same") == 2
    assert named_events(model, "kernels", "same") == 1
    assert named_events(model, "copies", "same") == 0
    assert named_events(model, "operator", "other") == 0
    assert named_events(model, "sync", None) is None
