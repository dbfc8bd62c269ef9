"""Prompts: questions that people ask, with the way to the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import msgspec

from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import Wrong


class Prompt(msgspec.Struct, frozen=True):
    """A prompt.

    help       what it asks
    text       of it; `{name}` is an argument, a quoted id
    arguments  ids of traces
    """

    help: str
    text: str
    arguments: Sequence[str] = ()


PROMPTS: Mapping[str, Prompt] = {
    "why_slow": Prompt(
        "Why the steps of a trace take as long as they do, and what to change.",
        "Why do the steps of the trace with the id {trace} take as long as they do? Call summary, then what "
        "verdict.next says. Answer with the cause, the line of code, what to change and what that "
        "saves; or that nothing was found.",
        ("trace",),
    ),
    "compare": Prompt(
        "What changed from one trace to another, and how sure that is.",
        "What changed from the trace with the id {base} to the one with the id {new}? Call compare. Answer with the "
        "verdict and its interval, the cause and the operators or kernels that make it; if it is inconclusive, say "
        "what would have to be recorded.",
        ("base", "new"),
    ),
    "can_i_trust": Prompt(
        "Whether the numbers of a trace can be trusted.",
        "Can the numbers of the trace with the id {trace} be trusted? Call summary and use only its health: say what "
        "is lost, wrong or missing, which questions that touches, and the code that records it right.",
        ("trace",),
    ),
    "how_to_record": Prompt(
        "How to record a profile that answers most questions.",
        "How should a training loop be profiled so that torch-tb-profiler can say why it is slow? Recommend\n\n"
        "    from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler\n"
        "    with profile(\n"
        "        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],\n"
        "        schedule=schedule(wait=1, warmup=1, active=10, repeat=1),\n"
        '        on_trace_ready=tensorboard_trace_handler("logs/run"),\n'
        "        record_shapes=True,\n"
        "    ) as profiler:\n"
        "        for batch in loader:\n"
        "            train(batch)\n"
        "            profiler.step()\n\n"
        "and say when with_stack=True (which line of code; makes the host slower) and profile_memory=True (who holds "
        "memory) are worth it.",
    ),
}


def messages_of(catalog: TraceCatalog, name: str, arguments: Mapping[str, str]) -> str:
    """The text of a prompt about existing traces. Raises Wrong and ProfileError."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise Wrong("there is no such prompt")
    missing = [each for each in prompt.arguments if each not in arguments]
    if missing:
        raise Wrong(f"the prompt needs {', '.join(missing)}")
    for each in prompt.arguments:
        catalog.trace(arguments[each])
    values = {each: json.dumps(arguments[each], ensure_ascii=False) for each in prompt.arguments}
    # in one go: a name may look like a place
    return re.sub(r"\{(\w+)\}", lambda place: values.get(place[1], place[0]), prompt.text)
