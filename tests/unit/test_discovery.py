"""A zoo of names: what is a trace, what is it called, and what is said about the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.discovery import (
    Content,
    Root,
    RunListing,
    discover,
    is_candidate,
    natural_key,
    parse_logdir,
    parse_logdir_spec,
    parse_name,
    why_skipped,
)
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import Entry

NOT_OURS = Content(Reason("no_trace_events", "is JSON, but not a trace: it has no traceEvents"))


def found(*paths: str, root: str = "/logs", contents: dict[str, Content] | None = None) -> RunListing:
    """What is found among files of these contents, by path."""
    entries = [Entry(p, f"{root}/{p}", 1, 1) for p in paths]
    return discover([(Root(root), entries)], lambda entry: (contents or {}).get(entry.path, NOT_OURS))


def unknown(_: Entry) -> None:
    """Nothing is known of the content of any file."""


def spans(*names: str) -> dict[tuple[str, str], str]:
    """(worker, span) → file name of one run."""
    (run,) = found(*(f"run/{name}" for name in names)).runs
    return {(t.worker, t.span): t.entry.path.removeprefix("run/") for t in run.traces}


@pytest.mark.parametrize(
    ("name", "worker", "stamp"),
    [
        ("worker0.1623143089861.pt.trace.json.gz", "worker0", "1623143089861"),
        ("host_1234.1795164993655359264.pt.trace.json", "host_1234", "1795164993655359264"),
        ("w.pt.trace.json", "w", ""),
        ("w.9.5.pt.trace.json", "w.9", "5"),
        (".pt.trace.json", "", ""),
        (".7.pt.trace.json", "", "7"),
        ("a b\nc.pt.trace.json", "a b\nc", ""),
        ("w.\u0661.pt.trace.json", "w.\u0661", ""),
        ("x.pt.trace.json.pt.trace.json", "x.pt.trace.json", ""),
        ("w.5.pt.trace.json.zst", "w", "5"),
    ],
)
def test_names_of_traces(name: str, worker: str, stamp: str) -> None:
    parsed = parse_name(name)
    assert parsed is not None
    assert (parsed.worker, parsed.stamp) == (worker, stamp)


@pytest.mark.parametrize(
    "name", ["trace.json", "1795-TP-0.trace.json.gz", "x.JSON.ZST", "config.json", "w.PT.TRACE.JSON", ".json"]
)
def test_any_json_may_be_a_trace(name: str) -> None:
    assert parse_name(name) is None
    assert is_candidate(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("w.pt.trace.json.bak", "does not have the extension of a trace: .json, .json.gz or .json.zst is expected"),
        ("w.pt.trace.json.gz.part", "does not have the extension of a trace: .json, .json.gz or .json.zst is expected"),
        ("x.json.BZ2", "has a compression that is not supported; .json, .json.gz and .json.zst are"),
    ],
)
def test_what_looks_like_a_trace_is_skipped_with_a_reason(name: str, reason: str) -> None:
    assert not is_candidate(name)
    assert str(why_skipped(name)) == reason


@pytest.mark.parametrize(
    "name", ["notes.txt", "events.out.tfevents.1.host", "trace.pt", "x.gz", "weights.bin", "a.json.txt"]
)
def test_other_files_are_not_mentioned(name: str) -> None:
    assert parse_name(name) is None
    assert not is_candidate(name)
    assert why_skipped(name) is None


def test_spans_are_numbered_in_the_order_of_their_numbers() -> None:
    names = [f"w.{stamp}.pt.trace.json" for stamp in (1000, 5, 999, *range(10, 20))]
    assert [name for _, name in sorted(spans(*names).items(), key=lambda item: int(item[0][1]))] == [
        f"w.{stamp}.pt.trace.json" for stamp in (5, *range(10, 20), 999, 1000)
    ]


def test_equal_numbers_of_different_spelling_are_both_kept() -> None:
    assert spans("w.5.pt.trace.json", "w.05.pt.trace.json.gz") == {
        ("w", "1"): "w.05.pt.trace.json.gz",
        ("w", "2"): "w.5.pt.trace.json",
    }


def test_a_file_without_number_is_the_default_span() -> None:
    assert spans("w.pt.trace.json", "w.3.pt.trace.json", "v.pt.trace.json.gz") == {
        ("v", "default"): "v.pt.trace.json.gz",
        ("w", "1"): "w.3.pt.trace.json",
        ("w", "default"): "w.pt.trace.json",
    }


@pytest.mark.parametrize("name", ["w.5.pt.trace.json", "w.pt.trace.json"])
def test_a_compressed_twin_is_skipped_with_a_reason(name: str) -> None:
    (run,) = found(f"r/{name}.gz", f"r/{name}").runs
    assert [t.entry.path for t in run.traces] == [f"r/{name}"]
    assert [(s.file, str(s.reason)) for s in run.skipped] == [
        (f"{name}.gz", f"is the same recording as {name}, which is shown")
    ]


def test_workers_and_runs_are_in_natural_order() -> None:
    runs = found(*(f"run{r}/w{w}.pt.trace.json" for r in (10, 2, 1) for w in (10, 9))).runs
    assert [run.name for run in runs] == ["run1", "run2", "run10"]
    assert [t.worker for t in runs[0].traces] == ["w9", "w10"]


def test_a_run_is_every_directory_that_directly_holds_a_trace() -> None:
    all_found = found("a/b/w.pt.trace.json", "a/b/c/w.pt.trace.json", "a/x.txt", "d/trace.json", "w.pt.trace.json")
    assert [run.name for run in all_found.runs] == ["a/b", "a/b/c", "logs"]
    assert [s.file for s in all_found.skipped] == ["d/trace.json"]


def test_the_log_directory_leaves_its_name_to_a_directory_in_it() -> None:
    runs = found("foo/w.pt.trace.json", "w.pt.trace.json", root="/x/foo").runs
    assert {run.name: run.traces[0].entry.path for run in runs} == {
        "foo": "foo/w.pt.trace.json",
        ".": "w.pt.trace.json",
    }


@pytest.mark.parametrize("folder", ["capture_traces", "graph_capture_profile"])
def test_captures_belong_to_the_run_above(folder: str) -> None:
    listing = found("a/w.pt.trace.json", f"a/{folder}/g.pt.trace.json", f"{folder}/w.pt.trace.json")
    # without a run above, a folder of this name is a run
    assert [run.name for run in listing.runs] == ["a", folder]
    assert [(run.name, run.parent) for run in listing.captures] == [(f"a/{folder}", "a")]


def test_several_roots() -> None:
    roots = parse_logdir_spec("a:/x/one,/y/two, b:rel/three/ ,/z/two")
    assert roots == (
        Root("/x/one", "a"),
        Root("/y/two", "two"),
        Root("rel/three", "b"),
        Root("/z/two", "two-2"),
    )
    listings = [(root, [Entry("r/w.pt.trace.json", f"{root.url}/r", 1, 1)]) for root in roots]
    assert [run.name for run in discover(listings, unknown).runs] == ["a/r", "b/r", "two-2/r", "two/r"]


def test_one_root_of_a_spec() -> None:
    assert parse_logdir_spec("name:dir/") == (Root("dir", "name"),)
    assert parse_logdir_spec("/dir") == (Root("/dir"),)
    assert parse_logdir_spec("s3://bucket/dir") == (Root("s3://bucket/dir"),)
    assert parse_logdir_spec("") == ()
    assert parse_logdir("/") == (Root("/"),)
    named = discover([(Root("dir", "name"), [Entry("w.pt.trace.json", "u", 1, 1)])], unknown)
    assert [run.name for run in named.runs] == ["name"]


def test_runs_of_equal_names_from_different_roots_are_both_kept() -> None:
    one, two = Root("/x", "a"), Root("/y", "a/b")
    listings = [
        (one, [Entry("b/c/w.pt.trace.json", "/x/b/c/w", 1, 1)]),
        (two, [Entry("c/w.pt.trace.json", "/y/c/w", 1, 1)]),
    ]
    assert [run.name for run in discover(listings, unknown).runs] == ["a/b/c", "a/b/c (2)"]


@given(st.lists(st.text(alphabet="ab019.", max_size=6), max_size=6))
def test_natural_keys_order_any_texts_and_tell_them_apart(texts: list[str]) -> None:
    assert len({natural_key(text) for text in texts}) == len(set(texts))
    sorted(texts, key=natural_key)


@given(st.lists(st.sampled_from([w + s for w in ("w", "v", "") for s in (".1", ".01", ".2", "")]), unique=True))
def test_no_file_is_ever_lost(stems: list[str]) -> None:
    files = [f"r/{stem}.pt.trace.json{gz}" for stem in stems for gz in ("", ".gz")]
    runs = found(*files).runs
    shown = [t.entry.path for run in runs for t in run.traces]
    skipped = [f"r/{s.file}" for run in runs for s in run.skipped]
    assert sorted(shown + skipped) == sorted(files)
    keys = [(run.name, t.worker, t.span) for run in runs for t in run.traces]
    assert len(set(keys)) == len(keys)


def test_the_samples_are_found(samples: Path) -> None:
    from torch_tb_profiler.storage import storage_for

    entries = list(storage_for(str(samples)).list(str(samples), lambda problem: None))
    assert discover([(Root(str(samples)), entries)], unknown).runs
