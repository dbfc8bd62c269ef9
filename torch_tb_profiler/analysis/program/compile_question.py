"""Questions about compiled code and about graphs that devices replay."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, InlineTable, Ns, TraceMeta
from torch_tb_profiler.analysis.program.compiled_code import (
    RegionTotals,
    compilations,
    eager_operators,
    generated_kernels,
    region_totals,
    regions,
)
from torch_tb_profiler.analysis.program.graphs import (
    captures,
    graph_nodes,
    graphs,
    longest_gaps,
    outside_graphs,
    outside_ns,
)
from torch_tb_profiler.analysis.question import NoParameters, NotFound, Question, Subject

#: gaps of one answer, unless asked otherwise
PAGE = 20
LARGEST_PAGE = 1_000


class CompiledAnswer(Answer, frozen=True, kw_only=True):
    """What torch.compile did.

    meta          which trace
    totals        over all regions; null if neither a region nor a compilation was recorded
    regions       a row for each compiled code
    compilations  a row for each compilation
    kernels       a row for each kernel that Inductor generated
    eager         a row for each operator outside compiled code; empty if nothing compiled runs
    """

    meta: TraceMeta
    totals: RegionTotals | None
    regions: InlineTable
    compilations: InlineTable
    kernels: InlineTable
    eager: InlineTable


def _compiled(subject: Subject, _: NoParameters) -> CompiledAnswer:
    model = subject.model
    table, made = regions(model), compilations(model)
    return CompiledAnswer(
        meta=TraceMeta(**subject.about("overview")),
        totals=region_totals(model) if len(table) or len(made) else None,
        regions=table.as_columns(),
        compilations=made.as_columns(),
        kernels=generated_kernels(model).as_columns(),
        eager=eager_operators(model).as_columns(),
    )


class WhichGraph(msgspec.Struct, frozen=True):
    """Of which graph the nodes are listed, and how many gaps."""

    graph: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="`graph` of a row: its nodes are listed.")] = (
        None
    )
    limit: Annotated[int, Meta(description="Gaps of the answer.", ge=1, le=LARGEST_PAGE)] = PAGE


class GraphsAnswer(Answer, frozen=True, kw_only=True):
    """What devices replayed of graphs (CUDA and HIP).

    meta         which trace
    replayed_ns  Σ durations of device work in replays, in the steps that are chosen
    outside_ns   the same of all other device work
    graphs       a row for each graph that was replayed
    captures     a row for each capture, in the whole recording
    outside      a row for each name of device work that ran in no replay; empty if nothing was replayed
    nodes        of the graph that was asked for; null without one
    gaps         the longest times for which a device waits in and after the replays of that graph; without one, of all
                 graphs
    gap_count    how many such gaps there are
    """

    meta: TraceMeta
    replayed_ns: Ns
    outside_ns: Ns
    graphs: InlineTable
    captures: InlineTable
    outside: InlineTable
    nodes: InlineTable | None
    gaps: InlineTable
    gap_count: Count


def _graphs(subject: Subject, params: WhichGraph) -> GraphsAnswer:
    model = subject.model
    table = graphs(model)
    nodes = None
    if params.graph is not None:
        nodes = graph_nodes(model, params.graph)
        if nodes is None:
            raise NotFound(f"there is no graph {params.graph}")
    replayed, outside = outside_ns(model)
    gaps, count = longest_gaps(model, params.graph, params.limit)
    return GraphsAnswer(
        meta=TraceMeta(**subject.about("overview")),
        replayed_ns=replayed,
        outside_ns=outside,
        graphs=table.as_columns(),
        captures=captures(model).as_columns(),
        outside=outside_graphs(model).as_columns(),
        nodes=None if nodes is None else nodes.as_columns(),
        gaps=gaps.as_columns(),
        gap_count=count,
    )


PROGRAM_COMPILED = Question(
    name="compiled",
    summary="What torch.compile did: regions, graph breaks, compilations, generated kernels",
    compute=_compiled,
    precompute=(NoParameters(),),
    more="What the numbers are: docs/views/program.md.",
    report=({},),
)

PROGRAM_GRAPHS = Question(
    name="graphs",
    summary="Graphs that devices replay: captures, replays, nodes, gaps inside and between",
    compute=_graphs,
    precompute=(WhichGraph(),),
    more="What the numbers are: docs/views/program.md.",
    report=({},),
)
