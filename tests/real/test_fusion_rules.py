"""What the rules on fusion, programs and memory say of recorded traces: what an expert would, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorded import SHARED, as_parameters, model_of, sample_traces, shared_model_of, short, traces
from torch_tb_profiler.analysis.shared.backward_links import recomputed
from torch_tb_profiler.insights.findings import diagnosis

RULES = {
    *("pointwise_chain", "unfused_norm", "unfused_optimizer", "optimizer_share", "unfused_attention", "attention_math"),
    *("conv_bias", "recompiles", "graph_breaks", "recompute", "unused_memory", "fragmentation", "memory_growth"),
    *("grad_recorded", "expert_loop", "gathered_experts"),
}
#: by folder; of others nothing is said. The reasons are in docs/maintainers/findings-checked.md
SAID = {
    "v100_ddp_profile_memory_rank1_of_2": {"unfused_optimizer"},
    "resnet50_num_workers_0": {"unfused_optimizer"},
    "resnet50_num_workers_4": {"unfused_optimizer"},
    "amg_a100_inductor_cudagraph": {"pointwise_chain"},
    "compile_break": {"graph_breaks"},
    "compile_cold": {"recompiles"},
    "compile_regional": {"optimizer_share"},
    "transformer": {"optimizer_share"},
    "transformer_nostack": {"optimizer_share"},
}
FILES = [*(traces(SHARED) if SHARED.is_dir() else []), *sample_traces()]


@pytest.mark.parametrize("path", as_parameters(FILES), ids=short)
def test_what_is_said(path: Path) -> None:
    found = {each.id for each in diagnosis(shared_model_of(path)).findings} & RULES
    assert found == SAID.get(path.parent.name, set())


def one(folder: str) -> Path:
    """The trace of a folder of shared ones, or a skip."""
    if not (SHARED / folder).is_dir():
        pytest.skip(f"no recorded traces at {SHARED}")
    return traces(SHARED / folder)[0]


def test_compilations_are_counted_as_they_were() -> None:
    (finding,) = (each for each in diagnosis(model_of(one("program/compile_cold"))).findings if each.id == "recompiles")
    assert (finding.values["compilations"], finding.values["again"]) == (6, 4)


def test_graph_breaks_are_where_they_were() -> None:
    findings = diagnosis(model_of(one("program/compile_break"))).findings
    (finding,) = (each for each in findings if each.id == "graph_breaks")
    assert [finding.values[name] for name in ("breaks", "steps", "lines")] == [6, 3, "scale:5, scale:7"]
    assert finding.where is not None
    assert finding.where.file == "r_break.py"


@pytest.mark.parametrize(("folder", "blocks"), [("checkpoint", 2), ("double_backward", 0), ("accumulation", 0)])
def test_blocks_that_were_computed_again(folder: str, blocks: int) -> None:
    model = model_of(one(f"program/{folder}"))
    names = model.trace.strings.texts(model.tree.name[recomputed(model)])
    assert names.count("aten::gelu") == blocks * len(model.steps)
