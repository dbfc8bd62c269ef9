"""Answers to questions about the timeline of one trace, and about those of all ranks of a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from typing import Any, BinaryIO, TypeVar

import msgspec

from torch_tb_profiler.analysis.question import Node, Question
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.timeline.question import AbsentTrace, RunTimelines, TimelineVersion
from torch_tb_profiler.timeline.summary import TimelineSummary
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import TraceError
from torch_tb_profiler.web.answers.request import ask_original, refusals, step_choice, step_range
from torch_tb_profiler.web.answers.run import rank_node
from torch_tb_profiler.web.answers.trace import answer_as_type, node_with_timeline
from torch_tb_profiler.web.http import JSON, NO_CACHE, HttpAnswer, HttpError, Parameters, Stream, read_parameters
from torch_tb_profiler.workspace import Key, OpenTrace, Packed, Workspace, compressed, pack
from torch_tb_profiler.workspace.answering.answerer import TimelineOf
from torch_tb_profiler.workspace.cache.identity import answers_version

A = TypeVar("A")
K = TypeVar("K")

BINARY = "application/octet-stream"

IMMUTABLE = "private, max-age=31536000, immutable"


def version_of(trace: OpenTrace) -> str:
    """Return a digest that changes when a tile of the same name may hold something else."""
    return blake2b(f"{trace.key}\0{answers_version()}".encode(), digest_size=8).hexdigest()


# one trace ------------------------------------------------------------------------------------------------


class _Drawn(msgspec.Struct, frozen=True):
    """The trace of a request. is_known: whether the request names the version of its timeline."""

    workspace: Workspace
    trace: OpenTrace
    version: str
    is_known: bool

    def stream(self, question: Question, params: object, compute: Callable[[], bytes]) -> Stream:
        """Return the answer, computed only when the client does not have it.

        params  all that it depends on beside the trace; its `repr` is part of the ETag
        """
        trace = self.trace
        known_as = f"{self.version}\0{trace.run}\0{trace.worker}\0{trace.span}\0{question.name}\0{params!r}"
        etag = blake2b(known_as.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        made: list[bytes] = []

        def prepare() -> None:
            with refusals():
                made.append(compute())

        return Stream(
            etag,
            lambda packed: [b"".join(compressed(made))] if packed else made,
            BINARY if question.answer is bytes else JSON,
            cache_control=IMMUTABLE if self.is_known else NO_CACHE,
            prepare=prepare,
        )


def _drawn(workspace: Workspace, query: Parameters) -> _Drawn:
    run, worker = query.need_all("run", "worker")
    trace = workspace.find(run, worker, query.get("span"))
    version, named = version_of(trace), query.get("v")
    if named not in (None, version):
        raise HttpError(404, f"there is no version {named!r} of this trace any more", {"version": version})
    return _Drawn(workspace, trace, version, named is not None)


def answer_of_timeline(question: Question, workspace: Workspace, query: Parameters) -> HttpAnswer | Stream:
    drawn = _drawn(workspace, query)
    params = read_parameters(question.parameters, query)
    if any(need.type is BinaryIO for need in question.needs):
        return _answer_of_file(question, drawn, params)
    about = (params, step_choice(query), step_range(query)) if question.depends_on_steps else params
    return drawn.stream(question, about, partial(_computed, question, drawn, params, query))


def _computed(question: Question, drawn: _Drawn, params: msgspec.Struct, query: Parameters) -> bytes:
    node = question.node
    if callable(node):
        node = node(params)
    if isinstance(node, Node):
        compute = partial(_of_timeline, question, params, drawn.version)
        return node_with_timeline(node, drawn.workspace, query, compute)
    value = None if node is None else answer_as_type(node, drawn.workspace, query)
    compute = partial(_of_timeline, question, params, drawn.version, value=value)
    return drawn.workspace.ask(compute, TimelineOf(drawn.trace))


def _of_timeline(
    question: Question, params: msgspec.Struct, version: str, timeline: Timeline, value: Any = None
) -> bytes:
    """Return the answer as it is sent. value: of the node or question that it needs beside the timeline."""
    opened: dict[Any, Any] = {Timeline: timeline, TimelineVersion: version}
    values = (opened[need.type] if need.of is None else value for need in question.needs)
    result = question.compute(*values, params)
    return result if isinstance(result, bytes) else dumps(result)


def _answer_of_file(question: Question, drawn: _Drawn, params: msgspec.Struct) -> HttpAnswer:
    """Answer from the file of a trace; what is needed of the timeline is made before the file is opened."""
    workspace = drawn.workspace
    try:
        with refusals():
            value = workspace.ask(partial(_node_of_timeline, question.node, params), TimelineOf(drawn.trace))

        def answer(file: BinaryIO) -> bytes:
            return dumps(question.compute(value, file, workspace.limits, params))

        return HttpAnswer(ask_original(workspace, drawn.trace, (question.name, params), answer))
    except TraceError as error:
        raise HttpError(422, f"the file {error}") from None


def _node_of_timeline(node: Node, params: msgspec.Struct, timeline: Timeline) -> Any:
    return node.make(timeline, params)


# all ranks of a run ---------------------------------------------------------------------------------------


class _Rank(msgspec.Struct, frozen=True):
    """See `timeline.question.RankTimeline`."""

    workspace: Workspace
    trace: OpenTrace
    rank: int | None
    host_name: str

    @property
    def worker(self) -> str:
        return self.trace.worker

    @property
    def version(self) -> str:
        return version_of(self.trace)

    def summary(self) -> TimelineSummary:
        return self.workspace.rank_summary(self.trace)

    def ask(self, question: Callable[[Timeline], A]) -> A:
        return self.workspace.ask(question, TimelineOf(self.trace))

    def node(self, node: Node) -> Any:
        return rank_node(node, self.workspace, self.trace)


def answer_of_timelines(question: Question, workspace: Workspace, query: Parameters) -> HttpAnswer:
    worker = ""
    if question.of_worker:
        run, worker = query.need_all("run", "worker")
        trace = workspace.find(run, worker, query.get("span"))
        opened = workspace.find_span(trace.run, trace.span)
    else:
        opened = workspace.find_span(query.need("run"), query.get("span"))
    params = read_parameters(question.parameters, query)

    def remember(name: str, make: Callable[[], Any]) -> Any:
        return workspace.remember(Key.of_run(opened, ("kept", name)), make)

    def answer() -> Packed:
        status = {(trace.worker, trace.span): trace for trace in workspace.run(opened.run).traces}
        ranks = []
        for trace in opened.traces:
            known = status[trace.worker, trace.span]
            ranks.append(_Rank(workspace, trace, known.rank, known.host_name or ""))
        absent = [AbsentTrace(trace.worker, trace.state, trace.reason) for trace in opened.others]
        run = RunTimelines(opened.run, opened.span, worker, ranks, absent, remember)
        return pack(dumps(question.compute(run, params)))

    with refusals():
        return HttpAnswer(workspace.remember(Key.of_run(opened, (question.name, worker, params)), answer))
