"""Where the steps of a trace begin and end.

`find` has the rules that find them on the host, one a file; `windows` makes periods of them: from the end of the step
before to the end of the device work that the step launched.
"""

from torch_tb_profiler.model.steps.detection import PROFILER_STEP
from torch_tb_profiler.model.steps.find import PATTERN_RULE, RULES, WITHOUT_MARKS, find_steps
from torch_tb_profiler.model.steps.types import StepChoice, Steps

__all__ = [
    "PATTERN_RULE",
    "PROFILER_STEP",
    "RULES",
    "WITHOUT_MARKS",
    "StepChoice",
    "Steps",
    "find_steps",
]
