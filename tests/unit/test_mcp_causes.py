"""A scripted agent that follows the documented rules ends at each planted cause, and finds nothing where nothing is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.agents import Calls, change_and_prove, look_for_the_cause, told_by, with_client
from tests.held_out.run import run as executed
from tests.held_out.workloads import offloaded_optimizer
from tests.planted import CAUSES, training, write_events
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tools.summary import SUMMARY, OneTrace

pytestmark = pytest.mark.slow

_MOST_CALLS, _MOST_TOKENS, _CHARACTERS_OF_A_TOKEN = 4, 2_000, 4


@pytest.mark.parametrize("name", list(CAUSES))
def test_the_agent_ends_at_the_cause(name: str, tmp_path: Path, cache: Path) -> None:
    cause = CAUSES[name]
    cause.write(tmp_path / "logs" / "run")
    calls = with_client(tmp_path / "logs", cache, look_for_the_cause)
    assert len(calls.asked) <= _MOST_CALLS, calls.asked
    assert calls.characters <= _MOST_TOKENS * _CHARACTERS_OF_A_TOKEN
    assert calls.verdict["kind"] == cause.kind, calls.texts
    last = calls.told[-1]
    if cause.kind == "cause":
        assert calls.verdict["finding"] == cause.name
        assert last["name"] == cause.name
        assert last["advice"]
    elif cause.kind == "slow_steps":
        assert last["operators"][0]["name"] == cause.name
        assert last["operators"][0]["here_ms"] == pytest.approx(40, rel=0.01)
        assert last["operators"][0]["median_ms"] == 0
    elif cause.kind == "slow_rank":
        assert f"~{cause.name}~" in last["slow_ranks"][0]["trace"]
    else:
        assert last["verdict"]["finding"] is None
    for text in cause.says:
        assert text in calls.texts[-1]
    assert calls.texts == [json.dumps(told, ensure_ascii=False, separators=(",", ":")) for told in calls.told]


#: kind of the last verdict, and what the last answer names: what is planted in each sample (samples/README.md)
_OF_SAMPLES = {
    "cnn_workers0": ("cause", "synchronous_dataloader"),
    "cnn_workers2": ("nothing_found", ""),
    "ddp_gloo_2ranks": ("cause", "rank1 is late, and other ranks wait for it"),
    "generated_4gpu_h100": ("slow_rank", "generated_4gpu_h100~rank2~1"),
    "generated_64gpu": ("slow_rank", "generated_64gpu~rank10~1"),
}


def test_every_sample_has_its_cause_here(repository: Path) -> None:
    assert {path.parent.name for path in repository.glob("samples/*/*.pt.trace.json.gz")} == set(_OF_SAMPLES)


@pytest.mark.parametrize("sample", list(_OF_SAMPLES))
def test_the_agent_ends_at_what_is_planted_in_a_sample(sample: str, repository: Path, cache: Path) -> None:
    """From the list of traces, and from each trace itself, by `next` alone; no call is made twice."""
    kind, name = _OF_SAMPLES[sample]
    root = repository / "samples" / sample

    async def ask(client: Client) -> list[Calls]:
        traces = told_by(await client.call_tool("traces", {}))["table"]["rows"][:2]
        begins = [("traces", {}), *(("summary", {"trace": row[0]}) for row in traces)]
        return [await look_for_the_cause(client, begin) for begin in begins]

    for calls in with_client(root, cache, ask):
        assert len(calls.asked) <= _MOST_CALLS, calls.asked
        assert calls.verdict["kind"] == kind, calls.texts
        assert name in calls.texts[-1]


def test_an_agent_goes_from_the_summary_to_the_proof(repository: Path, cache: Path) -> None:
    """Each sample with a cause is compared with itself, but the one that was changed; 4 calls and 8,000 characters."""
    after = {"cnn_workers0~worker0~1": "cnn_workers2~worker0~1"}

    async def ask(client: Client) -> dict[str, Calls]:
        traces = [row[0] for row in told_by(await client.call_tool("traces", {}))["table"]["rows"]]
        return {trace: await change_and_prove(client, trace, after.get(trace, trace)) for trace in traces}

    verdicts = {}
    for trace, calls in with_client(repository / "samples", cache, ask).items():
        assert len(calls.asked) <= _MOST_CALLS, calls.asked
        assert calls.characters <= 8_000
        last = calls.told[-1]
        if "sentence" in last and "agreement" in last:
            finding = calls.asked[-1][1]["finding"]
            assert {work["finding"] for work in calls.told[-2]["candidates"]} == {finding}
            verdicts[trace] = (finding, last["verdict"], last["agreement"])
    assert verdicts.pop("cnn_workers0~worker0~1") == ("synchronous_dataloader", "gone", "as_predicted")
    # one recording on both sides proves nothing
    assert verdicts
    assert {verdict[1:] for verdict in verdicts.values()} == {(None, "cannot_tell")}


def test_what_changed_between_two_recordings(tmp_path: Path, cache: Path) -> None:
    """Kernels that are a tenth slower and kernels that are new are named; the same program has not changed."""
    logs = tmp_path / "logs"
    for run, events in {
        "base": training(),
        "same": training(),
        "slower": training(kernel=88),
        "more": training(added=6),
    }.items():
        write_events(logs / run, events)

    async def ask(client: Client) -> dict[str, Any]:
        found = {}
        for run in ("same", "slower", "more"):
            arguments = {"base": ["base~worker0~1"], "new": [f"{run}~worker0~1"]}
            result = await client.call_tool("compare", arguments)
            assert not result.is_error, result.content
            found[run] = told_by(result)
        return found

    told = with_client(logs, cache, ask)
    assert told["same"]["step"]["verdict"] == "unchanged"
    assert (told["same"]["delta_ms"], told["same"]["names"]) == (0, [])
    slower = told["slower"]
    assert slower["step"]["verdict"] == "regressed"
    assert slower["step"]["percent"] == pytest.approx(10, abs=0.3)
    assert slower["step"]["low_percent"] < slower["step"]["percent"] < slower["step"]["high_percent"]
    assert slower["delta_ms"] == pytest.approx(60 * 0.008, rel=0.05)
    assert (slower["causes"][0]["cause"], slower["work"][0]["kind"]) == ("compute.gemm", "speed")
    assert ("mm_kernel", "slower") in {(each["name"], each["verdict"]) for each in slower["names"]}
    more = told["more"]
    assert more["step"]["verdict"] == "regressed"
    assert {each["name"]: each["verdict"] for each in more["names"]}["addmm_kernel"] == "new"
    assert more["work"][0]["new"] == "addmm_kernel"
    for each in told.values():
        causes = sum(cause["delta_ms"] for cause in each["causes"])
        assert causes == pytest.approx(each["delta_ms"], abs=0.01), "the parts add up"


def test_findings_are_in_the_order_of_the_summary(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "w.pt.trace.json").write_text(json.dumps(executed(offloaded_optimizer).document()))
    catalog = TraceCatalog(str(tmp_path), cache)
    trace = next(iter(catalog.listing.traces.values()))
    listed = [each.id for each in trace.summary().findings]
    told = SUMMARY.compute(catalog, OneTrace(trace=catalog.id_of(trace)))
    assert len(told.findings) > 2
    assert [each.id for each in told.findings] == listed[: len(told.findings)]
