"""Answers to questions about two traces, which may be the same one with other steps."""

from __future__ import annotations

from functools import partial

import msgspec

from torch_tb_profiler.analysis.question import Question
from torch_tb_profiler.model import Model
from torch_tb_profiler.web.answers.request import body_of, refusals, step_choice, step_range
from torch_tb_profiler.web.http import Answer, Parameters
from torch_tb_profiler.web.parameters import read_parameters
from torch_tb_profiler.workspace import Key, OpenTrace, Packed, Workspace, pack
from torch_tb_profiler.workspace.answering.asking import ModelOf, known_as, subject_of

#: before the names of parameters of the second of two traces
EXPERIMENT = "exp_"


def answer_of_pair(question: Question, workspace: Workspace, parameters: Parameters) -> Answer:
    """Steps are found in the same way in both; of each only the steps that the request names are looked at."""
    parameters.need_all("run", "worker", "exp_run", "exp_worker")
    own = read_parameters(question.parameters, parameters)
    left, right = (
        workspace.find(parameters.need(f"{side}run"), parameters.need(f"{side}worker"), parameters.get(f"{side}span"))
        for side in ("", EXPERIMENT)
    )
    choice = step_choice(parameters)
    ranges = step_range(parameters), step_range(parameters, EXPERIMENT)
    key = Key((left, right), (known_as(question, own), choice, ranges))
    needs = ModelOf(left, choice, ranges[0]), ModelOf(right, choice, ranges[1])
    make = partial(workspace.ask, partial(_packed, question, own, left, right), *needs)
    with refusals():
        return Answer(workspace.remember(key, make))


def _packed(
    question: Question, own: msgspec.Struct, left: OpenTrace, right: OpenTrace, of_left: Model, of_right: Model
) -> Packed:
    return pack(body_of(question.compute(subject_of(of_left, left), subject_of(of_right, right), own)))
