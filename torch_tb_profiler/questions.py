"""All that can be asked, a line each. See `analysis.question`."""

from __future__ import annotations

from torch_tb_profiler.analysis.kernels.question import KERNELS
from torch_tb_profiler.analysis.operators.question import OPERATOR_KERNELS, OPERATOR_STACKS, OPERATORS
from torch_tb_profiler.analysis.question import AnyQuestion
from torch_tb_profiler.ranks.collective import COLLECTIVE
from torch_tb_profiler.timeline.question import AnyTimelineQuestion
from torch_tb_profiler.timeline.questions.binary import COUNTERS, EXACT_SLICES, TILES
from torch_tb_profiler.timeline.questions.flows import FLOWS
from torch_tb_profiler.timeline.questions.names import NAMES
from torch_tb_profiler.timeline.questions.one_slice import ARGS, NEXT, SLICE
from torch_tb_profiler.timeline.questions.overview import OVERVIEW
from torch_tb_profiler.timeline.questions.range import RANGE
from torch_tb_profiler.timeline.questions.search import SEARCH
from torch_tb_profiler.timeline.questions.steps import TIMELINE_STEPS
from torch_tb_profiler.timeline.questions.tracks import TIMELINE

#: in the order in which somebody who opens the page comes to them: so they are answered ahead
QUESTIONS: tuple[AnyQuestion, ...] = (
    OPERATORS,
    KERNELS,
    OPERATOR_STACKS,
    OPERATOR_KERNELS,
    TIMELINE_STEPS,
)

#: of the Trace view
TIMELINE_QUESTIONS: tuple[AnyTimelineQuestion, ...] = (
    TIMELINE,
    TILES,
    EXACT_SLICES,
    COUNTERS,
    NAMES,
    SLICE,
    ARGS,
    NEXT,
    SEARCH,
    RANGE,
    FLOWS,
    OVERVIEW,
    COLLECTIVE,
)
