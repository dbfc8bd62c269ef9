"""What torch's exporter in Python writes, and that it is read as what Kineto writes of the same recording."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

import exporter_keys
from tests.events import Event, annotation, event, kernel, launch, model_of
from torch_tb_profiler.analysis.copies import copies
from torch_tb_profiler.analysis.shared.owners import owner_names
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.owners import OwnerKind
from torch_tb_profiler.timeline.series import recorded_counters
from torch_tb_profiler.trace import Category, Trace, read_trace
from torch_tb_profiler.trace.excerpts import raw_args
from torch_tb_profiler.trace.reader import read_to_file


def copied(start: float, correlation: int = 1, **args: Any) -> Event:
    return {**kernel(start, 10, correlation, "Memcpy", bytes=4096, **args), "cat": "gpu_memcpy"}


def filled(start: float, **args: Any) -> Event:
    return {**kernel(start, 10, 1, "Memset", **args), "cat": "gpu_memset"}


def kinds(copy: object, source: object, target: object) -> dict[str, object]:
    return {"copy kind": copy, "src kind": source, "dst kind": target}


def text_of(events: list[Event]) -> bytes:
    return json.dumps({"traceEvents": events}).encode()


def names(trace: Trace) -> list[str]:
    return trace.strings.texts(trace.events.name)


@pytest.mark.parametrize(
    ("args", "name"),
    [
        (kinds("HtoD", "pageable", "device"), "Memcpy HtoD (Pageable -> Device)"),
        (kinds("DtoH", "device", "pinned"), "Memcpy DtoH (Device -> Pinned)"),
        (kinds("PtoP", "device_static", "managed_static"), "Memcpy PtoP (Device Static -> Managed Static)"),
        (kinds(9, "unknown", "array"), "Memcpy HtoH (Unknown -> Array)"),
        (kinds(0, 77, -1), "Memcpy <unknown> (Unrecognized -> Unrecognized)"),
        (kinds(None, [], {}), "Memcpy <unknown> (Unrecognized -> Unrecognized)"),
        (kinds("Sideways", "tape", "device"), "Memcpy Sideways (tape -> Device)"),
        ({"copy kind": "HtoD"}, "Memcpy HtoD (Unrecognized -> Unrecognized)"),
        ({}, "Memcpy"),
    ],
)
def test_a_copy_has_the_name_that_kineto_writes(args: dict[str, Any], name: str) -> None:
    assert names(read_trace(BytesIO(text_of([copied(0, **args)])))) == [name]


@pytest.mark.parametrize(
    ("args", "name"),
    [
        ({"memory kind": 3}, "Memset (Device)"),
        ({"memory kind": 5}, "Memset (Managed)"),
        ({"memory kind": 0}, "Memset (Unknown)"),
        ({"memory kind": 99}, "Memset (Unrecognized)"),
        ({}, "Memset (Device)"),
    ],
)
def test_a_fill_has_the_name_that_kineto_writes(args: dict[str, Any], name: str) -> None:
    assert names(read_trace(BytesIO(text_of([filled(0, **args)])))) == [name]


def test_copies_from_pageable_memory_are_counted() -> None:
    found = copies(model_of([copied(at, **kinds("HtoD", "pageable", "device")) for at in (0, 20)]))
    assert (found.kind, found.pageable.tolist()) == (("Memcpy HtoD",), [2])


def test_an_operator_that_is_called_memcpy_keeps_its_name() -> None:
    events = [event("cpu_op", "Memcpy", 0, 5, **kinds("HtoD", "pageable", "device")), copied(9, **kinds("DtoD", 3, 3))]
    assert names(read_trace(BytesIO(text_of(events)))) == ["Memcpy", "Memcpy DtoD (Device -> Device)"]


@pytest.mark.parametrize("bad", [b"NaN", b"Infinity"])
def test_copies_beside_values_that_are_no_json(bad: bytes) -> None:
    counted = {"ph": "C", "name": "SM Active (%)", "pid": "GPU 0 Counters", "ts": 1, "args": {"": 987}}
    text = text_of([copied(0, **kinds("HtoD", "pageable", "device")), counted]).replace(b"987", bad)
    assert names(read_trace(BytesIO(text)))[0] == "Memcpy HtoD (Pageable -> Device)"


def test_details_show_the_arguments_of_the_file() -> None:
    text = text_of([copied(0, **kinds("HtoD", "pageable", "device")), filled(20, **{"memory kind": 3})])
    trace = read_trace(BytesIO(text))
    args = [json.loads(raw_args(trace, row, BytesIO(text)) or "") for row in (0, 1)]
    assert (args[0]["src kind"], args[1]["memory kind"]) == ("pageable", 3)


def test_a_cut_off_file_has_names_up_to_the_cut() -> None:
    text = text_of([copied(at, **kinds("HtoD", "pageable", "device")) for at in range(100)])
    trace = read_trace(BytesIO(text[: len(text) // 2]))
    assert len(trace.events) > 40
    assert set(names(trace)) == {"Memcpy HtoD (Pageable -> Device)"}


# graphs -----------------------------------------------------------------------------------------------------

REPLAYS = [annotation("ProfilerStep#0", 0, 400), {**launch(10, 5), "name": "cudaGraphLaunch"}]


def node(start: float, number: int, **args: Any) -> Event:
    found = kernel(start, 10, 5)
    return {**found, "args": {**found["args"], "graph id": 7, "graph node id": number, **args}}


def work_of(*events: Event) -> Model:
    return model_of([*REPLAYS, *events])


def test_the_stream_of_work_on_a_lane_is_the_one_it_ran_on() -> None:
    model = work_of(node(20, 0, original_stream=21), node(40, 1, original_stream=22), node(60, 2, annotated_stream=7))
    assert model.device_work.stream.tolist() == [21, 22, 7]
    # it is drawn where the file says
    assert len(set(model.trace.events.track[model.device_work.row].tolist())) == 1


@pytest.mark.parametrize(("given", "graph"), [({"graph id": 7}, 7), ({"graph id": None}, 9)])
def test_a_node_is_the_lower_half_of_its_number(given: dict[str, Any], graph: int) -> None:
    work = work_of(node(20, (9 << 32) | 3, **given)).device_work
    assert (work.graph_node_id.tolist(), work.graph_id.tolist()) == ([3], [graph])


def test_numbers_of_nodes_that_are_missing_stay_so() -> None:
    work = work_of(kernel(20, 10, 5)).device_work
    assert (work.graph_node_id.tolist(), work.graph_id.tolist()) == ([-1], [-1])


@pytest.mark.parametrize(
    ("args", "owner"),
    [
        ({"module_fqn": "layers.0.attn", "name": "other"}, "layers.0.attn"),
        ({"fqn": "layers.1", "module": "other"}, "layers.1"),
        ({"module": "layers.2"}, "layers.2"),
        ({"name": "phase_A", "color": "red"}, "phase_A"),
    ],
)
def test_an_annotation_names_the_owner(args: dict[str, Any], owner: str) -> None:
    model = work_of(node(20, 0, **args))
    (name,) = owner_names(model).names
    assert (name.how, name.name, name.text) == ("annotated", owner, f"annotated: {owner}")
    assert json.loads(model.trace.strings[model.device_work.annotation[0]]) == args


@pytest.mark.parametrize("args", [{}, {"annotation": '["a", "b"]'}, {"color": "red"}, {"module_fqn": 5}, {"name": ""}])
def test_other_annotations_name_no_owner(args: dict[str, Any]) -> None:
    assert work_of(node(20, 0, **args)).owners.how.tolist() == [OwnerKind.ANNOTATION]


def test_an_annotation_outside_a_graph_is_none() -> None:
    assert work_of(kernel(20, 10, 5, module_fqn="layers.0")).owners.how.tolist() == [OwnerKind.ANNOTATION]


def test_nodes_with_one_owner_are_one_owner() -> None:
    found = owner_names(work_of(node(20, 0, module_fqn="m", color="red"), node(40, 1, module_fqn="m")))
    assert len(found.names) == 1


def test_events_and_host_functions_of_graphs_are_no_device_work() -> None:
    others = [
        {**node(50, 2, **args), "cat": category, "name": name}
        for category, name, args in (
            ("graph_event_node", "EventRecord", {}),
            ("graph_host_node", "HostNode: f", {"correlation": 0}),
        )
    ]
    model = work_of(node(20, 0), *others)
    assert model.device_work.row.tolist() == [2]
    assert model.trace.events.category.tolist()[3:] == [Category.OTHER] * 2


def test_arrows_between_nodes_are_not_those_of_launches() -> None:
    arrows = [
        {"ph": ph, "cat": "ac2g", "name": "ac2g", "id": number, "pid": 0, "tid": 7, "ts": 20}
        for number in (5, 1 << 40, (1 << 40) + 1)
        for ph in "sf"
    ]
    events = work_of(node(20, 0), *arrows).trace.events
    assert events.category.tolist()[3:] == [Category.FLOW_LAUNCH] * 2 + [Category.FLOW_GRAPH] * 4


def test_counters_without_a_key_have_the_name_of_the_event() -> None:
    values = [("SM Active (%)", 70), ("Power (W)", 500.5)]
    events = [
        {"ph": "C", "name": name, "pid": "GPU 0 Counters", "ts": 5, "args": {"": value}} for name, value in values
    ]
    trace = work_of(*events).trace
    assert trace.strings.texts(trace.counter_values.series) == [name for name, _ in values]
    assert [(each.name, each.value.tolist()) for each in recorded_counters(trace)] == [(n, [v]) for n, v in values]


def test_counters_of_two_devices_are_told_apart() -> None:
    events = [
        {"ph": "C", "name": "Power (W)", "pid": f"GPU {device} Counters", "ts": 5, "args": {"": 500}}
        for device in (0, 1)
    ]
    assert [each.name for each in recorded_counters(work_of(*events).trace)] == [
        "Power (W) (GPU 0)",
        "Power (W) (GPU 1)",
    ]


def test_chunk_by_chunk_it_is_the_same(tmp_path: Path) -> None:
    """A file of many chunks, of which the first has no such names."""
    plain = [event("cpu_op", f"op{i}", i, 1) for i in range(20_000)]
    text = text_of([*plain, *(copied(i, **kinds("HtoD", "pinned", "device")) for i in range(20_000))])
    path = tmp_path / "trace.json"
    path.write_bytes(text)
    with path.open("rb") as stream:
        trace = read_to_file(stream, tmp_path / "columns")
    work = trace.device_work
    assert len(trace.chunks) > 4
    assert np.unique(trace.events.name[work.row]).tolist() == [trace.strings.code("Memcpy HtoD (Pinned -> Device)")]


# the check of the newest torch ------------------------------------------------------------------------------


def wheel(folder: Path, texts: tuple[str, ...], module: str = "torch/profiler/_cuspy/trace.py") -> Path:
    path = folder / "torch.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr(module, "\n".join(f"args[{text!r}] = f'{{x}}'" for text in texts))
    return path


def test_an_exporter_with_all_keys_passes(tmp_path: Path) -> None:
    assert exporter_keys.missing(wheel(tmp_path, exporter_keys.KEYS)) == []


def test_a_key_that_is_gone_is_named(tmp_path: Path) -> None:
    left = tuple(key for key in exporter_keys.KEYS if key != "copy kind")
    assert exporter_keys.missing(wheel(tmp_path, left)) == ["copy kind"]


def test_an_exporter_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no exporter in Python"):
        exporter_keys.missing(wheel(tmp_path, exporter_keys.KEYS, "torch/profiler/_other.py"))
