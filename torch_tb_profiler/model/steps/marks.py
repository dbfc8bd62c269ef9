"""Steps that torch, an inference engine or a training framework marked with an annotation each."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.call_tree import ROUNDING_NS
from torch_tb_profiler.model.steps.host import Host
from torch_tb_profiler.model.steps.types import HostSteps

PROFILER_STEP = lazy_pattern(r"ProfilerStep#\d+")

#: vLLM `execute_context_1(888)_generation_0(0)`, SGLang `step[DECODE bs=32]`, xDiT `execute_diffusion_1_256x256`;
#: xDiT's other name, `model_inference`, is also that in PyTorch's recipe of the profiler, and so anybody's
ENGINE_STEP = lazy_pattern(r"execute_(?:\d|context|generation|diffusion|model|new)|step\[[A-Z][A-Z_0-9]*[ \]]")

#: Lightning `[pl][profile]run_training_batch`, Transformers and others `training_step`, MMEngine `train_iter`
FRAMEWORK_STEP = lazy_pattern(
    r"^(?:\[pl\]\[profile\])?(?:run_(?:training|evaluation|test|predict)_batch|train(?:ing)?_(?:step|batch|iter)"
    r"|(?:Trainer\.)?training_step|train_one_batch)$"
)


def profiler_step(host: Host) -> HostSteps | None:
    """`ProfilerStep#N` of torch.profiler's schedule; never the copies of it on the device.

    None, unless a person asks for them, where a framework marks its batches and some steps begin in one and end behind
    it: such a step is parts of two batches. Lightning does so, which steps the profiler in the middle of a batch.
    """
    rows = host.annotations(PROFILER_STEP.fullmatch)
    if not host.asked and _crosses(host, rows):
        return None
    texts = host.trace.strings.texts(host.trace.events.name[rows])
    return host.steps(rows, [text.removeprefix("ProfilerStep#") for text in texts])


def inference_engine(host: Host) -> HostSteps | None:
    """What vLLM, SGLang and xDiT write around one pass of the model."""
    return host.steps(host.annotations(ENGINE_STEP.match))


def training_framework(host: Host) -> HostSteps | None:
    """What Lightning, Transformers and MMEngine write around one batch."""
    return host.steps(host.annotations(FRAMEWORK_STEP.search))


def _crosses(host: Host, rows: Int32) -> bool:
    """Whether some of these begin in a batch of a framework, on its thread, and end behind it."""
    batches = host.annotations(FRAMEWORK_STEP.search)
    if not len(rows) or not len(batches):
        return False
    events = host.trace.events
    at = np.searchsorted(events.start[batches], events.start[rows], side="right") - 1
    around = batches[np.maximum(at, 0)]
    inside = (at >= 0) & (events.start[rows] > events.start[around]) & (events.start[rows] < events.end[around])
    over = inside & (events.end[rows] > events.end[around] + ROUNDING_NS) & (events.track[rows] == events.track[around])
    return bool(over.any())
