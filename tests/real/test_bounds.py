"""The first sentence and the first finding of each recorded trace; reasons: docs/maintainers/findings-checked.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.recorded import ROOT, SHARED, as_parameters, model_of, shared_model_of, short, traces
from torch_tb_profiler.insights.findings import Diagnosis, diagnosis
from torch_tb_profiler.words import section

#: by folder: what may bound a file of it, and the rule of its first finding with a saving ("" for none)
SAID: dict[str, tuple[str, str]] = {
    "HTA/alexnet_a100_cuda_sync": ("host", "api_calls"),
    "HTA/cupti_counters_a100": ("unknown", ""),
    "HTA/event_sync_a100": ("host", "device_idle"),
    "HTA/event_sync_multi_stream_a100": ("unknown", ""),
    "HTA/inference_rank1": ("launch", "first_launches"),
    "HTA/minitoy_mi250": ("launch", "first_launches"),
    "HTA/mtia_inference": ("compute", ""),
    "HTA/nccl_a100_rank0_of_2": ("host", "host_dispatch"),
    "HTA/simple_add_a100": ("host", "api_calls"),
    "HTA/triton_a100": ("unknown", ""),
    "HTA/v100_absolute_ns_timestamps": ("compute", "tensor_cores"),
    "HTA/v100_ddp_profile_memory_rank1_of_2": ("host", "host_dispatch"),
    "TraceLens/bert_small_h100": ("launch", "launch_bound"),
    "TraceLens/bert_small_mi300x": ("launch", "launch_bound"),
    "TraceLens/inductor_triton_mi300x": ("compute", "slow_compiled"),
    "TraceLens/vllm_decode_hipgraph_mi300": ("unknown", ""),
    "kineto/resnet50_num_workers_0": ("input", "synchronous_dataloader"),
    "kineto/resnet50_num_workers_4": ("host", "pageable_input zero_grad"),
    "param/dlrm_v100_8ranks": ("host communication launch", "device_idle launch_bound synchronous_dataloader"),
    "param/resnet_rtx2080ti": ("input", "dataloader"),
    "program/accumulation": ("compute", ""),
    "program/accumulation_plain": ("compute", ""),
    "program/checkpoint": ("compute", ""),
    "program/compile_break": ("compute", "graph_breaks"),
    "program/compile_cold": ("host", "recompiles"),
    "program/compile_regional": ("compute", "optimizer_share"),
    "program/compile_warm": ("compute", ""),
    "program/compiled_autograd": ("compute", ""),
    "program/ddp_accumulate": ("communication compute", ""),
    "program/diffusers_sd": ("compute", ""),
    "program/double_backward": ("compute", ""),
    "program/fsdp2": ("communication", ""),
    "program/generate_loop": ("compute", ""),
    "program/hf_generate": ("host", "host_code"),
    "program/hf_generate_plain": ("compute", ""),
    "program/hf_trainer": ("compute", ""),
    "program/lightning": ("compute", ""),
    "program/nested_ranges": ("host", "host_code"),
    "program/vllm_capture_hipgraph_mi300": ("host", ""),
    "saf/amg_a100_inductor_cudagraph": ("compute", "double_precision"),
    "torch213/cnn_default_worker_name": ("compute", ""),
    "torch213/cnn_gzip": ("compute input", ""),
    "torch213/cnn_plain": ("compute", ""),
    "torch213/cnn_workers0": ("compute", ""),
    "torch213/cnn_workers2": ("compute input", "dataloader"),
    "torch213/ddp_gloo_2": ("communication", ""),
    "torch213/ddp_gloo_4": ("communication", ""),
    "torch213/export_names": ("compute", ""),
    "torch213/extras": ("host", "host_code "),
    "torch213/inference": ("compute host", ""),
    "torch213/no_steps": ("compute", ""),
    "torch213/transformer": ("compute", "optimizer_share"),
    "torch213/transformer_nostack": ("compute", "optimizer_share"),
}
#: those of `units` are written by hand, each for one property of the reader: there is nothing to be right about
FILES = [path for path in traces(SHARED) if "units" not in path.parts] if SHARED.is_dir() else []


def first(found: Diagnosis) -> str:
    """The rule of the first finding that has a saving."""
    return next((each.id for each in found.findings if each.saving and each.saving.after_others_ns), "")


def folder(path: Path) -> str:
    return "/".join(path.relative_to(SHARED).parts[:2])


def of(name: str) -> list[Diagnosis]:
    """Of all files of a folder of shared traces, or a skip."""
    if not (SHARED / name).is_dir():
        pytest.skip(f"no recorded traces at {SHARED}")
    return [diagnosis(model_of(path)) for path in traces(SHARED / name)]


@pytest.mark.parametrize("path", as_parameters(FILES), ids=short)
def test_what_is_said_first(path: Path) -> None:
    found = diagnosis(shared_model_of(path))
    bounds, rules = (each.split(" ") for each in SAID[folder(path)])
    assert (found.bound.kind in bounds, first(found) in rules) == (True, True), (found.bound.kind, first(found))


def rows() -> dict[str, tuple[str, str]]:
    """By folder: what the table in the docs says of its bound, and of its first finding."""
    text = (ROOT / "docs" / "maintainers" / "findings-checked.md").read_text(encoding="utf-8")
    table = text.partition("## What is said of the shared traces")[2].partition("\n## ")[0]
    found = {}
    for line in re.findall(r"^\| ([a-zA-Z0-9]+/.*) \|$", table, re.MULTILINE):
        traces_of_row, bound, finding, _ = line.split(" | ", 3)
        room = ""
        for name in traces_of_row.split(", "):
            room = name.partition("/")[0] if "/" in name else room
            place = f"{room}/{name.rpartition('/')[2]}"
            of_row = [each for each in SAID if each == place] or [each for each in SAID if each.startswith(place)]
            found.update(dict.fromkeys(of_row, (bound, finding)))
    return found


def test_the_table_in_the_docs_has_every_trace() -> None:
    assert set(rows()) == set(SAID)


@pytest.mark.parametrize("name", SAID)
def test_what_the_table_in_the_docs_says(name: str) -> None:
    told, finding = rows()[name]
    found = of(name)
    kinds = {each.bound.kind for each in found}
    assert any(kind in told for kind in kinds), kinds
    rules = [first(each) for each in found if first(each)]
    assert any(rule in finding for rule in rules) if rules else finding.startswith("none"), rules
    numbers = re.search(r"([\d.]+) → ([\d.]+) (ms|s)(?:, ([a-z ]+[a-z]))?", told)
    if numbers is not None and rows_of(told) == 1:
        one, unit = found[0], {"ms": 1e6, "s": 1e9}[numbers[3]]
        for text, ns in ((numbers[1], one.step_ns), (numbers[2], (one.step_ns or 0) * (1 - (one.bound.share or 0)))):
            assert (ns or 0) / unit == pytest.approx(float(text), abs=0.06 if "." in text else 0.6)
        following = one.bound.next
        named = None if following is None else section("bounds", following).say("named", {"next": following})
        assert numbers[4] == (None if named is None else named.removeprefix("the ")), following


def rows_of(told: str) -> int:
    """How many folders have the same row."""
    return sum(bound == told for bound, _ in rows().values())


def test_loading_of_resnet50_is_worth_what_workers_save() -> None:
    """The same program was recorded with four workers: the median of its steps."""
    without, with_workers = of("kineto/resnet50_num_workers_0"), _medians("kineto/resnet50_num_workers_4")
    found, before = without[0], _medians("kineto/resnet50_num_workers_0")[0]
    saving = found.findings[0].saving
    assert found.findings[0].id == "synchronous_dataloader"
    assert saving is not None
    assert saving.after_others_ns == pytest.approx(before - with_workers[0], rel=0.2)


def _medians(name: str) -> list[float]:
    models = [model_of(path) for path in traces(SHARED / name)]
    return [float(np.median(model.steps.end - model.steps.start)) for model in models]


def test_what_comes_next_is_what_bounds_the_recording_with_workers() -> None:
    """Kernels have a large part of the path without loading, and yet save little: the host is what takes longest."""
    without, with_workers = of("kineto/resnet50_num_workers_0"), of("kineto/resnet50_num_workers_4")
    assert {each.bound.next for each in without} == {each.bound.kind for each in with_workers} == {"host"}
