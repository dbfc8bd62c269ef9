"""Answers to questions about all ranks of a run, and the nodes they are made of."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any, overload

import msgspec

from torch_tb_profiler.analysis.question import Node, Question, RunSubject
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.model import Model
from torch_tb_profiler.spill import spilled, watched
from torch_tb_profiler.web.answers.request import refusals
from torch_tb_profiler.web.http import HttpAnswer, Parameters, read_parameters
from torch_tb_profiler.workspace import Key, OpenRun, OpenTrace, Packed, Workspace, pack
from torch_tb_profiler.workspace.answering.answerer import ModelOf, question_key, subject_of
from torch_tb_profiler.workspace.cache.answer_store import as_file, packed_of
from torch_tb_profiler.workspace.cache.checksummed import is_broken

log = logging.getLogger(__name__)


def answer_of_run(question: Question, workspace: Workspace, query: Parameters) -> HttpAnswer:
    opened = workspace.find_span(query.need("run"), query.get("span"))
    skipped = tuple((each.file, str(each.reason)) for each in workspace.run(opened.run).skipped)
    params = read_parameters(question.parameters, query)
    ranks = _Ranks(workspace, opened, skipped)
    # answers with parameters are too many to keep on disk; a node that is kept itself is not kept twice
    make, key = partial(_packed, question, params, ranks), (question_key(question, params), skipped)
    if not (params.__struct_fields__ or question.node.keep == "run"):
        make = partial(workspace.kept_of_run, opened, make, (as_file, packed_of), key)
    return HttpAnswer(workspace.remember(Key.of_run(opened, key), make))


def rank_node(node: Node, workspace: Workspace, trace: OpenTrace) -> Any:
    """Return a node of one of the ranks of a run. Its model is not kept: a run may have many."""
    return workspace.remember(Key((trace,), ("part", node.name)), partial(_made_of_rank, node, workspace, trace))


class _Ranks(msgspec.Struct, frozen=True):
    """The ranks of a run.

    skipped  other files of the run, which are no traces, and why
    of_kept  whether kept values of them may be used
    """

    workspace: Workspace
    opened: OpenRun
    skipped: tuple[tuple[str, str], ...]
    of_kept: bool = True

    def value(self, node: Node) -> Any:
        """Return the value of a run's node, kept or made now; of a rank's node the values of all ranks."""
        if node.keep != "run":
            return self._subject(node)
        assert node.encode is not None
        assert node.decode is not None
        codec = node.encode, node.decode if self.of_kept else _nothing
        make = partial(self.workspace.kept_of_run, self.opened, partial(self._made, node), codec)
        return self.workspace.remember(Key.of_run(self.opened, ("part", node.name, self.of_kept)), make)

    def _made(self, node: Node) -> Any:
        return node.make(*(self.value(need.of) for need in node.needs if isinstance(need.of, Node)))

    def _subject(self, node: Node) -> RunSubject[Any]:
        opened = self.opened
        parts: Sequence[Any] = _Parts(node, self.workspace, opened.traces, self.of_kept)
        if node.keep != "rank" or not self.of_kept:
            parts = list(parts)
        failed = [other for other in opened.others if other.state == "failed"]
        loading = [other.file for other in opened.others if other.state != "failed"]
        files, reasons = [other.file for other in failed], [str(other.reason) for other in failed]
        return RunSubject(opened.run, opened.span, parts, loading, files, reasons, self.skipped)


def _nothing(_: bytes) -> None:
    """Decode nothing: the content of a file is not to be used."""


class _Parts(Sequence[Any]):
    """The node of each rank. Kept values are read each time they are used: a run may be too large for memory."""

    def __init__(self, node: Node, workspace: Workspace, traces: Sequence[OpenTrace], of_kept: bool) -> None:
        self._node, self._workspace, self._traces, self._of_kept = node, workspace, traces, of_kept

    def __len__(self) -> int:
        return len(self._traces)

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return _Parts(self._node, self._workspace, self._traces[at], self._of_kept)
        trace, decode = self._traces[at], self._node.decode
        if self._node.keep == "rank" and self._of_kept and decode is not None:
            content = self._workspace.rank_content(trace)
            kept = decode(content, trace.worker) if content else None
            if kept is not None:
                return kept
        return rank_node(self._node, self._workspace, trace)


def _packed(question: Question, params: msgspec.Struct, ranks: _Ranks) -> Packed:
    with refusals(), watched():
        try:
            return pack(dumps(question.compute(ranks.value(question.node), params)))
        except Exception as error:
            if not is_broken(error):
                raise
            # kept values may have been made on another machine: they are made again
            log.warning("%s: what is kept of its ranks cannot be used", ranks.opened.run, exc_info=error)
            remade = msgspec.structs.replace(ranks, of_kept=False)
            return pack(dumps(question.compute(remade.value(question.node), params)))


def _made_of_rank(node: Node, workspace: Workspace, trace: OpenTrace) -> Any:
    return spilled(workspace.ask(partial(_of_subject, node, trace), ModelOf(trace, is_kept=False)))


def _of_subject(node: Node, trace: OpenTrace, model: Model) -> Any:
    return node.make(subject_of(model, trace))
