"""What inference engines write into the names of their steps, and how their profiler is configured.

vLLM, SGLang, ATOM, TensorRT-LLM and xDiT put a range around each pass of the model; its name tells how many requests
and tokens the pass has. Engines that start the profiler themselves take options of their own for what is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from torch_tb_profiler.analysis.program.kinds import ProgramPhase
from torch_tb_profiler.analysis.shared.vllm_steps import SUM, VLLM_STEP
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


class EngineStep(msgspec.Struct, frozen=True):
    """One step of an engine; numbers that its name does not tell are None.

    engine          who wrote it
    phase           what kind of step it is
    requests        requests of the step
    context         requests whose prompt is read
    generation      requests that generate
    tokens          new tokens that the step computes
    context_tokens  of prompts
    padded          requests that the captured graph has room for
    """

    engine: str
    phase: ProgramPhase
    requests: int | None = None
    context: int | None = None
    generation: int | None = None
    tokens: int | None = None
    context_tokens: int | None = None
    padded: int | None = None


_VLLM_OLD = lazy_pattern(r"execute_new_(?P<new>[0-9]{1,15})_cached_(?P<cached>[0-9]{1,15})$")
_VLLM_SCOPE = lazy_pattern(r"(?:v2_)?gpu_model_runner: (?P<what>\w+)$|(?P<schedule>schedule): ")
_SGLANG = lazy_pattern(r"step\[(?P<mode>[A-Z_0-9]+)(?P<rest>(?: \w+=[^\s\]]+)*)\]$")
_ATOM = lazy_pattern(
    r"(?:(?P<dummy>dummy_)?(?:eager_)?(?P<mode>prefill|decode)|propose_(?:eagle|dspark))"
    r"\[(?P<rest>[^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\]$"
)
_TENSORRT = lazy_pattern(
    r"\[Executor\] _forward_step(?: [0-9]{1,15})?: (?P<c>[0-9]{1,15}) ctx reqs, "
    r"(?:(?P<t>[0-9]{1,15}) ctx tokens?, )?(?P<g>[0-9]{1,15}) gen(?:eration)? reqs"
)
_XDIT = lazy_pattern(r"execute_diffusion_(?P<b>[0-9]{1,15})_[0-9]{1,15}x[0-9]{1,15}$")
_FIELD = lazy_pattern(r"(?<!\w)(?P<key>\w+)=(?P<value>\[[^\]]{0,1000}\]|[^\s\],]+)")
#: what is read as a number; longer ones are none of an engine
_NUMBER = lazy_pattern(r"[0-9]{1,15}")

_SCOPES = {
    "sample": ProgramPhase.SAMPLE,
    "schedule": ProgramPhase.SCHEDULE,
    "sample_logits": ProgramPhase.SAMPLE,
    "sample_postprocess": ProgramPhase.SAMPLE,
    "draft": ProgramPhase.DRAFT,
}
_MODES = {
    "EXTEND": ProgramPhase.PREFILL,
    "SPLIT_PREFILL": ProgramPhase.PREFILL,
    "DLLM_EXTEND": ProgramPhase.PREFILL,
    "MIXED": ProgramPhase.MIXED,
    "DECODE": ProgramPhase.DECODE,
    "TARGET_VERIFY": ProgramPhase.VERIFY,
    "DRAFT_EXTEND": ProgramPhase.DRAFT,
    "DRAFT_EXTEND_V2": ProgramPhase.DRAFT,
    "IDLE": ProgramPhase.OTHER,
    "PREBUILT": ProgramPhase.OTHER,
}


def engine_step(name: str) -> EngineStep | None:
    """Read the name of an engine's step; None for one that no engine writes.

    >>> engine_step("execute_context_1(888)_generation_0(0)").phase.value
    'prefill'
    >>> engine_step("step[DECODE bs=32]").requests
    32
    """
    if name[:1] not in "esd[vgp":
        return None
    for read in _READERS:
        found = read(name)
        if found is not None:
            return found
    return None


def mixed_or(context: int, generation: int) -> ProgramPhase:
    """Return the phase of a step by how many requests read their prompt, and how many generate."""
    if not context and not generation:
        return ProgramPhase.OTHER
    if not context:
        return ProgramPhase.DECODE
    return ProgramPhase.MIXED if generation else ProgramPhase.PREFILL


def _or_verify(phase: ProgramPhase, generation: int | None, tokens: int | None) -> ProgramPhase:
    """Return the phase of a step that generates: with more tokens than requests it verifies speculated ones."""
    guesses = phase is ProgramPhase.DECODE and generation is not None and tokens is not None and tokens > generation
    return ProgramPhase.VERIFY if guesses else phase


def _vllm(name: str) -> EngineStep | None:
    found = VLLM_STEP.match(name)
    if found is None:
        return None
    context, generation = int(found["c"]), int(found["g"])
    context_tokens, generation_tokens = _tokens(found["ct"]), _tokens(found["gt"])
    every = int(found["all"]) if found["all"] else None
    if every is None and context_tokens is not None and generation_tokens is not None:
        every = context_tokens + generation_tokens
    return EngineStep(
        engine="vllm",
        phase=_or_verify(mixed_or(context, generation), generation, every),
        requests=context + generation,
        context=context,
        generation=generation,
        tokens=every,
        context_tokens=context_tokens,
    )


def _tokens(text: str) -> int | None:
    """Read `888`, `888_788544` (tokens, and the sum of their squares) or `sq888sk888sqsq788544sqsk788544`."""
    detail = dict(SUM.findall(text)) if text.startswith("s") else {}
    if detail:
        return int(detail["sq"]) if "sq" in detail else None
    head = text.partition("_")[0]
    return _as_number(head)


def _vllm_old(name: str) -> EngineStep | None:
    found = _VLLM_OLD.match(name)
    if found is None:
        return None
    new, cached = int(found["new"]), int(found["cached"])
    return EngineStep("vllm", mixed_or(new, cached), new + cached, new, cached)


def _scope(name: str) -> EngineStep | None:
    found = _VLLM_SCOPE.match(name)
    phase = None if found is None else _SCOPES.get(found["what"] or found["schedule"])
    return None if phase is None else EngineStep("vllm", phase)


def _sglang(name: str) -> EngineStep | None:
    found = _SGLANG.match(name)
    if found is None:
        return None
    mode, fields = found["mode"], _fields(found["rest"])
    phase = _MODES.get(mode)
    if phase is None:
        return None
    requests, tokens = _number(fields, "bs"), _number(fields, "toks")
    context, generation = _number(fields, "c"), _number(fields, "g")
    if phase is ProgramPhase.DECODE:
        context, generation, tokens = 0, requests, requests if tokens is None else tokens
    if phase is ProgramPhase.PREFILL:
        context, generation = requests, 0
    return EngineStep(
        engine="sglang",
        phase=phase,
        requests=requests,
        context=context,
        generation=generation,
        tokens=tokens,
        context_tokens=tokens if phase is ProgramPhase.PREFILL else None,
    )


def _atom(name: str) -> EngineStep | None:
    """Read a step of ATOM. A dummy step keeps ranks together and computes for nobody."""
    match = _ATOM.match(name)
    if match is None:
        return None
    if match["mode"] is None:
        return EngineStep("atom", ProgramPhase.DRAFT)
    if match["dummy"]:
        return EngineStep("atom", ProgramPhase.OTHER)
    fields = _fields(match["rest"])
    if "bs" not in fields:
        return None
    real, _, padded = fields["bs"].partition("/")
    requests, tokens = _as_number(real), _number(fields, "tok")
    prefills, decodes = _number(fields, "p"), _number(fields, "d")
    phase = ProgramPhase.PREFILL if match["mode"] == "prefill" else ProgramPhase.DECODE
    if prefills is not None and decodes is not None:
        phase = mixed_or(prefills, decodes)
    phase = _or_verify(phase, requests, tokens)
    reads, both = phase is ProgramPhase.PREFILL, phase is ProgramPhase.MIXED
    return EngineStep(
        engine="atom",
        phase=phase,
        requests=requests,
        context=prefills if both else requests if reads else 0,
        generation=decodes if both else 0 if reads else requests,
        tokens=tokens,
        context_tokens=tokens if reads else None if both else 0,
        padded=_as_number(padded),
    )


def _tensorrt(name: str) -> EngineStep | None:
    found = _TENSORRT.match(name)
    if found is None:
        return None
    context, generation = int(found["c"]), int(found["g"])
    context_tokens = int(found["t"]) if found["t"] else None
    return EngineStep(
        engine="tensorrt_llm",
        phase=mixed_or(context, generation),
        requests=context + generation,
        context=context,
        generation=generation,
        tokens=None if context_tokens is None else context_tokens + generation,
        context_tokens=context_tokens,
    )


def _xdit(name: str) -> EngineStep | None:
    found = _XDIT.match(name)
    return None if found is None else EngineStep("xdit", ProgramPhase.DENOISE, int(found["b"]))


def _fields(text: str) -> dict[str, str]:
    return {found["key"]: found["value"] for found in _FIELD.finditer(text)}


def _number(fields: dict[str, str], key: str) -> int | None:
    return _as_number(fields.get(key, ""))


def _as_number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


_READERS: tuple[Callable[[str], EngineStep | None], ...] = (
    _vllm,
    _vllm_old,
    _scope,
    _sglang,
    _atom,
    _tensorrt,
    _xdit,
)


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
        """Return the command with the options for some of these arguments."""
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
    """Return who recorded the trace, by the names of its steps; None where a program may have called `profile(...)`."""
    events = model.trace.events
    names = model.trace.strings.texts(distinct(events.name[events.category == Category.USER_ANNOTATION]))
    steps = (engine_step(name) for name in names)
    return next((_ENGINES[step.engine] for step in steps if step is not None and step.engine in _ENGINES), None)
