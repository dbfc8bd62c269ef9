"""All that can be asked, a line each. See `analysis.question`."""

from __future__ import annotations

from torch_tb_profiler.analysis.api_calls import API_CALLS
from torch_tb_profiler.analysis.category_time import CATEGORY
from torch_tb_profiler.analysis.change.question import CHANGE
from torch_tb_profiler.analysis.change.trends import RECORDING, TRENDS
from torch_tb_profiler.analysis.compare.question import COMPARE
from torch_tb_profiler.analysis.compare.roofline import COMPARE_ROOFLINES
from torch_tb_profiler.analysis.critical_path import CRITICAL_PATH, PATH_PIECES_OF_STEP, WHAT_IF
from torch_tb_profiler.analysis.health.notes import HEALTH
from torch_tb_profiler.analysis.kernels import KERNELS
from torch_tb_profiler.analysis.memory.categories import MEMORY_CATEGORIES
from torch_tb_profiler.analysis.memory.failures import MEMORY_ERROR_TEXT, MEMORY_FAILURES
from torch_tb_profiler.analysis.memory.module_categories import MEMORY_BY_MODULE
from torch_tb_profiler.analysis.memory.question import MEMORY_ALIVE, MEMORY_CURVE, MEMORY_EVENTS, MEMORY_OPERATORS
from torch_tb_profiler.analysis.modules import MODULES
from torch_tb_profiler.analysis.operators.question import OPERATOR_KERNELS, OPERATOR_STACKS, OPERATORS
from torch_tb_profiler.analysis.program.engine_question import PROGRAM_ENGINE
from torch_tb_profiler.analysis.program.question import PROGRAM_COMPILED, PROGRAM_GRAPHS, PROGRAM_PHASES
from torch_tb_profiler.analysis.program.ranges import PROGRAM_RANGE_CALLS, PROGRAM_RANGES
from torch_tb_profiler.analysis.question import Question
from torch_tb_profiler.analysis.roofline.question import FLOPS, ROOFLINE
from torch_tb_profiler.analysis.slices import TRACE_SLICES
from torch_tb_profiler.analysis.snapshot.alive import SNAPSHOT_AGAINST_ANOTHER
from torch_tb_profiler.analysis.snapshot.link import SNAPSHOT_LINK
from torch_tb_profiler.analysis.snapshot.linked_alive import SNAPSHOT_LINKED_ALIVE
from torch_tb_profiler.analysis.snapshot.question import QUESTIONS as OF_SNAPSHOTS
from torch_tb_profiler.analysis.snapshot.ranks import SNAPSHOT_BY_RANK, SNAPSHOT_FIGURES
from torch_tb_profiler.analysis.snapshot.tracks_question import SNAPSHOT_RECORD, SNAPSHOT_TRACKS, SNAPSHOT_TRACKS_TILE
from torch_tb_profiler.analysis.stacks.flame_graph import STACKS
from torch_tb_profiler.analysis.traces import FIGURES, NAMES, STEP_NAMES, TRACES
from torch_tb_profiler.analysis.waterfall.question import WATERFALL
from torch_tb_profiler.insights.candidates.question import CANDIDATES
from torch_tb_profiler.insights.question import OVERVIEW
from torch_tb_profiler.insights.run.question import RUN_FINDINGS
from torch_tb_profiler.insights.summary.question import SUMMARY
from torch_tb_profiler.ranks.distributed_questions import COLLECTIVE, DISTRIBUTED
from torch_tb_profiler.ranks.ranges import RUN_RANGE, RUN_RANGES
from torch_tb_profiler.ranks.run_questions import RUN_CLOCK, RUN_COLLECTIVES, RUN_HEAT, RUN_RANKS
from torch_tb_profiler.timeline.flows import FLOWS
from torch_tb_profiler.timeline.one_slice import ARGS, NEXT, SLICE
from torch_tb_profiler.timeline.overview import TIMELINE_OVERVIEW
from torch_tb_profiler.timeline.search import SEARCH
from torch_tb_profiler.timeline.step_picture import STEP_PICTURE
from torch_tb_profiler.timeline.tiles import (
    COUNTER_TILES,
    DERIVED,
    DERIVED_TILES,
    EXACT_SLICES,
    NEXT_ON_PATH,
    SLACK_TILES,
    TILES,
)
from torch_tb_profiler.timeline.totals import RANGE
from torch_tb_profiler.timeline.tracks import TIMELINE, TIMELINE_NAMES, TIMELINE_STEPS

#: in the order in which the page asks them: so they are answered ahead
QUESTIONS: tuple[Question, ...] = (
    OVERVIEW,
    STEP_PICTURE,
    OPERATORS,
    KERNELS,
    HEALTH,
    FIGURES,
    SUMMARY,
    WATERFALL,
    CATEGORY,
    API_CALLS,
    STEP_NAMES,
    FLOPS,
    ROOFLINE,
    CANDIDATES,
    PROGRAM_PHASES,
    PROGRAM_RANGES,
    PROGRAM_RANGE_CALLS,
    PROGRAM_ENGINE,
    PROGRAM_COMPILED,
    PROGRAM_GRAPHS,
    MEMORY_CURVE,
    MEMORY_CATEGORIES,
    MEMORY_BY_MODULE,
    MEMORY_FAILURES,
    MEMORY_ERROR_TEXT,
    TIMELINE_STEPS,
    OPERATOR_STACKS,
    OPERATOR_KERNELS,
    MEMORY_ALIVE,
    MEMORY_OPERATORS,
    MEMORY_EVENTS,
    STACKS,
    MODULES,
    TRACE_SLICES,
    CRITICAL_PATH,
    PATH_PIECES_OF_STEP,
    WHAT_IF,
    COMPARE,
    COMPARE_ROOFLINES,
    CHANGE,
    RECORDING,
    TRENDS,
    DISTRIBUTED,
    RUN_RANKS,
    RUN_HEAT,
    RUN_COLLECTIVES,
    RUN_CLOCK,
    RUN_RANGES,
    RUN_RANGE,
    RUN_FINDINGS,
    TRACES,
    NAMES,
    *OF_SNAPSHOTS,
    SNAPSHOT_LINK,
    SNAPSHOT_TRACKS,
    SNAPSHOT_TRACKS_TILE,
    SNAPSHOT_RECORD,
    SNAPSHOT_AGAINST_ANOTHER,
    SNAPSHOT_LINKED_ALIVE,
    SNAPSHOT_FIGURES,
    SNAPSHOT_BY_RANK,
)

#: of the Trace view
TIMELINE_QUESTIONS: tuple[Question, ...] = (
    TIMELINE,
    TILES,
    EXACT_SLICES,
    COUNTER_TILES,
    TIMELINE_NAMES,
    SLICE,
    ARGS,
    NEXT,
    SEARCH,
    RANGE,
    FLOWS,
    DERIVED,
    DERIVED_TILES,
    SLACK_TILES,
    NEXT_ON_PATH,
    TIMELINE_OVERVIEW,
    COLLECTIVE,
)
