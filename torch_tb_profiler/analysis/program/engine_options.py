"""Engines of inference that start the profiler themselves, and are told what to record in words of their own."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from torch_tb_profiler.analysis.program.engine_names import engine_step
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


class RecordingEngine(msgspec.Struct, frozen=True):
    """An engine, and how its users ask it to record more.

    name     as its users write it
    command  tells it; `%s` stands for the options
    options  its own, by the argument of `profile(...)` that each of them sets
    """

    name: str
    command: str
    options: dict[str, str]

    def told_to_record(self, arguments: Iterable[str]) -> str:
        """The command with the options for some of these arguments."""
        return self.command % ", ".join(self.options[each] for each in arguments)


#: by what `engine_step` calls them: options of vLLM's `ProfilerConfig`, since 0.13, and of SGLang's `/start_profile`
_ENGINES = {
    "vllm": RecordingEngine(
        name="vLLM",
        command="""vllm serve MODEL --profiler-config '{"profiler": "torch", "torch_profiler_dir": "/logs", %s}'""",
        options={
            "record_shapes": '"torch_profiler_record_shapes": true',
            "with_stack": '"torch_profiler_with_stack": true',
            "profile_memory": '"torch_profiler_with_memory": true',
        },
    ),
    "sglang": RecordingEngine(
        name="SGLang",
        command="curl -X POST http://HOST:PORT/start_profile --json '{%s}'",
        options={"record_shapes": '"record_shapes": true', "with_stack": '"with_stack": true'},
    ),
}


def recording_engine(model: Model) -> RecordingEngine | None:
    """Who recorded the trace, by the names of its steps; None where a program may have called `profile(...)`."""
    events = model.trace.events
    names = model.trace.strings.texts(distinct(events.name[events.category == Category.USER_ANNOTATION]))
    steps = (engine_step(name) for name in names)
    return next((_ENGINES[step.engine] for step in steps if step is not None and step.engine in _ENGINES), None)
